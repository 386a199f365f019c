"""Profiles: what the local systems take, and the instances on which their utility is measured."""

from typing import Any, Literal

import numpy as np

from dpaudit import rankings

Instance = Literal["unanimous", "near-tie"]


def as_profile(data: Any) -> rankings.Profile:
    """Return a profile of one that is given, or of rankings of shape (n, m)."""
    return data if isinstance(data, rankings.Profile) else rankings.Profile.from_rankings(data)


def opposed_blocs(alternatives: int, agents: int, instance: Instance, error: float) -> rankings.Profile:
    """Return two blocs with opposite rankings, the larger one with a share of 1 (unanimous) or 1/2 + error (near-tie).

    A majority of the size of the noise costs most: a larger one is rarely missed, a smaller one costs little.
    """
    order = np.arange(alternatives)
    share = 1.0 if instance == "unanimous" else min(1.0, 0.5 + error)
    first = round(agents * share)
    counts = np.array([first, agents - first])
    return rankings.Profile(np.stack([order, order[::-1]])[counts > 0], counts[counts > 0])


def excess(orders: np.ndarray, profile: rankings.Profile) -> np.ndarray:
    """Kemeny scores of rankings (runs, m) above the least one, for two opposed blocs."""
    advantage = 2 * int(profile.counts[0]) / profile.agents - 1
    above: np.ndarray = rankings.kendall_tau(orders, profile.orders[0]) * advantage
    return above
