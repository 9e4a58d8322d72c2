"""Takes trials back that turned out not to count: a leak, an overfit, a wrong file."""

from pathlib import Path

from sciagent.contracts.errors import UnknownNameError
from sciagent.contracts.events import SegmentOpened, TrialInvalidated
from sciagent.runs.opened import Run, open_run
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.lock import OwnerLock
from sciagent.workspace.record import load_tree
from sciagent.workspace.workspace import open_workspace


def invalidate(path: str | Path, trial: int, reason: str) -> Run:
    """Let a trial, and all that descends from it, no longer count.

    The trials are kept. A concluded run is open again after this, in a new segment of its
    journal: `resume` goes on from the best trial that still counts, and writes the report anew.

    Parameters
    ----------
    path
        Folder of the run.
    trial
        Its number.
    reason
        Why it does not count, in one sentence.

    Raises
    ------
    UnknownNameError
        If the run has no such trial.
    WorkspaceError
        If another process owns the run.
    """
    layout = open_workspace(Path(path))
    with OwnerLock(layout), JournalFile.open(layout.journal) as journal:
        trees = load_tree(layout.root).studies
        study = next((name for name, tree in trees.items() if tree.has(trial)), None)
        if study is None:
            known = [str(each.number) for tree in trees.values() for each in tree.trials]
            raise UnknownNameError.among("trial", str(trial), known)
        if trees[study].conclusion is not None:
            opened = SegmentOpened(
                reason=f"Trial {trial} was invalidated.", budget=trees[study].budget
            )
            journal.append(opened, study=study)
        journal.append(TrialInvalidated(trial=trial, reason=reason), study=study)
    return open_run(layout.root)
