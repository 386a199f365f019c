"""What the order of outputs says against their independence, on which a bound from samples rests.

Under independence all orders of the outputs of one input are equally likely, whatever their law. Outputs are split at
the middle of a column, and the chances of what the order shows of the two kinds are bounded exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import numpy as np

from dpaudit.auditors.outputs.column_words import PLAIN, Naming, names_of
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.event_words import listed
from dpaudit.auditors.outputs.flat import Apart, size_of, value_count
from dpaudit.auditors.outputs.held import texts_by_path
from dpaudit.auditors.outputs.outputs import Outputs, coding_of, outcome_keys
from dpaudit.auditors.sampling.pace import clock
from dpaudit.claims.inputs import short_repr
from dpaudit.errors import CheckError

_FEWEST_NUMBERED = 20
"""Rows from which on a column that grows by one step is no chance."""

_FEWEST = 100
"""Rows below which nothing is said."""

_MOST_COLUMNS = 64

_FEW, _MOST_EXCEEDED = 10, 2
"""Structures that say whether `_FEWEST` take far longer than there is time for, and how many times as long they may.
Chosen by hand."""

_FEW_VALUES = 50
"""Values up to which rows that stand together by their value are a grouped export."""

NOTED = 1e-9
"""Probability, at most, with which independent rows of one file are noted. Chosen by hand: two files are looked at in
every bound, and a false note would discredit the others."""

ALARM = 2e-8
"""Probability, at most, with which independent outputs of one input are refused at one of the places where an audit
looks at them: the early outputs, those that choose the event, those that bound it, how often the event comes in the
latter two, and how often in outputs that are drawn alone. With two inputs, and twelve times as much for the early
outputs where sampling may stop after any of up to 60,000 rounds (1 + ln 60,000 is 12), that is below 1e-6 an audit."""

_BLOCKS = (1, 16, 256)
"""Neighbouring outputs that are taken together, so that what changes slowly shows as well. Chosen by hand."""

_FEWEST_BLOCKS = 64
"""Blocks below which their order is not looked at. Chosen by hand: half of 64 may come in order by chance at 1e-18."""

FEWEST_IN_CALL = 16
"""Outputs of a call from which on it is compared with others. Chosen by hand: fewer show nothing beyond chance."""

_MOST_IN_BLOCKS = 16_384
"""Outputs that are taken together in blocks, at most: 64 of the largest. Chosen by hand, for time."""

_MOST_ROWS, _MOST_VALUES = 16_384, 200_000
"""Outputs of one input, and values in them, that are looked at, at most and about. Chosen by hand, for time: this takes
a millisecond for single numbers, and ten for rows."""

_MOST_PARTS = 4000
"""Structured outputs of one input that are looked at, at most. Chosen by hand, for time: each is taken apart."""

_MOST_VALUES_IN_CALL = 65_536
"""Values of each later call that are compared with outputs before it. Chosen by hand, for time."""

_MOST_PARTS_IN_CALL = 1000
"""Structured outputs of each later call that are compared, at most. Chosen by hand, for time."""

_MOST_COPIES = 32
"""Times that a number comes, at most, where outputs are looked at that come again at one distance. Chosen by hand: the
chance that a number comes at one distance grows with the square of the times."""

_COLUMNS_COPIED = 4
"""Columns of outputs in which these are looked for. Chosen by hand, for time: whole rows that come again show in each
of them."""

_MOST_SCORES = 64
"""Scores, at most, among whose thresholds an event is chosen: there are fewer families of them."""

MOST_LOOKS = 32
"""Times, at most, at which sampling may stop by what was found so far: each round doubles all outputs before it. Bets
on few outputs end after 28 rounds, at most."""

_LEAST_SECONDS = 1e-9

_NUMBERED = re.compile(r"(.*?)(\d+)(\D*)", re.DOTALL | re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)
"""Texts that end with a number, as numbered files do, and times without a zone."""

_HEXADECIMAL = re.compile(r"[0-9a-f]{1,16}|[0-9A-F]{1,16}", re.ASCII)

_NUMBERS = "biufc"


class Oddity(NamedTuple):
    """What is oddest about the order of outputs.

    Attributes
    ----------
    chance
        Bound on the probability that independent outputs look as odd by this one measure.
    tests
        How many measures were taken.
    what
        Whether neighbours depend on each other, outputs on the call that they come from, outputs come again at one
        distance, or differ where they are drawn alone.
    part
        The part of an output that shows it; "" where that is the whole output, or no single part.
    """

    chance: float = 1.0
    tests: int = 0
    what: Literal["neighbours", "calls", "copies", "alone"] = "neighbours"
    part: str = ""

    @property
    def corrected(self) -> float:
        """Bound on the probability that independent outputs look as odd by any of the measures."""
        return min(1.0, self.chance * max(self.tests, 1))


def oddest(found: Iterable[Oddity]) -> Oddity:
    """Return the oddest of several, with the measures of all of them; the same however they are grouped."""
    every = [Oddity(), *found]
    best = min(every, key=lambda each: each.chance)
    return best._replace(tests=sum(each.tests for each in every))


class Middle(NamedTuple):
    """A middle of one column, and how often outputs that had no part in its choice lie beyond it.

    Attributes
    ----------
    value, strict
        Beyond is what is above the value, or at least as large where not ``strict``.
    beyond, outputs
        How many outputs lie beyond, and how many were looked at.
    """

    value: float
    strict: bool
    beyond: int
    outputs: int


class _Column(NamedTuple):
    """A column with what it is called, and the numbers that may count its rows: none of codes that stand for texts."""

    label: str
    values: np.ndarray
    counting: np.ndarray | None


class Middles(NamedTuple):
    """Middles of the first columns of outputs on one input, what makes columns of structures, and names of columns."""

    columns: Columns | None = None
    middles: tuple[Middle, ...] = ()
    names: tuple[str, ...] = ()


def row_numbers(rows: np.ndarray) -> list[str]:
    """Return the columns that grow by the same step from row to row, as a row number does; "" where that is the output.

    Rows that know their place are not independent: 20 that are drawn do so with probability 1e-18.

    Parameters
    ----------
    rows
        Outputs along axis 0, in the order of their file.
    """
    if len(rows) < _FEWEST_NUMBERED:
        return []
    return [column.label for column in _columns_in(rows) if _counts_up(column)]


def order_notes(rows: np.ndarray, name: str) -> list[str]:
    """Return what is odd about the order of rows, in words that name what to do; a sorted or grouped order is not odd.

    Parameters
    ----------
    rows
        Outputs along axis 0, in the order of their file.
    name
        What the words call them.
    """
    if len(rows) < _FEWEST:
        return []
    structured = _structured_columns(rows)
    columns = list(_columns(rows)) if structured is None else structured
    counting = [column.label for column in columns if _counts_up(column)]
    notes = [
        f"{label or 'the output'} of {name} grows by the same step from row to row, as a row number does; leave it out "
        "unless the mechanism puts it out"
        for label in counting
    ]
    ordered = [column.label for column in columns if column.label not in counting and _in_order(column)]
    if len(ordered) > 1:
        notes.append(
            f"{listed(ordered)} of {name} are each in order from row to row; where each column was sorted by itself, "
            "rows are no outputs, and the bound does not hold: keep rows together when sorting"
        )
    rest = [column.values for column in columns if column.label not in counting]
    if not rest or any(map(_is_sorted, rest)):
        return notes
    codes = _codes(rest)
    if 1 + int(np.count_nonzero(np.diff(codes))) == int(codes.max()) + 1 <= _FEW_VALUES:
        return notes
    # Of structures the first half said what the columns are, and a half that had no part in it is looked at.
    begin = 0 if structured is None else len(codes) // 2
    looked_at = [values[begin:] for values in rest]
    odd = [*(of_neighbours(split(values)) for values in looked_at), *map(of_copies, looked_at[:_COLUMNS_COPIED])]
    if oddest(odd).corrected <= NOTED:
        notes.append(
            f"rows of {name} seem to depend on those before them, as the steps of one run do, or outputs written more "
            "than once; the bound holds for independent rows alone: give each output of a run of its own once"
        )
    return notes


def apart_notes(rows: tuple[np.ndarray, np.ndarray], names: tuple[str, str]) -> list[str]:
    """Return words on columns that may say when an output was drawn, or which one it is: they would tell rows apart.

    They never fall from row to row on either side. So do columns by which rows were sorted, but where all values of one
    side are below those of the other.

    Parameters
    ----------
    rows
        Outputs of either side along axis 0, in the order of their files.
    names
        What the words call them.
    """
    if min(map(len, rows)) < _FEWEST_NUMBERED:
        return []
    sides = [{column.label: column for column in _columns_in(side)} for side in rows]
    notes = []
    for label in sides[0].keys() & sides[1].keys():
        columns = [side[label] for side in sides]
        first, second = (column.counting for column in columns)
        if first is None or second is None or not (_never_falls(first) and _never_falls(second)):
            continue
        if first[-1] < second[0] or second[-1] < first[0]:
            notes.append(
                f"{label or 'the output'} never falls from row to row, and all its values in {names[0]} are on one "
                f"side of those in {names[1]}, as times of running and numbers of rows are; leave it out unless the "
                "mechanism puts it out"
            )
        elif label and all(map(_in_order, columns)) and not np.array_equal(first, second):
            notes.append(
                f"{label} never falls from row to row in {names[0]} and in {names[1]}; if it says when a row was "
                "written, leave it out, because times of two runs differ whatever the mechanism does"
            )
    return sorted(notes)


def _columns_in(rows: np.ndarray) -> list[_Column]:
    structured = _structured_columns(rows)
    return list(_columns(rows)) if structured is None else structured


def _never_falls(values: np.ndarray) -> bool:
    return values.dtype.kind != "b" and bool((values[1:] >= values[:-1]).all() and values[0] < values[-1])


def check_independent(oddity: Oddity, name: str, data: Any, looks: int = 1) -> None:
    """Raise CheckError where outputs of a sampler on an input depend on each other beyond chance.

    Parameters
    ----------
    oddity
        What is oddest about their order.
    name, data
        The mechanism, and the input.
    looks
        At how many times what was drawn so far might have been looked at.

    Notes
    -----
    **Guarantee.** Independent outputs are refused with probability at most 1e-6 an audit; see `ALARM`.
    """
    if oddity.corrected * looks > ALARM:
        return
    seen = {
        "calls": "depend on the call that they come from, as if something were drawn once for all outputs of a call",
        "neighbours": "depend on those next to them, as the steps of one run do, and outputs that are sorted, "
        "numbered, repeated or drawn in pairs",
        "copies": "come again at one distance within a call, as if the same noise were used several times",
        "alone": "depend on how many of them a call draws, as if one decided how all of them are written (a fraction "
        "or a missing value turns every 1 of an array or data frame into 1.0)",
    }[oddity.what]
    shows = f"; it shows in {oddity.part}" if oddity.part else ""
    mend = "Write each output on its own" if oddity.what == "alone" else "Draw all randomness of each output anew"
    raise CheckError(
        f"{name}: outputs of `sample` on the input {short_repr(data)} {seen}{shows}; independent outputs look like "
        f"that with probability below {ALARM:g}. {mend}, or no bound holds"
    )


def of_calls(
    calls: Sequence[np.ndarray], width: int = 1, seconds: float = math.inf, naming: Naming = PLAIN
) -> tuple[Oddity, Middles]:
    """Return what is oddest about outputs of one input, and the middles of their columns.

    Parameters
    ----------
    calls
        Outputs of each call along axis 0, all of one form.
    width
        Values in an output, about.
    seconds
        How long it may take, about, to look at structures: as many as that are looked at, or `_FEWEST` if that takes up
        to `_MOST_EXCEEDED` times as long, or none.
    naming
        What the parts of an output are called.

    Notes
    -----
    **Guarantee.** Of independent outputs, `Oddity.corrected` is at most p with probability at most p, whatever their
    law. What is looked at: how often neighbours, and blocks of neighbours, lie on different sides of the middle of each
    of the first 64 columns, and how often outputs of a call do, compared with the calls before it. Not all outputs
    are looked at, but as many of each call; where they are numbers, all outputs of the first call are looked at for
    numbers that come again at one distance. A half of them says what the columns of structures are, and where the
    middles are that later calls are compared by; the other half is then compared.
    **Checked against** the rates at which it falls below p on independent outputs of many laws.

    Something that is drawn once for all outputs of the only call does not show: they are independent given that.
    """
    of_numbers = all(call.dtype.kind in _NUMBERS for call in calls)
    width = max(width, math.prod(calls[0].shape[1:]))
    most = min(_MOST_ROWS if of_numbers else _MOST_PARTS, _MOST_VALUES // min(width, _MOST_COLUMNS))
    if not of_numbers:
        most = min(most, max(_FEWEST, _MOST_VALUES // max(width, size_of(_first_of(calls[0])))))
        if seconds < math.inf:
            few = _FEWEST * _seconds_each(calls[0][:_FEW])
            most = 0 if few > _MOST_EXCEEDED * seconds else _within(seconds, calls[0], most)
    looked_at = [call[: most // len(calls) or min(most, 1)] for call in calls]
    if sum(map(len, looked_at)) < _FEWEST:
        return Oddity(), Middles()
    halves = [call[: len(call) // 2] for call in looked_at], [call[len(call) // 2 :] for call in looked_at]
    columns = None if of_numbers else _columns_of(np.concatenate(halves[0]))
    if not (of_numbers or columns):
        return _of_columns([_codes_of(np.concatenate(looked_at))], looked_at, [""]), Middles()
    first, rest = (_numbers(np.concatenate(half), columns) for half in halves)
    names = _names(calls[0], columns, naming)
    if of_numbers:
        some = calls[0].reshape(len(calls[0]), -1)[:, :_COLUMNS_COPIED]
        parts = 2 if some.dtype.kind == "c" else 1
        own = [name for part in np.split(np.array(names), parts) for name in part[:_COLUMNS_COPIED].tolist()]
        copies = (_in(name, of_copies(values)) for name, values in zip(own, _numbers(some, None), strict=True))
        oddity = oddest([_of_columns(_numbers(np.concatenate(looked_at), None), looked_at, names), *copies])
    else:
        oddity = _of_columns(rest, halves[1], names)
    middles = []
    for chosen, compared in zip(first, rest, strict=True):
        value, strict = _middle(chosen)
        middles.append(Middle(value, strict, _count_beyond(compared, value, strict), len(compared)))
    return oddity, Middles(columns, tuple(middles), names)


def of_later_call(call: Outputs, before: Middles) -> Oddity:
    """Return what is oddest about outputs of a later call, compared with outputs of the same input before it."""
    if not before.middles or (before.columns is None) != (call.dtype.kind in _NUMBERS):
        return Oddity()
    most = _MOST_VALUES_IN_CALL // len(before.middles)
    if before.columns is None:
        columns = _numbers(call.raw[:most], None)
    else:
        columns = call[: min(most, _MOST_PARTS_IN_CALL)].rows(before.columns)[:, :_MOST_COLUMNS].T
    if len(columns) != len(before.middles):
        return Oddity()
    found = []
    for values, middle, name in zip(columns, before.middles, before.names, strict=True):
        later = _count_beyond(values, middle.value, middle.strict), len(values)
        found.append(_in(name, of_counts([(middle.beyond, middle.outputs), later])))
    return oddest(found)


def _in(part: str, oddity: Oddity) -> Oddity:
    return oddity._replace(part=part)


def _of_columns(columns: Iterable[np.ndarray], calls: Sequence[np.ndarray], names: Sequence[str]) -> Oddity:
    ends = np.cumsum([len(call) for call in calls])
    found = []
    for values, name in zip(columns, names, strict=True):
        inside = split(values)
        parts = np.split(inside, ends[:-1])
        counts = [(int(np.count_nonzero(part)), len(part)) for part in parts]
        found += [_in(name, of_neighbours(inside)), _in(name, of_counts(counts))]
    return oddest(found)


def _names(outputs: np.ndarray, columns: Columns | None, naming: Naming) -> tuple[str, ...]:
    """What the columns of `_numbers` are called; "" where there is one alone."""
    if columns is not None:
        found = names_of(columns, naming.base)[:_MOST_COLUMNS]
    else:
        own = math.prod(outputs.shape[1:])
        numbers, parts = range(min(own, _MOST_COLUMNS)), 2 if outputs.dtype.kind == "c" else 1
        found = tuple(naming.of(parts * number + part, parts * own) for part in range(parts) for number in numbers)
    return found if len(found) > 1 else ("",) * len(found)


def of_neighbours(inside: np.ndarray) -> Oddity:
    """Return how odd the order of outputs is that are of two kinds: the number of runs has a hypergeometric law."""
    found = []
    for block in _BLOCKS:
        blocks = (len(inside) if block == 1 else min(len(inside), _MOST_IN_BLOCKS)) // block
        if block > 1 and blocks < _FEWEST_BLOCKS:
            break
        kinds = inside
        if block > 1:
            kinds = split(np.count_nonzero(inside[: blocks * block].reshape(blocks, block), axis=1))
        ones = int(np.count_nonzero(kinds))
        if 0 < ones < blocks:
            runs = int(kinds[0]) + int(np.count_nonzero(kinds[1:] & ~kinds[:-1]))
            found.append(Oddity(_two_sided(runs, blocks, blocks - ones + 1, ones), 1))
    return oddest(found)


def of_copies(values: np.ndarray) -> Oddity:
    """Return how odd it is that so many numbers come again at one distance.

    Given how often each number comes, all orders are equally likely under independence. Of the numbers that come c
    times, those are looked at that are together at most half of all n. Given the places of others, a number has its c
    places at random among at least n / 2, so that its first and last place are at a given distance with probability at
    most c (c - 1) / (n / 2 - 1); and there are n distances.
    """
    size = len(values)
    ordered = np.sort(values)
    if size < _FEWEST or not (ordered[1:] == ordered[:-1]).any():
        return Oddity()
    _, first, times = np.unique(values, return_index=True, return_counts=True)
    often = np.bincount(times[times <= _MOST_COPIES], minlength=3)[2:]
    if not often.any():
        return Oddity()
    copies = 2 + int(np.argmax(often))
    *_, last = np.unique(values[::-1], return_index=True)
    distances = (size - 1 - last - first)[times == copies][: size // (2 * copies)]
    chance = copies * (copies - 1) / (size / 2 - 1)
    most = int(np.bincount(distances).max(initial=0))
    if most < 2 or chance >= 1:
        return Oddity()
    log = math.log(size) + _log_choose(len(distances), most) + most * math.log(chance)
    return Oddity(min(1.0, math.exp(min(log, 0.0))), 1, "copies")


def of_counts(counts: Sequence[tuple[int, int]]) -> Oddity:
    """Return how odd it is that so many outputs of each call are of one kind, given how many there are altogether.

    Parameters
    ----------
    counts
        Of each call the outputs of the kind, and all outputs.
    """
    found, hits, trials = [], 0, 0
    for some, size in counts:
        hits, trials = hits + some, trials + size
        if min(size, trials - size) >= FEWEST_IN_CALL:
            found.append(Oddity(_two_sided(some, trials, hits, size), 1, "calls"))
    return oddest(found)


def of_event(chosen: tuple[int, int], counted: tuple[int, int]) -> Oddity:
    """Return how odd it is that an event comes so often in later outputs, compared with those that chose it.

    Its score had no part in either, and its threshold is one of theirs: of all thresholds of all scores, on either
    side, one is as odd with at most the sum of their probabilities.

    Parameters
    ----------
    chosen, counted
        Occurrences and outputs, of those that chose the threshold and of later ones.
    """
    thresholds = 2 * (chosen[1] + counted[1])
    oddity = of_counts([chosen, counted])
    return oddity._replace(tests=oddity.tests * thresholds * _MOST_SCORES * MOST_LOOKS)


def of_alone(counted: tuple[int, int], alone: tuple[int, int], looks: int) -> Oddity:
    """Return how odd it is that an event comes so often in outputs that are drawn alone, compared with others.

    Parameters
    ----------
    counted, alone
        Occurrences of the event and outputs, of those drawn together and of those drawn alone, which others chose.
    looks
        How many events, and times at which the first were counted, there might have been.
    """
    oddity = of_counts([counted, alone])
    return oddity._replace(tests=oddity.tests * looks, what="alone")


def split(values: np.ndarray) -> np.ndarray:
    """Return which values are above their middle, or not below it, whichever is nearer to half of them."""
    if values.dtype == bool:
        return values
    return _beyond(values, *_middle(values))


def _middle(values: np.ndarray) -> tuple[Any, bool]:
    """Return the middle, and whether those above it are nearer to half of the values than those not below it."""
    if values.dtype == bool:
        return False, True
    middle = np.partition(values, len(values) // 2)[len(values) // 2]
    return middle, bool(np.count_nonzero(values > middle) >= np.count_nonzero(values < middle))


def _beyond(values: np.ndarray, value: Any, strict: bool) -> np.ndarray:
    found: np.ndarray = values > value if strict else values >= value
    return found


def _count_beyond(values: np.ndarray, value: Any, strict: bool) -> int:
    return int(np.count_nonzero(_beyond(values, value, strict)))


def _two_sided(count: int, total: int, good: int, drawn: int) -> float:
    return min(1.0, 2 * min(_tails(count, total, good, drawn)))


def _tails(count: int, total: int, good: int, drawn: int) -> tuple[float, float]:
    """Upper bounds on the chances of at most, and of at least, so many good ones among those drawn of a total.

    The probabilities of a hypergeometric law are log-concave, so that a geometric series bounds either tail.
    """
    bad_left = total - good - drawn + count
    logs = _log_choose(good, count) + _log_choose(total - good, drawn - count) - _log_choose(total, drawn)
    here = math.exp(min(logs, 0.0))
    down = count * bad_left / ((good - count + 1) * (drawn - count + 1))
    up = (good - count) * (drawn - count) / ((count + 1) * (bad_left + 1))
    lower, upper = (here / (1 - ratio) if ratio < 1 else 1.0 for ratio in (down, up))
    return min(lower, 1.0), min(upper, 1.0)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _numbers(outputs: np.ndarray, columns: Columns | None) -> np.ndarray:
    """Return the first columns of outputs, one after another along axis 0."""
    if columns is not None:
        return np.ascontiguousarray(Outputs(outputs).rows(columns)[:, :_MOST_COLUMNS].T)
    rows = outputs.reshape(len(outputs), -1)[:, :_MOST_COLUMNS]
    parts = [rows.real, rows.imag] if rows.dtype.kind == "c" else [rows]
    return np.ascontiguousarray(np.concatenate(parts, axis=1).T)


def _first_of(outputs: np.ndarray) -> Any:
    """The first output; nothing where outputs are rows."""
    return outputs[0] if outputs.ndim == 1 else None


def _within(seconds: float, outputs: np.ndarray, most: int) -> int:
    """How many structures there is time to look at, of so many at most; `_FEWEST` at least."""
    if most <= _FEWEST:
        return most
    return min(most, max(_FEWEST, int(seconds / _seconds_each(outputs[:_FEWEST]))))


def _seconds_each(outputs: np.ndarray) -> float:
    """Seconds that it takes to look at a structure."""
    begun = clock()
    _columns_of(outputs)
    return max(clock() - begun, _LEAST_SECONDS) / len(outputs)


def _columns_of(outputs: np.ndarray) -> Columns | None:
    """Columns of structures; None where they have no parts."""
    made = Outputs(outputs)
    return made.columns_with(made)


def _codes_of(outputs: np.ndarray) -> np.ndarray:
    return np.unique(outcome_keys(outputs, coding_of(outputs)), return_inverse=True)[1]


def _columns(rows: np.ndarray) -> Iterator[_Column]:
    """Yield the columns, those of texts as codes in the order of these."""
    if rows.dtype.names:
        parts = [part for name in rows.dtype.names for part in _single(f"column {name}", rows[name])]
    else:
        flat = rows.reshape(len(rows), -1)
        parts = [(f"column {i + 1}" if flat.shape[1] > 1 else "", flat[:, i]) for i in range(flat.shape[1])]
    for label, values in parts[:_MOST_COLUMNS]:
        if values.dtype.kind in "US":
            values = values.astype(object)
        if values.dtype.kind == "O":
            texts = [str(value) for value in values.tolist()]
            codes = np.unique(np.array(texts), return_inverse=True)[1].astype(np.int64)
            yield _Column(label, codes, _numbers_in(texts))
        elif values.dtype.kind in "biuf":
            yield _Column(label, values, values)
        elif values.dtype.kind in "mM":
            yield _Column(label, values.astype(np.int64), values.astype(np.int64))


def _single(label: str, values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Columns of a field of records, which may hold an array in each."""
    if values.ndim == 1:
        return [(label, values)]
    flat = values.reshape(len(values), -1)
    return [(f"{label}, number {i + 1}", flat[:, i]) for i in range(min(flat.shape[1], _MOST_COLUMNS))]


def _structured_columns(rows: np.ndarray) -> list[_Column] | None:
    """Return the columns of the first structures, as events call them; None where outputs have no parts."""
    if rows.dtype != object or rows.ndim > 1:
        return None
    width = max(1, sum(map(value_count, rows[:_FEWEST].tolist())) // _FEWEST)
    looked_at = rows[: min(_MOST_ROWS, max(_FEWEST, _MOST_VALUES // width))]
    columns = _columns_of(looked_at[: len(looked_at) // 2])
    if columns is None or columns.paths is None or columns.paths == ("[0]",):
        return None
    made = zip(columns.names, _numbers(looked_at, columns).astype(np.float64), columns.kept, strict=False)
    found = [_Column(label, values, values if kept % 2 or not kept else None) for label, values, kept in made]
    numbered = list(_numbered_texts(looked_at))
    # What is a number in a text is one of its columns too.
    same = [each.counting for each in numbered]
    return [*(each for each in found if not any(_equal(each.counting, one) for one in same)), *numbered]


def _equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is not None and other is not None and np.array_equal(one, other)


def _numbered_texts(outputs: np.ndarray) -> Iterator[_Column]:
    """Yield columns of the numbers, or times, that the texts at a path of structures are or end with."""
    for path, texts in texts_by_path(Apart(outputs, remembered=False), _MOST_COLUMNS).items():
        numbers = _numbers_in(list(map(str, texts)))
        if numbers is not None:
            yield _Column(f"output{path}" if path else "", numbers, numbers)


def _numbers_in(texts: list[str]) -> np.ndarray | None:
    """Numbers, in hexadecimal as well, or times, that texts are or end with, where nothing else differs; else None."""
    if all(map(_TIME.fullmatch, texts)):
        with suppress(ValueError):  # there is no 31st of June
            return np.array(texts, dtype="datetime64[us]").astype(np.int64)
    parts = [found.groups() for found in map(_NUMBERED.fullmatch, texts) if found]
    if len(parts) == len(texts) and len({(before, after) for before, _, after in parts}) == 1:
        return np.array([float(number) for _, number, _ in parts])
    if len(set(map(len, texts))) > 1:
        return None
    # Of as many digits, those that are the same for all add the same.
    first, last = min(texts), max(texts)
    alike = next(
        (place for place, (one, other) in enumerate(zip(first, last, strict=True)) if one != other), len(first)
    )
    if alike == len(first) or not all(_HEXADECIMAL.fullmatch(text, alike) for text in texts):
        return None
    return np.array([float(int(text[alike:], 16)) for text in texts])


def _counts_up(column: _Column) -> bool:
    values = column.counting
    if values is None or values.dtype.kind == "b" or not np.isfinite(values).all():
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(values)
    return bool(steps[0] != 0 and (steps == steps[0]).all())


def _in_order(column: _Column) -> bool:
    """Whether a column of many numbers never rises, or never falls."""
    values = column.counting
    if values is None or values.dtype.kind == "b" or not _is_sorted(values):
        return False
    return int(np.count_nonzero(values[1:] != values[:-1])) > _FEW_VALUES


def _is_sorted(values: np.ndarray) -> bool:
    up, down = values[1:] >= values[:-1], values[1:] <= values[:-1]
    return bool(up.all() != down.all())


def _codes(columns: list[np.ndarray]) -> np.ndarray:
    """Return a number for each row, equal for equal ones, from 0 on."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for values in columns:
        found = np.unique(values, return_inverse=True)[1].astype(np.int64)
        codes = np.unique(codes * (int(found.max()) + 1) + found, return_inverse=True)[1].astype(np.int64)
    return codes
