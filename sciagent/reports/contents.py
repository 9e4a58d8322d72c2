"""All that a rendered report shows, read from a workspace."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from sciagent.contracts.claim import ClaimsFile, Verdict, Verification
from sciagent.contracts.run import Environment, RunRequest
from sciagent.contracts.tree import StudyRecord, Trial
from sciagent.reports.assemble import read_claims
from sciagent.workspace.journal import read_start
from sciagent.workspace.layout import ENVIRONMENT, JOURNAL
from sciagent.workspace.record import load_studies


@dataclass(frozen=True)
class ReportContents:
    """What a report is rendered from.

    Attributes
    ----------
    root
        The workspace: images are read from it.
    run
        Name of the run.
    started
        Time of the first event, UTC, ISO 8601.
    verification
        The check whose verdicts are shown.
    """

    root: Path
    run: str
    started: str
    request: RunRequest
    claims: ClaimsFile
    studies: tuple[StudyRecord, ...]
    environment: Environment | None
    verification: Verification

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Verdict by claim."""
        return {verdict.claim: verdict for verdict in self.verification.verdicts}

    @cached_property
    def trials(self) -> dict[int, Trial]:
        """Trial by number, of all studies."""
        return {trial.number: trial for study in self.studies for trial in study.trials}


def load_contents(root: Path, verification: Verification) -> ReportContents:
    """Read claims, studies, environment and request of a workspace.

    Raises
    ------
    InputError
        If there are no claims, or the journal cannot be read.
    """
    start = read_start(root / JOURNAL)
    return ReportContents(
        root=root,
        run=start.body.run,
        started=start.time,
        request=start.body.request,
        claims=read_claims(root),
        studies=load_studies(root),
        environment=_environment(root),
        verification=verification,
    )


def _environment(root: Path) -> Environment | None:
    try:
        return Environment.model_validate_json((root / ENVIRONMENT).read_bytes())
    except (OSError, ValidationError):
        return None
