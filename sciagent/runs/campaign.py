"""Runs campaigns: many rows of one workflow or question, each in a workspace of its own."""

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from sciagent.contracts.errors import ErrorRecord, InputError, UnknownNameError
from sciagent.execution.ledger import AttemptResult, Ledger
from sciagent.execution.process_pool import Engine, ProcessPool, WorkerLostError
from sciagent.runs.campaign_progress import (
    CAMPAIGN,
    CampaignProgress,
    progress_of,
    read_campaign,
)
from sciagent.runs.campaign_rows import CampaignFile, Row, rows_of, task_of
from sciagent.runs.campaign_spec import CampaignSpec, load_spec
from sciagent.runs.campaign_workspace import publish_campaign
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.identity import slug_from_text

Watcher = Callable[[CampaignProgress], None]
"""Is told how the campaign stands, about once a second."""

EngineName = Literal["local", "parsl"]
PARSL = "parsl"
"""Folder of Parsl's own files in that of a campaign."""
REPEATED_KINDS = ("random", "endpoint")
"""Errors that may not come again: their rows are run again as they are."""
_MOST_LOSSES = 3
_LOST = ErrorRecord(
    kind="resource.worker",
    message="The process that ran the row died each time.",
    remedy="Give it more memory, or look in its workspace for what killed it.",
)
_POLL_S = 0.5
_TELL_S = 1.0


@dataclass(frozen=True)
class Campaign:
    """A campaign, finished or not, opened for reading.

    Attributes
    ----------
    path
        Its folder.
    spec, rows
        What was asked for.
    """

    path: Path
    spec: CampaignSpec
    rows: tuple[Row, ...]

    @property
    def progress(self) -> CampaignProgress:
        """How it stands now, from its files."""
        return progress_of(Ledger(self.path), self.rows, self.spec.parallel)


def plan(
    spec: str | Path | Mapping[str, Any] | CampaignSpec, *, out: str | Path = "artifacts"
) -> Campaign:
    """Check a campaign and tell its rows; nothing is written or run.

    Raises
    ------
    InputError
        If it cannot be run as it is given.
    """
    asked = load_spec(Path(spec) if isinstance(spec, str) else spec)
    folder = Path(out).absolute() / slug_from_text(asked.campaign)
    if (folder / CAMPAIGN).is_file():
        earlier = read_campaign(folder).spec
        if earlier.subject != asked.subject:
            raise InputError(
                f"The folder {folder} is that of a campaign of {earlier.subject}.",
                "Give another name as `campaign`, or another folder with --out.",
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"The folder {folder} is not that of a campaign.",
            "Give another name as `campaign`, or another folder with --out.",
        )
    return Campaign(folder, asked, rows_of(asked))


def batch(  # noqa: PLR0913 - all that a campaign can be asked, by keyword
    spec: str | Path | Mapping[str, Any] | CampaignSpec,
    *,
    out: str | Path = "artifacts",
    parallel: int | None = None,
    failed: bool = False,
    only: Collection[int] = (),
    engine: EngineName | Engine = "local",
    cluster: str | Path | None = None,
    watcher: Watcher | None = None,
    interrupted: Watcher | None = None,
) -> Campaign:
    """Run the rows of a campaign that are not finished, and write its table and report.

    Called again, it goes on: rows that are finished are never run again.

    Parameters
    ----------
    spec
        A YAML file, or its content.
    out
        Folder in which the campaign's folder is made, under its name.
    parallel
        Rows that run side by side; as the campaign says if not given.
    failed
        Run rows again that had failed.
    only
        Numbers of the rows to run; all if empty.
    engine
        Where they run: ``local`` in worker processes of this machine, ``parsl`` where Parsl is
        configured to run them.
    cluster
        For ``parsl``: a Python file that defines a Parsl `config`; without it, this machine.
    watcher
        Is told how it stands.
    interrupted
        Is told the same at once when Ctrl-C has come and rows still run.

    Raises
    ------
    InputError
        If it cannot be run as it is given; nothing is written then.
    KeyboardInterrupt
        After Ctrl-C, when the rows that were running have ended; at once if it comes again.
    """
    campaign = plan(spec, out=out)
    if parallel is not None:
        wanted = campaign.spec.model_copy(update={"parallel": parallel})
        campaign = Campaign(campaign.path, wanted, campaign.rows)
    chosen = _chosen(campaign.rows, only)
    content = CampaignFile(spec=campaign.spec, rows=campaign.rows)
    _write_if_new(campaign.path / CAMPAIGN, content)
    carrier = _engine(engine, campaign, Path(cluster) if cluster else None)
    _driven(_Drive(campaign, carrier, watcher, interrupted), chosen, failed=failed)
    return campaign


def _driven(drive: "_Drive", chosen: Iterable[Row], *, failed: bool) -> None:
    campaign = drive.campaign
    try:
        drive.run(chosen, failed=failed)
    finally:
        drive.engine.close()
        ended = campaign.progress
        publish_campaign(campaign.path, campaign.spec, ended)
        if drive.watcher is not None:
            drive.watcher(ended)


def _write_if_new(path: Path, content: CampaignFile) -> None:
    """Write what is asked for; a file that says the same may be sealed and stays as it is."""
    text = content.model_dump_json(indent=1) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_atomic(path, text)


def _engine(engine: EngineName | Engine, campaign: Campaign, cluster: Path | None) -> Engine:
    size = campaign.spec.parallel
    if engine == "parsl":
        from sciagent.execution.parsl_engine import ParslEngine

        return ParslEngine(size, campaign.path / PARSL, cluster)
    if cluster is not None:
        raise InputError("A cluster is for the engine `parsl`.", "Give `--engine parsl` too.")
    if engine == "local":
        return ProcessPool(size)
    if isinstance(engine, str):
        raise UnknownNameError.among("engine", engine, get_args(EngineName))
    return engine


def _chosen(rows: tuple[Row, ...], only: Collection[int]) -> list[Row]:
    known = {str(row.number): row for row in rows}
    for number in only:
        if str(number) not in known:
            raise UnknownNameError.among("row", str(number), known)
    return [row for row in rows if not only or row.number in only]


@dataclass(slots=True)
class _Drive:
    """A campaign while this process drives it."""

    campaign: Campaign
    engine: Engine
    watcher: Watcher | None
    interrupted: Watcher | None = None
    ledger: Ledger = field(init=False)
    queue: deque[Row] = field(default_factory=deque)
    flying: dict["Future[AttemptResult | None]", Row] = field(default_factory=dict)
    elsewhere: list[Row] = field(default_factory=list)
    losses: Counter[str] = field(default_factory=Counter)
    forgiven: dict[str, int] = field(default_factory=dict)
    told: float = 0.0

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.campaign.path)

    def run(self, rows: Iterable[Row], *, failed: bool) -> None:
        """Run rows until each has ended, here or in another process."""
        for row in rows:
            if failed:
                self.forgiven[row.id] = self._failures(row)
            self.queue.append(row)
        try:
            while self.queue or self.flying or self.elsewhere:
                self._fill()
                self._collect()
        except KeyboardInterrupt:
            self.queue.clear()
            if self.flying and self.interrupted is not None:
                self.interrupted(self.campaign.progress)
            self._drain()
            raise

    def _drain(self) -> None:
        """Wait for the rows that run in this process's workers."""
        while self.flying:
            wait(self.flying, timeout=_POLL_S, return_when=FIRST_COMPLETED)
            for future in [each for each in self.flying if each.done()]:
                del self.flying[future]
            self._tell()

    def _fill(self) -> None:
        while self.queue and len(self.flying) < self.engine.size:
            row = self.queue.popleft()
            status = self.ledger.state(row.id).status
            if status == "running":
                self.elsewhere.append(row)
            elif status != "finished" and not (status == "failed" and self._is_settled(row)):
                task = task_of(self.campaign.spec, row, self.campaign.path)
                self.flying[self.engine.submit(task)] = row

    def _collect(self) -> None:
        if self.flying:
            wait(self.flying, timeout=_POLL_S, return_when=FIRST_COMPLETED)
        elif self.elsewhere:
            time.sleep(_POLL_S)
        for future in [each for each in self.flying if each.done()]:
            self._take(future)
        waiting, self.elsewhere = self.elsewhere, []
        self.queue.extend(waiting)
        self._tell()

    def _take(self, future: "Future[AttemptResult | None]") -> None:
        """Take in how a row ended; what is to be done with it now, its files tell."""
        row = self.flying.pop(future)
        error = future.exception()
        if error is not None and not isinstance(error, WorkerLostError):
            raise error
        if error is not None:
            self.losses[row.id] += 1
            if self.losses[row.id] >= _MOST_LOSSES and self.ledger.attempts(row.id):
                self.ledger.close_interrupted(row.id, _LOST)
                self.forgiven.pop(row.id, None)
        self.queue.append(row)

    def _failures(self, row: Row) -> int:
        return sum(not result.succeeded for result in self.ledger.results(row.id))

    def _is_settled(self, row: Row) -> bool:
        """Whether a failed row is to stay so: its error would come again, or came too often."""
        failures = self._failures(row) - self.forgiven.get(row.id, 0)
        if failures <= 0:
            return False
        error = list(self.ledger.results(row.id))[-1].error
        may_pass = error is not None and error.kind.split(".")[0] in REPEATED_KINDS
        return not may_pass or failures > self.campaign.spec.retries

    def _tell(self) -> None:
        now = time.monotonic()
        if self.watcher is not None and now - self.told >= _TELL_S:
            self.told = now
            self.watcher(self.campaign.progress)
