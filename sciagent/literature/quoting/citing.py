"""A citation of a work by words of it that were found."""

from sciagent.contracts.citation import Citation, Quote
from sciagent.contracts.literature import Work
from sciagent.literature.quoting.locating import Place


def citation_of(work: Work, source_sha256: str, quote: str, place: Place) -> Citation:
    """Cite a work by a quote, with what became of the work.

    Parameters
    ----------
    work
        As it is known when it is cited.
    source_sha256
        Of the stored text.
    quote, place
        Words of the text, and where they stand in it.
    """
    return Citation(
        work=work.key,
        source_sha256=source_sha256,
        quote=Quote(text=quote, page=place.page, start=place.start, end=place.end),
        status=work.status,
        status_date=work.status_date,
    )
