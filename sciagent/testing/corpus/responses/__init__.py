"""Works in the formats in which the indexes of the literature answer.

Each function takes works and gives what the index would send for them: the JSON as Python objects,
arXiv's Atom as a text. Addresses of generated files are put under `site`.
"""

from sciagent.testing.corpus.responses.arxiv import arxiv_feed
from sciagent.testing.corpus.responses.crossref import (
    crossref_item,
    crossref_notice,
    crossref_single,
    crossref_works,
)
from sciagent.testing.corpus.responses.europe_pmc import europe_pmc_result, europe_pmc_search
from sciagent.testing.corpus.responses.known import INDEX_NAMES, known_to
from sciagent.testing.corpus.responses.openalex import openalex_work, openalex_works
from sciagent.testing.corpus.responses.searxng import searxng_search
from sciagent.testing.corpus.responses.semantic_scholar import (
    semantic_scholar_paper,
    semantic_scholar_search,
)
from sciagent.testing.corpus.responses.unpaywall import unpaywall_record

__all__ = [
    "INDEX_NAMES",
    "arxiv_feed",
    "crossref_item",
    "crossref_notice",
    "crossref_single",
    "crossref_works",
    "europe_pmc_result",
    "europe_pmc_search",
    "known_to",
    "openalex_work",
    "openalex_works",
    "searxng_search",
    "semantic_scholar_paper",
    "semantic_scholar_search",
    "unpaywall_record",
]
