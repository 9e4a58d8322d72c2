import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.citation import Citation, Quote
from sciagent.contracts.claim import (
    CitationClaim,
    ClaimsFile,
    InferenceClaim,
    ReportRequest,
    Verification,
)
from sciagent.contracts.errors import InputError
from sciagent.contracts.literature import Author, Work
from sciagent.contracts.model import sha256_text
from sciagent.literature.bibliography.bibtex import works_from_bibtex
from sciagent.literature.bibliography.csl import works_from_csl_json
from sciagent.reports.assemble import assemble, read_claims
from sciagent.reports.entries import address_of, authors_in_words, entry_of, short_name
from sciagent.reports.markdown import HOW_TO_READ, report_markdown
from sciagent.reports.references import place_letters, reference_anchor
from sciagent.testing.toy_reports import QUESTION, PretendedRun, checked, report_request

TEXT = "First page.\fFluorapatite has a cell length of 9.397 Å. It is hexagonal in all we saw."
QUOTE = "Fluorapatite has a cell length of 9.397 Å."
SHA256 = sha256_text(TEXT)
HUGHES = Work(
    key="hughes1989", title="Structural variations in apatites", year=1989, doi="10.5555/am.1",
    authors=(Author(family="Hughes", given="John M."), Author(family="Cameron", given="M.")),
    container="American Mineralogist", volume="74", issue="7", pages="870–876",
)  # fmt: skip
SUDARSANAN = Work(
    key="sudarsanan1972", title="Structure <b>of</b> $apatite$", year=1972,
    authors=(Author(family="Sudarsanan"),), url="https://papers.example/1972",
    status="retracted", status_date="2020-02-02", status_source="crossref",
)  # fmt: skip
UNUSED = Work(key="nobody2000", title="Cited by nobody")


def citation(identifier: str, work: str = "hughes1989", **changes: Any) -> CitationClaim:
    quote = Quote(text=changes.pop("quote", QUOTE), page=changes.pop("page", None))
    fields = {"subject": "fluorapatite", "statement": "Fluorapatite has a = 9.397 Å."} | changes
    return CitationClaim(
        id=identifier, quantity="cited statement",
        citation=Citation(work=work, source_sha256=SHA256, quote=quote), **fields,
    )  # fmt: skip


def request(source: str, *citations: CitationClaim, **changes: Any) -> ReportRequest:
    works = changes.pop("works", (UNUSED, SUDARSANAN, HUGHES))
    return ReportRequest(
        title="Apatites", source=source, numbers=(), citations=citations, works=works, **changes
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with the text that is quoted."""
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / f"{SHA256}.txt").write_text(TEXT)
    return tmp_path


Report = Callable[[ReportRequest], str]


@pytest.fixture
def printed(root: Path) -> Report:
    """Assembles a report and gives its Markdown below the sentence on how to read it."""

    def markdown(wanted: ReportRequest) -> str:
        return report_markdown(assemble(root, QUESTION, wanted, "0" * 64)).partition(HOW_TO_READ)[2]

    return markdown


def test_a_statement_is_followed_by_its_number_which_leads_to_the_entry_and_back(
    printed: Report,
) -> None:
    text = printed(request("It was measured. {{claim:a}} And again: {{claim:a}}.\n", citation("a")))
    link = "[Fluorapatite has a = 9.397 Å](#claim-a)"
    assert f'{link} <a id="cite-1"></a>[\\[1\\]](#ref-hughes1989). And again' in text
    assert f'{link} <a id="cite-2"></a>[\\[1\\]](#ref-hughes1989).\n' in text
    assert (
        '<a id="ref-hughes1989"></a>\\[1\\] J. M. Hughes and M. Cameron (1989). Structural '
        "variations in apatites. *American Mineralogist*, 74(7), 870–876. "
        "[doi:10.5555/am.1](https://doi.org/10.5555/am.1). Cited at [a](#cite-1) [b](#cite-2).\n"
    ) in text


def test_the_table_of_evidence_gives_the_quote_with_page_and_characters(printed: Report) -> None:
    text = printed(request("{{claim:a}}\n", citation("a")))
    start = TEXT.index(QUOTE)
    assert f"| “{QUOTE}” | [\\[1\\] Hughes and Cameron (1989)](#ref-hughes1989)" in text
    assert f"page 2, characters {start} to {start + len(QUOTE)} of [its text](sources/" in text


def test_references_are_numbered_as_they_appear_and_only_cited_works_are_exported(
    root: Path,
) -> None:
    source = "{{claim:second}} {{claim:first}}\n"
    hexagonal = {"quote": "It is hexagonal in all we saw", "subject": "",
                 "statement": "It is hexagonal."}  # fmt: skip
    second = citation("second", "sudarsanan1972", **hexagonal)
    claims = assemble(root, QUESTION, request(source, citation("first"), second), "0" * 64)
    assert [work.key for work in claims.works] == ["sudarsanan1972", "hughes1989"]
    csl = works_from_csl_json((root / "references.json").read_text())
    assert csl == (SUDARSANAN, HUGHES)
    assert works_from_bibtex((root / "references.bib").read_text()) == (SUDARSANAN, HUGHES)


def test_a_retracted_work_is_marked_with_its_date_in_the_text_and_among_the_references(
    printed: Report,
) -> None:
    text = printed(request("{{claim:a}}\n", citation("a", "sudarsanan1972")))
    assert "(#ref-sudarsanan1972) **(retracted 2020-02-02)**." in text
    assert "Structure \\<b\\>of\\</b\\> \\$apatite\\$." in text
    assert "**Retracted on 2020-02-02 (crossref).**" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quote": QUOTE.replace("9.397", "9.379")}, "(unsourced: its quote was not found)"),
        ({"page": 1}, "(unsourced: its quote was not found)"),
        ({"work": "invented2024"}, "(unsourced: the work is not known)"),
    ],
)
def test_without_a_located_quote_nothing_is_printed_as_sourced(
    printed: Report, root: Path, changes: dict[str, Any], words: str
) -> None:
    text = printed(request("{{claim:a}}\n", citation("a", **changes)))
    assert f"[Fluorapatite has a = 9.397 Å](#claim-a) **{words}**." in text
    assert "#ref-" not in text
    assert "## References" not in text
    assert not (root / "references.bib").exists()


def test_a_quote_that_does_not_hold_the_number_is_said_beside_its_reference(
    printed: Report,
) -> None:
    text = printed(request("{{claim:a}}\n", citation("a", statement="Fluorapatite has a = 9.4 Å.")))
    assert "**(not supported by <a id=" in text
    assert "(#ref-hughes1989): the quote does not hold 9.4)**." in text


def test_an_inference_is_marked_as_the_authors(printed: Report) -> None:
    thought = InferenceClaim(
        id="t", subject="apatites", quantity="inference", statement="Chlorine expands the cell."
    )
    text = printed(request("{{claim:t}} So be it.\n", inferences=(thought,)))
    assert "[Chlorine expands the cell](#claim-t) *(the author's inference)*. So be it." in text


def test_links_to_references_that_an_author_types_are_refused(root: Path) -> None:
    with pytest.raises(InputError, match="a typed link to a claim"):
        assemble(root, QUESTION, request("[1](#ref-hughes1989)\n"), "0" * 64)


def test_two_works_of_one_key_are_refused(root: Path) -> None:
    wanted = request("{{claim:a}}\n", citation("a"), works=(HUGHES, HUGHES))
    with pytest.raises(InputError, match="Two works have the key"):
        assemble(root, QUESTION, wanted, "0" * 64)


def test_a_report_that_cites_nothing_any_more_leaves_no_list_of_works(root: Path) -> None:
    assemble(root, QUESTION, request("{{claim:a}}\n", citation("a")), "0" * 64)
    assert (root / "references.json").exists()
    assemble(root, QUESTION, request("Nothing.\n"), "0" * 64)
    assert not (root / "references.json").exists()


def test_words_of_an_entry_are_those_that_are_known() -> None:
    bare = Work(key="k", title="Is it so?", arxiv_id="2101.00001")
    entry = entry_of(bare)
    assert (entry.head, entry.title, entry.tail) == ("", "Is it so?", "")
    assert address_of(bare) == ("arXiv:2101.00001", "https://arxiv.org/abs/2101.00001")
    assert address_of(Work(key="k", title="t", url="javascript:alert(1)"))[1] == ""
    assert address_of(Work(key="k", title="t", doi="10.5555/a(1)b"))[1].endswith("/a%281%29b")
    assert short_name(bare) == "Is it so?"
    author = Author(family="Sartre", given="Jean-Paul C.A.")
    assert entry_of(Work(key="k", title="t", authors=(author,))).head == "J.-P. C. A. Sartre"
    assert authors_in_words([f"A{number}" for number in range(9)]) == "A0, A1, A2 and others"
    assert authors_in_words(["A", "B", "C"]) == "A, B and C"
    assert place_letters(28)[-3:] == ["z", "aa", "ab"]
    assert re.fullmatch(r"ref-[0-9a-f]{12}", reference_anchor('x" onclick='))


# ------------------------------------------------------------ a sealed run


class Cited(PretendedRun):
    """A finished run whose report cites works too."""

    def publish(self) -> ClaimsFile:
        (self.root / "sources").mkdir(parents=True)
        (self.root / "sources" / f"{SHA256}.txt").write_text(TEXT)
        own = report_request(self.best)
        cited = request(
            f"{own.source}\n## Others\n\n{{{{claim:a}}}} {{{{claim:t}}}}\n",
            citation("a"),
            inferences=(InferenceClaim(id="t", subject="cells", quantity="inference",
                                       statement="Cells agree."),),
        )  # fmt: skip
        fields = ("source", "citations", "inferences", "works")
        return self.make(
            request=own.model_copy(update={name: getattr(cited, name) for name in fields})
        )


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed workspace with citations that no test may change."""
    root = tmp_path_factory.mktemp("runs") / "20260101-fluorapatite-c1c1c1c1"
    Cited(root, rounds=2, tries=1).publish()
    return root


def verdicts(verification: Verification) -> dict[str, str]:
    return {each.claim: each.verdict for each in verification.verdicts}


def test_a_run_with_citations_and_inferences_is_in_order_as_it_was_sealed(pristine: Path) -> None:
    verification = checked(pristine)
    assert (verification.ok, verification.findings) == (True, ())
    assert (verification.quoted, verification.inference) == (1, 1)


@pytest.mark.parametrize("name", ["references.json", "references.bib"])
def test_a_list_of_works_that_the_claims_do_not_give_is_found(workspace: Path, name: str) -> None:
    path = workspace / name
    path.write_text(path.read_text().replace("1989", "1998"))
    findings = {(each.path, each.problem) for each in checked(workspace).findings}
    assert findings == {(name, "changed"), (name, "report")}
    path.unlink()
    findings = {(each.path, each.problem) for each in checked(workspace).findings}
    assert findings == {(name, "missing")}


def test_works_changed_in_the_claims_show_in_report_and_lists(workspace: Path) -> None:
    path = workspace / "claims.json"
    path.write_text(path.read_text().replace("American Mineralogist", "Nature"))
    problems = {each.path for each in checked(workspace).findings if each.problem == "report"}
    assert problems == {"report.md", "references.json", "references.bib"}


def test_a_work_taken_out_of_the_claims_leaves_its_citations_unresolved(workspace: Path) -> None:
    content = json.loads((workspace / "claims.json").read_text())
    content["works"] = []
    (workspace / "claims.json").write_text(json.dumps(content))
    assert verdicts(checked(workspace))["a"] == "unresolved"


def test_a_source_changed_after_the_seal_leaves_its_citations_unresolved(workspace: Path) -> None:
    (workspace / "sources" / f"{SHA256}.txt").write_text(TEXT.replace("9.397", "9.379"))
    assert verdicts(checked(workspace))["a"] == "unresolved"


def test_a_number_typed_into_an_inference_is_found(workspace: Path) -> None:
    path = workspace / "claims.json"
    path.write_text(path.read_text().replace("Cells agree.", "Cells agree to 3 %."))
    findings = [each for each in checked(workspace).findings if each.problem == "raw_number"]
    assert "The inference 't' types the number '3'" in findings[0].detail


class Places(HTMLParser):
    """Ids and links of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: dict[str, str] = {}
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        if tag == "li":
            self.inside = given.get("id", "")
        if tag == "a" and given.get("href", "").startswith("#"):
            self.links[given.get("id") or f"{self.inside}>{given['href']}"] = given["href"]


def test_in_html_every_reference_leads_to_its_entry_and_every_entry_back(pristine: Path) -> None:
    page = (pristine / "report.html").read_text(encoding="utf-8")
    places = Places(page)
    assert len(places.ids) == len(set(places.ids))
    assert {link[1:] for link in places.links.values()} <= set(places.ids)
    (place,) = (each for each in places.ids if each.startswith("cite-"))
    assert places.links[place] == "#ref-hughes1989"
    assert places.links[f"ref-hughes1989>#{place}"] == f"#{place}"


def test_in_html_the_evidence_shows_quote_and_verdict_and_inferences_are_counted(
    pristine: Path,
) -> None:
    page = (pristine / "report.html").read_text(encoding="utf-8")
    evidence = page.partition('<section id="evidence"')[2].partition("</section>")[0]
    assert f"<q>{QUOTE}</q>" in evidence
    assert '<span class="badge quoted">quoted</span>' in evidence
    assert "page 2, characters" in evidence
    assert "1 statement is the author&#39;s inference" in page
    assert '<tr id="claim-a">' not in page.partition('<section id="claims"')[2]


def test_texts_of_works_are_escaped_in_html(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "20260101-apatite-e5ca9ed0"
    (folder / "sources").mkdir(parents=True)
    (folder / "sources" / f"{SHA256}.txt").write_text(TEXT)
    bad = HUGHES.model_copy(
        update={"title": "<script>alert(1)</script>", "doi": "", "key": 'x" onclick="y',
                "url": "javascript:alert(1)"}
    )  # fmt: skip
    wanted = request("{{claim:a}}\n", citation("a", bad.key), works=(bad,))
    PretendedRun(folder, rounds=1).make(request=wanted)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert 'href="javascript' not in page
    assert checked(folder).findings == ()
    assert read_claims(folder).works == (bad,)
