"""The pages of the documentation, as their readers use them: blocks to copy and links to follow."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TUTORIAL = DOCS / "tutorials" / "your-first-verified-run.md"
HOW_TO = DOCS / "how-to"
CONSOLE = {"bash", "console", "sh"}
_FENCE = re.compile(r"^(?P<fence>```+|:::+)(?P<info>.*)$")
_CAPTION = re.compile(r"^:caption: (.+)$")


class Block(NamedTuple):
    """A fenced block: its language, its caption if it has one, and what stands in it."""

    page: Path
    line: int
    language: str
    caption: str
    text: str


@cache
def pages() -> tuple[Path, ...]:
    """All pages that people wrote or scripts generated, the read-me among them."""
    built = {DOCS / "_build", DOCS / "jupyter_execute"}
    found = [path for path in DOCS.rglob("*.md") if not built & set(path.parents)]
    return (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(found))


def named(path: Path) -> str:
    """Path of a page within the repository."""
    return path.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = iter(enumerate(page.read_text(encoding="utf-8").split("\n"), start=1))
    for number, line in lines:
        opened = _FENCE.match(line)
        if opened is None:
            continue
        body = []
        for _, inner in lines:
            if inner.startswith(opened["fence"]):
                break
            body.append(inner)
        yield _block(page, number, opened["info"].strip(), body)


def _block(page: Path, line: int, info: str, body: list[str]) -> Block:
    language, caption = info.removeprefix("{code-block}").strip(), ""
    while body and body[0].startswith(":"):
        match = _CAPTION.match(body.pop(0))
        caption = match[1] if match else caption
    text = "\n".join(body).strip("\n")
    return Block(page, line, language, caption, f"{text}\n")


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^(```+).*?^\1 *$", "", text, flags=re.MULTILINE | re.DOTALL)


class Command(NamedTuple):
    """A line to type, and the lines that the page says come of it."""

    block: Block
    text: str
    output: tuple[str, ...]

    def __str__(self) -> str:
        return f"{named(self.block.page)}:{self.block.line}: {self.text}"


def commands(page: Path) -> Iterator[Command]:
    """The lines to type of a page: all of a shell block, or those behind a prompt."""
    for block in blocks(page):
        if block.language not in CONSOLE:
            continue
        lines = block.text.rstrip("\n").split("\n")
        if not any(line.startswith("$ ") for line in lines):
            yield from (Command(block, line, ()) for line in lines if line.strip())
            continue
        starts = [place for place, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            yield Command(block, lines[start].removeprefix("$ "), tuple(lines[start + 1 : end]))


def headings(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub and MyST make them."""
    found = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")) for heading in found)
    return {heading.strip().replace(" ", "-") for heading in plain}
