"""The comparison of Section 5: several systems on the same profiles, by the metrics of Section 5.1.3."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from dpaudit import rankings
from dpaudit.catalog.hay2017 import DPKwikSort

from .chunks import batches
from .ldp_kwiksort import LDPKwikSort, LDPKwikSortLap, LDPKwikSortRR
from .metrics import error_rate
from .profiles import profiles

METRICS: Final = {"kendall-tau": "average normalised Kendall tau distance", "error-rate": "error rate (Equation 5)"}

System = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""Estimated margins (runs, m, m) from rankings (runs, n, m), their margins (runs, m, m) and a generator."""


def estimator(protocol: LDPKwikSort) -> System:
    """One solution of LDP-KwikSort as a system."""
    return lambda orders, margins, rng: protocol.estimate([orders], rng)


def kwiksort(orders: np.ndarray, margins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """KwikSort without privacy as a system: it sees the true margins."""
    return margins


def four(response: LDPKwikSortRR, laplace: LDPKwikSortLap, central: DPKwikSort) -> dict[str, System]:
    """The four systems of Section 5."""
    return {
        "kwiksort": kwiksort,
        "dp-kwiksort": lambda orders, margins, rng: central.noisy(margins, rng),
        "ldp-kwiksort-rr": estimator(response),
        "ldp-kwiksort-lap": estimator(laplace),
    }


def compete(
    protocol: LDPKwikSort, systems: Mapping[str, System], runs: int, rng: np.random.Generator
) -> dict[str, dict[str, np.ndarray]]:
    """Both metrics of several systems, shape (runs,) each, on the same profiles: those of ``protocol``."""
    measured: dict[str, dict[str, list[np.ndarray]]] = {}
    for batch in batches(runs, protocol.agents):
        orders, margins = profiles(protocol, batch, rng)
        estimates = {name: system(orders, margins, rng) for name, system in systems.items()}
        for name, estimate in estimates.items():
            both = measured.setdefault(name, {"kendall-tau": [], "error-rate": []})
            order = protocol.aggregate(estimate, rng)
            both["kendall-tau"].append(rankings.margin_distance(order, margins, protocol.agents))
            both["error-rate"].append(error_rate(margins, estimate))
    return {name: {metric: np.concatenate(parts) for metric, parts in both.items()} for name, both in measured.items()}
