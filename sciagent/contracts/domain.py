"""What a field of science declares about itself: the only thing other layers read of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from sciagent.contracts.claim import ReportRequest
from sciagent.contracts.model import Contract
from sciagent.contracts.ports import Policy, Problem
from sciagent.contracts.tree import StudyView

Inputs = Mapping[str, Sequence[Path]]
"""Files by the name of the input; an input that takes one file has one."""


class InputSpec(Contract):
    """A file that a question takes."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    summary: str
    required: bool = True
    many: bool = False
    suffixes: tuple[str, ...] = Field(default=(), description="Usual endings, for recognition.")


@dataclass(frozen=True, slots=True)
class Question:
    """A question that a domain can study.

    Attributes
    ----------
    name, title, summary
        How it is called and what it answers.
    inputs
        Files it takes.
    settings
        Model of its settings, with units in the schema and a default for each.
    build
        ``(inputs, settings) -> Problem``. Reads and judges the inputs; raises `InputError`.
    policy
        ``(problem) -> Policy``: the built-in policy, which needs no model and keeps no state.
    report
        ``(view, problem, directory) -> ReportRequest`` for a concluded study; `directory` is the
        workspace, to read the trials' files from.
    drawings
        Drawing functions by name: ``(paths of the data) -> matplotlib Figure``.
    packages
        Distributions that compute, for `environment.json`.
    """

    name: str
    title: str
    summary: str
    inputs: tuple[InputSpec, ...]
    settings: type[BaseModel]
    build: Callable[[Inputs, Any], Problem]
    policy: Callable[[Problem], Policy]
    report: Callable[[StudyView, Problem, Path], ReportRequest]
    drawings: Mapping[str, Callable[[Sequence[Path]], Any]] = field(default_factory=dict)
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Domain:
    """A field of science: its name, what it is about, its questions and its guide."""

    name: str
    title: str
    summary: str
    extra: str
    questions: tuple[Question, ...]
    guide: Path
    simulate: Callable[[Path, int], Inputs] | None = None
