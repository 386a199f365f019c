"""Reports of all comparisons of one agent: the vector mechanism, and randomized response on every entry."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

FEW_ENTRIES = 12
"""Most entries of a report that a black-box audit looks at one by one."""

Ties = Literal["split", "both"]


class VectorReport(dpaudit.Mechanism):
    """What one agent sends: its C(m, 2) comparisons, as one corner of the cube."""

    notation = (
        "an input is the agent's ranking, best first; an output says for each pair (0, 1), (0, 2), … whether "
        "the first is preferred, 1 or 0"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    alternatives: int = dpaudit.parameter(4, minimum=2, role="alternatives", doc="m")
    ties: Ties = dpaudit.parameter(
        "split", doc="reports that agree in exactly half of the entries: as meant, or printed"
    )

    @property
    def pairs(self) -> int:
        """Number of entries, C(m, 2)."""
        return math.comb(self.alternatives, 2)

    @property
    def response(self) -> randomizers.HypercubeResponse:
        """The vector mechanism, whose reports have entries ±B."""
        return randomizers.HypercubeResponse(self.pairs, self.epsilon, self.ties)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.response)]

    def truths(self, orders: np.ndarray) -> np.ndarray:
        """Whether the agent prefers j to l, for every pair j < l."""
        return rankings.answers(orders, rankings.alternative_pairs(self.alternatives))

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        truth = self.truths(np.atleast_2d(data))
        return self.response.randomize(np.broadcast_to(truth, (size, self.pairs)), rng).astype(np.int8)

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """Return, where there are many entries, how many are 1 and how many comparisons each alternative wins."""
        if self.pairs <= FEW_ENTRIES:
            return outputs
        first = np.eye(self.alternatives)[rankings.alternative_pairs(self.alternatives)]
        wins = outputs @ (first[:, 0] - first[:, 1])
        return np.concatenate([outputs.sum(axis=1, keepdims=True), wins], axis=1)

    def law(self, data: Any) -> dpaudit.Law:
        return self.response.law(self.truths(np.atleast_2d(data))[0])

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        return self.response.log_likelihood(outputs, self.truths(np.atleast_2d(data))[0])

    def tally(self, truths: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw how many agents report a preference for j to l, for every pair j < l."""
        return self.response.tally(truths, counts, rng)

    def error(self, agents: float) -> float:
        """Root mean squared error of an estimated w_jl, the same for every w_jl: an entry's square is always B^2."""
        return math.sqrt(self.response.variance(agents)) / agents

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=lambda: _by_inversions(self.alternatives),
            complete=True,
            scope=(
                f"any two rankings of {self.alternatives} alternatives; all entries and both signs are treated "
                "alike, so two rankings stand for all that order as many pairs differently"
            ),
        )


class EntrywiseReport(VectorReport):
    """What one agent sends where every comparison is randomized on its own, at ϵ / C(m, 2)."""

    @property
    def coin(self) -> randomizers.RandomizedResponse:
        """Randomized response of one entry."""
        return randomizers.RandomizedResponse.for_epsilon(self.epsilon / self.pairs)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.coin, self.pairs)]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        truth = self.truths(np.atleast_2d(data))
        return self.coin.randomize(np.broadcast_to(truth, (size, self.pairs)), rng).astype(np.int8)

    def law(self, data: Any) -> dpaudit.Law:
        laws = [self.coin.law(False), self.coin.law(True)]
        return dpaudit.ProductLaw([laws[int(bit)] for bit in self.truths(np.atleast_2d(data))[0]])

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        kept = np.count_nonzero(outputs == self.truths(np.atleast_2d(data)), axis=1)
        log_p: np.ndarray = kept * math.log(self.coin.keep) + (self.pairs - kept) * math.log(self.coin.flip)
        return log_p

    def tally(self, truths: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        true = counts @ truths
        return self.coin.count_ones([True, False], [true, counts.sum() - true], rng)

    def error(self, agents: float) -> float:
        """Root mean squared error of an estimated w_jl, with 1 / tanh(ϵ / 2 C(m, 2)) in place of B."""
        return math.sqrt((math.tanh(self.epsilon / self.pairs / 2) ** -2 - 1) / 4 / agents)


def _by_inversions(alternatives: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pair the identity with one ranking for each possible number of pairs ordered differently."""
    identity = np.arange(alternatives)
    for inversions in range(1, math.comb(alternatives, 2) + 1):
        yield identity, rankings.ranking_with_inversions(alternatives, inversions)
