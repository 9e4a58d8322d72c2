"""A puzzle for agents: chains of pages from one centre, with decoys, conflicts and gaps.

Each arm of the star begins at a named body. A page tells the body's partner, whose page tells
the next one, and so on to a signal. Old lists name wrong partners, one arm ends in two surveys
that disagree, and in one arm a page is missing.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sciagent.testing.model_server import (
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    saying,
)
from sciagent.testing.model_server.script import text_of

CONFLICT = "conflict"
MISSING = "unknown"
_PARTNER = re.compile(r"The partner of (\S+) is (\S+)\.")
_SIGNAL = re.compile(r"The signal of (\S+) is (\d+) mK\.")
_SURVEY = re.compile(r"A later survey gives the signal of (\S+) as (\d+) mK\.")
_GONE = re.compile(r"There is no page 'https://star\.example/(\S+?)'")
_START = re.compile(r"\b[A-Z][a-z]+-\d+-0\b")
_FILLING = "The field was observed in several nights and the plates were measured again. "


def address(body: str) -> str:
    """Address of a body's page."""
    return f"https://star.example/{body}"


@dataclass(frozen=True)
class StarPuzzle:
    """One puzzle.

    Attributes
    ----------
    seed
        Everything follows from it.
    arms, hops
        Chains, and pages of each. The last arm has a missing page, the one before it a conflict.
    """

    seed: int = 0
    arms: int = 5
    hops: int = 5

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """The bodies that the arms begin with."""
        return tuple(self._body(arm, 0) for arm in range(self.arms))

    @cached_property
    def truth(self) -> dict[str, str]:
        """What is right for each start: a signal in mK, ``conflict`` or ``unknown``."""
        signals = [self._signal(arm) for arm in range(self.arms)]
        if self.arms > 1:
            signals[-2:] = [CONFLICT, MISSING]
        return dict(zip(self.starts, signals, strict=True))

    @cached_property
    def pages(self) -> dict[str, str]:
        """Text of each page by its address."""
        pages = {}
        for arm in range(self.arms):
            for hop in range(self.hops):
                missing = self.arms > 1 and arm == self.arms - 1 and hop == self.hops // 2
                if not missing:
                    pages[address(self._body(arm, hop))] = self._page(arm, hop)
        return pages

    @property
    def question(self) -> str:
        """What is asked."""
        return f"Follow the partners to the last one and give its signal: {', '.join(self.starts)}"

    def score(self, answer: str) -> float:
        """Share of the arms that an answer, a JSON object by start, has right."""
        given: dict[str, Any] = json.loads(answer)
        right = [start for start, answer in self.truth.items() if given.get(start) == answer]
        return len(right) / self.arms

    def _dice(self, arm: int, hop: int) -> random.Random:
        return random.Random(f"{self.seed} {arm} {hop}")

    def _body(self, arm: int, hop: int) -> str:
        dice = random.Random(f"{self.seed} {arm}")
        word = "".join(dice.choice("bdklmnrstv") + dice.choice("aeiou") for _ in range(3))
        return f"{word.capitalize()}-{arm}-{hop}"

    def _signal(self, arm: int) -> str:
        return str(self._dice(arm, self.hops).randrange(1000, 9999))

    def _page(self, arm: int, hop: int) -> str:
        body, dice = self._body(arm, hop), self._dice(arm, hop)
        decoy = self._body(dice.randrange(self.arms), dice.randrange(self.hops))
        lines = [_FILLING * dice.randrange(4, 10)]
        lines.append(f"An old list holds that the partner of {body} is {decoy}.")
        if hop < self.hops - 1:
            lines.append(f"The partner of {body} is {self._body(arm, hop + 1)}.")
        else:
            lines.append(f"The signal of {body} is {self._signal(arm)} mK.")
            if self.arms > 1 and arm == self.arms - 2:
                other = int(self._signal(arm)) + 7
                lines.append(f"A later survey gives the signal of {body} as {other} mK.")
        return "\n".join([*lines, _FILLING * dice.randrange(4, 10)])


@dataclass(frozen=True)
class Arm:
    """What a reader knows of one arm: the next body to read, or how it ended."""

    next_body: str = ""
    answer: str = ""
    quotes: tuple[tuple[str, str], ...] = ()


def follow(start: str, text: str) -> Arm:
    """Follow an arm as far as the pages read so far, `text`, tell."""
    partners, signals = dict(_PARTNER.findall(text)), dict(_SIGNAL.findall(text))
    surveys, gone = dict(_SURVEY.findall(text)), set(_GONE.findall(text))
    body, quotes = start, []
    while body in partners:
        quotes.append((address(body), f"The partner of {body} is {partners[body]}."))
        body = partners[body]
    if body in gone:
        return Arm(answer=MISSING, quotes=tuple(quotes))
    if body not in signals:
        return Arm(next_body=body, quotes=tuple(quotes))
    quotes.append((address(body), f"The signal of {body} is {signals[body]} mK."))
    if body in surveys:
        survey = f"A later survey gives the signal of {body} as {surveys[body]} mK."
        return Arm(answer=CONFLICT, quotes=(*quotes, (address(body), survey)))
    return Arm(answer=signals[body], quotes=tuple(quotes))


def pages_read(request: ScriptedRequest) -> str:
    """All that stands in the prompt."""
    return "\n".join(text_of(each) for each in request.messages)


def searching_alone(request: ScriptedRequest) -> ScriptedAnswer:
    """Follow one arm after the other, then answer with a JSON object."""
    starts, text = _START.findall(request.texts("user")[0]), pages_read(request)
    arms = {start: follow(start, text) for start in starts}
    reasoning = _review(arms) if request.verification else ""
    for arm in arms.values():
        if arm.next_body:
            call = ScriptedCall("read_page", {"url": address(arm.next_body)})
            return ScriptedAnswer(calls=(call,), reasoning=reasoning)
    return saying(json.dumps({start: arm.answer for start, arm in arms.items()}), reasoning)


def _review(arms: dict[str, Arm]) -> str:
    """A self-review as a model in verification mode writes it."""
    facts = [
        f'- {start} is followed ({url}: "{quote}")'
        for start, arm in arms.items()
        for url, quote in arm.quotes
    ]
    if not facts:
        return ""
    left = [start for start, arm in arms.items() if not arm.answer]
    gaps = [f"- {start}" for start in left] or ["none"]
    return "\n".join(["Confirmed facts:", *facts, "Open gaps:", *gaps])


def delegating(request: ScriptedRequest) -> ScriptedAnswer:
    """Give each arm to a subagent, or follow it if this is one."""
    if request.system.startswith("You are a subagent"):
        return searching_as_subagent(request)
    starts = _START.findall(request.texts("user")[0])
    results = request.results("spawn_subagent")
    if not results:
        tasks = [
            {
                "task": f"Follow the partners from {start} and give the last one's signal in mK.",
                "context": f"Pages are at {address('NAME')}.",
                "expected_output": f"The signal at the end of the arm of {start}.",
            }
            for start in starts
        ]
        return ScriptedAnswer(calls=(ScriptedCall("spawn_subagent", {"tasks": tasks}),))
    found = results_of(results[-1])
    answers = [_answer_of(result) for result in found]
    return saying(json.dumps(dict(zip(starts, answers, strict=True))))


def _answer_of(result: dict[str, Any]) -> str:
    if result["status"] == "ok":
        return str(result["answer"])
    return CONFLICT if result["status"] == "conflict" else MISSING


def results_of(text: str) -> list[dict[str, Any]]:
    """Read the results of a batch from the text of its tool message."""
    found: list[dict[str, Any]] = json.loads(text[text.index("[{") : text.rindex("}]") + 2])
    return found


def searching_as_subagent(request: ScriptedRequest) -> ScriptedAnswer:
    """Follow one arm and answer as subagents must."""
    start = _START.findall(request.texts("user")[0])[0]
    arm = follow(start, pages_read(request))
    if arm.next_body:
        return ScriptedAnswer(calls=(ScriptedCall("read_page", {"url": address(arm.next_body)}),))
    status = {CONFLICT: "conflict", MISSING: "unknown"}.get(arm.answer, "ok")
    answer = {"conflict": "Two surveys disagree.", "unknown": "UNKNOWN"}.get(status, arm.answer)
    return subagent_answer(answer, status, arm.quotes)


def subagent_answer(
    answer: str, status: str, quotes: Sequence[tuple[str, str]], claim: str = ""
) -> ScriptedAnswer:
    """Write the JSON object that a subagent answers with."""
    evidence = [{"url": url, "quote": quote, "claim": claim or quote} for url, quote in quotes]
    content = {
        "answer": answer, "status": status, "evidence": evidence, "unresolved_issues": [],
    }  # fmt: skip
    return saying(json.dumps(content))
