"""Reads 20, 60 and 200 pages of 8 kB with planted facts: prompt tokens, recall and cached share.

The scripted reader sees only the messages it is sent: it writes down what it reads when the
agent asks for that, and in the end repeats the facts that stand in its prompt. Peers that are
installed read the same pages, those of the longest corpus excepted.
"""

import random
import re
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.peers import reading
from benchmarks.peers.peer import DEEPAGENTS, RESEARCH_HARNESS, Beside, rows_beside
from benchmarks.table import Row, present, progress
from sciagent.testing.agents import ScriptedRun, library
from sciagent.testing.model_server import (
    ModelServer,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    calling,
    saying,
)
from sciagent.testing.model_server.script import text_of
from sciagent.tools.history import recall
from sciagent.tools.notes import NOTE_TOOLS

PAGE_CHARACTERS = 8192
WINDOWS = {"": None, ", 32k window": 32_768}
QUOTED = {
    "20 deepagents, 32k window": 320_835.0,
    "20 deepagents": 493_493.0,
    "20 ResearchHarness": 391_794.0,
    "60 deepagents, 32k window": 1_087_461.0,
    "60 deepagents": 3_971_613.0,
    "60 ResearchHarness": 776_832.0,
}
LIMITS = {20: 160_000, 60: 388_000}
FACT = re.compile(r"The marker of sample (\d+) is (\w{8})\.")
WORDS = (
    "the of and lattice sample beam peak shift order phase annealed measured at with under".split()
)


def page(number: int) -> str:
    """Make a page of filling words with one planted fact at a random place."""
    dice = random.Random(number)
    words: list[str] = []
    length = len(fact(number))
    while length < PAGE_CHARACTERS:
        words.append(dice.choice(WORDS))
        length += len(words[-1]) + 1
    words.insert(dice.randrange(len(words)), fact(number))
    return " ".join(words)


def fact(number: int) -> str:
    """The fact that page `number` holds."""
    marker = "".join(random.Random(f"fact {number}").choices("abcdefghijkmnpqrstuvwxyz", k=8))
    return f"The marker of sample {number} is {marker}."


def address(number: int) -> str:
    """Address of a page."""
    return f"https://corpus.example/{number}"


class Reader:
    """Reads page after page; which one is next it tells from its prompt alone."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __call__(self, request: ScriptedRequest) -> ScriptedAnswer:
        """Answer as the reader does."""
        facts = dict(FACT.findall("\n".join(text_of(each) for each in request.messages)))
        if len(facts) >= self._count:
            return saying("\n".join(f"{number}: {marker}" for number, marker in facts.items()))
        read = ScriptedCall("read_page", {"url": address(len(facts))})
        if "Verification point" not in request.last:
            return calling("read_page", url=address(len(facts)))
        confirmed = [
            {"claim": f"Sample {each[1]}", "url": address(int(each[1])), "quote": each[0]}
            for each in FACT.finditer("\n".join(request.results("read_page")))
        ]
        return ScriptedAnswer(calls=(ScriptedCall("record_review", {"confirmed": confirmed}), read))


def measure_corpus(count: int) -> list[Row]:
    """Read so many pages and return the rows."""
    pages = {address(number): page(number) for number in range(count)}
    with tempfile.TemporaryDirectory() as folder, ModelServer(Reader(count)) as server:
        run = ScriptedRun(Path(folder) / "run", server, (library(pages), *NOTE_TOOLS, recall))
        outcome = run.ask("Which markers do the samples have?")
        usage = server.usage
    found = set(re.findall(r"(\d+): (\w{8})", outcome.answer))
    planted = {FACT.findall(fact(number))[0] for number in range(count)}
    case = f"{count} reads"
    progress(f"{case}: {usage.calls} calls, limit {LIMITS.get(count, 'none')}")
    read = Row(case, "prompt_tokens", usage.prompt_tokens, "{token}")
    return [
        *rows_beside(read, _peers(count, pages), lower_is_better=True),
        Row(case, "recall", len(found & planted) / count, "1", "must be", 1.0),
        Row(case, "prefix_cache_share", usage.cached_tokens / usage.prompt_tokens, "1"),
    ]


def _peers(count: int, pages: dict[str, str]) -> list[Beside]:
    """Measure or quote the peers, each with the window it assumes and with one of 32k."""
    if count not in LIMITS:
        return []
    facts = [fact(number) for number in range(count)]
    found = []
    for peer, (note, window) in product((DEEPAGENTS, RESEARCH_HARNESS), WINDOWS.items()):
        measured = partial(reading.prompt_tokens, pages=pages, facts=facts, window_tokens=window)
        found += peer.beside(measured, QUOTED.get(f"{count} {peer.title}{note}"), note)
    return found


def measure(quick: bool) -> Sequence[Row]:
    """Measure all lengths; the quick version leaves the longest out."""
    return [
        row for count in ((20, 60) if quick else (20, 60, 200)) for row in measure_corpus(count)
    ]


def main() -> int:
    """Print the figures."""
    return present("agent_long_corpus", measure)


if __name__ == "__main__":
    sys.exit(main())
