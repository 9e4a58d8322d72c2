"""The tools that every agent is given, in the order a model reads them."""

from sciagent.tools import (
    citations,
    claims,
    code,
    documents,
    files,
    history,
    images,
    literature,
    notes,
    studies,
)
from sciagent.tools.tool import Tool
from sciagent.tools.toolbox import Toolbox


def standard_tools() -> tuple[Tool, ...]:
    """List all tools of this package; `spawn_subagent` and reviews are the agent's own."""
    return (
        *studies.STUDIES,
        *files.FILES,
        images.view_image,
        code.code,
        *literature.LITERATURE,
        *documents.DOCUMENTS,
        *claims.CLAIMS,
        *citations.CITATIONS,
        *notes.NOTE_TOOLS,
        history.recall,
    )


def standard_toolbox(
    *, literature_port: bool = True, code_port: bool = True, studies_port: bool = True
) -> Toolbox:
    """Make a toolbox without the tools whose port the run does not have.

    A model is not shown what it cannot use; what only lists questions stays.
    """
    absent: set[str] = set()
    if not literature_port:
        asking = (*literature.LITERATURE, *documents.DOCUMENTS, citations.record_citation)
        absent |= {each.name for each in asking}
    if not code_port:
        absent.add(code.code.name)
    if not studies_port:
        listing = {studies.list_questions.name, studies.inspect_question.name}
        absent |= {each.name for each in studies.STUDIES} - listing
    return Toolbox(standard_tools()).without(*absent)
