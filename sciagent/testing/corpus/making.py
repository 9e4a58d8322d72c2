"""Generated papers with known facts, written to a folder as PDFs and pages of the web."""

from pathlib import Path
from random import Random

from sciagent.contracts.errors import InputError
from sciagent.contracts.literature import Work
from sciagent.testing.corpus.letters import needs_reportlab
from sciagent.testing.corpus.paper import SITE, Corpus, Paper
from sciagent.testing.corpus.planning import PlannedPaper, plan_papers
from sciagent.testing.corpus.typesetting import Typesetting
from sciagent.testing.corpus.web_page import article_page
from sciagent.testing.corpus.works import works_of

_LEAST_PAGES, _MOST_PAGES = 4, 10
_MOST_FACTS = 12
_CITED, _CITED_BRIEFLY, _BRIEF_PAGES = 5, 2, 2


def make_corpus(
    folder: Path, papers: int = 50, seed: int = 0, *, pages: int | None = None
) -> Corpus:
    """Write papers with known facts to a folder.

    Same arguments, same bytes. Every trait of `TRAITS` occurs in a corpus of eight papers or
    more.

    Parameters
    ----------
    folder
        Gets ``KEY.pdf`` for every paper and ``KEY.html`` for every second one; made if it is
        missing.
    papers
        How many.
    seed
        Which ones.
    pages
        Of each paper; by default between four and ten.

    Returns
    -------
    Corpus
        The papers with their true text, facts, traits and sentences.

    Raises
    ------
    InputError
        If reportlab is not installed, or fewer than one paper or page is asked for.
    """
    if papers < 1 or (pages is not None and pages < 1):
        raise InputError(
            f"A corpus of {papers} papers with {pages} pages cannot be made.",
            "Ask for one of each at least.",
        )
    needs_reportlab()
    folder.mkdir(parents=True, exist_ok=True)
    most = pages or _MOST_PAGES
    planned = plan_papers(papers, min(3 + 2 * most, _MOST_FACTS), seed)
    works = works_of(planned, seed)
    made = tuple(_make(folder, each, works, seed, pages) for each in planned)
    return Corpus(folder, made)


def _make(
    folder: Path, planned: PlannedPaper, works: tuple[Work, ...], seed: int, pages: int | None
) -> Paper:
    random = Random(f"paper {seed} {planned.number}")
    number_of_pages = pages or random.randint(_LEAST_PAGES, _MOST_PAGES)
    work = works[planned.number]
    others = [each for each in works if each.key != work.key]
    most = _CITED if number_of_pages > _BRIEF_PAGES else _CITED_BRIEFLY
    cited = random.sample(others, min(most, len(others)))
    pdf = folder / f"{work.key}.pdf"
    manuscript = Typesetting(planned, work, number_of_pages, seed, cited).write(pdf)
    html = folder / f"{work.key}.html" if planned.number % 2 == 0 else None
    update: dict[str, object] = {"abstract": manuscript.abstract}
    if html is not None:
        html.write_text(article_page(work, manuscript), encoding="utf-8")
        if work.open_access == "open":
            update["full_text"] = (*work.full_text, f"{SITE}/html/{work.key}.html")
    return Paper(
        work.model_copy(update=update),
        pdf,
        html,
        manuscript.pages,
        tuple(manuscript.facts),
        frozenset(planned.traits),
        tuple(manuscript.sentences),
        tuple(manuscript.unreadable),
    )
