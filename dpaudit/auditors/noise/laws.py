"""What runs with prescribed noise say of the law of the output: numbers that are affine in the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.auditors.noise.runs import Run, difference_in_words
from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.metrics import metric
from dpaudit.errors import CheckError
from dpaudit.laws import (
    Comparison,
    DiscreteGaussianLaw,
    DiscreteLaplaceLaw,
    GaussianLaw,
    LaplaceLaw,
    Law,
    ProductLaw,
    compare,
)
from dpaudit.sources.noise.recorder import NoiseCall

MOST_COLUMNS = 40
"""Most numbers of noise whose sums in the outputs are told apart."""

_EQUAL = 1e-6
"""Relative difference below which two scales or coefficients that runs show are equal."""
_FITTED = 1e-7
"""Part of the spread of an output that the fit may miss."""
_LOST = 1e-9
"""Part of an output below which its noise is lost in rounding."""
_ROUNDING = 64 * np.finfo(float).eps
_WIDER = 8.0
"""How much more than the runs show the rounding of an output may be, in other runs."""
_NEAR = 4
"""Columns of noise to each side of the likeliest that are tried for an output."""
_REACH = 27.0
"""Scales up to which events of two laws of different scales are looked at: likelier than 1e-12, and within the runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A released number whose law is shifted between the two inputs, or has another scale.

    Attributes
    ----------
    call
        The call whose noise covers it.
    family
        Family of its law.
    change, scale, other_scale
        Change of what the noise is added to, and the scale on each input, in units of the noise.
    error
        What rounding may have added to the change.
    loose
        Relative error of the scales.
    """

    call: NoiseCall
    family: str
    change: float
    scale: float
    other_scale: float
    error: float = 0.0
    loose: float = 0.0

    @property
    def same_scale(self) -> bool:
        """Whether the scale does not depend on the data."""
        return math.isclose(self.scale, self.other_scale, rel_tol=_EQUAL + self.loose)


@dataclass(slots=True, kw_only=True)
class Compared:
    """What a pair shows.

    Attributes
    ----------
    shifts
        Released numbers, independent of each other, that the inputs change.
    disjoint
        Why the outputs on the two inputs have nothing in common; empty where they may.
    undecided
        Why their laws are not known; empty where they are.
    partial
        What the shifts leave out of the output; empty where they leave nothing out.
    hidden
        Whether there is noise that no output shows, which may still choose among outputs.
    upper
        Whether the shifts only bound what is released from above.
    call
        The call that `disjoint` is about, if it is about one.
    change
        The change in that case.
    """

    shifts: list[Shift] = field(default_factory=list)
    disjoint: str = ""
    undecided: str = ""
    partial: str = ""
    hidden: bool = False
    upper: bool = False
    call: NoiseCall | None = None
    change: float = math.inf


@dataclass(slots=True, kw_only=True)
class Affine:
    """Outputs on one input, as functions of the noise.

    Attributes
    ----------
    form, start
        The form, and the numbers without noise.
    coefficients
        For each number, its coefficients by column of noise; empty where it does not depend on the noise.
    columns
        For each column of noise, the call and the scale.
    size
        Largest absolute value of each number, whose rounding errors matter.
    missed, spread
        How far each number is from the fit at most, and how far the noise moves it.
    """

    form: tuple[Any, ...]
    start: np.ndarray
    coefficients: list[dict[int, float]]
    columns: list[tuple[NoiseCall, float]]
    size: np.ndarray
    missed: np.ndarray
    spread: np.ndarray

    @property
    def rounding(self) -> np.ndarray:
        """What rounding may change in each number: in its arithmetic, and as the residuals of the fit show it."""
        return np.asarray(_ROUNDING * self.size + _WIDER * self.missed)

    @property
    def loose(self) -> np.ndarray:
        """Relative error of the coefficients that comes with it."""
        return np.asarray(self.rounding / np.where(self.spread > 0, self.spread, np.inf))

    @property
    def hidden(self) -> bool:
        """Whether there is noise that no number shows."""
        shown = {column for each in self.coefficients for column in each}
        return any(scale > 0 and column not in shown for column, (_, scale) in enumerate(self.columns))


class NotAffineError(Exception):
    """The outputs are not affine in the noise."""


class MoreRunsError(Exception):
    """More runs are needed to tell."""


def affine(runs: Sequence[Run]) -> Affine:
    """Fit runs on one input with different noise, the first of them without any.

    Raises
    ------
    NotAffineError
        The outputs are not affine in the noise, or the calls depend on it.
    MoreRunsError
        Sums of several numbers of noise need at least two runs more than there are numbers.
    """
    first = runs[0]
    for each in runs:
        if each.raised:
            raise NotAffineError(f"it {each.raised}")
        if each.opaque:
            raise NotAffineError(f"the output holds {each.opaque}, which cannot be looked into")
        if each.form != first.form:
            raise NotAffineError(f"what is released depends on the noise: {difference_in_words(first.form, each.form)}")
        if len(each.calls) != len(first.calls) or not all(
            a.matches(b) for a, b in zip(first.calls, each.calls, strict=True)
        ):
            raise NotAffineError("which calls are made depends on the noise")
        for a, b in zip(first.calls, each.calls, strict=True):
            if a.noise is None:
                raise NotAffineError(f"{a.function} at {a.place} does not simply add noise")
            if not np.allclose(a.flat_scale, b.flat_scale, rtol=_EQUAL, atol=0):
                raise NotAffineError(f"the scale at {a.place} depends on the noise before it")
    columns = [(call, float(scale)) for call in first.calls for scale in call.flat_scale]
    noise = np.array([np.concatenate([np.zeros(0), *(call.flat_noise for call in each.calls)]) for each in runs])
    outputs = np.array([each.numbers for each in runs])
    moved, noise = outputs - outputs[0], noise - noise[0]
    used = np.flatnonzero(np.ptp(noise, axis=0) > 0)
    spread, size = np.abs(moved).max(axis=0, initial=0), np.abs(outputs).max(axis=0, initial=0)
    coefficients: list[dict[int, float]] = []
    ratios = _Ratios(noise, used)
    for j in range(outputs.shape[1]):
        if spread[j] == 0:
            coefficients.append({})
            continue
        if spread[j] < _LOST * size[j]:
            raise NotAffineError("the noise is too small beside the output to be told from rounding")
        tolerance = _FITTED * spread[j] + _ROUNDING * size[j]
        found = _single(moved[:, j], noise, ratios, tolerance, int(used[j % len(used)])) if len(used) else None
        coefficients.append(_several(moved[:, j], noise, used, tolerance) if found is None else found)
    missed = np.zeros(len(coefficients))
    for j, by_column in enumerate(coefficients):
        if by_column:
            fit = noise[:, list(by_column)] @ np.array(list(by_column.values()))
            missed[j] = np.abs(moved[:, j] - fit).max()
    return Affine(
        form=first.form,
        start=outputs[0],
        coefficients=coefficients,
        columns=columns,
        size=size,
        missed=missed,
        spread=spread,
    )


class _Ratios:
    """Columns of noise by the ratio of the third run to the second, which an output of one column shares."""

    def __init__(self, noise: np.ndarray, used: np.ndarray) -> None:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.nan_to_num(noise[2, used] / noise[1, used], nan=math.inf)
        order = np.argsort(ratios, kind="stable")
        self._columns, self._ratios = used[order], ratios[order]

    def near(self, ratio: float) -> np.ndarray:
        """Return the columns whose ratios are nearest; of outputs that the second run does not move, the last ones."""
        place = int(np.searchsorted(self._ratios, ratio)) if ratio == ratio else len(self._ratios)
        return np.asarray(self._columns[max(0, place - _NEAR) : place + _NEAR])


def _single(
    moved: np.ndarray, noise: np.ndarray, ratios: _Ratios, tolerance: float, guess: int
) -> dict[int, float] | None:
    """Coefficient of the one column that an output depends on; None where no likely column is such a one."""
    ratio = float(moved[2] / moved[1]) if moved[1] != 0 else math.nan
    for column in (guess, *ratios.near(ratio)):
        k = int(np.argmax(np.abs(noise[:, column])))
        if noise[k, column] == 0:
            continue
        coefficient = moved[k] / noise[k, column]
        if coefficient != 0 and np.all(np.abs(moved - coefficient * noise[:, column]) <= tolerance):
            return {int(column): float(coefficient)}
    return None


def _several(moved: np.ndarray, noise: np.ndarray, used: np.ndarray, tolerance: float) -> dict[int, float]:
    """Coefficients of all columns of noise."""
    if not len(used):
        raise NotAffineError("the output depends on randomness that is not recorded")
    if len(used) > MOST_COLUMNS:
        raise NotAffineError(f"an output depends on several of {len(used)} numbers of noise")
    if len(moved) < len(used) + 4:
        raise MoreRunsError
    scale = np.abs(noise[:, used]).max(axis=0)
    found, *_ = np.linalg.lstsq(noise[:, used] / scale, moved, rcond=None)
    if np.any(np.abs(noise[:, used] / scale @ found - moved) > tolerance):
        raise NotAffineError("the output is no sum of what is noised and the noise")
    kept = np.abs(found) > _EQUAL * np.abs(found).max()
    return {int(used[i]): float(found[i] / scale[i]) for i in np.flatnonzero(kept)}


def compared(x: Affine, y: Affine) -> Compared:
    """Compare the laws of the outputs on two inputs."""
    if x.form != y.form:
        told = difference_in_words(x.form, y.form)
        return Compared(disjoint=f"with all noise alike, what is released has another form: {told}")
    for j, (a, b) in enumerate(zip(x.coefficients, y.coefficients, strict=True)):
        if not a and not b and x.start[j] != y.start[j]:
            call = next((call for call, scale in x.columns if scale == 0), None)
            told = f"number {j + 1} of the output has no noise, and changes from {x.start[j]:g} to {y.start[j]:g}"
            return Compared(disjoint=told, call=call, change=abs(float(x.start[j] - y.start[j])))
        if bool(a) != bool(b):
            return Compared(disjoint=f"number {j + 1} of the output has noise on one of the inputs alone")
    noisy = [j for j, a in enumerate(x.coefficients) if a]
    if all(len(side.coefficients[j]) == 1 for side in (x, y) for j in noisy):
        return _one_by_one(x, y, noisy)
    return _together(x, y, noisy)


def _one_by_one(x: Affine, y: Affine, noisy: list[int]) -> Compared:
    """Outputs that each have the noise of one column."""
    groups: list[dict[int, list[int]]] = [{}, {}]
    for side, by_column in zip((x, y), groups, strict=True):
        for j in noisy:
            by_column.setdefault(next(iter(side.coefficients[j])), []).append(j)
    if sorted(groups[0].values()) != sorted(groups[1].values()):
        return Compared(undecided="which outputs share their noise depends on the input")
    shifts = []
    roundings, loose = x.rounding + y.rounding, x.loose + y.loose
    of_y = {members[0]: column for column, members in groups[1].items()}
    for column, (j, *others) in groups[0].items():
        call, scale = x.columns[column]
        call_y, scale_y = y.columns[of_y[j]]
        if call.family != call_y.family:
            return Compared(undecided="the family of the noise depends on the input")
        c, c_y = x.coefficients[j][column], y.coefficients[j][of_y[j]]
        for k in others:
            ratios = x.coefficients[k][column] / c, y.coefficients[k][of_y[j]] / c_y
            offsets = x.start[k] - ratios[0] * x.start[j], y.start[k] - ratios[1] * y.start[j]
            slack = _EQUAL * (x.size[k] + y.size[k] + abs(ratios[0]) * (x.size[j] + y.size[j]))
            slack += float(roundings[k] + abs(ratios[0]) * roundings[j])
            if (
                not math.isclose(*ratios, rel_tol=_EQUAL + float(loose[j] + loose[k]))
                or abs(offsets[0] - offsets[1]) > slack
            ):
                told = f"numbers {j + 1} and {k + 1} of the output have one noise, and hang together differently"
                return Compared(disjoint=told, call=call)
        family = str(call.family)
        if family.startswith("discrete") and not math.isclose(abs(c), abs(c_y), rel_tol=_EQUAL):
            return Compared(undecided="the steps of discrete noise depend on the input")
        change = float(y.start[j] - x.start[j])
        if change == 0 and math.isclose(abs(c) * scale, abs(c_y) * scale_y, rel_tol=_EQUAL + float(loose[j])):
            continue
        error = float(roundings[j] + loose[j] * abs(change))
        units = abs(c)
        shifts.append(
            Shift(
                call=call,
                family=family,
                change=abs(change) / units,
                scale=scale,
                other_scale=abs(c_y) * scale_y / units,
                error=error / units,
                loose=float(loose[j]),
            )
        )
    return Compared(shifts=shifts)


def _together(x: Affine, y: Affine, noisy: list[int]) -> Compared:
    """Outputs that are sums of several columns of noise, by the same coefficients on both inputs."""
    if len(x.columns) != len(y.columns) or any(
        a[0].family != b[0].family or not math.isclose(a[1], b[1], rel_tol=_EQUAL)
        for a, b in zip(x.columns, y.columns, strict=True)
    ):
        return Compared(undecided="outputs are sums of several noises, whose scales depend on the input")
    used = sorted({column for j in noisy for column in x.coefficients[j]})
    matrices = [
        np.array([[side.coefficients[j].get(c, 0.0) * side.columns[c][1] for c in used] for j in noisy])
        for side in (x, y)
    ]
    scale = np.abs(matrices[0]).max(axis=1, keepdims=True)
    if not np.allclose(matrices[0] / scale, matrices[1] / scale, rtol=0, atol=_EQUAL):
        return Compared(undecided="outputs are sums of several noises, in parts that depend on the input")
    matrix = matrices[0] / scale
    change = (y.start[noisy] - x.start[noisy]) / scale[:, 0]
    rounding = float(((x.rounding[noisy] + y.rounding[noisy]) / scale[:, 0]).max())
    loose = float((x.loose[noisy] + y.loose[noisy]).max())
    if not np.any(change):
        return Compared()
    families = {x.columns[c][0].family for c in used}
    rank = int(np.linalg.matrix_rank(matrix, tol=_EQUAL * len(used)))
    shifts, *_ = np.linalg.lstsq(matrix, change, rcond=_EQUAL)
    missed = float(np.abs(matrix @ shifts - change).max())
    if missed > (_EQUAL + loose) * float(np.abs(change).max()) + rounding:
        return Compared(disjoint="a combination of the outputs has no noise, and changes", call=x.columns[used[0]][0])
    if any(str(family).startswith("discrete") for family in families):
        return Compared(undecided="outputs are sums of several discrete noises")
    # Of several Gaussian noises, the least squares are the shift of their sum; of others, one of those that explain it.
    error = rounding + (_FITTED + loose) * float(np.abs(shifts).max())
    found = [
        Shift(
            call=x.columns[c][0],
            family=str(x.columns[c][0].family),
            change=abs(float(shift)) * x.columns[c][1],
            scale=x.columns[c][1],
            other_scale=x.columns[c][1],
            error=error * x.columns[c][1],
        )
        for c, shift in zip(used, shifts, strict=True)
        if abs(shift) > error
    ]
    return Compared(shifts=found, upper=rank < len(used) and families != {"gaussian"})


def of_calls(x: Sequence[NoiseCall], y: Sequence[NoiseCall]) -> Compared:
    """Compare the laws of what the calls return, whose values they show."""
    shifts = []
    for a, b in zip(x, y, strict=True):
        if a.noise is None or a.scale is None or b.scale is None:
            return Compared(undecided=f"{a.function} at {a.place} does not simply add noise")
        if not np.array_equal(a.scale, b.scale):
            return Compared(undecided=f"the scale at {a.place} depends on the data")
        values = np.ravel(np.broadcast_to(a.value, a.scale.shape)), np.ravel(np.broadcast_to(b.value, b.scale.shape))
        for u, v, scale in zip(*values, np.ravel(a.scale), strict=True):
            if u == v or (u != u and v != v):
                continue
            if scale == 0 or not (math.isfinite(u) and math.isfinite(v)):
                told = f"what is noised at {a.place} changes from {u:g} to {v:g}, with noise of scale {scale:g}"
                return Compared(disjoint=told, call=a, change=abs(float(u - v)))
            shifts.append(
                Shift(
                    call=a,
                    family=str(a.family),
                    change=abs(float(u - v)),
                    scale=float(scale),
                    other_scale=float(scale),
                    error=_ROUNDING * float(abs(u) + abs(v)),
                )
            )
    return Compared(shifts=shifts)


def forced(found: Compared, guarantee: Guarantee, *, at_least: bool) -> tuple[bool, float]:
    """Whether a pair breaks a guarantee, and the value of the forced parameter that it takes.

    With ``at_least``, changes are what they are at least, rounding taken off.

    Raises
    ------
    CheckError
        The guarantee cannot be decided for laws of these kinds.
    """
    if found.disjoint:
        # An event that is certain on one input, and impossible on the other.
        return guarantee.most(0.0) < 1, float(guarantee.forces(1.0, 0.0))
    different = [each for each in found.shifts if not each.same_scale]
    if different:
        value = max(_by_events(each, guarantee, at_least) for each in different)
        if guarantee.exceeds(value):
            return True, value
        raise CheckError(f"the scale of the noise at {different[0].call.place} depends on the data")
    comparison = _comparison(found.shifts, at_least)
    if comparison is None:
        return False, 0.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        values = guarantee.measure(comparison)
    if values is None:
        raise CheckError(f"{guarantee} is not decided by laws of this kind")
    decisive, forces = values[guarantee.decisive], values[guarantee.forced]
    lower, upper = (0.0 if decisive.lower is None else decisive.lower), decisive.upper
    if guarantee.exceeds(lower, guarantee.decisive):
        return True, float(forces.lower or 0.0)
    if upper is None or guarantee.exceeds(upper, guarantee.decisive):
        raise CheckError(f"the bounds on {guarantee.decisive} enclose the claim")
    return False, float(forces.upper if forces.upper is not None else math.inf)


def _comparison(shifts: Sequence[Shift], at_least: bool) -> Comparison | None:
    laws = [pair for pair in (_laws(each, at_least) for each in _summed(shifts)) if pair is not None]
    if not laws:
        return None
    if len(laws) == 1:
        return compare(*laws[0])
    return compare(ProductLaw([p for p, _ in laws]), ProductLaw([q for _, q in laws]))


def _summed(shifts: Sequence[Shift]) -> list[Shift]:
    """Take Gaussian shifts together: along their sum they are one, of the root of the sum of their squares."""
    gaussian = [each for each in shifts if each.family == "gaussian"]
    if len(gaussian) < 2:
        return list(shifts)
    first = gaussian[0]
    change, low = (
        first.scale * math.hypot(*(value / each.scale for each, value in zip(gaussian, values, strict=True)))
        for values in (
            [each.change for each in gaussian],
            [max(0.0, each.change - each.error) for each in gaussian],
        )
    )
    one = Shift(
        call=first.call,
        family="gaussian",
        change=change,
        scale=first.scale,
        other_scale=first.scale,
        error=change - low,
    )
    return [one, *(each for each in shifts if each.family != "gaussian")]


def _laws(shift: Shift, at_least: bool) -> tuple[Law, Law] | None:
    change = max(0.0, shift.change - shift.error) if at_least else shift.change
    if shift.family.startswith("discrete"):
        steps = round(shift.change)
        if abs(shift.change - steps) > _EQUAL + shift.error:
            raise CheckError(f"what is noised at {shift.call.place} is no whole number of steps of its discrete noise")
        kind: Any = DiscreteLaplaceLaw if shift.family == "discrete-laplace" else DiscreteGaussianLaw
        return (kind(0, shift.scale), kind(steps, shift.scale)) if steps else None
    kind = LaplaceLaw if shift.family == "laplace" else GaussianLaw
    return (kind(0.0, 1.0), kind(change / shift.scale, 1.0)) if change else None


def _by_events(shift: Shift, guarantee: Guarantee, at_least: bool) -> float:
    """Value that half-lines and their mirrors force, of two laws with different scales."""
    if shift.family not in ("laplace", "gaussian"):
        return 0.0
    from scipy.special import ndtr

    def below(t: np.ndarray, location: float, scale: float) -> np.ndarray:
        z = (t - location) / scale
        if shift.family == "gaussian":
            return np.asarray(ndtr(z))
        return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)

    change = max(0.0, shift.change - shift.error) if at_least else shift.change
    reach = _REACH if shift.family == "laplace" else 7.0
    widest, value = max(shift.scale, shift.other_scale), 0.0
    low, high = min(0.0, change), max(0.0, change)
    grid = np.linspace(low - reach * widest, high + reach * widest, 2001)
    middle, half = np.array([0.0, change])[:, None], np.linspace(0, reach * widest, 1001)
    sides = ((0.0, shift.scale), (change, shift.other_scale))
    events = []
    for location, scale in sides:
        inner = below(middle + half, location, scale) - below(middle - half, location, scale)
        outer = below(middle - half, location, scale) + below(2 * location - middle - half, location, scale)
        tails = below(grid, location, scale), below(2 * location - grid, location, scale)
        events.append(np.clip(np.concatenate([*tails, inner.ravel(), outer.ravel()]), 0.0, 1.0))
    for p, q in (events, events[::-1]):
        seen = np.flatnonzero(p >= 1e-12)
        if len(seen):
            value = max(value, float(np.max(guarantee.forces(p[seen], q[seen]))))
    return value


def required_factor(found: Compared, guarantee: Guarantee) -> float | None:
    """What all scales would have to be multiplied by; None where that is not known."""
    if found.disjoint or not found.shifts or not all(each.same_scale for each in found.shifts):
        return None
    if any(each.family.startswith("discrete") for each in found.shifts):
        return None

    claimed = guarantee.parameters
    if dict(claimed).get("delta", 1.0) == 0 and all(each.family == "laplace" for each in found.shifts):
        total = sum(each.change / each.scale for each in found.shifts)
        return total / guarantee.claimed if guarantee.claimed else None

    def breaks(factor: float) -> bool:
        scaled = [
            Shift(call=s.call, family=s.family, change=s.change / factor, scale=s.scale, other_scale=s.other_scale)
            for s in found.shifts
        ]
        return forced(Compared(shifts=scaled), guarantee, at_least=False)[0]

    try:
        low, high = 1.0, 2.0
        while breaks(high):
            low, high = high, 2 * high
            if high > 1e12:
                return None
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if breaks(middle) else (low, middle)
    except CheckError:
        return None
    return high


def distance_of(given: Any) -> Any:
    """Distance of two values by the name of a metric, or a function of the user's own."""
    if callable(given):
        return given
    if given == "absolute":
        given = "l1"  # the same of two numbers; of vectors, what a sensitivity is about unless it says otherwise
    found = metric(given)

    def distance(x: Any, y: Any) -> float:
        a, b = (np.atleast_1d(np.asarray(each, dtype=float)).ravel().tolist() for each in (x, y))
        return float(found.between_outputs(a, b))

    return distance
