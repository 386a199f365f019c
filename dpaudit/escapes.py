"""Text from files and targets, made safe to show: what would steer a terminal or hide is spelt out."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tabulator and line feed
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of reading, or has no width
    "\u2028\u2029\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"  # other line ends, and what has no glyph
    "\U000e0000-\U000e007f"  # tags, an invisible copy of ASCII
    "\ud800-\udfff\ufffe\uffff"  # what no encoding takes
    "]"
)


def visible(text: str) -> str:
    r"""Return a text in which control characters, marks of direction and lone surrogates are escapes like ``\u001b``.

    They are the escapes of JSON, so that JSON text means the same afterwards. Line feeds and tabulators stay.
    """
    return _HIDDEN.sub(lambda found: escaped(found[0]), text)


def escaped(text: str) -> str:
    """Return every character of a text as its JSON escape."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[i : i + 2], 'big'):04x}" for i in range(0, len(units), 2))
