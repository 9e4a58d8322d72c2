"""Records of several indexes that are one work, and those that only look so."""

from typing import Any

from sciagent.contracts.literature import Author, Work, WorkVersion
from sciagent.literature.indexes.records import author_of
from sciagent.literature.merging import merged


def record(index: str, title: str = "On the growth of apatite", **given: Any) -> Work:
    values = {"year": 2001, "authors": (Author(family="Hill", given="Ann"),), **given}
    return Work(key="", title=title, found_in=(index,), kind="article-journal", **values)


def test_records_with_one_doi_are_one_work_with_the_best_of_each() -> None:
    (work,) = merged([
        [record("openalex", doi="10.1/a", abstract="A long abstract.", open_access="open")],
        [record("crossref", title="On the Growth of Apatite", doi="10.1/a", volume="7")],
    ])  # fmt: skip
    assert (work.title, work.volume) == ("On the Growth of Apatite", "7")
    assert (work.abstract, work.open_access) == ("A long abstract.", "open")
    assert set(work.found_in) == {"crossref", "openalex"}
    assert work.key == "hill2001growth"


def test_a_record_without_identifiers_joins_by_title_year_and_author() -> None:
    works = merged([
        [record("crossref", doi="10.1/a")],
        [record("other", title="On the growth of Apatite."), record("other", year=1999)],
        [record("third", authors=(Author(family="Koch"),))],
    ])  # fmt: skip
    assert [(each.doi, each.found_in) for each in works if each.doi] == [
        ("10.1/a", ("crossref", "other"))
    ]
    assert len(works) == 3


def test_works_with_other_dois_are_never_one_however_they_look() -> None:
    works = merged([[record("crossref", doi="10.1/a"), record("crossref", doi="10.1/b")]])
    assert {each.doi for each in works} == {"10.1/a", "10.1/b"}
    assert len({each.key for each in works}) == 2


def test_a_record_that_names_two_others_makes_them_one() -> None:
    (work,) = merged([
        [record("europe_pmc", title="Growth", pmid="77")],
        [record("crossref", title="Of apatite", doi="10.1/a")],
        [record("openalex", title="Another name", doi="10.1/a", pmid="77")],
    ])  # fmt: skip
    assert (work.doi, work.pmid) == ("10.1/a", "77")


def test_what_most_indexes_put_first_comes_first() -> None:
    first, second = record("a", title="First"), record("a", title="Second")
    works = merged([
        [first, second],
        [each.model_copy(update={"found_in": ("b",)}) for each in (second, first)],
        [second.model_copy(update={"found_in": ("c",)})],
    ])  # fmt: skip
    assert [each.title for each in works] == ["Second", "First"]


def test_a_version_that_one_side_names_is_named_by_the_other_too() -> None:
    article = record("crossref", title="The final title", doi="10.1/a")
    preprint = record("arxiv", title="A first title", doi="10.48550/arxiv.2101.00001").model_copy(
        update={
            "kind": "article",
            "versions": (WorkVersion(relation="published", doi="10.1/a"),),
        }
    )
    works = {each.doi: each for each in merged([[article], [preprint]])}
    assert [each.relation for each in works["10.1/a"].versions] == ["preprint"]
    assert works["10.1/a"].versions[0].doi == "10.48550/arxiv.2101.00001"


def test_the_worst_that_became_of_a_work_counts_with_its_date() -> None:
    (work,) = merged([
        [record("openalex", doi="10.1/a", status="retracted", status_source="openalex")],
        [record("crossref", doi="10.1/a", status="retracted", status_date="2003-01-01")],
    ])  # fmt: skip
    assert (work.status, work.status_date) == ("retracted", "2003-01-01")


def test_whole_names_are_split_where_the_family_name_begins() -> None:
    named = ("Ann Hill", "Ludwig van Beethoven", "Planck Collaboration", "Sammy Davis Jr.", "Plato")
    found = [author_of(name) for name in named]
    assert [each.family for each in found if each is not None] == [
        "Hill", "van Beethoven", "Planck Collaboration", "Davis", "Plato",
    ]  # fmt: skip
    assert author_of("  ") is None
