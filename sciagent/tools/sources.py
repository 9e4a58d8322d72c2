"""Texts that tools got from outside, kept under `sources/` by their hash."""

import json
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import ValidationError

from sciagent.contracts.literature import Source, Work
from sciagent.contracts.model import sha256_text
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.layout import SOURCES

_LOG = logging.getLogger(__name__)

# Reading tools run side by side and may bring the same text.
_WRITING = Lock()


class SourceOfWork(Source):
    """A text whose work is known, as a tool gives it to be kept."""

    work: Work


def keep_sources(root: Path, sources: Iterable[Source]) -> tuple[Source, ...]:
    """Keep texts as ``sources/<sha256>.txt``, each with a ``.json`` that says where it is from.

    One text that came from several addresses is kept once, with a description for each. The work
    of a `SourceOfWork` stands in the description, so that it can be cited.

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
    about: dict[str, Any] = {"url": source.url, "title": source.title, "sha256": sha256}
    if isinstance(source, SourceOfWork):
        about["work"] = source.work.model_dump(mode="json", exclude_defaults=True)
    description = folder / f"{sha256}.{sha256_text(source.url)[:8]}.json"
    try:
        with _WRITING:
            if not (folder / f"{sha256}.txt").is_file():
                write_atomic(folder / f"{sha256}.txt", text)
            if not description.is_file() or ("work" in about and not _names_work(description)):
                write_atomic(description, json.dumps(about, indent=2) + "\n")
    except OSError as error:
        # The result is still worth reading; its quotes will not be found.
        _LOG.warning("The text of %s could not be kept: %s", source.url, error)
    return stored


def _names_work(description: Path) -> bool:
    return "work" in json.loads(description.read_text(encoding="utf-8"))


def stored_sources(root: Path) -> Iterator[Source]:
    """Read all texts that were kept, in the order of their hashes."""
    folder = root / SOURCES
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            text = (folder / f"{about['sha256']}.txt").read_text(encoding="utf-8")
            fields = {name: about[name] for name in ("url", "title", "sha256")} | {"text": text}
            if "work" in about:
                yield SourceOfWork.model_validate(fields | {"work": about["work"]})
            else:
                yield Source.model_validate(fields)
        except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
            _LOG.warning("%s describes no stored text: %s", path.name, error)


def sources_of(root: Path, url: str) -> tuple[Source, ...]:
    """Read the texts that came from an address."""
    return tuple(source for source in stored_sources(root) if source.url == url)
