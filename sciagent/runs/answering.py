"""From an agent's answer to a sealed run with a report."""

from pathlib import Path
from typing import Any

from sciagent.contracts.agent import AgentOutcome
from sciagent.contracts.claim import ReportRequest
from sciagent.contracts.domain import Inputs, Question
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.errors import InputError
from sciagent.contracts.model import Contract
from sciagent.contracts.ports import Policy, Problem
from sciagent.contracts.run import RunStatus
from sciagent.contracts.tree import StudyView
from sciagent.domains.registry import questions
from sciagent.execution.record import executed_cells
from sciagent.execution.sandbox import sandbox_mode
from sciagent.runs.environment import describe_environment
from sciagent.runs.finishing import publish, write_environment
from sciagent.runs.ownership import Owned
from sciagent.tools.report_draft import read_draft
from sciagent.workspace.record import write_study_file
from sciagent.workspace.seal import is_sealed

_TITLE_LENGTH = 100


class _NoSettings(Contract):
    """An asked question has its settings in the request of the run."""


def _refused(*_: Any) -> Any:
    raise InputError("What an agent answers is no study of a field.", "Resume the run instead.")


def _build(_inputs: Inputs, _settings: Any) -> Problem:
    problem: Problem = _refused()
    return problem


def _policy(_problem: Problem) -> Policy:
    policy: Policy = _refused()
    return policy


def _report(_view: StudyView, _problem: Problem, _directory: Path) -> ReportRequest:
    report: ReportRequest = _refused()
    return report


def asked_question(name: str, title: str, summary: str) -> Question:
    """Describe a run that no field of science studies, where its report names a question."""
    return Question(
        name=name, title=title, summary=summary, inputs=(), settings=_NoSettings, build=_build,
        policy=_policy, report=_report,
    )  # fmt: skip


ASKED = asked_question("ask", "A question to an agent", "Answered by an agent with tools.")
"""How an asked run is described where a study's run names its question."""


def publish_answer(mine: Owned, question: str, endpoint: Endpoint, outcome: AgentOutcome) -> None:
    """Write the report of an asked run, verify it, and seal the run."""
    if is_sealed(mine.layout.root):
        return
    known = questions()
    studied = [tree.question for tree in mine.builder.studies.values() if tree.question in known]
    code = sandbox_mode() if executed_cells(mine.layout.root) else None
    environment = describe_environment(mine.request, studied, endpoint, code)
    write_environment(mine.layout, environment)
    write_study_file(mine.layout.root, mine.builder)
    wanted = with_answer(read_draft(mine.layout.root), question, outcome)
    publish(mine.layout, ASKED, wanted, environment, mine.journal, _status(outcome))


def with_answer(draft: ReportRequest, question: str, outcome: AgentOutcome) -> ReportRequest:
    """Put the agent's words under its report, marked as what no machine has checked.

    They stand as literal text: a number in them is not a claim of the report.
    """
    title = draft.title or question.strip().splitlines()[0][:_TITLE_LENGTH]
    parts = [draft.source.rstrip() or _recorded(draft)]
    if outcome.reason:
        parts.append("The agent did not come to its own end. The reason was:")
        parts.append(literal(outcome.reason))
    parts.append("## The agent's answer, not machine-checked")
    parts.append(literal(outcome.answer))
    return draft.model_copy(update={"title": title, "source": "\n\n".join(parts) + "\n"})


def _recorded(draft: ReportRequest) -> str:
    """What stands in place of a report that the agent did not write."""
    said = (*draft.statements, *draft.citations, *draft.inferences)
    if not draft.numbers and not said:
        return "The agent recorded no claims, so that nothing here is verified."
    lines = [f"- {{{{claim:{each.id}|label}}}}: {{{{claim:{each.id}}}}}" for each in draft.numbers]
    lines += [f"- {{{{claim:{each.id}}}}}" for each in said]
    return "\n".join(["The agent wrote no report. It recorded:", "", *lines])


def literal(text: str) -> str:
    """A text that stands in a report as it is: a number in it is no claim."""
    fence = "`" * (_longest_run(text) + 3)
    return f"{fence}text\n{text.replace('{{', '{ {').strip()}\n{fence}"


def _longest_run(text: str, character: str = "`") -> int:
    longest = run = 0
    for each in text:
        run = run + 1 if each == character else 0
        longest = max(longest, run)
    return longest


def _status(outcome: AgentOutcome) -> RunStatus:
    return {"completed": "completed", "limit": "limit"}.get(outcome.status, "failed")  # type: ignore[return-value]
