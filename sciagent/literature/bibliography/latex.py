"""Plain text as LaTeX and back, as far as titles and names of bibliographies need it.

Letters of all scripts stay as they are (LaTeX reads UTF-8); what LaTeX gives a meaning to is
escaped. Braces are written by name, because BibTeX counts them even behind a backslash.
"""

import re
import unicodedata
from collections.abc import Iterator

_NAMED = {
    "\\": "textbackslash", "{": "textbraceleft", "}": "textbraceright", "^": "textasciicircum",
    "~": "textasciitilde",
}  # fmt: skip
_ESCAPED = {
    **{character: rf"\{name}{{}}" for character, name in _NAMED.items()},
    **{character: rf"\{character}" for character in "$&#%_"},
    "\u00a0": "~",
}
_LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=[?!])(?=`)")

_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328",
    "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip
_SYMBOLS = {
    **{name: character for character, name in _NAMED.items()},
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ",
    "dj": "đ", "DJ": "Đ", "textendash": "–", "textemdash": "—", "textquoteright": "’",
    "textquoteleft": "‘", "textquotedblleft": "“", "textquotedblright": "”", "textdegree": "°",
    "degree": "°", "times": "×", "pm": "±", "sim": "∼", "approx": "≈", "leq": "≤", "geq": "≥",
    "textmu": "µ", "angstrom": "Å", "ldots": "…", "dots": "…", "textless": "<",
    "textgreater": ">", "textbar": "|", "textperiodcentered": "·", "cdot": "·", "infty": "∞",
    "to": "→", "rightarrow": "→", "slash": "/", "LaTeX": "LaTeX", "TeX": "TeX",
}  # fmt: skip
_STYLES = frozenset(
    "emph textit textbf textsc textrm textsf texttt textup textsl textnormal textsuperscript "
    "textsubscript mathrm mathit mathbf mathsf mathcal text mbox ensuremath uppercase lowercase "
    "it bf sc rm sf tt em bfseries itshape scshape relax protect url".split()
)
_PIECE = re.compile(r"\\([A-Za-z]+)\s*|\\(.)|---?|``|''|[{}$]|~|[^\\{}$~`'-]+|.", re.DOTALL)
_DASHES = {"--": "–", "---": "—", "``": "“", "''": "”", "~": "\u00a0"}
_DOTLESS = {"ı": "i", "ȷ": "j"}


def latex_from_text(text: str) -> str:
    """Write a text on one line so that LaTeX prints it as it is."""
    line = re.sub(r"[^\S\u00a0]+", " ", text).strip(" ")
    escaped = "".join(_ESCAPED.get(character, character) for character in line)
    return _LIGATURE.sub("{}", escaped)


def text_from_latex(latex: str) -> str:
    """Read LaTeX as plain text: the inverse of `latex_from_text`, and accents by their macros.

    Groups, mathematics and changes of the typeface leave their content; a macro that is not known
    stays as it is written.
    """
    text = "".join(_pieces(latex))
    return re.sub(r"[^\S\u00a0]+", " ", text).strip(" ")


def _pieces(latex: str) -> Iterator[str]:
    place = 0
    while match := _PIECE.match(latex, place):
        place = match.end()
        macro = match[1] or match[2]
        if macro in _ACCENTS:
            argument, place = _argument(latex, place)
            yield _accented(text_from_latex(argument), _ACCENTS[macro])
        elif match[1]:
            yield _named(match[1], match[0])
        elif match[2]:
            yield "" if match[2] == "-" else " " if match[2] in "\\/,; \n" else match[2]
        elif match[0] not in {"{", "}", "$"}:
            yield _DASHES.get(match[0], match[0])


def _named(name: str, written: str) -> str:
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if name in _STYLES:
        return ""
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return written


def _argument(latex: str, place: int) -> tuple[str, int]:
    """The group, macro or character at a place, and where it ends."""
    if latex[place : place + 1] != "{":
        match = _ONE.match(latex, place)
        return (match[1], match.end()) if match else ("", place)
    depth = 0
    for end in range(place, len(latex)):
        depth += {"{": 1, "}": -1}.get(latex[end], 0)
        if depth == 0:
            return latex[place + 1 : end], end + 1
    return latex[place + 1 :], len(latex)


_ONE = re.compile(r"\s*(\\[A-Za-z]+|[^\s\\{}])")


def _accented(letters: str, accent: str) -> str:
    if not letters:
        return ""
    first = _DOTLESS.get(letters[0], letters[0])
    return unicodedata.normalize("NFC", first + accent) + letters[1:]
