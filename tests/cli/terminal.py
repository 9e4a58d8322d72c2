"""Types commands as a user does, in a folder of its own with the toy field installed."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sciagent.cli import main
from sciagent.domains import registry

ROOT = Path(__file__).resolve().parents[2]


class Typed(NamedTuple):
    """What a command left on the screen, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def install_toy(folder: Path) -> None:
    """Make a distribution that brings the toy field through its entry point."""
    info = folder / "toy_field-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-field\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sciagent.domains]\ntoy=sciagent.testing.toy:DOMAIN\n")


def environment(*folders: Path, **variables: str) -> dict[str, str]:
    """Variables of a child process that finds this tree and these folders."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SCIAGENT", "COVERAGE")) and name != "FORCE_COLOR"
    }
    path = os.pathsep.join(map(str, [ROOT, *folders]))
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    offline = {name: os.environ[name] for name in ("SCIAGENT_LITERATURE_MODE", "SCIAGENT_LIBRARY")}
    return kept | threads | offline | {"PYTHONPATH": path, "COLUMNS": "100"} | variables


@dataclass
class Terminal:
    """A folder to work in, and ways to type commands there."""

    folder: Path
    site: Path
    variables: dict[str, str]

    def type(self, *arguments: str, answers: str = "") -> Typed:
        """Type a command, with `answers` piped to it, in this process (which is quicker)."""
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.folder),
            surroundings(self.variables, self.site, answers),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = exit_code(list(arguments))
        return Typed(code, out.getvalue(), err.getvalue())

    def type_apart(self, *arguments: str) -> Typed:
        """Type a command in a process of its own."""
        done = subprocess.run(
            self.command(*arguments), cwd=self.folder, env=self.variables, text=True,
            capture_output=True, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        return Typed(done.returncode, done.stdout, done.stderr)

    def begin(self, *arguments: str) -> "subprocess.Popen[str]":
        """Type a command in a process of its own, and do not wait for its end."""
        return subprocess.Popen(
            self.command(*arguments), cwd=self.folder, env=self.variables, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    @staticmethod
    def command(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "sciagent.cli", *arguments]


def exit_code(arguments: list[str]) -> int:
    """Run the command line and give the code that it exits with."""
    try:
        main(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


@contextlib.contextmanager
def surroundings(variables: Mapping[str, str], site: Path, answers: str) -> Iterator[None]:
    """Lend this process the variables, the installed field and the answers of a terminal."""
    before, stdin = dict(os.environ), sys.stdin
    os.environ.update(variables)
    sys.path.insert(0, str(site))
    sys.stdin = io.StringIO(answers)
    registry.domains.cache_clear()
    try:
        yield
    finally:
        registry.domains.cache_clear()
        sys.stdin = stdin
        sys.path.remove(str(site))
        os.environ.clear()
        os.environ.update(before)
