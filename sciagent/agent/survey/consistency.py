"""The pass for consistency: one reader of all evidence corrects statements and names conflicts."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from sciagent.agent.survey.chapters import fault_of_source
from sciagent.agent.survey.findings import Evidence
from sciagent.agent.survey.reading import read_answer
from sciagent.contracts.model import Contract
from sciagent.literature.quoting.support import missing_support
from sciagent.tools.report_draft import source_faults

_SHOWN_FAULTS = 10


class Conflict(Contract):
    """Findings that cannot all be true, or not under the same conditions."""

    findings: tuple[str, ...] = Field(min_length=2)
    about: str = Field(min_length=1, description="In what they differ, without digits.")


class Correction(Contract):
    """A statement that says better what its quote says."""

    id: str
    statement: str = Field(min_length=1)


class ConsistencyAnswer(Contract):
    """What the reader of all evidence says."""

    summary: str = Field(min_length=1, description="Markdown with tokens.")
    corrections: tuple[Correction, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    open_questions: tuple[str, ...] = ()


def fault_of_consistency(text: str, evidence: Mapping[str, Evidence]) -> str:
    """Say what is wrong with an answer; corrections are looked up in their quotes."""
    answer = read_answer(ConsistencyAnswer, text)
    if isinstance(answer, str):
        return answer
    return " ".join(list(_faults(answer, evidence))[:_SHOWN_FAULTS])


def _faults(answer: ConsistencyAnswer, evidence: Mapping[str, Evidence]) -> Iterator[str]:
    if fault := fault_of_source(answer.summary, evidence):
        yield f"In the summary: {fault}"
    for correction in answer.corrections:
        if correction.id not in evidence:
            yield f"There is no finding {correction.id!r} to correct."
            continue
        claim = evidence[correction.id].claim
        missing = missing_support(claim.subject, correction.statement, claim.citation.quote.text)
        if missing:
            yield f"The correction of {correction.id} does not hold: {'; '.join(missing)}."
    for conflict in answer.conflicts:
        for name in conflict.findings:
            if name not in evidence:
                yield f"The conflict names {name!r}, which is no finding."
    for text in (*answer.open_questions, *(each.about for each in answer.conflicts)):
        yield from source_faults(text)


def corrected(evidence: Evidence, statements: Mapping[str, str]) -> Evidence:
    """Put a corrected statement in place, where there is one."""
    statement = statements.get(evidence.claim.id)
    if statement is None:
        return evidence
    claim = evidence.claim.model_copy(update={"statement": statement})
    return Evidence(evidence.facet, evidence.question, claim, evidence.work)
