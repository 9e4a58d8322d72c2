"""The notebook that replays a run, and the record of all that was run."""

import ast
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from pprint import pformat
from typing import Any

import sciagent
from sciagent.contracts.claim import ClaimsFile
from sciagent.contracts.domain import Question
from sciagent.contracts.study import Outcome
from sciagent.contracts.tree import StudyRecord, Trial
from sciagent.execution.record import executed_cells
from sciagent.reports.digits import readable
from sciagent.reports.escaping import code, escaped
from sciagent.reports.markdown import trial_of
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.layout import NOTEBOOK, RECORD
from sciagent.workspace.record import load_studies

CODE_NOTE = (
    "## Code of agents\n\nThese cells were executed by sandboxed kernels, in this order, each "
    "agent in a kernel of its own; `status` in a cell's metadata says how it ended, and cells that "
    "did not come to their end are marked so. Trials follow below."
)

Notebook = dict[str, Any]
"""A notebook (nbformat 4.5) or one of its cells, as JSON."""

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
_CALLS = frozenset({"replay.trial", "replay.workflow", "replay.compare"})
SETUP = "import sciagent\n\nreplay = sciagent.replay(workspace, output)"
RECORD_NOTE = (
    "This notebook records what was run, in order. It was not executed by a kernel: each cell's "
    "call was carried out by a worker process of its own, and the outputs below the cells are "
    "those that the journal recorded. Executed as it stands, it computes all of it again into "
    "the folder `{folder}`."
)


def trials_to_replay(claims: ClaimsFile, studies: Sequence[StudyRecord]) -> tuple[Trial, ...]:
    """Trials on the accepted path of each study or cited by a claim, with all they start from."""
    by_number = {trial.number: trial for study in studies for trial in study.trials}
    wanted = {study.best for study in studies} | {study.head for study in studies}
    wanted |= {trial_of(claim) for claim in claims.claims}
    closed: set[int] = set()
    for number in wanted:
        while number is not None and number in by_number and number not in closed:
            closed.add(number)
            number = by_number[number].proposal.parent
    return tuple(by_number[number] for number in sorted(closed))


def replay_notebook(
    question: Question, claims: ClaimsFile, studies: Sequence[StudyRecord]
) -> Notebook:
    """Write the notebook that computes the accepted path and every cited trial again.

    It has a cell of parameters (`workspace`, `output`) and calls of `sciagent.replay`, and runs
    under plain papermill from within the workspace.
    """
    title = (
        f"# {escaped(claims.title)}\n\n{escaped(question.title)}: {escaped(question.summary)}\n\n"
        "This notebook computes the result again: the accepted "
        "path and every trial that the report cites. `workspace` is the folder of the run, "
        "`output` a folder that is made for the results."
    )
    cells = _opening_cells(title, "replay")
    for trial in trials_to_replay(claims, studies):
        cells += _trial_cells(trial)
    compare = "What was computed now, beside what the run recorded:"
    cells.append(markdown_cell(compare, "compare-text"))
    cells.append(code_cell("replay.compare()", "compare"))
    return _notebook(cells, {"role": "replay", "question": claims.question})


def workflow_notebook(claims: ClaimsFile) -> Notebook:
    """Write the notebook that executes the workflow of a run again and compares its numbers."""
    title = (
        f"# {escaped(claims.title)}\n\nThis notebook executes the workflow again, in a kernel of "
        "its own, with the same parameters and files. `workspace` is the folder of the run, "
        "`output` a folder that is made for the results."
    )
    cells = _opening_cells(title, "replay")
    cells.append(code_cell("replay.workflow()", "workflow"))
    cells.append(code_cell("replay.compare()", "compare"))
    return _notebook(cells, {"role": "replay", "question": claims.question})


def record_notebook(
    question: Question,
    claims: ClaimsFile,
    studies: Sequence[StudyRecord],
    executed: Sequence[Notebook] = (),
) -> Notebook:
    """Write the record of all that was run, with what came of it.

    Parameters
    ----------
    question, claims, studies
        Of the run.
    executed
        Cells that kernels executed, in order; they come first and stay as they are.
    """
    note = RECORD_NOTE.format(folder="replay-all")
    cells = _opening_cells(f"# Record: {escaped(question.title)}\n\n{note}", "replay-all")
    if executed:
        cells += [markdown_cell(CODE_NOTE, "code-text"), *executed]
    trials = [trial for study in studies for trial in study.trials if trial.outcome is not None]
    for trial in sorted(trials, key=lambda each: each.number):
        text, call = _trial_cells(trial)
        call["outputs"] = _recorded_outputs(trial.outcome) if trial.outcome else []
        call["metadata"]["sciagent"] = _recorded_metadata(trial)
        cells += [text, call]
    metadata = {"role": "record", "question": claims.question, "executed_by": "worker processes"}
    return _notebook(cells, metadata)


def markdown_cell(text: str, identifier: str) -> Notebook:
    """Make a cell of text."""
    return {"cell_type": "markdown", "id": identifier, "metadata": {}, "source": text}


def code_cell(source: str, identifier: str) -> Notebook:
    """Make a cell of code that was not executed."""
    return {
        "cell_type": "code",
        "id": identifier,
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def _opening_cells(text: str, output: str) -> list[Notebook]:
    parameters = code_cell(f'workspace = "."\noutput = "{output}"', "parameters")
    parameters["metadata"]["tags"] = ["parameters"]
    return [markdown_cell(text, "title"), parameters, code_cell(SETUP, "setup")]


def _notebook(cells: list[Notebook], metadata: dict[str, Any]) -> Notebook:
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": dict(KERNEL),
            "language_info": {"name": "python"},
            "sciagent": {"version": sciagent.__version__, **metadata},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def replay_call(trial: Trial) -> str:
    """The call that carries a trial out again."""
    action = trial.proposal.action
    arguments = pformat(action.arguments, width=84, compact=True, sort_dicts=True)
    arguments = arguments.replace("\n", "\n" + " " * len("    arguments="))
    return (
        f"replay.trial(\n    {trial.number},\n    parent={trial.proposal.parent},\n"
        f"    action={action.name!r},\n    arguments={arguments},\n)"
    )


def _trial_cells(trial: Trial) -> list[Notebook]:
    proposal = trial.proposal
    lines = [f"## Trial {trial.number}: {escaped(proposal.action.name)}"]
    lines += [
        f"{name}: {escaped(text)}" if name else escaped(text)
        for name, text in (
            ("", proposal.rationale),
            ("Hypothesis", proposal.hypothesis),
            ("Expected", proposal.expected),
            ("Decision", _decision_in_words(trial)),
        )
        if text
    ]
    identifier = f"trial-{trial.number:04d}"
    return [
        markdown_cell("\n\n".join(lines), f"{identifier}-text"),
        code_cell(replay_call(trial), identifier),
    ]


def _decision_in_words(trial: Trial) -> str:
    if trial.decision is None:
        return ""
    reasons = "; ".join(trial.decision.reasons)
    invalidated = f" Later invalidated: {trial.invalidated}." if trial.invalidated else ""
    return f"{trial.decision.verdict}. {reasons}{invalidated}".strip()


def _recorded_outputs(outcome: Outcome) -> list[Notebook]:
    metrics = [f"{name} = {readable(value)}" for name, value in sorted(outcome.metrics.items())]
    text = "\n".join([f"status: {outcome.status}", *metrics, *outcome.notes]) + "\n"
    outputs: list[Notebook] = [{"output_type": "stream", "name": "stdout", "text": text}]
    if outcome.error is not None:
        error = outcome.error
        outputs.append(
            {
                "output_type": "error",
                "ename": error.kind,
                "evalue": f"{error.message} {error.remedy}".strip(),
                "traceback": error.details.splitlines(),
            }
        )
    return outputs


def _recorded_metadata(trial: Trial) -> dict[str, Any]:
    outcome = trial.outcome
    return {
        "executed_by": "worker process",
        "trial": trial.number,
        "status": outcome.status if outcome else "not run",
        "cpu_s": outcome.cpu_s if outcome else 0.0,
        "wall_s": outcome.wall_s if outcome else 0.0,
        "decision": trial.decision.verdict if trial.decision else None,
    }


def foreign_code(notebook: Notebook) -> str:
    """Say which cell of a replay notebook holds other code than such notebooks are made of.

    Returns
    -------
    str
        Empty if every code cell only sets parameters to texts and calls the replay with plain
        values; such a notebook can do nothing but compute trials again.
    """
    for number, cell in enumerate(notebook["cells"], 1):
        source = cell["source"]
        text = source if isinstance(source, str) else "".join(source)
        if cell["cell_type"] == "code" and not _is_own(text):
            name = code(str(cell.get("id", number)))
            return f"cell {number} ({name}) holds other code than calls of the replay."
    return ""


def _is_own(source: str) -> bool:
    try:
        return all(_is_own_statement(statement) for statement in ast.parse(source).body)
    except (SyntaxError, ValueError):
        return False


def _is_own_statement(statement: ast.stmt) -> bool:
    if ast.unparse(statement) in {ast.unparse(own) for own in ast.parse(SETUP).body}:
        return True
    if isinstance(statement, ast.Assign):
        target = ast.unparse(statement.targets[0])
        is_parameter = len(statement.targets) == 1 and target in {"workspace", "output"}
        return is_parameter and _are_literals([statement.value])
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return ast.unparse(call.func) in _CALLS and _are_literals(values)


def _are_literals(nodes: Iterable[ast.expr]) -> bool:
    try:
        for node in nodes:
            ast.literal_eval(node)
    except ValueError:
        return False
    return True


def write_notebooks(root: Path, question: Question, claims: ClaimsFile) -> None:
    """Write `notebook.ipynb` and `record.ipynb` of a run, from its journal and its claims."""
    studies = load_studies(root)
    write_atomic(root / NOTEBOOK, written(replay_notebook(question, claims, studies)))
    record = record_notebook(question, claims, studies, executed_cells(root))
    write_atomic(root / RECORD, written(record))


def written(notebook: Notebook) -> str:
    """The text of a notebook's file, the same for equal notebooks."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
