"""A star of chained pages, followed alone, by subagents, with reviews, and by liars.

The share of the ideal speed-up is the wall time that the run would take if nothing but the
simulated model took any (the main agent's calls, then the slowest subagent's), divided by the
wall time that it took.
"""

import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import delegating as delegating_of_peers
from benchmarks.peers.peer import DEEPAGENTS, Beside, Measured, RunningPeer, rows_beside
from benchmarks.table import Row, present, progress
from sciagent.agent.settings import AgentSettings
from sciagent.contracts.agent import Review, SubagentResult
from sciagent.contracts.events import DelegationReturned, EventBody, ReviewRecorded
from sciagent.testing.agents import ScriptedRun, library
from sciagent.testing.model_server import (
    Latency,
    ModelServer,
    Policy,
    RecordedRequest,
    ScriptedAnswer,
    ScriptedRequest,
)
from sciagent.testing.star_puzzle import (
    StarPuzzle,
    delegating,
    searching_alone,
    subagent_answer,
)

SUBAGENT = "You are a subagent"
LATENCY = Latency(rtt_s=0.05, prefill_tokens_per_s=20_000.0, decode_tokens_per_s=200.0)
Quotes = list[tuple[str, str]]


@dataclass(frozen=True)
class Finished:
    """A run that ended, with its main agent's events and what the server saw."""

    answer: str
    bodies: Sequence[EventBody]
    requests: Sequence[RecordedRequest]
    wall_s: float

    @property
    def results(self) -> list[SubagentResult]:
        """What subagents returned, after the harness checked it."""
        return [body.result for body in self.bodies if isinstance(body, DelegationReturned)]

    @property
    def reviews(self) -> list[Review]:
        """Reviews of the main agent."""
        return [body.review for body in self.bodies if isinstance(body, ReviewRecorded)]


def solve(
    puzzle: StarPuzzle, policy: Policy, settings: AgentSettings, latency: Latency | None = None
) -> Finished:
    """Let a scripted model solve a puzzle."""
    latency = latency or Latency()
    with tempfile.TemporaryDirectory() as folder, ModelServer(policy, latency=latency) as server:
        run = ScriptedRun(Path(folder) / "run", server, (library(puzzle.pages),), settings)
        started = time.monotonic()
        answer = run.ask(puzzle.question).answer
        return Finished(answer, run.bodies(), server.requests, time.monotonic() - started)


def is_subagents(request: RecordedRequest) -> bool:
    """Whether a subagent sent it."""
    return str(request.body["messages"][0]["content"]).startswith(SUBAGENT)


def speed(
    requests: Sequence[RecordedRequest],
    wall_s: float,
    of_subagent: Callable[[RecordedRequest], bool],
) -> tuple[float, float]:
    """Return the share of the ideal that the wall time is, and the speed-up over a serial run."""
    serial_s = sum(each.ended_s - each.started_s for each in requests)
    return ideal_wall_s(requests, of_subagent) / wall_s, serial_s / wall_s


def ideal_wall_s(
    requests: Sequence[RecordedRequest], of_subagent: Callable[[RecordedRequest], bool]
) -> float:
    """Wall time of the model's calls alone, with the subagents side by side."""
    taken: dict[str, float] = {}
    for request in requests:
        task = request.body["messages"][1]
        agent = str(task["content"]) if of_subagent(request) else ""
        taken[agent] = taken.get(agent, 0.0) + request.ended_s - request.started_s
    main = taken.pop("")
    return main + max(taken.values(), default=0.0)


def _changed_digit(quotes: Quotes) -> Quotes:
    url, quote = quotes[-1]
    place = max(place for place, letter in enumerate(quote) if letter.isdigit())
    changed = f"{quote[:place]}{(int(quote[place]) + 1) % 10}{quote[place + 1 :]}"
    return [*quotes[:-1], (url, changed)]


def _negated(quotes: Quotes) -> Quotes:
    url, quote = quotes[-1]
    return [*quotes[:-1], (url, re.sub(r"\b(is|gives)\b", r"\1 not", quote))]


def _of_another_page(quotes: Quotes) -> Quotes:
    return [*quotes[:-1], (quotes[0][0], quotes[-1][1])]


def _of_no_page(quotes: Quotes) -> Quotes:
    return [("https://star.example/invented", quotes[-1][1])]


def _of_a_tool(_quotes: Quotes) -> Quotes:
    return [("tool:read_page", "The signal of the last one is 1234 mK.")]


def _put_together(quotes: Quotes) -> Quotes:
    url, quote = quotes[-1]
    return [(url, f"{quote} This was confirmed.")]


def _nothing(_quotes: Quotes) -> Quotes:
    return []


def _too_short(quotes: Quotes) -> Quotes:
    return [(quotes[-1][0], "mK.")]


LIES: tuple[Callable[[Quotes], Quotes], ...] = (
    _changed_digit, _negated, _of_another_page, _of_no_page, _of_a_tool, _put_together,
    _nothing, _too_short,
)  # fmt: skip


def lying(lie: Callable[[Quotes], Quotes]) -> Policy:
    """Delegate; every subagent reads its arm and then answers wrongly, with false evidence."""

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if not request.system.startswith(SUBAGENT):
            return delegating(request)
        honest = delegating(request)
        if honest.calls:
            return honest
        content = json.loads(honest.content)
        quotes = [(each["url"], each["quote"]) for each in content["evidence"]]
        return subagent_answer("1234", "ok", lie(quotes) if quotes else [])

    return policy


def claiming_another_number(request: ScriptedRequest) -> ScriptedAnswer:
    """Delegate; every subagent quotes rightly, but claims another number of it."""
    honest = delegating(request)
    if honest.calls or not request.system.startswith(SUBAGENT):
        return honest
    content = json.loads(honest.content)
    quotes = [(each["url"], each["quote"]) for each in content["evidence"]]
    return subagent_answer("1234", "ok", quotes, claim="The signal is 1234 mK.")


def measure(quick: bool) -> list[Row]:
    """Measure all arms; the quick version takes fewer puzzles."""
    seeds = range(2 if quick else 8)
    settings = AgentSettings(subagents=True)
    rows = [*_speed(1 if quick else 3, settings)]
    for case, policy, of_arm in (
        ("single", searching_alone, AgentSettings()),
        ("5 subagents", delegating, settings),
        ("verification", searching_alone, AgentSettings(verification=True)),
    ):
        progress(f"{case}: {len(seeds)} puzzles")
        done = [(StarPuzzle(seed), solve(StarPuzzle(seed), policy, of_arm)) for seed in seeds]
        score = sum(puzzle.score(each.answer) for puzzle, each in done) / len(done)
        rows.append(Row(case, "correct_share", score, "1", "must be", 1.0))
        if case == "verification":
            facts = [len(review.confirmed) for _, each in done for review in each.reviews[-1:]]
            rows.append(Row(case, "confirmed_facts_per_puzzle", sum(facts) / len(done), "{count}"))
    return [*rows, *_poisoned(seeds, settings)]


def _speed(repeats: int, settings: AgentSettings) -> list[Row]:
    puzzle, case = StarPuzzle(seed=1, hops=6), "5 subagents"
    measured = []
    for repeat in range(repeats):
        progress(f"simulated latency, repeat {repeat + 1}")
        finished = solve(puzzle, delegating, settings, LATENCY)
        measured.append(speed(finished.requests, finished.wall_s, is_subagents))
    share, speed_up = map(statistics.median, zip(*measured, strict=True))
    shares, speed_ups = _peers(puzzle, repeats)
    return [
        *rows_beside(Row(case, "share_of_ideal", share, "1"), shares),
        *rows_beside(Row(case, "speed_up", speed_up, "1"), speed_ups),
    ]


def _peers(puzzle: StarPuzzle, repeats: int) -> tuple[list[Beside], list[Beside]]:
    measured: list[tuple[float, float]] = []

    def share_of_ideal(running: RunningPeer) -> Measured:
        for _ in range(repeats):
            requests, wall_s = delegating_of_peers.solve(running, puzzle, LATENCY)
            measured.append(speed(requests, wall_s, delegating_of_peers.is_subagents))
        return Measured(statistics.median(share for share, _ in measured))

    shares = DEEPAGENTS.beside(share_of_ideal, 0.76)
    speed_up = statistics.median(each for _, each in measured) if measured else 2.7
    return shares, [Beside(each.label, speed_up) for each in shares]


def _poisoned(seeds: Sequence[int], settings: AgentSettings) -> list[Row]:
    policies = [*map(lying, LIES), claiming_another_number]
    answers = accepted = 0
    for policy in policies:
        for seed in seeds:
            found = solve(StarPuzzle(seed), policy, settings).results
            answers += len(found)
            accepted += sum(result.status == "ok" for result in found)
    progress(f"poisoned: {answers} answers with {len(policies)} kinds of false evidence")
    return [
        Row("poisoned", "answers", answers, "{count}"),
        Row("poisoned", "accepted_as_ok", accepted, "{count}", "must be", 0.0),
    ]


def main() -> int:
    """Print the figures."""
    return present("agent_star_puzzle", measure)


if __name__ == "__main__":
    sys.exit(main())
