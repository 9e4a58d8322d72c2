"""What subagents find: statements, each with the words of a source that was really read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from sciagent.agent.survey.reading import read_answer
from sciagent.contracts.claim import CitationClaim
from sciagent.contracts.literature import Source, Work
from sciagent.contracts.model import Contract
from sciagent.literature.quoting.citing import citation_of
from sciagent.literature.quoting.locating import Place, locate
from sciagent.literature.quoting.support import Stated, missing_support, unrelated

_SHOWN_FAULTS = 10
_SHORT = 70


class Finding(Contract):
    """A statement and the words that support it, as a subagent gives them."""

    subject: str = Field(min_length=1, description="What it is about, as the quote names it.")
    statement: str = Field(min_length=1)
    url: str = Field(min_length=1)
    quote: str = Field(min_length=1)
    question: str = Field(default="", description="Of an atlas: the id of the question.")


class FacetAnswer(Contract):
    """What a subagent found about a facet."""

    findings: tuple[Finding, ...] = ()
    conflicts: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A finding that holds: it stands in a stored text and supports its statement.

    Attributes
    ----------
    facet, question
        What it was found for.
    claim
        As the report cites it.
    work
        The work cited.
    """

    facet: str
    question: str
    claim: CitationClaim
    work: Work


@dataclass(frozen=True, slots=True)
class FindingJudge:
    """Looks findings up in the texts that were read.

    Attributes
    ----------
    sources
        Gives the texts that were fetched from an address.
    work_of
        Gives the work that a text is of.
    """

    sources: Callable[[str], Sequence[Source]]
    work_of: Callable[[Source], Work]
    _places: dict[tuple[str, str], tuple[Source, Place] | None] = field(default_factory=dict)

    def fault(self, finding: Finding) -> str:
        """Say why a finding does not hold; nothing if it does."""
        shown = finding.quote if len(finding.quote) <= _SHORT else f"{finding.quote[:_SHORT]}…"
        if not self.sources(finding.url):
            return f"nothing was read from {finding.url}; visit it first"
        if self._found(finding) is None:
            return f"{shown!r} does not stand in the text of {finding.url}, letter by letter"
        missing = missing_support(finding.subject, finding.statement, finding.quote)
        return "; ".join(missing)

    def fault_of_answer(self, text: str) -> str:
        """Say what is wrong with a subagent's answer, each finding named by its number."""
        answer = read_answer(FacetAnswer, text)
        if isinstance(answer, str):
            return answer
        faults = [
            f"Finding {number}: {fault}."
            for number, each in enumerate(answer.findings, 1)
            if (fault := self.fault(each))
        ]
        if not faults:
            return ""
        more = f" And {len(faults) - _SHOWN_FAULTS} more." if len(faults) > _SHOWN_FAULTS else ""
        listed = " ".join(faults[:_SHOWN_FAULTS])
        return f"{listed}{more} Mend or leave out what does not hold, and give all of it again."

    def evidence(self, facet: str, name: str, findings: Iterable[Finding]) -> list[Evidence]:
        """Make evidence of the findings about a facet that hold, each statement once.

        Parameters
        ----------
        facet, name
            Its identifier, and what claims are labelled by.
        findings
            As they were given.
        """
        made: list[Evidence] = []
        seen: set[str] = set()
        for finding in findings:
            found = self._found(finding)
            if found is None or finding.statement in seen or self.fault(finding):
                continue
            seen.add(finding.statement)
            source, place = found
            work = self.work_of(source)
            claim = CitationClaim(
                id=f"{facet}.{len(made) + 1}", subject=finding.subject, quantity=name,
                statement=finding.statement,
                citation=citation_of(work, source.sha256, finding.quote, place),
            )  # fmt: skip
            made.append(Evidence(facet, finding.question, claim, work))
        return made

    def _found(self, finding: Finding) -> tuple[Source, Place] | None:
        key = (finding.url, finding.quote)
        if key not in self._places:
            places = (
                (source, place)
                for source in self.sources(finding.url)
                if (place := locate(finding.quote, source.text)) is not None
            )
            self._places[key] = next(places, None)
        return self._places[key]


def related(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Leave out statements that share a quote with another one and are not about it."""
    stated = [
        Stated(
            claim.id, claim.subject, claim.statement, quote.text, claim.citation.source_sha256,
            quote.start or 0, quote.end or 0,
        )
        for claim in (each.claim for each in evidence)
        for quote in (claim.citation.quote,)
    ]  # fmt: skip
    refused = unrelated(stated)
    return [each for each in evidence if each.claim.id not in refused]
