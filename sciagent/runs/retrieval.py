"""The literature that a run may ask: the user's own library, and the indexes that are online."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field

from sciagent.contracts.errors import InputError
from sciagent.contracts.literature import RetrievalMode
from sciagent.contracts.ports import Literature
from sciagent.literature.library.library import default_library_path
from sciagent.literature.settings import RetrievalSettings
from sciagent.workspace.layout import SOURCES

RESPONSES = f"{SOURCES}/responses"
"""Where a run keeps what servers answered, so that it can be replayed."""


class LiteratureSettings(RetrievalSettings):
    """Which literature runs may ask."""

    mode: RetrievalMode = Field(
        default="record",
        description="live, record (also keep each answer in the run), replay (only what was kept) "
        "or offline (only the own library).",
    )
    library: str = Field(
        default="", description="File of the own library; empty: that of `sciagent library`."
    )
    responses: str = Field(
        default="", description="Folder of answers to replay; empty: that of the run itself."
    )


@contextmanager
def literature_of(
    settings: LiteratureSettings, root: Path, *, local_only: bool = False
) -> Iterator[Literature | None]:
    """Open the literature of a run, and let go of it at the end.

    Parameters
    ----------
    settings
        Mode, contact, library.
    root
        The workspace; what is recorded lies in it.
    local_only
        Whether nothing but the user's own library may be asked.

    Yields
    ------
    Literature or None
        None where nobody can be asked: offline, without a library.
    """
    mode = "offline" if local_only else settings.mode
    own = _own_library(settings)
    if mode == "offline":
        yield own
        return
    from sciagent.literature.searching import online_literature

    folder = Path(settings.responses).expanduser() if settings.responses else root / RESPONSES
    kept = folder if mode in {"record", "replay"} else None
    online = online_literature(settings.model_copy(update={"mode": mode}), kept)
    try:
        yield online if own is None else _combined(own, online)
    finally:
        online.close()


def no_literature() -> InputError:
    """Make the error for a run that has nobody to ask."""
    return InputError(
        "There is no literature to search: the mode is offline, and there is no library.",
        "Make one with: sciagent library add FOLDER.",
    )


def require_literature(settings: LiteratureSettings, *, local_only: bool = False) -> None:
    """Refuse settings by which nobody can be asked.

    Raises
    ------
    InputError
        If the mode is offline and there is no library.
    """
    is_offline = local_only or settings.mode == "offline"
    if is_offline and not library_place(settings).is_file():
        raise no_literature()


def library_place(settings: LiteratureSettings) -> Path:
    """Where the user's library lies, whether there is one or not."""
    return Path(settings.library).expanduser() if settings.library else default_library_path()


def _combined(own: Literature, online: Literature) -> Literature:
    from sciagent.literature.library.port import CombinedLiterature

    return CombinedLiterature(own, online)


def _own_library(settings: LiteratureSettings) -> Literature | None:
    """Open the user's library, if there is one."""
    place = library_place(settings)
    if not place.is_file():
        return None
    from sciagent.literature.library.library import Library
    from sciagent.literature.library.port import LibraryLiterature

    return LibraryLiterature(Library(place))
