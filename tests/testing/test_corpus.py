"""Generated papers: the same bytes for the same seed, and true to what is said of them."""

import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.testing.corpus import TRAITS, Corpus, Paper, make_corpus
from tests.testing.corpora import letters, most_common, read_pages, small_corpus


def bytes_of(corpus: Corpus) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(corpus.folder.iterdir())}


def test_same_seed_writes_the_same_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    first = make_corpus(tmp_path / "a", papers=4, seed=5, pages=1)
    again = make_corpus(tmp_path / "b", papers=4, seed=5, pages=1)
    other = make_corpus(tmp_path / "c", papers=4, seed=6, pages=1)
    assert bytes_of(first) == bytes_of(again)
    assert [each.work for each in first.papers] == [each.work for each in again.papers]
    assert not bytes_of(first).keys() & bytes_of(other).keys()


@pytest.mark.parametrize("papers", [8, 13, 16])
def test_every_trait_occurs_in_a_corpus_of_eight_or_more(tmp_path: Path, papers: int) -> None:
    corpus = make_corpus(tmp_path, papers=papers, seed=papers, pages=1)
    assert {trait for each in corpus.papers for trait in each.traits} == TRAITS


def test_papers_have_between_four_and_ten_pages_unless_told_otherwise(tmp_path: Path) -> None:
    import pypdfium2

    for paper in make_corpus(tmp_path, papers=3, seed=1).papers:
        with pypdfium2.PdfDocument(paper.pdf) as document:
            assert 4 <= len(document) == len(paper.pages) <= 10


def test_keys_and_identifiers_are_unique_and_the_texts_mostly_are() -> None:
    corpus = small_corpus()
    works = [each.work for each in corpus.papers]
    for values in ([each.key for each in works], [each.doi for each in works]):
        assert most_common(values) == 1
    sentences = [each.text for paper in corpus.papers for each in paper.sentences]
    alone = sum(sentences.count(each) == 1 for each in sentences)
    # The others stand in a preprint and in its article.
    assert alone / len(sentences) > 0.85


def test_sentences_and_facts_stand_on_their_pages_of_the_true_text() -> None:
    for paper in small_corpus().papers:
        for each in paper.sentences:
            assert each.text in paper.pages[each.page - 1]
        for fact in paper.facts:
            assert fact.sentence in paper.pages[fact.page - 1]
            assert fact.entity in fact.sentence
            assert f"{fact.value} {fact.unit}".strip() in fact.sentence.replace("%", " %")


def test_the_pdf_holds_every_sentence_on_the_page_that_is_told() -> None:
    for paper in small_corpus().papers:
        read = [letters(page) for page in read_pages(paper)]
        missing = [
            each for each in paper.sentences if letters(each.text) not in read[each.page - 1]
        ]
        assert missing == []


def test_unmapped_sentences_cannot_be_read_from_the_pdf_but_from_the_page() -> None:
    papers = small_corpus().having("no_tounicode")
    assert papers
    for paper in papers:
        assert paper.unreadable
        read = letters("".join(read_pages(paper)))
        assert not any(letters(each) in read for each in paper.unreadable)
        # A sentence can go on behind the footnotes of its page.
        assert all(letters(each[:20]) in letters(paper.text) for each in paper.unreadable)


def printed(paper: Paper) -> str:
    """Characters of a PDF as its fonts map them, which pdfium would normalise."""
    import pypdf

    assert paper.pdf is not None
    return "\n".join(page.extract_text() for page in pypdf.PdfReader(paper.pdf).pages)


def test_ligatures_are_printed_where_the_trait_says_so_and_only_there() -> None:
    for paper in small_corpus().papers:
        assert ("ﬁ" in printed(paper)) == ("ligatures" in paper.traits)
        assert "ﬁ" not in paper.text


def test_words_are_divided_where_the_trait_says_so_and_only_there() -> None:
    for paper in small_corpus().papers:
        lines = printed(paper).split("\n")
        words = set(letters_only(paper.text))
        divided = [
            line for line, after in pairwise(lines)
            if line.endswith(("-", "\u00ad"))
            and last_part(line) + first_part(after) in words
        ]  # fmt: skip
        assert bool(divided) == ("hyphenated" in paper.traits)
        assert "\u00ad" not in paper.text


def letters_only(text: str) -> list[str]:
    return "".join(each if each.isalpha() else " " for each in text).split()


def last_part(line: str) -> str:
    return letters_only(plain(line).rstrip("-\u00ad").split(" ")[-1] or "?")[-1:][0] if line else ""


def first_part(line: str) -> str:
    found = letters_only(plain(line).split(" ")[0])
    return found[0] if found else ""


def plain(text: str) -> str:
    for ligature, written in (("ﬃ", "ffi"), ("ﬄ", "ffl"), ("ﬀ", "ff"), ("ﬁ", "fi"), ("ﬂ", "fl")):
        text = text.replace(ligature, written)
    return text


def test_running_heads_are_in_the_pdf_and_not_in_the_true_text() -> None:
    for paper in small_corpus().papers:
        head = f"{paper.work.container} {paper.work.volume} ({paper.work.year})"
        is_there = letters(head) in letters(read_pages(paper)[0])
        assert is_there == ("running_heads" in paper.traits)
        assert head not in paper.pages[0]


def test_two_columns_stand_side_by_side_and_are_read_one_after_the_other() -> None:
    import pypdfium2

    for paper in small_corpus().papers:
        with pypdfium2.PdfDocument(paper.pdf) as document:
            page = document[1].get_textpage()
            boxes = [page.get_charbox(place) for place in range(page.count_chars())]
        body = [(left, right) for left, low, right, _ in boxes if 150 < low < 760 and left < right]
        has_gap = not any(left < 297.5 < right for left, right in body)
        assert has_gap == ("two_columns" in paper.traits)
        if has_gap:
            starts = [left for left, _ in body]
            first_on_the_right = next(i for i, left in enumerate(starts) if left > 297.5)
            assert min(starts[first_on_the_right:]) > 297.5


def test_versions_name_each_other_and_share_title_and_first_sentences() -> None:
    corpus = small_corpus()
    by_doi = {each.work.doi: each for each in corpus.papers}
    for preprint in corpus.having("preprint"):
        article = by_doi[preprint.work.versions[0].doi]
        assert "published" in article.traits
        assert article.work.versions[0].doi == preprint.work.doi
        assert article.work.title == preprint.work.title
        assert (article.work.year or 0) >= (preprint.work.year or 0)
        shared = {each.text for each in preprint.sentences} & {
            each.text for each in article.sentences
        }
        assert shared
        assert shared != {each.text for each in article.sentences}


def test_look_alikes_have_other_authors_and_another_year() -> None:
    corpus = small_corpus()
    found = 0
    for paper in corpus.having("look_alike"):
        words = set(paper.work.title.split())
        for other in corpus.papers:
            others = set(other.work.title.split())
            if other is paper or len(words ^ others) > 1:
                continue
            found += 1
            assert other.work.year != paper.work.year
            families = {each.family for each in other.work.authors}
            assert not families & {each.family for each in paper.work.authors}
    assert found == len(corpus.having("look_alike"))


def test_conflicting_papers_differ_in_a_fact_and_no_others_do() -> None:
    given: dict[tuple[str, str], dict[str, set[str]]] = {}
    for paper in small_corpus().papers:
        for fact in paper.facts:
            values = given.setdefault((fact.entity, fact.quantity), {})
            values.setdefault(fact.value, set()).add(paper.work.key)
    disputed = {
        key for values in given.values() if len(values) > 1 for keys in values.values()
        for key in keys
    }  # fmt: skip
    assert disputed == {each.work.key for each in small_corpus().having("conflicting")}


def test_retracted_and_corrected_works_have_a_date_and_a_notice() -> None:
    corpus = small_corpus()
    for status in ("retracted", "corrected"):
        for paper in corpus.having(status):
            assert paper.work.status == status
            assert paper.work.status_date is not None
            assert int(paper.work.status_date[:4]) > (paper.work.year or 0)
            assert paper.work.versions[-1].relation in {"retraction_notice", "correction"}
    assert {each.work.status for each in corpus.papers if not each.traits & {
        "retracted", "corrected"}} == {"current"}  # fmt: skip


class Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_of_an_open_work_has_its_sentences_and_of_a_closed_one_the_abstract() -> None:
    papers = [each for each in small_corpus().papers if each.html is not None]
    assert {each.work.open_access for each in papers} == {"open", "closed"}
    for paper in papers:
        assert paper.html is not None
        reader = Words()
        reader.feed(paper.html.read_text(encoding="utf-8"))
        held = [each.text in reader.text for each in paper.sentences]
        assert paper.work.abstract in reader.text
        assert all(held) if paper.work.open_access == "open" else not all(held)


def test_impossible_corpora_and_unknown_traits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be made"):
        make_corpus(tmp_path, papers=0)
    with pytest.raises(InputError, match="cannot be made"):
        make_corpus(tmp_path, pages=0)
    with pytest.raises(UnknownNameError, match="two_columns"):
        small_corpus().having("two_column")
    with pytest.raises(UnknownNameError, match="no paper"):
        small_corpus().paper("nobody1900nothing")


def test_importing_loads_no_engine_and_a_missing_one_is_named(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from sciagent.testing.corpus import make_corpus
loaded = {"reportlab", "pypdf", "matplotlib", "httpx"} & set(sys.modules)
sys.modules["reportlab"] = None
try:
    make_corpus(Path(sys.argv[1]), papers=1, pages=1)
except Exception as error:
    print(sorted(loaded), type(error).__name__, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("[] InputError")
    assert "pip install reportlab" in done.stdout
    assert list(tmp_path.iterdir()) == []
