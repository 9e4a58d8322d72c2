"""Texts that tools got from outside, kept under `sources/` by their hash."""

import json
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock

from pydantic import ValidationError

from sciagent.contracts.literature import Source
from sciagent.contracts.model import sha256_text
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.layout import SOURCES

_LOG = logging.getLogger(__name__)

# Reading tools run side by side and may bring the same text.
_WRITING = Lock()


def keep_sources(root: Path, sources: Iterable[Source]) -> tuple[Source, ...]:
    """Keep texts as ``sources/<sha256>.txt``, each with a ``.json`` that says where it is from.

    One text that came from several addresses is kept once, with a description for each.

    Returns
    -------
    tuple of Source
        The sources with the hashes of their texts as they are stored.
    """
    return tuple(_kept(root / SOURCES, source) for source in sources)


def _kept(folder: Path, source: Source) -> Source:
    text = source.text.encode("utf-8", "replace").decode()
    sha256 = sha256_text(text)
    stored = source.model_copy(update={"sha256": sha256, "text": text})
    about = {"url": source.url, "title": source.title, "sha256": sha256}
    description = folder / f"{sha256}.{sha256_text(source.url)[:8]}.json"
    try:
        with _WRITING:
            if not (folder / f"{sha256}.txt").is_file():
                write_atomic(folder / f"{sha256}.txt", text)
            if not description.is_file():
                write_atomic(description, json.dumps(about, indent=2) + "\n")
    except OSError as error:
        # The result is still worth reading; its quotes will not be found.
        _LOG.warning("The text of %s could not be kept: %s", source.url, error)
    return stored


def stored_sources(root: Path) -> Iterator[Source]:
    """Read all texts that were kept, in the order of their hashes."""
    folder = root / SOURCES
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            text = (folder / f"{about['sha256']}.txt").read_text(encoding="utf-8")
            yield Source(url=about["url"], title=about["title"], sha256=about["sha256"], text=text)
        except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
            _LOG.warning("%s describes no stored text: %s", path.name, error)


def sources_of(root: Path, url: str) -> tuple[Source, ...]:
    """Read the texts that came from an address."""
    return tuple(source for source in stored_sources(root) if source.url == url)
