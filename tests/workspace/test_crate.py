import json
from pathlib import Path
from typing import Any

import pytest
from rocrate.rocrate import ROCrate

from sciagent.contracts.errors import ErrorRecord
from sciagent.contracts.events import EffectFinished, EffectStarted, TrialFinished, TrialStarted
from sciagent.contracts.run import Environment
from sciagent.contracts.study import Outcome
from sciagent.workspace.activity import NOTEBOOK_TOOL
from sciagent.workspace.content import sha256_of_file
from sciagent.workspace.crate import PROFILE, write_crate
from sciagent.workspace.journal import JournalFile, load_events
from sciagent.workspace.layout import Layout
from sciagent.workspace.seal import check_seal, seal
from tests.workspace.samples import decided, finished_workspace, proposed

ENVIRONMENT = Environment(
    sciagent="0.1.0", python="3.11", platform="Linux", cpu_count=1, packages={"numpy": "2.0"},
    code_sha256="0" * 64, threads=1, seed=0, sandbox="unsandboxed",
)  # fmt: skip


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = finished_workspace(tmp_path)
    (layout / "notebook.ipynb").write_text("{}")
    (layout / "figures").mkdir()
    (layout / "figures/with space & å.png").write_bytes(b"png")
    (layout / "environment.json").write_text(ENVIRONMENT.model_dump_json())
    failed = Outcome(status="failed", error=ErrorRecord(kind="convergence", message="It diverged."))
    arguments: dict[str, Any] = {"notebook": "notebook.ipynb", "output": "report.md"}
    with JournalFile.open(layout.journal) as journal:
        journal.append_many(
            [
                *(proposed(3, 1), TrialStarted(trial=3), TrialStarted(trial=3)),
                *(TrialFinished(trial=3, outcome=failed), decided(3, "rejected")),
                *(proposed(4, 1), decided(4, "superseded")),
            ],
            study="main",
        )
        journal.append(
            EffectStarted(effect="n", tool=NOTEBOOK_TOOL, read_only=True, arguments=arguments)
        )
        journal.append(EffectFinished(effect="n", status="ok"))
    return layout


def entities(layout: Layout) -> dict[str, dict[str, Any]]:
    metadata = json.loads((layout / "ro-crate-metadata.json").read_text())
    return {entity["@id"]: entity for entity in metadata["@graph"]}


def ids(references: Any) -> list[str]:
    return [each["@id"] for each in references]


def test_each_trial_that_ran_and_each_notebook_is_one_action(layout: Layout) -> None:
    write_crate(layout.root)
    graph = entities(layout)
    actions = ids(graph["./"]["mentions"])
    assert actions == ["#trial-0001", "#trial-0002", "#trial-0003", "#notebook-0001"]
    assert all(graph[each]["@type"] == "CreateAction" for each in actions)
    assert graph["#notebook-0001"]["instrument"] == {"@id": "notebook.ipynb"}
    assert ids(graph["#notebook-0001"]["result"]) == ["report.md"]


def test_an_action_says_when_by_what_and_by_whom_what_was_made_from_what(layout: Layout) -> None:
    write_crate(layout.root)
    graph = entities(layout)
    second = graph["#trial-0002"]
    assert ids(second["object"]) == ["data/pattern/pattern.xye", "trials/0001/outcome.json"]
    assert ids(second["result"]) == ["trials/0002/fit.csv", "trials/0002/outcome.json"]
    assert graph[second["instrument"]["@id"]]["softwareVersion"] == "0.1.0"
    assert graph[second["agent"]["@id"]]["name"] == "Built-in policy of toy/line"
    times = {
        event.kind: event.time
        for event in load_events(layout.journal)
        if getattr(event.body, "trial", None) == 2
    }
    assert second["startTime"] == times["trial_started"]
    assert second["endTime"] == times["trial_finished"]


def test_every_file_carries_the_hash_of_its_content(layout: Layout) -> None:
    write_crate(layout.root)
    files = [each for each in entities(layout).values() if "sha256" in each]
    names = {each["name"] for each in files}
    assert {"figures/with space & å.png", "trials/0002/fit.csv", "report.md"} <= names
    for each in files:
        assert each["sha256"] == sha256_of_file(layout / each["name"])
        assert each["contentSize"] == str((layout / each["name"]).stat().st_size)


def test_a_failed_trial_says_why(layout: Layout) -> None:
    write_crate(layout.root)
    action = entities(layout)["#trial-0003"]
    assert action["actionStatus"].endswith("FailedActionStatus")
    assert action["error"] == "It diverged."


def test_a_trial_that_is_still_running_has_a_start_and_no_end(layout: Layout) -> None:
    with JournalFile.open(layout.journal) as journal:
        journal.append_many([proposed(5, 1), TrialStarted(trial=5)], study="main")
    write_crate(layout.root)
    action = entities(layout)["#trial-0005"]
    assert "startTime" in action
    assert "endTime" not in action


def test_the_crate_is_the_same_whenever_it_is_written_and_changes_no_other_file(
    layout: Layout,
) -> None:
    before = {path: path.read_bytes() for path in layout.root.rglob("*") if path.is_file()}
    first = write_crate(layout.root).read_bytes()
    assert write_crate(layout.root).read_bytes() == first
    after = {path: path.read_bytes() for path in layout.root.rglob("*") if path.is_file()}
    assert after == before | {layout / "ro-crate-metadata.json": first}


def test_the_crate_is_sealed_like_any_other_file(layout: Layout) -> None:
    write_crate(layout.root)
    with JournalFile.open(layout.journal) as journal:
        seal(journal, layout.root, "completed")
    assert check_seal(layout.root) == []
    first = (layout / "ro-crate-metadata.json").read_bytes()
    write_crate(layout.root)
    assert (layout / "ro-crate-metadata.json").read_bytes() == first


def test_other_programs_can_read_the_crate(layout: Layout) -> None:
    write_crate(layout.root)
    crate = ROCrate(layout.root)
    assert crate.root_dataset["conformsTo"].id == PROFILE
    assert crate.root_dataset["license"].type == "CreativeWork"
    assert crate.get("#trial-0001")["result"][0]["encodingFormat"] == "text/csv"
    # Every reference leads somewhere: no identifier was spelled in two ways.
    graph = entities(layout)
    for entity in graph.values():
        for value in entity.values():
            for reference in value if isinstance(value, list) else [value]:
                if isinstance(reference, dict):
                    assert reference["@id"] in graph or reference["@id"].startswith("https://")
