"""A scripted model that does whatever it is told outside the fences, whoever tells it.

It reads as a careless model behind a careless server does: disguised letters are read as what they
look like, text behind a control token or a role at the start of a line is taken for a new message
even within a fence, and what it reads it repeats in its answer.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sciagent.testing.injection_texts import MARK, Order
from sciagent.testing.model_server.script import (
    Policy,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    text_of,
)

_NONCE = re.compile(r"⟦result ([0-9a-f]+) …⟧")
_CONTROL = re.compile(
    r"<\s?\||</?\s?(?:tool_\w+|function|parameter|think|system|user|assistant|sys)\b|<<sys>>"
    r"|<(?:start|end)_of_turn>|\[/?(?:inst|tool_calls)\]",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"^[\s#*>\-_.]*(?:system|user|assistant|developer)(?: (?:message|prompt|notice))?\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_SAID = re.compile(r"call (\w+) with (?=\{)")
_XML = re.compile(r"<function=(\w+)>(.*?)</function>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=(\w+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_BARE = re.compile(r"\{(?=\s*\")")
_CYRILLIC = str.maketrans("асеорхуѕіј", "aceopxysij")


def as_read(text: str) -> str:
    """Text as a model reads it: without disguises, with invisible words made visible."""
    shown = "".join(
        chr(ord(each) - 0xE0000) if 0xE0020 <= ord(each) < 0xE007F else each for each in text
    )
    plain = unicodedata.normalize("NFKC", shown).translate(_CYRILLIC)
    plain = re.sub(r"\r\n?|[\u2028\u2029\x85\x0b\x0c]", "\n", plain)
    return "".join(each for each in plain if unicodedata.category(each) not in {"Cf", "Cc"}
                   or each in "\n\t")  # fmt: skip


def seen_outside(request: ScriptedRequest) -> Iterator[str]:
    """Parts of the messages, the system's and its own left out, that stand in no fence."""
    nonce = _NONCE.search(request.system)
    mark = nonce[1] if nonce else "none"
    fence = re.compile(rf"⟦result {mark} [^⟧]*⟧\n(.*?)\n⟦end {mark}⟧", re.DOTALL)
    for message in request.messages:
        if message["role"] not in {"user", "tool"}:
            continue
        text = text_of(message)
        yield as_read(fence.sub("", text))
        for found in fence.finditer(text):
            yield from _broken_out(as_read(found[1]))


def _broken_out(text: str) -> Iterator[str]:
    """What a chat template would take for another message although it stands in a fence."""
    for pattern in (_CONTROL, _ROLE):
        found = pattern.search(text)
        if found:
            yield text[found.start() :]


def orders_in(text: str) -> Iterator[Order]:
    """Find orders, in words or written as calls."""
    decoder = json.JSONDecoder()
    for said in _SAID.finditer(text):
        arguments = _decoded(decoder, text, said.end())
        if arguments is not None:
            yield Order(said[1], arguments)
    for call in _XML.finditer(text):
        yield Order(call[1], dict(_PARAMETER.findall(call[2])))
    for bare in _BARE.finditer(text):
        value = _decoded(decoder, text, bare.start())
        if value is not None and "name" in value and isinstance(value.get("arguments"), dict):
            yield Order(str(value["name"]), value["arguments"])


def _decoded(decoder: json.JSONDecoder, text: str, place: int) -> dict[str, Any] | None:
    try:
        value, _ = decoder.raw_decode(text, place)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class Gullible:
    """Obeys what it sees outside the fences, and does its work otherwise.

    Attributes
    ----------
    work
        What it answers when it has no orders left.
    everything
        Obey what stands inside the fences too, as the most careless model does: only approval
        is left then.
    """

    work: Policy
    everything: bool = False

    def __call__(self, request: ScriptedRequest) -> ScriptedAnswer:
        """Obey the first order that was not carried out yet, or work."""
        called = {
            (call["function"]["name"], call["function"]["arguments"])
            for message in request.messages
            for call in message.get("tool_calls") or ()
        }
        for order in self._orders(request):
            new = (order.tool, json.dumps(order.arguments, ensure_ascii=False)) not in called
            if new and order.tool in request.tool_names:
                return ScriptedAnswer(calls=(ScriptedCall(order.tool, order.arguments),))
        return self.work(request)

    def _orders(self, request: ScriptedRequest) -> Iterator[Order]:
        seen = list(seen_outside(request))
        if self.everything:
            seen += [as_read(text) for text in request.texts("tool")]
        for text in seen:
            yield from (each for each in orders_in(text) if MARK in json.dumps(each.arguments))
