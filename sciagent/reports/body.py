"""The report's own words in HTML: expanded, parsed and sanitised."""

import base64
import html
import re
from collections.abc import Mapping
from typing import Any

import nh3
from markdown_it.token import Token as MarkdownToken

from sciagent.contracts.claim import FigureClaim, Verdict
from sciagent.reports.contents import ReportContents
from sciagent.reports.entries import short_name
from sciagent.reports.escaping import escaped
from sciagent.reports.evidence import Evidence
from sciagent.reports.markdown import ClaimPrinter
from sciagent.reports.pointers import PointerError
from sciagent.reports.references import anchor
from sciagent.reports.tokens import (
    CLAIM_LINK,
    PLACE_LINK,
    REFERENCE_LINK,
    Token,
    expand,
    markdown_parser,
)

_FIGURE_SCHEME = "figure:"
_FIGURE = re.compile(r'<p><img [^>]*?src="figure:([a-z0-9][a-z0-9_.\-]*)"[^>]*></p>')
_PLACE = re.compile(rf"{PLACE_LINK.removeprefix('#')}\d+")
_STATED = frozenset({"citation", "inference"})
_BEFORE_UNIT = re.compile(r"(?<=[\d)]) (?=\S+$)")
_TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li",
    "ol", "p", "pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"class", "href", "id", "title"},
    "img": {"alt", "src"},
    "ol": {"start"},
    "td": {"class"},
    "th": {"class"},
}
_SCHEMES = {"http", "https", "mailto", "figure"}


def body_html(contents: ReportContents) -> str:
    """The body of the report as sanitised HTML with inline figures."""
    printer = ClaimPrinter(contents.claims, in_html=True)

    def printed(token: Token) -> str:
        if token.kind == "figure":
            label = escaped(printer.claim(token.id).label)
            return f"![{label}]({_FIGURE_SCHEME}{token.id})"
        return printer.printed(token)

    text = expand(contents.claims.report_source, printed)
    parser = markdown_parser()
    tokens = parser.parse(text)
    for token in tokens:
        _mark(token, printer, contents.verdicts)
    raw = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(
        raw,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        attribute_filter=_allowed,
        link_rel="noopener noreferrer",
    )
    figures = {claim.id: claim for claim in contents.claims.claims if claim.kind == "figure"}
    return _FIGURE.sub(lambda match: _figure(figures, match[1], printer, contents), clean)


def _mark(token: MarkdownToken, printer: ClaimPrinter, verdicts: Mapping[str, Verdict]) -> None:
    """Give links to claims their verdict, and cells their alignment, as classes."""
    if token.attrGet("style") == "text-align:right":
        token.attrSet("class", "right")
    children = token.children or []
    for child, following in zip(children, [*children, None][1:], strict=True):
        if child.type == "image" and not str(child.attrGet("src")).startswith(_FIGURE_SCHEME):
            child.type, child.tag = "text", ""
        _mark_reference(child, printer)
        identifier = str(child.attrGet("href") or "").removeprefix(CLAIM_LINK)
        if child.type == "link_open" and identifier in printer.claims:
            verdict = verdicts[identifier].verdict if identifier in verdicts else "unresolved"
            stated = " stated" if printer.claims[identifier].kind in _STATED else ""
            child.attrSet("class", f"claim {verdict}{stated}")
            child.attrSet("title", f"{printer.claims[identifier].label}: {verdict}")
            if following is not None:
                following.content = _BEFORE_UNIT.sub("\u00a0", following.content)


def _mark_reference(child: MarkdownToken, printer: ClaimPrinter) -> None:
    """Make a link to an entry of the references the place that the entry leads back to."""
    href, place = str(child.attrGet("href") or ""), str(child.attrGet("title") or "")
    if child.type == "link_open" and href.startswith(REFERENCE_LINK) and _PLACE.fullmatch(place):
        child.attrs = {"href": href, "class": "reference", "id": place}
        reference = printer.references.by_anchor.get(href.removeprefix("#"))
        if reference is not None:
            child.attrSet("title", short_name(reference.work))


def _allowed(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "id":
        return value if _PLACE.fullmatch(value) else None
    is_own = value.startswith(_FIGURE_SCHEME)
    if tag == "img" and attribute == "src":
        return value if is_own else None
    return None if is_own else value


def image_address(contents: ReportContents, claim: FigureClaim) -> str:
    """The image of a figure as a data URI; empty if it cannot be read."""
    try:
        content = Evidence(contents.root).content(claim.path)
    except PointerError:
        return ""
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def _figure(
    figures: Mapping[str, Any], identifier: str, printer: ClaimPrinter, contents: ReportContents
) -> str:
    claim = figures.get(identifier)
    if not isinstance(claim, FigureClaim):
        return ""
    verdict = contents.verdicts[identifier].verdict if identifier in contents.verdicts else ""
    number = printer.figures.index(identifier) + 1
    label, caption = html.escape(claim.label), html.escape(claim.caption)
    return (
        f'<figure><img src="{image_address(contents, claim)}" alt="{label}">'
        f'<figcaption><a class="claim {verdict}" href="#{anchor(identifier)}">Figure {number}</a>'
        f" {label}. {caption}</figcaption></figure>"
    )
