"""Pages of the web as text, without menus and advertisements."""

import html
import re

from sciagent.contracts.errors import InputError

_BLOCKS = re.compile(r"(?is)<(script|style|noscript|template|svg)\b.*?</\1\s*>|<!--.*?-->")
_BREAKS = re.compile(r"(?i)<(?:br|/p|/div|/li|/h[1-6]|/tr|/section|/article)\b[^>]*>")
_TAGS = re.compile(r"<[^>]+>")
_TITLE = re.compile(r"(?is)<title[^>]*>(.*?)</title>")
_CHARSET = re.compile(rb"(?i)charset\s*=\s*[\"']?([\w-]+)")
_HEAD_BYTES = 4096


class EmptyPageError(InputError):
    """A page holds no text."""

    kind = "input.page"


def text_of_html(content: bytes, url: str = "") -> tuple[str, str]:
    """Read the title and the main text of a page.

    Parameters
    ----------
    content
        The page.
    url
        Where it came from.

    Returns
    -------
    title, text

    Raises
    ------
    EmptyPageError
        If there is no text in it.
    """
    import trafilatura

    page = decoded(content)
    main = trafilatura.extract(page, url=url or None, include_tables=True, favor_recall=True)
    text = (main or plain_text(page)).strip()
    if not text:
        raise EmptyPageError(f"{url or 'The page'} holds no text.", "Take another source.")
    match = _TITLE.search(page)
    return (" ".join(html.unescape(match[1]).split()) if match else ""), text


def decoded(content: bytes) -> str:
    """Decode a page by what it says of itself, else as UTF-8."""
    named = _CHARSET.search(content[:_HEAD_BYTES])
    try:
        return content.decode(named[1].decode("ascii") if named else "utf-8", errors="replace")
    except LookupError:
        return content.decode("utf-8", errors="replace")


def plain_text(page: str) -> str:
    """All text of a page, one line for each block."""
    text = _BREAKS.sub("\n", _BLOCKS.sub("", page))
    lines = (" ".join(line.split()) for line in html.unescape(_TAGS.sub("", text)).split("\n"))
    return "\n".join(line for line in lines if line)
