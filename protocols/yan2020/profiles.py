"""Profiles that the utility claims and the experiments are about: of the Mallows model, or real ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpaudit import rankings

from .chunks import agent_counts
from .ldp_kwiksort import LDPKwikSort
from .metrics import profile_margins


def draw(protocol: LDPKwikSort, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, Iterator[np.ndarray]]:
    """Draw Mallows profiles: ground truths (runs, m) and chunks of rankings (runs, agents of the chunk, m)."""
    identity = np.arange(protocol.alternatives)
    centres = np.tile(identity, (runs, 1))
    if protocol.centre == "random":
        centres = rng.permuted(centres, axis=1)
    model = rankings.Mallows(identity, protocol.phi)

    def chunks() -> Iterator[np.ndarray]:
        for agents in agent_counts(protocol.agents):
            orders = model.sample(runs * agents, rng).reshape(runs, -1)
            yield np.take_along_axis(centres, orders, axis=1).reshape(runs, agents, -1)

    return centres, chunks()


def run(protocol: LDPKwikSort, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run the protocol on Mallows profiles.

    Returns the estimated margins, the profiles' margins and the ground truths', each of shape (runs, m, m).
    """
    centres, chunks = draw(protocol, runs, rng)
    majority: Any = 0

    def counted() -> Iterator[np.ndarray]:
        nonlocal majority
        for chunk in chunks:
            majority = majority + _margins(chunk)
            yield chunk

    estimate = protocol.estimate(counted(), rng)
    return estimate, majority, _margins(centres[:, None])


def profiles(protocol: LDPKwikSort, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rankings (runs, n, m) and margins (runs, m, m): Mallows profiles, or the data under new labels in every run.

    The labels are new so that their order is no help to an aggregation that ignores its input.
    """
    if protocol.profile is None:
        orders = np.concatenate(list(draw(protocol, runs, rng)[1]), axis=1)
        return orders, _margins(orders)
    orders = protocol.profile.rankings()
    labels = rng.permuted(np.tile(np.arange(protocol.alternatives), (runs, 1)), axis=1)
    new = rankings.positions(labels)
    return labels[:, orders], _margins(orders[None])[0][new[:, :, None], new[:, None, :]]


def setting(protocol: LDPKwikSort) -> str:
    """The Mallows profiles and the number of queries in words."""
    return (
        f"Mallows model with phi {protocol.phi:.6g} and a {protocol.centre} centre, n = {protocol.agents}, "
        f"m = {protocol.alternatives}, K = {protocol.asked}"
    )


def _margins(orders: np.ndarray) -> np.ndarray:
    """Margins (runs, m, m) of profiles of shape (runs, n, m), as the estimates' numbers are."""
    return profile_margins(orders).astype(float)
