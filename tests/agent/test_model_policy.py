"""A scripted model drives the toy study: the same tree as the built-in policy's."""

import itertools
import json
import random
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sciagent.agent.model_policy import ModelPolicy
from sciagent.agent.settings import AgentSettings
from sciagent.agent.team import Team
from sciagent.contracts.agent import AgentBudget
from sciagent.contracts.events import Noted
from sciagent.contracts.ports import Journal
from sciagent.contracts.study import Budget
from sciagent.llm.client import EndpointModel
from sciagent.testing.model_server import (
    ModelServer,
    Policy,
    ScriptedAnswer,
    ScriptedRequest,
    saying,
)
from sciagent.testing.studies import ToyStudy, bowl
from sciagent.testing.toy import Bowl, Walker
from sciagent.tools.context import ToolContext
from sciagent.tools.toolbox import Toolbox
from sciagent.workspace.journal import JournalFile

STEPS = ("east", "west", "north", "south")
Told = dict[str, Any]


def told(request: ScriptedRequest) -> Told:
    text = request.texts("user")[0]
    found: Told = json.loads(text[text.index("{") :])
    return found


def heights(content: Told) -> dict[int, float]:
    return {
        trial["trial"]: float(trial["metrics"]["height"].split()[0])
        for trial in content["trials"]
        if "metrics" in trial
    }


def climbing(request: ScriptedRequest) -> ScriptedAnswer:
    """From the lowest point, go on in the direction that led there, else in another."""
    content = told(request)
    height = heights(content)
    trials = {each["trial"]: each for each in content["trials"]}
    accepted = [number for number, each in trials.items() if each["decision"] == "accepted"]
    if not accepted:
        return proposing(None, "start")
    lowest = min(accepted, key=lambda number: height[number])
    tried = [each["action"] for each in trials.values() if each["parent"] == lowest]
    order = sorted(STEPS, key=lambda name: name != trials[lowest]["action"])
    left = [name for name in order if name not in tried]
    return proposing(lowest, left[0], step_um=1.0) if left else ending("finish")


def proposing(parent: int | None, action: str, **arguments: Any) -> ScriptedAnswer:
    return saying(json.dumps({"parent": parent, "action": action, "arguments": arguments}))


def ending(word: str) -> ScriptedAnswer:
    return saying(json.dumps({word: "Because."}))


class PolicyOverJournal:
    """Makes the model policy once the study has opened its journal."""

    def __init__(self, study: "ModelStudy", bowl: Bowl) -> None:
        self._study, self._bowl = study, bowl

    def propose(self, view: Any) -> Any:
        with JournalFile.open(self._study.folder / "policy.jsonl") as journal:
            return self._study.policy_over(journal, self._bowl).propose(view)


class ModelStudy:
    """A toy study whose policy is a scripted model."""

    def __init__(self, folder: Path, server: ModelServer, trials: int) -> None:
        self.folder, self.server = folder, server
        self.model = EndpointModel(server.endpoint, pause=lambda _: None)
        self.settings = AgentSettings()
        self.folder.mkdir()
        JournalFile.create(folder / "policy.jsonl").close()
        self.study = ToyStudy(
            folder / "study", {}, budget=Budget(trials=trials),
            policy=lambda problem: PolicyOverJournal(self, problem),  # type: ignore[arg-type]
        )  # fmt: skip

    def policy_over(self, journal: Journal, bowl: Bowl) -> ModelPolicy:
        team = Team(
            self.model, Toolbox(()), ToolContext(root=self.folder, journal=journal),
            self.settings,
        )  # fmt: skip
        return ModelPolicy(bowl, Walker(bowl), team)

    def actions(self) -> list[str]:
        return [trial.proposal.action.name for trial in self.study.tree.shown]

    def notes(self) -> list[str]:
        with JournalFile.open(self.folder / "policy.jsonl") as journal:
            return [event.body.text for event in journal.events() if isinstance(event.body, Noted)]

    @property
    def best_um(self) -> float:
        tree = self.study.tree
        assert tree.best is not None
        return tree.trial(tree.best).metric("height")


Studied = Callable[..., ModelStudy]


@pytest.fixture
def studied(tmp_path: Path) -> Any:
    numbers = itertools.count()
    with ExitStack() as stack:

        def make(policy: Policy, *, trials: int = 25, tokens: int | None = None) -> ModelStudy:
            server = stack.enter_context(ModelServer(policy))
            study = ModelStudy(tmp_path / f"model-{next(numbers)}", server, trials)
            study.settings = AgentSettings(budget=AgentBudget(tokens=tokens))
            stack.callback(study.model.close)
            return study

        yield make


def test_a_model_drives_the_tree_to_the_lowest_point(studied: Studied) -> None:
    study = studied(climbing)
    conclusion = study.study.run()
    assert conclusion.status == "completed"
    assert study.best_um == pytest.approx(0.0)
    assert study.notes() == []


def test_the_model_sees_no_selection_value(studied: Studied) -> None:
    study = studied(climbing)
    study.study.run()
    for request in study.server.requests:
        assert "held_out" not in json.dumps(request.body["messages"])


def permuting(seed: int) -> Policy:
    """Climb as ever, but with the heights shuffled among the trials."""
    dice = random.Random(seed)

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        text = request.texts("user")[0]
        found = re.findall(r'"height": "([^"]+)"', text)
        dice.shuffle(found)
        shuffled = iter(found)
        text = re.sub(r'"height": "[^"]+"', lambda _: f'"height": "{next(shuffled)}"', text)
        return climbing(ScriptedRequest(({"role": "user", "content": text},)))

    return policy


def test_a_model_does_worse_when_its_feedback_is_permuted(studied: Studied) -> None:
    honest = studied(climbing, trials=9)
    misled = [studied(permuting(seed), trials=9) for seed in range(3)]
    for study in (honest, *misled):
        study.study.run()
    assert honest.best_um == pytest.approx(0.0)
    assert sum(study.best_um for study in misled) / len(misled) > 1.0


def test_a_proposal_that_breaks_the_schema_is_corrected(studied: Studied) -> None:
    def clumsy(request: ScriptedRequest) -> ScriptedAnswer:
        content = told(request)
        if content["head"] is None:
            return proposing(None, "start")
        if len(request.messages) == 2:
            return proposing(content["head"], "east", step_um="far")
        if len(request.messages) == 4:
            assert "step_um" in request.last
            return proposing(content["head"], "eastt", step_um=1.0)
        if len(request.messages) == 6:
            assert "'east'" in request.last
            return proposing(99, "east", step_um=1.0)
        assert "99" in request.last
        return ending("finish") if len(content["trials"]) > 1 else proposing(1, "east", step_um=1.0)

    study = studied(clumsy)
    study.study.run()
    assert study.actions() == ["start", "east"]
    assert study.notes() == []


def test_a_model_that_cannot_propose_is_replaced_by_the_built_in_policy(studied: Studied) -> None:
    study = studied(lambda _: saying("I would rather talk about the weather."))
    conclusion = study.study.run()
    assert conclusion.status in {"completed", "limit"}
    assert study.actions()[0] == "start"
    assert "built-in policy proposes" in study.notes()[0]


def test_a_model_hands_the_tree_back(studied: Studied) -> None:
    def tired(request: ScriptedRequest) -> ScriptedAnswer:
        content = told(request)
        if len(content["trials"]) >= 2:
            return ending("hand_back")
        return climbing(request)

    study = studied(tired)
    study.study.run()
    assert study.best_um < 0.2
    assert len(study.server.requests) == 3
    assert len(study.notes()) == 1


def test_a_model_whose_tokens_are_used_up_is_replaced(studied: Studied) -> None:
    study = studied(climbing, tokens=1500)
    study.study.run()
    assert study.best_um < 0.2
    assert 1 <= len(study.server.requests) <= 3
    assert "1500 tokens" in study.notes()[0]


def test_a_model_may_abstain(studied: Studied) -> None:
    def doubting(request: ScriptedRequest) -> ScriptedAnswer:
        return ending("abstain") if told(request)["trials"] else proposing(None, "start")

    assert studied(doubting).study.run().status == "abstained"


def test_a_proposal_that_was_answered_before_a_crash_is_not_asked_for_again(
    studied: Studied, tmp_path: Path
) -> None:
    study = studied(climbing)
    views: list[Any] = []

    class Watching:
        def propose(self, view: Any) -> Any:
            views.append(view)
            raise KeyboardInterrupt

    object.__setattr__(study.study, "policy", lambda _: Watching())
    with pytest.raises(KeyboardInterrupt):
        study.study.run()
    answers = []
    for _ in range(2):
        with JournalFile.open(study.folder / "policy.jsonl") as journal:
            answers.append(study.policy_over(journal, bowl()).propose(views[0]))
    assert answers[0] == answers[1]
    assert len(study.server.requests) == 1
