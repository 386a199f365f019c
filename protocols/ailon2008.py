"""KwikSort: the rank aggregation without privacy that the private protocols start from.

Source: Ailon, Charikar, Newman, "Aggregating inconsistent information: ranking and clustering", J. ACM 55(5), 2008.

The claims about it are made by papers that build on it, and are declared there.
"""

from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

PAPER = dpaudit.Paper(
    key="ailon2008",
    title="Aggregating inconsistent information: ranking and clustering",
    authors=("Ailon", "Charikar", "Newman"),
    year=2008,
    venue="Journal of the ACM 55(5)",
    doi="10.1145/1411509.1411513",
)


class KwikSort(dpaudit.Mechanism):
    """KwikSort on the majority of every pair: a non-private baseline."""

    name = "kwiksort"
    places = (PAPER.at(),)
    model = "none"
    trust = "The curator sees every ranking; nothing is randomized but the pivots and the placement of ties."

    alternatives: int = dpaudit.parameter(5, minimum=2, maximum=12, doc="m, largest number searched")
    agents: int = dpaudit.parameter(7, minimum=1, doc="n, largest number searched")

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``."""
        margins = rankings.margins(rankings.pairwise_counts(data))
        return rankings.kwiksort(rankings.comparisons(margins, rng, size), rng)
