"""Chapters: Markdown with tokens in place of what the evidence states."""

import re
from collections.abc import Collection, Iterator, Sequence

from pydantic import Field

from sciagent.agent.survey.reading import read_answer
from sciagent.contracts.claim import InferenceClaim
from sciagent.contracts.model import Contract
from sciagent.tools.report_draft import source_faults

_TOKEN = re.compile(r"\{\{\s*claims?:\s*([a-z0-9][a-z0-9_.\-]*)")
_HEADING = re.compile(r"^#{1,2}\s", re.MULTILINE)
_SHOWN_FAULTS = 10


class Inference(Contract):
    """A statement of the author for which there is no evidence."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_.\-]*$")
    subject: str = Field(min_length=1)
    statement: str = Field(min_length=1)


class ChapterAnswer(Contract):
    """A chapter as its writer gives it."""

    source: str = Field(min_length=1, description="Markdown with tokens, without its title.")
    inferences: tuple[Inference, ...] = ()


def tokens_in(source: str) -> list[str]:
    """Identifiers of the claims that a source prints, in order."""
    return _TOKEN.findall(source)


def fault_of_source(source: str, known: Collection[str]) -> str:
    """Say what is wrong with a source whose tokens may name only `known` claims."""
    faults = list(_faults(source, known))
    return " ".join(faults[:_SHOWN_FAULTS])


def _faults(source: str, known: Collection[str]) -> Iterator[str]:
    yield from source_faults(source)
    if _HEADING.search(source):
        yield "Headings begin with ### at least: the chapter has its title already."
    for name in dict.fromkeys(tokens_in(source)):
        if name not in known:
            yield f"The token {name!r} names no evidence of this chapter."


def fault_of_chapter(text: str, evidence: Sequence[str], taken: Collection[str]) -> str:
    """Say what is wrong with a chapter.

    Parameters
    ----------
    text
        The answer of its writer.
    evidence
        Identifiers that its tokens may name besides those of its own inferences.
    taken
        Identifiers that inferences cannot have.
    """
    answer = read_answer(ChapterAnswer, text)
    if isinstance(answer, str):
        return answer
    own = [each.id for each in answer.inferences]
    clashes = [name for name in own if name in taken or own.count(name) > 1]
    if clashes:
        return f"The inference id {clashes[0]!r} is taken; choose another."
    fault = fault_of_source(answer.source, {*evidence, *own})
    if not fault and evidence and not set(tokens_in(answer.source)) & set(evidence):
        return "The chapter prints none of its evidence: write {{claim:ID}} for each piece used."
    return fault


def inference_claims(answer: ChapterAnswer, quantity: str) -> list[InferenceClaim]:
    """Make claims of the inferences that a chapter really prints."""
    printed = set(tokens_in(answer.source))
    return [
        InferenceClaim(
            id=each.id, subject=each.subject, quantity=quantity, statement=each.statement
        )
        for each in answer.inferences
        if each.id in printed
    ]
