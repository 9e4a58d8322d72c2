"""A field of science without science: the lowest point of a bowl, found by steps.

It goes through every part of a run in milliseconds, with a known answer, and can be told to be
slow, to fail or to be hopeless. It is installed into a test environment as any other field is
by another distribution: through the entry-point group ``sciagent.domains``.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, JsonValue

from sciagent.contracts.claim import ClaimRequest, FigureRequest, ReportRequest, Statement
from sciagent.contracts.domain import Domain, Inputs, InputSpec, Question
from sciagent.contracts.errors import ConvergenceError, InputError
from sciagent.contracts.model import Contract
from sciagent.contracts.ports import Context, Policy, Problem
from sciagent.contracts.quantity import Quantity, measured_in
from sciagent.contracts.study import (
    Abstain,
    Action,
    ActionSpec,
    Batch,
    Check,
    Conclusion,
    Finish,
    Objective,
    Outcome,
    Proposal,
)
from sciagent.contracts.tree import StudyView, Trial

STEPS = ("east", "west", "north", "south")
MOVES = {"east": (1, 0), "west": (-1, 0), "north": (0, 1), "south": (0, -1)}
FORBIDDEN = "leap"
STEP: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"step_um": {"type": "number", "unit": "um"}},
    "required": ["step_um"],
}


class BowlSettings(Contract):
    """Where the bowl is lowest and how the search behaves."""

    lowest_x_um: float = measured_in("um", default=3.0, description="Lowest point, x.")
    lowest_y_um: float = measured_in("um", default=-2.0, description="Lowest point, y.")
    step_um: float = measured_in("um", default=1.0, gt=0.0, description="First step.")
    smallest_step_um: float = measured_in("um", default=0.25, gt=0.0, description="Last step.")
    sleep_s: float = measured_in("s", default=0.0, ge=0.0, description="Time a trial takes.")
    fail_every: int = Field(default=0, ge=0, description="Every so many steps fail; 0: none.")
    hopeless: bool = Field(default=False, description="The policy abstains at once.")
    executions_log: str = Field(
        default="", description="File that each execution of a trial adds a line to."
    )


@dataclass(frozen=True)
class Bowl:
    """Height of a bowl over a plane; the objective is the height in µm."""

    settings: BowlSettings
    start: tuple[float, float]

    objective = Objective(metric="height", unit="um", direction="minimise", noise=1e-9)
    selection = Objective(metric="held_out_height", unit="um", direction="minimise", noise=1e-9)
    repeatable = True

    def actions(self, trial: Trial | None) -> tuple[ActionSpec, ...]:
        """Offer a start, or a step in each direction and one leap that no check lets pass."""
        if trial is None:
            return (ActionSpec(name="start", summary="Stand at the starting point."),)
        specs = [ActionSpec(name=n, summary=f"Step {n}.", arguments_schema=STEP) for n in STEPS]
        return (*specs, ActionSpec(name=FORBIDDEN, summary="Leap below the bowl."))

    def run(self, proposal: Proposal, context: Context) -> Outcome:
        """Take the step and measure the height there."""
        if self.settings.executions_log:
            with Path(self.settings.executions_log).open("a") as log:
                log.write(f"{context.directory.name} {os.getpid()}\n")
        time.sleep(self.settings.sleep_s)
        x, y = self._moved(proposal, context)
        trial = int(context.directory.name)
        if self.settings.fail_every and trial % self.settings.fail_every == 0:
            raise ConvergenceError("The foot slipped.", "Try another direction.")
        (context.directory / "point.json").write_text(json.dumps({"x_um": x, "y_um": y}))
        rows = [f"{i},{self._height(x + i, y)}" for i in range(-3, 4)]
        (context.directory / "profile.csv").write_text("\n".join(["offset_um,height_um", *rows]))
        height = self._height(x, y)
        if proposal.action.name == FORBIDDEN:
            height = -1.0
        return Outcome(
            status="ok",
            metrics={
                "height": Quantity(value=height, unit="um", uncertainty=0.01),
                "x": Quantity(value=x, unit="um"),
                "y": Quantity(value=y, unit="um"),
            },
            selection={"held_out_height": Quantity(value=height + 0.5, unit="um")},
        )

    def checks(self, outcome: Outcome) -> tuple[Check, ...]:
        """No point lies below the bowl's lowest."""
        height = outcome.metrics["height"].value
        return (Check(name="height", passed=height >= 0.0, detail=f"{height:g} um is >= 0"),)

    def conclude(self, view: StudyView) -> Conclusion:
        """Stand behind whatever point is best."""
        assert view.best is not None
        return Conclusion(status="completed", reason="Lowest point found.", best=view.best.number)

    def _moved(self, proposal: Proposal, context: Context) -> tuple[float, float]:
        if context.parent_directory is None:
            return self.start
        here = json.loads((context.parent_directory / "point.json").read_text())
        east, north = MOVES.get(proposal.action.name, (0, 0))
        step = float(proposal.action.arguments.get("step_um", 0.0))  # type: ignore[arg-type]
        return here["x_um"] + east * step, here["y_um"] + north * step

    def _height(self, x: float, y: float) -> float:
        return (x - self.settings.lowest_x_um) ** 2 + 2 * (y - self.settings.lowest_y_um) ** 2


@dataclass(frozen=True)
class Walker:
    """Tries the four directions and the forbidden leap, with ever smaller steps (a `Policy`)."""

    bowl: Bowl

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        """Propose all steps of the largest size that has not been rejected here."""
        if self.bowl.settings.hopeless:
            return Abstain(reason="There is no bowl here.")
        if view.head is None:
            if view.trials:
                return Finish(reason="The start failed.")
            return Batch(proposals=(Proposal(parent=None, action=Action(name="start")),))
        step = self.bowl.settings.step_um
        while step >= self.bowl.settings.smallest_step_um:
            untried = [a for a in self._steps(step) if not view.tried(view.head.number, a)]
            if untried:
                return Batch(
                    proposals=tuple(
                        Proposal(parent=view.head.number, action=action, rationale="Go down.")
                        for action in untried
                    )
                )
            step /= 2
        return Finish(reason="No direction leads down.")

    @staticmethod
    def _steps(step: float) -> list[Action]:
        return [Action(name=name, arguments={"step_um": step}) for name in (*STEPS, FORBIDDEN)]


def _build(inputs: Inputs, settings: Any) -> Problem:
    start = (0.0, 0.0)
    for path in inputs.get("start", ()):
        try:
            x, y = (float(word) for word in path.read_text().split())
        except ValueError as error:
            raise InputError(
                f"The starting point in {path.name!r} is not two numbers.",
                "Write x and y in micrometres, separated by a space.",
            ) from error
        start = (x, y)
    return Bowl(settings=settings, start=start)


def _report(view: StudyView, _problem: Problem, _directory: Path) -> ReportRequest:
    if view.best is None:
        return ReportRequest(title="No lowest point", source="Nothing was found.\n", numbers=())
    outcome = f"trials/{view.best.number:04d}/outcome.json"

    def number(name: str, decimals: int) -> ClaimRequest:
        pointer = f"/metrics/{name}/value"
        unsure = "/metrics/height/uncertainty" if name == "height" else None
        return ClaimRequest(
            id=f"lowest.{name}", subject="lowest point", quantity=name, path=outcome,
            pointer=pointer, unit="um", decimals=decimals, tolerance=1e-9,
            trial=view.best.number if view.best else None, uncertainty_pointer=unsure,
        )  # fmt: skip

    first = number("height", 2).model_copy(
        update={
            "id": "start.height", "subject": "starting point", "uncertainty_pointer": None,
            "path": f"trials/{view.trials[0].number:04d}/outcome.json", "trial": 1,
        }
    )  # fmt: skip
    return ReportRequest(
        title="The lowest point of a bowl",
        source=(
            "## Result\n\nThe lowest point lies at {{claim:lowest.x}} and {{claim:lowest.y}}, "
            "where the height is {{claim:lowest.height}}. {{claim:lower}}\n\n"
            "{{figure:profile}}\n\n## Values\n\n{{claims:lowest}}\n"
        ),
        numbers=(number("x", 2), number("y", 2), number("height", 2), first),
        figures=(
            FigureRequest(
                id="profile", subject="lowest point", quantity="profile", drawing="profile",
                data=(outcome.replace("outcome.json", "profile.csv"),),
                caption="Height along x through the lowest point.",
            ),
        ),
        statements=(
            Statement(
                id="lower", subject="lowest point", quantity="lower than the start",
                left="lowest.height", operator="le", right="start.height",
            ),
        ),
        required=("lowest.x", "lowest.y", "lowest.height"),
    )  # fmt: skip


def _draw_profile(paths: Sequence[Path]) -> Any:
    from matplotlib.figure import Figure

    lines = paths[0].read_text().splitlines()[1:]
    offsets, heights = zip(*((float(v) for v in line.split(",")) for line in lines), strict=True)
    figure = Figure(figsize=(4, 2.5), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(offsets, heights, "o-")
    axes.set(xlabel="offset (µm)", ylabel="height (µm)")
    return figure


def _policy(problem: Problem) -> Policy:
    assert isinstance(problem, Bowl)
    return Walker(problem)


DOMAIN = Domain(
    name="toy",
    title="A bowl",
    summary="The lowest point of a bowl, to try the machinery out.",
    extra="",
    questions=(
        Question(
            name="parabola",
            title="Lowest point of a bowl",
            summary="Finds the lowest point by steps.",
            inputs=(
                InputSpec(name="start", summary="starting point, x and y in µm", required=False),
            ),
            settings=BowlSettings,
            build=_build,
            policy=_policy,
            report=_report,
            drawings={"profile": _draw_profile},
        ),
    ),
    guide=Path(__file__),
)
