"""Quotes are found where they stand, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.literature.quoting.folding import fold, negations_in, numbers_in, plain
from sciagent.literature.quoting.locating import locate, places
from sciagent.literature.quoting.sentences import on_one_line, sentences
from sciagent.literature.quoting.support import Stated, missing_support, unrelated

PAGE_ONE = (
    "Intro.\nThe lattice para-\nmeter of ﬂuorapatite was not a = −9.3702 Å at 5 K,\n"
    "as the well-known “values” said; the effect is notable."
)
PAGE_TWO = "Page two says that 1,000 mem-\nbers were found in Fe2O3 at 10.5 % yield."
TEXT = f"{PAGE_ONE}\f{PAGE_TWO}"


@pytest.mark.parametrize(
    "quote",
    [
        "The lattice parameter of fluorapatite was not a = -9.3702 Å",
        "The lattice para-\nmeter of ﬂuorapatite",
        "lattice\n  parameter   of fluorapatite",
        'the well-known "values" said',
        "the well-\nknown “values” said",
        "1,000 members were found in Fe2O3",
    ],
)
def test_what_differs_in_typography_only_is_found(quote: str) -> None:
    place = locate(quote, TEXT)
    assert place is not None
    assert fold(TEXT[place.start : place.end]).text == fold(quote).text


@pytest.mark.parametrize(
    "quote",
    [
        "lattice parameter of fluorapatite was a = -9.3702 Å",
        "of fluorapatite was not a = -9.3703 Å",
        "of fluorapatite was not a = 9.3702 Å",
        "of fluorapatite was not a = -9.3702 nm",
        "1,000 members were found in Fe",
        "000 members were found in Fe2O3",
        "said; the effect is not able.",
        "in Fe2O3 at 1 0.5 % yield",
    ],
)
def test_what_states_something_else_is_not_found(quote: str) -> None:
    assert locate(quote, TEXT) is None


def test_a_quote_is_found_on_its_page_and_on_no_other() -> None:
    quote = "1,000 members were found"
    found = locate(quote, TEXT, page=2)
    assert found is not None
    assert (found.page, found.how) == (2, "normalised")
    assert TEXT[found.start : found.end] == "1,000 mem-\nbers were found"
    assert locate(quote, TEXT, page=1) is None


def test_a_quote_may_run_over_the_end_of_a_page() -> None:
    found = locate("the effect is notable. Page two says that", TEXT, page=1)
    assert found is not None
    assert locate("the effect is notable. Page two says that", TEXT, page=2) is not None


def test_all_places_of_a_repeated_sentence_are_told() -> None:
    text = "It rose by 15 %. It fell. It rose by 15 %."
    assert [place.start for place in places("It rose by 15 %.", text)] == [0, 26]


@given(st.text(alphabet="abc deﬁ-–\n\f'’ 12.%", min_size=30, max_size=200), st.data())
def test_whole_lines_of_any_text_are_found_in_it(text: str, data: st.DataObject) -> None:
    text = f"xyzxyzxyzxyz {text} zyxzyxzyxzyx"
    assert locate(text, text) is not None


@given(st.text(max_size=80))
def test_each_folded_character_tells_where_it_stood(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.offsets)
    assert list(folded.offsets) == sorted(folded.offsets)
    assert all(0 <= place < len(text) for place in folded.offsets)


def test_numbers_keep_signs_and_lose_the_commas_of_thousands() -> None:
    assert numbers_in("from −5 to 1,000 (10–20 of 0,5)") == ["-5", "1000", "10", "20", "0,5"]
    assert plain("a  well-\nknown\ufffe ﬁeld") == "a wellknown field"
    assert negations_in("It is not non-zero, isn't it?") == ["not", "non", "isn't"]


def test_a_statement_needs_its_entity_its_numbers_and_its_negations_in_the_quote() -> None:
    quote = "The band gap of titanium dioxide is 3.2 eV at 300 K"
    assert missing_support("titanium dioxide", "Its gap is 3.2 eV.", quote) == ()
    assert missing_support("zinc oxide", "Its gap is 3.2 eV.", quote) == (
        "the quote does not name zinc oxide",
    )
    assert missing_support("titanium dioxide", "Its gap is 3.3 eV.", quote) == (
        "the quote does not hold 3.3",
    )
    assert missing_support("titanium dioxide", "Its gap is 3.2 meV.", quote) == (
        "the quote gives 3.2 in another unit than meV",
    )
    assert missing_support("titanium dioxide", "Its gap is not 3.2 eV.", quote) == (
        "the statement denies what the quote does not deny",
    )
    assert missing_support("oxide", "", "Dioxide and oxides") == ()
    assert missing_support("ox", "", "Dioxide and oxides") != ()


def test_one_quote_serves_no_statement_that_it_is_not_about() -> None:
    quote = "Annealing raised the conductivity of ceria to 5 S/cm"
    first = Stated("a", "ceria", "The conductivity of ceria reached 5 S/cm.", quote, "f", 0, 50)
    same = Stated("b", "ceria", "Annealing raised the conductivity.", quote, "f", 0, 50)
    other = Stated("c", "ceria", "Ceria is toxic for algae, as 5 trials found.", quote, "f", 0, 50)
    elsewhere = Stated("d", "ceria", "Ceria harms algae in rivers.", quote, "g", 0, 50)
    assert unrelated([first, same, elsewhere]) == {}
    assert set(unrelated([first, same, other])) == {"c"}


def test_sentences_end_where_a_reader_would_say() -> None:
    text = (
        "It melts at 1538 °C. The value of J. Hill et al. (2001) was e.g. 3.5 K lower. See Fig. 2. "
        "It runs over\nlines.\n\nA heading\n\nThen more! Is it? Yes.\fNext page"
    )
    assert [text[start:end] for start, end in sentences(text)] == [
        "It melts at 1538 °C.",
        "The value of J. Hill et al. (2001) was e.g. 3.5 K lower.",
        "See Fig. 2.",
        "It runs over\nlines.",
        "A heading",
        "Then more!",
        "Is it?",
        "Yes.",
        "Next page",
    ]


def test_a_printed_text_is_written_on_one_line_with_its_words_whole() -> None:
    assert on_one_line("the coe\x1ecient of transfor-\nmation\nis low") == (
        "the coefficient of transformation is low"
    )
