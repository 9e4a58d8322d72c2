"""Writes docs/reference/cli.md from the command line itself.

python scripts/write_cli_reference.py            write the page
python scripts/write_cli_reference.py --check    exit with 1 if the page is not current
"""

import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "cli.md"
HEAD = """\
<!-- Written by scripts/write_cli_reference.py from the code; change the code, then run it. -->

# Command line

Results go to stdout; progress, warnings and errors go to stderr. With `--json`, stdout is
exactly one JSON object. How to use the commands together is told in
[](../how-to/use-the-command-line.md).

| exit code | meaning |
|---|---|
| 0 | completed or abstained; verified; or simply done |
| 1 | failed, or not verified |
| 2 | bad input: the sentence on stderr says what to mend |
| 3 | the budget was reached without a result |
| 130 | stopped on request; the run can be resumed |
"""


def page() -> str:
    """The whole page as Markdown."""
    from sciagent.cli.application import application

    root = typer.main.get_command(application)
    context = typer.Context(root, info_name="sciagent")
    sections = [HEAD, *section(root, context)]
    return "\n".join(sections).rstrip() + "\n"


def section(command: Any, context: Any) -> Iterator[str]:
    """A command, and below it the commands that it holds."""
    yield f"## {context.command_path}\n"
    yield f"{command.help.strip()}\n"
    yield f"```text\n{command.get_usage(context)}\n```\n"
    yield from table(command.get_params(context))
    examples = [line.strip() for line in (command.epilog or "").splitlines() if line[:1] == " "]
    if examples:
        yield "```console\n" + "\n".join(f"$ {line}" for line in examples) + "\n```\n"
    for name, child in getattr(command, "commands", {}).items():
        yield from section(child, typer.Context(child, info_name=name, parent=context))


def table(parameters: list[Any]) -> Iterator[str]:
    """Arguments and options with their meaning."""
    yield "| | meaning | default |\n|---|---|---|"
    for parameter in parameters:
        cells = (written(parameter), getattr(parameter, "help", "") or "", default(parameter))
        yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
    yield ""


def written(parameter: Any) -> str:
    """How a parameter is typed, such as ``--seed N``."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    value = parameter.metavar or ""
    if isinstance(parameter.default, Enum):
        value = " or ".join(member.value for member in type(parameter.default))
    names = [*parameter.opts, *getattr(parameter, "secondary_opts", ())]
    return ", ".join(f"`{f'{name} {value}'.strip()}`" for name in names)


def default(parameter: Any) -> str:
    """What holds when an option is not given."""
    if parameter.param_type_name == "argument":
        return "required" if parameter.required else ""
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if parameter.default is None or parameter.default is False:
        return ""
    value = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    return f"`{value}`"


def main() -> int:
    wanted = page()
    if "--check" in sys.argv[1:]:
        current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if current != wanted:
            print(f"{PAGE.name} is not current: run python {Path(__file__).name}", file=sys.stderr)
        return int(current != wanted)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
