"""Reads documents in a process of its own: a file that kills a reader costs only itself.

``python -m sciagent.literature.library.reader`` takes a path on each line and answers in JSON.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Self

from sciagent.contracts.errors import SciagentError
from sciagent.contracts.literature import Document
from sciagent.literature.reading import UnreadableDocumentError, document_from_file

_LIMIT_S = 120.0


class Reader:
    """A process that reads one document after another, replaced when it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()

    def read(self, path: Path) -> Document:
        """Read a file.

        Raises
        ------
        UnreadableDocumentError
            If it cannot be read as a document, takes longer than two minutes, or kills the reader.
        """
        process = self._process = self._process or _started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(str(path)).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._died(path, "it could not be read")
        ready, _, _ = select.select([process.stdout], [], [], _LIMIT_S)
        if not ready:
            return self._died(path, f"it takes longer than {_LIMIT_S:g} s")
        answer = process.stdout.readline()
        if not answer.endswith(b"\n"):
            return self._died(path, "its reader died")
        content = json.loads(answer)
        if "fault" in content:
            raise UnreadableDocumentError(content["fault"], content["remedy"])
        return Document.model_validate(content["document"])

    def _died(self, path: Path, why: str) -> Document:
        self.close()
        raise UnreadableDocumentError(f"{path.name} cannot be read: {why}.", "Convert it first.")


def _started() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "sciagent.literature.library.reader"]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the owner, whose end ends this process too
    )  # fmt: skip


def main() -> None:
    """Answer until the input ends; what libraries print goes to standard error."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            answers.write(json.dumps(_answer(Path(json.loads(line)))) + "\n")
            answers.flush()


def _answer(path: Path) -> dict[str, object]:
    try:
        return {"document": document_from_file(path).model_dump(mode="json")}
    except SciagentError as error:
        return {"fault": error.message, "remedy": error.remedy}
    except Exception as error:  # noqa: BLE001 # process boundary: the next file is read
        return {"fault": f"{path.name} cannot be read: {error!r}.", "remedy": "Convert it first."}


if __name__ == "__main__":
    main()
