"""Reduction I in the local model (Theorem 8, Corollary 9): every agent reports all its comparisons.

Symbols: epsilon is the paper's ϵ, alternatives m, agents n, pairs C(m, 2); w_jl is the share of the agents who prefer
j to l.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.duchi2013 import TIES, VECTOR_MECHANISM

from .paper import FACT_2, LOCAL, PAPER
from .profiles import Instance, as_profile
from .vector import EntrywiseReport, VectorReport

AGENT_CHUNK = 1 << 17
LISTED_ALTERNATIVES = 6
"""Most alternatives whose rankings are all listed to find one of least cost."""


class LocalPairwise(dpaudit.Mechanism):
    """Reduction I in the local model: every agent reports all its comparisons, and the estimate is aggregated."""

    name = "local-pairwise"
    places = (
        PAPER.at(section=LOCAL, theorem=8),
        PAPER.at(section=LOCAL, corollary=9),
        VECTOR_MECHANISM,
    )
    trust = "Nobody is trusted: every agent randomizes its comparisons, and the curator sees only those."
    model = "local"
    errata = (TIES, FACT_2)

    epsilon: float = dpaudit.parameter(1.0, maximum=1e6, doc="ϵ, the budget of one agent")
    alternatives: int = dpaudit.parameter(4, minimum=2, role="alternatives", doc="m")
    agents: int = dpaudit.parameter(10_000, minimum=1, role="agents", doc="n, for the utility claims")
    randomizer: Literal["vector", "entrywise"] = dpaudit.parameter(
        "vector", doc="the vector mechanism, or randomized response on every entry at ϵ / C(m, 2)"
    )
    instance: Instance = dpaudit.parameter(
        "near-tie", doc="for the utility claims: all agents alike, or a majority of the size of the noise"
    )

    @property
    def report(self) -> VectorReport:
        """What one agent sends."""
        return self.reports()[self._sent]

    @property
    def _sent(self) -> str:
        return "report" if self.randomizer == "vector" else "entrywise-report"

    def reports(self) -> dict[str, VectorReport]:
        """What one agent sends by either randomizer, and by the vector mechanism as it was published."""
        shared: dict[str, Any] = {"epsilon": self.epsilon, "alternatives": self.alternatives}
        return {
            "report": VectorReport(**shared),
            "printed-report": VectorReport(**shared, ties="both"),
            "entrywise-report": EntrywiseReport(**shared),
        }

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, **self.reports()}

    def transcript(self) -> dpaudit.Transcript:
        one = np.arange(self.alternatives)[None]
        return dpaudit.Transcript(view=self._sent, inputs=[one, one[:, ::-1]], runs=4)

    def reported(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw how many agents report that they prefer j to l, for every pair j < l; shape (size, C(m, 2))."""
        profile = as_profile(data)
        report = self.report
        ones = np.zeros((size, report.pairs), dtype=np.int64)
        for start in range(0, len(profile.orders), AGENT_CHUNK):
            piece = slice(start, start + AGENT_CHUNK)
            truths = report.truths(profile.orders[piece])
            for run in range(size):
                ones[run] += report.tally(truths, profile.counts[piece], rng)
        return ones

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``.

        The unbiased estimate of w_jl is an increasing affine function of the count of reports, the same one for every
        pair. The two therefore have the same Kemeny rankings, and an exact one needs no weights between 0 and 1.
        """
        profile = as_profile(data)
        return kemeny_of_reports(self.reported(profile, size, rng), profile.agents, self.alternatives, rng)


def kemeny_of_reports(ones: np.ndarray, agents: int, alternatives: int, rng: np.random.Generator) -> np.ndarray:
    """Kemeny rankings (runs, m) from the numbers of agents (runs, C(m, 2)) who are said to prefer j to l, j < l."""
    if alternatives <= LISTED_ALTERNATIVES:
        every = rankings.all_rankings(alternatives)
        in_order = rankings.answers(every, rankings.alternative_pairs(alternatives))
        agreeing = (2 * ones - agents) @ in_order.T
        # The noise is less than the difference of two counts, so that only equal ones are decided at random.
        best: np.ndarray = every[np.argmax(agreeing + rng.random(agreeing.shape) / 2, axis=1)]
        return best
    counts = np.zeros((len(ones), alternatives, alternatives), dtype=np.int64)
    j, l = np.triu_indices(alternatives, k=1)  # noqa: E741 - the paper's index
    counts[:, j, l], counts[:, l, j] = ones, agents - ones
    return np.array([rankings.kemeny(table).ranking for table in counts])
