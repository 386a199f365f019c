"""Phases 1 to 5 of Section III-A, as far as they do not depend on how the frequencies are collected."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from .riffle import Chain, chain_in_order, random_chain, relative_positions, thin_leaf_sizes
from .structure import best_split, information_cube, learn_chain, triplet_information


class Synthesis(dpaudit.Mechanism):
    """The collector: learn a chain, then its laws, then draw n rankings from them.

    What the estimates are made of is left to the systems that derive from it.
    """

    epsilon: float = dpaudit.parameter(1.0, doc="ε, the budget of a user for both phases")
    items: int = dpaudit.parameter(5, minimum=3, maximum=10, role="alternatives", doc="d")
    thin: int = dpaudit.parameter(1, minimum=1, maximum=6, doc="K, the largest leaf")
    agents: int = dpaudit.parameter(5000, minimum=1, role="agents", doc="n")
    chain: Literal["learned", "fixed", "random"] = dpaudit.parameter(
        "learned", doc="learned at ε/2; or in the order of the labels, or at random, with all of ε for the rest"
    )
    split: Literal["anchors", "exhaustive"] = dpaudit.parameter("anchors", doc="how the best split of a set is found")
    ranks: Literal["absolute", "relative"] = dpaudit.parameter(
        "absolute", doc="places within a subset: those among all items (one round), or within it (users for each split)"
    )
    postprocess: Literal["none", "clip", "norm-sub"] = dpaudit.parameter(
        "norm-sub", doc="negative estimates: left; to 0, then scaled (also `none` where one must sample); norm-sub"
    )
    users: Literal["mallows", "plackett-luce", "mixture"] = dpaudit.parameter(
        "mallows",
        doc="whose rankings: Mallows (riffle independent), Plackett-Luce, or two Mallows models mixed",
    )
    dispersion: float = dpaudit.parameter(0.5, above=0, maximum=1, doc="phi of Mallows, ratio of Plackett-Luce weights")
    profile: rankings.Profile | None = dpaudit.parameter(
        None, role="dataset", loader=rankings.PREFLIB, doc="real rankings (--data), not a model"
    )

    synthetic = ("users", "dispersion")

    def validate(self) -> None:
        if self.profile is not None and self.profile.alternatives != self.items:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'items' is {self.items}, but the data rank {self.profile.alternatives}; "
                "leave it out"
            )

    # The five phases.

    def synthesise(self, orders: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw as many synthetic rankings as there are users, shape (n, d), given theirs."""
        positions = rankings.positions(orders)
        chain = self.structure(positions, rng)
        return chain.sample(self.laws(chain, positions, rng), len(orders), rng)

    def structure(self, positions: np.ndarray, rng: np.random.Generator) -> Chain:
        """Phases 1 and 2: a K-thin chain."""
        if self.chain == "fixed":
            return chain_in_order(self.items, self.thin)
        if self.chain == "random":
            return random_chain(self.items, self.thin, rng)
        exhaustive = self.split == "exhaustive"
        if self.ranks == "absolute":
            return learn_chain(self.information(positions, rng), self.thin, exhaustive=exhaustive)
        rest, leaves = tuple(range(self.items)), []
        sizes = thin_leaf_sizes(self.items, self.thin)[:-1]
        for size, group in zip(sizes, self.groups(len(positions), sizes, rng), strict=True):
            places = relative_positions(positions[group], rest)
            information = self.information(places, rng)
            leaf, left = best_split(information, range(len(rest)), size, exhaustive=exhaustive)
            leaves.append(tuple(rest[item] for item in leaf))
            rest = tuple(rest[item] for item in left)
        return Chain((*leaves, rest))

    def information(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Tripletwise mutual information of all triplets, from estimates of the distributions S3."""
        items = positions.shape[1]
        if items < 3 or not len(positions):
            return np.zeros((items,) * 3)
        joint = self.probabilities(self.triplet_frequencies(positions, rng))
        return information_cube(items, triplet_information(joint.reshape(-1, items, 2)))

    def laws(self, chain: Chain, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Phases 3 and 4: probabilities of the orders of the leaves and of the interleavings."""
        frequencies = self.chain_frequencies(chain, positions, rng)
        found = np.zeros_like(frequencies)
        for attribute, size in enumerate(chain.sizes()):
            found[attribute, :size] = self.probabilities(frequencies[attribute, :size])
        return found

    def probabilities(self, estimates: np.ndarray) -> np.ndarray:
        """Probabilities made of estimated frequencies, as ``postprocess`` says."""
        return randomizers.norm_sub(estimates) if self.postprocess == "norm-sub" else randomizers.clipped(estimates)

    def triplet_frequencies(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Frequencies of Rule I's attributes, shape (attributes, 2 d)."""
        raise NotImplementedError

    def chain_frequencies(self, chain: Chain, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Frequencies of Rule II's attributes, shape (attributes, largest domain)."""
        raise NotImplementedError

    def groups(self, users: int, sizes: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
        """Users who are asked about each split, where every split has a round of its own."""
        raise NotImplementedError

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw synthetic rankings, shape (size, n, d), for users' rankings of shape (n, d), or of a ``Profile``."""
        orders = data.rankings() if isinstance(data, rankings.Profile) else np.asarray(data)
        return np.array([self.synthesise(orders, rng) for _ in range(size)])

    # Its users.

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw rankings of n users, shape (n, d), about centres drawn at random; or return those of the data."""
        if self.profile is not None:
            return self.profile.rankings()
        centre = rng.permutation(self.items)
        if self.users == "plackett-luce":
            scores = np.log(self.dispersion) * rankings.positions(centre) + rng.gumbel(size=(self.agents, self.items))
            return np.argsort(-scores, axis=1)
        if self.users == "mallows":
            return rankings.Mallows(centre, self.dispersion).sample(self.agents, rng)
        half = self.agents // 2
        parts = [(centre, half), (rng.permutation(self.items), self.agents - half)]
        return np.concatenate([rankings.Mallows(at, self.dispersion).sample(count, rng) for at, count in parts])
