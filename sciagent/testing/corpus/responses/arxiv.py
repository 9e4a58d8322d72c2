"""The Atom feed of arXiv (https://info.arxiv.org/help/api/user-manual.html)."""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from sciagent.contracts.literature import Work
from sciagent.testing.corpus.paper import SITE
from sciagent.testing.corpus.responses.known import full_names, other_version, published

_CATEGORY = "cond-mat.mtrl-sci"


def arxiv_feed(
    works: Sequence[Work], query: str, *, total: int | None = None, start: int = 0,
    site: str = SITE,
) -> str:  # fmt: skip
    """Write the feed of a query.

    Parameters
    ----------
    works
        Those on this page of the answer; each has an arXiv identifier.
    query
        Parameters as they were sent.
    total, start
        How many there are in all, and the number of the first one here.
    site
        Where PDFs can be read.
    """
    entries = "".join(_entry(work, site) for work in works)
    address = f"https://arxiv.org/api/query?{query}"
    return f"""<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" \
xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/generated</id>
  <title>arXiv Query: {escape(query)}</title>
  <updated>2026-01-01T00:00:00Z</updated>
  <link href={quoteattr(address)} type="application/atom+xml"/>
  <opensearch:itemsPerPage>{len(works)}</opensearch:itemsPerPage>
  <opensearch:totalResults>{len(works) if total is None else total}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>
{entries}</feed>
"""


def _entry(work: Work, site: str) -> str:
    day = published(work).isoformat()
    named = f"{work.arxiv_id}v1"
    authors = "".join(
        f"    <author>\n      <name>{escape(name)}</name>\n    </author>\n"
        for name in full_names(work)
    )
    article = other_version(work)
    doi = f"    <arxiv:doi>{escape(article.doi)}</arxiv:doi>\n" if article else ""
    return f"""  <entry>
    <id>http://arxiv.org/abs/{named}</id>
    <title>{escape(work.title)}</title>
    <updated>{day}T12:00:00Z</updated>
    <link href="https://arxiv.org/abs/{named}" rel="alternate" type="text/html"/>
    <link href="{site}/arxiv/pdf/{named}" rel="related" type="application/pdf" title="pdf"/>
    <summary>{escape(work.abstract)}</summary>
    <category term="{_CATEGORY}" scheme="http://arxiv.org/schemas/atom"/>
    <published>{day}T12:00:00Z</published>
    <arxiv:comment>Generated for tests</arxiv:comment>
    <arxiv:primary_category term="{_CATEGORY}"/>
{doi}{authors}  </entry>
"""
