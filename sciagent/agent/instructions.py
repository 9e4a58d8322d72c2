"""The texts that agents are given, kept as Markdown beside this module."""

from functools import cache
from importlib import resources


@cache
def instruction(name: str) -> str:
    """Read the text `name` of the folder ``prompts``; fields in braces are left as they are."""
    file = resources.files("sciagent.agent") / "prompts" / f"{name}.md"
    return file.read_text(encoding="utf-8").strip()
