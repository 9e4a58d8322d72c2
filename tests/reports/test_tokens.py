import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.errors import InputError
from sciagent.reports.tokens import check_source, expand, faults_of, tokens_of


def test_tokens_are_read_with_kind_id_label_and_line() -> None:
    source = "a {{claim:r_wp}}, {{claim:x.y-z|label}}\n\n{{claims:cell.}}\n\n{{figure:fit}}"
    found = [(t.kind, t.id, t.labelled, t.line, t.alone) for t in tokens_of(source)]
    assert found == [
        ("claim", "r_wp", False, 1, False),
        ("claim", "x.y-z", True, 1, False),
        ("claims", "cell.", False, 3, True),
        ("figure", "fit", False, 5, True),
    ]


def test_what_is_put_in_is_not_expanded_again() -> None:
    assert expand("x {{claim:a}}", lambda _: "{{claim:b}}") == "x {{claim:b}}"


def test_tables_and_figures_are_set_off_by_one_blank_line() -> None:
    source = "before\n{{claims:a}}\nafter\n\n\n{{figure:b}}\n\n\n"
    assert expand(source, lambda token: token.id) == "before\n\na\n\nafter\n\nb"


@given(st.text())
def test_text_without_tokens_stays_as_it_is(text: str) -> None:
    assert expand(text, lambda _: "?") == text.replace("\x00", "").strip("\n")


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("See {{claim:A}}.", "not a token"),
        ("See {{claim:a", "not a token"),
        ("See {{number:a}}.", "not a token"),
        ("In a line {{figure:a}}.", "alone"),
        ("- {{claims:a}}", "alone"),
        ("`{{claim:a}}`", "in code"),
        ("```\n{{claim:a}}\n```", "in code"),
        ("![x](https://example.org/x.png)", "image"),
        ("[8.44 %](#claim-a)", "typed link"),
    ],
)
def test_a_source_that_breaks_the_grammar_is_refused(source: str, fault: str) -> None:
    assert fault in faults_of(source)[0]
    with pytest.raises(InputError, match=fault):
        check_source(source)


def test_a_well_formed_source_has_no_faults() -> None:
    assert faults_of("# T\n\n{{claim:a}} ([1](https://example.org)).\n\n{{claims:b}}\n") == []
