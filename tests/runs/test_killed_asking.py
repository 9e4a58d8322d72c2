"""A question whose process is killed again and again comes to what an undisturbed one comes to."""

import json
from collections import Counter
from pathlib import Path

import sciagent
from sciagent.runs import ask
from sciagent.testing.model_server import Latency, ModelServer
from sciagent.testing.study_script import StudyScript
from tests.runs.asking import (
    QUESTION,
    apart,
    effects,
    journaled,
    settings,
    wait_until,
    workspace,
)

KILLED_AT = (4, 12, 40, 136)
"""Events after which the process is killed: before the first answer, within answers, and while
studies are opened, driven and reported."""


def executions(log: Path) -> Counter[str]:
    """How often each trial was executed."""
    return Counter(line.split()[0] for line in log.read_text().splitlines())


def finished_trials(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("trials/*/outcome.json")}


def test_a_question_killed_at_any_moment_resumes_to_the_same_report(tmp_path: Path) -> None:
    log = tmp_path / "executions.txt"
    log.touch()
    script = StudyScript(
        "toy/parabola", tolerance=1e-9,
        settings={"executions_log": str(log), "sleep_s": 0.01},
    )  # fmt: skip
    # Answers take a moment, so that the process is also killed while one is being written.
    with ModelServer(script, latency=Latency(rtt_s=0.02, decode_tokens_per_s=1000.0)) as server:
        quiet = ask(settings(server), out=tmp_path / "quiet")
        log.write_text("")
        out = tmp_path / "killed"
        begin = ("ask", QUESTION, "--base-url", server.base_url, "--model", "scripted",
                 "--approve", "auto", "--out", str(out), "--quiet", "--json")  # fmt: skip
        done: Counter[str] = Counter()
        for number in KILLED_AT:
            command = ("resume", str(workspace(out)), "--quiet") if out.exists() else begin
            process = apart(*command)
            wait_until(lambda number=number: journaled(out) >= number, process)  # type: ignore[misc]
            process.kill()
            process.communicate()
            assert all(executions(log)[trial] == done[trial] for trial in done)
            done = Counter({t: executions(log)[t] for t in finished_trials(workspace(out))})
        process = apart("resume", str(workspace(out)), "--json")
        said, told = process.communicate(timeout=60)
        assert process.returncode == 0, told
    result = json.loads(said)
    assert (result["status"], result["trials"], result["claims"]) == ("completed", 27, 1)
    folder = workspace(out)
    assert (folder / "report.md").read_text() == (quiet.path / "report.md").read_text()
    assert len(effects(folder)) == len(set(effects(folder)))
    assert all(executions(log)[trial] == done[trial] for trial in done)
    assert sciagent.verify(folder, rerun=True).reproduced == 1
