"""Links lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, headings, named, pages, prose

_LINK = re.compile(r"\[[^\[\]]*\]\(<?([^()\s<>]+)>?\)")
_CODE = re.compile(r"`[^`\n]*`")


def links(page: Path) -> list[str]:
    """Targets of a page's links, without those to other sites."""
    found = _LINK.findall(_CODE.sub("", prose(page)))
    return [each for each in found if not re.match(r"[a-z]+:", each)]


@pytest.mark.parametrize("page", [pytest.param(page, id=named(page)) for page in pages()])
def test_every_link_within_the_documentation_leads_to_a_page_and_a_heading(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        # Notebooks are copied into the documentation when it is built.
        if target.suffix == ".ipynb":
            target = ROOT / "notebooks" / target.name
        assert target.exists(), f"{named(page)}: {link}"
        if anchor:
            assert anchor in headings(target), f"{named(page)}: {link}"


def test_every_page_stands_in_one_of_the_four_parts_of_the_documentation() -> None:
    parts = {"tutorials", "how-to", "reference", "explanations"}
    inside = {path.relative_to(DOCS).parts[0] for path in pages() if DOCS in path.parents}
    assert inside == parts | {"index.md"}


def test_every_decision_has_the_same_three_sections_and_its_own_number() -> None:
    folder = DOCS / "explanations" / "decisions"
    records = sorted(folder.glob("[0-9]*.md"))
    numbers = [int(path.name[:4]) for path in records]
    assert numbers == list(range(1, len(records) + 1))
    for number, path in zip(numbers, records, strict=True):
        titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert titles[0].startswith(f"{number}. "), path.name
        assert titles[1:] == ["Context", "Decision", "Consequences"], path.name
