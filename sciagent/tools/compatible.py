"""The tools of the public evaluation, named and shaped as models were trained on them.

They act on the same ports as `search`, `visit` and `code`, and their results pass the same
boundary. What they give is never so long that it would be spilled into a file: whoever has these
tools has none that reads files.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from pydantic import Field, JsonValue

from sciagent.contracts.errors import InputError, SciagentError
from sciagent.contracts.literature import Document, Source
from sciagent.contracts.ports import CodeResult, Literature
from sciagent.contracts.tool import ToolSpec
from sciagent.tools.boundary import Origin
from sciagent.tools.context import ToolContext
from sciagent.tools.literature import search
from sciagent.tools.passages import GAP, relevant_part
from sciagent.tools.signature import Signature
from sciagent.tools.tool import Tool, ToolOutput

_CHARACTERS = 15_000
"""Of one result at most; less than the boundary shows whole."""
_MOST = 10
"""Queries or addresses in one call."""
_BETWEEN = "\n\n=====\n\n"
_CELL_TIMEOUT_S = 600.0
_FENCED_CODE = re.compile(r"\s*```[\w+-]*\n(?P<code>.*?)\n?```\s*", re.DOTALL)


class CompatibleSpec(ToolSpec):
    """A tool whose name others chose."""

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")


def _google_search(context: ToolContext, query: list[str] | str) -> ToolOutput:
    """Search the web with one or more queries; gives titles, addresses and snippets.

    Parameters
    ----------
    query
        Queries; several that complement each other are best asked in one call.
    """
    queries = _several(query, "query")
    _port(context)
    each = _share(len(queries))
    parts: list[str] = []
    sources: list[Source] = []
    failures: list[SciagentError] = []
    for asked in queries:
        try:
            found = search.run(context, {"query": asked})
        except SciagentError as error:
            failures.append(error)
            text = f"The search failed: {error}"
        else:
            sources += found.sources
            text = _ends(found.text, each)
        parts.append(f"Results for {asked!r}:\n{text}" if len(queries) > 1 else text)
    if len(failures) == len(queries):
        raise failures[0]
    return ToolOutput(
        _BETWEEN.join(parts), sources=tuple(sources), provenance=f"query {'; '.join(queries)}"
    )


def _read_page(context: ToolContext, url: list[str] | str, goal: str) -> ToolOutput:
    """Read one or more pages as text: the beginning of each, and what it says about a goal.

    Parameters
    ----------
    url
        Address of the page, or several addresses.
    goal
        What is to be found out, in words that the page may use.
    """
    addresses = _several(url, "address")
    if not goal.strip():
        raise InputError("The goal is empty.", "Say what is to be found on the page.")
    literature, each = _port(context), _share(len(addresses))
    parts: list[str] = []
    sources: list[Source] = []
    failures: list[SciagentError] = []
    for address in addresses:
        try:
            document = literature.visit(address)
        except SciagentError as error:
            failures.append(error)
            parts.append(f"{address} could not be read: {error}")
        else:
            sources.append(document.source)
            parts.append(_page(document, goal, each))
    if len(failures) == len(addresses):
        raise failures[0]
    provenance = " ".join(source.url for source in sources)
    return ToolOutput(_BETWEEN.join(parts), sources=tuple(sources), provenance=provenance)


def _python_interpreter(context: ToolContext, code: str) -> ToolOutput:
    """Run Python in a sandbox without a network; variables stay for the next call.

    Parameters
    ----------
    code
        Python; print what you need to see.
    """
    if context.code is None:
        raise InputError("No code can be run here.", "Use the other tools.")
    fenced = _FENCED_CODE.fullmatch(code)
    code = fenced["code"] if fenced else code
    if not code.strip():
        raise InputError("The code is empty.")
    result = context.code.run(code, timeout_s=_CELL_TIMEOUT_S)
    return ToolOutput(
        _ends(_printed(result), _CHARACTERS),
        tainted=context.taint.in_workspace,
        provenance=f"cell {result.cell}" if result.cell else "",
    )


def _port(context: ToolContext) -> Literature:
    if context.literature is None:
        raise InputError("The web cannot be reached here.", "Use the other tools.")
    return context.literature


def _share(parts: int) -> int:
    return (_CHARACTERS - parts * (len(_BETWEEN) + 100)) // parts


def _several(given: list[str] | str, what: str) -> list[str]:
    """Take one text, several, or several written as JSON, each once."""
    if isinstance(given, str) and given.lstrip().startswith("["):
        given = _unpacked(given)
    texts = [given] if isinstance(given, str) else given
    wanted = list(dict.fromkeys(each.strip() for each in texts if each.strip()))
    if not wanted:
        raise InputError(f"There is no {what}.", "Say what is looked for.")
    if len(wanted) > _MOST:
        raise InputError(f"{len(wanted)} are too many for one call.", f"Give {_MOST} at most.")
    return wanted


def _unpacked(text: str) -> list[str] | str:
    try:
        content = json.loads(text)
    except ValueError:
        return text
    is_list = isinstance(content, list) and all(isinstance(each, str) for each in content)
    return content if is_list else text


def _page(document: Document, goal: str, most: int) -> str:
    source = document.source
    lines = [source.url[:300], source.title[:200], document.detail[:300]]
    said = sum(map(len, lines)) + 100
    shown = relevant_part(source.text, goal, max(most - said, most // 2))
    if len(shown) < len(source.text):
        lines.append(f"Parts of {len(source.text)} characters; {GAP} is what is left out.")
    head = "\n".join(line for line in lines if line)
    return f"{head}\n\n{shown or '(no text)'}"


def _printed(result: CodeResult) -> str:
    lost = "Variables are lost; files are not." if result.status == "kernel_died" else ""
    return f"{result.output}\n{lost}".strip() or "(no output)"


def _ends(text: str, most: int) -> str:
    """Shorten a text by its middle."""
    if len(text) <= most:
        return text
    half = (most - len(GAP) - 2) // 2
    return f"{text[:half]}\n{GAP}\n{text[-half:]}"


def _compatible(
    function: Callable[..., ToolOutput], name: str, shapes: dict[str, Any], origin: Origin
) -> Tool:
    """Make a tool of a function under a foreign name; `shapes` are the schemas of arguments."""
    signature = Signature.of(function, name)
    schema = signature.schema()
    described: Any = schema["properties"]
    properties: JsonValue = {
        each: {**shapes[each], "description": described[each]["description"]} for each in shapes
    }
    outside = origin == "outside"
    spec = CompatibleSpec(
        name=name, description=signature.description, read_only=outside, approval="never",
        parameters={"type": "object", "properties": properties, "required": [*shapes]},
    )  # fmt: skip
    return Tool(
        spec=spec, origin=origin, check=signature.check,
        run=lambda context, arguments: function(context, **signature.checked(arguments)),
    )  # fmt: skip


_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_TEXT_OR_TEXTS: dict[str, Any] = {"type": ["string", "array"], "items": _TEXT, "minItems": 1}

google_search = _compatible(_google_search, "google_search", {"query": _TEXTS}, "outside")
read_page = _compatible(_read_page, "read_page", {"url": _TEXT_OR_TEXTS, "goal": _TEXT}, "outside")
python_interpreter = _compatible(
    _python_interpreter, "PythonInterpreter", {"code": _TEXT}, "workspace"
)

COMPATIBLE = (google_search, read_page, python_interpreter)
"""The tools of the evaluation of Agents-A1."""
