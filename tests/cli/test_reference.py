import re
import shlex
import subprocess
import sys

from tests.cli.commands import documented_commands
from tests.cli.terminal import ROOT, environment

PAGE = ROOT / "docs" / "reference" / "cli.md"


def test_the_reference_page_is_what_the_code_says() -> None:
    script = ROOT / "scripts" / "write_cli_reference.py"
    finished = subprocess.run(
        [sys.executable, str(script), "--check"], cwd=ROOT, env=environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (finished.returncode, finished.stderr) == (0, "")


def test_the_reference_page_has_every_command_with_every_option() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for command in documented_commands():
        section = text.partition(f"## sciagent {command.name}\n")[2].partition("\n## ")[0]
        for parameter in command.command.params:
            for name in parameter.opts:
                assert parameter.param_type_name == "argument" or f"`{name}" in section, name


def test_every_command_in_the_how_to_page_can_be_typed() -> None:
    page = ROOT / "docs" / "how-to" / "use-the-command-line.md"
    lines = re.findall(r"^\$ sciagent (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    typed = 0
    for line in lines:
        words = shlex.split(re.split(" [<>] ", line)[0])
        for command in documented_commands():
            if words[: len(command.words)] == list(command.words):
                command.parse(words[len(command.words) :])
                typed += 1
    assert typed == len(lines) - 2, "all but the two that begin with an option"
