"""What a report tells about each trial: in full where it matters, in one line elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.model import canonical_json
from sciagent.contracts.study import Check
from sciagent.contracts.tree import StudyRecord, Trial
from sciagent.reports.contents import ReportContents
from sciagent.reports.digits import readable
from sciagent.reports.markdown import trial_of
from sciagent.reports.tree_drawing import (
    action_in_words,
    objective_of,
    path_of,
    reason_of,
    state_of,
)
from sciagent.workspace.layout import TRIALS

MOST_SECTIONS = 200
LINES_PER_BLOCK = 500


@dataclass(frozen=True, slots=True)
class TrialSection:
    """A trial as the report shows it; only `line` is shown of those that are not `full`."""

    number: int
    state: str
    title: str
    objective: str
    reason: str
    full: bool
    on_path: bool
    trial: Trial
    folder: str

    @property
    def arguments(self) -> str:
        """Arguments of the action as JSON."""
        arguments = self.trial.proposal.action.arguments
        return canonical_json(arguments) if arguments else ""

    @property
    def metrics(self) -> list[tuple[str, str]]:
        """Names and values of what was measured."""
        outcome = self.trial.outcome
        return [(n, readable(v)) for n, v in outcome.metrics.items()] if outcome else []

    @property
    def checks(self) -> tuple[Check, ...]:
        """Checks of the decision."""
        return self.trial.decision.checks if self.trial.decision else ()

    @property
    def files(self) -> tuple[Artifact, ...]:
        """Files the trial left, relative to its folder."""
        return self.trial.outcome.files if self.trial.outcome else ()


def trial_sections(contents: ReportContents, study: StudyRecord) -> Iterator[TrialSection]:
    """All trials of a study in order, those that the result rests on in full."""
    path = set(path_of(study))
    cited = {trial_of(claim) for claim in contents.claims.claims} | path
    places_left = MOST_SECTIONS - len(path)
    for trial in sorted(study.trials, key=lambda each: each.number):
        is_full = trial.number in path or trial.number in cited or places_left > 0
        places_left -= trial.number not in path
        yield TrialSection(
            number=trial.number,
            state=state_of(trial, study.best),
            title=action_in_words(trial.proposal.action),
            objective=objective_of(trial, study.objective),
            reason=reason_of(trial),
            full=is_full and (trial.number not in path or len(path) <= 2 * MOST_SECTIONS),
            on_path=trial.number in path,
            trial=trial,
            folder=f"{TRIALS}/{trial.number:04d}",
        )


def section_blocks(sections: list[TrialSection]) -> list[list[TrialSection]]:
    """Sections in blocks: each in full alone, those of one line in blocks of some hundreds."""
    blocks: list[list[TrialSection]] = []
    for section in sections:
        joins = blocks and not section.full and not blocks[-1][0].full
        if joins and len(blocks[-1]) < LINES_PER_BLOCK:
            blocks[-1].append(section)
        else:
            blocks.append([section])
    return blocks
