"""Questions of a public evaluation put to scripted models, and what came of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from sciagent.execution.sandbox import sandbox_mode
from sciagent.runs.configuration import Configuration
from sciagent.runs.evaluation import EvaluationSettings, EvaluationSummary, evaluate
from sciagent.runs.evaluation_agent import Limits
from sciagent.runs.surroundings import Surroundings
from sciagent.testing.model_server import (
    ModelServer,
    ScriptedAnswer,
    saying,
)
from sciagent.testing.pretended_code import PretendedCode
from sciagent.testing.pretended_literature import PretendedLiterature, page

FACT = "The lighthouse of Hollow Point was lit for the first time in 1871."
POINT = "https://a.org/point"
TOWNS = ("Alta", "Brem", "Cork")
ITEMS = tuple({"question": f"When was {town} founded?", "answer": "1871"} for town in TOWNS)
ROW_FIELDS = ["question", "answer", "messages", "prediction", "termination", "usage"]

needs_sandbox = pytest.mark.skipif(
    not sandbox_mode().is_confined, reason=f"no sandbox here: {sandbox_mode().remedy}"
)


def answer(text: str) -> ScriptedAnswer:
    return saying(f"I know. <answer>{text}</answer>")


def library() -> PretendedLiterature:
    return PretendedLiterature([page(POINT, FACT, "Hollow Point")])


def written(path: Path, items: Any = ITEMS) -> Path:
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items), encoding="utf-8")
    return path


class Asking:
    """Asks a data set of some towns of a scripted server, again and again."""

    def __init__(self, folder: Path) -> None:
        self.questions = written(folder / "towns.jsonl")
        self.out = folder / "results"

    @property
    def folder(self) -> Path:
        return self.out / "scripted" / "towns"

    def __call__(self, server: ModelServer, **given: Any) -> EvaluationSummary:
        around = {"literature": library(), "code": PretendedCode(), **given.pop("around", {})}
        if around["code"] is None:
            del around["code"]
        endpoint = server.endpoint.model_copy(update={"attempts": 1, **given.pop("endpoint", {})})
        limits = Limits(**given.pop("limits", {}))
        return evaluate(
            given.pop("questions", self.questions), self.out,
            EvaluationSettings(limits=limits, **given), Configuration(endpoint=endpoint),
            surroundings=Surroundings(**around),
        )  # fmt: skip

    def rows(self, iteration: int = 1) -> list[dict[str, Any]]:
        lines = (self.folder / f"iter{iteration}.jsonl").read_bytes().splitlines()
        return [json.loads(line) for line in lines]
