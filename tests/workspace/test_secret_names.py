"""Keys, tokens and passwords are known by their names."""

import pytest

from sciagent.workspace.secret_names import is_secret_name, without_secrets


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "hf_token", "GITHUB_TOKENS", "password", "AWS_CREDENTIALS"]
)
def test_names_of_keys_tokens_and_passwords_are_those_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "KEYBOARD", "monkey_count", "tokens_used", "LANG"])
def test_names_that_only_resemble_are_not_those_of_secrets(name: str) -> None:
    assert not is_secret_name(name)


def test_an_environment_loses_secrets_and_addresses_with_a_password() -> None:
    kept = {"PATH": "/bin", "HTTP_PROXY": "http://proxy:3128"}
    lost = {"API_KEY": "x", "DATABASE_URL": "postgres://me:word@host/base"}
    assert without_secrets({**kept, **lost}) == kept
