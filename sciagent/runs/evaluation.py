"""The public evaluation of Agents-A1: its questions, tools, limits and files of results.

The protocol is that of https://github.com/InternScience/Agents-A1/tree/main/evaluation: three
tools, at most 300 calls of the model, 150 minutes and 128k tokens for a question, the answer
between ``<answer>`` and ``</answer>``, and a file ``OUT/<model>/<data set>/iterN.jsonl`` that the
programs there judge. Here, predictions are only compared letter by letter.
"""

import json
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event as Flag
from typing import Literal

from pydantic import Field

from sciagent.contracts.errors import InputError
from sciagent.contracts.model import Contract
from sciagent.contracts.ports import Literature
from sciagent.contracts.quantity import measured_in
from sciagent.execution.sandbox import sandbox_mode
from sciagent.runs.agents import require_usable
from sciagent.runs.configuration import Configuration
from sciagent.runs.evaluation_agent import Examiner, Limits
from sciagent.runs.evaluation_rows import ERROR, Item, ResultFile, read_items
from sciagent.runs.retrieval import library_place, literature_of
from sciagent.runs.surroundings import Surroundings
from sciagent.tools.compatible import google_search, python_interpreter, read_page
from sciagent.workspace.atomic import storage_error, write_atomic
from sciagent.workspace.layout import Layout
from sciagent.workspace.lock import LockedError, OwnerLock

PROTOCOL = "protocol.json"
_WORKING = ".working"
_STANDARD_NAME = "standardized_data"
"""Stem of the files of questions there; the folder is named after the data set."""
_LOOK_S = 0.2


class EvaluationSettings(Contract):
    """What is asked, and under which limits."""

    profile: Literal["a1"] = "a1"
    limits: Limits = Limits()
    iterations: int = Field(default=1, ge=1, json_schema_extra={"unit": "{count}"})
    first: int | None = Field(
        default=None, ge=1, json_schema_extra={"unit": "{count}"},
        description="Ask only so many questions, the first ones.",
    )  # fmt: skip
    parallel: int = Field(default=1, ge=1, description="Questions asked side by side.")
    dataset: str | None = Field(
        default=None, description="Name of the data set; none: by the file of its questions."
    )


class IterationSummary(Contract):
    """What the rows of one iteration came to."""

    iteration: int = Field(ge=1)
    file: str
    rows: int = Field(ge=0, json_schema_extra={"unit": "{count}"})
    missing: int = Field(ge=0, json_schema_extra={"unit": "{count}"})
    terminations: dict[str, int] = Field(description="How often rows ended in each way.")
    exact_matches: int = Field(ge=0, json_schema_extra={"unit": "{count}"})
    exact_match_accuracy: float | None = measured_in(
        "1", default=None, description="Of the rows that are there; a lower bound of the accuracy."
    )


class EvaluationSummary(Contract):
    """How an evaluation stands."""

    model: str
    dataset: str
    questions: int = Field(ge=1, json_schema_extra={"unit": "{count}"})
    iterations: tuple[IterationSummary, ...]
    tools_without_port: tuple[str, ...] = Field(
        default=(), description="Offered, as the protocol says, but nothing was behind them."
    )
    stopped: bool = False

    @property
    def failed(self) -> int:
        """Rows whose endpoint failed."""
        return sum(each.terminations.get(ERROR, 0) for each in self.iterations)


@dataclass(frozen=True, slots=True)
class Standing:
    """How many rows there are to be, are there, and are being made; whether it stops."""

    rows: int
    ended: int
    running: int
    stopping: bool


Watcher = Callable[[Standing], None]
"""Is told how an evaluation stands, several times a second."""


def evaluate(
    questions: str | Path,
    out: str | Path,
    settings: EvaluationSettings,
    configuration: Configuration,
    *,
    surroundings: Surroundings | None = None,
    watcher: Watcher | None = None,
) -> EvaluationSummary:
    """Ask the questions of a data set that have no row yet, and write a row for each.

    Called again, it goes on: a question that has a row is not asked again, unless its endpoint
    had failed.

    Parameters
    ----------
    questions
        A file with an object of `question` and `answer` on each line.
    out
        Folder of the results of all models.
    settings, configuration
        What is asked under which limits, and of which model.
    surroundings
        Ports of the tools. When `cancelled` turns true, questions that were begun are finished
        and no other is begun.
    watcher
        Is told how it stands.

    Raises
    ------
    InputError
        If anything given cannot be used, or another process writes the same results; nothing is
        written then.
    ResourceError
        If the disk is full.
    KeyboardInterrupt
        If interrupted; the questions that were begun are given up.
    """
    items = read_items(Path(questions))
    require_usable(configuration.endpoint)
    model = _folder_name(configuration.endpoint.model.rstrip("/").rpartition("/")[2], "--model")
    dataset = _folder_name(settings.dataset or _dataset_of(Path(questions)), "--dataset")
    work = _Evaluation(
        Path(out) / model / dataset, items, settings, configuration,
        surroundings or Surroundings(), watcher,
    )  # fmt: skip
    work.take_up()
    with _alone(work.folder):
        work.run()
    return work.summary(model, dataset)


def _dataset_of(questions: Path) -> str:
    is_standard = questions.stem == _STANDARD_NAME
    return questions.resolve().parent.name if is_standard else questions.stem


def _folder_name(name: str, option: str) -> str:
    if name in {"", ".", ".."} or Path(name).name != name or "\0" in name:
        raise InputError(f"{name!r} is no name of a folder.", f"Give another one with {option}.")
    return name


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Make the folder, and keep other processes from writing there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, f"no results can be written to {folder}") from error
    try:
        with OwnerLock(Layout(folder)):
            yield
    except LockedError as error:
        raise InputError(
            f"Another process is writing results to {folder}.", "Wait for it, or end it."
        ) from error


@dataclass(slots=True)
class _Evaluation:
    """An evaluation while this process drives it."""

    folder: Path
    items: tuple[Item, ...]
    settings: EvaluationSettings
    configuration: Configuration
    surroundings: Surroundings
    watcher: Watcher | None
    files: list[ResultFile] = field(default_factory=list)
    abandoned: Flag = field(default_factory=Flag)

    @property
    def asked(self) -> tuple[Item, ...]:
        """The questions of this evaluation."""
        return self.items[: self.settings.first]

    def take_up(self) -> None:
        """Read what is there, and refuse it before anything is changed."""
        self._require_same_protocol()
        known = {item.question: item for item in self.items}
        numbers = range(1, self.settings.iterations + 1)
        self.files = [
            ResultFile.open(self.folder / f"iter{number}.jsonl", known) for number in numbers
        ]

    def run(self) -> None:
        """Ask what has no row."""
        self.take_up()  # another process may have written rows until this one was alone
        working = self.folder / _WORKING
        shutil.rmtree(working, ignore_errors=True)  # left by a process that was killed
        write_atomic(self.folder / PROTOCOL, f"{json.dumps(self._protocol(), indent=2)}\n")
        for file in self.files:
            file.repair()
        # Nobody is there to be asked; the code of the agents runs in a sandbox.
        alone = self.configuration.model_copy(update={"approval": "auto"})
        examiner = Examiner(
            alone, self.surroundings, self.settings.limits, working,
            self.abandoned.is_set,
        )  # fmt: skip
        try:
            with self._literature() as literature:
                around = replace(self.surroundings, literature=literature)
                self._drive(replace(examiner, surroundings=around))
        finally:
            shutil.rmtree(working, ignore_errors=True)

    @contextmanager
    def _literature(self) -> Iterator[Literature | None]:
        """Open one literature for all questions, so that no server is asked too often."""
        if self.surroundings.literature is not None:
            yield self.surroundings.literature
            return
        settings, local_only = self.configuration.literature, self.configuration.local_only
        with literature_of(settings, self.folder, local_only=local_only) as literature:
            yield literature

    def _drive(self, examiner: Examiner) -> None:
        waiting = deque(
            (file, number, item)
            for file in self.files
            for number, item in enumerate(self.asked, start=1)
            if item.question not in file.ended
        )
        running: set[Future[None]] = set()
        with ThreadPoolExecutor(self.settings.parallel) as pool:
            try:
                while running or (waiting and not self.surroundings.cancelled()):
                    while self._may_begin(waiting, running):
                        file, number, item = waiting.popleft()
                        name = f"{file.path.stem}-{number}"
                        running.add(pool.submit(_write_row, examiner, file, item, name))
                    done, running = wait(running, _LOOK_S, FIRST_COMPLETED)
                    for future in done:
                        future.result()
                    self._tell(len(running))
            except BaseException:
                self.abandoned.set()  # the pool waits for its threads, which see this
                raise

    def _may_begin(
        self, waiting: deque[tuple[ResultFile, int, Item]], running: set[Future[None]]
    ) -> bool:
        has_room = len(running) < self.settings.parallel
        return bool(waiting) and has_room and not self.surroundings.cancelled()

    def _tell(self, running: int) -> None:
        if self.watcher is not None:
            rows = len(self.asked) * len(self.files)
            ended = sum(item.question in f.ended for f in self.files for item in self.asked)
            self.watcher(Standing(rows, ended, running, self.surroundings.cancelled()))

    def _protocol(self) -> dict[str, object]:
        """What all rows of a folder must have in common."""
        return {
            "profile": self.settings.profile,
            "model": self.configuration.endpoint.model,
            "limits": self.settings.limits.model_dump(mode="json"),
            "sampling": self.configuration.endpoint.sampling.model_dump(mode="json"),
            "verification": self.configuration.agent.verification,
            "literature": self.configuration.literature.mode,
            "tools_without_port": list(tools_without_port(self.configuration, self.surroundings)),
        }

    def _require_same_protocol(self) -> None:
        path = self.folder / PROTOCOL
        if not path.is_file():
            return
        try:
            earlier = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"The file {path} cannot be read: {error}.", "Mend it.") from error
        for name, value in self._protocol().items():
            if earlier.get(name) != value:
                raise InputError(
                    f"The rows in {self.folder} were made with {name} = {earlier.get(name)!r}, "
                    f"not {value!r}.",
                    "Go on with the same settings, or give another folder.",
                )

    def summary(self, model: str, dataset: str) -> EvaluationSummary:
        """Count what is there."""
        numbered = enumerate(self.files, start=1)
        iterations = tuple(self._iteration(number, file) for number, file in numbered)
        is_whole = not any(each.missing for each in iterations)
        return EvaluationSummary(
            model=model, dataset=dataset, questions=len(self.asked), iterations=iterations,
            tools_without_port=tools_without_port(self.configuration, self.surroundings),
            stopped=self.surroundings.cancelled() and not is_whole,
        )  # fmt: skip

    def _iteration(self, number: int, file: ResultFile) -> IterationSummary:
        asked = [item.question for item in self.asked]
        ended = [file.ended[question] for question in asked if question in file.ended]
        matches = sum(each.exact for each in ended)
        return IterationSummary(
            iteration=number, file=str(file.path), rows=len(ended),
            missing=len(asked) - len(ended),
            terminations=dict(sorted(Counter(each.termination for each in ended).items())),
            exact_matches=matches,
            exact_match_accuracy=matches / len(ended) if ended else None,
        )  # fmt: skip


def _write_row(examiner: Examiner, file: ResultFile, item: Item, name: str) -> None:
    row = examiner.row(item, name)
    if row is not None:
        file.append(row)


def tools_without_port(configuration: Configuration, surroundings: Surroundings) -> tuple[str, ...]:
    """Name the tools that can do nothing here: nobody to ask, or no sandbox for code."""
    absent: tuple[str, ...] = ()
    settings = configuration.literature
    is_offline = configuration.local_only or settings.mode == "offline"
    if surroundings.literature is None and is_offline and not library_place(settings).is_file():
        absent = (google_search.name, read_page.name)
    has_code = surroundings.code is not None or surroundings.allow_unsandboxed
    if not has_code and not sandbox_mode().is_confined:
        absent = (*absent, python_interpreter.name)
    return absent
