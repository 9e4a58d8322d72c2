"""What sites ask machines to stay out of (RFC 9309)."""

from threading import Lock
from typing import Any

from sciagent.contracts.errors import InputError, SciagentError
from sciagent.literature.pacing import TOO_MANY
from sciagent.literature.transport import NotRecordedError, Transport, origin

AGENT = "sciagent"
_ERROR, _SERVER_ERROR = 400, 500


class ForbiddenByRobotsError(InputError):
    """A site asks machines not to read an address."""

    kind = "input.robots"


class Robots:
    """Asks each site once what it permits; several threads may use it.

    Parameters
    ----------
    transport
        Fetches ``robots.txt``.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._known: dict[str, Any] = {}
        self._lock = Lock()

    def permit(self, url: str) -> None:
        """Check that an address may be read.

        Where there is no ``robots.txt``, all may be read; where the site cannot say now, nothing.

        Raises
        ------
        ForbiddenByRobotsError
            If it may not.
        """
        site = origin(url)
        with self._lock:
            rules = self._known.get(site)
        if rules is None:
            rules = self._asked(site)
            with self._lock:
                self._known[site] = rules
        if not rules.can_fetch(url, AGENT):
            raise ForbiddenByRobotsError(
                f"{site} asks machines not to read {url}.",
                "Read it yourself, and add it to the library.",
            )

    def _asked(self, site: str) -> Any:
        from protego import Protego

        try:
            response = self._transport.get(f"{site}/robots.txt")
        except NotRecordedError:
            return Protego.parse("")
        except SciagentError as error:
            raise _unknown(site) from error
        if response.status >= _SERVER_ERROR or response.status == TOO_MANY:
            raise _unknown(site)
        if response.status >= _ERROR:
            return Protego.parse("")
        return Protego.parse(response.content.decode("utf-8", "replace"))


def _unknown(site: str) -> ForbiddenByRobotsError:
    """The error for a site that cannot say what it permits: asked again, it may be able to."""
    return ForbiddenByRobotsError(
        f"{site} cannot say now what machines may read.", "Try again later."
    )
