"""Sentences as scientists write them: facts, denials, numbers with units, and the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random

from sciagent.testing.corpus import vocabulary
from sciagent.testing.corpus.planning import PlannedFact, PlannedPaper

_FACT_EVERY = 4
_ASIDE_EVERY = 9


@dataclass(frozen=True, slots=True)
class Written:
    """A sentence, and what it is for.

    Attributes
    ----------
    text
        The sentence.
    fact
        The number that it gives, if it is one of the planned.
    is_aside
        Whether it may be set in the font without a map to characters.
    """

    text: str
    fact: PlannedFact | None = None
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences that belong together, under a heading if one begins here."""

    sentences: tuple[Written, ...]
    heading: str = ""


def abstract(paper: PlannedPaper, seed: int) -> tuple[Written, ...]:
    """Write the abstract; both versions of a paper have the same."""
    random = Random(f"abstract {seed} {paper.story}")
    entity = paper.facts[0].entity
    return (
        Written(
            f"We report on the {random.choice(vocabulary.NOUNS)} of {entity} and on its "
            f"{random.choice(vocabulary.NOUNS)} {random.choice(vocabulary.ADVERBIALS)}."
        ),
        *(Written(_remark(_PLAIN, entity, random)) for _ in range(random.randint(2, 3))),
    )


def paragraphs(paper: PlannedPaper, seed: int) -> Iterator[Paragraph]:
    """Write the body of a paper, without an end.

    The planned facts come first, one in four sentences. Papers with the same story begin with the
    same paragraphs; after six, each goes on in its own words.
    """
    random = Random(f"body {seed} {paper.story}")
    entities = sorted({each.entity for each in paper.facts})
    facts = iter(paper.facts)
    written = 0
    for number in count():
        if number == 6:
            random = Random(f"body {seed} {paper.story} of {paper.number}")
        sentences = []
        for _ in range(random.randint(4, 8)):
            written += 1
            fact = next(facts, None) if written % _FACT_EVERY == 0 else None
            if fact is not None:
                sentences.append(Written(_giving(fact, random), fact))
            else:
                text = _remark(random.choice(_KINDS), random.choice(entities), random)
                sentences.append(Written(text, is_aside=written % _ASIDE_EVERY == 0))
        heading = random.choice(vocabulary.HEADINGS) if number % 3 == 1 else ""
        yield Paragraph(tuple(sentences), "Introduction" if number == 0 else heading)


def footnotes(paper: PlannedPaper, page: int, seed: int) -> tuple[str, ...]:
    """Write the footnotes of a page."""
    random = Random(f"footnotes {seed} {paper.number} {page}")
    entity = paper.facts[0].entity
    return tuple(_remark(_NOTING, entity, random) for _ in range(random.randint(1, 2)))


class _Draws(dict[str, str]):
    """Words for the fields of a template, drawn when a field is filled.

    A field is one of the names below; a digit behind it makes another field of the same kind, and
    a capital in front makes the word begin with one.
    """

    def __init__(self, random: Random, **known: str) -> None:
        super().__init__(known)
        self._random = random

    def __missing__(self, field: str) -> str:
        name = field.rstrip("0123456789")
        drawn = self._draw(name.lower())
        self[field] = drawn[:1].upper() + drawn[1:] if name[0].isupper() else drawn
        return self[field]

    def _draw(self, name: str) -> str:
        if name in {"does", "did", "do"}:
            forms = self._random.choice(vocabulary.VERBS).split()
            return forms[("does", "did", "do").index(name)]
        thing = (
            f"{self._random.choice(vocabulary.ADJECTIVES)} {self._random.choice(vocabulary.NOUNS)}"
        )
        if name == "thing":
            return thing
        if name == "a_thing":
            return f"{'an' if thing[0] in 'aeio' else 'a'} {thing}"
        return self._random.choice(_WORDS[name])


_WORDS: dict[str, Sequence[str]] = {
    "noun": vocabulary.NOUNS, "plural": vocabulary.PLURALS, "done": vocabulary.PARTICIPLES,
    "when": vocabulary.ADVERBIALS, "method": vocabulary.METHODS, "clause": vocabulary.CLAUSES,
    "opener": vocabulary.OPENERS, "term": vocabulary.TERMS, "gas": vocabulary.GASES,
    "family": vocabulary.FAMILY,
}  # fmt: skip

_GIVING = (
    "The {quantity} of {entity} was {value} {when}.",
    "{When}, the {quantity} of {entity} reached {value}.",
    "By {method} we found a {quantity} of {value} for {entity}, {clause}.",
    "For {entity}, {method} gave a {quantity} of {value} {when}.",
    "A {quantity} of {value} was obtained for {entity} {when}.",
    "{Opener}, {entity} showed a {quantity} of {value} {when}.",
)
_PLAIN = (
    "The {thing} {did} the {thing2} {when}.",
    "{Opener}, the {thing} of {entity} {does} the {noun}, {clause}.",
    "{Method} confirmed that the {thing} {does} the {thing2}.",
    "The {noun} was {done} {when}, {clause}.",
    "We use the term “{term}” for the {thing} of {entity} {when}.",
)
_DENYING = (
    "The {thing} of {entity} did not {do} the {noun} {when}.",
    "{A_thing} was not {done} in {entity} {when}.",
    "The {noun} could not be {done} by {method}, {clause}.",
    "These {plural} do not {do} the {thing} {when}.",
    "No {thing} was {done} {when}.",
)
_COUNTING = (
    "A total of {thousands} {plural} were {done} {when}.",
    "The {plural} of {entity} were annealed at {high} °C for {few} h in {gas}.",
    "We varied the {noun} between {low} and {high} units {when}.",
    "The {thing} decreased by {few}% within {few2} min, {clause}.",
    "From {few} {plural} we estimate a standard deviation of 0.{fraction} for the {thing}.",
    "Its {noun} was fitted over {low}–{high} K with {few} free coefficients.",
)
_CITING = (
    "Earlier work on {entity} described the {thing} in terms of the {noun} [{first}, {second}].",
    "The {thing} is well known from {method} {when} [{first}].",
    "This differs from the {thing} of reference [{second}], {clause}.",
)
_NOTING = (
    "The supplier of {entity} gives a purity of 99.{few}%.",
    "Units follow the convention of {family} and {family2}.",
    "The raw {plural} are kept for {few} years.",
    "{A_thing} was considered as well, {clause}.",
)
_KINDS = (_PLAIN, _PLAIN, _PLAIN, _DENYING, _DENYING, _COUNTING, _COUNTING, _CITING)


def _giving(fact: PlannedFact, random: Random) -> str:
    joint = "" if fact.unit == "%" else " "
    value = f"{fact.value}{joint}{fact.unit}".strip()
    words = _Draws(random, quantity=fact.quantity, entity=fact.entity, value=value)
    return random.choice(_GIVING).format_map(words)


def _remark(templates: Sequence[str], entity: str, random: Random) -> str:
    first, second = sorted(random.sample(range(1, 30), 2))
    low, high = sorted(random.sample(range(102, 980), 2))
    words = _Draws(
        random, entity=entity, first=str(first), second=str(second), low=str(low), high=str(high),
        few=str(random.randint(3, 78)), few2=str(random.randint(3, 58)),
        fraction=str(random.randint(101, 989)), thousands=f"{random.randint(1001, 9999):,}",
    )  # fmt: skip
    return random.choice(templates).format_map(words)
