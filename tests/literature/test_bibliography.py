import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciagent.contracts.errors import UnknownNameError
from sciagent.contracts.literature import Author, PublicationStatus, Work, WorkVersion
from sciagent.literature.bibliography.bibtex import bibtex, works_from_bibtex
from sciagent.literature.bibliography.csl import (
    TYPES,
    csl_item,
    csl_json,
    work_from_csl,
    works_from_csl_json,
)
from sciagent.literature.bibliography.faults import BibliographyError
from sciagent.literature.bibliography.keys import citation_key, with_unique_keys
from sciagent.literature.bibliography.latex import latex_from_text, text_from_latex
from sciagent.literature.bibliography.names import bibtex_from_names, names_from_bibtex
from sciagent.literature.bibliography.styles import formatted_references, style_names

HUGHES = Work(
    key="hughes1989structural", title="Structural variations in natural F, OH, and Cl apatites",
    authors=(Author(family="Hughes", given="John M."), Author(family="Cameron", given="Maryellen")),
    year=1989, container="American Mineralogist", volume="74", issue="7", pages="870–876",
    doi="10.5555/ammin.1989", url="https://doi.org/10.5555/ammin.1989",
)  # fmt: skip

_LETTERS = st.characters(codec="utf-8", exclude_categories=("C", "Z"))
# What NFC composes is the same text, but not the same characters.
_WORDS = st.text(_LETTERS | st.sampled_from("\\{}$&#%_^~-–`'\"@,=é ß"), max_size=20).map(
    lambda text: " ".join(text.split())
)
_NAMES = _WORDS.filter(bool)
_AUTHORS = st.builds(Author, family=_NAMES, given=_WORDS)
_KEYS = st.from_regex(r"[a-z][a-z0-9_:.+/\-]{0,12}", fullmatch=True)
_ADDRESSES = st.from_regex(r"(https?://[a-z.]{1,9}/[a-z0-9_%&#~?=()./\-]{0,12})?", fullmatch=True)
_DATES = st.dates().map(lambda date: date.isoformat())
_YEARS = st.integers(1000, 2100) | st.none()


@st.composite
def _works(draw: st.DrawFn, kinds: st.SearchStrategy[str]) -> Work:
    status: PublicationStatus = draw(st.sampled_from(("unknown", "retracted", "corrected")))
    is_marked = status != "unknown"
    return Work(
        key=draw(_KEYS), kind=draw(kinds), title=draw(_WORDS), year=draw(_YEARS),
        authors=tuple(draw(st.lists(_AUTHORS, max_size=3))), container=draw(_WORDS),
        publisher=draw(_WORDS), volume=draw(_WORDS), issue=draw(_WORDS), doi=draw(_DOIS),
        arxiv_id=draw(st.sampled_from(("", "2101.00001", "cond-mat/9901001"))),
        pmid=draw(st.sampled_from(("", "90000001"))), pmcid=draw(st.sampled_from(("", "PMC9"))),
        url=draw(_ADDRESSES), abstract=draw(_WORDS), status=status,
        pages=draw(st.sampled_from(("", "12", "870–876", "e1, e3–e5"))),
        status_date=draw(_DATES | st.none()) if is_marked else None,
        status_source=draw(st.sampled_from(("", "crossref"))) if is_marked else "",
    )  # fmt: skip


_DOIS = st.from_regex(r"(10\.5555/[a-z0-9_.;()<>\-]{1,12})?", fullmatch=True)


@given(_works(st.sampled_from(sorted(TYPES))), st.booleans())
def test_a_work_comes_back_whole_from_csl_json(work: Work, is_open: bool) -> None:
    version = WorkVersion(relation="preprint", arxiv_id="2101.00001", year=2021)
    full = work.model_copy(
        update={"versions": (version,), "full_text": ("https://a.example/b.pdf",),
                "open_access": "open" if is_open else "unknown", "found_in": ("crossref",)}
    )  # fmt: skip
    assert works_from_csl_json(csl_json([full])) == (full,)


_BIBTEX_KINDS = (
    "article-journal", "book", "paper-conference", "chapter", "thesis", "report", "webpage",
    "dataset", "software", "article",
)  # fmt: skip


@settings(deadline=None)
@given(_works(st.sampled_from(_BIBTEX_KINDS)))
def test_a_work_comes_back_whole_from_bibtex(work: Work) -> None:
    assert works_from_bibtex(bibtex([work])) == (work,)


@given(st.text(_LETTERS | st.sampled_from("\\{}$&#%_^~-`'\u00a0 ")))
def test_a_text_comes_back_from_latex_with_all_its_signs(text: str) -> None:
    line = " ".join(text.split(" ")).strip(" ")
    line = " ".join(each for each in line.split(" ") if each)
    latex = latex_from_text(line)
    assert text_from_latex(latex) == line
    assert latex.count("{") == latex.count("}")


@given(st.lists(_AUTHORS | st.builds(Author, family=st.sampled_from(
    ("others", "Sand and Sons", "and", "A, B", "The Group"))), max_size=4))  # fmt: skip
def test_names_come_back_from_bibtex_one_by_one(authors: list[Author]) -> None:
    assert names_from_bibtex(bibtex_from_names(authors)) == tuple(authors)


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"{\"U}ber Fe$_2$O$_3$ \& {W}olfram", "Über Fe_2O_3 & Wolfram"),
        (r"G{\"{o}}del, \'{E}. \v{C}ern{\'\i}", "Gödel, É. Černí"),
        (r"\O{}rsted and \L{}uk\'asz, Stra{\ss}e", "Ørsted and Łukász, Straße"),
        (r"\emph{In vivo} $\alpha$-phase, 10--20\,\% ``new''", "In vivo α-phase, 10–20 % “new”"),
        (r"\unknown{x} 100\% {--} a\_b", r"\unknownx 100% – a_b"),
    ],
)
def test_latex_of_others_is_read_as_a_person_reads_it(latex: str, text: str) -> None:
    assert text_from_latex(latex) == text


def test_names_of_others_are_read_with_their_particles() -> None:
    written = (
        "Ludwig van Beethoven and de la Vall{\\'e}e Poussin, Charles and {IUPAC and IUCr} and "
        "King, Jr., Martin and others"
    )
    assert names_from_bibtex(written) == (
        Author(family="van Beethoven", given="Ludwig"),
        Author(family="de la Vallée Poussin", given="Charles"),
        Author(family="IUPAC and IUCr"),
        Author(family="King", given="Martin, Jr."),
    )


def test_bibtex_keeps_capitals_and_tells_that_a_work_was_retracted() -> None:
    work = HUGHES.model_copy(update={"status": "retracted", "status_date": "2020-02-02"})
    text = bibtex([work])
    assert text.startswith("@article{hughes1989structural,\n")
    assert "= {{Structural variations in natural F, OH, and Cl apatites}}," in text
    assert "= {870--876}," in text
    assert "note    = {Retracted on 2020-02-02}," in text


def test_bibtex_with_abbreviations_and_fields_of_biblatex_is_read() -> None:
    text = (
        "@string{am = {American Mineralogist}}\n@comment{ignored}\n"
        "@Article{a1, author = \"Hughes, J. M.\", title = {Apatites}, journaltitle = am, "
        "date = {1989-07}, month = jul, doi = {https://doi.org/10.5555/AB_c}}\n"
        "@misc{p, title={Preprint}, eprint={2101.00001}, eprinttype={arXiv}, year=2021}\n"
    )  # fmt: skip
    article, preprint = works_from_bibtex(text)
    assert (article.container, article.year, article.doi) == (
        "American Mineralogist", 1989, "10.5555/ab_c",
    )  # fmt: skip
    assert (preprint.kind, preprint.arxiv_id) == ("article", "2101.00001")


@pytest.mark.parametrize(
    "text", ["@article{a, title = {Unfinished", "@article{a, title = nowhere_defined}"]
)
def test_an_entry_that_cannot_be_read_is_not_left_out_unsaid(text: str) -> None:
    with pytest.raises(BibliographyError):
        works_from_bibtex(text)


def test_csl_json_has_the_variables_that_other_programs_read() -> None:
    item = csl_item(HUGHES)
    assert item["id"] == "hughes1989structural"
    assert item["author"][0] == {"family": "Hughes", "given": "John M."}
    assert item["issued"] == {"date-parts": [[1989]]}
    assert (item["container-title"], item["page"]) == ("American Mineralogist", "870–876")
    assert csl_item(HUGHES.model_copy(update={"kind": "comic"}))["type"] == "document"


def test_csl_json_of_others_is_read_and_gets_a_key() -> None:
    item = {
        "type": "article-journal", "title": "Great apatites", "volume": 74,
        "author": [{"family": "Vries", "non-dropping-particle": "de", "given": "Jan"}],
        "issued": {"raw": "published in 1989"},
    }  # fmt: skip
    work = work_from_csl(item)
    assert (work.key, work.volume) == ("devries1989great", "74")
    assert work.authors == (Author(family="de Vries", given="Jan"),)


@pytest.mark.parametrize("text", ["{", "{}", "[1]", json.dumps([{"author": [1]}])])
def test_what_is_no_csl_json_is_refused(text: str) -> None:
    with pytest.raises(BibliographyError):
        works_from_csl_json(text)


def test_keys_are_made_of_name_year_and_title_and_are_unique_in_any_case() -> None:
    accents = HUGHES.model_copy(update={"authors": (Author(family="Łukasz-Ørsted"),), "key": ""})
    assert citation_key(accents) == "lukaszorsted1989structural"
    same = [
        HUGHES, HUGHES.model_copy(update={"key": "Hughes1989Structural"}),
        HUGHES.model_copy(update={"key": "has blanks, {braces}"}), accents,
    ]  # fmt: skip
    keys = [work.key for work in with_unique_keys(same)]
    assert keys == [
        "hughes1989structural", "Hughes1989Structuralb", "hughes1989structuralc",
        "lukaszorsted1989structural",
    ]  # fmt: skip
    many = with_unique_keys([HUGHES] * 40)
    assert len({work.key for work in many}) == 40


def test_references_are_formatted_in_a_style_and_groups_have_no_initials() -> None:
    group = Work(key="g", title="Names", authors=(Author(family="IUPAC"),), year=2005, kind="book")
    first, second = formatted_references([group, HUGHES], "harvard1")
    assert first.startswith("Hughes, J.M. and Cameron, M. (1989)")
    assert "American Mineralogist, 74(7), pp. 870–876" in first
    assert second.startswith("IUPAC (2005) Names")


def test_a_retracted_work_is_marked_in_every_style_wherever_it_is_sorted() -> None:
    retracted = HUGHES.model_copy(
        update={"status": "retracted", "status_date": "2020-02-02", "title": "Zircon"}
    )
    first, second = formatted_references([retracted, HUGHES])
    assert "Retracted" not in first
    assert second.endswith("[Retracted on 2020-02-02]")


def test_two_works_whose_keys_differ_in_case_are_both_formatted() -> None:
    other = HUGHES.model_copy(update={"key": "HUGHES1989structural", "title": "Another one"})
    assert len(formatted_references([HUGHES, other])) == 2


def test_a_style_may_be_a_file_and_must_be_one(tmp_path: Path) -> None:
    style = tmp_path / "short.csl"
    style.write_text(
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" class="in-text">'
        "<info><title>Short</title><id>short</id><updated>2020-01-01T00:00:00Z</updated></info>"
        '<citation><layout><text variable="title"/></layout></citation>'
        '<bibliography><layout suffix="."><text variable="title"/></layout></bibliography></style>'
    )
    (printed,) = formatted_references([HUGHES], str(style))
    assert printed == f"{HUGHES.title}."
    style.write_text("<style")
    with pytest.raises(BibliographyError, match="cannot be used"):
        formatted_references([HUGHES], str(style))
    with pytest.raises(BibliographyError, match="There is no style"):
        formatted_references([HUGHES], "missing.csl")
    with pytest.raises(UnknownNameError, match="no style 'harvard2'"):
        formatted_references([HUGHES], "harvard2")
    assert "harvard1" in style_names()


def test_python_of_the_page_about_citing_does_what_it_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "cite-sources.md"
    block = page.read_text(encoding="utf-8").split("```python\n")[2].partition("```")[0]
    exec(compile(block, str(page), "exec"), {})  # noqa: S102 - the page's own example
    assert "@article{rietveld1969," in capsys.readouterr().out
