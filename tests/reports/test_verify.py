import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.claim import Verification
from sciagent.contracts.errors import UnknownNameError
from sciagent.reports.verify import save_verification
from sciagent.testing.toy_reports import PretendedRun, checked, report_request
from tests.reports.tampering import edit_claim, edit_json, replace_text, seal_again, verdict_of

BEST = PretendedRun(Path()).best
OUTCOME = f"trials/{BEST:04d}/outcome.json"


def test_an_untouched_run_is_ok_and_every_claim_is_matched(pristine: Path) -> None:
    verification = checked(pristine)
    assert verification.ok
    assert verification.findings == ()
    assert {each.verdict for each in verification.verdicts} == {"matched"}
    assert verification.claims == verification.matched == 8
    assert verification.not_machine_checked == 2
    assert verification.run == pristine.name


def test_verification_changes_no_file(pristine: Path) -> None:
    def state() -> dict[str, tuple[int, bytes]]:
        files = [path for path in pristine.rglob("*") if path.is_file()]
        return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in files}

    before = state()
    checked(pristine)
    assert state() == before


def test_a_saved_verification_reads_back_and_spoils_no_seal(workspace: Path) -> None:
    verification = checked(workspace)
    save_verification(workspace, verification)
    content = (workspace / "verification.json").read_bytes()
    assert Verification.model_validate_json(content) == verification
    assert checked(workspace).ok


def test_a_digit_of_a_claim_that_differs_from_its_artifact_is_a_mismatch(workspace: Path) -> None:
    edit_claim(workspace, "final.r_wp", value=7.5)
    seal_again(workspace)
    verification = checked(workspace)
    verdict = verdict_of(verification, "final.r_wp")
    assert (verification.ok, verdict.verdict) == (False, "mismatch")
    assert "7.5" in verdict.detail
    assert verdict_of(verification, "better").verdict == "mismatch"
    assert verdict_of(verification, "final.gof").verdict == "matched"


def test_a_digit_behind_the_printed_ones_is_a_mismatch_too(workspace: Path) -> None:
    value = json.loads((workspace / OUTCOME).read_text())["metrics"]["r_wp"]["value"]
    edit_claim(workspace, "final.r_wp", value=value + 1e-6)
    assert verdict_of(checked(workspace), "final.r_wp").verdict == "mismatch"


def test_a_unit_other_than_the_one_beside_the_value_is_a_mismatch(workspace: Path) -> None:
    edit_claim(workspace, "final.cell_a", unit="nm")
    seal_again(workspace)
    verdict = verdict_of(checked(workspace), "final.cell_a")
    assert (verdict.verdict, "unit" in verdict.detail) == ("mismatch", True)


def test_another_uncertainty_is_a_mismatch(workspace: Path) -> None:
    edit_claim(workspace, "final.cell_a", uncertainty=0.00011)
    verdict = verdict_of(checked(workspace), "final.cell_a")
    assert (verdict.verdict, "uncertainty" in verdict.detail) == ("mismatch", True)
    edit_claim(workspace, "final.cell_a", uncertainty=0.00041, uncertainty_pointer=None)
    assert verdict_of(checked(workspace), "final.cell_a").verdict == "mismatch"


def test_an_artifact_that_changed_is_stale_even_where_the_value_is_the_same(
    workspace: Path,
) -> None:
    edit_json(workspace / OUTCOME, lambda document: document.update(wall_s=1.0))
    seal_again(workspace)
    verdict = verdict_of(checked(workspace), "final.r_wp")
    assert (verdict.verdict, "stale" in verdict.detail) == ("mismatch", True)


def test_an_artifact_that_contradicts_the_journal_is_a_mismatch(workspace: Path) -> None:
    def change(document: Any) -> None:
        document["metrics"]["r_wp"]["value"] = 7.5

    edit_json(workspace / OUTCOME, change)
    digest = hashlib.sha256((workspace / OUTCOME).read_bytes()).hexdigest()
    source = {"path": OUTCOME, "sha256": digest, "pointer": "/metrics/r_wp/value"}
    edit_claim(workspace, "final.r_wp", value=7.5, source=source)
    seal_again(workspace)
    verdict = verdict_of(checked(workspace), "final.r_wp")
    assert (verdict.verdict, "journal" in verdict.detail) == ("mismatch", True)


def test_a_missing_key_or_file_is_unresolved(workspace: Path) -> None:
    claims = json.loads((workspace / "claims.json").read_text())["claims"]
    source = next(each["source"] for each in claims if each["id"] == "final.gof")
    edit_claim(workspace, "final.gof", source={**source, "pointer": "/metrics/gof/valu"})
    edit_claim(workspace, "start.r_wp", source={**source, "path": "trials/0099/outcome.json"})
    verification = checked(workspace)
    assert "valu" in verdict_of(verification, "final.gof").detail
    assert verdict_of(verification, "final.gof").verdict == "unresolved"
    assert verdict_of(verification, "start.r_wp").verdict == "unresolved"
    assert verdict_of(verification, "better").verdict == "unresolved"
    assert verification.unresolved == 3
    assert not verification.ok


def test_a_wrongly_rounded_digit_in_the_report_is_a_mismatch_with_its_line(
    workspace: Path,
) -> None:
    text = (workspace / "report.md").read_text()
    digits = text.partition("](#claim-final.r_wp)")[0].rpartition("[")[2]
    number = digits.removesuffix(" %")
    wrong = f"{float(number) + 0.01:.2f} %"
    (workspace / "report.md").write_text(
        text.replace(f"[{digits}](#claim-final.r_wp) with", f"[{wrong}](#claim-final.r_wp) with")
    )
    seal_again(workspace)
    verification = checked(workspace)
    verdict = verdict_of(verification, "final.r_wp")
    assert verdict.verdict == "mismatch"
    assert wrong in verdict.detail
    line = text.split("\n").index(next(each for each in text.split("\n") if "ends at" in each)) + 1
    assert verification.findings[0].detail.startswith(f"Line {line} ")
    assert verdict_of(verification, "final.gof").verdict == "matched"


def test_another_rounding_in_the_claim_is_a_mismatch_with_the_report(workspace: Path) -> None:
    edit_claim(workspace, "final.gof", decimals=1)
    seal_again(workspace)
    assert verdict_of(checked(workspace), "final.gof").verdict == "mismatch"


def test_swapped_subjects_in_the_report_are_a_mismatch(workspace: Path) -> None:
    report = workspace / "report.md"
    replace_text(report, "| fluorapatite: cell length a | [", "| fluorapatite: cell length b | [")
    replace_text(report, "| fluorapatite: cell length c | [", "| fluorapatite: cell length a | [")
    replace_text(report, "| fluorapatite: cell length b | [", "| fluorapatite: cell length c | [")
    seal_again(workspace)
    verification = checked(workspace)
    assert verdict_of(verification, "final.cell_a").verdict == "mismatch"
    assert verdict_of(verification, "final.cell_c").verdict == "mismatch"
    assert verdict_of(verification, "final.gof").verdict == "matched"


def test_swapped_labels_in_the_claims_show_in_the_report(workspace: Path) -> None:
    edit_claim(workspace, "final.cell_a", quantity="cell length c")
    edit_claim(workspace, "final.cell_c", quantity="cell length a")
    verification = checked(workspace)
    assert verdict_of(verification, "final.cell_a").verdict == "mismatch"
    assert verdict_of(verification, "final.cell_c").verdict == "mismatch"
    assert any(each.path == "claims.json" for each in verification.findings)


def test_a_subject_that_the_artifact_contradicts_is_a_mismatch(tmp_path: Path) -> None:
    run = PretendedRun(tmp_path / "run")
    run.make(sealed=False)
    table = run.root / "data" / "cells.json"
    table.parent.mkdir()
    table.write_text('{"a": {"value": 1.5, "unit": "%", "subject": "corundum"}}')
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    source = {"path": "data/cells.json", "sha256": digest, "pointer": "/a/value"}
    edit_claim(run.root, "final.r_wp", value=1.5, source=source)
    verdict = verdict_of(checked(run.root), "final.r_wp")
    assert (verdict.verdict, "corundum" in verdict.detail) == ("mismatch", True)


def test_a_value_said_to_come_from_another_trial_is_a_mismatch(workspace: Path) -> None:
    edit_claim(workspace, "final.gof", produced_by={"trial": 1})
    verdict = verdict_of(checked(workspace), "final.gof")
    assert (verdict.verdict, "trial 1" in verdict.detail) == ("mismatch", True)


def test_a_false_statement_is_a_mismatch(workspace: Path) -> None:
    edit_claim(workspace, "better", operator="gt")
    verdict = verdict_of(checked(workspace), "better")
    assert verdict.verdict == "mismatch"
    assert "not true" in verdict.detail


@pytest.mark.parametrize("spoiled", ["figures/fit.png", f"trials/{BEST:04d}/profile.csv"])
def test_a_figure_whose_image_or_data_changed_is_a_mismatch(workspace: Path, spoiled: str) -> None:
    with (workspace / spoiled).open("ab") as stream:
        stream.write(b"1")
    assert verdict_of(checked(workspace), "fit").verdict == "mismatch"


def test_a_required_claim_that_the_report_does_not_state_is_unresolved(workspace: Path) -> None:
    edit_json(workspace / "claims.json", lambda document: document["required"].append("final.zero"))
    verdict = verdict_of(checked(workspace), "final.zero")
    assert (verdict.verdict, "requires" in verdict.detail) == ("unresolved", True)


def test_a_number_typed_by_hand_is_a_finding(tmp_path: Path) -> None:
    run = PretendedRun(tmp_path / "run")
    request = report_request(run.best)
    run.make(request=request.model_copy(update={"source": f"{request.source}\nAlmost 8 %.\n"}))
    verification = checked(run.root)
    assert [each.problem for each in verification.findings] == ["raw_number"]
    assert "'8'" in verification.findings[0].detail
    assert not verification.ok


def test_every_file_that_was_touched_is_named(workspace: Path) -> None:
    (workspace / "report.html").write_text("<p>all is well")
    (workspace / "study.json").unlink()
    (workspace / "extra.txt").write_text("x")
    found = {(each.path, each.problem) for each in checked(workspace).findings}
    assert found == {
        ("report.html", "changed"),
        ("study.json", "missing"),
        ("extra.txt", "added"),
    }


def test_a_journal_line_that_was_touched_is_named_and_the_rest_still_judged(
    workspace: Path,
) -> None:
    replace_text(workspace / "events.jsonl", '"b_iso"', '"b_isa"')
    verification = checked(workspace)
    assert {each.problem for each in verification.findings} == {"journal"}
    assert verdict_of(verification, "final.r_wp").verdict == "matched"


def test_claims_that_are_no_claims_or_of_a_newer_schema_are_a_finding(workspace: Path) -> None:
    edit_json(workspace / "claims.json", lambda document: document.update(schema_version=99))
    newer = checked(workspace)
    assert [each.problem for each in newer.findings] == ["changed", "schema"]
    assert "99" in newer.findings[1].detail
    for text in ("{", "[]", '{"claims": 1}', "\x00"):
        (workspace / "claims.json").write_text(text)
        broken = checked(workspace)
        assert not broken.ok
        assert broken.findings[-1].problem == "schema"
    (workspace / "claims.json").unlink()
    assert checked(workspace).findings[-1].problem == "schema"


def test_claims_that_cannot_be_printed_are_a_finding(workspace: Path) -> None:
    edit_json(
        workspace / "claims.json",
        lambda document: document.update(report_source="{{claim:nothing}} `{{claim:better}}`"),
    )
    problems = [each for each in checked(workspace).findings if each.problem == "report"]
    assert any("nothing" in each.detail for each in problems)
    assert any("in code" in each.detail for each in problems)


def test_before_the_seal_no_seal_and_no_report_are_asked_for(tmp_path: Path) -> None:
    run = PretendedRun(tmp_path / "run")
    run.make(sealed=False)
    (run.root / "report.md").unlink()
    assert checked(run.root, before_seal=True).ok
    assert {each.problem for each in checked(run.root).findings} == {"unsealed", "missing"}


def test_one_claim_can_be_checked_by_itself(workspace: Path) -> None:
    edit_claim(workspace, "final.gof", value=1.0)
    seal_again(workspace)
    good = checked(workspace, claim="final.cell_c")
    assert [each.claim for each in good.verdicts] == ["final.cell_c"]
    assert good.claims == 1
    assert checked(workspace, claim="final.gof").mismatch == 1
    with pytest.raises(UnknownNameError, match=r"final\.gof"):
        checked(workspace, claim="final.goff")
