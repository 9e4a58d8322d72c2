from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.workspace.clock import utc_timestamp
from sciagent.workspace.identity import is_ulid, new_run_name, new_ulid, slug_from_text


def test_identifiers_increase_also_within_a_millisecond_and_with_a_clock_set_back() -> None:
    identifiers = [new_ulid() for _ in range(2000)]
    identifiers.append(new_ulid(moment_ms=1))
    assert identifiers == sorted(set(identifiers))
    assert all(is_ulid(each) for each in identifiers)


@pytest.mark.parametrize("text", ["", "../../etc/passwd", "8" * 26, "0" * 25, "i" * 26])
def test_what_is_no_identifier_is_not_taken_for_one(text: str) -> None:
    assert not is_ulid(text)


def test_a_run_is_named_by_its_day_in_utc_its_slug_and_an_identifier() -> None:
    evening = datetime(2026, 11, 30, 23, 30, tzinfo=timezone(timedelta(hours=-2)))
    day, *slug, identifier = new_run_name("Sc2Au6", evening).split("-")
    assert (day, slug, len(identifier)) == ("20261201", ["sc2au6"], 8)


@given(st.text())
def test_a_slug_is_a_name_that_every_file_system_takes(text: str) -> None:
    slug = slug_from_text(text)
    assert slug
    assert slug.isascii()
    assert len(slug) <= 40
    assert slug_from_text(slug) == slug


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_is_read_back_to_the_millisecond(moment: datetime) -> None:
    written = utc_timestamp(moment)
    assert written.endswith("Z")
    read = datetime.fromisoformat(written)
    assert timedelta(0) <= moment - read < timedelta(milliseconds=1)
