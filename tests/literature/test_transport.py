"""What reaches the literature: guarded, bounded, recorded and replayed."""

import gzip
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.literature.address_guard import (
    RefusedAddressError,
    UnresolvedNameError,
    is_public,
    public_addresses,
    require_web_address,
)
from sciagent.literature.response_store import ResponseStore, normalised_address
from sciagent.literature.settings import RetrievalSettings
from sciagent.literature.transport import (
    NotRecordedError,
    TooLargeError,
    Transport,
    UnreachableError,
)


class Site(BaseHTTPRequestHandler):
    """A server with good and bad pages, which remembers what it was asked."""

    asked: list[tuple[str, str]]

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["user-agent"]))
        name = self.path.partition("?")[0].strip("/")
        getattr(self, name, self.page)()

    def page(self) -> None:
        self.answer(200, f"you asked for {self.path}".encode())

    def limited(self) -> None:
        self.answer(429, b"slowly", {"Retry-After": "7"})

    def private(self) -> None:
        self.answer(302, b"", {"Location": "http://10.0.0.1/secret"})

    def moved(self) -> None:
        self.answer(301, b"", {"Location": "/page"})

    def loop(self) -> None:
        self.answer(302, b"", {"Location": "/loop"})

    def cut(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"only this")

    def bomb(self) -> None:
        self.answer(200, gzip.compress(bytes(8 << 20)), {"Content-Encoding": "gzip"})

    def silent(self) -> None:
        threading.Event().wait(2.0)

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/plain", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[ThreadingHTTPServer]:
    handler = type("OneSite", (Site,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def asked(site: ThreadingHTTPServer) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = vars(site.RequestHandlerClass)["asked"]
    return found


def address(site: ThreadingHTTPServer, path: str) -> str:
    return f"http://127.0.0.1:{site.server_address[1]}/{path}"


def settings(**changes: object) -> RetrievalSettings:
    return RetrievalSettings.model_validate({"trusted_hosts": ("127.0.0.1",), **changes})


def test_an_answer_comes_with_its_hash_and_equal_requests_are_made_once(
    site: ThreadingHTTPServer,
) -> None:
    with Transport(settings(contact="ada@example.org")) as transport:
        first = transport.get(address(site, "page"), params={"b": "2", "a": "1"})
        again = transport.get(address(site, "page?a=1&b=2#part"))
    assert first.content == b"you asked for /page?b=2&a=1"
    assert first.media_type == "text/plain"
    assert again is first
    ((_, agent),) = asked(site)
    assert agent.startswith("sciagent/")
    assert "mailto:ada@example.org" in agent


def test_a_recorded_run_replays_byte_for_byte_without_its_server(
    site: ThreadingHTTPServer, tmp_path: Path
) -> None:
    urls = [address(site, path) for path in ("page?x=1", "moved", "limited")]
    with Transport(settings(mode="record"), ResponseStore(tmp_path)) as transport:
        recorded = [transport.get(url) for url in urls]
    count = len(asked(site))
    for _ in range(3):
        with Transport(settings(mode="replay"), ResponseStore(tmp_path)) as transport:
            replayed = [transport.get(url) for url in urls]
        assert [(r.content, r.status, r.url, r.retrieved) for r in replayed] == [
            (r.content, r.status, r.url, r.retrieved) for r in recorded
        ]
        assert dict(replayed[2].headers) == dict(recorded[2].headers)
        assert all(each.is_replayed for each in replayed)
    assert len(asked(site)) == count


def test_what_was_not_recorded_is_not_asked_for(site: ThreadingHTTPServer, tmp_path: Path) -> None:
    for mode in ("replay", "offline"):
        transport = Transport(settings(mode=mode), ResponseStore(tmp_path))
        with transport, pytest.raises(NotRecordedError, match="was not recorded"):
            transport.get(address(site, "page"))
    assert asked(site) == []
    with pytest.raises(InputError, match="needs a store"):
        Transport(settings(mode="replay"))


def test_a_kept_answer_that_was_changed_is_not_believed(
    site: ThreadingHTTPServer, tmp_path: Path
) -> None:
    with Transport(settings(mode="record"), ResponseStore(tmp_path)) as transport:
        response = transport.get(address(site, "page"))
    (tmp_path / response.sha256[:2] / response.sha256).write_bytes(b"something else")
    transport = Transport(settings(mode="replay"), ResponseStore(tmp_path))
    with transport, pytest.raises(WorkspaceError, match="was changed"):
        transport.get(address(site, "page"))


def test_a_key_is_neither_kept_nor_asked_for_again(
    site: ThreadingHTTPServer, tmp_path: Path
) -> None:
    with Transport(settings(mode="record"), ResponseStore(tmp_path)) as transport:
        transport.get(address(site, "page"), params={"api_key": "secret", "q": "iron"})
    assert b"secret" not in (tmp_path / "responses.sqlite").read_bytes()
    with Transport(settings(mode="replay"), ResponseStore(tmp_path)) as transport:
        assert transport.get(address(site, "page?q=iron")).status == 200


@pytest.mark.parametrize("path", ["private", "page"])
def test_private_addresses_are_refused_before_any_connection(
    site: ThreadingHTTPServer, path: str
) -> None:
    trusted = ("127.0.0.1",) if path == "private" else ()
    transport = Transport(settings(trusted_hosts=trusted))
    with transport, pytest.raises(RefusedAddressError, match="not of the public web"):
        transport.get(address(site, path))
    assert len(asked(site)) == (1 if path == "private" else 0)


@pytest.mark.parametrize(
    ("path", "error"),
    [("cut", UnreachableError), ("loop", UnreachableError), ("bomb", TooLargeError),
     ("silent", UnreachableError)],
)  # fmt: skip
def test_answers_that_are_broken_endless_or_late_end_with_a_named_error(
    site: ThreadingHTTPServer, path: str, error: type[Exception]
) -> None:
    bounds = settings(most_mib=1.0, timeout_s=0.3)
    with Transport(bounds) as transport, pytest.raises(error):
        transport.get(address(site, path))


def test_a_server_that_is_not_there_is_unreachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Transport(settings()) as transport, pytest.raises(UnreachableError):
        transport.get(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.org", "https://", "http://a:b@example.org/", "x"]
)
def test_what_is_no_plain_address_of_the_web_is_refused(url: str) -> None:
    with pytest.raises(RefusedAddressError):
        require_web_address(url)


@pytest.mark.parametrize(
    ("text", "public"),
    [("8.8.8.8", True), ("10.1.2.3", False), ("127.0.0.1", False), ("169.254.169.254", False),
     ("100.64.0.1", False), ("::1", False), ("fe80::1%eth0", False), ("::ffff:10.0.0.1", False),
     ("2002:0a00:0001::", False), ("224.0.0.1", False), ("2001:4860:4860::8888", True)],
)  # fmt: skip
def test_only_addresses_of_the_internet_are_public(text: str, public: bool) -> None:
    assert is_public(text) == public


def test_numbers_that_stand_for_this_machine_are_seen_through() -> None:
    for host in ("127.1", "2130706433", "0x7f000001", "localhost"):
        try:
            found = public_addresses(host, 80)
        except (RefusedAddressError, UnresolvedNameError):
            continue
        pytest.fail(f"{host} leads to {found}")


def test_equal_requests_have_equal_addresses() -> None:
    one = normalised_address("HTTPS://API.Example.org/works?q=b&a=1&mailto=x@y.z#top")
    assert one == "https://api.example.org/works?a=1&q=b"
    assert normalised_address("https://api.example.org/works?a=1&q=b") == one
