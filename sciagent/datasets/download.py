"""Downloads a file once into the cache; what does not have the stated hash is not kept."""

import logging
from pathlib import Path

from sciagent.contracts.dataset import DatasetFile
from sciagent.contracts.errors import InputError, ResourceError

_TIMEOUT_S = 30.0
_BLOCK_BYTES = 1 << 16


def download(file: DatasetFile, target: Path) -> Path:
    """Download a file by `pooch`, which moves it into place only if its hash is right.

    Parameters
    ----------
    file
        Its `url`, `sha256` and `size_bytes` say what is wanted.
    target
        Where it is kept. A file there with another hash is replaced.

    Raises
    ------
    InputError
        If the address gives something else than what was described.
    ResourceError
        If it cannot be reached or written.
    """
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    try:
        pooch.retrieve(
            file.url,
            known_hash=f"sha256:{file.sha256}",
            fname=target.name,
            path=target.parent,
            downloader=_Download(file.size_bytes),
        )
    except OSError as error:
        # The errors of requests are OSErrors too: the file could not be brought here.
        raise ResourceError(
            f"{file.url} could not be downloaded ({type(error).__name__}: {error}).",
            f"Check the network and the disk, or put the file at {target} yourself.",
        ) from error
    except ValueError as error:
        raise InputError(
            f"{file.url} gives a file that does not have the SHA-256 {file.sha256}.",
            f"Ask whoever publishes it for the version described, and put it at {target}.",
        ) from error
    return target


class _Download:
    """Fetches for pooch, closes its connection, and stops at what is longer than described."""

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes

    def __call__(self, url: str, output_file: str, _pooch: object) -> None:
        import requests

        left_bytes = self._size_bytes
        with (
            requests.Session() as session,
            session.get(url, stream=True, timeout=_TIMEOUT_S) as response,
            Path(output_file).open("wb") as stream,
        ):
            response.raise_for_status()
            for block in response.iter_content(_BLOCK_BYTES):
                stream.write(block)
                left_bytes -= len(block)
                if left_bytes < 0:
                    return
