import hashlib
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.claim import ClaimsFile, FigureClaim, NumberClaim, ReportRequest
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.reports.assemble import assemble, read_claims
from sciagent.reports.drawing import different_pixels, draw
from sciagent.reports.resolve import resolve_claims
from sciagent.testing.toy_reports import CODE_SHA256, QUESTION, PretendedRun, report_request

BEST = PretendedRun(Path()).best


def with_number(request: ReportRequest, index: int, **changes: Any) -> ReportRequest:
    numbers = list(request.numbers)
    numbers[index] = numbers[index].model_copy(update=changes)
    return request.model_copy(update={"numbers": tuple(numbers)})


def test_claims_hold_what_the_artifacts_hold_with_their_hashes(pristine: Path) -> None:
    claims = read_claims(pristine)
    claim = next(each for each in claims.claims if each.id == "final.cell_a")
    assert isinstance(claim, NumberClaim)
    outcome = pristine / f"trials/{BEST:04d}/outcome.json"
    assert claim.source.sha256 == hashlib.sha256(outcome.read_bytes()).hexdigest()
    assert (claim.uncertainty, claim.unit, claim.decimals) == (0.00041, "Ao", 4)
    assert (claim.produced_by.trial, claim.produced_by.code_sha256) == (BEST, CODE_SHA256)
    assert claims.question == "toy/refinement"


def test_claims_read_back_as_they_were_written(pristine: Path, tmp_path: Path) -> None:
    claims = read_claims(pristine)
    (tmp_path / "claims.json").write_text(claims.model_dump_json())
    assert read_claims(tmp_path) == claims


def test_the_same_data_are_drawn_as_the_same_bytes(pristine: Path) -> None:
    data = [pristine / f"trials/{BEST:04d}/profile.csv"]
    first, second = (draw(QUESTION.drawings, "profile", data) for _ in range(2))
    assert first == second == (pristine / "figures/fit.png").read_bytes()
    assert b"Software" not in first
    assert different_pixels(first, second) == 0.0
    other = draw(QUESTION.drawings, "profile", [pristine / "trials/0001/profile.csv"])
    assert different_pixels(first, other) == 0.0
    with pytest.raises(UnknownNameError, match="profile"):
        draw(QUESTION.drawings, "profil", data)


def test_the_style_of_a_users_matplotlib_does_not_change_a_figure(pristine: Path) -> None:
    import matplotlib as mpl

    data = [pristine / f"trials/{BEST:04d}/profile.csv"]
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "savefig.dpi": 30}):
        changed = draw(QUESTION.drawings, "profile", data)
    assert changed == (pristine / "figures/fit.png").read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": "1"}, "holds it in '%'"),
        ({"path": "trials/0099/outcome.json"}, "no file"),
        ({"path": "../run/claims.json"}, "no file"),
        ({"pointer": "/metrics/r_wpp/value"}, "r_wpp"),
        ({"pointer": "/metrics/r_wp/unit"}, "no number"),
        ({"uncertainty_pointer": "/metrics/r_wp/uncertainty"}, "no number"),
    ],
)
def test_a_request_that_cannot_be_resolved_is_refused(
    pristine: Path, changes: dict[str, Any], message: str
) -> None:
    request = with_number(report_request(BEST), 0, **changes)
    with pytest.raises(InputError, match=message):
        resolve_claims(pristine, request, CODE_SHA256)


def test_an_id_asked_for_twice_is_refused(pristine: Path) -> None:
    request = with_number(report_request(BEST), 0, id="final.gof")
    with pytest.raises(InputError, match="twice"):
        resolve_claims(pristine, request, CODE_SHA256)


def test_a_report_without_a_required_claim_is_refused_and_nothing_is_written(
    pristine: Path, tmp_path: Path
) -> None:
    run = PretendedRun(tmp_path / "run")
    request = report_request(run.best).model_copy(update={"source": "Nothing to see.\n"})
    with pytest.raises(InputError, match=r"final\.r_wp, final\.cell_a"):
        run.make(request=request)
    assert not (run.root / "claims.json").exists()


def test_a_token_or_statement_that_names_no_claim_is_refused(workspace: Path) -> None:
    request = report_request(BEST)
    for changed in (
        request.model_copy(update={"source": f"{request.source}\n{{{{claim:final.gog}}}}\n"}),
        request.model_copy(
            update={
                "statements": (request.statements[0].model_copy(update={"right": "start.r_w"}),)
            }
        ),
    ):
        with pytest.raises(UnknownNameError, match="Did you mean"):
            assemble(workspace, QUESTION, changed, CODE_SHA256)


def test_files_that_changed_while_the_report_was_made_are_refused(workspace: Path) -> None:
    from sciagent.contracts.artifact import Artifact

    file = Artifact(path="study.json", sha256="0" * 64, size_bytes=1)
    request = report_request(BEST).model_copy(update={"files": (file,)})
    with pytest.raises(InputError, match=r"study\.json changed"):
        assemble(workspace, QUESTION, request, CODE_SHA256)


def test_figures_are_claims_with_hashed_data(pristine: Path) -> None:
    figure = next(each for each in read_claims(pristine).claims if isinstance(each, FigureClaim))
    image = (pristine / figure.path).read_bytes()
    assert figure.image_sha256 == hashlib.sha256(image).hexdigest()
    assert [each.path for each in figure.data] == [f"trials/{BEST:04d}/profile.csv"]


def test_making_a_report_twice_gives_the_same_files(pristine: Path, tmp_path: Path) -> None:
    PretendedRun(tmp_path / pristine.name).make()
    for name in ("claims.json", "report.md", "notebook.ipynb", "record.ipynb", "figures/fit.png"):
        assert (tmp_path / pristine.name / name).read_bytes() == (pristine / name).read_bytes()


def test_claims_of_an_abstaining_study_may_be_none(tmp_path: Path) -> None:
    request = ReportRequest(title="Nothing", source="Nothing was found.\n", numbers=())
    claims = assemble(tmp_path, QUESTION, request, CODE_SHA256)
    assert isinstance(claims, ClaimsFile)
    assert (claims.claims, claims.question) == ((), "refinement")
