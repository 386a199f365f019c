"""What SAFARI is compared with besides the flat oracles: no privacy (NoPriv in Figure 1(b)), and no data."""

from collections.abc import Sequence

import numpy as np

from .paper import PAPER
from .riffle import Chain
from .rule_one import triplet_distributions
from .synthesis import Synthesis


class SafariNoPrivacy(Synthesis):
    """SAFARI without noise: what the model and the synthetic sample cost on their own."""

    name = "safari-noprivacy"
    places = (PAPER.at(section="IV-B", figure="1(b)"),)
    model = "none"
    trust = "The collector sees every ranking."

    def triplet_frequencies(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return triplet_distributions(positions).reshape(-1, 2 * positions.shape[1])

    def chain_frequencies(self, chain: Chain, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        sizes = chain.sizes()
        found = np.zeros((len(sizes), sizes.max()))
        for attribute in range(len(sizes)):
            values = chain.values(positions, np.full(len(positions), attribute))
            found[attribute] = np.bincount(values, minlength=sizes.max()) / len(positions)
        return found

    def groups(self, users: int, sizes: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
        return [np.arange(users)] * len(sizes)


class Uniform(Synthesis):
    """Rankings drawn uniformly, without any data."""

    name = "uniform"
    source = "for comparison; the paper has no such baseline"
    model = "none"
    trust = "Nobody sends anything."

    def synthesise(self, orders: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.permuted(np.tile(np.arange(orders.shape[1]), (len(orders), 1)), axis=1)
