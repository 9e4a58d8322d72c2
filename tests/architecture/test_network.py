import socket

import pytest
from nbclient import NotebookClient
from nbformat import v4
from pytest_socket import SocketConnectBlockedError

ADDRESS_FOR_DOCUMENTATION = "192.0.2.1"  # RFC 5737: routed nowhere


def test_the_suite_cannot_reach_another_machine() -> None:
    with pytest.raises((UserWarning, SocketConnectBlockedError), match=r"192\.0\.2\.1"):
        socket.create_connection((ADDRESS_FOR_DOCUMENTATION, 80), timeout=1)


def test_kernels_work_although_sockets_are_restricted() -> None:
    notebook = v4.new_notebook(cells=[v4.new_code_cell("6 * 7")])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    assert notebook.cells[0].outputs[0]["data"]["text/plain"] == "42"
