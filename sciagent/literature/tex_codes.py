"""Codes of TeX's fonts (T1, then OT1) that files without a map to characters leave in their text.

Readers of PDF and viewers give them as control characters. The form feed, which is OT1's ligature
fi, is left out: it stands between pages.
"""

TEX_CODES: dict[str, str | int | None] = {
    "\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl",
    "\x0b": "ff", "\x0e": "ffi", "\x0f": "ffl",
    "\x10": "“", "\x11": "”", "\x12": "„", "\x13": "«", "\x14": "»", "\x15": "–", "\x16": "—",
}  # fmt: skip
"""What each code means."""
