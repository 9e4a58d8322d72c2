"""What sites ask machines to stay out of (RFC 9309)."""

from threading import Lock
from urllib.robotparser import RobotFileParser

from sciagent.contracts.errors import InputError, SciagentError
from sciagent.literature.transport import NotRecordedError, Transport, origin

AGENT = "sciagent"
_ERROR, _SERVER_ERROR = 400, 500
_ALL: list[str] = []
_NOTHING = ["User-agent: *", "Disallow: /"]


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
        self._known: dict[str, RobotFileParser] = {}
        self._lock = Lock()

    def permit(self, url: str) -> None:
        """Check that an address may be read.

        Where there is no ``robots.txt``, all may be read; where the site cannot say, nothing.

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
        if not rules.can_fetch(AGENT, url):
            raise ForbiddenByRobotsError(
                f"{site} asks machines not to read {url}.",
                "Read it yourself, and add it to the library.",
            )

    def _asked(self, site: str) -> RobotFileParser:
        rules = RobotFileParser()
        rules.parse(self._lines(site))
        return rules

    def _lines(self, site: str) -> list[str]:
        try:
            response = self._transport.get(f"{site}/robots.txt")
        except NotRecordedError:
            return _ALL
        except SciagentError:
            return _NOTHING
        if response.status >= _SERVER_ERROR:
            return _NOTHING
        if response.status >= _ERROR:
            return _ALL
        return response.content.decode("utf-8", "replace").splitlines()
