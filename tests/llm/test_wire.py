"""What is sent is what every chat template takes."""

from pathlib import Path

from sciagent.contracts.conversation import Image, Message, ToolCall
from sciagent.contracts.endpoint import Endpoint
from sciagent.llm.wire import request_body, wire_messages
from tests.llm.conversations import QUESTION, SYSTEM, TOOLS

ENDPOINT = Endpoint()
LATE = Message(role="system", content="Be short.")
ANSWER = Message(role="assistant", content="80 °C")


def roles(*messages: Message) -> list[str]:
    return [each["role"] for each in wire_messages(ENDPOINT, messages)]


def test_system_messages_are_sent_as_one_and_first() -> None:
    wired = wire_messages(ENDPOINT, [QUESTION, SYSTEM, ANSWER, LATE])
    assert [each["role"] for each in wired] == ["system", "user", "assistant"]
    assert wired[0]["content"] == f"{SYSTEM.content}\n\n{LATE.content}"


def test_a_conversation_without_a_user_message_gets_one() -> None:
    assert roles(SYSTEM) == ["system", "user"]
    assert roles(SYSTEM, ANSWER) == ["system", "user", "assistant"]


def test_an_empty_system_message_is_not_sent() -> None:
    assert roles(Message(role="system", content=" \n"), QUESTION) == ["user"]


def test_calls_are_echoed_and_broken_ones_with_no_arguments() -> None:
    sound = ToolCall(id="a", name="lookup", arguments={"key": "Å"})
    broken = ToolCall(id="b", name="look up!", arguments={"key": "x"}, fault="Cut off.")
    message = Message(role="assistant", tool_calls=(sound, broken))
    (wired,) = (
        each for each in wire_messages(ENDPOINT, [QUESTION, message]) if "tool_calls" in each
    )
    functions = [call["function"] for call in wired["tool_calls"]]
    assert functions == [
        {"name": "lookup", "arguments": '{"key": "Å"}'},
        {"name": "look_up_", "arguments": "{}"},
    ]
    assert wired["content"] == ""


def test_thought_is_echoed_under_both_names_and_only_where_there_is_any() -> None:
    thinking = Message(role="assistant", content="80", reasoning="It is known.")
    _, first, second = wire_messages(ENDPOINT, [QUESTION, thinking, ANSWER])
    assert first["reasoning"] == first["reasoning_content"] == "It is known."
    assert not {"reasoning", "reasoning_content"} & second.keys()


def test_pictures_of_tools_follow_behind_all_answers_of_the_turn(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"a")
    calls = tuple(ToolCall(id=each, name="view_image") for each in "ab")
    seen = Message(
        role="tool", content="A figure.", tool_call_id="a",
        images=(Image(path="a.png", sha256="0" * 64),),
    )  # fmt: skip
    other = Message(role="tool", content="No figure.", tool_call_id="b")
    messages = [QUESTION, Message(role="assistant", tool_calls=calls), seen, other, ANSWER]
    seeing = ENDPOINT.model_copy(update={"images": True})
    wired = wire_messages(seeing, messages, root=tmp_path)
    assert [each["role"] for each in wired] == [
        "user", "assistant", "tool", "tool", "user", "assistant",
    ]  # fmt: skip
    assert wired[2]["content"] == "A figure."
    assert wired[4]["content"][-1]["image_url"]["url"] == "data:image/png;base64,YQ=="
    blind = wire_messages(ENDPOINT, messages, root=tmp_path)
    assert blind[2]["content"] == "A figure.\n[picture: a.png]"
    assert len(blind) == 5


def test_tools_keep_their_order_and_their_schema() -> None:
    body = request_body(ENDPOINT, [QUESTION], TOOLS)
    assert [tool["function"]["name"] for tool in body["tools"]] == [tool.name for tool in TOOLS]
    assert body["tools"][0]["function"]["parameters"] == TOOLS[0].parameters
    assert "tools" not in request_body(ENDPOINT, [QUESTION], ())


def test_fields_of_the_endpoint_go_out_as_they_are() -> None:
    endpoint = Endpoint(extra_body={"top_k": 40, "guided_choice": ["a", "b"]})
    body = request_body(endpoint, [QUESTION], ())
    assert (body["top_k"], body["guided_choice"]) == (40, ["a", "b"])
