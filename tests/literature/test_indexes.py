"""Indexes as they are played by a server on this machine: what they find, and how they fail."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sciagent.contracts.literature import Work
from sciagent.literature.indexes.index import Index, IndexAnswer, arxiv_id_in, doi_in
from sciagent.literature.pacing import Pacing
from sciagent.literature.searching import INDEXES, OnlineLiterature
from sciagent.literature.settings import RetrievalSettings
from sciagent.literature.transport import Transport
from sciagent.testing.corpus import Corpus, CorpusServer, make_corpus
from sciagent.testing.corpus.responses import known_to

WORKS = [each for each in INDEXES if each.finds == "works" and each.name != "unpaywall"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus"), papers=24, seed=1)


@pytest.fixture
def server(corpus: Corpus) -> Iterator[CorpusServer]:
    with CorpusServer(corpus) as running:
        yield running


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENALEX_API_KEY", "a-key")


def settings_for(server: CorpusServer, **given: object) -> RetrievalSettings:
    return RetrievalSettings.model_validate({
        "mode": "live", "contact": "a@example.org", "addresses": server.addresses,
        "trusted_hosts": (urlsplit(server.base).netloc,), "spacing_factor": 0.0,
        "timeout_s": 2.0, "deadline_s": 4.0, "search_s": 6.0, **given,
    })  # fmt: skip


def online(server: CorpusServer, *names: str, **given: object) -> OnlineLiterature:
    """Only these indexes, with rests of their own."""
    chosen = [each for each in INDEXES if each.name in names or not names]
    settings = settings_for(server, **given)
    return OnlineLiterature(Transport(settings, None, Pacing()), settings, chosen)


def known(corpus: Corpus, index: str) -> Work:
    return next(each.work for each in corpus.papers if known_to(index, each.work))


@pytest.mark.parametrize("index", WORKS, ids=lambda each: each.name)
def test_a_work_is_found_by_its_title_with_what_the_index_knows(
    server: CorpusServer, corpus: Corpus, index: Index
) -> None:
    wanted = known(corpus, index.name)
    found = online(server, index.name).scholar(wanted.title)
    assert [(each.source, each.status) for each in found.answers] == [(index.name, "ok")]
    work = next(each for each in found.works if each.title == wanted.title)
    assert [each.family for each in work.authors] == [each.family for each in wanted.authors]
    assert work.year == wanted.year
    assert (work.doi or work.arxiv_id) in {wanted.doi, wanted.arxiv_id}
    assert work.found_in == (index.name,)


@pytest.mark.parametrize("index", WORKS, ids=lambda each: each.name)
def test_nothing_that_fits_is_no_match_and_not_a_failure(
    server: CorpusServer, index: Index
) -> None:
    found = online(server, index.name).scholar("zzyzx quuxology")
    assert [each.status for each in found.answers] == ["no_match"]
    assert found.works == ()


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("rate_limited", "rate_limited"), ("needs_key", "needs_key"),
        ("unavailable", "unreachable"), ("html_error", "unreachable"),
        ("malformed_json", "unreachable"), ("moved_fields", "unreachable"),
        ("moved_record_fields", "unreachable"), ("dropped", "unreachable"),
        ("private_redirect", "unreachable"), ("loopback_redirect", "unreachable"),
        ("wrong_type", "ok"),
    ],
)  # fmt: skip
def test_every_failure_is_said_and_none_looks_like_an_empty_answer(
    server: CorpusServer, corpus: Corpus, fault: str, status: str
) -> None:
    server.break_with(fault, retry_after_s=7)
    for index in WORKS:
        found = online(server, index.name).scholar(known(corpus, index.name).title)
        (answer,) = found.answers
        assert (index.name, answer.status) == (index.name, status)
        assert status == "ok" or answer.detail
        if status == "rate_limited":
            assert answer.retry_after_s == pytest.approx(7.0, abs=1.0)
    assert server.trapped == ()


def test_a_work_that_several_indexes_know_is_given_once(
    server: CorpusServer, corpus: Corpus
) -> None:
    wanted = next(
        each.work for each in corpus.papers if each.work.pmid and each.work.status == "current"
    )
    found = online(server).scholar(wanted.title)
    same = [each for each in found.works if each.doi == wanted.doi]
    assert len(same) == 1
    assert {"crossref", "europe_pmc", "openalex"} <= set(same[0].found_in)
    assert len({each.key for each in found.works}) == len(found.works)


def test_a_preprint_and_its_published_version_name_each_other(
    server: CorpusServer, corpus: Corpus
) -> None:
    preprint = next(
        each.work
        for each in corpus.papers
        if each.work.kind == "article"
        and any(version.relation == "published" for version in each.work.versions)
    )
    found = online(server).scholar(preprint.title)
    article = next(each.doi for each in preprint.versions if each.relation == "published")
    by_doi = {each.doi: each for each in found.works}
    assert article in {each.doi for each in by_doi[preprint.doi].versions}
    named = by_doi[article].versions
    assert any(
        each.relation == "preprint" and (each.doi == preprint.doi or each.arxiv_id)
        for each in named
    )


def test_what_was_retracted_or_corrected_is_said_with_its_date(
    server: CorpusServer, corpus: Corpus
) -> None:
    marked = [each.work for each in corpus.papers if each.work.status in {"retracted", "corrected"}]
    assert {each.status for each in marked} == {"retracted", "corrected"}
    for wanted in marked:
        found = online(server).scholar(wanted.title)
        work = next(each for each in found.works if each.doi == wanted.doi)
        assert (work.status, work.status_date) == (wanted.status, wanted.status_date)


def test_crossref_is_asked_what_became_of_works_that_others_found(
    server: CorpusServer, corpus: Corpus
) -> None:
    wanted = next(each.work for each in corpus.papers if each.work.status == "retracted")
    settings = settings_for(server)
    chosen = [each for each in INDEXES if each.name in {"semantic_scholar", "crossref"}]
    server.break_with("unavailable", "/crossref/works?")
    literature = OnlineLiterature(Transport(settings, None, Pacing()), settings, chosen)
    found = literature.scholar(wanted.title)
    work = next(each for each in found.works if each.doi == wanted.doi)
    assert work.status in {"retracted", "unknown"}
    assert {each.source: each.status for each in found.answers}["semantic_scholar"] == "ok"


def test_a_doi_leads_to_one_work_and_to_an_open_copy_of_it(
    server: CorpusServer, corpus: Corpus
) -> None:
    paper = next(
        each
        for each in corpus.papers
        if each.pdf and each.work.open_access == "open" and not each.work.arxiv_id
    )
    literature = online(server)
    found = literature.scholar(f"https://doi.org/{paper.work.doi.upper()}")
    assert [each.doi for each in found.works] == [paper.work.doi]
    document = literature.visit(paper.work.doi)
    assert document.work is not None
    assert document.work.doi == paper.work.doi
    assert document.licence == document.work.licence
    assert document.pages == len(paper.pages)


def test_an_index_that_fails_again_and_again_is_left_alone_for_a_time(
    server: CorpusServer, corpus: Corpus
) -> None:
    server.break_with("unavailable", "/europepmc")
    literature = online(server, "europe_pmc", most_failures=2, pause_s=60.0)
    answers = [
        literature.scholar(f"{query} {corpus.papers[0].work.title}").answers[0]
        for query in ("one", "two", "three")
    ]
    assert {each.status for each in answers} == {"unreachable"}
    asked = [each for each in server.requests if each.startswith("/europepmc")]
    assert len(asked) < 3
    assert answers[-1].retry_after_s is not None


def test_an_index_without_its_key_or_address_says_so(
    server: CorpusServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENALEX_API_KEY")
    (answer,) = online(server, "openalex").scholar("steel").answers
    assert (answer.status, "OPENALEX_API_KEY" in answer.detail) == ("needs_key", True)
    addresses = {name: url for name, url in server.addresses.items() if name != "searxng"}
    found = online(server, addresses=addresses).search("steel")
    assert {each.source: each.status for each in found.answers}["searxng"] == "needs_key"
    assert {"crossref", "arxiv"} <= {each.source for each in found.answers}


def test_an_index_that_does_not_answer_in_time_is_left_and_the_others_count(
    server: CorpusServer, corpus: Corpus
) -> None:
    server.break_with("hang", "/europepmc")
    wanted = known(corpus, "crossref")
    found = online(server, "crossref", "europe_pmc", search_s=1.0).scholar(wanted.title)
    assert {each.source: each.status for each in found.answers} == {
        "crossref": "ok", "europe_pmc": "unreachable",
    }  # fmt: skip
    assert found.works


def test_pages_of_the_web_come_with_their_snippets(server: CorpusServer, corpus: Corpus) -> None:
    found = online(server).search(corpus.papers[0].work.title)
    assert [(each.source, each.status) for each in found.answers] == [("searxng", "ok")]
    assert all(each.url.startswith(server.base) and each.text for each in found.pages)


def test_nothing_is_asked_offline(server: CorpusServer) -> None:
    found = online(server, mode="offline").scholar("steel")
    assert {each.status for each in found.answers} == {"unreachable"}
    assert server.requests == ()


def test_what_a_site_forbids_machines_is_not_read(server: CorpusServer, corpus: Corpus) -> None:
    from sciagent.literature.robots import ForbiddenByRobotsError

    paper = next(each for each in corpus.papers if each.pdf and each.work.open_access == "open")
    with pytest.raises(ForbiddenByRobotsError, match="asks machines"):
        online(server).visit(server.forbidden_address(paper))
    assert not any("/forbidden/" in each for each in server.requests)
    assert online(server).visit(server.pdf_address(paper)).pages == len(paper.pages)


def test_a_site_whose_rules_cannot_be_had_is_not_read(server: CorpusServer, corpus: Corpus) -> None:
    from sciagent.literature.robots import ForbiddenByRobotsError

    server.break_with("unavailable", "/robots.txt")
    paper = next(each for each in corpus.papers if each.pdf and each.work.open_access == "open")
    with pytest.raises(ForbiddenByRobotsError):
        online(server).visit(server.pdf_address(paper))


@pytest.mark.parametrize(
    ("rules", "forbidden"),
    [
        ("User-agent: *\nDisallow: /*.pdf$", True),
        ("User-agent: *\nAllow: /\nDisallow: /pdf/", True),
        ("User-agent: *\nDisallow: /\nAllow: /pdf/", False),
        ("User-agent: sciagent\nDisallow: /", True),
        ("User-agent: another\nDisallow: /", False),
    ],
)
def test_rules_of_sites_are_read_as_their_standard_says(
    tmp_path: Path, rules: str, forbidden: bool
) -> None:
    from sciagent.literature.response_store import Response, ResponseStore
    from sciagent.literature.robots import ForbiddenByRobotsError, Robots

    content = rules.encode()
    store = ResponseStore(tmp_path)
    kept = Response(
        "https://example.org/robots.txt", 200, {}, content, sha256(content).hexdigest(), "2026"
    )
    store.put(kept.url, "*/*", kept)
    robots = Robots(Transport(RetrievalSettings(mode="replay"), store, Pacing()))
    if forbidden:
        with pytest.raises(ForbiddenByRobotsError):
            robots.permit("https://example.org/pdf/a.pdf")
    else:
        robots.permit("https://example.org/pdf/a.pdf")


def test_no_answer_tells_the_key_that_was_sent(server: CorpusServer) -> None:
    for fault in ("redirect_loop", "unavailable", "dropped", "html_error"):
        with CorpusServer(server.corpus) as broken:
            broken.break_with(fault)
            (answer,) = online(broken, "openalex").scholar("steel").answers
        assert "a-key" not in answer.model_dump_json()


def test_an_index_that_breaks_does_not_end_the_search_of_the_others(
    server: CorpusServer, corpus: Corpus
) -> None:
    def search(*_: object) -> IndexAnswer:
        raise ZeroDivisionError("a fault of its own")

    broken = Index("broken", server.base, search)
    settings = settings_for(server)
    chosen = [broken, *(each for each in INDEXES if each.name == "crossref")]
    literature = OnlineLiterature(Transport(settings, None, Pacing()), settings, chosen)
    found = literature.scholar(known(corpus, "crossref").title)
    assert {each.source: each.status for each in found.answers} == {
        "broken": "unreachable", "crossref": "ok",
    }  # fmt: skip


def test_another_index_is_asked_like_the_others(server: CorpusServer) -> None:
    work = Work(key="", title="Something rare", year=2020, found_in=("mine",))
    mine = Index("mine", server.base, lambda *_: IndexAnswer(works=(work,)))
    settings = settings_for(server)
    literature = OnlineLiterature(Transport(settings, None, Pacing()), settings, [mine])
    found = literature.scholar("something")
    assert [each.title for each in found.works] == ["Something rare"]
    assert found.answers[0].source == "mine"


@pytest.mark.parametrize(
    ("query", "doi", "arxiv_id"),
    [
        ("doi:10.1000/ABC.", "10.1000/abc", ""), ("https://doi.org/10.1/x", "", ""),
        ("https://arxiv.org/abs/2101.00001v2", "", "2101.00001"),
        ("arXiv:hep-th/9901001", "", "hep-th/9901001"), ("thermal expansion", "", ""),
    ],
)  # fmt: skip
def test_identifiers_are_told_from_words(query: str, doi: str, arxiv_id: str) -> None:
    assert (doi_in(query), arxiv_id_in(query)) == (doi, arxiv_id)


def test_a_recorded_search_is_replayed_without_the_server(corpus: Corpus, tmp_path: Path) -> None:
    from sciagent.literature.response_store import ResponseStore

    def retrieved(settings: RetrievalSettings) -> list[str]:
        transport = Transport(settings, ResponseStore(tmp_path / "kept"), Pacing())
        with OnlineLiterature(transport, settings) as literature:
            found = literature.scholar(corpus.papers[0].work.title)
            urls = [url for each in found.works for url in each.full_text[:1]]
            documents = [literature.visit(url).model_dump_json() for url in urls]
        return [found.model_dump_json(), *documents]

    with CorpusServer(corpus) as server:
        settings = settings_for(server, mode="record")
        first = retrieved(settings)
    assert retrieved(settings.model_copy(update={"mode": "replay"})) == first
