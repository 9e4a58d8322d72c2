"""Notes that an agent keeps for itself; they survive when messages are taken out of its prompt."""

import json
from pathlib import Path

from pydantic import Field, ValidationError

from sciagent.contracts.errors import InputError
from sciagent.contracts.model import Contract
from sciagent.tools.tool import ToolContext, ToolOutput, tool
from sciagent.workspace.atomic import storage_error, write_atomic

NOTES = "data/notes"


class Note(Contract):
    """One note."""

    number: int = Field(ge=1)
    text: str


def notes_path(root: Path, agent: str) -> Path:
    """File that holds the notes of an agent."""
    return root / NOTES / f"{agent.replace('/', '-')}.jsonl"


def notes_of(root: Path, agent: str) -> tuple[Note, ...]:
    """Read an agent's notes, oldest first; a line that cannot be read is left out."""
    try:
        lines = notes_path(root, agent).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    notes = []
    for line in lines:
        try:
            notes.append(Note.model_validate_json(line))
        except ValidationError:
            continue
    return tuple(notes)


@tool(read_only=False, approval="never", origin="own")
def take_note(context: ToolContext, text: str) -> ToolOutput:
    """Keep a finding, a decision or an open question; notes are never forgotten.

    Parameters
    ----------
    text
        One thing, with its source.
    """
    if not text.strip():
        raise InputError("The note is empty.")
    kept = notes_of(context.root, context.span)
    text = context.redactor.text(text).encode("utf-8", "replace").decode()
    notes = [*kept, Note(number=len(kept) + 1, text=text)]
    lines = [json.dumps(note.model_dump(), ensure_ascii=False) for note in notes]
    try:
        write_atomic(notes_path(context.root, context.span), "\n".join(lines) + "\n")
    except OSError as error:
        raise storage_error(error, "the note cannot be kept") from error
    return ToolOutput(f"Kept as note {len(notes)}.")


@tool(read_only=True, approval="never", origin="own")
def read_notes(context: ToolContext) -> ToolOutput:
    """Read all of your notes."""
    notes = notes_of(context.root, context.span)
    text = "\n".join(f"{note.number}. {note.text}" for note in notes) or "There are no notes."
    return ToolOutput(text, tainted=context.taint.read_any)


NOTE_TOOLS = (take_note, read_notes)
