"""What a cell puts out: kept in bounds, pictures as files, and told in words."""

import base64
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from sciagent.workspace.layout import DATA, FIGURES

TEXT_BOUND = 100_000
"""Characters of text of one cell that stand in the record; all of it is then in a file."""

_FILE_BOUND = 256 * 1024 * 1024
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/svg+xml": "svg"}
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")

Output = dict[str, Any]
"""An output of a notebook's cell, as JSON."""


def create_below(root: Path, folder: str, name: str) -> IO[bytes]:
    """Create a file in a folder of a workspace, going through no link that code put there.

    Raises
    ------
    OSError
        If the folder is a link, or something has this name already.
    """
    top = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
        try:
            file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=inner)
        finally:
            os.close(inner)
    finally:
        os.close(top)
    return os.fdopen(file, "wb")


@dataclass(slots=True)
class CellOutputs:
    """Collects the outputs of one cell.

    Attributes
    ----------
    root
        The workspace.
    cell
        Identifier of the cell; its files are named by it.
    keeps_files
        Whether pictures and long outputs are written to files.
    outputs
        For the record.
    images, files
        Paths, relative to the workspace, of what was written.
    """

    root: Path
    cell: str
    keeps_files: bool = True
    outputs: list[Output] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    _length: int = 0
    _written: int = 0
    _rest: IO[bytes] | None = None
    _clear: bool = False

    def hear(self, message: dict[str, Any]) -> None:
        """Take a message of the kernel."""
        kind, content = message["msg_type"], message["content"]
        if kind == "clear_output":
            self._clear = True
        elif kind in {"stream", "display_data", "execute_result", "error", "update_display_data"}:
            if self._clear:
                self.outputs.clear()
                self._clear = False
            self._take(kind, content)

    def note(self, text: str) -> None:
        """Add a line of our own."""
        self.outputs.append({"output_type": "stream", "name": "stderr", "text": f"{text}\n"})

    def close(self) -> None:
        """Close the file of what was too long."""
        if self._rest is not None:
            self._rest.close()
            self._rest = None
            self.note(f"[{self._length} characters; all of them are in {self.files[-1]}]")

    def text(self) -> str:
        """All text that was put out."""
        text = ""
        for output in self.outputs:
            gap = "\n" if text and not text.endswith("\n") else ""
            text += gap + _text_of(output)
        return text.strip("\n")

    def _take(self, kind: str, content: dict[str, Any]) -> None:
        if kind == "stream":
            self._stream(content["name"], content["text"])
        elif kind == "error":
            trace = [_ANSI.sub("", line) for line in content["traceback"]]
            self._add(
                {
                    "output_type": "error",
                    "ename": content["ename"],
                    "evalue": content["evalue"][:TEXT_BOUND],
                    "traceback": self._bounded("\n".join(trace)).split("\n"),
                }
            )
        else:
            self._data(kind, content)

    def _stream(self, name: str, text: str) -> None:
        text = self._bounded(text)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last.get("name") == name:
            last["text"] += text
        elif text:
            self._add({"output_type": "stream", "name": name, "text": text})

    def _data(self, kind: str, content: dict[str, Any]) -> None:
        data = {name: value for name, value in content["data"].items() if name not in _ENDINGS}
        data = {
            name: self._bounded(value) if isinstance(value, str) else value
            for name, value in data.items()
        }
        for name, ending in _ENDINGS.items():
            if name in content["data"]:
                data[name] = content["data"][name]
                self._picture(content["data"][name], ending)
        output: Output = {"data": data, "metadata": content.get("metadata", {})}
        if kind == "update_display_data":
            self._update(output, content.get("transient", {}).get("display_id"))
            return
        output["output_type"] = kind
        if kind == "execute_result":
            output["execution_count"] = content.get("execution_count")
        shown = content.get("transient", {}).get("display_id")
        if shown:
            output["metadata"] = {**output["metadata"], "display_id": shown}
        self._add(output)

    def _update(self, changed: Output, shown: str | None) -> None:
        for output in self.outputs:
            if shown and output.get("metadata", {}).get("display_id") == shown:
                output["data"] = changed["data"]

    def _add(self, output: Output) -> None:
        self.outputs.append(output)

    def _picture(self, value: str, ending: str) -> None:
        if not self.keeps_files:
            return
        name = f"{self.cell}-{len(self.images) + 1}.{ending}"
        content = value.encode() if ending == "svg" else base64.b64decode(value)
        try:
            with create_below(self.root, FIGURES, name) as stream:
                stream.write(content)
        except OSError as error:
            self.note(f"[{FIGURES}/{name} was not written: {error.strerror}]")
        else:
            self.images.append(f"{FIGURES}/{name}")

    def _bounded(self, text: str) -> str:
        """Let through what is within the bound, and write all of it to a file beyond."""
        room = max(TEXT_BOUND - self._length, 0)
        self._length += len(text)
        if len(text) <= room and self._rest is None:
            return text
        if self._rest is None and self.keeps_files:
            self._open_rest()
        self._write(text)
        return text[:room]

    def _open_rest(self) -> None:
        name = f"{self.cell}-output.txt"
        try:
            self._rest = create_below(self.root, DATA, name)
        except OSError as error:
            self.keeps_files = False
            self.note(f"[{DATA}/{name} was not written: {error.strerror}]")
            return
        self.files.append(f"{DATA}/{name}")
        self._write(self.text())

    def _write(self, text: str) -> None:
        if self._rest is not None and self._written < _FILE_BOUND:
            content = text.encode(errors="replace")
            self._rest.write(content[: _FILE_BOUND - self._written])
            self._written += len(content)


def comparable(outputs: list[Output]) -> list[str]:
    """What two executions of a cell must agree in: texts without addresses, and pictures."""
    found = [_ADDRESS.sub("0x", _lasting(output)) for output in outputs]
    found += [
        str(output["data"][name])
        for output in outputs
        for name in _ENDINGS
        if name in output.get("data", {})
    ]
    return [part for part in found if part]


def _lasting(output: Output) -> str:
    """Text of an output; of an error without its trace, which counts cells."""
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    return _text_of(output)


def _text_of(output: Output) -> str:
    if output["output_type"] == "stream":
        return str(output["text"])
    if output["output_type"] == "error":
        return "\n".join(output["traceback"]) + "\n"
    plain = output["data"].get("text/plain", "")
    return f"{plain}\n" if plain else ""
