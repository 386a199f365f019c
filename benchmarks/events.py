"""How much of the oracle's bound the chosen events reach, as samples grow, for noise whose probabilities are known.

For each mechanism and number of samples, events are chosen from the samples that an audit would choose from, and
valued by their exact probabilities: the bound to be expected of the final sample, over the oracle's. So luck in the
final sample has no part in it. The oracle has all samples, and two Clopper-Pearson bounds, which the auditor's own
bound on the ratio can beat.
"""

import argparse
import math
from dataclasses import dataclass

import numpy as np
from scipy import stats
from suite.oracle import clopper_pearson_bound

from dpaudit.auditors.blackbox.tasks import PairTask
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.scores import ColumnScore
from dpaudit.auditors.learning.selection import select_events
from dpaudit.claims.guarantees import ApproximateDP

CELLS = 400_000
"""Equally likely parts of the range of continuous noise by which an event without a formula is valued."""

FARTHEST = 1e-9
"""Probability that is left out on either side of discrete noise."""


@dataclass(frozen=True)
class Noise:
    """A number with noise, on two inputs that are 1 apart."""

    name: str
    law: object
    delta: float = 0.0

    def sample(self, data, size, rng):
        return self.law.rvs(size=size, random_state=rng) + data

    def tail(self, data, threshold, *, above):
        """Probability of at least, or at most, a threshold."""
        at = np.asarray(threshold, float) - data
        if self.discrete:
            return self.law.sf(np.ceil(at) - 1) if above else self.law.cdf(np.floor(at))
        return self.law.sf(at) if above else self.law.cdf(at)

    def farther(self, data, distance):
        """Probability of at least a distance from 0."""
        return self.tail(data, distance, above=True) + self.tail(data, -distance, above=False)

    def around(self, data, centre, distance, *, above):
        """Probability of a distance from a centre of at least, or at most, so much."""
        if above:
            return self.tail(data, centre + distance, above=True) + self.tail(data, centre - distance, above=False)
        beyond = np.nextafter(centre + distance, np.inf), np.nextafter(centre - distance, -np.inf)
        return 1 - self.tail(data, beyond[0], above=True) - self.tail(data, beyond[1], above=False)

    @property
    def discrete(self):
        return isinstance(self.law.dist, stats.rv_discrete)

    def of_event(self, contains):
        """Probabilities on both inputs of an event that is no half-line, from all of the range."""
        if self.discrete:
            low, high = self.law.ppf(FARTHEST), self.law.ppf(1 - FARTHEST) + 1
            outputs = np.arange(low, high + 1)
            parts = [self.law.pmf(outputs - data) for data in (0, 1)]
        else:
            edges = self.law.ppf(np.arange(CELLS + 1) / CELLS)
            outputs = self.law.ppf((np.arange(CELLS) + 0.5) / CELLS)
            parts = [np.diff(self.tail(data, edges, above=False)) for data in (0, 1)]
        inside = contains(outputs)
        return tuple(float(part[inside].sum()) for part in parts)

    def oracle(self, samples, confidence):
        low, high = self.law.ppf(1e-7), self.law.ppf(1 - 1e-7) + 1
        grid = np.arange(math.floor(low), math.ceil(high)) if self.discrete else np.linspace(low, high, 4001)
        best = 0.0
        for above in (True, False):
            p, q = (self.tail(data, grid, above=above) for data in (0, 1))
            for pair in ((p, q), (q, p)):
                best = max(best, float(clopper_pearson_bound(*pair, samples, 1 - confidence, self.delta).max()))
        return best


class Wider(Noise):
    """Noise that is wider by a part ``level`` on the second input."""

    level = 0.1

    def sample(self, data, size, rng):
        return super().sample(0, size, rng) * (1 + self.level * data)

    def tail(self, data, threshold, *, above):
        return super().tail(0, np.asarray(threshold, float) / (1 + self.level * data), above=above)

    def oracle(self, samples, confidence):
        distances = np.linspace(0, self.law.ppf(1 - 1e-7), 4001)
        q, p = (self.farther(data, distances) for data in (0, 1))
        both = [(p, q), (1 - q, 1 - p)]
        return max(float(clopper_pearson_bound(*pair, samples, 1 - confidence, self.delta).max()) for pair in both)


def others():
    """Noise of other shapes, of which one is skewed, and noise of two widths."""
    for law in ("logistic", "t", "gumbel_r", "gennorm"):
        shape = {"t": [3], "gennorm": [0.7]}.get(law, [])
        yield Noise(" ".join(map(str, [law, *shape, "of scale 10"])), getattr(stats, law)(*shape, scale=10))
    for law in ("norm", "laplace"):
        yield Wider(f"{law}, wider by a tenth, delta 1e-5", getattr(stats, law)(), 1e-5)


def mechanisms():
    """Laplace, two-sided geometric and Gaussian noise at three levels of privacy."""
    for epsilon in (0.01, 0.1, 1.0):
        yield Noise(f"Laplace, epsilon {epsilon}", stats.laplace(scale=1 / epsilon))
        yield Noise(f"geometric, epsilon {epsilon}", stats.dlaplace(epsilon))
        yield Noise(f"Gaussian, mu {epsilon}, delta 1e-5", stats.norm(scale=1 / epsilon), 1e-5)


def reached(noise, samples, confidence, seed):
    """Expected bound of the best of the events chosen."""
    rng = np.random.default_rng([seed, samples])
    guarantee = ApproximateDP(0.0, noise.delta)
    task = PairTask(guarantee=guarantee, samples=samples, alpha=1 - confidence)
    x, y = (noise.sample(data, task.selection, rng) for data in (0, 1))
    final = samples - task.selection
    selection = select_events(x, y, FinalTest(guarantee, final, 1 - confidence))
    return max(
        _value(noise, choice, final, (1 - confidence) * share)
        for choice, share in zip(selection.choices, selection.shares, strict=True)
    )


def _value(noise, choice, final, alpha):
    event = choice.event
    if isinstance(event.score, ColumnScore) and event.score.centre is None:
        p, q = (float(noise.tail(data, event.threshold, above=event.above)) for data in (0, 1))
    elif isinstance(event.score, ColumnScore) and not noise.discrete:
        centre = event.score.centre
        p, q = (float(noise.around(data, centre, event.threshold, above=event.above)) for data in (0, 1))
    else:
        p, q = noise.of_event(event.contains)
    if choice.reverse:
        p, q = q, p
    hits = [np.array([max(part * final, 1e-3)]) for part in (p, q)]
    return max(float(ApproximateDP(0.0, noise.delta).expected(*hits, final, alpha)[0]), 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=float, nargs="+", default=[1e4, 1e5, 1e6, 1e7, 1e8])
    parser.add_argument("--seeds", type=int, default=50, help="at up to 10^7 samples; a quarter of them at more")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--confidence", type=float, default=0.9)
    parser.add_argument("--others", action="store_true", help="noise of other shapes, and of two widths")
    options = parser.parse_args()
    print("| noise | samples | seeds | oracle | mean | worst |\n|---|---:|---:|---:|---:|---:|")
    for noise in others() if options.others else mechanisms():
        for samples in map(int, options.samples):
            oracle = noise.oracle(samples, options.confidence)
            if oracle <= 0:
                continue
            first = options.first_seed
            seeds = options.seeds if samples <= 1e7 else max(1, options.seeds // 4)
            ratios = [
                reached(noise, samples, options.confidence, seed) / oracle for seed in range(first, first + seeds)
            ]
            cells = (
                noise.name,
                f"{samples:.0e}",
                seeds,
                f"{oracle:.5f}",
                f"{np.mean(ratios):.3f}",
                f"{min(ratios):.3f}",
            )
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
