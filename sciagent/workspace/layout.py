"""Where everything of a workspace lies."""

from dataclasses import dataclass
from pathlib import Path

JOURNAL = "events.jsonl"
CLAIMS = "claims.json"
VERIFICATION = "verification.json"
REVIEWS = "reviews.jsonl"
STUDY = "study.json"
ENVIRONMENT = "environment.json"
REPORT_MARKDOWN = "report.md"
REPORT_HTML = "report.html"
NOTEBOOK = "notebook.ipynb"
RECORD = "record.ipynb"
RESULTS = "results.json"
CRATE = "ro-crate-metadata.json"
TRIALS = "trials"
FIGURES = "figures"
DATA = "data"
SOURCES = "sources"
INBOX = "inbox"
LOCK = ".lock"
OUTCOME = "outcome.json"

MUTABLE_AFTER_SEAL = frozenset({VERIFICATION, REVIEWS})
"""Files that may appear or change after the seal."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one workspace."""

    root: Path

    def __truediv__(self, name: str) -> Path:
        return self.root / name

    @property
    def journal(self) -> Path:
        """The append-only record."""
        return self.root / JOURNAL

    @property
    def inbox(self) -> Path:
        """Folder of the commands to a running owner."""
        return self.root / INBOX

    @property
    def lock(self) -> Path:
        """The owner's lock."""
        return self.root / LOCK

    @property
    def data(self) -> Path:
        """Copies of the inputs."""
        return self.root / DATA

    @property
    def figures(self) -> Path:
        """Images of the report."""
        return self.root / FIGURES

    def trial(self, number: int) -> Path:
        """Folder of a trial."""
        return self.root / TRIALS / f"{number:04d}"

    def outcome(self, number: int) -> Path:
        """File that a worker writes last: the trial has finished if it is there."""
        return self.trial(number) / OUTCOME
