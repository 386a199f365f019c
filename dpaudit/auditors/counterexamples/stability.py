"""The stability auditor: pairs of neighbouring inputs, hostile ones above all; a pair that breaks the map is shrunk."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from dpaudit.auditors.counterexamples.hostile import (
    draw_element,
    draw_input,
    listed_inputs,
    near_value,
    simpler_elements,
    weight,
)
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import StabilityClaim
from dpaudit.claims.domains import Datasets
from dpaudit.claims.evidence import Counterexample, Evidence, Interval, Remedy
from dpaudit.claims.inputs import short_repr
from dpaudit.claims.metrics import Number, exact, metric, plain_value, value_key
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError, ParameterError

DEFAULT_PAIRS = 5000
MOST_INPUTS = 400
"""Most inputs of a domain whose pairs are all compared."""

_NEAR = 0.4
"""Share of the pairs that are drawn near to the best ones."""
_KEPT = 8
_REPEATS = 2000
"""Draws in a row that give no new pair, after which there are no others."""
_SIMPLIFICATIONS = 4000
_FURTHER = 500
"""Pairs that are drawn after the first violation, in search of a larger one."""
_CLEAR = 10.0
"""Simplifying keeps as large a violation as was found, up to so many times what is promised."""
_CALLED_TWICE = 50
"""First pairs whose outputs are computed twice, to see whether they depend on the input alone."""
_CONFIRMATIONS = 30
_USUAL_LENGTH = 100
"""Records of both inputs; of longer pairs, fewer are drawn and tried where a violation is known already."""
_LONGEST_SHOWN = 300
_FARTHEST = 10**300
"""Inputs farther apart than this are not compared; maps take floats."""

_OF_NUMBERS = ("absolute", "l1", "l2", "linf")
"""Metrics to which anything that is no number is infinitely far from everything else."""

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class _Raised:
    """An exception in place of an output."""

    name: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """A pair with its outputs, the distance of inputs and outputs, and what the map promises there."""

    pair: Pair
    outputs: tuple[Any, Any]
    apart: Number
    promised: Number
    found: Number
    tolerance: Number
    raised: bool

    @property
    def breaks(self) -> bool:
        """Whether the outputs are farther apart than promised, and by more than counts as rounding."""
        return self.found > self.promised + self.tolerance * max(1, self.promised)

    @property
    def key(self) -> tuple[bool, float]:
        """What violations sort by: numbers before exceptions, large ones before small ones."""
        return not self.raised, self.ratio

    @property
    def ratio(self) -> float:
        """Share of what is promised that the outputs use."""
        if self.promised == 0:
            return math.inf if self.breaks else 0.0
        if math.inf in (self.promised, self.found):
            return 0.0 if self.promised == math.inf else math.inf
        ratio = Fraction(self.found) / Fraction(self.promised)
        return float(ratio) if ratio < 10**300 else math.inf


class _NotDeterministicError(Exception):
    """The transformation gave two outputs on one input."""


def audit_stability(claim: StabilityClaim, *, draws: int | None, deadline: float | None, streams: Streams) -> Evidence:
    """Look for two neighbouring inputs whose outputs are farther apart than the map promises.

    Parameters
    ----------
    claim
        The claim.
    draws
        Pairs to draw; None for 5000.
    deadline
        Time since the epoch at which the search ends with what it has; None for never.
    streams
        Random streams.

    Returns
    -------
    Evidence
        ``refuted`` with a minimal pair; ``proved`` where the domain has at most 400 inputs and all pairs keep the
        promise; ``consistent`` otherwise; ``inconclusive`` where the time was over, or where the transformation is not
        deterministic.

    Raises
    ------
    CheckError
        No neighbouring inputs can be had, or the map or a metric returns no number.

    Notes
    -----
    **Guarantee.** Distances are exact, or enclosed and rounded in favour of the claim, and every pair is held against
    what the map says at its own distance. So a refutation is no matter of chance or rounding.
    **Checked against** transformations whose stability is known, and reports of the libraries' maintainers.
    """
    draws = DEFAULT_PAIRS if draws is None else draws
    search = _Search(claim, streams, deadline)
    try:
        listed = listed_inputs(claim.domain, MOST_INPUTS)
        complete = listed is not None and search.compare_all(listed)
        if not complete and search.broken is None:
            search.run(draws)
        broken = None if search.broken is None else search.simplified(search.broken)
        if broken is not None:
            search.confirm(broken)
    except _NotDeterministicError as error:
        return Evidence(
            verdict=Verdict.INCONCLUSIVE,
            scope=_scope(claim, search),
            method="counterexample search",
            note=f"the transformation is not deterministic, and the claim is about those that are: {error}",
            samples=search.count,
            remedy=Remedy.EXACT,
        )
    if search.count == 0 and not search.late:
        raise CheckError(
            f"{claim.id}: no two neighbouring inputs could be compared"
            f"{f' ({search.refusal})' if search.refusal else ''}; give a domain that the transformation takes"
        )
    if broken is not None:
        return _refuted(claim, search, broken)
    verdict = Verdict.PROVED if complete else Verdict.CONSISTENT
    if search.late:
        verdict = Verdict.INCONCLUSIVE
    nearest = search.nearest
    return Evidence(
        verdict=verdict,
        scope=_scope(claim, search),
        method="exact" if complete else "counterexample search",
        measured={} if nearest is None else {"share_of_promise": Interval.exact(nearest.ratio)},
        note="" if complete else _tried(search),
        samples=0 if complete else search.count,
        remedy=Remedy.TIME if search.late else None,
    )


def _check_numbers(output: Any) -> None:
    """Raise ParameterError where an output has something else than numbers and None, to which no distance is known."""
    parts = list(output.values()) if isinstance(output, Mapping) else [output]
    while parts:
        part = parts.pop()
        if isinstance(part, list | tuple):
            parts.extend(part)
        elif part is not None and not isinstance(part, int | float | Fraction | Decimal):
            raise ParameterError(
                f"{short_repr(part)} is no number; return numbers, lists or one map of them, or give a distance of "
                "your own as the output metric"
            )


def _scope(claim: StabilityClaim, search: _Search) -> str:
    words = claim.scope or _shortened(repr(claim.domain))
    return f"{words}; {search.count} pairs of inputs" + (" (all)" if search.all_compared else "")


def _tried(search: _Search) -> str:
    """Say what was tried, and which pair came nearest to a violation."""
    tried = (
        f"no violation among {search.count} pairs, at distances up to {_number(search.largest)}; tried: bounds and "
        "extremes, ties, empty, odd and even lengths, other orders, records added, removed and replaced"
    )
    nearest = search.nearest
    if nearest is None or nearest.promised == 0:
        return tried
    x, y = (_shortened(repr(each)) for each in nearest.pair)
    return f"{tried}; the largest share of what is promised is used by {x} and {y}"


def _refuted(claim: StabilityClaim, search: _Search, broken: _Compared) -> Evidence:
    x, y = broken.pair
    shown = [f"raised {each.name}: {each.words}" if isinstance(each, _Raised) else each for each in broken.outputs]
    name = search.output_metric.name
    numbers = {"distance of the inputs": _float(broken.apart)}
    if _float(broken.found) == _float(broken.promised):
        # The two are told apart by less than the last bit of a float.
        numbers["excess"] = _float(Fraction(broken.found) - Fraction(broken.promised))
    return Evidence(
        verdict=Verdict.REFUTED,
        scope=_scope(claim, search),
        method="counterexample search",
        measured={"output_distance": Interval.exact(_float(broken.found))},
        witness=Counterexample(
            instance={"data": x, "neighbour": y, "output": shown[0], "output_of_neighbour": shown[1]},
            quantity=f"{name} distance of the outputs at {search.input_metric.name} distance {_number(broken.apart)}",
            measured=_float(broken.found),
            claimed=_float(broken.promised),
            direction="at-most",
            details=numbers,
        ),
        samples=search.count,
    )


class _Search:
    """A search among pairs, towards a large share of what is promised."""

    def __init__(self, claim: StabilityClaim, streams: Streams, deadline: float | None) -> None:
        self._claim, self._rng, self._deadline = claim, streams.generator("pairs"), deadline
        self.input_metric, self.output_metric = metric(claim.input_metric), metric(claim.output_metric)
        self._seen: set[Any] = set()
        self._best: list[_Compared] = []
        self._promises: dict[Any, Number] = {}
        self.count = 0
        self.largest: Number = 0
        self.broken: _Compared | None = None
        self.late, self.all_compared, self.refusal = False, False, ""

    @property
    def nearest(self) -> _Compared | None:
        """The pair that came nearest to a violation."""
        return self._best[0] if self._best else None

    def output(self, data: Any) -> Any:
        """The transformation's output on a copy of an input."""
        try:
            made = self._claim.transformation(copy.deepcopy(data))
            return plain_value(made.to_numpy() if hasattr(type(made), "to_numpy") else made)
        except KeyboardInterrupt:
            raise
        except Exception as error:
            words = " ".join(str(error).split())
            self.refusal = self.refusal or f"{type(error).__name__} on {short_repr(data)}: {words[:200]}"
            return _Raised(type(error).__name__, words[:200])

    def compare_all(self, listed: list[Any]) -> bool:
        """Compare all pairs; whether that is all that the claim says."""
        member = self._claim.member or (lambda data: True)
        inputs = [each for each in listed if member(each)]
        outputs = [self.output(each) for each in inputs]
        # In another order, so that an output that depends on the calls before it is noticed.
        for place in reversed(range(len(inputs))):
            self._same(inputs[place], outputs[place], self.output(inputs[place]))
        for i, j in combinations(range(len(inputs)), 2):
            if self._is_late():
                return False
            self._judge((inputs[i], inputs[j]), outputs[i], outputs[j])
        if self.broken is not None:
            return False
        self.all_compared = self.count > 0
        return self.all_compared

    def run(self, draws: int) -> None:
        """Draw pairs until one breaks the promise, and then some more."""
        repeats, last, found = 0, self.count + draws, False
        while self.count < last and repeats < _REPEATS and not self._is_late():
            before = self.count
            pair = self._next()
            if self._is_new(pair):
                self._compare(pair)
            repeats = repeats + 1 if self.count == before else 0
            if self.broken is not None and not found:
                found, last = True, min(last, self.count + _fewer(_FURTHER, self.broken.pair))

    def confirm(self, broken: _Compared) -> None:
        """Raise where the outputs of the pair differ from call to call."""
        for data, first in zip(broken.pair, broken.outputs, strict=True):
            for _ in range(_CONFIRMATIONS):
                self._same(data, first, self.output(data))

    def simplified(self, broken: _Compared) -> _Compared:
        """Simplify a pair as long as it breaks the promise."""
        self.confirm(broken)
        # A pair that was drawn before may be the simpler one.
        self._seen = set()
        last, least = self.count + _fewer(_SIMPLIFICATIONS, broken.pair), min(broken.ratio, _CLEAR)
        found: _Compared | None = broken
        while found is not None:
            broken, found = found, None
            for pair in self._simpler(broken.pair):
                if self.count >= last or self._is_late():
                    break
                if not self._is_simpler(pair, broken) or not self._is_new(pair):
                    continue
                tried = self._compare(pair)
                if tried is not None and tried.breaks and tried.ratio >= least and tried.raised <= broken.raised:
                    found = tried
                    break
        self.late = False
        return broken

    def _is_simpler(self, pair: Pair, than: _Compared) -> bool:
        """Whether the inputs of a pair are nearer to each other than those of another, or else simpler."""
        distance = self.input_metric.between_inputs(*pair)
        return _weight(pair, distance) < _weight(than.pair, than.apart)

    def _is_late(self) -> bool:
        self.late = self.late or (self._deadline is not None and time.time() >= self._deadline)
        return self.late

    def _same(self, data: Any, first: Any, second: Any) -> None:
        if value_key_of(first) != value_key_of(second):
            raise _NotDeterministicError(
                f"on {short_repr(data)} it gave {short_repr(first)} and then {short_repr(second)}"
            )

    def _is_new(self, pair: Pair) -> bool:
        key = tuple(value_key(each) for each in pair)
        try:
            new = key not in self._seen
        except TypeError:
            return True
        self._seen.add(key)
        return new

    def _compare(self, pair: Pair) -> _Compared | None:
        member = self._claim.member
        if member is not None and not all(member(data) for data in pair):
            return None
        outputs = self.output(pair[0]), self.output(pair[1])
        if self.count < _CALLED_TWICE:
            for data, output in zip(pair, outputs, strict=True):
                self._same(data, output, self.output(data))
        return self._judge(pair, *outputs)

    def _judge(self, pair: Pair, first: Any, second: Any) -> _Compared | None:
        """Hold the outputs of a pair against the map; None where the pair says nothing."""
        x, y = pair
        if value_key(x) == value_key(y):
            return None
        apart = self.input_metric.between_inputs(x, y)
        raised = [isinstance(each, _Raised) for each in (first, second)]
        if apart > _FARTHEST or all(raised) or (any(raised) and not self._claim.raising_counts):
            return None
        promised = self._promise(apart)
        found: Number = math.inf if any(raised) else self._between(first, second)
        tolerance = exact(self._claim.tolerance)
        compared = _Compared(
            pair=pair,
            outputs=(first, second),
            apart=apart,
            promised=promised,
            found=found,
            tolerance=tolerance,
            raised=any(raised),
        )
        self.count += 1
        self.largest = max(self.largest, apart)
        if compared.breaks and (self.broken is None or compared.key > self.broken.key):
            self.broken = compared
        self._best.append(compared)
        self._best.sort(key=lambda each: -each.ratio)
        del self._best[_KEPT:]
        return compared

    def _between(self, first: Any, second: Any) -> Number:
        try:
            found = self.output_metric.between_outputs(first, second)
            if found == math.inf and self.output_metric.name in _OF_NUMBERS:
                for output in (first, second):
                    _check_numbers(output)
            return found
        except Exception as error:
            raise CheckError(
                f"{self._claim.id}: the output metric {self.output_metric.name} cannot compare {short_repr(first)} and "
                f"{short_repr(second)}: {error}"
            ) from error

    def _promise(self, apart: Number) -> Number:
        """What the map says at a distance, as the map takes it."""
        given = _rounded_up(apart, self._claim.distance_type)
        if given not in self._promises:
            try:
                self._promises[given] = exact(self._claim.map(given))
            except Exception as error:
                raise CheckError(f"{self._claim.id}: map({given!r}) gives no distance: {error}") from error
        return self._promises[given]

    def _next(self) -> Pair:
        """Draw a pair: half of them fresh, and the others near to one of the best so far."""
        domain, rng = self._claim.domain, self._rng
        if self._best and rng.random() < _NEAR:
            x, y = self._best[rng.integers(len(self._best))].pair
            way = rng.integers(3)
            if way == 0:
                return x, self._neighbour(x)
            return self._both_changed(x, y)
        x = draw_input(domain, rng)
        return x, self._neighbour(x)

    def _neighbour(self, x: Any) -> Any:
        """Draw an input near to one."""
        domain, rng = self._claim.domain, self._rng
        if not isinstance(domain, Datasets):
            return draw_element(domain, rng) if rng.random() < 0.2 else near_value(domain, x, rng)
        if not self.input_metric.datasets:
            return self._moved(list(x), domain)
        y = list(x)
        for _ in range((1, 1, 1, 1, 2, 2, 3)[rng.integers(7)]):
            self._edit(y, domain)
        return y

    def _moved(self, y: list[Any], domain: Datasets) -> list[Any]:
        """A vector near to one: one entry, some or all of them go a step."""
        rng = self._rng
        if y:
            count = (1, 1, len(y), int(rng.integers(1, len(y) + 1)))[rng.integers(4)]
            for place in rng.choice(len(y), count, replace=False):
                y[place] = near_value(domain.of, y[place], rng)
        return y

    def _edit(self, y: list[Any], domain: Datasets) -> None:
        """Add, remove, replace or move a record; where the size is fixed, one that goes makes place for one."""
        rng = self._rng
        ways = ["replace", "move", "shift", "reverse"]
        resizes = domain.size is None and self.input_metric.name not in ("change-one", "hamming")
        if resizes:
            ways = ["add", "add", "remove", "replace", "move", "reverse"]
        way = ways[rng.integers(len(ways))]
        if way == "add" and (domain.longest is None or len(y) < domain.longest):
            y.insert(self._place(len(y) + 1), self._record(y, domain))
        elif y and way == "remove":
            del y[self._place(len(y))]
        elif y and way == "replace":
            place = self._place(len(y))
            near = rng.random() < 0.3
            y[place] = near_value(domain.of, y[place], rng) if near else self._record(y, domain)
        elif way == "reverse":
            y.reverse()
        elif y and way == "move":
            y.insert(self._place(len(y)), y.pop(self._place(len(y))))
        elif y and way == "shift":
            del y[self._place(len(y))]
            y.insert(self._place(len(y) + 1), self._record(y, domain))

    def _place(self, count: int) -> int:
        """Draw a place, at an end as often as between."""
        way = self._rng.integers(4)
        return 0 if way == 0 else count - 1 if way == 1 else int(self._rng.integers(count))

    def _record(self, y: list[Any], domain: Datasets) -> Any:
        rng = self._rng
        return y[rng.integers(len(y))] if y and rng.random() < 0.2 else draw_element(domain.of, rng)

    def _both_changed(self, x: Any, y: Any) -> Pair:
        """Change what two inputs share."""
        domain, rng = self._claim.domain, self._rng
        if not isinstance(domain, Datasets):
            return near_value(domain, x, rng), y
        shared = [each for each in x if any(each is other or each == other for other in y[:50])][:50]
        way = rng.integers(3)
        if way == 0 and shared:
            old, new = shared[rng.integers(len(shared))], self._record([], domain)
            return _replaced(x, old, new), _replaced(y, old, new)
        if way == 1 and domain.size is None and (domain.longest is None or max(len(x), len(y)) < domain.longest):
            new = self._record(x, domain)
            return ([new, *x], [new, *y]) if rng.random() < 0.5 else ([*x, new], [*y, new])
        if x and y and len(x) == len(y):
            order = rng.permutation(len(x))
            return [x[i] for i in order], [y[i] for i in order]
        return x, self._neighbour(x)

    def _simpler(self, pair: Pair) -> Iterator[Pair]:
        """Yield pairs that may be simpler: shorter, of fewer and of simpler values."""
        x, y = pair
        domain = self._claim.domain
        if not isinstance(domain, Datasets):
            yield from ((x, each) for each in _apart(domain, x, y))
            for a in [x, *simpler_elements(domain, x)]:
                yield from ((a, b) for b in [*simpler_elements(domain, y), y])
                if isinstance(x, int | float) and isinstance(y, int | float):
                    yield a, a + (y - x)
            return
        keys = [[repr(each) for each in data] for data in pair]
        blocks = SequenceMatcher(a=keys[0], b=keys[1], autojunk=False).get_matching_blocks()
        matched = [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]
        if domain.size is None:
            size = len(matched)
            while size:
                for start in range(0, len(matched), size):
                    left, right = zip(*matched[start : start + size], strict=True)
                    yield _without(x, left), _without(y, right)
                size //= 2
            for i in {*range(len(x))} - {i for i, _ in matched}:
                yield _without(x, (i,)), y
            for j in {*range(len(y))} - {j for _, j in matched}:
                yield x, _without(y, (j,))
        if self.input_metric.name in ("symmetric", "change-one"):
            ordered = [sorted(data, key=lambda each: (weight(each), repr(each))) for data in pair]
            yield from ((ordered[0], y), (x, ordered[1]), (ordered[0], ordered[1][::-1]))
        values = list({repr(each): each for each in [*x, *y]}.values())[:20]
        if len(x) == len(y):
            # All shared records alike.
            same = [value_key(a) == value_key(b) for a, b in zip(x, y, strict=True)]
            for value in values:
                yield _where(same, x, value), _where(same, y, value)
        for value in values:
            for other in [*values, *simpler_elements(domain.of, value)]:
                yield _replaced(x, value, other), _replaced(y, value, other)
        yield from self._simpler_places(pair, domain)

    def _simpler_places(self, pair: Pair, domain: Datasets) -> Iterator[Pair]:
        """Yield pairs in which the entries at one place are simpler, by as much in both where they are numbers."""
        x, y = pair
        if len(x) != len(y) or len(x) > 50:
            return
        for place, (a, b) in enumerate(zip(x, y, strict=True)):
            for simpler in simpler_elements(domain.of, a):
                options = [simpler if value_key(a) == value_key(b) else b]
                if isinstance(a, int | float) and isinstance(b, int | float) and math.isfinite(a) and math.isfinite(b):
                    options.append(simpler + (b - a))
                for other in options:
                    if _in_range(domain.of, other):
                        yield _with(x, place, simpler), _with(y, place, other)
            for simpler in [*_apart(domain.of, a, b), *simpler_elements(domain.of, b)]:
                yield x, _with(y, place, simpler)


def value_key_of(output: Any) -> Any:
    """Key of an output or of an exception in its place."""
    return ("raised", output.name) if isinstance(output, _Raised) else value_key(output)


def _fewer(count: int, pair: Pair) -> int:
    """So many pairs, or fewer where they are long."""
    length = sum(len(data) for data in pair if isinstance(data, list))
    return count * _USUAL_LENGTH // max(_USUAL_LENGTH, length)


def _weight(pair: Pair, distance: Number) -> tuple[Any, ...]:
    """How far from simple a pair is: by its length, changes from record to record, kinds of records, and distance."""
    x, y = pair
    if not isinstance(x, list) or not isinstance(y, list):
        return 0, 0, 0, distance, weight(x) + weight(y)
    texts = [[repr(each) for each in data] for data in pair]
    runs = sum(a != b for data in texts for a, b in pairwise(data))
    return len(x) + len(y), runs, len({*texts[0], *texts[1]}), distance, weight(x) + weight(y)


def _apart(element: Any, a: Any, b: Any) -> Iterator[Any]:
    """Yield numbers that are nearer to ``a`` than ``b`` is, the nearest first."""
    if isinstance(a, int) and isinstance(b, int):
        distance = b - a
        for bits in range(abs(distance).bit_length()):
            yield a + (1 << bits if distance > 0 else -(1 << bits))
    elif isinstance(a, float) and isinstance(b, float) and math.isfinite(a) and math.isfinite(b):
        for step in (1e-3, 0.1, 0.5, 1.0, 2.0, 10.0):
            if step < abs(b - a) and _in_range(element, a + math.copysign(step, b - a)):
                yield a + math.copysign(step, b - a)


def _in_range(element: Any, value: Any) -> bool:
    low, high = getattr(element, "low", None), getattr(element, "high", None)
    return low is None or high is None or (isinstance(value, int | float) and low <= value <= high)


def _replaced(data: list[Any], old: Any, new: Any) -> list[Any]:
    key = repr(old)
    return [new if repr(each) == key else each for each in data]


def _without(data: list[Any], places: Any) -> list[Any]:
    left_out = set(places)
    return [each for place, each in enumerate(data) if place not in left_out]


def _where(places: list[bool], data: list[Any], value: Any) -> list[Any]:
    """Return data with a value at some places."""
    return [value if place else each for place, each in zip(places, data, strict=True)]


def _with(data: list[Any], place: int, value: Any) -> list[Any]:
    return [*data[:place], value, *data[place + 1 :]]


def _rounded_up(distance: Number, kind: type) -> int | float:
    """A distance as a map takes it: a whole number, or the next float above."""
    if kind is int and distance == int(distance):
        return int(distance)
    rounded = float(distance)
    return rounded if Fraction(rounded) >= Fraction(distance) else math.nextafter(rounded, math.inf)


def _float(value: Number) -> float:
    return float(value) if -_FARTHEST < value < _FARTHEST else math.inf


def _number(value: Number) -> str:
    return f"{_float(value):g}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
