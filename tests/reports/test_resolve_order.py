"""Figures are numbered in the order in which a reader meets them."""

from pathlib import Path

import pytest

from sciagent.contracts.claim import FigureRequest, ReportRequest
from sciagent.reports.resolve import resolve_claims


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_figures_are_numbered_as_they_appear_in_the_source(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "data.csv").write_text("x\n1\n")
    for name in order:
        (tmp_path / "figures" / f"{name}.png").write_bytes(name.encode())
    request = ReportRequest(
        title="Figures",
        source="\n\n".join(f"{{{{figure:{name}}}}}" for name in order),
        numbers=(),
        figures=tuple(
            FigureRequest(
                id=name, subject="data", quantity=name, drawing="any",
                data=("data.csv",), caption="Drawn.",
            )
            for name in ("first", "second")
        ),
    )  # fmt: skip
    claims = resolve_claims(tmp_path, request, "0" * 64)
    assert tuple(claim.id for claim in claims) == order
