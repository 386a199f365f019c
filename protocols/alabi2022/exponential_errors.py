"""Errors of the exponential mechanism over all rankings: the profiles of the utility claims, and bounds on them.

Symbols: C = m (m - 1) / 2 is the number of pairs of alternatives, and β the mechanism's price of one disagreement.
"""

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.hay2017 import KemenyExponential

_LISTED_PROFILES = 5_000
_SPLITS = 120


def additive_error(system: KemenyExponential) -> float:
    """Largest of E[K(σ, Π)] - OPT(Π) over the profiles of the system's instance."""
    return float(max(system.gibbs(counts).expected_excess for counts in instance_counts(system)) / system.agents)


def instance_counts(system: KemenyExponential) -> Iterator[np.ndarray]:
    """Pairwise counts of the profiles of the system's instance."""
    m, n = system.alternatives, system.agents
    ahead = np.triu(np.ones((m, m), dtype=np.int64), k=1)
    if system.instance == "unanimous":
        yield n * ahead
    elif system.instance == "split":
        majority, _ = worst_split(m, n, system.beta)
        yield majority * ahead + (n - majority) * ahead.T
    elif system.instance == "cycle":
        rotations = (np.arange(m) + np.arange(min(m, n))[:, None]) % m
        shares = (n + np.arange(len(rotations))[::-1]) // len(rotations)
        yield rankings.pairwise_counts(rankings.Profile(rotations, shares))
    elif system.instance == "graded":
        margins = graded_margins(system) * ahead
        yield (n * (ahead + ahead.T) + margins - margins.T) // 2
    else:
        yield from _all_profiles(m, n)


def graded_margins(system: KemenyExponential) -> np.ndarray:
    """Margins a / (β |j - l|), rounded to the parity of n, that some profile of n agents has; a is about 1.4.

    Two agents can give any one pair a margin of 2 and all others 0 (McGarvey 1953), so margins that add up to n or
    less can be had.
    """
    m, n = system.alternatives, system.agents
    items = np.arange(m)
    distance = np.maximum(np.abs(items[:, None] - items), 1)
    total = np.triu(1 / distance, k=1).sum()
    # An odd agent gives every pair a margin of 1, and rounding up adds at most 1 to each.
    scale = min(1.4 / system.beta, max(0.0, (n - 1 - 2 * system.pairs) / total))
    margins: np.ndarray = n % 2 + 2 * np.rint(scale / distance / 2).astype(np.int64)
    return margins


def worst_split(alternatives: int, agents: int, beta: float) -> tuple[int, float]:
    """Size of the larger of two opposed blocs at which the error is largest, of about a hundred sizes, and that error.

    Where all margins are one number g, the law is a Mallows model with exp(-β g), and a disagreement with it costs g.
    """

    def error(margin: int) -> float:
        model = rankings.Mallows(np.arange(alternatives), math.exp(-beta * margin))
        return margin * model.expected_distance() / agents

    less = np.unique(np.floor((agents - np.geomspace(1, agents, _SPLITS)) / 2).astype(int))
    margin = max((agents - 2 * less).tolist(), key=error)
    return (agents + margin) // 2, error(margin)


def printed_bound(system: KemenyExponential) -> float:
    """m^3 log m / (ϵ n)."""
    return float(system.alternatives**3 * math.log(system.alternatives) / (system.epsilon * system.agents))


def entropy_bound(system: KemenyExponential) -> float:
    """Entropy of the uniform law over the price: log m! / (β n)."""
    return float(math.lgamma(system.alternatives + 1) / (system.beta * system.agents))


def block_bound(system: KemenyExponential) -> float:
    """Least of (log m! - H_s) / (β n) + E_s over s, for rankings that are shuffled within blocks of s items."""
    m = system.alternatives

    def bound(s: int) -> float:
        blocks, rest = divmod(m, s)
        entropy = blocks * math.lgamma(s + 1) + math.lgamma(rest + 1)
        excess = (blocks * math.comb(s, 2) + math.comb(rest, 2)) / 2
        return float((math.lgamma(m + 1) - entropy) / (system.beta * system.agents) + excess)

    return min(bound(s) for s in range(1, m + 1))


def _all_profiles(alternatives: int, agents: int) -> Iterator[np.ndarray]:
    """Pairwise counts of all profiles, up to the names of the alternatives."""
    every = rankings.all_rankings(alternatives)
    number = math.comb(len(every) + agents - 2, agents - 1)
    if number > _LISTED_PROFILES:
        raise dpaudit.ParameterError(
            f"kemeny-exponential: the instance 'every' means {number} profiles of {agents} agents over {alternatives} "
            f"alternatives; take fewer of them, for at most {_LISTED_PROFILES} profiles"
        )
    for others in combinations_with_replacement(range(len(every)), agents - 1):
        yield rankings.pairwise_counts(every[[0, *others]])
