"""LDP-QuickSort (Section 4.1.2), the paper's second baseline: QuickSort that asks the agents when it compares."""

from collections.abc import Mapping
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .collection import Answers, Report, Voters, Votes, alternatives_of, cast, orders_of, truths
from .paper import BASELINE_ERRATA, PAPER


class LDPQuickSort(Answers, Voters):
    """LDP-QuickSort, the paper's second baseline: QuickSort that asks the agents when it compares."""

    queries: int = dpaudit.parameter(1, minimum=1, doc="K, answers of one agent")

    name = "ldp-quicksort"
    places = (PAPER.at(section="4.1.2"),)
    model = "local"
    trust = "Nobody is trusted: every agent randomizes its own answers, and the curator sees only those."
    errata = BASELINE_ERRATA

    @property
    def report(self) -> Report:
        """What one agent sends."""
        return Report(epsilon=self.epsilon, delta=self.delta, queries=self.queries, randomizer=self.randomizer)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def transcript(self) -> dpaudit.Transcript:
        # An agent that is not drawn often enough sends fewer answers than it might.
        return dpaudit.Transcript(view="report", inputs=self.lone_voters(), at_most=True)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate the rankings of a profile of shape (n, m), or of a ``Profile``, in ``size`` runs."""
        votes = cast(truths(orders_of(data, size)), self.report.response, rng)
        return quicksort(votes, self.queries, rng)


def quicksort(votes: Votes, queries: int, rng: np.random.Generator) -> np.ndarray:
    """Sort by QuickSort, which asks the agents for each comparison when it makes it; rankings of shape (runs, m).

    An agent answers a comparison with probability K over the expected number of comparisons that QuickSort makes, until
    it has answered K times.
    """
    runs, agents, pairs = votes.values.shape
    m = alternatives_of(pairs)
    chance = min(1.0, queries / rankings.quicksort_expected_comparisons(m))
    left = np.full((runs, agents), queries)
    pivots = rng.permuted(np.tile(np.arange(m), (runs, 1)), axis=1)
    start = np.zeros((runs, m), dtype=int)
    run = np.arange(runs)
    for pivot in pivots.T:
        base = start[run, pivot]
        block = start == base[:, None]
        block[run, pivot] = False
        margins = np.zeros((runs, m))
        for item in range(m):
            compared = np.flatnonzero(block[:, item])
            against = pivot[compared]
            answering = (left[compared] > 0) & (rng.random((len(compared), agents)) < chance)
            question = rankings.pair_index(np.minimum(item, against), np.maximum(item, against), m)
            answers = votes.values[compared, :, question] * np.where(item < against, 1.0, -1.0)[:, None]
            votes.drawn.sent(np.count_nonzero(answering))
            margins[compared, item] = np.where(answering, answers, 0.0).sum(axis=1)
            left[compared] -= answering
        before = block & ((margins > 0) | ((margins == 0) & (rng.random((runs, m)) < 0.5)))
        place = base + np.count_nonzero(before, axis=1)
        start = np.where(block & ~before, place[:, None] + 1, start)
        start[run, pivot] = place
    return rankings.positions(start)
