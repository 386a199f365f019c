"""Local perturbation (Section 3.3, and Section 3.5 for Laplace noise): what one agent sends."""

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from .paper import PAPER

LISTED_OUTPUTS = 1 << 16
"""Largest number of outputs, or of parts of a mixture, that a law lists."""


class Report(dpaudit.Mechanism):
    """What one agent sends: the numbers of the K pairs that it was asked about, and its K answers."""

    model = "local"
    trust = "Nobody is trusted: the adversary sees the agent's report."
    notation = (
        "an input is the agent's ranking, best first; an output names the pairs asked about, by their numbers "
        "in (0, 1), (0, 2), …, and then the answers, true ones being 1 where the first of the pair is "
        "preferred"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    queries: int = dpaudit.parameter(1, minimum=1, doc="K")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m", role="alternatives")

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    def assign(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Query assignment: K different pairs for every agent, shape (size, K)."""
        return rankings.random_subsets(self.pairs, self.queries, size, rng)

    def truths(self, orders: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """For every pair j < l asked, whether the agent prefers a_j to a_l."""
        return rankings.answers(orders, rankings.alternative_pairs(self.alternatives)[asked])

    @property
    def randomizer(self) -> randomizers.RandomizedResponse | randomizers.LaplaceNoise:
        """Local randomizer of one answer."""
        raise NotImplementedError

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.randomizer, self.queries)]

    def randomize(self, truths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Apply the local randomizer to every answer."""
        return self.randomizer.randomize(truths, rng)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        asked = self.assign(size, rng)
        truths = self.truths(np.broadcast_to(data, (size, self.alternatives)), asked)
        return np.concatenate([asked, self.randomize(truths, rng)], axis=1)

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=self._pairs,
            complete=True,
            scope=(
                f"any two rankings of {self.alternatives} alternatives; the queries treat all pairs of alternatives "
                "alike, so two rankings stand for all that order as many pairs differently"
            ),
        )

    def _pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The identity against one ranking for each possible number of pairs ordered differently."""
        identity = np.arange(self.alternatives)
        for inversions in range(1, self.pairs + 1):
            yield identity, rankings.ranking_with_inversions(self.alternatives, inversions)


class RandomizedResponseReport(Report):
    """Report of LDP-KwikSort:RR (Algorithm 1 as meant): every answer by randomized response."""

    places = (PAPER.at(section="3.3", algorithm=1),)

    @property
    def response(self) -> randomizers.RandomizedResponse:
        """p_rr = e^ϵ_k / (e^ϵ_k + 1)."""
        return randomizers.RandomizedResponse.for_epsilon(self.epsilon / self.queries)

    @property
    def randomizer(self) -> randomizers.RandomizedResponse:
        return self.response

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        if math.comb(self.pairs, self.queries) * 2**self.queries > LISTED_OUTPUTS:
            return None
        asked, replies, outputs = _outputs(self.pairs, self.queries)
        truths = self.truths(np.broadcast_to(data, (len(asked), self.alternatives)), asked)
        truthful = (truths[:, None, :] == replies[None, :, :]).sum(axis=2).ravel()
        # In terms of ϵ_k, because p_rr rounds to 1 at a large one.
        epsilon_k = self.epsilon / self.queries
        log_keep = -math.log1p(math.exp(-epsilon_k))
        log_p = self.queries * log_keep - (self.queries - truthful) * epsilon_k
        return dpaudit.FiniteLaw(outputs, log_p - math.log(len(asked)))


class LaplaceReport(Report):
    """Report of LDP-KwikSort:Lap (Algorithm 3): every answer, 0 or 1, plus Laplace noise."""

    places = (PAPER.at(section="3.5", algorithm=3),)

    @property
    def noise(self) -> randomizers.LaplaceNoise:
        """Lap(1/ϵ_k): the sensitivity of one answer is 1."""
        return randomizers.LaplaceNoise.for_epsilon(self.epsilon / self.queries, sensitivity=1.0)

    @property
    def randomizer(self) -> randomizers.LaplaceNoise:
        return self.noise

    def law(self, data: Any) -> dpaudit.PublicMixtureLaw | None:
        choices = math.comb(self.pairs, self.queries)
        if choices * self.pairs > LISTED_OUTPUTS:
            return None
        asked = np.array(list(itertools.combinations(range(self.pairs), self.queries)))
        truths = self.truths(np.broadcast_to(data, (choices, self.alternatives)), asked)
        return dpaudit.PublicMixtureLaw(
            [tuple(row) for row in asked.tolist()],
            np.full(choices, -math.log(choices)),
            [dpaudit.ProductLaw([self.noise.law(bit) for bit in row]) for row in truths],
        )


@cache
def _outputs(pairs: int, queries: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All query sets (s, K), all answers (2^K, K), and all outputs (s 2^K, 2K)."""
    asked = np.array(list(itertools.combinations(range(pairs), queries)))
    replies = np.array(list(itertools.product((0, 1), repeat=queries)))
    outputs = np.concatenate([np.repeat(asked, len(replies), axis=0), np.tile(replies, (len(asked), 1))], axis=1)
    return asked, replies, outputs
