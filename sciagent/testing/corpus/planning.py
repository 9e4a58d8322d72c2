"""What each paper of a corpus is about, who wrote it, and what it is to the others."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random

from sciagent.contracts.literature import Author
from sciagent.testing.corpus import vocabulary

_FIELDS = ("material", "alloy", "protein")
_FIRST_YEAR, _LAST_YEAR = 1998, 2025
_SHARES = {
    "two_columns": 0.6, "footnotes": 0.5, "running_heads": 0.7, "ligatures": 0.5,
    "hyphenated": 0.5, "no_tounicode": 0.1,
}  # fmt: skip
"""Share of the papers that are set so."""


@dataclass(frozen=True, slots=True)
class PlannedFact:
    """A number that a paper is to give."""

    entity: str
    quantity: str
    value: str
    unit: str


@dataclass(slots=True)
class PlannedPaper:
    """What is decided about a paper before it is written.

    Attributes
    ----------
    number
        Counted from 0.
    area
        ``material``, ``alloy`` or ``protein``.
    title, authors, year
        As printed.
    facts
        In the order in which they are to be given.
    traits
        How it is set, and what it is to others.
    version
        Number of its preprint, or of the article that it became.
    story
        Papers with the same number begin with the same sentences.
    """

    number: int
    area: str
    title: str
    authors: tuple[Author, ...]
    year: int
    facts: list[PlannedFact]
    story: int
    traits: set[str] = field(default_factory=set)
    version: int | None = None


def plan_papers(papers: int, facts: int, seed: int) -> tuple[PlannedPaper, ...]:
    """Decide about all papers of a corpus.

    Parameters
    ----------
    papers
        How many.
    facts
        How many numbers each of them is to give.
    seed
        The same seed makes the same plan.
    """
    random = Random(f"plan {seed}")
    names = {area: _names(area, random) for area in _FIELDS}
    planned = [_planned(number, facts, names, random) for number in range(papers)]
    _set_layouts(planned, random)
    order = list(planned)
    random.shuffle(order)
    left = iter(order)
    for _ in range(_many(papers, 12, 4)):
        _pair_versions(next(left), next(left), random)
    for number in range(_many(papers, 16, 6)):
        _pair_titles(next(left), next(left), number, random)
    for _ in range(_many(papers, 16, 5)):
        next(left).traits.add("retracted")
    for _ in range(_many(papers, 20, 8)):
        next(left).traits.add("corrected")
    for number in range(_many(papers, 12, 2)):
        _pair_facts(order[-1 - 2 * number], order[-2 - 2 * number], random)
    return tuple(planned)


def _many(papers: int, of: int, least: int) -> int:
    """One in `of`, but at least one of `least` papers."""
    return max(1, papers // of) if papers >= least else 0


def _names(area: str, random: Random) -> Iterator[str]:
    """All names of one kind of entity, in some order, none twice."""
    if area == "material":
        names = [
            f"{dopant}-doped {host}"
            for dopant, host in product(vocabulary.DOPANTS, vocabulary.HOSTS)
        ]
    elif area == "alloy":
        names = [
            f"{first}{share}{second}{100 - share}"
            for first, second in product(vocabulary.METALS, repeat=2)
            for share in range(11, 89)
            if first != second
        ]
    else:
        parts = product(vocabulary.STEMS, vocabulary.MIDDLES, vocabulary.ENDINGS, range(1, 10))
        names = [f"{stem}{middle}{ending}-{number}" for stem, middle, ending, number in parts]
    random.shuffle(names)
    return iter(names)


def _planned(
    number: int, facts: int, names: dict[str, Iterator[str]], random: Random
) -> PlannedPaper:
    area = random.choice(_FIELDS)
    first = next(names[area], "")
    while not first:  # There are fewer doped oxides than papers of a large corpus.
        area = random.choice(_FIELDS)
        first = next(names[area], "")
    entities = [first, *(each for _ in range(2) if (each := next(names[area], "")))]
    quantities = random.sample(vocabulary.QUANTITIES[area], k=len(vocabulary.QUANTITIES[area]))
    pairs = [(entity, quantity) for quantity in quantities for entity in entities]
    authors = tuple(
        Author(family=family, given=random.choice(vocabulary.GIVEN))
        for family in random.sample(vocabulary.FAMILY, random.randint(1, 5))
    )
    return PlannedPaper(
        number, area, _title(first, quantities[0][0], random), authors,
        random.randint(_FIRST_YEAR, _LAST_YEAR),
        [_fact(entity, quantity, random) for entity, quantity in pairs[:facts]], story=number,
    )  # fmt: skip


def _fact(entity: str, quantity: tuple[str, str, float, float, int], random: Random) -> PlannedFact:
    name, unit, least, most, decimals = quantity
    return PlannedFact(entity, name, f"{random.uniform(least, most):,.{decimals}f}", unit)


def _title(entity: str, quantity: str, random: Random) -> str:
    first, second = random.sample(vocabulary.NOUNS, 2)
    adjective = random.choice(vocabulary.ADJECTIVES)
    title = random.choice((
        f"{adjective} {first} and the {quantity} of {entity}",
        f"the {quantity} of {entity}: {first} and {second}",
        f"{adjective} {first} in {entity} studied by {random.choice(vocabulary.METHODS)}",
        f"how {adjective} {first} changes the {quantity} of {entity}",
        f"{first} and {second} in {entity}",
    ))  # fmt: skip
    return title[:1].upper() + title[1:]


def _set_layouts(planned: list[PlannedPaper], random: Random) -> None:
    """Give each trait of the layout to its share of the papers, to one of four at least."""
    for trait, share in _SHARES.items():
        many = max(round(share * len(planned)), len(planned) >= 4)
        for paper in random.sample(planned, many):
            paper.traits.add(trait)


def _pair_versions(preprint: PlannedPaper, article: PlannedPaper, random: Random) -> None:
    preprint.traits.add("preprint")
    article.traits.add("published")
    preprint.version, article.version = article.number, preprint.number
    article.area, article.facts, article.story = preprint.area, preprint.facts, preprint.story
    article.title, article.authors = preprint.title, preprint.authors
    article.year = min(preprint.year + random.randint(0, 2), _LAST_YEAR)


def _pair_titles(original: PlannedPaper, other: PlannedPaper, number: int, random: Random) -> None:
    """Let the second have the title of the first, for every other pair with one word changed."""
    other.traits.add("look_alike")
    families = {each.family for each in original.authors}
    other.authors = tuple(each for each in other.authors if each.family not in families) or (
        Author(
            family=next(each for each in vocabulary.FAMILY if each not in families), given="Ada"
        ),
    )
    if other.year == original.year:
        other.year += 1 if other.year < _LAST_YEAR else -1
    words = original.title.split(" ")
    if number % 2:
        place = next(i for i, word in enumerate(words) if word in {"and", "in", "of", "the"})
        words.insert(place, random.choice(("behaviour", "response", "changes")))
    other.title = " ".join(words)


def _pair_facts(first: PlannedPaper, second: PlannedPaper, random: Random) -> None:
    """Let two papers differ about the same quantities of the same entity."""
    for each in (first, second):
        each.traits.add("conflicting")
    disputed = first.facts[:2]
    others = [_disputing(fact, random) for fact in disputed]
    second.facts = [*others, *second.facts[: max(len(second.facts) - len(others), 0)]]
    second.area = first.area
    second.title = _title(disputed[0].entity, disputed[0].quantity, random)


def _disputing(fact: PlannedFact, random: Random) -> PlannedFact:
    decimals = len(fact.value.partition(".")[2])
    value = float(fact.value.replace(",", ""))
    other = value
    while f"{other:,.{decimals}f}" == fact.value:
        other = value * random.choice((0.6, 0.75, 1.3, 1.6)) + 10.0**-decimals
    return PlannedFact(fact.entity, fact.quantity, f"{other:,.{decimals}f}", fact.unit)
