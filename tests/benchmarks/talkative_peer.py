"""A peer that calls home before it answers; run as a process by the tests of peers."""

import os
import socket
import sys

from benchmarks.peers.child import Question, serve


def answer(question: Question) -> str:
    sys.stdout.write("It also writes on standard output.\n")
    if question.text == "Die.":
        os._exit(1)
    if question.text == "Break.":
        raise ValueError("broken")
    try:
        socket.create_connection(("192.0.2.1", 443), timeout=1)
    except OSError as error:
        return f"{question.reader()('a')} {error}"
    return "connected"


if __name__ == "__main__":
    serve(answer)
