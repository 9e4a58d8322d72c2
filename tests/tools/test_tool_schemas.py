from typing import Annotated, Any, Literal

import pytest
from inline_snapshot import snapshot
from pydantic import Field

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in
from sciagent.tools.context import ToolContext
from sciagent.tools.standard import standard_toolbox, standard_tools
from sciagent.tools.tool import Tool, ToolOutput, tool

Pattern = Annotated[
    list[float], Field(min_length=2, json_schema_extra={"unit": "deg", "shape": "(n,)"})
]


@tool(read_only=True, approval="never")
def integrate(
    context: ToolContext,
    two_theta: Pattern,
    width: Annotated[float, measured_in("deg", gt=0.0)] = 0.1,
    method: Literal["sum", "fit"] = "sum",
) -> str:
    """Integrate a pattern.

    More about it.

    Parameters
    ----------
    two_theta
        Angles,
        rising.
    width : float
        Of one step.

    Returns
    -------
    str
        Never shown to a model.
    """
    return f"{sum(two_theta) * width:.2f} by {method}"


def test_the_schema_keeps_units_shapes_bounds_and_descriptions_of_the_signature() -> None:
    assert integrate.spec.description == "Integrate a pattern. More about it."
    assert integrate.spec.parameters == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "two_theta": {
                    "description": "Angles, rising.",
                    "items": {"type": "number"},
                    "minItems": 2,
                    "shape": "(n,)",
                    "type": "array",
                    "unit": "deg",
                },
                "width": {
                    "default": 0.1,
                    "description": "Of one step.",
                    "exclusiveMinimum": 0.0,
                    "type": "number",
                    "unit": "deg",
                },
                "method": {"default": "sum", "enum": ["sum", "fit"], "type": "string"},
            },
            "required": ["two_theta"],
            "type": "object",
        }
    )


class Sample(Contract):
    """A sample."""

    title: str = Field(description="A field named as a schema's keyword is.")
    mass: float = measured_in("g", ge=0.0)


@tool(read_only=False)
def weigh(context: ToolContext, sample: Sample) -> ToolOutput:
    """Weigh a sample."""
    return ToolOutput(f"{sample.title}: {sample.mass} g")


def test_a_function_of_many_arguments_takes_one_model_of_them(context: ToolContext) -> None:
    parameters: Any = weigh.spec.parameters
    assert parameters["required"] == ["title", "mass"]
    assert parameters["properties"]["mass"]["unit"] == "g"
    assert weigh.run(context, {"title": "salt", "mass": "2"}).text == "salt: 2.0 g"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"two_thetta": [1, 2]}, "Did you mean 'two_theta'?"),
        ({}, "integrate needs 'two_theta'."),
        ({"two_theta": [1, 2], "width": -1}, "'width' of integrate cannot be -1"),
        ({"two_theta": [1, "x"]}, "'two_theta.1' of integrate cannot be 'x'"),
        ({"two_theta": [1, 2], "method": "guess"}, "Input should be 'sum' or 'fit'"),
        ({"two_theta": [1]}, "It takes two_theta, [width], [method]."),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_wrong(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        integrate.check(arguments)
    assert message in str(caught.value)


def test_arguments_of_the_right_sense_and_the_wrong_type_are_taken(context: ToolContext) -> None:
    assert integrate.run(context, {"two_theta": ["1", 2], "width": "0.5"}).text == "1.50 by sum"


def test_every_standard_tool_describes_itself_and_each_of_its_arguments() -> None:
    silent = []
    for each in standard_tools():
        assert each.spec.description, each.name
        properties: Any = each.spec.parameters["properties"]
        silent += [f"{each.name}.{name}" for name, field in properties.items()
                   if "description" not in field]  # fmt: skip
    assert silent == []


def test_the_standard_tools_and_what_they_may_do_are_these() -> None:
    kinds = {
        each.name: (each.spec.read_only, each.spec.approval, each.origin)
        for each in standard_tools()
    }
    assert kinds == snapshot(
        {
            "list_questions": (True, "never", "workspace"),
            "inspect_question": (True, "never", "workspace"),
            "start_study": (False, "ask", "workspace"),
            "inspect_study": (True, "never", "workspace"),
            "propose_trial": (False, "never", "workspace"),
            "hand_back_study": (False, "never", "workspace"),
            "finish_study": (False, "never", "workspace"),
            "list_files": (True, "never", "workspace"),
            "read_file": (True, "never", "workspace"),
            "find_text": (True, "never", "workspace"),
            "write_file": (False, "ask", "workspace"),
            "view_image": (True, "never", "workspace"),
            "code": (False, "ask", "workspace"),
            "search": (True, "never", "outside"),
            "scholar": (True, "never", "outside"),
            "visit": (True, "never", "outside"),
            "outline": (True, "never", "outside"),
            "read_pages": (True, "never", "outside"),
            "find_in_document": (True, "never", "outside"),
            "record_claim": (False, "never", "own"),
            "record_statement": (False, "never", "own"),
            "drop_claim": (False, "never", "own"),
            "write_report": (False, "never", "own"),
            "record_citation": (False, "never", "own"),
            "record_inference": (False, "never", "own"),
            "take_note": (False, "never", "own"),
            "read_notes": (True, "never", "own"),
            "recall": (True, "never", "workspace"),
        }
    )


def test_the_schema_of_code_is_stable() -> None:
    (code,) = [each for each in standard_tools() if each.name == "code"]
    assert code.spec.parameters == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "code": {"description": "One cell of Python.", "type": "string"},
                "timeout_s": {
                    "default": 600.0,
                    "description": "It is ended after so many seconds.",
                    "exclusiveMinimum": 0.0,
                    "maximum": 86400.0,
                    "type": "number",
                    "unit": "s",
                },
            },
            "required": ["code"],
            "type": "object",
        }
    )


def test_all_standard_schemas_together_stay_small() -> None:
    characters = sum(len(each.spec.model_dump_json()) for each in standard_tools())
    assert characters / 4 < 3_800


def test_a_run_without_ports_is_not_offered_what_it_cannot_use() -> None:
    names = standard_toolbox(literature_port=False, code_port=False, studies_port=False).names
    assert not {"search", "visit", "scholar", "code", "propose_trial"} & set(names)
    assert {"list_questions", "read_file", "record_claim"} <= set(names)


def test_an_unknown_argument_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError):
        weigh.check({"titel": "salt", "mass": 1})


def test_a_tool_made_by_hand_runs_as_one_made_from_a_function(context: ToolContext) -> None:
    made = Tool(spec=weigh.spec, run=lambda _, arguments: ToolOutput(str(dict(arguments))))
    assert made.run(context, {"any": 1}).text == "{'any': 1}"
