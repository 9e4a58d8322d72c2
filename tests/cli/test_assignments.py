import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from sciagent.cli.assignments import input_paths, setting_values, value_from_text
from sciagent.contracts.errors import InputError
from sciagent.contracts.model import Contract

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


class Settings(Contract):
    label: str = "x"
    cycles: int = 5
    weights: tuple[float, ...] = ()
    phases: tuple[str, ...] = ()
    note: str | None = None


SCHEMA = Settings.model_json_schema()


@given(JSON)
def test_any_json_value_is_read_back_where_the_schema_does_not_say(value: JsonValue) -> None:
    assert value_from_text(json.dumps(value), {}, {}) == value


@given(st.text())
def test_a_text_stays_as_it_is_where_a_text_is_wanted(text: str) -> None:
    assert value_from_text(text, {"type": "string"}, {}) == text


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_a_list_can_be_written_with_commas(numbers: list[float]) -> None:
    text = ",".join(map(repr, numbers))
    assert setting_values([f"weights={text}"], SCHEMA) == {"weights": numbers}


def test_settings_are_read_by_their_part_of_the_schema() -> None:
    texts = ["label=12", "cycles=7", "phases=a, b", "note=null", "unknown=1.5"]
    assert setting_values(texts, SCHEMA) == {
        "label": "12", "cycles": 7, "phases": ["a", "b"], "note": None, "unknown": 1.5,
    }  # fmt: skip


def test_a_digit_text_stays_a_text_where_text_or_nothing_is_wanted() -> None:
    assert setting_values(["note=12"], SCHEMA) == {"note": "12"}


def test_numbers_that_are_not_finite_stay_words_for_the_receiver_to_refuse() -> None:
    assert setting_values(["cycles=NaN"], SCHEMA) == {"cycles": "NaN"}


def test_a_value_may_hold_equals_signs() -> None:
    assert setting_values(["label=a=b"], SCHEMA) == {"label": "a=b"}


def test_an_input_given_several_times_has_several_files() -> None:
    assert input_paths(["phases=a.cif", "pattern=p.xy", "phases=b.cif"]) == {
        "phases": [Path("a.cif"), Path("b.cif")],
        "pattern": [Path("p.xy")],
    }


@pytest.mark.parametrize("text", ["pattern", "=p.xy", "pattern="])
def test_an_input_without_key_or_path_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"KEY=VALUE|No path"):
        input_paths([text])


def test_a_setting_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match="given twice"):
        setting_values(["cycles=1", "cycles=2"], SCHEMA)
