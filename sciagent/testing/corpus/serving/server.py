"""A server on this machine that plays the indexes of the literature and the sites of journals."""

import socket
import sys
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from sciagent.testing.corpus.paper import Corpus, Paper
from sciagent.testing.corpus.serving.faults import FaultPlan, ServerFault
from sciagent.testing.corpus.serving.handler import FAULTY, Handler, ServedRequest, ServerState
from sciagent.testing.corpus.serving.routes import FORBIDDEN, ROOTS, Routes

_ADDRESS = "127.0.0.1"
_POLL_S = 0.02


class CorpusServer:
    """A corpus behind the APIs of seven indexes, with its files and with faults on demand.

    Use it as a context manager. It answers at ``/arxiv/api/query``, ``/crossref/works``,
    ``/europepmc/search``, ``/openalex/works``, ``/unpaywall/v2/DOI``,
    ``/semanticscholar/graph/v1/paper/search``, ``/searxng/search``, ``/pdf/KEY.pdf``,
    ``/html/KEY.html``, ``/arxiv/pdf/ID`` and ``/robots.txt``. A path behind ``/faulty/NAME`` is
    answered with that fault.

    Parameters
    ----------
    corpus
        What is there.
    faults
        What goes wrong, and for which paths.

    Attributes
    ----------
    base
        Address of the server while it runs.
    trap
        Address of another server on this machine, to which `loopback_redirect` leads and which
        nobody may ask.
    """

    def __init__(self, corpus: Corpus, faults: Iterable[ServerFault] = ()) -> None:
        self._corpus = corpus
        self._plan = FaultPlan()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._served: list[ServedRequest] = []
        self._trapped: list[str] = []
        self._listeners: list[_Listener] = []
        self.base = self.trap = ""
        for fault in faults:
            self._plan.add(fault)

    def __enter__(self) -> "CorpusServer":
        trap, listener = _Listener(_TrapHandler), _Listener(Handler)
        self.base = f"http://{_ADDRESS}:{listener.server_port}"
        self.trap = f"http://{_ADDRESS}:{trap.server_port}"
        trap.state = self._trapped
        listener.state = ServerState(
            Routes(self._corpus, self.base), self.base, self.trap, self._plan,
            self._closing, self._lock, self._served,
        )  # fmt: skip
        self._listeners = [listener, trap]
        for each in self._listeners:
            threading.Thread(target=each.serve_forever, args=(_POLL_S,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        for each in self._listeners:
            each.shutdown()
            each.server_close()

    @property
    def corpus(self) -> Corpus:
        """What is there."""
        return self._corpus

    @property
    def addresses(self) -> dict[str, str]:
        """By the name of an index, the address to ask instead of the real one's host."""
        return {name: f"{self.base}{root}" for name, root in ROOTS.items()}

    @property
    def requests(self) -> tuple[str, ...]:
        """Path and query of all requests so far, in order of arrival."""
        return tuple(each.target for each in self.served)

    @property
    def served(self) -> tuple[ServedRequest, ...]:
        """All requests so far with their headers and times, in order of arrival."""
        with self._lock:
            return tuple(self._served)

    @property
    def trapped(self) -> tuple[str, ...]:
        """Paths that were asked of the other server, which nobody may ask."""
        return tuple(self._trapped)

    def pdf_address(self, paper: Paper) -> str:
        """Address of the PDF of a paper; one that is not open is refused there."""
        return f"{self.base}/pdf/{paper.work.key}.pdf"

    def page_address(self, paper: Paper) -> str:
        """Address of the page of a paper."""
        return f"{self.base}/html/{paper.work.key}.html"

    def forbidden_address(self, paper: Paper) -> str:
        """Address of the PDF of a paper in the folder that robots.txt forbids."""
        return f"{self.base}{FORBIDDEN}{paper.work.key}.pdf"

    def faulty(self, name: str, address: str) -> str:
        """Address at which the same is answered with a fault.

        Raises
        ------
        UnknownNameError
            If there is no such fault.
        """
        return f"{self.base}{FAULTY}{ServerFault(name).name}{address.removeprefix(self.base)}"

    def break_with(
        self, name: str, prefix: str = "/", times: int | None = None, retry_after_s: int = 1
    ) -> None:
        """Let a fault happen to all paths that begin so, always or some times.

        Raises
        ------
        UnknownNameError
            If there is no such fault.
        """
        self._plan.add(ServerFault(name, prefix, times, retry_after_s))

    def mend(self) -> None:
        """Let nothing go wrong from now on."""
        self._plan.clear()


class _TrapHandler(BaseHTTPRequestHandler):
    """Notes that somebody asked."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the server keeps its own record."""

    def do_GET(self) -> None:
        """Answer what a service of this machine might."""
        self.server.state.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"secret")


class _Listener(ThreadingHTTPServer):
    """Takes connections, one thread for each."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self.state: Any = None
        super().__init__((_ADDRESS, 0), handler)

    def server_bind(self) -> None:
        # The parent would look its own name up.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = _ADDRESS, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that hung up, or was killed, is no fault of the server.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
