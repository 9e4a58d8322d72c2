"""Verification: every claim of a report is read again and, with a re-run, computed again."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sciagent.contracts.claim import (
    Claim,
    ClaimsFile,
    FigureClaim,
    Finding,
    NumberClaim,
    Statement,
    Verdict,
    Verification,
)
from sciagent.contracts.errors import InputError, UnknownNameError, WorkspaceError
from sciagent.contracts.study import Outcome
from sciagent.contracts.tree import StudyRecord
from sciagent.domains.registry import question
from sciagent.execution.notebook import run_notebook
from sciagent.reports.assemble import missing_claims, read_claims
from sciagent.reports.drawing import Drawings
from sciagent.reports.evidence import Evidence
from sciagent.reports.lint import unchecked_sentences
from sciagent.reports.printed import check_prose, check_report
from sciagent.reports.reference_files import check_references
from sciagent.reports.rerun import NotebookRunner, rerun_verdicts
from sciagent.reports.verdicts import Judge
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.clock import utc_timestamp
from sciagent.workspace.layout import CLAIMS, JOURNAL, VERIFICATION
from sciagent.workspace.record import load_studies
from sciagent.workspace.seal import check_seal

GOOD = frozenset({"matched", "reproduced", "quoted"})
_NOT_WRONG = GOOD | {"inference"}


def verify(
    root: Path,
    *,
    rerun: bool = False,
    claim: str | None = None,
    before_seal: bool = False,
    drawings: Drawings | None = None,
    notebook_runner: NotebookRunner = run_notebook,
) -> Verification:
    """Check a finished run. No file of the workspace is written.

    Parameters
    ----------
    root
        The workspace.
    rerun
        Also compute its numbers again in a clean kernel, and redraw its figures.
    claim
        Check this claim only (and what it is compared with).
    before_seal
        The run is about to be sealed: this is the check whose verdicts its report shows.
    drawings
        Drawing functions that figures are redrawn with; those of the question if none are given.
    notebook_runner
        Runs a notebook.

    Returns
    -------
    Verification
        `ok` if nothing is wrong with the workspace, every claim is `matched`, `reproduced`,
        `quoted` or marked as the author's inference, and after a re-run no number, figure or
        statement is merely `matched`.

    Raises
    ------
    UnknownNameError
        If there is no claim of the ID given.
    """
    findings = [] if before_seal else check_seal(root)
    try:
        claims = read_claims(root)
    except InputError as error:
        problem = Finding(path=CLAIMS, problem="schema", detail=str(error))
        return _verification(root, [], [*findings, problem], 0, ok=False, rerun=rerun)
    asked = _asked(claims, claim)
    verdicts = _judged(root, claims, findings)
    if not before_seal:
        report_findings, mismatches = check_report(root, claims)
        findings += report_findings
        _worsen(verdicts, mismatches)
    if rerun:
        known = _drawings(claims.question) if drawings is None else drawings
        more, computed = rerun_verdicts(root, claims, findings, known, notebook_runner)
        findings += more
        _replace_matched(verdicts, computed)
    shown = [each for each in verdicts.values() if claim is None or each.claim in asked]
    unchecked = len(unchecked_sentences(claims.report_source, _captions(claims)))
    ok = not findings and all(each.verdict in _NOT_WRONG for each in shown)
    ok = ok and not (rerun and _merely_matched(shown, claims.claims))
    return _verification(root, shown, findings, unchecked, ok=ok, rerun=rerun)


def save_verification(root: Path, verification: Verification) -> None:
    """Write `verification.json`, the one file besides reviews that may change after the seal."""
    write_atomic(root / VERIFICATION, verification.model_dump_json(indent=2) + "\n")


def _asked(claims: ClaimsFile, claim: str | None) -> set[str]:
    known = {each.id for each in claims.claims} | set(claims.required)
    if claim is not None and claim not in known:
        raise UnknownNameError.among("claim", claim, known)
    return known if claim is None else {claim}


def _judged(root: Path, claims: ClaimsFile, findings: list[Finding]) -> dict[str, Verdict]:
    """Verdicts by the evidence as it lies there; findings on journal and prose are added."""
    studies, problems = _studies(root)
    findings += problems if not any(each.path == JOURNAL for each in findings) else []
    findings += check_prose(claims) + check_references(root, claims)
    works = {work.key: work for work in claims.works}
    judge = Judge(claims.claims, Evidence(root), _outcomes(studies), works)
    verdicts = {each.id: judge.judge(each) for each in claims.claims}
    _worsen(verdicts, _missing(claims))
    return verdicts


def _studies(root: Path) -> tuple[tuple[StudyRecord, ...], list[Finding]]:
    try:
        return load_studies(root), []
    except (WorkspaceError, OSError) as error:
        return (), [Finding(path=JOURNAL, problem="journal", detail=str(error))]


def _drawings(name: str) -> Drawings:
    """Drawing functions of a question; none where its field is not installed here."""
    try:
        return question(name).drawings
    except UnknownNameError:
        return {}


def _outcomes(studies: Sequence[StudyRecord]) -> Mapping[int, Outcome]:
    return {
        trial.number: trial.outcome
        for study in studies
        for trial in study.trials
        if trial.outcome is not None
    }


def _missing(claims: ClaimsFile) -> list[Verdict]:
    detail = "The domain requires this claim, but the report does not state it."
    return [
        Verdict(claim=each, verdict="unresolved", detail=detail) for each in missing_claims(claims)
    ]


def _worsen(verdicts: dict[str, Verdict], worse: Sequence[Verdict]) -> None:
    for verdict in worse:
        if verdict.claim not in verdicts or verdicts[verdict.claim].verdict in _NOT_WRONG:
            verdicts[verdict.claim] = verdict


def _replace_matched(verdicts: dict[str, Verdict], computed: Sequence[Verdict]) -> None:
    for verdict in computed:
        if verdicts[verdict.claim].verdict == "matched":
            verdicts[verdict.claim] = verdict


def _merely_matched(verdicts: Sequence[Verdict], claims: Sequence[Claim]) -> list[str]:
    by_id = {claim.id: claim for claim in claims}
    return [
        each.claim
        for each in verdicts
        if each.verdict == "matched" and is_reproducible(by_id[each.claim], by_id)
    ]


def is_reproducible(claim: Claim, claims: Mapping[str, Claim]) -> bool:
    """Whether a re-run must reproduce a claim: records, texts and what compares them it cannot."""
    if isinstance(claim, Statement):
        sides = (claims.get(claim.left), claims.get(claim.right))
        return all(isinstance(side, NumberClaim) and side.kind == "number" for side in sides)
    return isinstance(claim, FigureClaim) or claim.kind == "number"


def _captions(claims: ClaimsFile) -> tuple[str, ...]:
    return tuple(each.caption for each in claims.claims if isinstance(each, FigureClaim))


def _verification(
    root: Path,
    verdicts: Sequence[Verdict],
    findings: Sequence[Finding],
    unchecked: int,
    *,
    ok: bool,
    rerun: bool,
) -> Verification:
    def count(name: str) -> int:
        return sum(each.verdict == name for each in verdicts)

    return Verification(
        run=root.resolve().name,
        time=utc_timestamp(),
        rerun=rerun,
        claims=len(verdicts),
        reproduced=count("reproduced"),
        matched=count("matched"),
        mismatch=count("mismatch"),
        unresolved=count("unresolved"),
        unsupported=count("unsupported"),
        quoted=count("quoted"),
        not_found=count("not_found"),
        retracted=count("retracted"),
        inference=count("inference"),
        not_machine_checked=unchecked,
        ok=ok,
        verdicts=tuple(verdicts),
        findings=tuple(findings),
    )
