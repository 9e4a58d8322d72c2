import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.reports.lint import (
    raw_numbers,
    raw_numbers_in_caption,
    sentences_of,
    unchecked_sentences,
)


def words(source: str) -> list[str]:
    return [word for _, word in raw_numbers(source)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("R_wp is 8.44 %.", ["8.44"]),
        ("It fell by 75%.", ["75%"]),
        ("A length of 9.37Å.", ["9.37Å"]),
        ("It took 3 s and 4s.", ["3", "4s"]),
        ("Between 5-10 degrees", ["5-10"]),
        ("R_wp=8.44", ["8.44"]),
        ("about −3", ["3"]),
        ("1.2e-5 and 3e8", ["1.2e-5", "3e8"]),
        ("10⁻³", ["10⁻³"]),
        ("½ of it", ["½"]),
        ("1,234 counts", ["1,234"]),
        ("8**4**", ["84"]),
        ("8\u200b.44", ["8.44"]),
        ("&#56;.44", ["8.44"]),
        ("| a | b |\n|---|---|\n| x | 8.44 |", ["8.44"]),
        ("- one\n- in 2 parts", ["2"]),
        ("> quoted 7", ["7"]),
        ("[8.44 %](https://example.org)", ["8.44"]),
        ("<b>8.44</b>", ["8.44"]),
        ("٣٤ counts", ["٣٤"]),
    ],
)
def test_a_number_typed_by_hand_is_found(source: str, found: list[str]) -> None:
    assert words(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "Sc2Au6 in P6_3/mmc with Cu Ka1 and LaB6-660c.",
        "The 2theta axis, the 3rd line, 2-propanol and 3-fold symmetry.",
        "`8.44` and\n\n```\n8.44\n```\n\n    8.44",
        "# Result of 2026\n\nSetext 5\n========",
        "See [1], [2, 3] and [4-6].",
        "1. first\n2. second",
        "<https://example.org/8.44> and [paper](https://doi.org/10.1107/S0021889869006558)",
        "As in doi:10.1107/S0021889869006558 and https://example.org/8.44 too.",
        "{{claim:a.1}} and {{claims:b2}} {{figure:c3}}",
        "No number at all, but a dash - and x² + y₁.",
        "[text](x.html) of sciagent-0.1 and PM2.5",
    ],
)
def test_code_names_references_headings_and_tokens_are_exempt(source: str) -> None:
    assert words(source) == []


def test_a_finding_names_its_line() -> None:
    assert raw_numbers("# 1\n\nfine\nbut 8\n\n- x\n- y 9\n") == [(4, "8"), (7, "9")]


def test_captions_are_plain_text_and_linted_too() -> None:
    assert raw_numbers_in_caption("The *8* strongest lines of Sc2Au6.") == ["8"]


@given(st.floats(min_value=0, max_value=1e6).map(lambda x: f"{x:.3f}"), st.sampled_from("%,. );"))
def test_every_decimal_number_in_prose_is_found(number: str, behind: str) -> None:
    assert words(f"The value is {number}{behind} as seen.")


def test_sentences_without_a_token_are_counted() -> None:
    prose = "First without. Second holds {{claim:a}}. Third, e.g. this, without!"
    table = "| a | b |\n|---|---|\n| in | cells |"
    items = "- An item\n- {{claim:b}}"
    source = f"# No sentence\n\n{prose}\n\n{items}\n\n{table}\n\n```\ncode. Code.\n```\n"
    assert unchecked_sentences(source) == [
        "First without.",
        "Third, e.g. this, without!",
        "An item",
    ]
    assert len(unchecked_sentences("{{figure:f}}", ("One caption. And more.",))) == 2


def test_abbreviations_end_no_sentence() -> None:
    assert len(sentences_of("See Fig. A and cf. Rietveld. Done.")) == 2
