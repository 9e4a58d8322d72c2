"""A scripted model that lets the built-in policy answer a question, and reports the result.

It needs no field of its own: what it must know it reads from the results of its calls, as a model
would. A call whose end nobody saw is looked into and made again, one that is refused twice is
given up.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sciagent.contracts.units import SYMBOLS
from sciagent.testing.model_server.script import (
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    saying,
)
from sciagent.tools.boundary import FencedResult, results_in

_OBJECTIVE = re.compile(r"^Study \S+: (?:minimise|maximise) (\S+) in (.+)\.$", re.MULTILINE)
_BEST = re.compile(r"Its result is trial (\d+)\.")
_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class StudyScript:
    """Opens a study, hands it to the built-in policy, claims its objective and writes a report.

    Attributes
    ----------
    question
        ``domain/question`` to study.
    dataset, settings
        Of the study.
    tolerance
        By how much the objective may differ when it is computed again, in its unit.
    trials
        Trials that the built-in policy may use; none for as many as it likes.
    """

    question: str
    dataset: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.01
    trials: int = 0

    def __call__(self, request: ScriptedRequest) -> ScriptedAnswer:
        """Do the next thing that the conversation calls for."""
        if not request.tools:
            return saying("I was asked to close before I was done.")
        for step in (self._open, self._hand_over, self._finish, self._claim, self._report):
            answer = step(request)
            if answer is not None:
                return answer
        name, _ = _objective(request)
        return saying(f"Trial {_best(request)} is the best; the report states its {name}.")

    def _open(self, request: ScriptedRequest) -> ScriptedAnswer | None:
        if _objective(request)[0]:
            return None
        last, looked = _last(request, "start_study"), _last(request, "inspect_study")
        seen = len(request.results("inspect_study"))
        if last is not None and last.label.status == "interrupted" and not seen:
            return calling("inspect_study")
        again = last is None or (looked is not None and last.label.status == "interrupted")
        if not again and len(request.results("start_study")) >= _ATTEMPTS:
            return saying(f"I could not begin: {last.text if last else ''}")
        return calling(
            "start_study", question=self.question, dataset=self.dataset,
            settings=dict(self.settings),
        )  # fmt: skip

    def _hand_over(self, request: ScriptedRequest) -> ScriptedAnswer | None:
        return _made(request, "hand_back_study", trials=self.trials)

    def _finish(self, request: ScriptedRequest) -> ScriptedAnswer | None:
        if _best(request):
            return None
        return _made(request, "finish_study", reason="The built-in policy has nothing more to try.")

    def _claim(self, request: ScriptedRequest) -> ScriptedAnswer | None:
        name, unit = _objective(request)
        return _made(
            request, "record_claim", id=f"best.{name.lower()}", subject="best trial",
            quantity=name, path=f"trials/{int(_best(request) or 0):04d}/outcome.json",
            pointer=f"/metrics/{name}/value", unit=unit, decimals=2, tolerance=self.tolerance,
        )  # fmt: skip

    def _report(self, request: ScriptedRequest) -> ScriptedAnswer | None:
        name, _ = _objective(request)
        token = f"{{{{claim:best.{name.lower()}}}}}"
        return _made(
            request, "write_report", title="What the agent found",
            source=f"The built-in policy was handed the study. Its best trial reaches {token}.\n",
        )  # fmt: skip


def _made(request: ScriptedRequest, tool: str, **arguments: Any) -> ScriptedAnswer | None:
    """Call a tool unless it was called with success, or in vain as often as is sensible."""
    last = _last(request, tool)
    if last is not None and last.label.status == "ok":
        return None
    results = [_fenced(text) for text in request.results(tool)]
    in_vain = [each for each in results if each and each.label.status in {"failed", "refused"}]
    if len(in_vain) >= _ATTEMPTS:
        return saying(f"I could not use {tool}: {in_vain[-1].text}")
    return calling(tool, **arguments)


def _last(request: ScriptedRequest, tool: str) -> FencedResult | None:
    texts = request.results(tool)
    return _fenced(texts[-1]) if texts else None


def _fenced(text: str) -> FencedResult | None:
    return next(results_in(text), None)


def _objective(request: ScriptedRequest) -> tuple[str, str]:
    """Name and unit of the objective, from what the tools said of the study; empty if nothing."""
    for text in request.texts("tool"):
        if found := _OBJECTIVE.search(text):
            symbol = found[2]
            codes = [code for code, spelled in SYMBOLS.items() if spelled == symbol]
            return found[1], "1" if symbol == "no unit" else (codes or [symbol])[0]
    return ("", "")


def _best(request: ScriptedRequest) -> str:
    """Number of the best trial, once the study has ended."""
    for text in request.results("finish_study"):
        if found := _BEST.search(text):
            return found[1]
    return ""
