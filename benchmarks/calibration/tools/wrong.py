"""Tools that are wrong on purpose: the benchmark must notice.

All of them look at one column at a time, and at events that are one value, or all values up to or from a threshold.
"""

import numpy as np
from scipy.special import ndtri

from calibration.interface import Mechanism, Tool
from calibration.tools.scored import sampled
from dpaudit.statistics.proportions import proportion_lower, proportion_upper

MOST_VALUES, THRESHOLDS = 50, 50
LOOKS, LEAST_HITS = 20, 10


def _events(sides):
    """Functions that say which rows are inside."""
    for i in range(sides[0].shape[1]):
        column = np.concatenate([side[:, i] for side in sides])
        values = np.unique(column)
        if len(values) <= MOST_VALUES:
            yield from (lambda rows, i=i, value=value: rows[:, i] == value for value in values)
        for value in np.unique(np.quantile(column, np.linspace(0, 1, THRESHOLDS), method="nearest")):
            yield lambda rows, i=i, value=value: rows[:, i] <= value
            yield lambda rows, i=i, value=value: rows[:, i] >= value


def _bounds(hits, trials, alpha, delta):
    """log((p - delta) / q) from Clopper-Pearson bounds, of arrays of hits."""
    low = proportion_lower(hits[0], trials, alpha / 2) - delta
    high = proportion_upper(hits[1], trials, alpha / 2)
    return np.where(low > 0, np.log(np.maximum(low, 1e-300)) - np.log(high), 0.0)


def _counts(events, sides):
    """Hits of either side for every event, and the same the other way around; shape (2, events * 2)."""
    hits = np.array([[np.count_nonzero(event(side)) for event in events] for side in sides])
    return np.hstack([hits, hits[::-1]])


def plug_in(mechanism: Mechanism, x, y, samples, confidence, seed) -> float:
    """The largest ratio of two frequencies, as if they were probabilities."""
    sides = sampled(mechanism, x, y, samples, [seed, 34])
    p, q = _counts(list(_events(sides)), sides) / samples
    p = p - mechanism.delta
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where((p > 0) & (q > 0), np.log(np.maximum(p, 1e-300)) - np.log(q), 0.0)
    return max(0.0, float(ratios.max()))


def same_samples(mechanism: Mechanism, x, y, samples, confidence, seed) -> float:
    """The best of all events, bounded on the samples by which it was chosen."""
    sides = sampled(mechanism, x, y, samples, [seed, 34])
    hits = _counts(list(_events(sides)), sides)
    return max(0.0, float(_bounds(hits, samples, 1 - confidence, mechanism.delta).max()))


def peeking(mechanism: Mechanism, x, y, samples, confidence, seed) -> float:
    """An event chosen on a fifth of the samples, rightly; but the best of 20 looks at the others as they come in."""
    sides = sampled(mechanism, x, y, samples, [seed, 34])
    chosen = samples // 5
    events = list(_events([side[:chosen] for side in sides]))
    hits = _counts(events, [side[:chosen] for side in sides])
    best = int(np.argmax(_bounds(hits, chosen, 1 - confidence, mechanism.delta)))
    event = events[best % len(events)]
    running = [np.cumsum(event(side[chosen:])) for side in (sides if best < len(events) else sides[::-1])]
    ends = np.linspace(0, samples - chosen, LOOKS + 1).astype(int)[1:]
    bounds = (_normal_bound(*(each[end - 1] for each in running), end, confidence, mechanism.delta) for end in ends)
    return max(0.0, *bounds)


def _normal_bound(p_hits, q_hits, trials, confidence, delta):
    """Normal bound on the log of a ratio of two rates: its error is close to what it says once there are some hits."""
    p, q = p_hits / trials - delta, q_hits / trials
    if q_hits < LEAST_HITS or p_hits < LEAST_HITS or p <= 0:
        return 0.0
    of_p = p_hits / trials
    spread = np.sqrt(of_p * (1 - of_p) / trials / p**2 + (1 - q) / q_hits)
    return float(np.log(p / q) - ndtri(confidence) * spread)


PLUG_IN = Tool(
    name="wrong: plug-in", bound=plug_in, how="The largest ratio of frequencies, with no interval.", control=True
)
SAME_SAMPLES = Tool(
    name="wrong: same samples",
    bound=same_samples,
    how="The best of all events, bounded on the samples by which it was chosen.",
    control=True,
)
PEEKING = Tool(
    name="wrong: peeking",
    bound=peeking,
    how=f"The best of {LOOKS} bounds while samples come in, each at the full error probability.",
    control=True,
)
