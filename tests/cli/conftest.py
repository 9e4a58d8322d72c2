import json
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, environment, install_toy


def make_terminal(root: Path) -> Terminal:
    install_toy(root / "site")
    folder = root / "here"
    folder.mkdir()
    variables = environment(root / "site", XDG_CACHE_HOME=str(root / "cache"))
    return Terminal(folder, root / "site", variables)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal in an empty folder, with the toy field installed."""
    return make_terminal(tmp_path)


@pytest.fixture(scope="package")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Terminal, str]:
    """A terminal beside a finished run of the toy question; only to be read."""
    terminal = make_terminal(tmp_path_factory.mktemp("finished"))
    done = terminal.type("run", "toy/parabola", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    return terminal, json.loads(done.stdout)["run"]
