import hashlib
import io
import json
from pathlib import Path

import pytest
from matplotlib.image import imread, imsave

from sciagent.contracts.claim import Verification
from sciagent.contracts.errors import ConvergenceError
from sciagent.reports.verify import verify
from sciagent.testing.toy_reports import PretendedRun, Recomputation, checked, report_request
from tests.reports.tampering import edit_claim, edit_json, replace_text, seal_again, verdict_of

BEST = PretendedRun(Path()).best


def rerun(root: Path, runner: Recomputation | None = None) -> Verification:
    return checked(root, rerun=True, notebook_runner=runner or Recomputation())


def value_of(root: Path, metric: str) -> float:
    document = json.loads((root / f"trials/{BEST:04d}/outcome.json").read_text())
    return float(document["metrics"][metric]["value"])


def test_numbers_figures_and_statements_are_reproduced_and_records_stay_matched(
    pristine: Path,
) -> None:
    verification = rerun(pristine)
    verdicts = {each.claim: each.verdict for each in verification.verdicts}
    assert verdicts.pop("time.cpu") == "matched"
    assert set(verdicts.values()) == {"reproduced"}
    assert (verification.reproduced, verification.matched) == (7, 1)
    assert verification.rerun
    assert verification.ok


def test_a_value_within_its_tolerance_is_reproduced_and_one_outside_is_not(pristine: Path) -> None:
    r_wp = value_of(pristine, "r_wp")
    near = rerun(pristine, Recomputation(changes={(BEST, "r_wp"): r_wp + 0.009}))
    far = rerun(pristine, Recomputation(changes={(BEST, "r_wp"): r_wp + 0.011}))
    assert verdict_of(near, "final.r_wp").verdict == "reproduced"
    assert near.ok
    assert verdict_of(far, "final.r_wp").verdict == "mismatch"
    assert "tolerance 0.01" in verdict_of(far, "final.r_wp").detail
    assert not far.ok


def test_a_statement_must_hold_of_the_new_values_too(workspace: Path) -> None:
    r_wp = value_of(workspace, "r_wp")
    for claim in ("final.r_wp", "start.r_wp"):
        edit_claim(workspace, claim, tolerance=100.0)
    seal_again(workspace)
    runner = Recomputation(changes={(1, "r_wp"): r_wp - 1.0})
    verdict = verdict_of(rerun(workspace, runner), "better")
    assert (verdict.verdict, "not true" in verdict.detail) == ("mismatch", True)


def test_what_the_rerun_did_not_compute_stays_matched_and_is_not_ok(pristine: Path) -> None:
    verification = rerun(pristine, Recomputation(left_out=(1,)))
    assert verdict_of(verification, "start.r_wp").verdict == "matched"
    assert verdict_of(verification, "better").verdict == "matched"
    assert verdict_of(verification, "final.r_wp").verdict == "reproduced"
    assert (verification.mismatch, verification.ok) == (0, False)


def test_a_number_that_belongs_to_no_trial_cannot_be_reproduced(tmp_path: Path) -> None:
    run = PretendedRun(tmp_path / "run")
    request = report_request(run.best)
    place = {"path": "environment.json", "pointer": "/cpu_count", "unit": "1", "trial": None}
    gof = request.numbers[1].model_copy(update=place)
    numbers = (request.numbers[0], gof, *request.numbers[2:])
    run.make(request=request.model_copy(update={"numbers": numbers}))
    verification = rerun(run.root)
    verdict = verdict_of(verification, "final.gof")
    assert (verdict.verdict, "no trial" in verdict.detail) == ("matched", True)
    assert (verification.mismatch, verification.ok) == (0, False)


def test_a_failing_rerun_is_a_finding_and_keeps_what_it_computed(pristine: Path) -> None:
    failure = ConvergenceError("Trial 9 failed when it was replayed.")
    verification = rerun(pristine, Recomputation(left_out=(BEST,), failure=failure))
    assert [each.problem for each in verification.findings] == ["rerun"]
    assert "Trial 9" in verification.findings[0].detail
    assert verdict_of(verification, "start.r_wp").verdict == "reproduced"
    assert verdict_of(verification, "final.r_wp").verdict == "matched"
    assert not verification.ok


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "replay.trial(1, action=open('x').read())",
        "workspace = __import__('os')",
        "replay = sciagent.run('x')",
        "!ls",
        "replay.trial(*[1])",
        "workspace = '.'; output = str(1)",
    ],
)
def test_a_notebook_with_foreign_code_is_never_executed(workspace: Path, code: str) -> None:
    def add(document: dict[str, list[dict[str, object]]]) -> None:
        document["cells"].append(
            {"cell_type": "code", "id": "evil", "metadata": {}, "source": code, "outputs": [],
             "execution_count": None}
        )  # fmt: skip

    edit_json(workspace / "notebook.ipynb", add)
    seal_again(workspace)
    runner = Recomputation()
    verification = rerun(workspace, runner)
    assert runner.runs == 0
    assert [each.problem for each in verification.findings] == ["rerun"]
    assert "evil" in verification.findings[0].detail


def test_nothing_is_executed_when_notebook_or_journal_were_touched(workspace: Path) -> None:
    runner = Recomputation()
    replace_text(workspace / "notebook.ipynb", "replay.compare()", "replay.compare( )")
    assert any(each.problem == "rerun" for each in rerun(workspace, runner).findings)
    assert runner.runs == 0


def test_a_notebook_that_is_none_is_a_finding(workspace: Path) -> None:
    for text in ("{", "[]", '{"cells": [1]}'):
        (workspace / "notebook.ipynb").write_text(text)
        seal_again(workspace)
        assert "cannot be read" in rerun(workspace).findings[0].detail


def test_a_figure_that_is_not_what_its_data_draw_is_a_mismatch(workspace: Path) -> None:
    path = workspace / "figures/fit.png"
    pixels = imread(io.BytesIO(path.read_bytes()), format="png").copy()
    pixels[100, 100] = (1.0, 0.0, 0.0, 1.0)
    imsave(path, pixels)
    edit_claim(workspace, "fit", image_sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    seal_again(workspace)
    assert verdict_of(checked(workspace), "fit").verdict == "matched"
    verdict = verdict_of(rerun(workspace), "fit")
    assert (verdict.verdict, "pixels differ" in verdict.detail) == ("mismatch", True)


def test_a_figure_whose_field_is_not_installed_stays_matched(pristine: Path) -> None:
    verification = verify(pristine, rerun=True, notebook_runner=Recomputation())
    verdict = verdict_of(verification, "fit")
    assert (verdict.verdict, "redrawn" in verdict.detail) == ("matched", True)
    assert not verification.ok
