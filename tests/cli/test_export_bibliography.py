import json
from pathlib import Path

import pytest

from sciagent.contracts.citation import Citation, Quote
from sciagent.contracts.claim import CitationClaim, ReportRequest
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.literature import Author, Work
from sciagent.contracts.model import sha256_text
from sciagent.runs.exporting import export_bibliography
from sciagent.testing.toy_reports import PretendedRun
from tests.cli.terminal import Terminal

TEXT = "Fluorapatite has a cell length of 9.397 Å at room temperature."
HUGHES = Work(
    key="hughes1989", title="Structural variations in apatites", year=1989,
    authors=(Author(family="Hughes", given="John M."),), container="American Mineralogist",
)  # fmt: skip
UNUSED = Work(key="nobody2000", title="Cited by nobody")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run whose report cites one work; only to be read."""
    root = tmp_path_factory.mktemp("runs") / "20260101-apatite-b1b1b1b1"
    (root / "sources").mkdir(parents=True)
    (root / "sources" / f"{sha256_text(TEXT)}.txt").write_text(TEXT)
    claim = CitationClaim(
        id="a", subject="fluorapatite", quantity="cited statement",
        statement="Fluorapatite has a = 9.397 Å.",
        citation=Citation(work=HUGHES.key, source_sha256=sha256_text(TEXT), quote=Quote(text=TEXT)),
    )  # fmt: skip
    request = ReportRequest(
        title="Apatite", source="{{claim:a}}\n", numbers=(), citations=(claim,),
        works=(UNUSED, HUGHES),
    )  # fmt: skip
    PretendedRun(root, rounds=1).make(request=request)
    return root


def test_the_works_that_a_report_cites_are_printed_as_bibtex(terminal: Terminal, run: Path) -> None:
    done = terminal.type("export", str(run), "--bibliography", "bibtex")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (run / "references.bib").read_text()


def test_a_bibliography_is_written_to_a_file_that_is_not_there_yet(
    terminal: Terminal, run: Path
) -> None:
    typed = ("export", str(run), "--bibliography", "harvard1", "--to", "works.txt")
    assert terminal.type(*typed).stdout == "works.txt\n"
    written = (terminal.folder / "works.txt").read_text()
    assert written.startswith("Hughes, J.M. (1989) “Structural variations in apatites”")
    assert terminal.type(*typed).returncode == 2


def test_csl_json_names_cited_works_only_and_an_unknown_style_is_refused(run: Path) -> None:
    (item,) = json.loads(export_bibliography(run, "csl-json"))
    assert item["id"] == "hughes1989"
    with pytest.raises(UnknownNameError, match="no style 'harvard9'"):
        export_bibliography(run, "harvard9")


def test_a_report_without_citations_has_no_bibliography(tmp_path: Path) -> None:
    root = tmp_path / "20260101-apatite-b2b2b2b2"
    PretendedRun(root, rounds=2).make()
    with pytest.raises(InputError, match="cites no works"):
        export_bibliography(root, "bibtex")
