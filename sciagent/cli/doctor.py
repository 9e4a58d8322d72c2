"""``sciagent doctor``: what works on this machine, and how to mend what does not."""

from typing import TYPE_CHECKING

import typer

from sciagent.cli.options import BaseUrlOption, JsonOption, ModelOption, examples

if TYPE_CHECKING:
    from rich.text import Text

    from sciagent.contracts.run import DoctorItem

EXAMPLES = examples(
    "sciagent doctor",
    "sciagent doctor --json",
    "sciagent doctor --base-url http://localhost:8000/v1",
)

MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "missing": ("✗", "red")}


def doctor(
    base_url: BaseUrlOption = None, model: ModelOption = None, as_json: JsonOption = False
) -> None:
    """Say what works on this machine and how to mend what does not.

    If an endpoint is configured or given, it is asked a few short questions:
    whether it streams, calls tools, takes images and honours verification.

    With --json, the object has one key, items. Exit code 1 if something needed is missing.
    """
    from sciagent import runs
    from sciagent.cli.streams import results, write_json

    items = runs.doctor(asked={"endpoint.base_url": base_url, "endpoint.model": model})
    if as_json:
        write_json({"items": [item.model_dump(mode="json") for item in items]})
    else:
        for item in items:
            results().print(_line(item))
    raise typer.Exit(1 if any(item.status == "missing" for item in items) else 0)


def _line(item: "DoctorItem") -> "Text":
    from rich.text import Text

    mark, style = MARKS[item.status]
    line = Text.assemble((f"{mark} ", style), (item.name, "bold"), f": {item.detail}")
    return line.append(f"\n  {item.remedy}", style="cyan") if item.remedy else line
