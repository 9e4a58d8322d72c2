"""The studies of a run, read from its journal, and their checkpoint `study.json`."""

from pathlib import Path

from sciagent.contracts.tree import StudyRecord
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.collector import collector_paused
from sciagent.workspace.journal import read_events
from sciagent.workspace.layout import JOURNAL, STUDY
from sciagent.workspace.summary import summarise
from sciagent.workspace.tree import StudyTree, TreeBuilder

__all__ = [
    "StudyTree",
    "TreeBuilder",
    "checkpoint_is_due",
    "load_studies",
    "load_tree",
    "summarise",
    "write_study_file",
]

_CHECKPOINT_EVENTS = 200
_CHECKPOINT_GROWTH = 0.1


def load_tree(root: Path) -> TreeBuilder:
    """Replay the whole journal of a workspace; `study.json` is not consulted."""
    with collector_paused():
        return TreeBuilder().apply_all(read_events(root / JOURNAL))


def load_studies(root: Path) -> tuple[StudyRecord, ...]:
    """Read the studies of a workspace from its journal, the only state."""
    return load_tree(root).records()


def write_study_file(root: Path, builder: TreeBuilder) -> None:
    """Write the checkpoint `study.json`: a view of the journal up to the builder's event."""
    write_atomic(root / STUDY, builder.file().model_dump_json(indent=1) + "\n")


def checkpoint_is_due(builder: TreeBuilder, last_sequence: int) -> bool:
    """Whether enough has happened since the last checkpoint to write the next one.

    The distance grows with the run (a tenth of it, at least 200 events), so that all
    checkpoints together cost in proportion to the length of the run, and what a reader must
    replay behind the last one stays a small part.

    Parameters
    ----------
    builder
        The tree as it stands.
    last_sequence
        Event of the last checkpoint; 0 if there was none.
    """
    distance = max(_CHECKPOINT_EVENTS, round(_CHECKPOINT_GROWTH * builder.sequence))
    return builder.sequence - last_sequence >= distance
