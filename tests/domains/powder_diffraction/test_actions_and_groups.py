import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.study import Action
from sciagent.domains.powder_diffraction.actions import (
    add_phase,
    check_arguments,
    exchange,
    first_freedom,
    groups_in,
    in_words,
    release,
)
from sciagent.domains.powder_diffraction.groups import (
    INSTRUMENT_GROUPS,
    PHASE_GROUPS,
    are_rivals,
    free_paths,
    group_of,
    instrument_groups,
    owner_of,
    paths_of,
    start_values,
    ties_of,
)
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.types import Line
from tests.domains.powder_diffraction.samples import problem, trial

NAMES = [group.kind for group in INSTRUMENT_GROUPS] + [f"{g.kind}.salt" for g in PHASE_GROUPS]


def test_a_group_of_a_phase_is_found_at_its_place_in_the_model() -> None:
    assert paths_of("cell.b", ("a", "b")) == ("phases.1.cell.*",)
    assert paths_of("background", ("a", "b")) == ("instrument.background.*",)
    with pytest.raises(UnknownNameError, match="no phase 'c'"):
        paths_of("cell.c", ("a", "b"))
    with pytest.raises(UnknownNameError, match="Did you mean 'background'"):
        group_of("backgroud")


@given(st.sampled_from(NAMES))
def test_every_path_of_a_group_is_owned_by_it(name: str) -> None:
    for path in free_paths([name], ["salt"]):
        assert owner_of(path.replace("*", "0"), NAMES, ["salt"]) == name


def test_the_two_axial_ratios_are_tied_and_both_start_above_zero() -> None:
    line = Line(two_theta_deg=25.0, fwhm_deg=0.1, share_fraction=1.0)
    ((follower, source),) = ties_of(["axial_divergence"])
    assert start_values(["axial_divergence"], [line]).keys() == {follower, source}
    assert start_values(["width"], [line]) == {"instrument.profile.w": pytest.approx(0.01)}


def test_what_an_instrument_does_not_have_is_not_offered() -> None:
    tube = instrument_groups(RefinementSettings())
    synchrotron = instrument_groups(
        RefinementSettings(geometry="debye_scherrer", wavelength_angstrom=0.4)
    )
    assert {"displacement", "polarization", "doublet_ratio"} <= set(tube)
    assert {"displacement", "polarization", "doublet_ratio"} & set(synchrotron) == set()
    assert "doublet_ratio" not in instrument_groups(RefinementSettings(radiation="CuKa1"))


def test_only_aberrations_of_the_instrument_are_rivals() -> None:
    assert are_rivals("displacement", "zero_shift")
    assert not are_rivals("displacement", "cell.salt")
    assert not are_rivals("polarization", "displacement")


def test_actions_say_what_becomes_free() -> None:
    freedom = first_freedom(["salt"])
    assert freedom.groups == ("scale.salt",)
    freedom = freedom.after(release("background", "displacement"))
    freedom = freedom.after(exchange("zero_shift", instead_of="displacement"))
    assert freedom.groups == ("scale.salt", "background", "zero_shift")
    freedom = freedom.after(add_phase("scau2"))
    assert freedom.phases == ("salt", "scau2")
    assert freedom.groups[-1] == "scale.scau2"
    assert freedom.after(Action(name="final_refit")) == freedom


def test_a_release_without_groups_is_refused() -> None:
    with pytest.raises(InputError, match="needs `groups`"):
        groups_in(Action(name="release"))
    with pytest.raises(InputError, match="needs `groups`"):
        groups_in(Action(name="release", arguments={"groups": "background"}))


def test_unknown_groups_and_candidates_are_refused_with_the_nearest() -> None:
    asked = problem()
    with pytest.raises(UnknownNameError, match=r"Did you mean 'biso\.salt'"):
        check_arguments(release("bisso.salt"), asked.groups, asked.candidates)
    with pytest.raises(UnknownNameError, match="Did you mean 'scau2'"):
        check_arguments(add_phase("scau"), asked.groups, asked.candidates)


def test_every_declared_argument_lists_what_may_be_given() -> None:
    asked = problem()
    first = trial(1, None, Action(name="start"))
    assert [spec.name for spec in asked.actions(None)] == ["start"]
    offered = {spec.name: spec for spec in asked.actions(first)}
    assert set(offered) == {"release", "exchange", "add_phase", "le_bail", "final_refit"}
    schema = str(offered["release"].arguments_schema)
    assert all(name in schema for name in asked.groups)
    without = problem(candidates=())
    assert "add_phase" not in {spec.name for spec in without.actions(first)}


def test_actions_are_said_in_words() -> None:
    assert in_words(release("cell.salt", "width")) == "release cell.salt + width"
    exchanged = exchange("zero_shift", instead_of="displacement")
    assert in_words(exchanged) == "release zero_shift instead of displacement"
    assert in_words(add_phase("scau2")) == "add the phase scau2"
    assert in_words(Action(name="final_refit")) == "final refit"
