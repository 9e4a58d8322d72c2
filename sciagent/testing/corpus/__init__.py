"""Generated papers with known facts, and a server that speaks as the indexes of the literature do.

The papers have what makes real ones hard to read: two columns, footnotes, running heads,
ligatures, hyphens at the end of lines, fonts without a map to characters. Some are retracted, some
are preprints of others, some contradict each other, and all of that is known.
"""

from sciagent.testing.corpus.making import make_corpus
from sciagent.testing.corpus.paper import SITE, TRAITS, Corpus, Fact, Paper, Sentence
from sciagent.testing.corpus.quotes import QUOTE_KINDS, QuoteKind, SeededQuote, seeded_quotes
from sciagent.testing.corpus.serving.faults import SERVER_FAULTS, ServerFault
from sciagent.testing.corpus.serving.handler import ServedRequest
from sciagent.testing.corpus.serving.server import CorpusServer

__all__ = [
    "QUOTE_KINDS",
    "SERVER_FAULTS",
    "SITE",
    "TRAITS",
    "Corpus",
    "CorpusServer",
    "Fact",
    "Paper",
    "QuoteKind",
    "SeededQuote",
    "Sentence",
    "ServedRequest",
    "ServerFault",
    "make_corpus",
    "seeded_quotes",
]
