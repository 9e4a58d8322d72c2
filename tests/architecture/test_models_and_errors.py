import re
import typing
from collections.abc import Iterator
from itertools import chain

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tests.architecture.source_tree import imported_modules

UNIT_ENDINGS = (
    # time, temperature, pressure, information
    "s ms us ns ps fs h k kelvin celsius pa kpa bar bytes mib gib "
    # length, angle, mass, amount
    "angstrom angstrom2 angstrom3 pm nm um um2 um3 mm cm m px deg deg2 rad "
    "g mg mol l ml amu g_per_cm3 g_per_mol mol_per_l mmol_per_l "
    # energy and electricity
    "ev mev hartree j kj_per_mol kcal_per_mol v mv a ma ua hz ohm ohm_cm2 f uf c w debye "
    "v_per_s mv_per_s ma_per_cm2 "
    # plain numbers, said so
    "fraction ratio percent ppm count counts factor probability usd eur"
).split()
ENDS_IN_UNIT = re.compile(rf"_(?:{'|'.join(UNIT_ENDINGS)})$")


def models() -> list[type[BaseModel]]:
    modules = chain(imported_modules("sciagent.contracts"), imported_modules("sciagent.domains"))
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, BaseModel)
        if value.__module__ == module.__name__
    }
    return sorted(found, key=lambda model: f"{model.__module__}.{model.__qualname__}")


def label(model: type) -> str:
    return f"{model.__module__}.{model.__qualname__}"


def holds_floats(annotation: object) -> bool:
    """Whether the type is a float, or a container or union of floats."""
    if annotation is float:
        return True
    return any(holds_floats(part) for part in typing.get_args(annotation))


def states_unit(name: str, field: FieldInfo, model: type[BaseModel]) -> bool:
    """Whether name, schema or a neighbouring ``unit`` field says what the number is measured in."""
    extra = field.json_schema_extra
    in_schema = isinstance(extra, dict) and "unit" in extra
    return in_schema or "unit" in model.model_fields or ENDS_IN_UNIT.search(f"_{name}") is not None


def test_every_number_in_a_model_states_its_unit() -> None:
    silent = [
        f"{label(model)}.{name}"
        for model in models()
        for name, field in model.model_fields.items()
        if holds_floats(field.annotation) and not states_unit(name, field, model)
    ]
    assert silent == []


def test_models_that_packages_exchange_are_frozen_and_refuse_unknown_fields() -> None:
    loose = [
        label(model)
        for model in models()
        if not model.model_config.get("frozen") or model.model_config.get("extra") != "forbid"
    ]
    assert loose == []


def exception_classes() -> Iterator[type[BaseException]]:
    for module in imported_modules():
        for value in vars(module).values():
            is_ours = isinstance(value, type) and value.__module__ == module.__name__
            if is_ours and issubclass(value, BaseException):
                yield value


def test_every_exception_class_has_a_stable_kind_of_its_own() -> None:
    kinds: dict[str, str] = {}
    for error in sorted(set(exception_classes()), key=label):
        kind = vars(error).get("kind")
        assert isinstance(kind, str), f"{label(error)} does not set `kind` itself"
        assert re.fullmatch(r"[a-z][a-z0-9_.]*", kind), f"{label(error)}: {kind!r}"
        assert kind not in kinds, f"{label(error)} and {kinds[kind]} share the kind {kind!r}"
        kinds[kind] = label(error)
