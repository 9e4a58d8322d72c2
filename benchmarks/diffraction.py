"""Powder refinements from a poor start: agreement, cell, cost, and what peers reach beside it."""

import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sciagent
from benchmarks.table import Row, present, progress
from sciagent.contracts.dataset import Dataset
from sciagent.contracts.study import Budget
from sciagent.datasets import load_dataset, resolve
from sciagent.domains.powder_diffraction import engine
from sciagent.domains.powder_diffraction.problem import RefinementProblem, build
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.simulation import simulate
from sciagent.runs.opened import Run

QUESTION = "powder_diffraction/refine"
PEER = "rietx plan"
PEER_PLAN = "mccusker_structural"
BUDGET_S = 60.0
ORDERS = 10


@dataclass(frozen=True)
class Case:
    """A dataset and the known values it is judged by.

    Attributes
    ----------
    dataset
        Its name.
    cells
        Known value by the metric of the outcome.
    weight
        Known value and metric of a weight fraction, in per cent.
    """

    dataset: str
    cells: dict[str, str] = field(default_factory=dict)
    weight: tuple[str, str] | None = None


CASES = (
    Case("fluorapatite", {"cell_a": "cell_a.fluorapatite", "cell_c": "cell_c.fluorapatite"}),
    Case(
        "sc2au6",
        {"cell_a": "cell_a.sc2au6_start", "cell_c": "cell_c.sc2au6_start"},
        ("impurity_weight", "weight.scau2"),
    ),
)


@dataclass(frozen=True)
class Peer:
    """What the engine's stock plan reaches on the same channels."""

    r_wp_percent: float
    r_exp_percent: float
    gof: float
    cells_angstrom: dict[str, float]
    cpu_s: float


def stock_plan(dataset: Dataset) -> Peer:
    """Run the engine's stock plan in this process, from widths read off the pattern."""
    begin = time.process_time()
    problem = build(resolve(dataset), RefinementSettings.model_validate(dict(dataset.settings)))
    given, pattern = problem.given, problem.given.pattern
    rx = engine.rietx()
    instrument = engine.loaded_instrument(given.instrument)
    width = _observed_width(problem)
    instrument.profile.w.value = (0.6 * width) ** 2
    instrument.profile.x.value = 0.6 * width
    structure = engine.loaded_structure(engine.structure_model(given.phases))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = rx.Refinement(structure, instrument, history=False).fit(
            engine.pattern_data(pattern, training=False),
            plan=PEER_PLAN,
            two_theta_limits=pattern.limits,
        )
    statistics = result.statistics
    return Peer(
        r_wp_percent=100.0 * statistics.rwp,
        r_exp_percent=100.0 * statistics.rexp,
        gof=statistics.gof,
        cells_angstrom={a: result.parameter(f"phases.0.cell.{a}").value for a in ("a", "c")},
        cpu_s=time.process_time() - begin,
    )


def _observed_width(problem: RefinementProblem) -> float:
    from sciagent.domains.powder_diffraction.lines import typical_width

    given = problem.given
    return typical_width(engine.observed_lines(given.pattern, given.instrument))


def refined(folder: Path, **options: Any) -> Run:
    """Make a run in a folder of its own."""
    return sciagent.run(QUESTION, out=folder, **options)


def case_rows(case: Case, folder: Path) -> Iterator[Row]:
    """Figures of one dataset."""
    dataset = load_dataset(case.dataset)
    progress(f"{case.dataset}: the study")
    run = refined(folder, dataset=case.dataset)
    progress(f"{case.dataset}: the stock plan beside it")
    peer = stock_plan(dataset)
    metrics, study = run.result.metrics, run.studies[0]
    name = case.dataset
    yield Row(name, "r_wp", metrics["r_wp"].value, "%", PEER, peer.r_wp_percent)
    yield Row(name, "r_exp", metrics["r_exp"].value, "%", PEER, peer.r_exp_percent)
    yield Row(name, "gof", metrics["gof"].value, "1", PEER, peer.gof)
    ours = _cell_error_ppm(dataset, {k: metrics[m].value for k, m in case.cells.items()})
    theirs = {f"cell_{axis}": value for axis, value in peer.cells_angstrom.items()}
    there = _cell_error_ppm(dataset, theirs)
    yield Row(name, "cell_error_ppm", ours, "[ppm]", PEER, there)
    if case.weight is not None:
        known = dataset.known[case.weight[0]].value
        error = abs(metrics[case.weight[1]].value - known) if case.weight[1] in metrics else known
        yield Row(name, "wt_percent_error", error, "%")
    yield Row(name, "start_r_wp", study.trials[0].metric("r_wp"), "%")
    yield Row(name, "trials", len(study.trials), "{trial}")
    yield Row(name, "cpu_s", study.cpu_s, "s", PEER, peer.cpu_s)


def _cell_error_ppm(dataset: Dataset, found: dict[str, float]) -> float:
    """Largest relative error of the cell lengths."""
    errors = [abs(value / dataset.known[name].value - 1.0) for name, value in found.items()]
    return 1e6 * max(errors)


def wrong_phase_rows(folder: Path) -> Iterator[Row]:
    """Whether a study abstains that is given a phase which is not there, and what that costs."""
    progress("a wrong phase")
    simulated = folder / "lab6"
    simulated.mkdir()
    inputs = dict(resolve(load_dataset("sc2au6")))
    inputs["structure"] = tuple(Path(p) for p in simulate(simulated, 0)["structure"])
    settings = dict(load_dataset("sc2au6").settings)
    run = refined(folder, inputs=inputs, settings=settings)
    abstained = float(run.result.status == "abstained")
    yield Row("wrong_phase", "abstained", abstained, "1", "must be", 1.0)
    explained = run.result.metrics["lines_explained"].value
    yield Row("wrong_phase", "lines_explained", explained, "%")
    yield Row("wrong_phase", "trials", len(run.studies[0].trials), "{trial}")
    yield Row("wrong_phase", "cpu_s", run.studies[0].cpu_s, "s", "limit", BUDGET_S)


def shuffled_rows(case: Case, folder: Path) -> Iterator[Row]:
    """How far ten orders of proposal end from each other."""
    found, cells, costs = [], [], []
    for seed in range(ORDERS):
        progress(f"{case.dataset}: order {seed}")
        run = refined(
            folder, dataset=case.dataset, settings={"proposal_order_seed": seed}, budget=Budget()
        )
        metrics = run.result.metrics
        found.append(metrics["r_wp"].value)
        cells.append({known: metrics[name].value for known, name in case.cells.items()})
        costs.append(run.studies[0].cpu_s)
        shutil.rmtree(run.path)
    name = f"{case.dataset} shuffled"
    yield Row(name, "spread", max(found) - min(found), "%", "limit", 0.2)
    yield Row(name, "worst_r_wp", max(found), "%")
    apart = max(
        max(c[axis] for c in cells) / min(c[axis] for c in cells) - 1.0 for axis in case.cells
    )
    yield Row(name, "cell_spread_ppm", 1e6 * apart, "[ppm]")
    yield Row(name, "most_cpu_s", max(costs), "s", "limit", BUDGET_S)


def measure(quick: bool) -> list[Row]:
    """Measure all cases; the orders of proposal only in the long version."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            rows += case_rows(case, Path(folder))
        rows += wrong_phase_rows(Path(folder))
        if not quick:
            for case in CASES:
                rows += shuffled_rows(case, Path(folder))
    return rows


def main() -> int:
    """Print the figures."""
    return present("diffraction", measure)


if __name__ == "__main__":
    sys.exit(main())
