"""The paths of a server: those of the indexes, and the files of the papers."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from sciagent.contracts.literature import Work
from sciagent.testing.corpus import responses
from sciagent.testing.corpus.paper import SITE, Corpus, Paper
from sciagent.testing.corpus.serving.answer import (
    ATOM,
    HTML,
    PDF,
    Answer,
    json_answer,
    page_answer,
    text_answer,
)
from sciagent.testing.corpus.serving.matching import part, ranked, with_doi
from sciagent.testing.corpus.typesetting import Manuscript
from sciagent.testing.corpus.web_page import article_page

FORBIDDEN = "/forbidden/"
"""Folder that robots.txt asks machines to stay out of; the same files as elsewhere are in it."""

ROOTS = {
    "arxiv": "/arxiv", "crossref": "/crossref", "europe_pmc": "/europepmc",
    "openalex": "/openalex", "unpaywall": "/unpaywall/v2",
    "semantic_scholar": "/semanticscholar/graph/v1", "searxng": "/searxng",
}  # fmt: skip
"""Where each index is played; behind it come the paths of the real one."""

Parameters = Mapping[str, str]
_CROSSREF_FILTERS = frozenset({"doi", "updates", "has-update", "is-update", "type"})
_ARXIV_ID = re.compile(r"^(\d{4}\.\d{4,5})(?:v\d+)?$")


class Routes:
    """Answers requests for a corpus.

    Parameters
    ----------
    corpus
        What is there.
    site
        Address of the server.
    """

    def __init__(self, corpus: Corpus, site: str) -> None:
        self._corpus, self._site = corpus, site
        self._works = {
            index: [each.work for each in corpus.papers if responses.known_to(index, each.work)]
            for index in responses.INDEX_NAMES
        }
        self._paths: tuple[tuple[str, Callable[[str, Parameters], Answer]], ...] = (
            ("/robots.txt", self._robots),
            (FORBIDDEN, self._file),
            ("/pdf/", self._pdf),
            ("/html/", self._page),
            ("/arxiv/pdf/", self._arxiv_pdf),
            ("/arxiv/api/query", self._arxiv),
            ("/crossref/works", self._crossref),
            ("/europepmc/search", self._europe_pmc),
            ("/openalex/works", self._openalex),
            ("/unpaywall/v2/", self._unpaywall),
            ("/semanticscholar/graph/v1/paper/search", self._semantic_search),
            ("/semanticscholar/graph/v1/paper/", self._semantic_paper),
            ("/searxng/search", self._searxng),
        )

    def answer(self, target: str) -> Answer:
        """Answer a request for a path with its query."""
        parts = urlsplit(target)
        asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        for prefix, answering in self._paths:
            if parts.path.startswith(prefix):
                return answering(unquote(parts.path.removeprefix(prefix)), asked)
        return page_answer("404 Not Found", "There is nothing at this address.", 404)

    # ------------------------------------------------------------ files

    def _robots(self, _: str, __: Parameters) -> Answer:
        return text_answer(f"User-agent: *\nDisallow: {FORBIDDEN}\n")

    def _file(self, rest: str, asked: Parameters) -> Answer:
        return (self._pdf if rest.endswith(".pdf") else self._page)(rest, asked)

    def _pdf(self, rest: str, _: Parameters) -> Answer:
        return self._sent_pdf(self._named(rest.removesuffix(".pdf")))

    def _arxiv_pdf(self, rest: str, _: Parameters) -> Answer:
        match = _ARXIV_ID.match(rest.removesuffix(".pdf"))
        papers = self._corpus.papers if match else ()
        found = (each for each in papers if match and each.work.arxiv_id == match[1])
        return self._sent_pdf(next(found, None))

    def _sent_pdf(self, paper: Paper | None) -> Answer:
        if paper is None or paper.pdf is None:
            return page_answer("404 Not Found", "There is no such article.", 404)
        if paper.work.open_access != "open":
            return page_answer("Sign in", "Subscribers can read the whole article.", 403)
        return Answer(200, PDF, paper.pdf.read_bytes())

    def _page(self, rest: str, _: Parameters) -> Answer:
        paper = self._named(rest.removesuffix(".html"))
        if paper is None:
            return page_answer("404 Not Found", "There is no such article.", 404)
        if paper.html is None:
            text = article_page(paper.work, Manuscript(paper.work.abstract))
        else:
            text = paper.html.read_text(encoding="utf-8")
        return text_answer(text.replace(SITE, self._site), media_type=HTML)

    def _named(self, key: str) -> Paper | None:
        return next((each for each in self._corpus.papers if each.work.key == key), None)

    # ------------------------------------------------------------ indexes

    def _arxiv(self, _: str, asked: Parameters) -> Answer:
        start, many = _number(asked, "start", 0), _number(asked, "max_results", 10)
        known = self._works["arxiv"]
        if asked.get("id_list"):
            named = {each.partition("v")[0].strip() for each in asked["id_list"].split(",")}
            known = [each for each in known if each.arxiv_id in named]
        if asked.get("search_query"):
            known = ranked(known, asked["search_query"])
        feed = responses.arxiv_feed(
            part(known, start, many),
            urlencode(asked),
            total=len(known),
            start=start,
            site=self._site,
        )
        return text_answer(feed, media_type=ATOM)

    def _crossref(self, rest: str, asked: Parameters) -> Answer:
        known = self._works["crossref"]
        if doi := rest.strip("/"):
            return self._crossref_single(doi)
        filters = dict(_pairs(asked.get("filter", "")))
        if unknown := next((name for name in filters if name not in _CROSSREF_FILTERS), ""):
            return _crossref_refusal(unknown)
        start, many = _number(asked, "offset", 0), _number(asked, "rows", 20)
        queries = [value for name, value in asked.items() if name.split(".")[0] == "query"]
        found = ranked(known, " ".join(queries)) if queries else known
        if "doi" in filters:
            found = [each for each in found if each.doi == filters["doi"].casefold()]
        items = []
        for work in found:
            notice = responses.crossref_notice(work, site=self._site)
            updated = filters.get("updates", "").casefold()
            if not updated and "is-update" not in filters:
                items.append(responses.crossref_item(work, site=self._site))
            if notice and "doi" not in filters and updated in {"", work.doi}:
                items.append(notice)
        if "has-update" in filters:
            items = [each for each in items if "updated-by" in each]
        if "select" in asked:
            fields = asked["select"].split(",")
            items = [{name: each[name] for name in fields if name in each} for each in items]
        return json_answer(
            responses.crossref_works(
                items[start : start + many], total=len(items), start=start,
                query=" ".join(queries),
            )
        )  # fmt: skip

    def _crossref_single(self, doi: str) -> Answer:
        work = with_doi(self._works["crossref"], doi)
        if work is not None:
            item = responses.crossref_item(work, site=self._site)
            return json_answer(responses.crossref_single(item))
        known = self._works["crossref"]
        notices = (responses.crossref_notice(each, site=self._site) for each in known)
        named = next((each for each in notices if each and each["DOI"] == doi.casefold()), None)
        if named is not None:
            return json_answer(responses.crossref_single(named))
        return text_answer("Resource not found.", 404)

    def _europe_pmc(self, _: str, asked: Parameters) -> Answer:
        query, many = asked.get("query", ""), _number(asked, "pageSize", 25)
        known = self._works["europe_pmc"]
        if doi := re.search(r'DOI:\s*"?([^\s")]+)', query, re.IGNORECASE):
            found = [each for each in known if each.doi == doi[1].casefold()]
        elif pmid := re.search(r"EXT_ID:\s*\"?(\d+)", query, re.IGNORECASE):
            found = [each for each in known if each.pmid == pmid[1]]
        else:
            found = ranked(known, query)
        return json_answer(
            responses.europe_pmc_search(
                part(found, 0, many), query, total=len(found), page_size=many, site=self._site,
                cursor=asked.get("cursorMark", "*"),
            )
        )  # fmt: skip

    def _openalex(self, rest: str, asked: Parameters) -> Answer:
        known = self._works["openalex"]
        if name := rest.strip("/"):
            work = with_doi(known, name)
            if work is None:
                return json_answer({"error": "Not Found", "message": f"{name} not found"}, 404)
            return json_answer(responses.openalex_work(work, site=self._site))
        filters = dict(_pairs(asked.get("filter", "")))
        many = _number(asked, "per_page", _number(asked, "per-page", 25))
        page = _number(asked, "page", 1)
        search = asked.get("search") or next(
            (value for name, value in filters.items() if name.endswith(".search")), ""
        )
        found = ranked(known, search) if search else known
        if "doi" in filters:
            named = [with_doi(known, doi) for doi in filters["doi"].split("|")]
            found = [each for each in named if each is not None]
        return json_answer(
            responses.openalex_works(
                part(found, (page - 1) * many, many), total=len(found), page=page, per_page=many,
                site=self._site,
            )
        )  # fmt: skip

    def _unpaywall(self, rest: str, asked: Parameters) -> Answer:
        if "@" not in asked.get("email", ""):
            message = "Please use your own email address in API calls."
            return json_answer({"HTTP_status_code": 422, "error": True, "message": message}, 422)
        work = with_doi(self._works["unpaywall"], rest)
        if work is None:
            message = f"{rest!r} isn't in Unpaywall."
            return json_answer({"HTTP_status_code": 404, "error": True, "message": message}, 404)
        return json_answer(responses.unpaywall_record(work, site=self._site))

    def _semantic_search(self, _: str, asked: Parameters) -> Answer:
        if not asked.get("query"):
            return json_answer({"error": "Missing required parameter: 'query'"}, 400)
        start, many = _number(asked, "offset", 0), _number(asked, "limit", 100)
        found = ranked(self._works["semantic_scholar"], asked["query"])
        return json_answer(
            responses.semantic_scholar_search(
                part(found, start, many), total=len(found), offset=start, site=self._site,
                fields=asked.get("fields", "title").split(","),
            )
        )  # fmt: skip

    def _semantic_paper(self, rest: str, asked: Parameters) -> Answer:
        kind, _, name = rest.partition(":")
        known = self._works["semantic_scholar"]
        work: Work | None = None
        if kind.upper() == "DOI":
            work = with_doi(known, name)
        elif kind.upper() == "ARXIV":
            work = next((each for each in known if each.arxiv_id == name), None)
        if work is None:
            return json_answer({"error": f"Paper with id {rest} not found"}, 404)
        fields = asked.get("fields", "title").split(",")
        return json_answer(responses.semantic_scholar_paper(work, fields=fields, site=self._site))

    def _searxng(self, _: str, asked: Parameters) -> Answer:
        query = asked.get("q", "")
        if not query:
            return page_answer("400 Bad Request", "Give a query.", 400)
        if asked.get("format") != "json":
            return page_answer(query, "Results for people.", 200)
        start = 10 * (_number(asked, "pageno", 1) - 1)
        found = part(ranked(self._works["searxng"], query), start, 10)
        return json_answer(responses.searxng_search(found, query, site=self._site))


def _number(asked: Parameters, name: str, default: int) -> int:
    """Number of a parameter, or the default where it is missing or none."""
    value = asked.get(name, "")
    return int(value) if value.isdigit() else default


def _pairs(filters: str) -> list[tuple[str, str]]:
    """Filters as Crossref and OpenAlex write them: ``name:value,name:value``."""
    split = (each.partition(":") for each in filters.split(",") if each)
    return [(name, value) for name, _, value in split]


def _crossref_refusal(name: str) -> Answer:
    return json_answer(
        {
            "status": "failed",
            "message-type": "validation-failure",
            "message": [{
                "type": "filter-not-available", "value": name,
                "message": f"Filter {name} specified but there is no such filter for this route.",
            }],
        },
        400,
    )  # fmt: skip
