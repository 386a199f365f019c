"""Texts as fields, which white space and punctuation separate: numbers by their place, words wherever they stand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np

_SEPARATOR = r"[\s,;:|=/&?()\[\]{}<>\"'#]+"
_SEPARATORS = re.compile(_SEPARATOR)

_WITH_UNIT = re.compile(r"([$€£]?)([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)([a-zA-Z%]{0,3})", re.ASCII)
"""A number beside a unit, such as 12.5ms, $3 or 40%."""

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

_NEARLY_ALL = 0.99
"""Share of texts that have the usual form, at least, for it to say all that numbers and words do not."""

_DIGITS = 15
"""Digits that double precision holds."""

_SHORT = 2
"""Digits, at most, that are no code of several characters although they are equally many in all texts."""

_COMMON, _MOST_WORDS = 0.01, 64
"""Share of texts that hold a word, at least, and words, at most, as of the values of a list."""

_WHOLE = r"(?:0|[1-9]\d*)"
_STYLES = (
    r"(?:0|-?[1-9]\d*)",
    rf"(?:0|-?[1-9]\d*|-?{_WHOLE}\.\d*[1-9])",
    rf"(?:0\.0|-?[1-9]\d*\.0|-?{_WHOLE}\.\d*[1-9])",
)
"""Ways to write numbers that each write a number in one way: whole ones, and fractions without zeros at their end. No
zero has a sign, and none has an exponent, which may be written in several ways."""

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


def have_form(texts: Sequence[str | bytes], form: str) -> np.ndarray:
    """Return which texts have a form, as `Telling` has it."""
    kind, fits = str if form[0] == "t" else bytes, _compiled(form[1:]).fullmatch
    found = (isinstance(text, kind) and fits(_decoded(text)) is not None for text in texts)
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
    is_table
        Whether the texts are rows of a wide table: equally many fields each, more than are looked at otherwise, and
        most of them numbers.
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
    is_table: bool
    form: str


def telling_fields(texts: Sequence[str | bytes]) -> Telling:
    """Decide what is read off texts, by some of them; nothing off bytes that are no text."""
    if not all(map(_is_written, texts)):
        return Telling([], [], [], False, "")
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
    is_table = not varies and most > _FIRST and len(places) >= _NUMBERS * min(most, first)
    form = _form(texts, set(places), set(words), is_table) if 0 < most <= (first if is_table else _FIRST) else ""
    return Telling(places, words, before, is_table, form)


def _before_numbers(fields: Sequence[Sequence[str]], words: Sequence[str]) -> list[str]:
    """Return the words that are mostly followed by a number."""
    followed = [int(there.sum()) for _, there in numbers_after(fields, words)]
    holding = (occurrences_of(fields, words) > 0).sum(axis=0).tolist()
    return [word for word, many, of in zip(words, followed, holding, strict=True) if many >= _NUMBERS * of]


def _form(texts: Sequence[str | bytes], places: set[int], words: set[str], is_table: bool) -> str:
    """Return the form of nearly all texts, as `Telling` has it."""
    ((separators, usual),) = Counter(tuple(_SEPARATORS.findall(text)) for text in map(_decoded, texts)).most_common(1)
    alike = [text for text in texts if tuple(_SEPARATORS.findall(_decoded(text))) == separators]
    fields = fields_of(alike)
    if usual < _NEARLY_ALL * len(texts) or len(set(map(len, fields))) > 1 or len(set(map(type, alike))) > 1:
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
    begins = not _SEPARATORS.match(_decoded(alike[0]))
    between = [*([""] if begins else []), *map(re.escape, separators)]
    joined = "".join(map(_repeated, groupby(map("".join, zip(between, parts, strict=False)))))
    form = ("t" if isinstance(alike[0], str) else "b") + joined + "".join(between[len(parts) :])
    # In a wide table, every text may have one of few odd numbers.
    return form if is_table or have_form(texts, form).mean() >= _NEARLY_ALL else ""


def _repeated(alike: tuple[str, Iterable[str]]) -> str:
    """Return equal parts of a form, of which there may be many, as one."""
    part, times = alike[0], sum(1 for _ in alike[1])
    return part if times == 1 else f"(?:{part}){{{times}}}"


def _style(column: Sequence[str], is_table: bool) -> str:
    """Return how nearly all numbers of a place are written, as a regular expression; empty where not in one way.

    Of a wide table, all digits may be written; of other texts, the last ones are looked at as characters.
    """
    found = [match for match in map(_WITH_UNIT.fullmatch, column) if match is not None]
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
    styles = [*_STYLES]
    if decimals:
        digits = rf"\.\d{{{decimals}}}"
        styles.insert(0, rf"(?:0{digits}|-?[1-9]\d*{digits}|-0(?!\.0{{{decimals}}}){digits})")
    for style in styles:
        fits = sum(_compiled(style).fullmatch(number) is not None for number in exact)
        if fits >= _NEARLY_ALL * len(column):
            # Digits that are equally many may be a code, such as bits or the answers to several questions.
            lengths = set(map(len, exact))
            is_code = style is _STYLES[0] and len(lengths) == 1 and max(lengths) > _SHORT
            return "" if is_code else f"{re.escape(before)}(?:{style}){re.escape(behind)}"
    return ""


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


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
        found = _WITH_UNIT.fullmatch(field)
        return float(found[2]) if found else math.nan


def _is_written(text: str | bytes) -> bool:
    if isinstance(text, str):
        return True
    return text.isascii() and text.decode().replace("\n", " ").replace("\t", " ").isprintable()


def _decoded(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("latin-1")
