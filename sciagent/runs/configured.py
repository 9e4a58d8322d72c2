"""A question asked of an agent as it is configured, with what is asked for at the moment."""

from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from sciagent.runs.asking import AskSettings
from sciagent.runs.asking import ask as ask_with
from sciagent.runs.configuration import Asked, load_configuration
from sciagent.runs.given import Files
from sciagent.runs.opened import Run
from sciagent.runs.surroundings import Surroundings
from sciagent.tools.approval import ApprovalMode


def ask(  # noqa: PLR0913 - all that a question can be asked with, by keyword
    question: str,
    *,
    base_url: str | None = None,
    model: str | None = None,
    verification: bool | None = None,
    subagents: bool | None = None,
    approval: ApprovalMode | None = None,
    local_only: bool | None = None,
    report: Literal["answer", "deep"] = "answer",
    settings: Asked | None = None,
    inputs: Files | None = None,
    surroundings: Surroundings | None = None,
    out: str | Path = "artifacts",
) -> Run:
    """Let an agent answer a question, and leave a workspace with a verified report.

    What is not given holds as the configuration file and the environment say.

    Parameters
    ----------
    question
        In words.
    base_url, model
        Where the model answers, and its name there.
    verification
        Ask the model for reviews of itself.
    subagents
        Let it delegate.
    approval
        Before which tools a person is asked: ``ask``, ``auto-safe`` or ``auto``. Unless
        `surroundings` ask somebody, the answer is waited for in the run's inbox.
    local_only
        Refuse every connection but the one to the endpoint.
    report
        ``answer``, or ``deep``: a survey of the literature in chapters, every statement quoted.
    settings
        Further ones by their dotted names, such as ``agent.budget.tokens``.
    inputs
        Files for the agent, by a name for each.
    surroundings
        Ports, and who is asked and told.
    out
        Folder in which the workspace is made.

    Raises
    ------
    InputError
        If anything given cannot be used; no workspace is made then.
    EndpointError
        If the endpoint cannot be used; the run is resumable.
    """
    given: dict[str, JsonValue] = {
        "endpoint.base_url": base_url, "endpoint.model": model, "approval": approval,
        "agent.verification": verification, "agent.subagents": subagents, "local_only": local_only,
    }  # fmt: skip
    asked = {**(settings or {}), **{name: each for name, each in given.items() if each is not None}}
    wanted = ask_settings(question, asked).model_copy(update={"report": report})
    return ask_with(wanted, inputs=inputs, surroundings=surroundings, out=out)


def ask_settings(question: str, asked: Asked | None = None) -> AskSettings:
    """Put a question to what is configured, with some settings over it."""
    configuration = load_configuration(asked)
    return AskSettings.model_validate({**configuration.model_dump(), "question": question})
