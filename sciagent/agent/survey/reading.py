"""Answers of models read as contracts, with what is wrong said in a sentence for the model."""

from typing import TypeVar

from pydantic import ValidationError

from sciagent.agent.answers import json_object
from sciagent.contracts.model import Contract

Read = TypeVar("Read", bound=Contract)


def read_answer(contract: type[Read], text: str) -> Read | str:
    """Read a JSON object from an answer, however it is wrapped.

    Parameters
    ----------
    contract
        What it must be.
    text
        The answer.

    Returns
    -------
    Contract or str
        What it holds, or what is wrong with it.
    """
    content = json_object(text)
    if content is None:
        return "Your answer holds no JSON object. Give the JSON object that was asked for, only."
    known = {name: value for name, value in content.items() if name in contract.model_fields}
    try:
        return contract.model_validate(known)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"In your JSON object, `{place}` cannot be used: {first['msg']}. Give it again."
