"""Evidence without a model: a query becomes ranked passages, each quoted from its source."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from sciagent.contracts.claim import CitationClaim
from sciagent.contracts.errors import InputError, SciagentError
from sciagent.contracts.events import Noted
from sciagent.contracts.literature import Found, Source, SourceAnswer, Work
from sciagent.contracts.model import Contract, sha256_text
from sciagent.contracts.ports import Literature, Observer
from sciagent.contracts.run import RunRequest, RunStatus
from sciagent.literature.quoting.citing import citation_of
from sciagent.literature.quoting.locating import locate
from sciagent.literature.quoting.sentences import on_one_line, sentences
from sciagent.literature.quoting.support import missing_support
from sciagent.literature.ranking import scores, terms
from sciagent.runs.answering import asked_question
from sciagent.runs.configuration import Asked, load_configuration
from sciagent.runs.environment import describe_environment
from sciagent.runs.evidence_report import ReadWork, evidence_report
from sciagent.runs.finishing import publish, write_environment
from sciagent.runs.opened import Run, open_run
from sciagent.runs.ownership import Owned, owned, tell_beginning
from sciagent.runs.retrieval import (
    LiteratureSettings,
    literature_of,
    no_literature,
    require_literature,
)
from sciagent.study.loop import StudyStopped
from sciagent.tools.sources import keep_sources
from sciagent.workspace.inbox import InboxFolder
from sciagent.workspace.layout import Layout
from sciagent.workspace.seal import is_sealed
from sciagent.workspace.workspace import create_workspace, open_workspace, read_request

EVIDENCE = "literature/evidence"
"""What stands in place of ``domain/question`` in a run that gathers evidence."""

GATHERED = asked_question("evidence", "Evidence from the literature", "Passages that were quoted.")
_SLUG_LENGTH = 40
_REFERENCES = re.compile(
    r"(?im)^[\d. ]*(?:references|bibliography|literature cited|works cited)\s*$"
)
_WHOLE = re.compile(r"[.!?][\"'”’)\]]*$")
_SHORTEST, _LONGEST = 40, 600
"""Characters of a quote; what is shorter says little, and what is longer is no sentence."""


class EvidenceSettings(Contract):
    """What is looked for, and how much of it."""

    query: str = Field(min_length=1)
    works: int = Field(default=20, ge=1, le=200, description="Works that are read at most.")
    passages: int = Field(default=3, ge=1, le=20, description="Quotes of each work at most.")
    literature: LiteratureSettings = LiteratureSettings()
    local_only: bool = False


def gather(  # noqa: PLR0913 - all that a query can be asked with, by keyword
    query: str,
    *,
    works: int = 20,
    passages: int = 3,
    settings: Asked | None = None,
    literature: Literature | None = None,
    out: str | Path = "artifacts",
    observer: Observer | None = None,
) -> Run:
    """Gather evidence on a query: works, ranked passages with their quotes, and a bibliography.

    No model is used. What servers answer is kept in the run, so that the same evidence comes of
    it again without a network.

    Parameters
    ----------
    query
        Words to look for.
    works, passages
        Works that are read, and quotes of each, at most.
    settings
        Of the configuration, by their dotted names, such as ``literature.mode``.
    literature
        Asked in place of what is configured.
    out
        Folder in which the workspace is made.
    observer
        Is told each event.

    Returns
    -------
    Run
        ``abstained`` if no evidence was found.

    Raises
    ------
    InputError
        If there is no query, or nobody who could be asked; no workspace is made then.
    """
    configuration = load_configuration(settings)
    query = " ".join(query.split())
    if not terms(query):
        raise InputError("There is no query.", 'Give words: sciagent evidence "WORDS".')
    if literature is None:
        require_literature(configuration.literature, local_only=configuration.local_only)
    wanted = EvidenceSettings(
        query=query, works=works, passages=passages, literature=configuration.literature,
        local_only=configuration.local_only,
    )  # fmt: skip
    request = RunRequest(question=EVIDENCE, settings=wanted.model_dump(mode="json"))
    layout = create_workspace(Path(out), request, {}, slug=query[:_SLUG_LENGTH])
    tell_beginning(layout, observer)
    return _gathered(layout, wanted, literature, observer)


def resume_gather(
    path: str | Path, literature: Literature | None = None, observer: Observer | None = None
) -> Run:
    """Go on with gathering evidence; what servers had answered is not asked again."""
    layout = open_workspace(Path(path))
    if is_sealed(layout.root):
        return open_run(layout.root)
    wanted = EvidenceSettings.model_validate(read_request(layout).settings)
    return _gathered(layout, wanted, literature, observer)


def gathers_evidence(request: RunRequest) -> bool:
    """Whether a run gathers evidence."""
    return request.question == EVIDENCE


def _gathered(
    layout: Layout,
    wanted: EvidenceSettings,
    given: Literature | None,
    observer: Observer | None,
) -> Run:
    root = layout.root
    with (
        owned(layout, read_request(layout), observer) as mine,
        literature_of(wanted.literature, root, local_only=wanted.local_only) as configured,
    ):
        literature = given or configured
        if literature is None:
            raise no_literature()
        found = literature.scholar(wanted.query)
        for each in found.answers:
            mine.journal.append(Noted(text=_said(each)))
        read = list(_read(mine, literature, found, wanted.works))
        claims = list(_quoted(wanted, read))
        environment = describe_environment(mine.request, [], None, None)
        write_environment(layout, environment)
        report = evidence_report(root, wanted.query, found.answers, read, claims)
        status: RunStatus = "completed" if claims else "abstained"
        publish(layout, GATHERED, report, environment, mine.journal, status)
    return open_run(root)


def _said(answer: SourceAnswer) -> str:
    detail = f" ({answer.detail})" if answer.detail else ""
    return f"{answer.source}: {answer.status}, {answer.records} records{detail}."


def _read(mine: Owned, literature: Literature, found: Found, most: int) -> Iterator[ReadWork]:
    inbox = InboxFolder(mine.layout.inbox)
    for work in found.works[:most]:
        if any(each.command == "stop" for each in inbox.take()):
            raise StudyStopped
        read = _read_work(literature, work)
        if read.source is not None:
            keep_sources(mine.layout.root, [read.source])
        mine.journal.append(Noted(text=f"{work.key}: {read.what}."))
        yield read


def _read_work(literature: Literature, work: Work) -> ReadWork:
    """Read the whole text where it is open, else the abstract."""
    why = "no open text is known"
    for url in work.full_text:
        try:
            document = literature.visit(url)
        except SciagentError as error:
            why = error.message.rstrip(".")
            continue
        if document.source.text.strip():
            source = document.source
            return ReadWork(document.work or work, source, f"read at {source.url}")
        why = document.detail.rstrip(".") or f"{url} holds no text"
    if work.abstract:
        url = work.address or work.key
        text = work.abstract
        source = Source(url=url, title=work.title, sha256=sha256_text(text), text=text)
        return ReadWork(work, source, f"only its abstract was read ({why})")
    return ReadWork(work, None, f"not read ({why})")


def _quoted(wanted: EvidenceSettings, read: Sequence[ReadWork]) -> Iterator[CitationClaim]:
    """Rank the sentences of all works together, and quote the best of each work."""
    pieces = [
        (each, text)
        for each in read
        if each.source is not None
        for text in quotable_sentences(each.source.text)
    ]
    ranked = scores(wanted.query, [text for _, text in pieces])
    order = sorted(range(len(pieces)), key=lambda place: (-ranked[place], place))
    left = {each.work.key: wanted.passages for each in read}
    number = 0
    for place in order:
        each, text = pieces[place]
        if ranked[place] <= 0 or not left[each.work.key]:
            continue
        claim = _claim(f"passage.{number + 1}", each, text, wanted.query)
        if claim is not None:
            number += 1
            left[each.work.key] -= 1
            yield claim


def quotable_sentences(text: str) -> Iterator[str]:
    """Whole sentences of a text, without its list of references.

    What a page or a heading cuts off is no sentence, and says something else than was written.
    """
    lists = [each.start() for each in _REFERENCES.finditer(text) if each.start() > len(text) // 2]
    body = text[: lists[0]] if lists else text
    for start, end in sentences(body):
        sentence = body[start:end]
        if _SHORTEST <= len(sentence) <= _LONGEST and _WHOLE.search(sentence):
            yield sentence


def _claim(name: str, read: ReadWork, text: str, query: str) -> CitationClaim | None:
    assert read.source is not None
    place, subject = locate(text, read.source.text), _subject(query, text)
    statement = on_one_line(text)
    if place is None or not subject or missing_support(subject, statement, text):
        return None
    citation = citation_of(read.work, sha256_text(read.source.text), text, place)
    return CitationClaim(
        id=name, subject=subject, quantity="passage", statement=statement, citation=citation
    )


def _subject(query: str, text: str) -> str:
    """The longest word of the query that stands in a text."""
    words = [each for each in terms(query) if not missing_support(each, text, text)]
    return max(words, key=len, default="")
