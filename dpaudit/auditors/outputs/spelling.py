"""How the fields of texts are written: what separates them, and in which of its spellings a number or a word stands."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np

SEPARATING = r"\s,;:|=/&?()\[\]{}<>\"'#"
"""Characters that separate fields, as in a class of a regular expression."""

SEPARATORS = re.compile(f"[{SEPARATING}]+")

WITH_UNIT = re.compile(r"([$€£]?)([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)([a-zA-Z%]{0,3})", re.ASCII)
"""A number beside a unit, such as 12.5ms, $3 or 40%."""

_WHOLE = r"(?:0|[1-9]\d*)"
STYLES = (
    r"(?:0|-?[1-9]\d*)",
    rf"(?:0|-?[1-9]\d*|-?{_WHOLE}\.\d*[1-9])",
    rf"(?:0\.0|-?[1-9]\d*\.0|-?{_WHOLE}\.\d*[1-9])",
)
"""Ways to write numbers that each write a number in one way: whole ones, and fractions without zeros at their end. No
zero has a sign, and none has an exponent, which may be written in several ways."""

NEARLY_ALL = 0.99
"""Share of texts, at least, that a usual way to write them has."""

_MOSTLY = 0.5
"""Share of the fields at a place, at least, that are written in a way which is called usual there. Chosen by hand."""

_LOOKED_AT = 200_000
"""Fields that say how most are written, about. Chosen by hand, for time: of 1,920 fields, some 100 texts."""

_TOGETHER = 16
"""Fields that are compared at once, while they are written as usual. Chosen for time."""

_END = f"(?=[{SEPARATING}]|\\Z)"
_ANY_FIELD = f"[^{SEPARATING}]+"
_NEXT = re.compile(f"[{SEPARATING}]*{_ANY_FIELD}")


def fixed_decimals(decimals: int) -> str:
    """Return the way to write numbers with so many decimals, at least 1, in which no zero has a sign."""
    digits = rf"\.\d{{{decimals}}}"
    return rf"(?:0{digits}|-?[1-9]\d*{digits}|-0(?!\.0{{{decimals}}}){digits})"


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a regular expression in which digits and letters are those of ASCII."""
    return re.compile(pattern, re.ASCII)


def repeated(parts: Iterable[str]) -> str:
    """Return parts of a regular expression end to end; equal ones, of which there may be many, as one."""
    counted = ((part, sum(1 for _ in alike)) for part, alike in groupby(parts))
    return "".join(part if times == 1 else f"(?:{part}){{{times}}}" for part, times in counted)


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the fields of most texts are written, of which all have equally many.

    Attributes
    ----------
    fields
        For each field, the characters that separate it from the one before, and a regular expression for itself.
    end
        What stands behind the last field.
    """

    fields: tuple[tuple[str, str], ...]
    end: str = ""

    @classmethod
    def of(cls, texts: Sequence[str], words: Sequence[frozenset[str]]) -> Spelling:
        """Find the usual spelling of texts that have equally many fields, by the common words at each place."""
        texts = texts[:: max(1, len(texts) * len(words) // _LOOKED_AT)]
        separators = [_around(text) for text in texts]
        usual = [Counter(each).most_common(1)[0][0] for each in zip(*separators, strict=True)]
        columns = list(zip(*map(fields_in, texts), strict=True))
        shares = [_shares(column, known) for column, known in zip(columns, words, strict=True)]
        own = [_best(each, NEARLY_ALL) for each in shares]
        # A place where numbers are written in two ways is compared with the others.
        most = [style for style, _ in Counter(filter(None, own)).most_common()]
        styles = [style or _usual(each, most) for style, each in zip(own, shares, strict=True)]
        return cls(tuple(zip(usual[:-1], styles, strict=True)), usual[-1])

    @property
    def written(self) -> str:
        """The spelling written down."""
        ways = list(dict.fromkeys(self.fields))
        which = {way: number for number, way in enumerate(ways)}
        runs = [(which[way], sum(1 for _ in alike)) for way, alike in groupby(self.fields)]
        return json.dumps([ways, runs, self.end])

    @classmethod
    def read(cls, written: str) -> Spelling:
        """Read what was written down; ValueError where it cannot be read."""
        try:
            ways, runs, end = json.loads(written)
            fields = [(str(ways[way][0]), str(ways[way][1])) for way, times in runs for _ in range(times)]
            made = cls(tuple(fields), str(end))
            for _, style in set(fields):
                compiled(style)
        except (ValueError, TypeError, LookupError, re.error) as error:
            raise ValueError(f"no spelling of fields: {error}") from error
        return made

    @property
    def _pieces(self) -> list[str]:
        return [f"{re.escape(before)}(?:{style}){_END}" for before, style in self.fields]


def decoded(text: str | bytes) -> str:
    """Return a text; bytes are read as Latin letters."""
    return text if isinstance(text, str) else text.decode("latin-1")


def fields_in(text: str) -> list[str]:
    """Return the fields of a text."""
    return [field for field in SEPARATORS.split(text) if field]


def odd_fields(texts: Sequence[str | bytes], written: str) -> np.ndarray:
    """Return the first and last field of every text that is not written as usual, and how many are.

    A field is not written as usual where what separates it from the one before is not, either, and where it is missing
    or one too many. What stands behind the last one belongs to it.

    Parameters
    ----------
    texts
        Texts.
    written
        The usual spelling, written down.

    Returns
    -------
    np.ndarray
        Shape (texts, 3); the places are -1 where all fields are written as usual.
    """
    whole, together, pieces, end = _patterns(written)
    made = np.full((len(texts), 3), (-1, -1, 0))
    for row, text in enumerate(map(decoded, texts)):
        if whole.fullmatch(text) is None:
            odd = _odd(text, together, pieces, end)
            if odd:
                made[row] = odd[0], odd[-1], len(odd)
    return made


_Patterns = tuple[re.Pattern[str], list[re.Pattern[str]], list[re.Pattern[str]], str]


@lru_cache(maxsize=64)
def _patterns(written: str) -> _Patterns:
    """Regular expressions of whole texts, of some fields together, and of each field, and what stands at the end."""
    spelling = Spelling.read(written)
    pieces = spelling._pieces
    together = [compiled(repeated(pieces[start : start + _TOGETHER])) for start in range(0, len(pieces), _TOGETHER)]
    whole = compiled(repeated(pieces) + re.escape(spelling.end))
    return whole, together, list(map(compiled, pieces)), spelling.end


def _odd(text: str, together: list[re.Pattern[str]], pieces: list[re.Pattern[str]], end: str) -> list[int]:
    """Places of the fields of a text that are not written as usual."""
    odd, at, place = [], 0, 0
    while True:
        if place % _TOGETHER == 0 and place < len(pieces):
            several = together[place // _TOGETHER].match(text, at)
            if several is not None:
                at, place = several.end(), min(place + _TOGETHER, len(pieces))
                continue
        found = pieces[place].match(text, at) if place < len(pieces) else None
        if found is None:
            found = _NEXT.match(text, at)
            if found is None:
                break
            odd.append(place)
        at, place = found.end(), place + 1
    last = place - 1
    if text[at:] != end and (not odd or odd[-1] != last) and last >= 0:
        odd.append(last)
    return [*odd, *range(place, len(pieces))]


def _around(text: str) -> list[str]:
    """What stands before each field of a text, and behind the last one."""
    parts, found = SEPARATORS.split(text), SEPARATORS.findall(text)
    return [*([""] if parts[0] else []), *found, *([""] if parts[-1] else [])]


def _best(shares: dict[str, float], least: float) -> str:
    """The most common way to write a field, the narrowest of several; empty where no way has that share."""
    best = max(shares, key=lambda style: shares[style], default="")
    return best if shares.get(best, 0) >= least else ""


def _usual(shares: dict[str, float], others: Sequence[str]) -> str:
    """The way to write a field where no way is that of nearly all: one that other places have, or the most common."""
    also_here = (style for style in others if shares.get(style, 0) >= _MOSTLY)
    return next(also_here, "") or _best(shares, _MOSTLY) or _ANY_FIELD


def _shares(column: Sequence[str], words: frozenset[str]) -> dict[str, float]:
    """Share of the fields at a place that are written in each way, the narrowest first."""
    found = list(filter(None, map(WITH_UNIT.fullmatch, column)))
    styles = ["|".join(map(re.escape, sorted(words)))] if words else []
    if len(found) >= _MOSTLY * len(column):
        (before, behind), _ = Counter((match[1], match[3]) for match in found).most_common(1)[0]
        styles += [f"{re.escape(before)}(?:{style}){re.escape(behind)}" for style in _styles_of(found)]
    shares: dict[str, float] = {}
    for style in styles:
        shares[style] = sum(map(bool, map(compiled(style).fullmatch, column))) / len(column)
        if shares[style] == 1:
            break
    return shares


def _styles_of(found: Sequence[re.Match[str]]) -> list[str]:
    """Ways to write numbers, with as many decimals as most of some have: those of `STYLES`, and with exponents."""
    mantissas = [re.split("[eE]", match[2])[0] for match in found]
    decimals, _ = Counter(len(each.partition(".")[2]) for each in mantissas).most_common(1)[0]
    digits = rf"\.\d{{{decimals}}}" if decimals else ""
    power = r"[-+]\d{2,3}"
    styles = [fixed_decimals(decimals)] if decimals else []
    styles += [*STYLES, rf"[-+](?:{_WHOLE}){digits}"]
    styles += [rf"{sign}\d{digits}{letter}{power}" for sign in ("-?", "[-+]") for letter in "eE"]
    # As Python writes the fewest digits that are read back as the number.
    return [*styles, rf"(?:-?0\.0|{STYLES[2]}|-?[1-9](?:\.\d*[1-9])?e{power})"]
