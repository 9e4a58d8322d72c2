"""Seeded quotes: even shares, right ones right and wrong ones wrong by the true text."""

from collections import Counter
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError
from sciagent.testing.corpus import QUOTE_KINDS, SeededQuote, make_corpus, seeded_quotes
from tests.testing.corpora import letters, small_corpus


def quotes() -> tuple[SeededQuote, ...]:
    return seeded_quotes(small_corpus(), count=240, seed=1)


def stands(quote: SeededQuote) -> bool:
    page = small_corpus().paper(quote.work).pages[quote.page - 1]
    return letters(quote.quote) in letters(page)


def original(quote: SeededQuote) -> str:
    """The sentence on the page that has the most words in common with a quote."""
    words = set(quote.quote.split())
    paper = small_corpus().paper(quote.work)
    on_page = [each.text for each in paper.sentences if each.page == quote.page]
    return max(on_page, key=lambda each: len(words & set(each.split())))


def of_kind(kind: str) -> list[SeededQuote]:
    return [each for each in quotes() if each.kind == kind]


def test_kinds_have_even_shares_and_half_of_the_quotes_are_right() -> None:
    assert Counter(each.kind for each in quotes()) == dict.fromkeys(QUOTE_KINDS, 30)
    assert sum(each.should_be_found for each in quotes()) == 120
    assert len({(each.quote, each.work, each.page) for each in quotes()}) == 240


def test_the_same_seed_makes_the_same_quotes() -> None:
    assert seeded_quotes(small_corpus(), count=40, seed=1) == quotes()[:40]
    assert seeded_quotes(small_corpus(), count=40, seed=2) != quotes()[:40]


def test_quotes_stand_on_their_page_exactly_if_they_should_be_found() -> None:
    assert [each for each in quotes() if stands(each) != each.should_be_found] == []


def test_right_quotes_look_as_copied_from_a_viewer() -> None:
    assert all(each.quote in original(each) for each in of_kind("exact"))
    assert all("\n" in each.quote for each in of_kind("rewrapped"))
    assert all(set(each.quote) & set("ﬁﬂﬀﬃﬄ") for each in of_kind("ligatures"))
    ends = [line[-1] for each in of_kind("hyphenation") for line in each.quote.split("\n")[:-1]]
    assert set(ends) <= {"-", "\u2010", "\u00ad"}
    assert len(ends) >= 30


def test_an_altered_number_differs_in_one_digit() -> None:
    for quote in of_kind("altered_number"):
        pairs = list(zip(quote.quote, original(quote), strict=True))
        differing = [(new, old) for new, old in pairs if new != old]
        assert len(differing) == 1
        assert all(each.isdigit() for each in differing[0])


def test_a_flipped_negation_changes_one_word() -> None:
    for quote in of_kind("negation_flipped"):
        changed = Counter(quote.quote.split()) - Counter(original(quote).split())
        removed = Counter(original(quote).split()) - Counter(quote.quote.split())
        assert set(changed) <= {"not", "with", "without", "One"}
        assert set(removed) <= {"not", "with", "without", "No"}
        assert changed or removed


def test_a_wrong_source_is_another_paper_that_holds_the_sentence_nowhere() -> None:
    corpus = small_corpus()
    for quote in of_kind("wrong_source"):
        holders = {each.work.key for each in corpus.papers if quote.quote in {
            sentence.text for sentence in each.sentences}}  # fmt: skip
        assert holders
        assert quote.work not in holders
        assert letters(quote.quote) not in letters(corpus.paper(quote.work).text)


def test_a_moved_quote_stands_on_another_page_of_the_same_paper() -> None:
    for quote in of_kind("moved_page"):
        pages = small_corpus().paper(quote.work).pages
        assert any(letters(quote.quote) in letters(page) for page in pages)
        assert 1 <= quote.page <= len(pages)


def test_facts_are_stated_in_other_words_with_the_number_that_the_quote_gives() -> None:
    facts = {each.sentence: each for paper in small_corpus().papers for each in paper.facts}
    stated = [each for each in quotes() if each.kind == "exact" and each.quote in facts]
    assert stated
    for quote in stated:
        fact = facts[quote.quote]
        assert quote.entity == fact.entity
        assert quote.entity in quote.statement
        assert fact.value in quote.statement


def test_a_corpus_that_is_too_small_for_a_kind_is_refused(tmp_path: Path) -> None:
    single = make_corpus(tmp_path, papers=1, pages=1)
    with pytest.raises(InputError, match="too small"):
        seeded_quotes(single, count=8)
