"""A tool: a typed function that a model may call.

::

    @tool(read_only=True, approval="never")
    def melting_point(context: ToolContext, substance: str) -> str:
        ...

The docstring of the function is what the model reads.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, Literal, ParamSpec

from pydantic import JsonValue

from sciagent.contracts.conversation import Image
from sciagent.contracts.literature import Source
from sciagent.contracts.tool import ToolSpec
from sciagent.tools.boundary import Origin
from sciagent.tools.context import ToolContext
from sciagent.tools.signature import Signature

__all__ = ["Origin", "Tool", "ToolContext", "ToolOutput", "tool"]

_Arguments = ParamSpec("_Arguments")


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gives back.

    Attributes
    ----------
    text
        Of any length and content: it is shortened, cleaned and fenced on its way to the model.
    sources
        Texts from outside; they are kept under `sources/`.
    images
        Pictures to show, if the model takes any.
    tainted
        Whether the text holds, or may hold, text from outside. What a tool of origin `outside`
        gives is always so.
    provenance
        Where it came from, in a few words; the sources' addresses if empty.
    """

    text: str
    sources: tuple[Source, ...] = ()
    images: tuple[Image, ...] = ()
    tainted: bool = False
    provenance: str = ""


def _anything(arguments: Mapping[str, JsonValue]) -> None:
    """Accept all arguments; the tool checks them when it runs."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the toolbox holds it.

    Attributes
    ----------
    spec
        What a model is told.
    run
        ``(context, arguments) -> ToolOutput``. Whatever it raises becomes the result.
    origin
        How far its output can be trusted.
    check
        Raises `InputError` for arguments that cannot be used, before anybody is asked and
        anything is journaled.
    """

    spec: ToolSpec
    run: Callable[[ToolContext, Mapping[str, JsonValue]], ToolOutput]
    origin: Origin = "workspace"
    check: Callable[[Mapping[str, JsonValue]], None] = _anything

    @property
    def name(self) -> str:
        """Name that it is called by."""
        return self.spec.name


def tool(
    *,
    read_only: bool,
    approval: Literal["never", "ask"] = "ask",
    origin: Origin = "workspace",
    outside: bool = False,
    name: str = "",
) -> Callable[[Callable[Concatenate[ToolContext, _Arguments], str | ToolOutput]], Tool]:
    """Make a tool of a typed function with a numpydoc docstring.

    The schema of the arguments comes from the signature: units, bounds and shapes in
    ``Annotated[float, measured_in("s")]`` are kept, and the section *Parameters* describes each.
    The first argument is the context.

    Parameters
    ----------
    read_only
        Whether it may run side by side with others and run again.
    approval
        ``ask`` where its effects, or what it sends outside, may need a person's approval.
    origin
        How far its output can be trusted.
    outside
        The same as ``origin="outside"``.
    name
        The function's name if empty.
    """

    def made(function: Callable[Concatenate[ToolContext, _Arguments], str | ToolOutput]) -> Tool:
        signature = Signature.of(function, name)
        call: Callable[..., Any] = function

        def run(context: ToolContext, arguments: Mapping[str, JsonValue]) -> ToolOutput:
            output = call(context, **signature.checked(arguments))
            return output if isinstance(output, ToolOutput) else ToolOutput(output)

        spec = ToolSpec(
            name=signature.name, description=signature.description,
            parameters=signature.schema(), read_only=read_only, approval=approval,
        )  # fmt: skip
        source: Origin = "outside" if outside else origin
        return Tool(spec=spec, run=run, origin=source, check=signature.check)

    return made
