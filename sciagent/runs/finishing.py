"""From a concluded study to a sealed run: figures, claims, notebooks, report, crate, seal.

Everything here is made from the journal and the trials alone, so that a crash in between costs
nothing: it is made again from the start.
"""

from pathlib import Path

from sciagent.contracts.claim import ReportRequest
from sciagent.contracts.domain import Question
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.events import Noted
from sciagent.contracts.ports import Problem
from sciagent.contracts.run import Environment, RunRequest, RunStatus
from sciagent.contracts.tree import StudyView
from sciagent.domains.registry import question
from sciagent.reports.assemble import assemble
from sciagent.reports.notebooks import write_notebooks
from sciagent.reports.render import write_reports
from sciagent.reports.verify import save_verification, verify
from sciagent.runs.environment import describe_environment
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.crate import write_crate
from sciagent.workspace.file_names import rename_unreadable
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import ENVIRONMENT, Layout
from sciagent.workspace.record import write_study_file
from sciagent.workspace.seal import is_sealed, seal
from sciagent.workspace.tree import StudyTree, TreeBuilder


def finish(
    layout: Layout,
    request: RunRequest,
    problem: Problem,
    builder: TreeBuilder,
    journal: JournalFile,
    endpoint: Endpoint | None = None,
) -> None:
    """Write the report with all that belongs to it, verify it, and seal the run."""
    root = layout.root
    if is_sealed(root):
        return
    asked = question(request.question)
    tree = builder.studies[asked.name]
    environment = describe_environment(request, [request.question], endpoint)
    write_environment(layout, environment)
    write_study_file(root, builder)
    wanted = asked.report(view_of(tree, str(root)), problem, root)
    status = tree.conclusion.status if tree.conclusion else "failed"
    publish(layout, asked, wanted, environment, journal, status)


def publish(
    layout: Layout,
    asked: Question,
    wanted: ReportRequest,
    environment: Environment,
    journal: JournalFile,
    status: RunStatus,
) -> None:
    """Assemble a report with all that belongs to it, verify it, and seal the run."""
    root = layout.root
    make_names_readable(root, journal)
    claims = assemble(root, asked, wanted, environment.code_sha256)
    write_notebooks(root, asked, claims)
    write_reports(root, verify(root, before_seal=True))
    write_crate(root)
    seal(journal, root, status)
    save_verification(root, verify(root))


def make_names_readable(root: Path, journal: JournalFile) -> None:
    """Rename files whose names are not UTF-8, and journal it: the seal lists all by name."""
    for old, new in rename_unreadable(root).items():
        text = f"The name {old} is not UTF-8; the file is now {new}."
        journal.append(Noted(text=text, level="warning"))


def write_environment(layout: Layout, environment: Environment) -> None:
    """Write `environment.json`."""
    write_atomic(layout / ENVIRONMENT, environment.model_dump_json(indent=1) + "\n")


def view_of(tree: StudyTree, directory: str) -> StudyView:
    """Show a concluded study as its report may see it.

    `best` is the trial that the conclusion names.
    """
    best = tree.conclusion.best if tree.conclusion else tree.best
    return StudyView(
        study=tree.study,
        objective=tree.objective,
        trials=tuple(tree.shown),
        head=tree.shown_trial(tree.head),
        best=tree.shown_trial(best),
        trials_left=None,
        cpu_left_s=None,
        wall_left_s=None,
        seed=0,
        directory=directory,
    )
