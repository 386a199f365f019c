"""How systems are compared: errors on the same users, and claims that one wins in most runs."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .baselines import SafariNoPrivacy, Uniform
from .marginals import second_order_marginals, variation_distances
from .ranking_oracles import RankingGrr, RankingOlh, RankingOracle, RankingRappor, RankingSh
from .safari import Safari
from .synthesis import Synthesis

FLAT: dict[str, type[RankingOracle]] = {each.name: each for each in (RankingGrr, RankingRappor, RankingSh, RankingOlh)}
"""The flat baselines of Section IV-A."""

RANDOM_CHAIN, FIXED_CHAIN = "random chain", "fixed chain"
"""SAFARI with a chain that takes no data, and all of ε for the rest."""

NOISELESS_RANDOM, NOISELESS_FIXED = "random chain without noise", "fixed chain without noise"
"""The same without privacy."""

CLOSE = 0.05
"""What "close" and "agree" are taken to mean: a variation distance of at most this."""


def setting(at: Synthesis) -> str:
    """Parameters of a comparison in words."""
    whose = "the data" if at.profile is not None else f"{at.users} users, phi = {at.dispersion:g}"
    return (
        f"{whose}, n = {at.agents}, d = {at.items}, K = {at.thin}, ε = {at.epsilon:g}, "
        f"negative estimates: {at.postprocess}"
    )


def system(name: str, at: Synthesis) -> Synthesis:
    """System that synthesises rankings, by name, at the parameters of another."""
    if name in (RANDOM_CHAIN, FIXED_CHAIN):
        return Safari(**{**at.parameters(), "chain": name.partition(" ")[0]})
    if name in (NOISELESS_RANDOM, NOISELESS_FIXED):
        return SafariNoPrivacy(**{**at.parameters(), "chain": name.partition(" ")[0]})
    kinds: dict[str, type[Synthesis]] = {each.name: each for each in (Safari, SafariNoPrivacy, Uniform)}
    return kinds[name](**at.parameters())


def errors(at: Synthesis, orders: np.ndarray, systems: Sequence[str], rng: np.random.Generator) -> dict[str, float]:
    """Average variation distance of second-order marginals, cut at 1, of systems by name, all on the same users."""
    truth = second_order_marginals(orders)
    counts = np.bincount(rankings.ranking_index(orders), minlength=math.factorial(at.items))
    found = {}
    for name in systems:
        if name in FLAT:
            flat = FLAT[name](epsilon=at.epsilon, items=at.items, agents=at.agents, postprocess=at.postprocess)
            marginals = flat.marginals(counts, rng)
        else:
            marginals = second_order_marginals(system(name, at).synthesise(orders, rng))
        found[name] = min(1.0, float(variation_distances(marginals, truth, 2).mean()))
    return found


def repeated(
    at: Synthesis, once: Callable[[np.ndarray, np.random.Generator], Mapping[str, Any]]
) -> Callable[[int, np.random.Generator], Mapping[str, np.ndarray]]:
    """Measurement that repeats one run, each time on new users."""

    def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        found = [once(at.draw(rng), rng) for _ in range(runs)]
        return {name: np.array([run[name] for run in found]) for name in found[0]}

    return measure


def most_runs(
    at: Synthesis,
    once: Callable[[np.ndarray, np.random.Generator], Mapping[str, Any]],
    quantity: str,
    **more: Any,
) -> dpaudit.UtilityClaim:
    """Claim that the value of one run is true with probability at least 1/2, the numbers of the run for comparison."""
    claim: dict[str, Any] = {"scope": setting(at), **more}
    return dpaudit.UtilityClaim(
        bound=0.5,
        direction="at-least",
        measure=repeated(at, once),
        runs=100,
        quantity=f"share of the runs; beside it {quantity}",
        **claim,
    )


def wins(
    at: Synthesis,
    won: Callable[[Mapping[str, float]], bool],
    systems: Sequence[str],
    *,
    inapplicable: str = "",
) -> dpaudit.UtilityClaim:
    """Claim that a condition on the errors of systems holds with probability at least 1/2."""

    def once(orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        found = errors(at, orders, systems, rng)
        return {"value": bool(won(found)), **found}

    quantity = "the average variation distances of second-order marginals, cut at 1"
    return most_runs(at, once, quantity, inapplicable=inapplicable)
