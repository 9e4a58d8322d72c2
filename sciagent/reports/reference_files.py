"""The references of a report as files that other programs read: CSL-JSON and BibTeX."""

from collections.abc import Mapping
from pathlib import Path

from sciagent.contracts.claim import ClaimsFile, Finding
from sciagent.literature.bibliography.bibtex import bibtex
from sciagent.literature.bibliography.csl import csl_json
from sciagent.reports.references import References
from sciagent.workspace.atomic import write_atomic

REFERENCES_CSL = "references.json"
REFERENCES_BIBTEX = "references.bib"


def reference_files(claims: ClaimsFile) -> Mapping[str, str]:
    """What the files hold, by their names: the works that the report cites, by their numbers.

    Empty for a report that cites nothing.
    """
    works = [entry.work for entry in References(claims).entries]
    if not works:
        return {}
    return {REFERENCES_CSL: csl_json(works), REFERENCES_BIBTEX: bibtex(works)}


def write_references(root: Path, claims: ClaimsFile) -> None:
    """Write the files of a report that cites something; for another, none is left."""
    wanted = reference_files(claims)
    for name in (REFERENCES_CSL, REFERENCES_BIBTEX):
        if name in wanted:
            write_atomic(root / name, wanted[name])
        else:
            (root / name).unlink(missing_ok=True)


def check_references(root: Path, claims: ClaimsFile) -> list[Finding]:
    """Compare the files with what the claims give: one finding for each that differs."""
    wanted = reference_files(claims)
    findings = []
    for name in (REFERENCES_CSL, REFERENCES_BIBTEX):
        path = root / name
        found = path.read_bytes().decode("utf-8", errors="replace") if path.is_file() else None
        if found is None and name in wanted:
            detail = "The report cites works, but their list is not there."
            findings.append(Finding(path=name, problem="missing", detail=detail))
        elif found is not None and found != wanted.get(name):
            detail = "It is not the list of the works that the report cites."
            findings.append(Finding(path=name, problem="report", detail=detail))
    return findings
