"""SAFARI (Section III-A): both phases as one user sees them, and the collector's five phases."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from .paper import NEGATIVE_ESTIMATES, PAPER, RANKS, SECOND_ORDER, SPLIT_OBJECTIVE
from .riffle import Chain, all_chains, chain_in_order
from .rule_one import rule_one, rule_one_sizes, triplets
from .synthesis import Synthesis

LISTED_ITEMS = 4
"""Most items with which all chains, and all pairs of rankings, are listed."""


class SafariReport(dpaudit.Mechanism):
    """What one user sends in both phases, and the chain that the collector broadcasts in between.

    The collector may make the chain from the first report in any way. Here it is drawn uniformly, so that every chain
    occurs together with every first report, and the largest ratio is that of the worst collector. With more than four
    items it is the chain in the order of the labels; all chains are alike up to them.
    """

    notation = (
        "an input is the user's ranking, best first; an output is the triplet asked for and the value "
        "reported, the chain broadcast, and the split asked for and the value reported"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ε, the budget of both phases")
    items: int = dpaudit.parameter(3, minimum=3, maximum=10, role="alternatives", doc="d")
    thin: int = dpaudit.parameter(1, minimum=1, maximum=6, doc="K")
    learned: bool = dpaudit.parameter(True, doc="whether there is a first phase, with half of the budget")

    @property
    def chains(self) -> list[Chain]:
        """Chains that the collector may broadcast."""
        if self.items <= LISTED_ITEMS:
            return all_chains(self.items, self.thin)
        return [chain_in_order(self.items, self.thin)]

    def first(self, items: int | None = None) -> randomizers.SampledResponse:
        """SAFA on Rule I, at ε/2, for all items, or for a subset of so many."""
        return randomizers.SampledResponse(rule_one_sizes(items or self.items), self.epsilon / 2)

    def second(self, chain: Chain) -> randomizers.SampledResponse:
        """SAFA on Rule II, at ε/2, or at ε where there is no first phase."""
        return randomizers.SampledResponse(chain.sizes(), self.epsilon / 2 if self.learned else self.epsilon)

    def sends(self) -> Sequence[dpaudit.Message]:
        # Where every split of a set has a round of its own, a user is asked about one of the sets.
        subsets = [self.first(items) for items in range(3, self.items)]
        learning = [dpaudit.Message(self.first(), others=subsets)] if self.learned else []
        # The sizes of the leaves are fixed, so all chains have the same attributes.
        return [*learning, dpaudit.Message(self.second(self.chains[0]))]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        positions = np.broadcast_to(rankings.positions(data), (size, self.items))
        columns = []
        if self.learned:
            safa = self.first()
            asked = safa.assign(size, rng)
            columns += [asked, safa.randomize(asked, rule_one(positions, asked), rng)]
        drawn = rng.integers(0, len(self.chains), size)
        second = np.empty((size, 2), dtype=np.int64)
        for number, chain in enumerate(self.chains):
            rows = np.flatnonzero(drawn == number)
            safa = self.second(chain)
            asked = safa.assign(len(rows), rng)
            second[rows, 0] = asked
            second[rows, 1] = safa.randomize(asked, chain.values(positions[rows], asked), rng)
        return np.stack([*columns, drawn, *second.T], axis=1)

    def law(self, data: Any) -> dpaudit.ProductLaw:
        place = rankings.positions(data)[None, :]
        chains = self.chains
        second = dpaudit.PublicMixtureLaw(
            list(range(len(chains))),
            np.full(len(chains), -math.log(len(chains))),
            [self.second(chain).law(_all_values(chain, place)) for chain in chains],
        )
        if not self.learned:
            return dpaudit.ProductLaw([second])
        safa = self.first()
        asked = np.arange(safa.attributes)
        truths = rule_one(np.repeat(place, safa.attributes, axis=0), asked)
        return dpaudit.ProductLaw([safa.law(truths), second])

    def neighbours(self) -> dpaudit.Neighbouring:
        listed = self.items <= LISTED_ITEMS
        words = (
            "the identity against every other, which stand for all under new labels"
            if listed
            else "two rankings that differ do so in an attribute of Rule I and in one of Rule II, and every attribute "
            "that differs makes the same loss, so one pair is as another"
        )
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=self._pairs,
            complete=True,
            scope=f"any two rankings of {self.items} items ({words}); any way to make the chain from the first report",
        )

    def _pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        identity = np.arange(self.items)
        if self.items <= LISTED_ITEMS:
            yield from ((identity, other) for other in rankings.all_rankings(self.items)[1:])
        else:
            yield identity, np.array([*identity[:-2], self.items - 1, self.items - 2])
            yield identity, identity[::-1]


class Safari(Synthesis):
    """SAFARI: triplets at ε/2, a K-thin chain, its laws at ε/2, synthetic rankings."""

    name = "safari"
    places = (PAPER.at(section="III"),)
    model = "local"
    trust = "Nobody is trusted: the collector draws the attributes, every user randomizes their values."
    errata = (SPLIT_OBJECTIVE, RANKS, NEGATIVE_ESTIMATES, SECOND_ORDER)

    @property
    def report(self) -> SafariReport:
        """What one user sends."""
        return SafariReport(epsilon=self.epsilon, items=self.items, thin=self.thin, learned=self.chain == "learned")

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def transcript(self) -> dpaudit.Transcript:
        one = np.arange(self.items)[None]
        # A subset of two items has no triplet to be asked about.
        return dpaudit.Transcript(view="report", inputs=[one, one[:, ::-1]], at_most=self.ranks == "relative", runs=4)

    def triplet_frequencies(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        safa = self.report.first(positions.shape[1])
        asked = safa.assign(len(positions), rng)
        return safa.estimate(safa.tally(asked, safa.randomize(asked, rule_one(positions, asked), rng)), len(positions))

    def chain_frequencies(self, chain: Chain, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        safa = self.report.second(chain)
        asked = safa.assign(len(positions), rng)
        return safa.estimate(
            safa.tally(asked, safa.randomize(asked, chain.values(positions, asked), rng)), len(positions)
        )

    def groups(self, users: int, sizes: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
        """Deal the users out in proportion to the triplets of each set that is split."""
        left = self.items - np.concatenate([[0], np.cumsum(sizes)[:-1]])
        weights = np.array([max(1, len(triplets(int(items)))) for items in left], dtype=float)
        cuts = np.rint(users * np.cumsum(weights / weights.sum())[:-1]).astype(int)
        return np.split(rng.permutation(users), cuts)


def _all_values(chain: Chain, place: np.ndarray) -> np.ndarray:
    """Values of all attributes of Rule II for one ranking, given its places (1, d)."""
    attributes = np.arange(len(chain.sizes()))
    return chain.values(np.repeat(place, len(attributes), axis=0), attributes)
