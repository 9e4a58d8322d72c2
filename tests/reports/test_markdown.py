import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sciagent.contracts.claim import (
    Claim,
    ClaimsFile,
    FigureClaim,
    NumberClaim,
    ProducedBy,
    Source,
    Statement,
    TextClaim,
)
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.reports.escaping import code, escaped, link_target
from sciagent.reports.markdown import HOW_TO_READ, report_markdown

SOURCE = Source(path="trials/0007/outcome.json", sha256="0" * 64, pointer="/metrics/r_wp/value")


def number(identifier: str, value: float, subject: str = "apatite", **changes: object) -> Claim:
    fields = {
        "id": identifier, "subject": subject, "quantity": "R_wp", "value": value, "unit": "%",
        "decimals": 2, "source": SOURCE, "produced_by": ProducedBy(trial=7), "tolerance": 0.01,
    }  # fmt: skip
    return NumberClaim.model_validate({**fields, **changes})


def printed(source: str, *claims: Claim) -> str:
    file = ClaimsFile(question="q", title="T", report_source=source, required=(), claims=claims)
    return report_markdown(file).partition(HOW_TO_READ)[2].partition("## Claims")[0].strip()


def test_a_whole_report_is_printed_from_its_claims_alone() -> None:
    claims = ClaimsFile(
        question="q",
        title="A fit",
        report_source="R_wp is {{claim:r_wp}}.\n",
        required=(),
        claims=(number("r_wp", 8.4412),),
    )
    assert report_markdown(claims) == (
        f"# A fit\n\n{HOW_TO_READ}\n\nR_wp is [8.44 %](#claim-r_wp).\n\n## Claims\n\n"
        "| claim | what it states | value | kind | evidence | trial |\n"
        "|:---|:---|---:|:---|:---|---:|\n"
        '| <a id="claim-r_wp"></a>`r_wp` | apatite: R_wp | 8.44 % | number '
        "| [trials/0007/outcome.json](trials/0007/outcome.json) `/metrics/r_wp/value` | 7 |\n"
    )


def test_a_number_is_printed_with_its_uncertainty_unit_and_link() -> None:
    claim = number("a", 9.37018, unit="Ao", uncertainty=0.00041, decimals=4)
    assert printed("{{claim:a}}", claim) == "[9.3702(4) Å](#claim-a)"


def test_the_label_form_says_what_the_number_is_about() -> None:
    claim = number("a", 8.44, condition="final")
    assert printed("{{claim:a|label}}", claim) == "[apatite: R_wp (final) = 8.44 %](#claim-a)"


def test_a_table_names_the_subject_of_every_claim_with_the_prefix() -> None:
    claims = (number("x.a", 1.0), number("x.b", 2.0, "corundum"), number("y", 3.0))
    assert printed("{{claims:x.}}", *claims) == (
        "| quantity | value |\n|:---|---:|\n"
        "| apatite: R_wp | [1.00 %](#claim-x.a) |\n| corundum: R_wp | [2.00 %](#claim-x.b) |"
    )


def statement(operator: str, margin: float = 0.0) -> Claim:
    fields = {"id": "s", "subject": "fit", "quantity": "better", "left": "a", "right": "b"}
    return Statement.model_validate({**fields, "operator": operator, "margin": margin})


def test_an_effect_says_that_it_is_an_association() -> None:
    claim = number("a", 8.44, effect="association")
    assert printed("{{claim:a|label}}", claim) == "[apatite: R_wp (association) = 8.44 %](#claim-a)"


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        ("lt", "is less than"),
        ("le", "is at most"),
        ("gt", "is greater than"),
        ("ge", "is at least"),
        ("within", "differs by at most 0.25 % from"),
    ],
)
def test_a_statement_is_a_sentence_with_both_labels_and_values(operator: str, words: str) -> None:
    claims = (number("a", 8.44), number("b", 9.0, "stock plan"), statement(operator, 0.25))
    sentence = (
        f"[apatite: R_wp = 8.44 %](#claim-a) [{words}](#claim-s) "
        "[stock plan: R_wp = 9.00 %](#claim-b)"
    )
    assert printed("{{claim:s}} And more.", *claims) == f"{sentence}. And more."
    assert printed("So {{claim:s}}; more.", *claims) == f"So {sentence}; more."


def test_a_figure_is_printed_with_number_label_and_caption() -> None:
    claim = FigureClaim(
        id="fit", subject="apatite", quantity="pattern", path="figures/fit.png",
        image_sha256="0" * 64, drawing="d", data=(), caption="All | of it.",
    )  # fmt: skip
    assert printed("{{figure:fit}}", claim) == (
        "![apatite: pattern](figures/fit.png)\n\n"
        "**[Figure 1](#claim-fit).** apatite: pattern. All \\| of it."
    )


def test_a_token_without_a_claim_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="'r_wp'"):
        printed("{{claim:r_wpp}}", number("r_wp", 1.0))
    with pytest.raises(UnknownNameError):
        printed("{{claims:z}}", number("r_wp", 1.0))
    with pytest.raises(UnknownNameError):
        printed("{{figure:r_wp}}", number("r_wp", 1.0))


def test_a_statement_over_two_units_is_refused() -> None:
    claims = (number("a", 8.44), number("b", 9.0, unit="1"), statement("lt"))
    with pytest.raises(InputError, match="one unit"):
        printed("{{claim:s}}", *claims)


HOSTILE = "<script>alert(1)</script> [x](javascript:x) ![i](y) `c` | *b* _e_ &lt; {{claim:a}} $x$"


def test_hostile_labels_print_as_the_text_they_are() -> None:
    claim = number("a", 1.0, HOSTILE)
    html = MarkdownIt("commonmark").enable("table").render(printed("{{claims:a}}", claim))
    for forbidden in ("<script", "<img", "<em>", "<code>", "<strong>", 'href="javascript'):
        assert forbidden not in html
    assert html.count("<a ") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])) | st.text(
    "\\`*_[]<>|~$!{}&;#+-=.)1( ab"
)


@given(TEXTS)
def test_an_escaped_text_renders_as_itself(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(escaped(text))
    inlines = [token for token in tokens if token.type == "inline"]
    children = [child for token in inlines for child in token.children or []]
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    assert {child.type for child in children} <= {"text", "text_special"}
    shown = "".join(child.content for child in children)
    assert shown == text.replace("\x00", "\ufffd").strip()


@given(TEXTS)
def test_a_code_span_renders_as_its_text(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"x {code(text)} y")
    spans = [c for t in tokens for c in t.children or [] if c.type == "code_inline"]
    assert len(spans) == 1
    assert spans[0].content.strip() == text.strip().replace("|", "¦").strip()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_path_as_the_target_of_a_link_stays_one_link_within_the_folder(path: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"[x](./{link_target(path)})")
    links = [c for t in tokens for c in t.children or [] if c.type == "link_open"]
    assert len(links) == 1
    assert ":" not in str(links[0].attrGet("href"))


def test_texts_are_printed_as_words() -> None:
    claim = TextClaim(
        id="v", subject="engine", quantity="version", value="1.10_b*", source=SOURCE,
        produced_by=ProducedBy(),
    )  # fmt: skip
    assert printed("{{claim:v}}", claim) == "[1.10_b\\*](#claim-v)"
