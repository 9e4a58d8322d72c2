"""Texts that came from elsewhere, made harmless inside Markdown."""

import re

_ALWAYS = re.compile(r"([\\`*\[\]<>|~$!{}])")
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_BLOCK = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|[-+=](?=[\s=-]|$)|\d+(?=[.)](?:\s|$)))")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


def one_line(text: str) -> str:
    """Text without line breaks or control characters."""
    return _CONTROL.sub(" ", text).strip()


def escaped(text: str) -> str:
    """Escape a text so that Markdown prints it as it is, on one line.

    Only characters that could begin markup are escaped, so that labels such as ``r_wp`` stay
    readable in the source of the report.
    """
    text = _ALWAYS.sub(r"\\\1", one_line(text))
    text = _UNDERSCORE.sub(r"\\_", text)
    text = _ENTITY.sub("&amp;", text)
    return _BLOCK.sub(lambda match: f"{match[1]}{_escaped_marker(match[2])}", text)


def _escaped_marker(marker: str) -> str:
    return f"&#{ord(marker[0])};{marker[1:]}" if marker[0].isdigit() else f"\\{marker}"


def code(text: str) -> str:
    """Put a text into a code span, whatever backticks it holds; a bar is kept out of tables."""
    text = one_line(text).replace("|", "¦")
    runs = [len(run) for run in re.findall(r"`+", text)]
    fence = "`" * (max(runs, default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def link_target(path: str) -> str:
    """A relative path as the target of a Markdown link."""
    safe = re.sub(r"[^\w./~-]", lambda match: _percent(match[0]), path, flags=re.ASCII)
    return safe if not safe.startswith("/") else f".{safe}"


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
