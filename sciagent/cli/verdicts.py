"""Verdicts as a table, and as the object that programs read."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sciagent.contracts.claim import Verification

GOOD = {"reproduced": "green", "matched": "green", "quoted": "green", "inference": "yellow"}
COUNTS = (
    "claims", "reproduced", "matched", "mismatch", "unresolved", "unsupported", "quoted",
    "not_found", "retracted", "inference", "not_machine_checked",
)  # fmt: skip


def counts(verification: Verification) -> dict[str, str | int | bool]:
    """How many claims got which verdict, and whether all is well."""
    numbers: dict[str, int] = {name: getattr(verification, name) for name in COUNTS}
    return {"run": verification.run, **numbers, "ok": verification.ok}


def print_verification(console: Console, verification: Verification) -> None:
    """Print what is wrong first and in full, then every verdict in a line, then the sum."""
    for finding in verification.findings:
        console.print(Text(f"{finding.path}: {finding.problem}: {finding.detail}", style="red"))
    for each in verification.verdicts:
        if each.verdict not in GOOD:
            console.print(Text(f"{each.claim}: {each.verdict}: {each.detail}", style="red"))
    if verification.verdicts:
        console.print(_table(verification), soft_wrap=False)
    done = [f"{verification.claims} claims"]
    done += [
        f"{getattr(verification, name)} {name.replace('_', ' ')}"
        for name in COUNTS[1:-1]
        if getattr(verification, name)
    ]
    console.print(", ".join(done))
    if verification.not_machine_checked:
        console.print(f"{verification.not_machine_checked} sentences are not machine-checked")
    word, style = ("ok", "bold green") if verification.ok else ("not ok", "bold red")
    console.print(Text(f"{verification.run}: {word}", style=style))


def _table(verification: Verification) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    table.add_column("claim", overflow="fold", max_width=32)
    table.add_column("verdict", no_wrap=True, min_width=len("unsupported"))
    table.add_column("what was compared", no_wrap=True, overflow="ellipsis", ratio=1)
    wrong_first = sorted(verification.verdicts, key=lambda each: each.verdict in GOOD)
    for each in wrong_first:
        style = GOOD.get(each.verdict, "bold red")
        table.add_row(Text(each.claim), Text(each.verdict, style=style), Text(each.detail))
    return table
