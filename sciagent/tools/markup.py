"""Text from elsewhere, made unable to pass for anything but text.

What a server's chat template, a model or the report's renderer could take for a control token is
broken by one visible change, so that the words stay readable:

======================================= ===================================================
``<|im_start|>``, ``<tool_call>``       the bracket becomes ``&lt;``
``[INST]``, ``[TOOL_CALLS]``            the bracket becomes ``&#91;``
``{{claim:ID}}``                        the first brace becomes ``&#123;``
``{"name": ..., "arguments": ...}``     the brace becomes ``&#123;``, as a call in JSON begins so
``System: ...`` at the start of a line  the line gets a margin, ``| ``
``⟦ ⟧``, which only fences hold         ``[[`` and ``]]``
invisible, directional, control chars   removed
======================================= ===================================================

The patterns are looked for in a folded copy of the text (compatibility forms, case, combining
marks and the commonest look-alike letters), so that a full-width or Cyrillic disguise does not
help. `escaped` applied twice changes nothing more.
"""

import re
import unicodedata
from itertools import chain

_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_TERMINAL_CODE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|[@-Z\\-_])"
)
_FILLERS = frozenset(
    chain(
        (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
        range(0xFE00, 0xFE10),
        range(0xE0100, 0xE01F0),
    )
)
"""Characters that are drawn as nothing although their category is not one of formats."""

_FENCES = {"⟦": "[[", "〚": "[[", "⟧": "]]", "〛": "]]"}
_LOOK_ALIKES = dict(zip("аеорсухіѕјԁһӏոԛѡαεορυιкмтѵ", "aeopcyxisjdhlnqwaeopuikmtv", strict=True))

_TAGS = (
    r"tools?|tool_\w{1,30}|functions?|function_\w{1,30}|parameters?|invoke|arguments?|think|"
    r"thinking|thought|reasoning|system|user|assistant|developer|human|message|instructions?|"
    r"im_\w{1,20}|start_\w{1,30}|end_\w{1,30}|begin_\w{1,30}|eot_id|eom_id|bos|eos|s|sys|inst|turn"
)
_GAP = r"[^\S\n]{0,8}"
_MARKERS = r"inst|sys|system_prompt|available_tools|tool_calls?|tool_results?"
_CONTROL_TOKEN = re.compile(
    rf"<(?={_GAP}\|)"
    rf"|<(?={_GAP}[/!<|]{{0,3}}{_GAP}(?:[\w.\-]{{1,32}}:)?(?:{_TAGS})\b)"
    rf"|\[(?={_GAP}/?{_GAP}(?:{_MARKERS}){_GAP}\])"
    rf"|\{{(?={_GAP}\{{{_GAP}(?:claims?|figure){_GAP}:)"
)
_CALL_IN_JSON = re.compile(
    r'\{(?=\s*"(?:name|function|arguments|parameters|id|type|[^"\n]*\\u00[^"\n]*)"\s*:)'
)
# A key of a call may be spelled with escapes, as JSON allows.
_HOLDS_CALL = re.compile(r'"(?:arguments|parameters)"|\\u00')
_NAMES_CALL = re.compile(r'"name"|\\u00')
_INSTEAD = {"<": "&lt;", "[": "&#91;", "{": "&#123;"}
_SPACE = r"[^\S\n]{1,3}"
_ROLE_LINE = re.compile(
    rf"^(?:[^\w\n|]|_)*(?:(?:new|the|begin|end|from){_SPACE}(?:of{_SPACE})?(?:the{_SPACE})?)?"
    r"(?:system|assistant|user|human|developer|tool|function|observation|bot|ai)"
    r"(?:[ _-]{0,2}(?:message|prompt|instructions?|notice|response|result|override|turn|note"
    r"|reminder|call))?(?:[^\w\n:]|_)*?(?:\]\(|(?=:|$))",
    re.MULTILINE,
)
MARGIN = "| "


class _Cleaning(dict[int, str | None]):
    """What each character becomes before patterns are looked for; filled as characters come."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        kept: str | None = _FENCES.get(character, character)
        if category == "Cs":
            kept = "\ufffd"
        elif (category in {"Cc", "Cf"} and character not in "\n\t") or code in _FILLERS:
            kept = None
        self[code] = kept
        return kept


class _Folding(dict[int, str]):
    """The plain letters that each character may pass for; filled as characters come."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKC", chr(code)).casefold()
        plain = unicodedata.normalize("NFKC", plain)
        letters = (_LOOK_ALIKES.get(each, each) for each in plain)
        folded = "".join(each for each in letters if unicodedata.category(each) != "Mn")
        self[code] = folded
        return folded


_CLEANING = _Cleaning()
_FOLDING = _Folding()


def cleaned(text: str) -> str:
    """Text with plain line breaks and without what is invisible or steers a terminal."""
    return _LINE_BREAK.sub("\n", _TERMINAL_CODE.sub("", text)).translate(_CLEANING)


def escaped(text: str) -> str:
    """Make a text harmless, whatever it is; see the table of this module."""
    text = cleaned(text)
    folded = text.lower() if text.isascii() else text.translate(_FOLDING)
    edits = [
        (match.start(), 1, _INSTEAD[folded[match.start()]])
        for match in _CONTROL_TOKEN.finditer(folded)
    ]
    if _HOLDS_CALL.search(folded) and _NAMES_CALL.search(folded):
        # An answer that quotes such an object would otherwise be read as the call.
        edits += [(match.start(), 1, _INSTEAD["{"]) for match in _CALL_IN_JSON.finditer(folded)]
    edits += [(match.start(), 0, MARGIN) for match in _ROLE_LINE.finditer(folded)]
    return _edited(text, edits) if edits else text


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Make edits that were found in the folded copy: place, length and what comes instead."""
    places: range | list[int] = range(len(text))
    if not text.isascii():
        # A character may be folded to none or to several.
        places = [place for place, each in enumerate(text) for _ in _FOLDING[ord(each)]]
    pieces, done = [], 0
    # A margin stands before what replaces the first character of its line.
    for start, length, instead in sorted(edits):
        pieces += [text[done : places[start]], instead]
        done = places[start] + length
    return "".join([*pieces, text[done:]])


def inline(text: str, limit: int = 200) -> str:
    """Make a text harmless on one line of at most `limit` characters and an ellipsis."""
    line = escaped(" ".join(cleaned(text[: 4 * limit]).split()))
    return line if len(line) <= limit else f"{line[:limit]}…"
