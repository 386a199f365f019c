"""Paired runs: protocols that are compared meet the same agents, the same noise, and its opposite.

The distances of Figures 2 to 4 differ by thousandths while each varies by hundredths from run to run. So runs share all
that they may: agents, pivots, ties, which questions are asked, and the draws behind the noise (common random numbers);
and every run is the mean over its noise and the opposite noise (antithetic variates). No expectation changes by that.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpaudit import rankings

from .collection import Votes, cast, collect, true_margins, truths
from .ddp_helnaksort import DDPHelnaksort

REPEATS = 8
"""Ways to draw pivots and break ties over which a distance is averaged in every run."""

Curve = Callable[[Votes, np.ndarray, np.random.Generator], np.ndarray]
"""Average Kendall tau distance in every run, from votes and true answers."""


def opposite(votes: Votes, preferred: np.ndarray, response: Any, rng: np.random.Generator) -> Votes:
    """Votes of the same law, with the opposite noise.

    A true answer with probability p may be taken as forced with probability 2p - 1, and else as a fair coin; the
    opposite vote is the same where it was forced, and the other side of the coin elsewhere.
    """
    truth = math.exp(response.law(1).log_probabilities[1])
    right = (votes.values > 0) == preferred
    forced = right & (rng.random(votes.values.shape) < max(0.0, 2 * truth - 1) / truth)
    # These votes stand in for others and are not sent as well, so that they enter no ledger.
    return Votes(np.where(forced, votes.values, -votes.values))


def paired(
    protocol: DDPHelnaksort, runs: int, rng: np.random.Generator, curves: Mapping[str, tuple[Any, Curve]]
) -> dict[str, np.ndarray]:
    """Measure several curves on the same runs.

    Parameters
    ----------
    protocol
        Says who the agents are.
    runs, rng
        Number of runs, and the generator.
    curves
        By name, the randomizer of one answer, and what makes a distance of the votes.
    """
    preferred = truths(protocol.electorates(runs, rng))
    noise, other_noise, rest = (int(seed) for seed in rng.integers(2**63, size=3))
    drawn: dict[Any, tuple[Votes, Votes]] = {}
    found = {}
    for name, (response, curve) in curves.items():
        if response not in drawn:
            votes = cast(preferred, response, np.random.default_rng(noise))
            drawn[response] = votes, opposite(votes, preferred, response, np.random.default_rng(other_noise))
        distances = [curve(each, preferred, np.random.default_rng(rest)) for each in drawn[response]]
        found[name] = (distances[0] + distances[1]) / 2
    return found


def by_levels(queries: int) -> Curve:
    """DDP-Helnaksort with K questions to every agent."""
    return lambda votes, preferred, rng: mean_distance(
        lambda margins: rankings.hierarchical(margins, rng), collect(votes, queries, rng), preferred
    )


def by_pivots(queries: int) -> Curve:
    """LDP-KwikSort with K questions to every agent."""
    return lambda votes, preferred, rng: mean_distance(
        lambda margins: rankings.kwiksort(rankings.comparisons(margins, rng), rng),
        collect(votes, queries, rng),
        preferred,
    )


def mean_distance(
    aggregate: Callable[[np.ndarray], np.ndarray], received: np.ndarray, preferred: np.ndarray
) -> np.ndarray:
    """Average Kendall tau distance in every run, in the mean over several ways to draw pivots and break ties."""
    orders = aggregate(np.repeat(received, REPEATS, axis=0))
    margins = np.repeat(true_margins(preferred), REPEATS, axis=0)
    distances = rankings.margin_distance(orders, margins, preferred.shape[1])
    return np.asarray(distances.reshape(-1, REPEATS).mean(axis=1))
