"""Writes docs/reference/contracts.md from the models that packages exchange.

python scripts/write_contracts_reference.py            write the page
python scripts/write_contracts_reference.py --check    exit with 1 if the page is not current
"""

import ast
import importlib
import inspect
import pkgutil
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, Union, get_args, get_origin

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "contracts.md"
HEAD = """\
<!-- Written by scripts/write_contracts_reference.py; change the code, then run it. -->

# Contracts

What packages exchange and what stands in the files of a workspace. Every model is frozen and
refuses fields that are not listed here and numbers that are not finite. A type in quotation marks
is that very word. Where a unit is given it is a code of the [closed list](#units). Each file of a
workspace states its `schema_version`; a file of a newer version is refused.
"""
TITLES = {
    "quantity": "Quantities",
    "artifact": "Artifacts",
    "study": "Proposals, outcomes, decisions",
    "tree": "Trials and studies",
    "run": "Runs",
    "events": "Events of the journal",
    "claim": "Claims and verdicts",
    "citation": "Citations",
    "review": "Reviews",
    "dataset": "Datasets",
    "domain": "Fields of science",
    "tool": "Tools",
    "conversation": "Conversations with models",
    "agent": "Agents",
    "ports": "Ports",
}
# The page must not change when a field is added, so the errors of the fields are not listed.
NOT_SEARCHED = ("sciagent.domains.", "sciagent.testing", "sciagent._data")


class ErrorClass(NamedTuple):
    """An error class of the package."""

    kind: str
    name: str
    meaning: str
    module: str


def page() -> str:
    """The whole page as Markdown."""
    parts = [HEAD]
    for name in module_names():
        parts += module_section(name, TITLES.get(name, name.replace("_", " ").capitalize()))
    parts += [*units_section(), *errors_section()]
    return "\n".join(parts).rstrip() + "\n"


@cache
def module_names() -> tuple[str, ...]:
    """Modules of contracts: those with a title in their order, then any others."""
    import sciagent.contracts

    found = {each.name for each in pkgutil.iter_modules(sciagent.contracts.__path__)}
    others = sorted(found - set(TITLES) - {"errors", "model", "units"})
    return (*(name for name in TITLES if name in found), *others)


@cache
def heading_of(described: type) -> str:
    """Heading of a class: its name, with its module behind it where an earlier one has the name."""
    place = described.__module__.rpartition(".")[2]
    earlier = module_names()[: module_names().index(place)] if place in module_names() else ()
    modules = [importlib.import_module(f"sciagent.contracts.{name}") for name in earlier]
    taken = {each.__name__ for module in modules for each in defined_in(module)}
    name = described.__name__
    return f"{name} ({place})" if name in taken else name


def linked(described: type) -> str:
    """A link to the heading of a class."""
    slug = re.sub(r"[^a-z0-9 ]", "", heading_of(described).lower()).replace(" ", "-")
    return f"[{described.__name__}](#{slug})"


def module_section(name: str, title: str) -> Iterator[str]:
    """All that a module of contracts defines, in the order of its source."""
    module = importlib.import_module(f"sciagent.contracts.{name}")
    yield f"## {title}\n"
    yield f"`{module.__name__}`. {prose(module)}\n"
    if name == "events":
        yield from event_kinds(module)
    if name == "claim":
        yield from verdict_names(module)
    for each in defined_in(module):
        yield f"### {heading_of(each)}\n"
        yield f"{prose(each)}\n"
        yield from members_of(each)


def defined_in(module: types.ModuleType) -> list[type]:
    """Public classes of a module, in the order they are defined."""
    own = [each for each in vars(module).values() if inspect.isclass(each)]
    return [each for each in own if each.__module__ == module.__name__ and each.__name__[0] != "_"]


def members_of(model: type) -> Iterator[str]:
    """Fields of a model or dataclass, or what a protocol asks for."""
    if hasattr(model, "model_fields"):
        yield from table(("field", "type", "unit", "default", "meaning"), model_rows(model))
    elif is_dataclass(model):
        meanings = attribute_texts(model)
        rows = (
            (f"`{each.name}`", written(each.type), default_of(each.default, each.default_factory),
             meanings.get(each.name, ""))
            for each in fields(model)
        )  # fmt: skip
        yield from table(("field", "type", "default", "meaning"), rows)
    elif Protocol in model.__mro__:
        yield from table(("asks for", "meaning"), protocol_rows(model))


def model_rows(model: Any) -> Iterator[tuple[str, ...]]:
    """One row for each field of a pydantic model."""
    properties = model.model_json_schema().get("properties", {})
    for name, field in model.model_fields.items():
        unit = properties.get(name, {}).get("unit", "")
        missing = MISSING if field.is_required() else field.default
        factory = field.default_factory or MISSING
        meaning = " ".join(filter(None, [field.description, bounds_of(field.metadata)]))
        yield (
            f"`{name}`", written(field.annotation), f"`{unit}`" if unit else "",
            default_of(missing if factory is MISSING else MISSING, factory), meaning,
        )  # fmt: skip


def protocol_rows(protocol: type) -> Iterator[tuple[str, str]]:
    """One row for each method or property of a protocol."""
    for name, member in vars(protocol).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"`{name}`: {written(result_of(member.fget))}", prose(member.fget)
        elif inspect.isfunction(member):
            names = [each for each in inspect.signature(member).parameters if each != "self"]
            call = f"`{name}({', '.join(names)})`: {written(result_of(member))}"
            yield call, prose(member)


def result_of(function: Callable[..., Any] | None) -> Any:
    """Annotated result of a function."""
    return inspect.signature(function).return_annotation if function else None


def bounds_of(metadata: Iterable[Any]) -> str:
    """Bounds and patterns of a field, in words."""
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    found = []
    for each in metadata:
        bounds = {sign: getattr(each, name, None) for name, sign in signs.items()}
        found += [f"{sign} {bound:g}" for sign, bound in bounds.items() if bound is not None]
        if getattr(each, "min_length", None):
            found.append("not empty")
        if getattr(each, "pattern", None):
            found.append(f"matches `{each.pattern}`")
    return f"({', '.join(found)})" if found else ""


def default_of(value: Any, factory: Any) -> str:
    """What holds when a field is not given."""
    if factory is not MISSING:
        made = factory()
        return f"`{made!r}`" if made or made == {} else "empty"
    if value is MISSING or repr(value) == "PydanticUndefined":
        return "required"
    if value is None:
        return "none"
    if value in ("", ()):
        return "empty"
    return f"`{type(value).__name__}()`" if hasattr(type(value), "model_fields") else f"`{value}`"


def written(annotation: Any) -> str:
    """A type as it is read, with links to the models of this page."""
    if annotation is None or annotation is type(None):
        return "none"
    if isinstance(annotation, str):
        return f"`{annotation}`"
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        from sciagent.contracts.units import UNITS

        words = " or ".join(f'`"{each}"`' for each in arguments)
        return "[unit](#units)" if arguments == UNITS else words
    if origin in (Union, types.UnionType):
        return " or ".join(written(each) for each in arguments)
    if arguments and hasattr(annotation, "__metadata__"):
        return written(arguments[0])
    if arguments:
        return generic(origin, arguments)
    return named(annotation)


def generic(origin: Any, arguments: tuple[Any, ...]) -> str:
    """A container with what it holds."""
    name = getattr(origin, "__name__", str(origin)).lower()
    if name == "callable":
        return "function"
    if name == "type":
        return f"class of {written(arguments[0])}"
    if name in {"dict", "mapping"}:
        return f"map of {written(arguments[0])} to {written(arguments[1])}"
    if name == "tuple" and arguments[-1:] != (Ellipsis,):
        return f"tuple of {', '.join(written(each) for each in arguments)}"
    container = {"tuple": "list", "sequence": "list", "io": "stream"}.get(name, name)
    return f"{container} of {written(arguments[0])}"


def named(annotation: Any) -> str:
    """A plain type: a link if this page describes it."""
    name = getattr(annotation, "__name__", str(annotation))
    module = getattr(annotation, "__module__", "")
    if module.startswith("sciagent.contracts.") and inspect.isclass(annotation):
        return linked(annotation)
    words = {"str": "text", "float": "number", "int": "integer", "bool": "true or false"}
    return words.get(name, {"JsonValue": "JSON value", "Any": "anything"}.get(name, f"`{name}`"))


def prose(documented: Any) -> str:
    """The docstring up to its first section, on one line for each paragraph."""
    text = inspect.getdoc(documented) or ""
    text = re.split(r"\n\n\w[\w ]*\n-{3,}\n", text)[0]
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return "\n\n".join(paragraphs).replace("``", "`").replace("|", r"\|")


def attribute_texts(documented: Any) -> dict[str, str]:
    """Meaning of each attribute, from the section of the docstring that lists them."""
    text = inspect.getdoc(documented) or ""
    section = re.split(r"\nAttributes\n-{3,}\n", text)[1:]
    found: dict[str, str] = {}
    for names, meaning in re.findall(r"^(\S.*)\n((?:    .+\n?)+)", "".join(section), re.MULTILINE):
        line = " ".join(meaning.split()).replace("``", "`")
        found |= {name.strip(): line for name in names.split(",")}
    return found


def event_kinds(module: Any) -> Iterator[str]:
    """Kinds of events with the model of each."""
    rows = (
        (f"`{each.model_fields['kind'].default}`", linked(each),
         prose(each))
        for each in get_args(get_args(module.EventBody)[0])
    )  # fmt: skip
    yield from table(("kind", "body", "what happened"), rows)


def verdict_names(module: Any) -> Iterator[str]:
    """Names of the verdicts; what each means is explained elsewhere."""
    names = ", ".join(f"`{name}`" for name in get_args(module.VerdictName))
    yield f"Verdicts: {names}. What each means is told in [](../explanations/verdicts.md).\n"


def units_section() -> Iterator[str]:
    """The closed list of units."""
    from sciagent.contracts import units

    yield "## Units\n"
    yield f"`{units.__name__}`. {prose(units)}\n"
    rows = ((f"`{code}`", units.SYMBOLS.get(code, code) or "(nothing)") for code in units.UNITS)
    yield from table(("code", "printed as"), rows)


def errors_section() -> Iterator[str]:
    """Errors by kind, and what can be done about each."""
    yield "## Errors by kind\n"
    yield (
        "Programs compare the `kind`, never the message. A kind that begins with another one and a "
        "dot is a special case of it. Fields of science may add special cases of their own.\n"
    )
    rows = [(f"`{each.kind}`", f"`{each.name}`", each.meaning, each.module) for each in errors()]
    other = "A defect of the code that ran; `details` holds the trace."
    rows.append(("`unexpected`", "any other exception", other, "sciagent.contracts.errors"))
    yield from table(("kind", "class", "meaning", "module"), rows)
    from sciagent.contracts.errors import ErrorRecord

    yield f"### ErrorRecord\n\n{prose(ErrorRecord)}\n"
    yield from members_of(ErrorRecord)


def errors() -> list[ErrorClass]:
    """Error classes by kind, read from the sources: nothing is imported for it."""
    waiting = list(classes())
    found: list[ErrorClass] = []
    fresh = [each for each in waiting if each[1].name == "SciagentError"]
    while fresh:
        for module, node in fresh:
            text = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
            found.append(ErrorClass(kind_of(node), node.name, text, module))
        known = {each.name for each in found}
        fresh = [
            (module, node)
            for module, node in waiting
            if node.name not in known and known & {ast.unparse(base) for base in node.bases}
        ]
    return sorted(each for each in found if each.kind)


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class of the package, apart from those of the fields, with its module."""
    for path in sorted((ROOT / "sciagent").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if not module.startswith(NOT_SEARCHED):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    yield module, node


def kind_of(node: ast.ClassDef) -> str:
    """The stable kind that an error class states; empty if it states none."""
    for line in node.body:
        target = line.targets[0] if isinstance(line, ast.Assign) else None
        target = line.target if isinstance(line, ast.AnnAssign) else target
        if isinstance(target, ast.Name) and target.id == "kind":
            value = getattr(line, "value", None)
            return str(value.value) if isinstance(value, ast.Constant) else ""
    return ""


def table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A table in Markdown; nothing if it has no rows."""
    lines = [f"| {' | '.join(cell.replace(chr(10), ' ') for cell in row)} |" for row in rows]
    if lines:
        yield f"| {' | '.join(headings)} |\n|{'---|' * len(headings)}"
        yield from lines
        yield ""


def main() -> int:
    wanted = page()
    if "--check" in sys.argv[1:]:
        current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if current != wanted:
            print(f"{PAGE.name} is not current: run python {Path(__file__).name}", file=sys.stderr)
        return int(current != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
