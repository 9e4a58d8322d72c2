"""The own library: what is added, what is found, what is left alone."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.literature import Document, Found, Source, SourceAnswer, Work
from sciagent.contracts.model import sha256_text
from sciagent.literature.documents import find, pages
from sciagent.literature.library.adding import add
from sciagent.literature.library.indexing import fts_query
from sciagent.literature.library.library import Library
from sciagent.literature.library.passages import passages_of
from sciagent.literature.library.port import CombinedLiterature, LibraryLiterature
from sciagent.literature.library.storage import DamagedLibraryError
from sciagent.testing.corpus import Corpus, make_corpus

NOTE = "Fluorapatite crystals grew slowly from the melt. Their colour was green."
BIB = """
@article{hill1988, title={Fluorapatite from the melt}, author={Hill, Ann}, year={1988},
  doi={10.1000/hill}, file={:note.md:Markdown}}
@article{koch2001, title={On zircon}, author={Koch, Bo}, year={2001},
  abstract={Zircon resists weathering.}}
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus"), papers=6, seed=3)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "library.sqlite")


def outcomes(library: Library, *paths: Path) -> list[str]:
    return [each.outcome for each in add(library, paths)]


def test_a_passage_is_found_with_its_work_page_and_characters(
    library: Library, corpus: Corpus
) -> None:
    list(add(library, [corpus.folder]))
    paper = next(each for each in corpus.papers if each.pdf and each.facts)
    fact = paper.facts[0]
    found = library.search(f"{fact.entity} {fact.quantity} {fact.value}", 20)
    passage = next(each for each in found if fact.value in each.text)
    text = library.document(passage.url).source.text
    assert text[passage.start : passage.end] == passage.text
    assert sha256_text(text) == passage.sha256
    assert passage.page == text.count("\f", 0, passage.start) + 1


def test_a_file_is_read_once_and_again_when_it_changed(library: Library, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text(NOTE)
    assert outcomes(library, note) == ["added"]
    assert outcomes(library, note) == ["unchanged"]
    (tmp_path / "copy.md").write_text(NOTE)
    assert outcomes(library, tmp_path / "copy.md") == ["unchanged"]
    note.write_text(NOTE.replace("green", "blue"))
    assert outcomes(library, note) == ["updated"]
    assert library.search("green") == []
    assert len(library.search("blue")) == 1
    note.rename(tmp_path / "moved.md")
    assert outcomes(library, tmp_path / "moved.md") == ["updated"]
    assert library.status().documents == 1


def test_a_bad_file_is_said_and_does_not_stop_the_others(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "b.txt").write_bytes(b"\x00\x01\x02")
    (folder / "c.md").write_text(NOTE)
    (folder / "d.md").write_text("   ")
    (folder / ".hidden.md").write_text(NOTE)
    found = {Path(each.name).name: each for each in add(library, [folder])}
    assert {name: each.outcome for name, each in found.items()} == {
        "a.pdf": "failed", "b.txt": "failed", "c.md": "added", "d.md": "failed",
    }  # fmt: skip
    assert "cannot be read" in found["a.pdf"].detail


def test_a_bibliography_describes_files_and_stands_for_works_without_one(
    library: Library, tmp_path: Path
) -> None:
    (tmp_path / "note.md").write_text(NOTE)
    (tmp_path / "refs.bib").write_text(BIB)
    list(add(library, [tmp_path / "refs.bib"]))
    works = {work.key: work for work, _ in library.works()}
    assert set(works) == {"hill1988", "koch2001"}
    assert works["hill1988"].doi == "10.1000/hill"
    assert works["hill1988"].full_text[0].endswith("note.md")
    assert library.document("10.1000/hill").source.text == NOTE
    assert library.search("weathering")[0].work == "koch2001"
    assert outcomes(library, tmp_path / "refs.bib") == ["unchanged"] * 3


def test_a_name_of_a_string_that_is_defined_elsewhere_stands_for_itself(
    library: Library, tmp_path: Path
) -> None:
    entry = "@article{lee1990, title={On trade}, author={Lee, Cy}, journal=econometrica}"
    (tmp_path / "refs.bib").write_text(entry)
    assert outcomes(library, tmp_path / "refs.bib") == ["added"]
    ((work, _),) = library.works()
    assert (work.key, work.container) == ("lee1990", "econometrica")


def test_a_paper_that_comes_after_its_entry_takes_its_place(
    library: Library, tmp_path: Path
) -> None:
    (tmp_path / "refs.bib").write_text(BIB.replace("file={:note.md:Markdown}", ""))
    list(add(library, [tmp_path / "refs.bib"]))
    (tmp_path / "paper.md").write_text(f"# Fluorapatite from the melt\n\n{NOTE}")
    list(add(library, [tmp_path / "paper.md"]))
    assert {work.key for work, _ in library.works()} == {"hill1988", "koch2001"}
    assert "green" in library.document("hill1988").source.text


def test_what_was_added_before_the_process_was_killed_stays(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number:03}.md").write_text(f"Note {number}. {NOTE}")
    place = tmp_path / "library.sqlite"
    code = (
        "import sys; from pathlib import Path\n"
        "from sciagent.literature.library.adding import add\n"
        "from sciagent.literature.library.library import Library\n"
        "for each in add(Library(Path(sys.argv[1])), [Path(sys.argv[2])]): print(each.outcome)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code, str(place), str(folder)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    for _ in range(5):
        process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    kept = Library(place).status().documents
    assert kept >= 5
    found = outcomes(Library(place), folder)
    assert found.count("unchanged") >= kept
    assert Library(place).status().documents == 300


def test_nothing_in_a_query_is_syntax(library: Library, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(NOTE)
    list(add(library, [tmp_path / "note.md"]))
    for query in ('"green', "green AND (", "title: green*", "NEAR(green)", "green OR NOT"):
        assert len(library.search(query)) == 1
    assert library.search("  ") == library.search('"') == []
    assert fts_query("of the") == '"of" OR "the"'


def test_words_are_found_however_they_are_printed(library: Library, tmp_path: Path) -> None:
    printed = "The eﬃcient diﬀusion of oxygen in the lat-\ntice of Mn-\ndoped oxides at 9.37 K."
    (tmp_path / "printed.txt").write_text(printed)
    (tmp_path / "unspaced.txt").write_text("我们研究了氟磷灰石的晶格常数。")
    list(add(library, [tmp_path]))
    for query in ("efficient", "diffusion", "lattice", "Mn-doped", "9.37"):
        assert [each.text for each in library.search(query)] == [printed], query
        document = library.document((tmp_path / "printed.txt").as_uri())
        assert [each.text for each in find(document, query)] == [printed], query
    assert library.search("3.79") == library.search("9.73") == []
    assert "晶格常数" in library.search("晶格常数")[0].text
    unspaced = library.document((tmp_path / "unspaced.txt").as_uri())
    assert len(find(unspaced, "晶格常数")) == 1


def test_a_title_that_a_bibliography_gives_later_is_searched(
    library: Library, tmp_path: Path
) -> None:
    (tmp_path / "hill.md").write_text(f"# Scanned by hand\n\ndoi:10.1000/hill {NOTE}")
    assert outcomes(library, tmp_path / "hill.md") == ["added"]
    (tmp_path / "refs.bib").write_text(
        "@article{hill, title={Petrology of ejecta}, author={Hill, Ann}, doi={10.1000/hill}}"
    )
    assert outcomes(library, tmp_path / "refs.bib") == ["updated"]
    assert [each.page for each in library.search("petrology")] == [1]
    assert library.search("scanned hand")[0].text.startswith("# Scanned by hand")


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "other.sqlite"
    with sqlite3.connect(place) as other:
        other.execute("create table mine (value)")
    other.close()
    content = place.read_bytes()
    (tmp_path / "note.md").write_text(NOTE)
    with pytest.raises(DamagedLibraryError, match="no library"):
        Library(place).status()
    with pytest.raises(DamagedLibraryError, match="no library"):
        list(add(Library(place), [tmp_path / "note.md"]))
    assert place.read_bytes() == content


def test_what_is_removed_is_not_found_and_its_file_stays(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "note.md").write_text(NOTE)
    list(add(library, [folder]))
    assert library.remove([folder]) == 1
    assert library.search("green") == []
    assert (folder / "note.md").is_file()


def test_what_is_no_library_and_what_cannot_be_added_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("This is no database, but long enough to be one.")
    with pytest.raises(DamagedLibraryError, match="cannot be used"):
        Library(tmp_path / "text.sqlite").search("green")
    with pytest.raises(DamagedLibraryError, match="no library"):
        Library(tmp_path / "missing.sqlite").search("green")
    with pytest.raises(InputError, match="There is no"):
        list(add(Library(tmp_path / "new.sqlite"), [tmp_path / "nowhere"]))
    assert not (tmp_path / "new.sqlite").exists()


def test_the_port_says_how_the_library_answered(library: Library, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(NOTE)
    list(add(library, [tmp_path / "note.md"]))
    port = LibraryLiterature(library)
    found = port.scholar("colour of fluorapatite")
    assert [each.status for each in found.answers] == ["ok"]
    assert "green" in found.works[0].abstract
    assert port.visit(found.works[0].full_text[0]).source.text == NOTE
    assert [each.status for each in port.scholar("volcano").answers] == ["no_match"]
    broken = LibraryLiterature(Library(tmp_path / "gone.sqlite")).scholar("green")
    assert [each.status for each in broken.answers] == ["unreachable"]
    with pytest.raises(UnknownNameError):
        port.visit("https://example.org/elsewhere")


class Online:
    """A server that knows one work of the library and one more."""

    def search(self, query: str) -> Found:
        return self.scholar(query)

    def scholar(self, query: str) -> Found:
        works = (
            Work(key="a", title="Fluorapatite from the melt", year=1988, doi="10.1000/hill"),
            Work(key="b", title="Another green work", year=2020),
        )
        return Found(query=query, works=works, answers=(SourceAnswer(source="x", status="ok"),))

    def visit(self, url: str) -> Document:
        return Document(source=Source(url=url, sha256=sha256_text("page"), text="page"))


def test_the_library_comes_before_what_is_online_and_nothing_comes_twice(
    library: Library, tmp_path: Path
) -> None:
    (tmp_path / "note.md").write_text(NOTE)
    (tmp_path / "refs.bib").write_text(BIB)
    list(add(library, [tmp_path / "refs.bib"]))
    both = CombinedLiterature(LibraryLiterature(library), Online())
    found = both.scholar("green fluorapatite")
    assert [each.key for each in found.works] == ["hill1988", "b"]
    assert [each.source for each in found.answers] == ["library", "x"]
    assert both.visit("10.1000/hill").source.text == NOTE
    assert both.visit("https://example.org/").source.text == "page"
    with pytest.raises(InputError, match="document of the library"):
        both.visit("nothing-of-this-name")


def test_passages_are_whole_sentences_of_one_page() -> None:
    sentence = "This sentence says something that is of a certain length, and then it ends. "
    text = sentence * 20 + "\f" + sentence * 5
    spans = list(passages_of(text))
    assert all(text[each.start : each.end].endswith("ends.") for each in spans)
    assert [each.page for each in spans] == sorted(each.page for each in spans)
    assert {each.page for each in spans} == {1, 2}
    assert all("\f" not in text[each.start : each.end] for each in spans)
    assert max(each.end - each.start for each in spans) <= 1200


def test_a_long_document_is_read_in_parts(library: Library, corpus: Corpus) -> None:
    list(add(library, [corpus.folder]))
    paper = next(each for each in corpus.papers if each.pdf and len(each.pages) > 1)
    assert paper.pdf is not None
    document = library.document(paper.pdf.resolve().as_uri())
    part = pages(document, 2, 99)
    assert document.source.text[part.start : part.end] == part.text
    assert (part.first_page, part.last_page) == (2, document.pages)
    with pytest.raises(InputError, match="no pages 0"):
        pages(document, 0, 1)
    fact = paper.facts[0]
    best = find(document, f"{fact.entity} {fact.quantity} {fact.value}", 3)
    assert any(fact.value in each.text for each in best)
    assert find(document, "xylophone") == []


def test_a_library_can_be_read_while_it_is_written(library: Library, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(NOTE)
    list(add(library, [tmp_path / "note.md"]))
    writer = sqlite3.connect(library.path, isolation_level=None)
    writer.execute("begin immediate")
    try:
        assert len(library.search("green")) == 1
    finally:
        writer.close()
