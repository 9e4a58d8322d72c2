"""A refinement that never took place, written as a finished workspace: reports have it to show.

The numbers are invented but consistent, and the same wherever they are made. Nothing is computed,
so that workspaces of thousands of trials are made in seconds.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from sciagent.contracts.claim import (
    ClaimRequest,
    ClaimsFile,
    FigureRequest,
    ReportRequest,
    Statement,
    Verification,
)
from sciagent.contracts.domain import Question
from sciagent.contracts.errors import ConvergenceError, error_record
from sciagent.contracts.events import (
    EventBody,
    RunStarted,
    StudyConcluded,
    StudyOpened,
    TrialDecided,
    TrialFinished,
    TrialProposed,
)
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.run import Environment, RunRequest
from sciagent.contracts.study import (
    Action,
    Budget,
    Check,
    Conclusion,
    Decision,
    Objective,
    Outcome,
    Proposal,
)
from sciagent.reports.assemble import assemble
from sciagent.reports.notebooks import write_notebooks
from sciagent.reports.render import write_reports
from sciagent.reports.verify import verify
from sciagent.workspace.content import artifact_of
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import Layout
from sciagent.workspace.record import load_tree, write_study_file
from sciagent.workspace.seal import seal

OBJECTIVE = Objective(metric="r_wp", unit="%", direction="minimise", noise=0.02)
CODE_SHA256 = "c0de" * 16
STEPS: tuple[tuple[str, dict[str, JsonValue], str], ...] = (
    ("release", {"parameters": ["scale"]}, "The scale alone explains most of the misfit."),
    ("release", {"parameters": ["background"]}, "The background is flat so far."),
    ("release", {"parameters": ["zero"]}, "All reflections are off to the same side."),
    ("release", {"parameters": ["cell.a", "cell.c"]}, "Reflections at high angle are off most."),
    ("release", {"parameters": ["profile.u", "profile.v", "profile.w"]}, "Peaks are too narrow."),
    ("release", {"parameters": ["atoms.position"]}, "Intensities do not agree."),
    ("release", {"parameters": ["atoms.b_iso"]}, "Intensities fall off with the angle."),
)


def outcome_of_trial(number: int, r_wp: float) -> Outcome:
    """Invent an outcome: a few metrics with units and uncertainties."""
    return Outcome(
        status="ok",
        metrics={
            "r_wp": Quantity(value=r_wp, unit="%"),
            "gof": Quantity(value=round(r_wp / 5.2, 6), unit="1"),
            "cell_a": Quantity(value=9.37 + 0.0002 / number, unit="Ao", uncertainty=0.00041),
            "cell_c": Quantity(value=6.8845, unit="Ao", uncertainty=0.00033),
            "zero": Quantity(value=-0.0312, unit="deg", uncertainty=0.0007),
        },
        notes=("Two weak lines near the foot of the strongest are explained by no phase.",),
        cpu_s=0.81,
        wall_s=0.9,
    )


def report_request(best: int, first: int = 1) -> ReportRequest:
    """The report of the refinement: numbers, a figure, a statement and some plain words."""

    def number(
        identifier: str, quantity: str, trial: int, unit: Any, decimals: int
    ) -> ClaimRequest:
        metric = identifier.partition(".")[2]
        has_uncertainty = metric.startswith("cell")
        return ClaimRequest(
            id=identifier, subject="fluorapatite", quantity=quantity,
            condition="first trial" if trial == first else "", unit=unit, decimals=decimals,
            path=f"trials/{trial:04d}/outcome.json", pointer=f"/metrics/{metric}/value",
            uncertainty_pointer=f"/metrics/{metric}/uncertainty" if has_uncertainty else None,
            tolerance=0.01, trial=trial,
        )  # fmt: skip

    time = number("time.cpu", "time of computing", best, "s", 1).model_copy(
        update={"kind": "record", "pointer": "/cpu_s"}
    )
    return ReportRequest(
        title="Structure of fluorapatite from a powder pattern",
        source=(
            "## Result\n\n"
            "The refinement ends at R_wp {{claim:final.r_wp}} with a goodness of fit of "
            "{{claim:final.gof}}. The cell lengths are {{claim:final.cell_a}} and "
            "{{claim:final.cell_c}} in `P6_3/m`. {{claim:better}}\n\n"
            "The start was the scale alone. It took {{claim:time.cpu|label}}.\n\n"
            "{{figure:fit}}\n\n## Values\n\n{{claims:final}}\n"
        ),
        numbers=(
            number("final.r_wp", "R_wp", best, "%", 2),
            number("final.gof", "goodness of fit", best, "1", 2),
            number("final.cell_a", "cell length a", best, "Ao", 4),
            number("final.cell_c", "cell length c", best, "Ao", 4),
            number("start.r_wp", "R_wp", first, "%", 1),
            time,
        ),
        figures=(
            FigureRequest(
                id="fit", subject="fluorapatite", quantity="observed and calculated pattern",
                drawing="profile", data=(f"trials/{best:04d}/profile.csv",),
                caption="Observed intensities and their difference from the calculated ones.",
            ),
        ),
        statements=(
            Statement(
                id="better", subject="fluorapatite", quantity="better than at the start",
                left="final.r_wp", operator="lt", right="start.r_wp",
            ),
        ),
        required=("final.r_wp", "final.cell_a"),
    )  # fmt: skip


def draw_profile(paths: Sequence[Path]) -> Any:
    """Draw the invented profile."""
    from matplotlib.figure import Figure

    rows = [line.split(",") for line in paths[0].read_text().splitlines()[1:]]
    two_theta, observed, difference = ([float(row[i]) for row in rows] for i in range(3))
    figure = Figure(figsize=(7.0, 3.6))
    axes = figure.add_subplot()
    axes.plot(two_theta, observed, label="observed")
    axes.plot(two_theta, difference, label="difference")
    axes.set(xlabel="2θ (°)", ylabel="intensity (counts)")
    axes.legend()
    return figure


def _never(*_: Any) -> Any:
    message = "the refinement of the reports' tests never takes place"
    raise NotImplementedError(message)


QUESTION = Question(
    name="refinement",
    title="Refinement of a crystal structure",
    summary="Releases parameters one group after the other.",
    inputs=(),
    settings=BaseModel,
    build=_never,
    policy=_never,
    report=_never,
    drawings={"profile": draw_profile},
)


@dataclass(frozen=True)
class PretendedRun:
    """Writes a workspace as a finished run leaves it.

    Attributes
    ----------
    root
        Folder to write; it must not exist.
    rounds
        Accepted trials of the path.
    tries
        Trials that are tried and not accepted from each of them.
    texts
        Replaces texts of the trials, such as ``{"rationale": "<b>"}``, to see them printed.
    """

    root: Path
    rounds: int = 7
    tries: int = 3
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def best(self) -> int:
        """Number of the last accepted trial."""
        return 1 + (self.rounds - 1) * (self.tries + 1)

    def make(self, *, sealed: bool = True, request: ReportRequest | None = None) -> ClaimsFile:
        """Write journal, trials, environment, claims, notebooks, reports and the seal."""
        layout = Layout(self.root)
        layout.inbox.mkdir(parents=True)
        with JournalFile.create(layout.journal) as journal:
            journal.append_many(list(self._opening()))
            journal.append_many(list(self._bodies()), study="refinement")
            write_study_file(self.root, load_tree(self.root))
            _environment(layout)
            wanted = request or report_request(self.best)
            claims = assemble(self.root, QUESTION, wanted, CODE_SHA256)
            write_notebooks(self.root, QUESTION, claims)
            write_reports(self.root, verify(self.root, before_seal=True))
            if sealed:
                seal(journal, self.root, "completed")
        return claims

    def _opening(self) -> Iterator[EventBody]:
        request = RunRequest(question="toy/refinement", dataset="fluorapatite")
        yield RunStarted(run=self.root.name, request=request)

    def _bodies(self) -> Iterator[EventBody]:
        yield StudyOpened(question="toy/refinement", objective=OBJECTIVE, budget=Budget(trials=99))
        parent: int | None = None
        number, r_wp = 1, 83.1234
        for each in range(self.rounds):
            yield from self._trial(number, parent, each, r_wp, accepted=True)
            parent, number = number, number + 1
            if each < self.rounds - 1:
                for tried in range(self.tries):
                    yield from self._trial(number, parent, each + tried + 2, r_wp + 0.5)
                    number += 1
            r_wp = round(8.437 + 0.55 * (r_wp - 8.437), 6)
        yield StudyConcluded(
            conclusion=Conclusion(
                status="completed", reason="No further release improves the fit.", best=self.best
            )
        )

    def _trial(
        self, number: int, parent: int | None, step: int, r_wp: float, *, accepted: bool = False
    ) -> Iterator[EventBody]:
        name, arguments, rationale = STEPS[step % len(STEPS)]
        proposal = Proposal(
            parent=parent,
            action=Action(name=self.texts.get("action", name), arguments={**arguments}),
            rationale=self.texts.get("rationale", rationale),
            expected="R_wp falls.",
        )
        yield TrialProposed(trial=number, proposal=proposal, batch=number, batch_size=1)
        outcome = self._outcome(number, r_wp, failed=not accepted and number % 5 == 0)
        yield TrialFinished(trial=number, outcome=outcome)
        verdict = "accepted" if accepted else ("superseded" if number % 4 == 0 else "rejected")
        reason = f"r_wp {r_wp + 1:.4f} % to {r_wp:.4f} %" if accepted else "not better by 0.02 %"
        check = Check(
            name="b_iso", passed=accepted, detail=self.texts.get("detail", "every B_iso > 0 Å²")
        )
        yield TrialDecided(
            trial=number,
            decision=Decision(verdict=verdict, reasons=(reason,), checks=(check,)),  # type: ignore[arg-type]
        )

    def _outcome(self, number: int, r_wp: float, *, failed: bool) -> Outcome:
        folder = Layout(self.root).trial(number)
        folder.mkdir(parents=True)
        if failed:
            error = ConvergenceError("The least squares diverged.", "Release fewer parameters.")
            outcome = Outcome(status="failed", error=error_record(error))
        else:
            rows = [f"{10 + i / 2},{(i * 37) % 91 + 900 / (1 + (i - 40) ** 2)},{i % 7 - 40}"
                    for i in range(80)]  # fmt: skip
            text = "\n".join(["two_theta,observed,difference", *rows])
            (folder / "profile.csv").write_text(text)
            files = (artifact_of(folder / "profile.csv", folder),)
            outcome = outcome_of_trial(number, r_wp).model_copy(update={"files": files})
            if "note" in self.texts:
                outcome = outcome.model_copy(update={"notes": (self.texts["note"],)})
        (folder / "outcome.json").write_text(outcome.model_dump_json(indent=1))
        return outcome


def _environment(layout: Layout) -> None:
    environment = Environment(
        sciagent="0.1.0", python="3.11.7", platform="Linux-6.1-x86_64", cpu_count=2,
        packages={"numpy": "2.3.0", "rietx": "1.10.0"}, code_sha256=CODE_SHA256, threads=1,
        seed=0, sandbox="unsandboxed: the domain's own code ran as the user",
    )  # fmt: skip
    (layout / "environment.json").write_text(environment.model_dump_json(indent=1))


@dataclass
class Recomputation:
    """Stands for the kernel that runs a notebook again (a `NotebookRunner`).

    It writes the trials as the run left them, with the values that `changes` gives.

    Attributes
    ----------
    changes
        New value by trial and metric.
    left_out
        Trials that are not computed.
    failure
        Raised at the end.
    """

    changes: Mapping[tuple[int, str], float] = field(default_factory=dict)
    left_out: tuple[int, ...] = ()
    failure: Exception | None = None
    runs: int = 0

    def __call__(
        self,
        source: Path,
        output: Path,
        parameters: Mapping[str, Any],
        *,
        timeout_s: float,
        directory: Path,
    ) -> None:
        """Copy the trials, change what is to be changed."""
        assert timeout_s > 0.0
        assert output.parent == directory
        self.runs += 1
        trials = Path(parameters["output"]) / "trials"
        shutil.copytree(source.parent / "trials", trials)
        for number in self.left_out:
            shutil.rmtree(trials / f"{number:04d}")
        for (number, metric), value in self.changes.items():
            path = trials / f"{number:04d}" / "outcome.json"
            document = json.loads(path.read_text())
            document["metrics"][metric]["value"] = value
            path.write_text(json.dumps(document))
        if self.failure is not None:
            raise self.failure


def checked(root: Path, **options: Any) -> Verification:
    """Verify a pretended run with its own drawings."""
    return verify(root, drawings=QUESTION.drawings, **options)
