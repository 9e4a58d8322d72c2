"""``python -m sciagent.testing.scripted_model``: a scripted model to try agents on.

It answers every question by letting the built-in policy of one field of science study one
dataset, and reports what that came to.
"""

import argparse
import sys
import threading

from sciagent.testing.model_server import Latency, ModelServer
from sciagent.testing.study_script import StudyScript

PORT = 8642


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m sciagent.testing.scripted_model")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--question", default="powder_diffraction/refine")
    parser.add_argument("--dataset", default="sc2au6")
    parser.add_argument("--tokens-per-s", type=float, default=200.0)
    given = parser.parse_args()
    script = StudyScript(given.question, given.dataset)
    server = ModelServer(script, latency=Latency(decode_tokens_per_s=given.tokens_per_s))
    server.port = given.port
    with server:
        sys.stdout.write(f"A scripted model answers at {server.base_url}; Ctrl-C ends it.\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
