"""A paper as a page of the web, with all that stands around an article there."""

from collections.abc import Sequence
from html import escape

from sciagent.contracts.literature import Work
from sciagent.testing.corpus.typesetting import Manuscript


def article_page(work: Work, manuscript: Manuscript) -> str:
    """Write a page with the text of an open work, or with the abstract alone.

    A closed work has no more there, nor has one whose manuscript has no blocks.
    """
    blocks = manuscript.blocks if work.open_access == "open" else []
    body = "\n".join(
        f"<h2>{escape(text)}</h2>" if is_heading else f"<p>{escape(text)}</p>"
        for is_heading, text in blocks
    )
    access = "" if blocks else f"<p class='access'>{_access(work)}</p>"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{escape(work.title)} | {escape(work.container)}</title>
{_metadata(work)}
</head>
<body>
<nav><a href="/">Home</a> <a href="/issues">Issues</a> <a href="/about">About this journal</a></nav>
<header><p>{escape(work.container)}: news, alerts and offers for authors</p></header>
<main>
<article>
<h1>{escape(work.title)}</h1>
<p class="authors">{escape(_authors(work))}</p>
<section><h2>Abstract</h2>
<p>{escape(manuscript.abstract)}</p></section>
{body}
{access}
</article>
</main>
<aside><h3>Related</h3><ul><li><a href="/sign-up">Sign up for alerts</a></li></ul></aside>
<footer><p>Cookies help us to serve you. <a href="/terms">Terms of use</a></p></footer>
</body>
</html>
"""


def _access(work: Work) -> str:
    if work.open_access != "open":
        return "Subscribers can read the whole article."
    return f'<a href="{escape(work.full_text[0], quote=True)}">Download the article.</a>'


def _authors(work: Work) -> str:
    return ", ".join(f"{each.given} {each.family}".strip() for each in work.authors)


def _metadata(work: Work) -> str:
    """Write the tags that indexes of the literature read."""
    fields: Sequence[tuple[str, str]] = (
        ("citation_title", work.title),
        *(("citation_author", f"{each.family}, {each.given}") for each in work.authors),
        ("citation_publication_date", str(work.year)),
        ("citation_journal_title", work.container),
        ("citation_volume", work.volume),
        ("citation_doi", work.doi),
        *(("citation_pdf_url", address) for address in work.full_text if ".pdf" in address),
    )
    return "\n".join(
        f'<meta name="{name}" content="{escape(value, quote=True)}">'
        for name, value in fields
        if value
    )
