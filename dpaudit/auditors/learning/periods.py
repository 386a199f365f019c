"""Periods of numbers: an hour of the day in a time, the step of a grid in a real number, a ripple of a density.

Where a number goes through many periods, no interval of it says where it is in its period. Its characteristic function
does: the difference of those of two inputs has a peak at the frequency in which they differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import chdtri

from dpaudit.auditors.learning.transforms import Identity, Phases, phase
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import OutputsLike

_ROWS = 100_000
"""Outputs of either input in which a period is looked for, at most."""

MOST_PERIODIC = 8
"""Columns up to which each is looked at: a transform of so many numbers takes as long as putting them in order does."""

_LEAST_ROWS = 500
"""Outputs of either input, at least; fewer show a peak only where a single period tells nearly all of them apart."""

_DISTINCT = 0.25
"""Part of some numbers, at least, that are distinct: others are counted one by one."""

_LOOKED_AT = 2000
"""Outputs of either input by which it is decided whether numbers are distinct, and which are usual."""

_USUAL = (0.002, 0.998)
"""Quantiles of a number between which it is usual: a few far ones would leave few cells for all others."""

_CELLS = 1 << 17
"""Cells of the usual range: periods down to twice their width are found."""

_LEAST_PERIODS = 48
"""Periods in the usual range, at least: step functions and residues show what goes through fewer."""

_ERROR = 0.001
"""Probability, about, with which some frequency seems to tell the inputs apart where none does; and probability with
which some time that people keep does."""

_TIMES = (60, 3600, 86_400, 604_800)
_UNITS = (1, 10**3, 10**6, 10**9)
"""Periods of clocks and calendars in seconds, and how many parts of a second times are counted in: these are known, so
that less evidence is enough, and any part of them may be where the inputs differ."""

_MULTIPLES = 32
"""Multiples of a period that are compared, at most: a narrow part of a period has as large peaks at a half, a third and
so on of it."""

_PARTS = 32
"""Parts of a period in which the inputs may differ, and by which its multiples and frequencies near it are compared."""

_LUCK = 3 * math.sqrt(_PARTS - 1)
"""Evidence by which another period must exceed that of a clock or calendar: three standard deviations of the difference
between two that are as good, each half of a chi-square."""

_NEAR, _NEARER = 0.6, 0.03
_STEPS_NEAR = 20
"""How far from a peak, in steps of frequencies, more digits of a period are looked for, first and then again, and in
how many steps to either side. Chosen by hand."""


Sides = Sequence[np.ndarray]
"""A number of the outputs of both inputs."""


def phases_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Phases | None:
    """Where the numbers of some columns are in a period; None where no period tells the inputs apart."""
    identity = Identity(columns)
    if len(x) < _LEAST_ROWS or identity(x[:1]).shape[1] > MOST_PERIODIC:
        return None
    sides = [identity(side[:_ROWS]) for side in (x, y)]
    found = []
    for column in range(sides[0].shape[1]):
        if not columns.numeric and not columns.kept[column] % 2:
            continue  # Categories are no numbers.
        period = _period(*(side[:, column] for side in sides), width=sides[0].shape[1])
        if period is not None:
            found.append((column, period))
    return Phases(columns, tuple(found)) if found else None


def _period(x: np.ndarray, y: np.ndarray, *, width: int) -> float | None:
    """Period of a number that tells the inputs apart; None where chance explains the largest peak."""
    some = np.concatenate([x[:_LOOKED_AT], y[:_LOOKED_AT]])
    if len(np.unique(some)) < _DISTINCT * len(some):
        return None
    low, high = np.quantile(some.astype(float), _USUAL)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        factor = _CELLS / (high - low)
    if not 0 < factor < math.inf:
        return None
    usual = [side[(side >= low) & (side <= high)].astype(float) - low for side in (x, y)]
    if min(map(len, usual)) < _LEAST_ROWS // 2:
        return None
    parts = [
        np.bincount(np.minimum((side * factor).astype(np.intp), _CELLS - 1), minlength=_CELLS) / len(side)
        for side in usual
    ]
    # Twice as long, so that no frequency is far from one that is looked at.
    power = np.abs(np.fft.rfft(parts[0] - parts[1], 2 * _CELLS)) ** 2
    # By chance, the power at a frequency has an exponential law, whose mean is at most this.
    power *= 1 / (1 / len(usual[0]) + 1 / len(usual[1]))
    step = factor / (2 * _CELLS)
    first = 2 * _LEAST_PERIODS
    best = first + int(power[first:].argmax())
    known = _calendar_periods(usual, high - low, width)
    found = list(known)
    if power[best] >= math.log(width * (len(power) - first) / _ERROR):
        frequency = best * step
        for far in (_NEAR, _NEARER):
            near = frequency + step * np.linspace(-far, far, 2 * _STEPS_NEAR + 1)
            frequency = max(near.tolist(), key=lambda each: _evidence(usual, 1 / each))
        found += [multiple / frequency for multiple in range(1, _MULTIPLES + 1)]
    if not found:
        return None
    evidence = {period: _evidence(usual, period) for period in found}
    most = max(evidence.values())
    return next((period for period in known if evidence[period] >= most - _LUCK), max(found, key=evidence.__getitem__))


def _calendar_periods(sides: Sides, range_: float, width: int) -> list[float]:
    """Periods of clocks and calendars in whose parts the inputs differ."""
    periods = [time * unit for unit in _UNITS for time in _TIMES]
    least = chdtri(_PARTS - 1, _ERROR / (len(periods) * width)) / 2
    return [each for each in periods if _LEAST_PERIODS * each <= range_ and _evidence(sides, each) >= least]


def _evidence(sides: Sides, period: float) -> float:
    """How much likelier, as a logarithm, the counts in parts of a period are than without any difference."""
    parts = [(phase(side, period) * _PARTS).astype(int) for side in sides]
    counts = np.stack([np.bincount(each, minlength=_PARTS) for each in parts]) + 0.5
    share = counts.sum(axis=1, keepdims=True) / counts.sum()
    return float(np.sum(counts * np.log(counts / (share * counts.sum(axis=0)))))
