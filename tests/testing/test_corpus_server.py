"""The server of a corpus: formats that the indexes have, and everything that breaks."""

import gzip
import io
import runpy
import shutil
import socket
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sciagent.contracts.errors import UnknownNameError
from sciagent.testing.corpus import (
    QUOTE_KINDS,
    SERVER_FAULTS,
    TRAITS,
    CorpusServer,
    Paper,
    ServerFault,
)
from sciagent.testing.corpus.responses import known_to
from tests.docs.pages import HOW_TO, blocks
from tests.testing.corpora import small_corpus

ATOM = {
    "atom": "http://www.w3.org/2005/Atom",
    "found": "http://a9.com/-/spec/opensearch/1.1/",
}
NOTHING = "quetzalcoatlus"


@pytest.fixture(scope="module")
def server() -> Iterator[CorpusServer]:
    with CorpusServer(small_corpus()) as running:
        yield running


@pytest.fixture
def own_server() -> Iterator[CorpusServer]:
    with CorpusServer(small_corpus()) as running:
        yield running


def get(server: CorpusServer, path: str, **query: Any) -> httpx.Response:
    return httpx.get(f"{server.base}{path}", params=query or None, timeout=10)


def known(index: str, *traits: str) -> Paper:
    return next(each for each in small_corpus().having(*traits) if known_to(index, each.work))


# ---------------------------------------------------------------- indexes


def test_arxiv_answers_with_a_feed_that_its_client_reads(server: CorpusServer) -> None:
    import arxiv

    class LocalClient(arxiv.Client):  # type: ignore[misc]
        query_url_format = f"{server.base}/arxiv/api/query?{{}}"

    paper = known("arxiv", "preprint")
    client = LocalClient(page_size=10, delay_seconds=0.0, num_retries=0)
    first, *_ = client.results(arxiv.Search(query=f'ti:"{paper.work.title}"', max_results=5))
    assert first.title == paper.work.title
    assert first.get_short_id() == f"{paper.work.arxiv_id}v1"
    assert first.doi == paper.work.versions[0].doi
    assert first.summary == paper.work.abstract
    assert [each.name for each in first.authors] == [
        f"{each.given} {each.family}" for each in paper.work.authors
    ]
    assert paper.pdf is not None
    assert httpx.get(first.pdf_url).content == paper.pdf.read_bytes()


def test_arxiv_finds_by_identifier_and_says_zero_where_nothing_fits(server: CorpusServer) -> None:
    paper = known("arxiv", "preprint")
    by_id = get(server, "/arxiv/api/query", id_list=f"{paper.work.arxiv_id}v1")
    assert by_id.text.count("<entry>") == 1
    nothing = ET.fromstring(  # noqa: S314 - our own server wrote it
        get(server, "/arxiv/api/query", search_query=f"all:{NOTHING}").content
    )
    assert nothing.findtext("found:totalResults", namespaces=ATOM) == "0"
    assert nothing.findall("atom:entry", ATOM) == []


def test_crossref_lists_works_and_gives_single_ones(server: CorpusServer) -> None:
    paper = known("crossref", "published")
    query = {"query.bibliographic": paper.work.title, "rows": 2}
    listed = get(server, "/crossref/works", **query).json()
    assert (listed["status"], listed["message-type"]) == ("ok", "work-list")
    item = listed["message"]["items"][0]
    assert item["DOI"] == paper.work.doi
    assert item["relation"]["has-preprint"][0]["id"] == paper.work.versions[0].doi
    single = get(server, f"/crossref/works/{paper.work.doi}").json()
    assert single["message-type"] == "work"
    assert single["message"] == item
    assert item["issued"]["date-parts"][0][0] == paper.work.year
    assert [each["family"] for each in item["author"]] == [
        each.family for each in paper.work.authors
    ]


def test_crossref_knows_retractions_from_both_sides(server: CorpusServer) -> None:
    paper = known("crossref", "retracted")
    original = get(server, f"/crossref/works/{paper.work.doi}").json()["message"]
    update = original["updated-by"][0]
    assert (update["type"], update["source"]) == ("retraction", "retraction-watch")
    assert update["updated"]["date-time"] == f"{paper.work.status_date}T00:00:00Z"
    notices = get(server, "/crossref/works", filter=f"updates:{paper.work.doi}").json()["message"]
    assert notices["total-results"] == 1
    notice = notices["items"][0]
    assert notice["update-to"][0]["DOI"] == paper.work.doi
    assert notice["DOI"] == update["DOI"]
    assert get(server, f"/crossref/works/{notice['DOI']}").json()["message"] == notice


def test_crossref_refuses_what_it_does_not_know(server: CorpusServer) -> None:
    assert get(server, "/crossref/works/10.5555/none").status_code == 404
    refused = get(server, "/crossref/works", filter="retracted:true")
    assert refused.status_code == 400
    assert refused.json()["message-type"] == "validation-failure"
    brief = get(server, "/crossref/works", select="DOI,title").json()["message"]["items"]
    assert {frozenset(each) for each in brief} == {frozenset({"DOI", "title"})}


def test_europe_pmc_gives_core_records_with_their_retractions(server: CorpusServer) -> None:
    papers = [each for each in small_corpus().papers if known_to("europe_pmc", each.work)]
    assert papers
    for paper in papers:
        query = f'DOI:"{paper.work.doi}"'
        found = get(server, "/europepmc/search", query=query, format="json", resultType="core")
        assert found.json()["hitCount"] == 1
        record = found.json()["resultList"]["result"][0]
        assert record["title"] == f"{paper.work.title}."
        assert record["isOpenAccess"] == ("Y" if paper.work.open_access == "open" else "N")
        is_marked = "Retracted Publication" in record["pubTypeList"]["pubType"]
        assert is_marked == (paper.work.status == "retracted")
        if paper.work.pmid:
            again = get(server, "/europepmc/search", query=f"EXT_ID:{paper.work.pmid} AND SRC:MED")
            assert again.json()["resultList"] == found.json()["resultList"]


def test_openalex_gives_abstracts_as_inverted_indexes(server: CorpusServer) -> None:
    for paper in small_corpus().having("retracted"):
        found = get(server, "/openalex/works", search=paper.work.title, per_page=3).json()
        record = found["results"][0]
        words = sorted(
            (place, word)
            for word, places in record["abstract_inverted_index"].items()
            for place in places
        )
        assert " ".join(word for _, word in words) == paper.work.abstract
        assert record["is_retracted"] is True
        single = get(server, f"/openalex/works/https://doi.org/{paper.work.doi}").json()
        assert single["id"] == record["id"]
        by_filter = get(server, "/openalex/works", filter=f"doi:{paper.work.doi}").json()
        assert [each["id"] for each in by_filter["results"]] == [record["id"]]


def test_unpaywall_wants_an_address_and_tells_where_open_works_are(server: CorpusServer) -> None:
    for paper in small_corpus().papers:
        path = f"/unpaywall/v2/{paper.work.doi}"
        if not known_to("unpaywall", paper.work):
            assert get(server, path, email="a@example.org").status_code == 404
            continue
        assert get(server, path).status_code == 422
        record = get(server, path, email="a@example.org").json()
        assert record["is_oa"] == (paper.work.open_access == "open")
        location = record["best_oa_location"]
        assert (location is None) == (paper.work.open_access == "closed")
        if location and paper.pdf:
            assert httpx.get(location["url_for_pdf"]).content == paper.pdf.read_bytes()


def test_semantic_scholar_gives_the_fields_that_were_asked_for(server: CorpusServer) -> None:
    path = "/semanticscholar/graph/v1/paper/search"
    paper = known("semantic_scholar", "look_alike")
    found = get(server, path, query=paper.work.title, limit=1, fields="title,externalIds").json()
    assert set(found["data"][0]) == {"paperId", "title", "externalIds"}
    assert found["next"] == 1 < found["total"]
    nothing = get(server, path, query=NOTHING).json()
    assert (nothing["total"], nothing["data"]) == (0, [])
    assert get(server, path).status_code == 400
    single = get(server, f"/semanticscholar/graph/v1/paper/DOI:{paper.work.doi}").json()
    assert single["title"] == paper.work.title


def test_searxng_gives_json_to_those_who_ask_and_pages_that_exist(server: CorpusServer) -> None:
    paper = small_corpus().papers[0]
    found = get(server, "/searxng/search", q=paper.work.title, format="json").json()
    assert found["results"][0]["title"].startswith(paper.work.title)
    assert found["unresponsive_engines"] == []
    for each in found["results"]:
        assert httpx.get(each["url"]).status_code == 200
    assert get(server, "/searxng/search", q="lattice").headers["content-type"].startswith("text/")


def test_two_words_of_a_title_find_it_and_unknown_words_find_nothing(server: CorpusServer) -> None:
    paper = known("openalex", "corrected")
    entity = next(each.entity for each in paper.facts if each.entity in paper.work.title)
    for index, path, name in (
        ("crossref", "/crossref/works", "query"),
        ("openalex", "/openalex/works", "search"),
    ):
        assert known_to(index, paper.work)
        assert paper.work.doi in get(server, path, **{name: entity}).text
        assert paper.work.doi not in get(server, path, **{name: NOTHING}).text


# ---------------------------------------------------------------- files


def test_files_are_served_to_those_who_may_read_them(server: CorpusServer) -> None:
    for paper in small_corpus().papers:
        answer = httpx.get(server.pdf_address(paper))
        page = httpx.get(server.page_address(paper))
        assert page.status_code == 200
        assert paper.work.title in page.text.replace("&amp;", "&")
        if paper.work.open_access == "open" and paper.pdf:
            assert answer.headers["content-type"] == "application/pdf"
            assert answer.content == paper.pdf.read_bytes()
        else:
            assert answer.status_code == 403
    assert get(server, "/nowhere").status_code == 404


def test_robots_forbid_one_folder_that_would_answer(server: CorpusServer) -> None:
    from urllib.robotparser import RobotFileParser

    paper = known("unpaywall", "published")
    rules = RobotFileParser()
    rules.parse(get(server, "/robots.txt").text.splitlines())
    assert rules.can_fetch("sciagent", server.pdf_address(paper))
    assert not rules.can_fetch("sciagent", server.forbidden_address(paper))
    assert httpx.get(server.forbidden_address(paper)).status_code in {200, 403}


def test_requests_are_kept_in_order_with_query_and_headers(own_server: CorpusServer) -> None:
    get(own_server, "/openalex/works", search="lattice")
    httpx.get(f"{own_server.base}/robots.txt", headers={"User-Agent": "polite"})
    assert own_server.requests == ("/openalex/works?search=lattice", "/robots.txt")
    assert own_server.served[1].headers["user-agent"] == "polite"
    assert own_server.served[0].arrived_s <= own_server.served[1].arrived_s


def test_addresses_name_each_index_once(server: CorpusServer) -> None:
    assert set(server.addresses) == {
        "arxiv", "crossref", "europe_pmc", "openalex", "unpaywall", "semantic_scholar", "searxng",
    }  # fmt: skip
    assert all(each.startswith(server.base) for each in server.addresses.values())


# ---------------------------------------------------------------- faults

WORKS = "/openalex/works?search=lattice"


def broken(server: CorpusServer, name: str, path: str = WORKS) -> httpx.Response:
    return httpx.get(server.faulty(name, f"{server.base}{path}"), timeout=10)


def test_refusals_have_the_status_and_the_time_of_real_ones(own_server: CorpusServer) -> None:
    own_server.break_with("rate_limited", "/openalex", times=2, retry_after_s=7)
    answers = [get(own_server, "/openalex/works") for _ in range(3)]
    assert [each.status_code for each in answers] == [429, 429, 200]
    assert answers[0].headers["retry-after"] == "7"
    assert broken(own_server, "unavailable").status_code == 503
    assert broken(own_server, "needs_key").status_code == 401
    assert [each.fault for each in own_server.served][:3] == ["rate_limited", "rate_limited", ""]


def test_faults_happen_to_their_paths_until_they_are_mended() -> None:
    faults = [ServerFault("unavailable", "/crossref"), ServerFault("html_error", "/")]
    with CorpusServer(small_corpus(), faults) as server:
        assert get(server, "/crossref/works").status_code == 503
        page = get(server, "/openalex/works")
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        server.mend()
        assert get(server, "/crossref/works").status_code == 200


def test_a_hanging_server_answers_nothing_and_lets_go_when_it_ends() -> None:
    with CorpusServer(small_corpus()) as server:
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(server.faulty("hang", server.base), timeout=0.2)
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(server.faulty("dropped", server.base), timeout=5)


def test_a_body_can_be_shorter_than_it_says(server: CorpusServer) -> None:
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete"):
        broken(server, "short_body")


def test_files_can_be_cut_and_types_can_be_wrong(server: CorpusServer) -> None:
    paper = known("unpaywall", "published")
    whole = httpx.get(server.pdf_address(paper)).content
    path = server.pdf_address(paper).removeprefix(server.base)
    assert broken(server, "truncated_file", path).content == whole[: len(whole) // 2]
    assert broken(server, "wrong_type", path).headers["content-type"].startswith("text/html")
    assert broken(server, "wrong_type").headers["content-type"] == "application/pdf"


def test_redirects_lead_to_private_places_that_nobody_asks(server: CorpusServer) -> None:
    assert broken(server, "private_redirect").headers["location"] == "http://10.0.0.1/"
    inside = broken(server, "loopback_redirect").headers["location"]
    assert inside.startswith(f"{server.trap}/")
    assert server.trapped == ()
    with CorpusServer(small_corpus()) as other:
        assert httpx.get(f"{other.trap}/inside").text == "secret"
        assert other.trapped == ("/inside",)


def test_a_redirect_loop_never_ends(server: CorpusServer) -> None:
    with pytest.raises(httpx.TooManyRedirects):
        httpx.get(server.faulty("redirect_loop", f"{server.base}{WORKS}"), follow_redirects=True)


def test_moved_fields_keep_the_content_under_other_names(server: CorpusServer) -> None:
    right = get(server, "/openalex/works", search="lattice").json()
    moved = broken(server, "moved_fields").json()
    assert "results" not in moved
    assert len(moved["items_v2"]) == len(right["results"])
    records = broken(server, "moved_record_fields").json()["results"]
    assert all("title" not in each and "name_v2" in each for each in records)
    feed = broken(server, "moved_fields", "/arxiv/api/query?search_query=lattice").text
    assert "<entry>" not in feed
    assert feed.startswith("<?xml")


def test_an_endless_body_goes_on_until_the_reader_leaves(server: CorpusServer) -> None:
    enough = 4 << 20
    with httpx.stream("GET", server.faulty("endless", server.base), timeout=10) as answer:
        assert "content-length" not in answer.headers
        got = 0
        for chunk in answer.iter_raw():
            got += len(chunk)
            if got > enough:
                break
    assert got > enough


def test_a_small_body_can_expand_to_a_large_one(server: CorpusServer) -> None:
    with httpx.stream("GET", server.faulty("gzip_bomb", server.base), timeout=10) as answer:
        packed = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert len(packed) < 2 << 20
    with gzip.open(io.BytesIO(packed)) as expanded:
        assert len(expanded.read(64 << 20)) == 64 << 20


def test_unknown_faults_are_refused_by_name(server: CorpusServer) -> None:
    with pytest.raises(UnknownNameError, match="rate_limited"):
        ServerFault("rate_limit")
    with pytest.raises(UnknownNameError):
        server.faulty("nothing", server.base)
    assert get(server, "/faulty/nothing/robots.txt").status_code == 404
    assert len(SERVER_FAULTS) == 17


def test_ports_are_free_again_when_the_server_has_ended() -> None:
    with CorpusServer(small_corpus()) as server:
        port = int(server.base.rpartition(":")[2])
        assert get(server, "/robots.txt").status_code == 200
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_the_page_about_corpora_runs_as_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = HOW_TO / "make-a-corpus.md"
    script = tmp_path / "page.py"
    script.write_text("\n".join(each.text for each in blocks(page) if each.language == "python"))
    names = runpy.run_path(str(script))
    printed = capsys.readouterr().out
    assert names["paper"].work.doi in printed.splitlines()
    assert "Down for maintenance" in printed
    text = page.read_text(encoding="utf-8")
    assert [
        each for each in (*SERVER_FAULTS, *TRAITS, *QUOTE_KINDS) if f"`{each}`" not in text
    ] == []
    shutil.rmtree(names["corpus"].folder)
