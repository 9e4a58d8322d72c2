"""The evaluation that is opened once, after the last decision."""

from sciagent.contracts.events import EffectFinished, EffectStarted, SealedOpened
from sciagent.contracts.ports import Journal, Problem, SealedProblem
from sciagent.study.execution import TrialRunner
from sciagent.workspace.tree import StudyTree


def open_sealed(
    problem: Problem, tree: StudyTree, number: int, journal: Journal, trials: TrialRunner
) -> None:
    """Evaluate the reported trial on what nobody has seen; does nothing a second time.

    The intent is journaled before the evaluation is opened and its outcome after, so that a
    crash in between shows.
    """
    if not isinstance(problem, SealedProblem) or tree.sealed is not None:
        return
    effect = f"sealed-{tree.study}"
    started = EffectStarted(
        effect=effect, tool="open_sealed", read_only=True, arguments={"trial": number}
    )
    journal.append(started, study=tree.study)
    outcome = trials.open_sealed(tree.trial(number))
    journal.append_many(
        [
            SealedOpened(trial=number, outcome=outcome),
            EffectFinished(effect=effect, status="ok" if outcome.status == "ok" else "failed"),
        ],
        study=tree.study,
    )
