import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.conversation import Message, ToolCall
from sciagent.contracts.events import MessageAdded, Noted
from sciagent.tools.context import ToolContext
from sciagent.tools.notes import take_note
from sciagent.tools.secrets import REDACTED, RedactingJournal, Redactor
from sciagent.tools.toolbox import Toolbox
from sciagent.workspace.journal import JournalFile
from tests.tools.calls import call, saying

SECRET = 'correct/horse+battery"staple'


@given(st.text(min_size=8, max_size=30), st.text(), st.text())
def test_no_known_secret_is_left_in_any_text(secret: str, before: str, after: str) -> None:
    assert secret not in Redactor([secret]).text(f"{before}{secret}{after}") or secret in REDACTED


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        json.dumps({"x": SECRET}),
        base64.b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_known_secret_is_found_in_its_usual_encodings(form: str) -> None:
    redacted = Redactor([SECRET]).text(f"before {form} after")
    assert REDACTED in redacted
    assert SECRET not in redacted
    assert form not in redacted


@pytest.mark.parametrize(
    "text",
    [
        "sk-abcdefghijklmnopqrstuvwx",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "hf_abcdefghijklmnopqrstuvwxyz",
        "AKIAABCDEFGHIJKLMNOP",
        "Authorization: Bearer abc.def-ghi",
        "api_key = 'abcdefgh12345678'",
        '"OPENAI_API_KEY": "abcdefgh12345678"',
        "https://user:letmein99@example.org/",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nabcdef\n-----END RSA PRIVATE KEY-----",
        "password=letmein99",
    ],
)
def test_what_has_the_shape_of_a_secret_is_taken_out(text: str) -> None:
    assert REDACTED in Redactor().text(f"see {text} there")


@pytest.mark.parametrize(
    "text",
    [
        "The key to the structure is the token of symmetry; 96 tokens were used.",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "https://doi.org/10.1107/S0021889869006558",
        "prompt_tokens: 391794, max_tokens=2048",
        "sk-learn and pk-values",
    ],
)
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert Redactor().text(text) == text


def test_secrets_are_taken_from_the_variables_whose_names_say_so() -> None:
    variables = {"SCIAGENT_API_KEY": "abcdefgh", "PATH": "/usr/bin:/bin", "X_TOKEN": "short"}
    redactor = Redactor.of_environment(variables)
    assert redactor.text("abcdefgh /usr/bin:/bin short") == f"{REDACTED} /usr/bin:/bin short"


def test_values_under_the_name_of_a_secret_are_taken_out_at_any_depth() -> None:
    value = {"a": [{"api_key": "abcdefgh1", "max_tokens": "many words"}], "n": 1}
    assert Redactor().value(value) == {
        "a": [{"api_key": REDACTED, "max_tokens": REDACTED}], "n": 1
    }  # fmt: skip


def test_no_secret_reaches_a_result_the_journal_or_a_file(
    context: ToolContext, journal: JournalFile
) -> None:
    safe = ToolContext(
        root=context.root, journal=RedactingJournal(journal, Redactor([SECRET])),
        redactor=Redactor([SECRET]),
    )  # fmt: skip
    box = Toolbox([saying(f"the key is {SECRET} " * 2_000, origin="outside"), take_note])
    message = box.execute(call("say"), safe)
    box.execute(call("take_note", text=f"remember {SECRET}"), safe)
    asked = ToolCall(id="z", name="visit", arguments={"url": f"https://x.org/?k={SECRET}"})
    safe.journal.append(MessageAdded(message=Message(role="assistant", tool_calls=(asked,))))
    safe.journal.append_many([Noted(text=SECRET)], span="main")
    safe.journal.append_unwaited(Noted(text=SECRET))
    assert REDACTED in message.content
    for path in context.root.rglob("*"):
        if path.is_file():
            content = path.read_text()
            assert SECRET not in content, path
            assert json.dumps(SECRET)[1:-1] not in content, path


def test_a_journal_without_secrets_is_written_as_it_is(journal: JournalFile) -> None:
    redacting = RedactingJournal(journal, Redactor([SECRET]))
    body = Noted(text="nothing to hide")
    assert redacting.append(body, span="main", parent="p").body == body
    assert [each.kind for each in redacting.events()] == ["run_started", "noted"]
