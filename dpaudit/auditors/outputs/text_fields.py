"""Texts as fields, which white space and punctuation separate: numbers by their place, words wherever they stand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np

from dpaudit.auditors.outputs.spelling import (
    NEARLY_ALL,
    SEPARATORS,
    STYLES,
    WITH_UNIT,
    Spelling,
    compiled,
    decoded,
    fields_in,
    fixed_decimals,
    odd_fields,
    repeated,
)

_LONGEST = 40
"""Characters of a number, at most."""

_FIRST, _LAST = 128, 8
"""Fields from the beginning of a text that are looked at, and from its end where not all are, or their number varies.
Chosen by hand: half of the columns that all ways to look at outputs deal with."""

_IN_TABLE = 1_920
"""Fields from the beginning that are looked at where all texts have equally many: with words and the last ones, fewer
than a table may have."""

_NUMBERS = 0.5
"""Share of the fields at a place that are numbers, at least, for them to be looked at as numbers. Chosen by hand."""

_DIGITS = 15
"""Digits that double precision holds."""

_SHORT = 2
"""Digits, at most, that are no code of several characters although they are equally many in all texts."""

_COMMON, _MOST_WORDS = 0.01, 64
"""Share of texts that hold a word, at least, and words, at most, as of the values of a list."""

_MOST_AT_PLACES, _IN_WIDE_TEXTS = 128, 1_024
"""Words at their places that are looked at, at most, and in the rows of a wide table. Chosen by hand, for room beside
other columns."""

Numbers = tuple[np.ndarray, np.ndarray]
"""Numbers in a field of every text, 0 where it is none, and where it is one.

A number may have a unit of up to three letters behind it, or the sign of a currency before it.
"""


def fields_of(texts: Sequence[str | bytes]) -> list[list[str]]:
    """Return the fields of every text; bytes are read as Latin letters."""
    return list(map(fields_in, map(decoded, texts)))


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


def are_word(fields: Sequence[Sequence[str]], place: int, word: str) -> np.ndarray:
    """Return of which texts the field at a place is a word."""
    return np.fromiter((place < len(each) and each[place] == word for each in fields), bool, len(fields))


def have_form(texts: Sequence[str | bytes], form: str) -> np.ndarray:
    """Return which texts have a form, as `Telling` has it."""
    kind, fits = str if form[0] == "t" else bytes, compiled(form[1:]).fullmatch
    found = (isinstance(text, kind) and fits(decoded(text)) is not None for text in texts)
    return np.fromiter(found, bool, len(texts))


class Telling(NamedTuple):
    """What is read off texts.

    Attributes
    ----------
    places
        Places of fields that are mostly numbers.
    words
        Common words.
    before_numbers
        Those words that numbers mostly stand behind, where these are not known by their places.
    words_at
        Common words with their places, where several places each have one of several words.
    is_table
        Whether the texts are rows of a wide table: equally many fields each, more than are looked at otherwise, and
        most of them numbers or common words.
    spelling
        How the fields of most texts are written, as `Spelling` has it; empty where all texts are written alike, or
        the number of fields varies or is too large.
    form
        Form of nearly all texts, to which numbers in places and one of the words add all that is in them: ``t`` for
        texts or ``b`` for bytes, and a regular expression. Empty where there is none: where the number of fields or
        what separates them varies, where numbers are written in several ways, have more digits than double precision
        or may be codes of digits, or where more than one place holds different words, whose order would be lost.
        Of rows of a wide table, nearly all fields have it at every place.
    """

    places: list[int]
    words: list[str]
    before_numbers: list[str]
    words_at: list[tuple[int, str]]
    is_table: bool
    spelling: str
    form: str


def telling_fields(texts: Sequence[str | bytes]) -> Telling:
    """Decide what is read off texts, by some of them; nothing off bytes that are no text."""
    if not all(map(_is_written, texts)):
        return Telling([], [], [], [], False, "", "")
    fields = fields_of(texts)
    counts = set(map(len, fields))
    most = max(counts, default=0)
    varies = len(counts) > 1
    places = []
    first = _FIRST if varies else _IN_TABLE
    from_end = range(-1, -1 - min(most, _LAST), -1) if varies or most > first else ()
    for place in [*range(min(most, first)), *from_end]:
        need = place + 1 if place >= 0 else -place
        having = sum(len(each) >= need for each in fields)
        if numbers_at(fields, place)[1].sum() >= max(1.0, _NUMBERS * having):
            places.append(place)
    # A text of one field is counted as a whole.
    holding = Counter(chain.from_iterable(map(set, fields))) if most > 1 else Counter()
    least = max(2.0, _COMMON * len(fields))
    words = [word for word, count in holding.items() if count >= least and is_word(word)]
    words = sorted(words, key=lambda word: (-holding[word], word))[:_MOST_WORDS]
    before = _before_numbers(fields, words) if varies else []
    is_looked_at = not varies and 0 < most <= first
    numbered, columns = set(places), zip(*fields, strict=True) if is_looked_at else ()
    common = [[] if place in numbered else _common_words(each, least) for place, each in enumerate(columns)]
    several = [place for place, own in enumerate(common) if len(own) > 1]
    is_table = not varies and most > _FIRST and len(places) + len(several) >= _NUMBERS * min(most, first)
    # Where one place alone has several words, their number says which.
    ranked = zip_longest(*(common[place][1:] for place in several if len(several) > 1))
    words_at = [(place, word) for rank in ranked for place, word in zip(several, rank, strict=True) if word is not None]
    words_at = words_at[: _IN_WIDE_TEXTS if is_table else _MOST_AT_PLACES]
    spelling = _spelling(texts, common) if is_looked_at else ""
    form = _form(texts, numbered, set(words), is_table) if 0 < most <= (first if is_table else _FIRST) else ""
    return Telling(places, words, before, words_at, is_table, spelling, form)


def _common_words(column: Sequence[str], least: float) -> list[str]:
    """Return the words that come so often at a place, the most frequent first."""
    return [word for word, count in Counter(column).most_common(_MOST_WORDS) if count >= least and is_word(word)]


def _spelling(texts: Sequence[str | bytes], common: Sequence[Sequence[str]]) -> str:
    """Return how the fields of texts that have equally many are written, as `Telling` has it."""
    spelling = Spelling.of(list(map(decoded, texts)), list(map(frozenset, common))).written
    return spelling if odd_fields(texts, spelling)[:, 2].any() else ""


def _before_numbers(fields: Sequence[Sequence[str]], words: Sequence[str]) -> list[str]:
    """Return the words that are mostly followed by a number."""
    followed = [int(there.sum()) for _, there in numbers_after(fields, words)]
    holding = (occurrences_of(fields, words) > 0).sum(axis=0).tolist()
    return [word for word, many, of in zip(words, followed, holding, strict=True) if many >= _NUMBERS * of]


def _form(texts: Sequence[str | bytes], places: set[int], words: set[str], is_table: bool) -> str:
    """Return the form of nearly all texts, as `Telling` has it."""
    ((separators, usual),) = Counter(tuple(SEPARATORS.findall(text)) for text in map(decoded, texts)).most_common(1)
    alike = [text for text in texts if tuple(SEPARATORS.findall(decoded(text))) == separators]
    fields = fields_of(alike)
    if usual < NEARLY_ALL * len(texts) or len(set(map(len, fields))) > 1 or len(set(map(type, alike))) > 1:
        return ""
    parts, with_words = [], 0
    for place, column in enumerate(zip(*fields, strict=True)):
        known = [field for field in column if field in words]
        with_words += place not in places and len(set(known)) > 1
        style = _style(column, is_table) if place in places else "|".join(map(re.escape, sorted(set(known))))
        if not style or with_words > 1:
            return ""
        parts.append(f"(?:{style})")
    # White space and punctuation may stand at either end, too.
    begins = not SEPARATORS.match(decoded(alike[0]))
    between = [*([""] if begins else []), *map(re.escape, separators)]
    joined = repeated(map("".join, zip(between, parts, strict=False)))
    form = ("t" if isinstance(alike[0], str) else "b") + joined + "".join(between[len(parts) :])
    # In a wide table, every text may have one of few odd numbers.
    return form if is_table or have_form(texts, form).mean() >= NEARLY_ALL else ""


def _style(column: Sequence[str], is_table: bool) -> str:
    """Return how nearly all numbers of a place are written, as a regular expression; empty where not in one way.

    Of a wide table, all digits may be written; of other texts, the last ones are looked at as characters.
    """
    found = [match for match in map(WITH_UNIT.fullmatch, column) if match is not None]
    if not found:
        return ""
    (before, behind), _ = Counter((match[1], match[3]) for match in found).most_common(1)[0]
    decimals, _ = Counter(len(match[2].partition(".")[2]) for match in found).most_common(1)[0]
    numbers = [match[2] for match in found]
    exact = [
        number
        for number in numbers
        if sum(map(str.isdigit, number)) <= _DIGITS or (is_table and repr(float(number)) == number)
    ]
    styles = [*([fixed_decimals(decimals)] if decimals else []), *STYLES]
    for style in styles:
        fits = sum(compiled(style).fullmatch(number) is not None for number in exact)
        if fits >= NEARLY_ALL * len(column):
            # Digits that are equally many may be a code, such as bits or the answers to several questions.
            lengths = set(map(len, exact))
            is_code = style is STYLES[0] and len(lengths) == 1 and max(lengths) > _SHORT
            return "" if is_code else f"{re.escape(before)}(?:{style}){re.escape(behind)}"
    return ""


def _numbers(fields: Sequence[str]) -> Numbers:
    try:
        if max(map(len, fields), default=0) > _LONGEST:
            raise ValueError
        numbers = np.array(fields, dtype=float)
    except ValueError:
        numbers = np.fromiter(map(_number, fields), float, len(fields))
    there = np.isfinite(numbers)
    return np.where(there, numbers, 0.0), there


def is_word(field: str) -> bool:
    """Whether a field is no number."""
    return not math.isfinite(_number(field))


def _number(field: str) -> float:
    """Return the number that a field is; NaN where it is none."""
    if len(field) > _LONGEST:
        return math.nan
    try:
        return float(field)
    except ValueError:
        found = WITH_UNIT.fullmatch(field)
        return float(found[2]) if found else math.nan


def _is_written(text: str | bytes) -> bool:
    if isinstance(text, str):
        return True
    return text.isascii() and text.decode().replace("\n", " ").replace("\t", " ").isprintable()
