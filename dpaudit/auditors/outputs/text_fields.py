"""Texts as fields, which white space and punctuation separate: numbers by their place, words wherever they stand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

_SEPARATORS = re.compile(r"[\s,;:|=/&?()\[\]{}<>\"'#]+")

_WITH_UNIT = re.compile(r"([$€£]?)([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)([a-zA-Z%]{0,3})", re.ASCII)
"""A number beside a unit, such as 12.5ms, $3 or 40%."""

_LARGEST = 1e300

_FIRST, _LAST = 128, 8
"""Fields from the beginning of a text that are looked at, and from its end where not all are, or their number varies.
Chosen by hand: half of the columns that all ways to look at outputs deal with."""

_NUMBERS = 0.5
"""Share of the fields at a place that are numbers, at least, for them to be looked at as numbers. Chosen by hand."""

_NEARLY_ALL = 0.99
"""Share of the fields at every place that are read, at least, for them to say all that is in the texts."""

_DIGITS = 15
"""Digits that double precision holds."""

_COMMON, _MOST_WORDS = 0.01, 64
"""Share of texts that hold a word, at least, and words, at most, as of the values of a list."""


Numbers = tuple[np.ndarray, np.ndarray]
"""Numbers in a field of every text, 0 where it is none, and where it is one.

A number may have a unit of up to three letters behind it, or the sign of a currency before it.
"""


def fields_of(texts: Sequence[str | bytes]) -> list[list[str]]:
    """Return the fields of every text; bytes are read as Latin letters."""
    return [[field for field in _SEPARATORS.split(text) if field] for text in map(_decoded, texts)]


def numbers_at(fields: Sequence[Sequence[str]], place: int) -> Numbers:
    """Return the numbers in one field of every text, counted from the end below 0."""
    need = place + 1 if place >= 0 else -place
    return _numbers([each[place] if len(each) >= need else "" for each in fields])


def numbers_after(fields: Sequence[Sequence[str]], words: Sequence[str]) -> list[Numbers]:
    """Return, for each of these words, the numbers in the field behind the first one of every text."""
    which = {word: i for i, word in enumerate(words)}
    found = [[""] * len(fields) for _ in words]
    for row, each in enumerate(fields):
        for word, behind in zip(each[-2::-1], each[:0:-1], strict=True):
            at = which.get(word)
            if at is not None:
                found[at][row] = behind
    return [_numbers(each) for each in found]


def occurrences_of(fields: Sequence[Sequence[str]], words: Sequence[str]) -> np.ndarray:
    """Count how often each text has each of these words; shape (texts, words)."""
    which = {word: i for i, word in enumerate(words)}
    made = np.zeros((len(fields), len(words)))
    for row, each in enumerate(fields):
        for field in each:
            at = which.get(field)
            if at is not None:
                made[row, at] += 1
    return made


class Telling(NamedTuple):
    """What is read off texts, and whether that is all in them.

    Places of fields that are mostly numbers, common words, and those words that numbers mostly stand behind, where
    these are not known by their places. It is not all where the number of fields or what separates them varies, where
    numbers have more digits than double precision or different units, where other words come, or where more than one
    place holds different words, whose order would be lost.
    """

    places: list[int]
    words: list[str]
    before_numbers: list[str]
    complete: bool


def telling_fields(texts: Sequence[str | bytes]) -> Telling:
    """Decide what is read off texts, by some of them."""
    fields = fields_of(texts)
    counts = set(map(len, fields))
    most = max(counts, default=0)
    varies = len(counts) > 1
    places = []
    from_end = range(-1, -1 - min(most, _LAST), -1) if varies or most > _FIRST else ()
    for place in [*range(min(most, _FIRST)), *from_end]:
        need = place + 1 if place >= 0 else -place
        having = sum(len(each) >= need for each in fields)
        if numbers_at(fields, place)[1].sum() >= max(1.0, _NUMBERS * having):
            places.append(place)
    # A text of one field is counted as a whole.
    holding = Counter(chain.from_iterable(map(set, fields))) if most > 1 else Counter()
    least = max(2.0, _COMMON * len(fields))
    words = [word for word, count in holding.items() if count >= least and math.isnan(_number(word))]
    words = sorted(words, key=lambda word: (-holding[word], word))[:_MOST_WORDS]
    alike = not varies and len({tuple(_SEPARATORS.findall(text)) for text in map(_decoded, texts)}) == 1
    complete = alike and 0 < most <= _FIRST and _say_all(fields, set(places), set(words))
    return Telling(places, words, _before_numbers(fields, words) if varies else [], complete)


def _before_numbers(fields: Sequence[Sequence[str]], words: Sequence[str]) -> list[str]:
    """Return the words that are mostly followed by a number."""
    followed = [int(there.sum()) for _, there in numbers_after(fields, words)]
    holding = (occurrences_of(fields, words) > 0).sum(axis=0).tolist()
    return [word for word, many, of in zip(words, followed, holding, strict=True) if many >= _NUMBERS * of]


def _say_all(fields: Sequence[Sequence[str]], places: set[int], words: set[str]) -> bool:
    """Whether nearly every field is a number or a word that is read, and at most one place holds different words."""
    with_words = 0
    for place, column in enumerate(zip(*fields, strict=True)):
        if place in places:
            known = [not math.isnan(_number(field)) and sum(map(str.isdigit, field)) <= _DIGITS for field in column]
            if len({_unit(field) for field, is_known in zip(column, known, strict=True) if is_known}) > 1:
                return False
        else:
            known = [field in words for field in column]
            with_words += len(set(column)) > 1
        if sum(known) < _NEARLY_ALL * len(known):
            return False
    return with_words <= 1


def _numbers(fields: Sequence[str]) -> Numbers:
    try:
        numbers = np.array(fields, dtype=float)
    except ValueError:
        numbers = np.fromiter(map(_number, fields), float, len(fields))
    there = ~np.isnan(numbers)
    return np.clip(np.where(there, numbers, 0.0), -_LARGEST, _LARGEST), there


def _number(field: str) -> float:
    """Return the number that a field is; NaN where it is none."""
    try:
        return float(field)
    except ValueError:
        found = _WITH_UNIT.fullmatch(field)
        return float(found[2]) if found else math.nan


def _unit(field: str) -> tuple[str, str]:
    """Return what stands before and behind the number that a field is."""
    found = _WITH_UNIT.fullmatch(field)
    return (found[1], found[3]) if found else ("", "")


def _decoded(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("latin-1")
