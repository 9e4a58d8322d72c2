"""Sentences as scientists write them: facts, denials, numbers with units, and what stands between."""

from collections.abc import Iterator
from dataclasses import dataclass
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
        *(Written(_plain(entity, random)) for _ in range(random.randint(2, 3))),
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
    for number in _counting():
        if number == 6:
            random = Random(f"body {seed} {paper.story} of {paper.number}")
        sentences = []
        for _ in range(random.randint(4, 8)):
            written += 1
            fact = next(facts, None) if written % _FACT_EVERY == 0 else None
            if fact is not None:
                sentences.append(Written(_giving(fact, random), fact))
            else:
                text = random.choice(_KINDS)(random.choice(entities), random)
                sentences.append(Written(text, is_aside=written % _ASIDE_EVERY == 0))
        heading = random.choice(vocabulary.HEADINGS) if number % 3 == 1 else ""
        yield Paragraph(tuple(sentences), "Introduction" if number == 0 else heading)


def footnotes(paper: PlannedPaper, page: int, seed: int) -> tuple[str, ...]:
    """Write the footnotes of a page."""
    random = Random(f"footnotes {seed} {paper.number} {page}")
    entity = paper.facts[0].entity
    return tuple(_noted(entity, random) for _ in range(random.randint(1, 2)))


def _counting() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _thing(random: Random) -> str:
    return f"{random.choice(vocabulary.ADJECTIVES)} {random.choice(vocabulary.NOUNS)}"


def _a_thing(random: Random) -> str:
    thing = _thing(random)
    return f"{'An' if thing[0] in 'aeiou' else 'A'} {thing}"


def _verb(random: Random, form: int) -> str:
    return random.choice(vocabulary.VERBS).split()[form]


def _measured(fact: PlannedFact) -> str:
    joint = "" if fact.unit == "%" else " "
    return f"{fact.value}{joint}{fact.unit}".strip()


def _giving(fact: PlannedFact, random: Random) -> str:
    when = random.choice(vocabulary.ADVERBIALS)
    method = random.choice(vocabulary.METHODS)
    value, of = _measured(fact), fact.entity
    return random.choice((
        f"The {fact.quantity} of {of} was {value} {when}.",
        f"{_capital(when)}, the {fact.quantity} of {of} reached {value}.",
        f"By {method} we found a {fact.quantity} of {value} for {of}, "
        f"{random.choice(vocabulary.CLAUSES)}.",
        f"For {of}, {method} gave a {fact.quantity} of {value} {when}.",
        f"A {fact.quantity} of {value} was obtained for {of} {when}.",
        f"{_capital(random.choice(vocabulary.OPENERS).lower())}, {of} showed a {fact.quantity} of "
        f"{value} {when}.",
    ))  # fmt: skip


def _plain(entity: str, random: Random) -> str:
    return random.choice((
        f"The {_thing(random)} {_verb(random, 1)} the {_thing(random)} "
        f"{random.choice(vocabulary.ADVERBIALS)}.",
        f"{random.choice(vocabulary.OPENERS)}, the {_thing(random)} of {entity} {_verb(random, 0)} "
        f"the {random.choice(vocabulary.NOUNS)}, {random.choice(vocabulary.CLAUSES)}.",
        f"{_capital(random.choice(vocabulary.METHODS))} confirmed that the {_thing(random)} "
        f"{_verb(random, 0)} the {_thing(random)}.",
        f"The {random.choice(vocabulary.NOUNS)} was {random.choice(vocabulary.PARTICIPLES)} "
        f"{random.choice(vocabulary.ADVERBIALS)}, {random.choice(vocabulary.CLAUSES)}.",
        f"We use the term “{random.choice(vocabulary.TERMS)}” for the {_thing(random)} of {entity} "
        f"{random.choice(vocabulary.ADVERBIALS)}.",
    ))  # fmt: skip


def _denial(entity: str, random: Random) -> str:
    return random.choice((
        f"The {_thing(random)} of {entity} did not {_verb(random, 2)} the "
        f"{random.choice(vocabulary.NOUNS)} {random.choice(vocabulary.ADVERBIALS)}.",
        f"{_a_thing(random)} was not {random.choice(vocabulary.PARTICIPLES)} in {entity} "
        f"{random.choice(vocabulary.ADVERBIALS)}.",
        f"The {random.choice(vocabulary.NOUNS)} could not be "
        f"{random.choice(vocabulary.PARTICIPLES)} by {random.choice(vocabulary.METHODS)}, "
        f"{random.choice(vocabulary.CLAUSES)}.",
        f"These {random.choice(vocabulary.PLURALS)} do not {_verb(random, 2)} the {_thing(random)} "
        f"{random.choice(vocabulary.ADVERBIALS)}.",
        f"No {_thing(random)} was {random.choice(vocabulary.PARTICIPLES)} "
        f"{random.choice(vocabulary.ADVERBIALS)}.",
    ))  # fmt: skip


def _numeric(entity: str, random: Random) -> str:
    things, done = random.choice(vocabulary.PLURALS), random.choice(vocabulary.PARTICIPLES)
    low, high = sorted(random.sample(range(12, 980), 2))
    return random.choice((
        f"A total of {random.randint(1001, 9999):,} {things} were {done} "
        f"{random.choice(vocabulary.ADVERBIALS)}.",
        f"The {things} of {entity} were annealed at {random.randint(210, 1390)} °C for "
        f"{random.randint(2, 96)} h in {random.choice(vocabulary.GASES)}.",
        f"We varied the {random.choice(vocabulary.NOUNS)} between {low} and {high} units "
        f"{random.choice(vocabulary.ADVERBIALS)}.",
        f"The {_thing(random)} decreased by {random.randint(3, 78)}% within "
        f"{random.randint(2, 59)} min, {random.choice(vocabulary.CLAUSES)}.",
        f"From {random.randint(3, 40)} {things} we estimate a standard deviation of "
        f"0.{random.randint(101, 989)} for the {_thing(random)}.",
        f"Its {random.choice(vocabulary.NOUNS)} was fitted over {low}–{high} K with "
        f"{random.randint(3, 14)} free coefficients.",
    ))  # fmt: skip


def _citing(entity: str, random: Random) -> str:
    first, second = sorted(random.sample(range(1, 30), 2))
    return random.choice((
        f"Earlier work on {entity} described the {_thing(random)} in terms of the "
        f"{random.choice(vocabulary.NOUNS)} [{first}, {second}].",
        f"The {_thing(random)} is well known from {random.choice(vocabulary.METHODS)} "
        f"{random.choice(vocabulary.ADVERBIALS)} [{first}].",
        f"This differs from the {_thing(random)} of reference [{second}], "
        f"{random.choice(vocabulary.CLAUSES)}.",
    ))  # fmt: skip


_KINDS = (_plain, _plain, _plain, _denial, _denial, _numeric, _numeric, _citing)


def _noted(entity: str, random: Random) -> str:
    return random.choice((
        f"The supplier of {entity} gives a purity of 99.{random.randint(10, 98)}%.",
        f"Units follow the convention of {random.choice(vocabulary.FAMILY)} and "
        f"{random.choice(vocabulary.FAMILY)}.",
        f"The raw {random.choice(vocabulary.PLURALS)} are kept for {random.randint(5, 15)} years.",
        f"{_a_thing(random)} was considered as well, {random.choice(vocabulary.CLAUSES)}.",
    ))  # fmt: skip
