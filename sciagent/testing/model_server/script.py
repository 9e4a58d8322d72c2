"""What a scripted policy is shown, and what it answers."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """A request as the model behind an endpoint would see it: messages and tools, no history.

    Attributes
    ----------
    messages
        The messages sent, as JSON objects.
    tools
        The tools offered, as JSON objects.
    body
        All of the request.
    """

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools offered, in order."""
        return tuple(tool["function"]["name"] for tool in self.tools)

    @property
    def system(self) -> str:
        """Text of the system message, empty without one."""
        return next((text_of(each) for each in self.messages if each["role"] == "system"), "")

    @property
    def last(self) -> str:
        """Text of the last message."""
        return text_of(self.messages[-1]) if self.messages else ""

    @property
    def verification(self) -> bool:
        """Whether verification mode is asked for by the template's switch."""
        return (self.body.get("chat_template_kwargs") or {}).get("verification") is True

    def texts(self, role: str) -> tuple[str, ...]:
        """Texts of the messages of a role, in order."""
        return tuple(text_of(each) for each in self.messages if each["role"] == role)

    def results(self, tool: str) -> tuple[str, ...]:
        """Texts of the tool messages that answer calls of this tool, in order."""
        called = {
            call["id"]
            for message in self.messages
            for call in message.get("tool_calls") or ()
            if call["function"]["name"] == tool
        }
        answers = [each for each in self.messages if each["role"] == "tool"]
        return tuple(text_of(each) for each in answers if each.get("tool_call_id") in called)


def text_of(message: Mapping[str, Any]) -> str:
    """Text of a message, whether it comes as a text or in parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call of a scripted answer.

    Attributes
    ----------
    name
        Tool to call.
    arguments
        A JSON object, or a text that is sent as it is.
    id
        Identifier; an empty one becomes unique by the number of the request.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""

    @property
    def text(self) -> str:
        """Arguments as they are sent."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What a scripted policy answers.

    Attributes
    ----------
    content, reasoning
        What is said and what is thought.
    calls
        Tool calls, in order.
    finish
        Reason for the end; by default what follows from the calls.
    """

    content: str = ""
    reasoning: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    finish: str = ""

    @property
    def reason(self) -> str:
        """Reason for the end as it is sent."""
        return self.finish or ("tool_calls" if self.calls else "stop")


Policy = Callable[[ScriptedRequest], ScriptedAnswer]
"""Decides what the scripted model answers; it may be called by many threads at once."""


def calling(name: str, **arguments: Any) -> ScriptedAnswer:
    """Answer with one call of a tool."""
    return ScriptedAnswer(calls=(ScriptedCall(name, arguments),))


def saying(content: str, reasoning: str = "") -> ScriptedAnswer:
    """Answer with a text."""
    return ScriptedAnswer(content=content, reasoning=reasoning)


def in_turn(*answers: ScriptedAnswer) -> Policy:
    """Make a policy that gives these answers one after the other.

    Which one is next is read from the conversation: as many are over as there are assistant
    messages that say something or call a tool. The last answer is repeated. Under faults that
    make a call fail, a policy that looks at the results of its calls is the better choice.
    """

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        spoken = [each for each in request.messages if each["role"] == "assistant"]
        over = sum(bool(text_of(each) or each.get("tool_calls")) for each in spoken)
        return answers[min(over, len(answers) - 1)]

    return policy
