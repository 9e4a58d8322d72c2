from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.runs import doctor
from sciagent.runs.configuration import (
    VARIABLES,
    Configuration,
    configured_endpoint,
    load_configuration,
    with_asked,
)
from sciagent.runs.setting_names import setting_names
from sciagent.testing.model_server import ModelServer, saying
from tests.docs.pages import HOW_TO, blocks

WHOLE = """
approval = "auto-safe"
local_only = true

[endpoint]
base_url = "http://localhost:1234/v1"
model = "of the file"
api_key_variable = "MY_KEY"

[endpoint.sampling]
temperature = 0.6

[endpoint.extra_body]
min_tokens = 3

[agent]
verification = true
context_tokens = 9000

[agent.budget]
tokens = 200000
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration file, which is not there yet; the environment says nothing else."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("SCIAGENT_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "sciagent").mkdir()
    return tmp_path / "sciagent" / "config.toml"


def test_without_a_file_and_variables_the_defaults_hold(file: Path) -> None:
    assert load_configuration() == Configuration()
    assert configured_endpoint() is None


def test_the_file_is_read_whole(file: Path) -> None:
    file.write_text(WHOLE)
    found = load_configuration()
    assert (found.approval, found.local_only) == ("auto-safe", True)
    assert (found.endpoint.model, found.endpoint.api_key_variable) == ("of the file", "MY_KEY")
    assert found.endpoint.sampling.temperature == 0.6
    assert found.endpoint.sampling.top_k == 20
    assert found.endpoint.extra_body == {"min_tokens": 3}
    assert found.agent.verification
    assert (found.agent.context_tokens, found.agent.budget.tokens) == (9000, 200_000)
    assert found.agent.budget.turns == 300


def test_variables_stand_over_the_file_and_what_is_asked_for_over_both(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(WHOLE)
    monkeypatch.setenv("SCIAGENT_MODEL", "of the environment")
    monkeypatch.setenv("SCIAGENT_VERIFICATION", "off")
    monkeypatch.setenv("SCIAGENT_BUDGET_TURNS", "7")
    found = load_configuration({"agent.budget.turns": None, "approval": "auto"})
    assert (found.endpoint.model, found.endpoint.base_url) == (
        "of the environment", "http://localhost:1234/v1",
    )  # fmt: skip
    assert (found.agent.verification, found.agent.budget.turns) == (False, 7)
    assert (found.agent.budget.tokens, found.approval) == (200_000, "auto")
    again = load_configuration({"endpoint.model": "asked for", "agent.verification": True})
    assert (again.endpoint.model, again.agent.verification) == ("asked for", True)


def test_another_file_may_be_named_and_must_then_be_there(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = file.with_name("other.toml")
    monkeypatch.setenv("SCIAGENT_CONFIG", str(other))
    with pytest.raises(InputError, match=r"no file .*other.toml, which SCIAGENT_CONFIG names"):
        load_configuration()
    other.write_text('[endpoint]\nmodel = "other"\n')
    assert load_configuration().endpoint.model == "other"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("endpont = {}", UnknownNameError, "no setting 'endpont'"),
        ("[endpoint]\nbase_ulr = 'x'", UnknownNameError, "mean 'endpoint.base_url'"),
        ("base_url = 'x'", UnknownNameError, "mean 'endpoint.base_url'"),
        ("[agent]\ntemperature = 1", UnknownNameError, "mean 'endpoint.sampling.temperature'"),
        ("[agent.budget]\nwall = 1", UnknownNameError, "no setting 'agent.budget.wall'"),
        ("approval = 'sometimes'", InputError, "'approval' in the file .*config.toml cannot be"),
        ("[endpoint.sampling]\ntop_p = 2", InputError, "'endpoint.sampling.top_p' in the file"),
        ("endpoint = 3", InputError, "'endpoint' is a table"),
        ("[endpoint", InputError, "cannot be read"),
    ],
)
def test_a_bad_file_is_one_sentence_that_names_the_setting(
    file: Path, text: str, error: type[Exception], words: str
) -> None:
    file.write_text(text)
    with pytest.raises(error, match=words) as raised:
        load_configuration()
    assert str(file) in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_a_bad_variable_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIAGENT_BUDGET_TOKENS", "plenty")
    with pytest.raises(InputError, match="in the variable SCIAGENT_BUDGET_TOKENS cannot be"):
        load_configuration()


@pytest.mark.parametrize(
    "text",
    [
        "[endpoint]\napi_key = 'abcdefgh12345678'",
        "api_key = 'abcdefgh12345678'",
        "[endpoint]\napi_key_variable = 'sk-abcdefgh12345678abcd'",
        "[endpoint]\napi_key_variable = 'hf_abcdefgh12345678abcdefgh'",
        "[endpoint]\nbase_url = 'https://me:abcdefgh12345678@example.org/v1'",
        "[endpoint.extra_body]\napi_key = 'abcdefgh12345678'",
        "[endpoint.extra_body.headers]\nAuthorization = 'Bearer abcdefgh12345678'",
        "[endpoint.extra_body]\nheaders = ['Authorization: Bearer abcdefgh12345678']",
        "[endpoint]\nmodel = 'sk-abcdefgh12345678abcd'",
    ],
)
def test_a_key_in_the_file_is_refused_with_the_remedy_and_never_repeated(
    file: Path, text: str
) -> None:
    file.write_text(text)
    with pytest.raises(InputError, match="holds a key") as refused:
        load_configuration()
    assert "SCIAGENT_API_KEY" in str(refused.value)
    assert "abcdefgh" not in str(refused.value)


def test_a_key_is_refused_wherever_it_is_given(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://me:abcdefgh12345678@example.org/v1"
    with pytest.raises(InputError, match="holds a key"):
        load_configuration({"endpoint.base_url": address})
    with pytest.raises(InputError, match="holds a key"):
        with_asked(Configuration(), {"endpoint.base_url": address})


def test_every_variable_sets_a_setting_that_there_is() -> None:
    known = set(setting_names(Configuration))
    # Tables of free names, such as the addresses of indexes, are settings as a whole.
    unknown = {name for name in VARIABLES.values() if name not in known}
    assert {name.rpartition(".")[0] for name in unknown} <= known
    assert unknown == {"literature.addresses.searxng"}


def test_the_page_shows_a_file_that_can_be_used_and_names_every_setting_and_variable(
    file: Path,
) -> None:
    page = HOW_TO / "configure-an-endpoint.md"
    for block in blocks(page):
        if block.language == "toml":
            file.write_text(block.text)
            assert load_configuration() != Configuration()
    text = page.read_text(encoding="utf-8")
    lasts = {name.rpartition(".")[2] for name in setting_names(Configuration)}
    assert [name for name in sorted(lasts | set(VARIABLES)) if f"`{name}`" not in text] == []


def test_doctor_looks_at_an_endpoint_only_if_one_is_configured(file: Path, tmp_path: Path) -> None:
    def names(**asked: str) -> set[str]:
        given = {f"endpoint.{name}": value for name, value in asked.items()}
        return {item.name for item in doctor(tmp_path, asked=given)}

    assert "Configuration" in names()
    assert "endpoint" not in names()
    with ModelServer(lambda _: saying("Oslo")) as server:
        asked = names(base_url=server.base_url, model="scripted")
        file.write_text(f'[endpoint]\nbase_url = "{server.base_url}"\nmodel = "scripted"\n')
        configured = names()
    assert asked == configured
    assert asked >= {"endpoint", "streaming", "tool calls", "images", "verification", "context"}


def test_doctor_says_what_is_wrong_with_the_configuration(file: Path, tmp_path: Path) -> None:
    file.write_text("base_url = 'x'")
    (item,) = [each for each in doctor(tmp_path) if each.name == "Configuration"]
    assert item.status == "missing"
    assert "Did you mean 'endpoint.base_url'?" in item.remedy
