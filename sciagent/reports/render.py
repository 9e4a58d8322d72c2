"""Writes `report.md` and `report.html` of a run."""

from pathlib import Path

from sciagent.contracts.claim import Verification
from sciagent.reports.contents import load_contents
from sciagent.reports.html import report_html
from sciagent.reports.markdown import report_markdown
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.layout import REPORT_HTML, REPORT_MARKDOWN


def write_reports(root: Path, verification: Verification) -> None:
    """Render both reports of a workspace.

    Parameters
    ----------
    root
        The workspace, with its claims and its journal.
    verification
        The check whose verdicts `report.html` shows; `report.md` shows none, so that it can be
        printed again from the claims alone.
    """
    contents = load_contents(root, verification)
    write_atomic(root / REPORT_MARKDOWN, report_markdown(contents.claims))
    write_atomic(root / REPORT_HTML, report_html(contents))
