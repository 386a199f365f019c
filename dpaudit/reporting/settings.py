"""Which of the audited settings some are, in words: the simplest description that is exact among those audited."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import and_
from typing import TypeVar

from dpaudit.claims.record import Result
from dpaudit.reporting.groups import ABSENT, format_value
from dpaudit.reporting.numbers import finite_number

K = TypeVar("K", bound=Hashable)

TARGET = ""
"""Stands among the parameters of a setting for the target; no parameter has this name."""

_LONGEST_VALUE = 60
_MOST_SETTINGS = 10_000
_MOST_VALUES = 3
"""Values that one setting is described by."""

_MOST_CONDITIONS = 3
_MOST_OF_A_TERM = 2
"""Conditions of each of two descriptions."""

_MOST_ANY = 150
"""Conditions among which two descriptions are sought."""

_MOST_OF_TWO = 500
"""Settings that two descriptions are sought for, and descriptions that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Parameters of one cell, the target among them: as text, and as numbers where they are finite numbers."""

    texts: Mapping[str, str]
    numbers: Mapping[str, float]

    @classmethod
    def of(cls, result: Result) -> Setting:
        """Setting of a result."""
        values = result.parameters
        numbers = ((name, finite_number(value)) for name, value in values.items())
        return cls(
            texts={TARGET: result.target, **{name: format_value(value) for name, value in values.items()}},
            numbers={name: number for name, number in numbers if number is not None},
        )


@dataclass(frozen=True, slots=True)
class _Condition:
    """What the settings of one verdict have in common in one parameter."""

    name: str
    relation: str
    value: str
    holds: Callable[[Setting], bool]


def regions(groups: Mapping[K, Sequence[Setting]]) -> dict[K, str]:
    """Return what describes each group of settings exactly among all of them, in words, where anything simple does.

    A description is a threshold on a numeric parameter, one value of any parameter, or up to three such conditions; or
    these describe all other settings; or two such descriptions of at most four conditions together. Of those with the
    fewest conditions it is the shortest. Nothing is said of settings that were not audited. A last group that is what
    remains of the others needs no words.
    """
    found: dict[K, str] = {}
    for number, (key, inside) in enumerate(groups.items(), start=1):
        if number == len(groups) > 1 and len(found) == len(groups) - 1:
            break
        outside = [each for other, settings in groups.items() if other != key for each in settings]
        if words := _region(inside, outside):
            found[key] = words
    return found


def _region(inside: Sequence[Setting], outside: Sequence[Setting]) -> str:
    if not inside or not outside or len(inside) + len(outside) > _MOST_SETTINGS:
        return ""
    names = _varying([*inside, *outside])
    for most in range(1, _MOST_CONDITIONS + 1):
        found = [_described(inside, outside, names, most), _described(outside, inside, names, most)]
        told = [f"{start}{words}" for start, words in zip(("", "all but "), found, strict=True) if words]
        if told:
            return min(told, key=len)
        if most > 1 and (words := _two_terms(inside, outside, names, most)):
            return words
    return _two_terms(inside, outside, names, 2 * _MOST_OF_A_TERM)


def _described(inside: Sequence[Setting], outside: Sequence[Setting], names: Sequence[str], most: int) -> str:
    """Words for the settings inside by so many conditions; empty where none tell them from those outside."""
    conditions = [each for name in names for each in _conditions(name, inside, outside)]
    wrong = [_mask(each, outside) for each in conditions]
    exact = [
        [conditions[place] for place in chosen]
        for chosen in combinations(range(len(conditions)), most)
        if not reduce(and_, (wrong[place] for place in chosen))
    ]
    if not exact:
        return ""
    several = len({tuple(each.name for each in chosen) for chosen in exact}) > 1
    if len(inside) == 1 and several and len(conditions) == len(names) <= _MOST_VALUES:
        # Nothing says which of its values matter.
        return f"that {_joined(conditions)}"
    start = "that" if len(inside) == 1 else "those"
    if most > 1:
        return f"{start} {min(map(_joined, exact), key=len)}"
    words = f"{start} {_joined(exact[0])}"
    if not several or exact[0][0].name == TARGET:
        return words
    # Where parameters vary together, nothing says which of them decides.
    return f"{words}, the same as {start} {_joined(exact[1])}"


def _two_terms(inside: Sequence[Setting], outside: Sequence[Setting], names: Sequence[str], most: int) -> str:
    """Words for the settings inside by two descriptions of so many conditions together; empty where none are exact."""
    if len(inside) < 2 or len(inside) + len(outside) > _MOST_OF_TWO:
        return ""
    conditions = [each for name in names for each in _any_conditions(name, inside, outside)]
    if len(conditions) > _MOST_ANY:
        return ""
    covering, wrong = ([_mask(each, part) for each in conditions] for part in (inside, outside))
    terms: dict[int, tuple[int, int, str]] = {}
    for count in range(1, min(most, _MOST_OF_A_TERM + 1)):
        for chosen in combinations(range(len(conditions)), count):
            covered = reduce(and_, (covering[place] for place in chosen))
            if covered and not reduce(and_, (wrong[place] for place in chosen)):
                start = "those" if covered & (covered - 1) else "that"
                words = f"{start} {_joined([conditions[place] for place in chosen])}"
                terms[covered] = min(terms.get(covered, (most, 0, "")), (count, len(words), words))
    whole = (1 << len(inside)) - 1
    tried = sorted(terms.items(), key=lambda term: -term[0].bit_count())[:_MOST_OF_TWO]
    pairs = [
        (one[1] + other[1], f"{one[2]}, and {other[2]}")
        for (first, one), (second, other) in combinations(tried, 2)
        if first | second == whole and one[0] + other[0] <= most
    ]
    return min(pairs, default=(0, ""))[1]


def _mask(condition: _Condition, settings: Sequence[Setting]) -> int:
    """The settings at which a condition holds, as bits."""
    return int("".join("01"[condition.holds(each)] for each in settings), 2)


def _conditions(name: str, inside: Sequence[Setting], outside: Sequence[Setting]) -> Iterator[_Condition]:
    """The strictest conditions on one parameter that hold at all settings inside."""
    texts = {each.texts.get(name, ABSENT) for each in inside}
    if len(texts) == 1:
        text = texts.pop()
        if all(name in each.texts for each in inside) and len(text) <= _LONGEST_VALUE:
            yield _equal(name, text)
        return
    if all(name in each.numbers for each in (*inside, *outside)):
        low, high = (choose(inside, key=lambda setting: setting.numbers[name]) for choose in (min, max))
        yield _from(name, low)
        yield _up_to(name, high)


def _any_conditions(name: str, inside: Sequence[Setting], outside: Sequence[Setting]) -> Iterator[_Condition]:
    """Conditions on one parameter that hold at any setting inside."""
    texts = dict.fromkeys(each.texts[name] for each in inside if name in each.texts)
    yield from (_equal(name, text) for text in texts if len(text) <= _LONGEST_VALUE)
    if name != TARGET and all(name in each.numbers for each in (*inside, *outside)):
        several = {each.numbers[name]: each for each in inside}
        yield from (_from(name, each) for each in several.values())
        yield from (_up_to(name, each) for each in several.values())


def _from(name: str, setting: Setting) -> _Condition:
    least = setting.numbers[name]
    return _Condition(name, "≥", setting.texts[name], lambda other: other.numbers[name] >= least)


def _up_to(name: str, setting: Setting) -> _Condition:
    most = setting.numbers[name]
    return _Condition(name, "≤", setting.texts[name], lambda other: other.numbers[name] <= most)


def _equal(name: str, text: str) -> _Condition:
    return _Condition(name, "=", text, lambda setting: setting.texts.get(name) == text)


def _joined(conditions: Sequence[_Condition]) -> str:
    of = "".join(f"of {each.value}" for each in conditions if each.name == TARGET)
    by_name: dict[str, list[_Condition]] = {}
    for each in conditions:
        if each.name != TARGET:
            by_name.setdefault(each.name, []).append(each)
    said = []
    for name, own in by_name.items():
        if {each.relation for each in own} == {"≥", "≤"}:
            low, high = sorted(own, key=lambda each: each.relation == "≤")
            said.append(f"{name} from {low.value} to {high.value}")
        else:
            said += [f"{name} {each.relation} {each.value}" for each in own]
    words = " and ".join(filter(None, [", ".join(said[:-1]), *said[-1:]]))
    return " ".join(filter(None, [of, words and f"with {words}"]))


def _varying(settings: Sequence[Setting]) -> list[str]:
    names = dict.fromkeys(name for each in settings for name in each.texts)
    return [name for name in names if len({each.texts.get(name, ABSENT) for each in settings}) > 1]
