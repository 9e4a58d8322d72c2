"""Generated papers with known facts, and a server that speaks as the indexes of the literature do.

The papers have what makes real ones hard to read: two columns, footnotes, running heads,
ligatures, hyphens at the end of lines, fonts without a map to characters. Some are retracted, some
are preprints of others, some contradict each other, and all of that is known.
"""

from sciagent.testing.corpus.making import make_corpus
from sciagent.testing.corpus.paper import SITE, TRAITS, Corpus, Fact, Paper, Sentence

__all__ = ["SITE", "TRAITS", "Corpus", "Fact", "Paper", "Sentence", "make_corpus"]
