import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError
from sciagent.contracts.events import TrialFinished
from sciagent.contracts.study import Budget
from sciagent.execution.network import VARIABLE, RefusedConnectionError, only_endpoint
from sciagent.testing.studies import ToyStudy
from tests.cli.terminal import environment
from tests.execution.reaching import reaching_bowl


class Listener:
    """Somebody on this machine who counts who connects."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.reached = 0
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.reached += 1
            connection.close()

    def close(self) -> None:
        # Accepting ends only when the socket is shut down.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listeners() -> Iterator[tuple[Listener, Listener]]:
    """The endpoint, and somebody else."""
    pair = Listener(), Listener()
    yield pair
    for each in pair:
        each.close()


def reach(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), timeout=5).close()


def test_only_the_endpoint_is_reached_and_each_refusal_is_told(
    listeners: tuple[Listener, Listener],
) -> None:
    endpoint, other = listeners
    refused: list[str] = []
    with only_endpoint(endpoint.base_url, refused.append):
        reach(endpoint.port)
        with pytest.raises(RefusedConnectionError, match="only talk to its endpoint"):
            reach(other.port)
    assert refused == [f"127.0.0.1 port {other.port}"]
    assert other.reached == 0
    reach(other.port)


@pytest.mark.parametrize(
    "look_up",
    [
        lambda: socket.getaddrinfo("example.org", 443),
        lambda: socket.getaddrinfo(b"example.org", 443),
        lambda: socket.gethostbyname("example.org"),
        lambda: socket.gethostbyname_ex("example.org"),
        lambda: socket.gethostbyaddr("192.0.2.1"),
        lambda: socket.getnameinfo(("192.0.2.1", 80), 0),
    ],
)
def test_names_of_others_are_not_looked_up(
    listeners: tuple[Listener, Listener], look_up: Callable[[], object]
) -> None:
    with only_endpoint(listeners[0].base_url), pytest.raises(RefusedConnectionError):
        look_up()


def test_datagrams_to_others_are_refused(listeners: tuple[Listener, Listener]) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        only_endpoint(listeners[0].base_url),
    ):
        for send in (datagrams.sendto, lambda text, place: datagrams.sendmsg([text], [], 0, place)):
            with pytest.raises(RefusedConnectionError):
                send(b"secret", ("127.0.0.1", listeners[1].port))


def test_threads_obey_the_rule_too_and_the_variable_is_taken_back(
    listeners: tuple[Listener, Listener],
) -> None:
    endpoint, other = listeners
    raised: list[BaseException] = []

    def work() -> None:
        try:
            reach(other.port)
        except RefusedConnectionError as error:
            raised.append(error)

    with only_endpoint(endpoint.base_url):
        assert os.environ[VARIABLE] == endpoint.base_url
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(raised) == 1
    assert VARIABLE not in os.environ


def test_runs_of_one_process_share_the_rule_only_for_the_same_endpoint(
    listeners: tuple[Listener, Listener],
) -> None:
    endpoint, other = listeners
    with only_endpoint(endpoint.base_url):
        with only_endpoint(endpoint.base_url):
            reach(endpoint.port)
        with pytest.raises(RefusedConnectionError):
            reach(other.port)
        with (
            pytest.raises(InputError, match="Another run of this process"),
            only_endpoint(other.base_url),
        ):
            pytest.fail("two endpoints at once")


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://a/v1", "http://", "http://[x/v1"])
def test_an_endpoint_that_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="is no address of a server"), only_endpoint(address):
        pytest.fail("no address")


AUDIT = """
import sys, urllib.error, urllib.request
from sciagent.contracts.conversation import Message
from sciagent.execution.network import RefusedConnectionError, only_endpoint
from sciagent.llm.client import EndpointModel
from sciagent.testing.model_server import ModelServer, saying
reached = []
with ModelServer(lambda request: saying("yes")) as server, only_endpoint(server.base_url):
    # Installed behind the rule: it sees what the rule lets pass.
    seen = {"socket.connect": lambda given: reached.append(given[1])}
    sys.addaudithook(lambda name, given: seen.get(name, bool)(given))
    model = EndpointModel(server.endpoint)
    assert model.complete([Message(role="user", content="well?")], ()).message.content == "yes"
    for address in ("http://127.0.0.1:9/", "http://example.org/", "https://192.0.2.1/"):
        try:
            urllib.request.urlopen(address, timeout=5)
        except urllib.error.URLError as error:
            if isinstance(error.reason, RefusedConnectionError):
                continue
        raise SystemExit(f"{address} was not refused")
    model.close()
    assert {place[:2] for place in reached} == {("127.0.0.1", server.port)}, reached
"""


def test_an_audit_of_all_sockets_sees_connections_to_the_endpoint_only() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AUDIT], env=environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_worker_processes_obey_too_and_the_journal_says_what_was_refused(
    tmp_path: Path, listeners: tuple[Listener, Listener]
) -> None:
    endpoint, other = listeners
    study = ToyStudy(
        tmp_path / "study", {"port": other.port}, budget=Budget(trials=2),
        factory="tests.execution.reaching:reaching_bowl",
    )  # fmt: skip
    with only_endpoint(endpoint.base_url):
        study.run(reaching_bowl(other.port))
    outcomes = [each.body.outcome for each in study.events if isinstance(each.body, TrialFinished)]
    assert [outcome.notes for outcome in outcomes] == [
        (f"A connection to 127.0.0.1 port {other.port} was refused: the run is local only.",)
    ] * 2
    assert other.reached == 0


def test_worker_processes_of_other_runs_reach_whom_they_like(
    tmp_path: Path, listeners: tuple[Listener, Listener]
) -> None:
    other = listeners[1]
    study = ToyStudy(
        tmp_path / "study", {"port": other.port}, budget=Budget(trials=1),
        factory="tests.execution.reaching:reaching_bowl",
    )  # fmt: skip
    study.run(reaching_bowl(other.port))
    assert other.reached == 1
