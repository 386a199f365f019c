"""The exponential mechanism over all rankings: the closer a ranking is to those of the agents, the likelier it is.

Source: Hay, Elagina, Miklau 2017, as restated in Table 1 of Alabi, Ghazi, Kumar, Manurangsi 2022.

Symbols: epsilon is the paper's ϵ, alternatives m, agents n, K(σ, Π) the average Kendall tau distance of a ranking σ to
the profile Π, C = m (m - 1) / 2 the number of pairs, and β the factor in P(σ) ~ exp(-β n K(σ, Π)).

β = ϵ / (2 C) for substitution: the total distance n K moves by at most C, up at one ranking and down at another, and
so does the logarithm of the normaliser. β = ϵ / C for add-remove: a further agent moves n K by 0 to C, up at every
ranking.

The table says that the mechanism takes time O(m! n). Here the law follows from the pairwise counts by a recursion over
subsets, in O(m^2 n + m 2^m): see `Gibbs`.
"""

import math
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import rankings

from .gibbs import Gibbs
from .paper import PAPER

_LISTED_ALTERNATIVES = 7
_LARGEST = 18
_LISTED_OUTPUTS = 2_000_000
_LISTED_PAIRS = 30_000


class KemenyExponential(dpaudit.Mechanism):
    """Exponential mechanism over all rankings, its utility the Kendall tau distance to the agents."""

    name = "kemeny-exponential"
    places = (PAPER.at(),)
    model = "central"
    trust = "A trusted curator sees every ranking; the adversary sees the aggregate ranking."
    notation = "an input lists the agents' rankings, best first; the output is a ranking"

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the whole budget")
    alternatives: int = dpaudit.parameter(
        3, minimum=2, role="alternatives", doc="m, at most 18: the law is computed over 2^m subsets"
    )
    agents: int = dpaudit.parameter(2, minimum=1, role="agents", doc="n")
    relation: Literal["substitution", "add-remove"] = dpaudit.parameter("substitution", doc="neighbouring relation")
    instance: Literal["unanimous", "split", "cycle", "graded", "every"] = dpaudit.parameter(
        "unanimous",
        doc="profile of the utility claims: all agree; two opposed blocs in the worst proportion; a Condorcet cycle; "
        "majorities that shrink with the distance of the two alternatives; the worst of all profiles",
    )

    def validate(self) -> None:
        if self.alternatives > _LARGEST:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'alternatives' must be at most {_LARGEST}, because the law is computed over "
                f"2^m subsets, got {self.alternatives}"
            )

    @property
    def pairs(self) -> int:
        """C, the number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    @property
    def beta(self) -> float:
        """β, the price of one disagreement with one agent: ϵ over the range of what one agent can change."""
        return self.price(self.epsilon, self.alternatives, self.relation)

    @staticmethod
    def price(epsilon: float, alternatives: int, relation: str) -> float:
        """β for any number of alternatives, also those beyond the law's reach."""
        return epsilon / (math.comb(alternatives, 2) * (2 if relation == "substitution" else 1))

    def gibbs(self, counts: np.ndarray) -> Gibbs:
        """Law of the output for pairwise counts of shape (m, m)."""
        return _gibbs(np.asarray(counts, dtype=np.int64).tobytes(), self.alternatives, self.beta)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``."""
        return self.gibbs(_counts(data, self.alternatives)).sample(size, rng)

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        if self.alternatives > _LISTED_ALTERNATIVES:
            return None
        return dpaudit.FiniteLaw(_every(self.alternatives), self.gibbs(_counts(data, self.alternatives)).log_law())

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        return self.gibbs(_counts(data, self.alternatives)).log_pmf(outputs)

    def neighbours(self) -> dpaudit.Neighbouring:
        # Relabelling the alternatives turns the ranking that changes into the first one.
        profiles = rankings.Profiles(
            agents=self.agents, alternatives=self.alternatives, relation=self.relation, neutral=True
        )
        pairs = profiles.count()
        complete = pairs <= _LISTED_PAIRS and pairs * math.factorial(self.alternatives) <= _LISTED_OUTPUTS
        return dpaudit.Neighbouring(
            relation=self.relation,
            pairs=profiles.pairs if complete else profiles.patterns,
            complete=complete,
            scope=profiles.scope,
            domain=profiles,
        )


@lru_cache(maxsize=4)
def _gibbs(counts: bytes, alternatives: int, beta: float) -> Gibbs:
    table = np.frombuffer(counts, dtype=np.int64).reshape(alternatives, alternatives)
    return Gibbs(table.astype(float), beta)


@cache
def _every(alternatives: int) -> np.ndarray:
    return rankings.all_rankings(alternatives)


def _counts(data: Any, alternatives: int) -> np.ndarray:
    if isinstance(data, np.ndarray) and not len(data):
        return np.zeros((alternatives, alternatives), dtype=np.int64)
    return rankings.pairwise_counts(data)
