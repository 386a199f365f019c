"""How much the bound depends on each constant by which events are chosen.

Scores compete once for each mechanism, number of samples and seed. From the tables that they leave, events are chosen
with the constants as they are, and with each of them halved and doubled, or one less and one more. The events are
valued by what the final sample would give at their probabilities, which fresh outputs tell: the largest bound to be
expected, each event having its share of the error probability. So luck in the final sample has no part in it.

Constants that decide which scores compete, and from how many outputs these learn, are not varied.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom
from suite import case_named
from suite.exact import OnePair
from suite.laws import laplace_masses
from suite.oracle import best_bound
from tables import aligned, markdown, versions

from dpaudit.auditors.blackbox.audit import sampler_of
from dpaudit.auditors.blackbox.tasks import PairTask
from dpaudit.auditors.learning import allotment, counts, selection, smoothing
from dpaudit.auditors.learning.contest import compete
from dpaudit.auditors.learning.counts import Counts, FinalTest
from dpaudit.auditors.learning.scores import scores_of
from dpaudit.auditors.learning.selection import choose_from
from dpaudit.auditors.learning.threads import one_thread
from dpaudit.auditors.outputs.forms import alike
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.statistics import best_share, bound_from_counts

SUITE = (
    "label-and-count",
    "first-number-above",
    "winner-and-gap",
    "needle-thousandth",
    "zero-inflated",
    "rappor-cohorts",
    "autoregressive-series",
    "staircase",
    "subsampled-gaussian",
    "sometimes-small-noise",
    "noisy-gradients",
    "sum-of-three",
)
"""Mechanisms of the second suite, which may be tuned on."""

POOL, SMALL_POOL, WIDE = 400_000, 100_000, 10
"""Fresh outputs per input by which events are valued; the fewer where outputs are structured, or of more numbers."""

HALF_A_HIT = 0.5
"""What stands for the occurrences of an event that no fresh output is in."""

QUANTILES = np.arange(0.1, 1, 0.2)
"""Those of the counts of an event over which its bound is averaged."""

FINE = 4000
"""Cells of the range of a number, by which the oracle values events."""

SMALL = 8
"""Whole numbers up to which one is taken away and added; larger ones are halved and doubled."""

NOTHING = 0.001
"""Change of a row below which a constant changes nothing in it."""

MOST_SHARE = 0.9
"""Parts of a whole are doubled up to this."""

NAMES = {
    counts: (
        "_THRESHOLDS",
        "_BAND_ERROR",
        "_LEAST_THRESHOLDS",
        "_MOST_TOGETHER",
        "_LEAST_SMOOTHED",
        "_LEAST_LEARNED",
        "_LEAST_CLEAR",
        "_LITTLE_AMISS",
        "_HALF_A_HIT",
        "_AS_GOOD",
        "_COMMON",
        "_CLOSE",
        "_LEAST_HITS",
    ),
    selection: (
        "_RARE",
        "_LITTLE_CAUTION",
        "_COMMON_SHARE",
        "_LEAST_COMMON",
        "_AGAINST_LEARNED",
        "_LEAST_SHARE",
        "_MORE_CAUTION",
        "_MUCH_COMMONER",
        "_WORTH_ITS_COST",
        "_WORTH_TESTING",
        "_LEAST_SEEN",
        "_LEAST_DECISIVE",
        "CHEAP_ENOUGH",
        "SHARE_OF_OTHERS",
        "_SHARE_OF_LUCK",
        "_SHARE_OF_COMMON",
        "_SHARE_OF_COUNTS",
        "MOST_CANDIDATES",
    ),
    allotment: ("_PLACES", "_WORTH", "_LEAST_HITS"),
    smoothing: ("_RAMP", "_LITTLE", "_MOST", "_UNLIKELY", "_MOST_CELLS", "_OUTERMOST", "_BALANCING_STEPS"),
}
"""Constants that are varied, by module."""

PARTS = {"_BAND_ERROR", "_COMMON_SHARE", "_LEAST_COMMON", "_LEAST_SHARE", "_SHARE_OF_COMMON"}
"""Those that are parts of a whole."""


class Noisy(OnePair):
    """A number with Laplace noise of scale 10."""

    epsilon = 0.1

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=10, size=size)


class NoisyGaussian(OnePair):
    """A number with normal noise of standard deviation 10."""

    epsilon, delta = 0.1, 1e-5

    def sample(self, data, size, rng):
        return data + rng.normal(scale=10, size=size)


class Leak(OnePair):
    """A number with Laplace noise of scale 1, but once in a thousand runs a code that gives it away."""

    leak: ClassVar = 1e-3

    def sample(self, data, size, rng):
        return np.where(rng.random(size) < self.leak, 1000.0 + data, data + rng.laplace(size=size))


def others():
    """Mechanisms of one number each, with the masses of a partition of it."""
    edges = np.linspace(-60, 61, FINE)
    normal = [np.diff(np.r_[0.0, ndtr((edges - data) / 10), 1.0]) for data in (0, 1)]
    rest, leaks = 1 - Leak.leak, ((Leak.leak, 0.0), (0.0, Leak.leak))
    leaky = [np.r_[rest * side, leak] for side, leak in zip(laplace_masses(1.0, FINE), leaks, strict=True)]
    return {
        "Laplace, epsilon 0.1": (Noisy(), laplace_masses(0.1, FINE)),
        "Gaussian, mu 0.1, delta 1e-5": (NoisyGaussian(), normal),
        "a leak, once in a thousand": (Leak(), leaky),
    }


@dataclass(frozen=True, slots=True)
class Subject:
    """What is audited, with the oracle's bound."""

    mechanism: OnePair
    oracle: Callable[[int, float], float]


def subjects():
    """All of them by name."""
    found = {name: Subject(case_named(name).mechanism, case_named(name).oracle) for name in SUITE}
    for name, (mechanism, masses) in others().items():
        found[name] = Subject(mechanism, partial(_oracle, masses, mechanism.delta))
    return found


def _oracle(masses, delta, samples, confidence):
    return best_bound(*map(np.asarray, masses), samples, confidence, delta)


@dataclass(frozen=True, slots=True)
class Contest:
    """Tables of scores that have competed, with the scores of fresh outputs in order."""

    tables: list[Counts]
    fresh: list[tuple[np.ndarray, np.ndarray]]
    test: FinalTest

    def recounted(self):
        """The same, with the thresholds counted again."""
        return replace(self, tables=[Counts.counted(table.score, table.scores) for table in self.tables])

    def value(self):
        """Bound to be expected of the events chosen."""
        chosen = choose_from(self.tables, self.test)
        shares = zip(chosen.choices, chosen.shares, strict=True)
        return max(0.0, *(self._expected(choice, self.test.alpha * share) for choice, share in shares))

    def _expected(self, choice, alpha):
        (place,) = (i for i, table in enumerate(self.tables) if table.score is choice.event.score)
        parts = []
        for side in self.fresh[place]:
            at = np.searchsorted(side, choice.event.threshold, side="left" if choice.event.above else "right")
            hits = len(side) - at if choice.event.above else at
            parts.append(max(float(hits), HALF_A_HIT) / len(side))
        p, q = parts[::-1] if choice.reverse else parts
        guarantee = self.test.guarantee
        share = best_share(guarantee, choice.p_hits, choice.q_hits, choice.rows, alpha=alpha)
        return mean_bound(guarantee, p, q, self.test.size, alpha, share)


@cache
def mean_bound(guarantee, p, q, size, alpha, share):
    """Mean of the bound by an event of these probabilities, over evenly spread quantiles of both counts.

    The normal limit, by which events are chosen, is far too low where few occurrences are expected.
    """
    of_p, of_q = (binom.ppf(QUANTILES, size, each).astype(int).tolist() for each in (p, q))
    bounds = [
        bound_from_counts(guarantee, (hits, others), (size, size), alpha=alpha, share=share)
        for hits in of_p
        for others in of_q
    ]
    return float(np.mean(np.maximum(bounds, 0.0)))


def contest(subject, samples, confidence, seed, pool):
    """Let scores compete once."""
    mechanism, (x, y) = subject.mechanism, subject.mechanism.pair
    guarantee = mechanism.claims()[0].guarantee
    task = PairTask(guarantee=guarantee, samples=samples, alpha=1 - confidence)
    budget = Budget(samples=samples, confidence=confidence)
    sampler = sampler_of(mechanism, budget, Streams(seed, ("sensitivity", mechanism.name))).about(x, y)
    sides = alike(*(sampler.draw(data, task.selection, "selection", side) for side, data in enumerate((x, y))))
    sampler.keep_form()
    x_outputs, y_outputs = map(Outputs, sides)
    tables = compete(x_outputs, y_outputs, task.test, thorough=True).tables
    fresh = [Outputs(sampler.draw(data, pool, "fresh", side)) for side, data in enumerate((x, y))]
    of_fresh = [tuple(np.sort(scores_of(table.score, side)) for side in fresh) for table in tables]
    return Contest(tables, of_fresh, task.test)


class Remembered:
    """Fits, and choices among them, that are not worked out again for equal arguments.

    Most constants change none of them, so that choosing again takes a part of the time.
    """

    def __init__(self):
        self._known = {}
        self._own = {"fitted_curve": counts.fitted_curve, "allotted": counts.allotted, "line": Counts.line}
        counts.fitted_curve = self._curve
        counts.allotted = self._allotted
        Counts.line = lambda table: self._get(("line", id(table)), table, lambda: self._own["line"](table))

    def forget(self):
        self._known.clear()

    def _get(self, key, kept, make):
        # What has a number in the key stays alive with it, so that no other object gets that number.
        if key not in self._known:
            self._known[key] = make(), kept
        return self._known[key][0]

    def _curve(self, cells, means, *, estimates):
        key = ("curve", cells.tobytes(), means.tobytes(), estimates)
        return self._get(key, None, lambda: self._own["fitted_curve"](cells, means, estimates=estimates))

    def _allotted(self, curve, both, rows, test, *, least, most):
        key = ("allotted", id(curve), tuple(both), rows, test, least, most)
        return self._get(key, curve, lambda: self._own["allotted"](curve, both, rows, test, least=least, most=most))


def variants(module, name):
    """The two other values of a constant, in ascending order."""
    value = getattr(module, name)
    if isinstance(value, int) and value <= SMALL:
        return value - 1, value + 1
    half = value // 2 if isinstance(value, int) else value / 2
    return half, min(2 * value, MOST_SHARE) if name in PARTS else 2 * value


@contextmanager
def changed(module, name, value):
    """With another value of a constant."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


@one_thread()
def measured(subject, samples, confidence, seed, pool, remembered):
    """Bound with all constants as they are, and with every other value, as parts of the oracle's."""
    oracle = subject.oracle(samples, confidence)
    remembered.forget()
    with np.errstate(over="ignore", invalid="ignore"):
        made = contest(subject, samples, confidence, seed, pool)
        found = {"as it is": made.value() / oracle}
        for module, names in NAMES.items():
            for name in names:
                for place, value in enumerate(variants(module, name)):
                    if module not in (counts, selection):
                        remembered.forget()
                    with changed(module, name, value):
                        again = made.recounted() if name == "_THRESHOLDS" else made
                        found[f"{module.__name__.rpartition('.')[2]}.{name} {place}"] = again.value() / oracle
            remembered.forget()
    return found


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=float, nargs="+", default=[2e4, 2e5], help="per input")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--confidence", type=float, default=0.9)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mechanisms alone")
    parser.add_argument("--keep", metavar="FILE", type=Path, help="keep what is measured, and go on from there")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the tables as Markdown")
    options = parser.parse_args(arguments)
    known = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else {}
    remembered, rows, seconds = Remembered(), {}, time.process_time()
    for name, subject in subjects().items():
        if options.only and name not in options.only:
            continue
        for samples in map(int, options.samples):
            for seed in range(options.seeds):
                key = f"{name}|{samples}|{options.confidence}|{seed}"
                if key not in known:
                    pool = _pool(subject)
                    known[key] = measured(subject, samples, options.confidence, seed, pool, remembered)
                    print(f"{key}: {known[key]['as it is']:.3f}", file=sys.stderr, flush=True)
                    if options.keep:
                        options.keep.write_text(json.dumps(known))
                rows.setdefault((name, samples), []).append(known[key])
    print(f"{time.process_time() - seconds:.0f} seconds of a processor", file=sys.stderr)
    means = {
        row: {key: float(np.mean([each[key] for each in found])) for key in found[0]} for row, found in rows.items()
    }
    lines = changes(means, errors(rows))
    print("\n".join(aligned(lines)))
    if options.write:
        options.write.write_text("\n".join(page(means, lines, options)) + "\n", encoding="utf-8")
    return 0


def _pool(subject):
    """How many fresh outputs value the events."""
    first = subject.mechanism.sample(subject.mechanism.pair[0], 1, np.random.default_rng(0))
    numbers = isinstance(first, np.ndarray) and first.dtype.kind in "biuf"
    return POOL if numbers and first.size <= WIDE else SMALL_POOL


def errors(rows):
    """Standard errors, by the seeds, of how much every other value changes the mean over the rows."""
    made = {}
    for key in next(iter(rows.values()))[0]:
        changes = [[each[key] - each["as it is"] for each in found] for found in rows.values()]
        variances = [np.var(each, ddof=1) / len(each) for each in changes if len(each) > 1]
        made[key] = float(np.sqrt(np.sum(variances))) / len(rows)
    return made


def changes(means, spread):
    """Lines of the table of constants, those first that change the mean most."""
    lines = []
    for module, names in NAMES.items():
        for name in names:
            key = f"{module.__name__.rpartition('.')[2]}.{name}"
            by_row = {
                (row, place): found[f"{key} {place}"] - found["as it is"]
                for row, found in means.items()
                for place in (0, 1)
            }
            of_mean = [float(np.mean([by_row[row, place] for row in means])) for place in (0, 1)]
            row, place = max(by_row, key=lambda each: abs(by_row[each]))
            most = by_row[row, place]
            values = [_short(value) for value in (getattr(module, name), *variants(module, name))]
            where = f"{row[0]}, {row[1]:,}: {most:+.3f} ({values[1 + place]})" if abs(most) >= NOTHING else "none"
            both = (f"{values[1 + i]}: {of_mean[i]:+.4f} ± {spread[f'{key} {i}']:.4f}" for i in (0, 1))
            line = (key, values[0], *both)
            lines.append((max(map(abs, of_mean)), abs(most), (*line, where)))
    lines.sort(key=lambda line: line[:2], reverse=True)
    header = ("constant", "value", "less: change of the mean", "more: change of the mean", "row of the largest change")
    return [header, *(line for *_, line in lines)]


def _short(value):
    return f"{value:g}" if isinstance(value, float) else f"{value:,}"


def page(means, lines, options):
    """Lines of the page."""
    mean = float(np.mean([found["as it is"] for found in means.values()]))
    by_row = [(name, f"{samples:,}", f"{found['as it is']:.3f}") for (name, samples), found in sorted(means.items())]
    nothing = [f"`{line[0]}`" for line in lines[1:] if line[4] == "none"]
    return [
        "# What the constants of the choice of events decide",
        "",
        f"`python benchmarks/sensitivity.py --seeds {options.seeds}` with {versions(('dpaudit', 'numpy', 'scipy'))}.",
        "",
        f"The mean of the bound to be expected over the oracle's is {mean:.3f} at {options.confidence:.0%} confidence, "
        f"over {len(means)} rows: a mechanism at a number of samples per input, each with {options.seeds} seeds. Below "
        "is how this mean changes, and the row that changes most, where a constant is halved or doubled (whole numbers "
        f"up to {SMALL}: one less or one more; parts of a whole up to {MOST_SHARE:g}). Scores have competed once, with "
        "the constants as they are. Standard errors are by the seeds; the change of a row may be that of one seed.",
        "",
        *markdown(lines),
        "",
        f"No row changed by {NOTHING:g} or more for: {', '.join(nothing) or 'none'}.",
        "",
        "## Rows, with the constants as they are",
        "",
        *markdown([("mechanism", "samples", "bound / oracle"), *by_row]),
    ]


if __name__ == "__main__":
    sys.exit(main())
