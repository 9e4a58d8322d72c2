"""The tool that runs Python."""

from typing import Annotated

from sciagent.contracts.conversation import Image
from sciagent.contracts.errors import InputError
from sciagent.contracts.ports import CodeResult
from sciagent.contracts.quantity import measured_in
from sciagent.tools.confinement import opened_below
from sciagent.tools.tool import ToolContext, ToolOutput, tool
from sciagent.workspace.content import artifact_of

_STATUS = {
    "error": "The code raised an error.",
    "timeout": "The code was ended at its time limit.",
    "kernel_died": "The kernel died; variables are lost, files are not. A new kernel is started.",
}


@tool(read_only=False, approval="ask")
def code(
    context: ToolContext,
    code: str,
    timeout_s: Annotated[float, measured_in("s", gt=0.0, le=86_400.0)] = 600.0,
) -> ToolOutput:
    """Run Python in the workspace and see what it prints. Variables stay for the next call.

    Save every number that the report is to state into a JSON file, as
    {"name": {"value": 1.0, "unit": "eV"}}, and print what you need to read.

    Parameters
    ----------
    code
        One cell of Python.
    timeout_s
        It is ended after so many seconds.
    """
    if context.code is None:
        raise InputError("This run cannot run code.", "Use the other tools.")
    if not code.strip():
        raise InputError("The code is empty.")
    result = context.code.run(code, timeout_s=timeout_s)
    return ToolOutput(
        _text(result),
        images=_images(context, result),
        tainted=context.taint.in_workspace,
        provenance=f"cell {result.cell}" if result.cell else "",
    )


def _text(result: CodeResult) -> str:
    lines = [_STATUS[result.status]] if result.status in _STATUS else []
    lines.append(result.output or "(no output)")
    if result.images:
        lines.append(f"Pictures: {', '.join(result.images)} (see them with view_image).")
    return "\n".join(lines)


def _images(context: ToolContext, result: CodeResult) -> tuple[Image, ...]:
    if not context.takes_images:
        return ()
    shown = []
    for path in result.images:
        with opened_below(context.root, path):
            artifact = artifact_of(context.root / path, context.root)
        shown.append(Image(path=path, sha256=artifact.sha256, media_type=artifact.media_type))
    return tuple(shown)
