"""Which settings a verdict has, in words: exact among those audited, read back by a reader of its own."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.reporting.settings import Setting, regions

NAMES = ("epsilon", "agents", "rule")
NUMBERS = (1, 2, 3.5, 10, -1.25e-7)
RULES = ("borda", "copeland", None, True)
rows = st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), st.sampled_from(RULES), st.sampled_from("xy"))
tables = st.lists(st.tuples(rows, st.integers(0, 2)), min_size=1, max_size=14)

Row = tuple[object, ...]


def setting(row: Row) -> Setting:
    *values, target = row
    parameters = dict(zip(NAMES, values, strict=True))
    result: Any = SimpleNamespace(target=target, parameters=parameters)
    return Setting.of(result)


def told(table: list[tuple[Row, int]]) -> dict[int, str]:
    groups: dict[int, list[Setting]] = {}
    for row, group in table:
        groups.setdefault(group, []).append(setting(row))
    return regions(groups)


def text_of(value: object) -> str:
    return {None: "null", True: "true"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)


def condition(words: str, row: Row) -> bool:
    """Whether a row is as a condition says."""
    name, rest = words.split(" ", 1)
    value = dict(zip(NAMES, row, strict=False))[name]
    if match := re.fullmatch(r"from (\S+) to (\S+)", rest):
        return float(match[1]) <= float(value) <= float(match[2])
    relation, number = rest.split(" ", 1)
    if relation == "=" and name == "rule":
        return text_of(value) == number
    known = float(number)
    return {"=": value == known, "≥": value >= known, "≤": value <= known}[relation]


def one_of_them(words: str, row: Row) -> bool:
    """Whether a row is among the settings that a description names, an aside not counted."""
    if words.startswith("all but "):
        return not one_of_them(words.removeprefix("all but "), row)
    if len(terms := re.split(r", and (?=that |those )", words)) > 1:
        return any(one_of_them(term, row) for term in terms)
    match = re.fullmatch(r"(?:that|those)(?: of (\w))?(?: with (.*))?", words)
    assert match is not None, words
    conditions = re.split(r", | and ", match[2]) if match[2] else []
    return (match[1] is None or row[-1] == match[1]) and all(condition(each, row) for each in conditions)


@pytest.mark.slow
@given(table=tables)
def test_a_description_is_never_wrong_at_the_settings_audited(table) -> None:
    for group, words in told(table).items():
        but = "all but " if words.startswith("all but ") else ""
        for part in words.removeprefix(but).split(", the same as "):
            for row, other in table:
                assert one_of_them(but + part, row) == (other == group), (words, row)


@pytest.mark.slow
@given(table=st.lists(rows, min_size=2, max_size=14, unique=True), limit=st.sampled_from(NUMBERS), strict=st.booleans())
def test_what_one_threshold_tells_apart_is_said(table, limit, strict) -> None:
    chosen = [(row, int(row[0] > limit if strict else row[0] >= limit)) for row in table]
    words = told(chosen)
    assert bool(words) == (len({group for _, group in chosen}) == 2)


@pytest.mark.slow
@given(table=st.lists(rows, min_size=2, max_size=14, unique=True), limit=st.sampled_from(NUMBERS))
def test_what_two_conditions_tell_apart_is_said(table, limit) -> None:
    chosen = [(row, int(row[1] <= limit and row[2] == "borda")) for row in table]
    words = told(chosen)
    assert bool(words) == (len({group for _, group in chosen}) == 2)


@pytest.mark.slow
@given(table=st.lists(rows, min_size=2, max_size=14, unique=True), limit=st.sampled_from(NUMBERS))
def test_what_two_descriptions_of_one_condition_tell_apart_is_said(table, limit) -> None:
    chosen = [(row, int(row[1] >= limit or row[2] == "borda")) for row in table]
    words = told(chosen)
    assert bool(words) == (len({group for _, group in chosen}) == 2)


def conditions_in(words: str) -> int:
    return sum(
        words.count(each) + (each == "from ") * words.count(each) for each in (" = ", " ≥ ", " ≤ ", "from ", "of ")
    )


@pytest.mark.slow
@given(table=st.lists(rows, min_size=2, max_size=14, unique=True), limit=st.sampled_from(NUMBERS))
def test_no_more_conditions_are_named_than_it_takes(table, limit) -> None:
    chosen = [(row, int(row[1] <= limit and row[2] == "borda")) for row in table]
    for words in told(chosen).values():
        if ", the same as " not in words and "that " not in words:
            assert conditions_in(words) <= 2, words


@pytest.mark.parametrize(
    ("inside", "outside", "words"),
    [
        ([(2, 1), (3.5, 1), (10, 2)], [(1, 1), (1, 2)], "those with epsilon ≥ 2"),
        ([(2, 1), (2, 2)], [(1, 1), (1, 2), (3.5, 1)], "those with epsilon = 2"),
        ([(1, 1), (1, 2), (3.5, 1), (10, 2)], [(2, 1), (2, 2)], "all but those with epsilon = 2"),
        ([(2, 1), (3.5, 2)], [(1, 1), (10, 2)], "those with epsilon from 2 to 3.5"),
        ([(3.5, 2), (10, 3.5)], [(3.5, 1), (1, 2), (1, 1), (10, 1)], "those with epsilon ≥ 3.5 and agents ≥ 2"),
        ([(3.5, 10)], [(3.5, 1), (1, 10)], "that with epsilon = 3.5 and agents = 10"),
        ([(3.5, 10), (10, 10)], [(1, 1), (2, 1)], "those with epsilon ≥ 3.5, the same as those with agents = 10"),
        # Neither parameter alone can be what decides, nor are two descriptions enough.
        ([(1, 1), (2, 2), (3.5, 3.5)], [(1, 2), (2, 3.5), (3.5, 1)], ""),
        (
            [(2, 2), (3.5, 2), (10, 2), (1, 10)],
            [(1, 2), (2, 1), (2, 3.5), (3.5, 1), (10, 3.5), (10, 1), (1, 1)],
            "those with epsilon ≥ 2 and agents = 2, and that with agents = 10",
        ),
        (
            [(2, 1), (2, 2), (1, 10)],
            [(1, 1), (1, 2), (3.5, 1), (3.5, 2)],
            "those with epsilon = 2, and that with agents = 10",
        ),
        # What is not in question is the shorter description.
        ([(1, 1), (1, 2), (2, 1), (3.5, 2)], [(2, 2)], "all but that with epsilon = 2 and agents = 2"),
        # Equal settings with different verdicts cannot be told apart.
        ([(1, 1)], [(1, 1)], ""),
        ([(1, 1)], [], ""),
        # Where some have no number there is no threshold.
        ([(2, 1), (3.5, 1)], [(1, 1), (None, 1)], "that with epsilon = 2, and that with epsilon = 3.5"),
        ([(2, 1), (3.5, 1), (10, 1)], [(1, 1), (None, 1)], ""),
    ],
)
def test_examples(inside, outside, words) -> None:
    table = [((*row, "borda", "x"), group) for group, part in enumerate((inside, outside)) for row in part]
    assert told(table).get(0, "") == words


def test_three_conditions_are_said_where_two_are_not_enough() -> None:
    rows_ = [(e, n, rule, "x") for e in (1, 2, 10) for n in (1, 2, 10) for rule in ("borda", "copeland")]
    table = [(row, int(not (row[0] >= 2 and row[1] >= 2 and row[2] == "borda"))) for row in reversed(rows_)]
    table.sort(key=lambda each: each[1])
    assert told(table)[0] == "those with epsilon ≥ 2, agents ≥ 2 and rule = borda"


def test_a_target_is_told_apart_and_is_no_parameter() -> None:
    table = [((1, 2, "borda", "x"), 0), ((2, 2, "borda", "x"), 0), ((1, 1, "borda", "y"), 1), ((2, 1, "borda", "y"), 1)]
    assert told(table)[0] == "those of x"
    table = [((value, 1, "borda", target), int(value == 1 or target == "y")) for value in (1, 2) for target in "xy"]
    assert told(table)[1] == "all but that of x with epsilon = 2"


def test_what_remains_of_the_others_needs_no_words() -> None:
    table = [((value, 1, "borda", "x"), group) for group, value in enumerate((1, 2, 3.5))]
    assert told(table) == {0: "that with epsilon = 1", 1: "that with epsilon = 2"}
