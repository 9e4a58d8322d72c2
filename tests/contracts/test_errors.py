"""Errors say what is wrong and what to do, and keep their kind through files and processes."""

import pickle

import pytest

from sciagent.contracts.errors import (
    ConvergenceError,
    ErrorRecord,
    InputError,
    SciagentError,
    UnknownNameError,
    error_record,
)


def test_an_unknown_name_offers_the_nearest_known_one() -> None:
    error = UnknownNameError.among("dataset", "florapatite", ["sc2au6", "fluorapatite"])
    assert str(error) == (
        "There is no dataset 'florapatite'. Did you mean 'fluorapatite'? "
        "Known: fluorapatite, sc2au6."
    )


def test_a_name_unlike_all_others_gets_the_list_only() -> None:
    error = UnknownNameError.among("dataset", "zzz", ["sc2au6"])
    assert "Did you mean" not in str(error)
    assert "Known: sc2au6." in str(error)


@pytest.mark.parametrize("kind", [InputError, UnknownNameError, ConvergenceError])
def test_an_error_crosses_process_boundaries_whole(kind: type[SciagentError]) -> None:
    again = pickle.loads(pickle.dumps(kind("What.", "Do.")))  # noqa: S301 - pickled here
    assert (type(again), again.message, again.remedy) == (kind, "What.", "Do.")


def test_the_record_of_an_error_keeps_kind_message_and_remedy() -> None:
    record = error_record(ConvergenceError("It did not.", "Start elsewhere."), details="trace")
    assert record == ErrorRecord(
        kind="convergence", message="It did not.", remedy="Start elsewhere.", details="trace"
    )


def test_memory_that_ran_out_is_a_matter_of_resources() -> None:
    assert error_record(MemoryError()).kind == "resource"


def test_an_error_that_is_not_ours_is_unexpected_and_named() -> None:
    record = error_record(ZeroDivisionError("division by zero"))
    assert record.kind == "unexpected"
    assert "ZeroDivisionError" in record.message
