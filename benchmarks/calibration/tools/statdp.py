"""StatDP: an event chosen on some samples, and a hypothesis test of what is promised on others.

Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", CCS 2018, and its released code;
written from what these say. Candidate events are the values of an output with few of them, and otherwise ten half-lines
that end within the shortest interval with 70 % of the outputs; of rows, the products of the columns' events. A sixth of
the samples chooses the event with the smallest p-value for the promised epsilon, among those seen often enough. On the
others, the hits of the input with more of them are thinned by e^-epsilon, and the p-value is the mean, over 200
thinnings, of those of Fisher's exact test.

As in the released code, the two inputs are ordered by their hits in the final samples, and the first of two p-values
is the one for that order. So the side of a one-sided test is chosen by its own samples, which doubles the error
probability of a null mechanism.

Not as published: an epsilon is not refuted or not, but the largest one that is refuted is the bound, found by
bisection. The thinnings are 200 evenly spaced quantiles, so that equal samples give equal bounds. An output has few
values where it has at most 16, instead of less than 0.002 of the number of samples. It does not apply with delta, or
with more than two columns, where the products are too many.
"""

from itertools import product

import numpy as np
from scipy.stats import binom, hypergeom

from calibration.interface import Mechanism, Tool
from calibration.tools.scored import MOST_CATEGORIES, sampled

CHOOSING = 1 / 6
HALF_LINES, DENSE = 10, 0.7
THINNINGS = (np.arange(200) + 0.5) / 200
RARE = 0.001
MOST_COLUMNS = 2
STEPS, MOST = 30, 30.0


def bound(mechanism: Mechanism, x, y, samples, confidence, seed) -> float | None:
    if mechanism.delta > 0:
        return None
    sides = sampled(mechanism, x, y, samples, [seed, 33])
    if sides[0].shape[1] > MOST_COLUMNS:
        return None
    chosen = int(CHOOSING * samples)
    event = _event([side[:chosen] for side in sides], mechanism.epsilon)
    if event is None:
        return 0.0
    final = samples - chosen
    hits = sorted(int(np.count_nonzero(_inside(side[chosen:], event))) for side in sides)
    return _largest_refuted(hits[1], hits[0], final, 1 - confidence)


def p_value(more: int, fewer: int, trials: int, epsilon: float) -> float:
    """Mean over thinnings of Fisher's exact test that the thinned hits are no more than the others."""
    values, times = np.unique(binom.ppf(THINNINGS, more, np.exp(-epsilon)), return_counts=True)
    tails = hypergeom.sf(values - 1, 2 * trials, trials, values + fewer)
    return float(np.average(tails, weights=times))


def _largest_refuted(more, fewer, trials, alpha):
    if p_value(more, fewer, trials, 0.0) > alpha:
        return 0.0
    low, high = 0.0, MOST
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(more, fewer, trials, middle) <= alpha else (low, middle)
    return low


def _event(sides, epsilon):
    """An event for every column, with the smallest p-value among those seen often enough; None if there is none."""
    size = len(sides[0])
    events = list(
        product(*(_candidates(np.concatenate([side[:, i] for side in sides])) for i in range(sides[0].shape[1])))
    )
    counts = [sorted(int(np.count_nonzero(_inside(side, event))) for side in sides) for event in events]
    common = [i for i, hits in enumerate(counts) if sum(hits) > RARE * size * np.exp(epsilon)]
    if not common:
        return None
    return events[min(common, key=lambda i: p_value(counts[i][1], counts[i][0], size, epsilon))]


def _candidates(column):
    """Events of one column: pairs of a number and whether it is a value, or the end of a half-line."""
    values = np.unique(column)
    if len(values) <= MOST_CATEGORIES:
        return [(value, True) for value in values]
    ordered = np.sort(column)
    dense = int(DENSE * len(ordered))
    first = int(np.argmin(ordered[dense:] - ordered[:-dense]))
    return [(end, False) for end in np.linspace(ordered[first], ordered[first + dense], HALF_LINES)]


def _inside(rows, event):
    parts = [rows[:, i] == number if value else rows[:, i] < number for i, (number, value) in enumerate(event)]
    return np.logical_and.reduce(parts)


TOOL = Tool(
    name="StatDP",
    bound=bound,
    how="Written from its paper and released code: `benchmarks/calibration/tools/statdp.py`. A test of a "
    "given epsilon; the bound is the largest epsilon that it refutes. One or two columns, no delta.",
)
