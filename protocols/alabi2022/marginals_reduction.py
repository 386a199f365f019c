"""One-way marginals inside rank aggregation: the hard instances behind the lower bounds, and systems run on them.

Symbols: dimensions is the paper's d, padding t, alternatives m = 2 d + t, agents n, epsilon ϵ, delta δ. A word x in
{-1, +1}^d becomes the ranking π^x, which starts from the identity and switches j and j + d + t where x_j = -1 (by the
formula; where x_j = +1 by the text), and ρ goes back.
"""

from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.hay2017 import DPKwikSort, KemenyExponential

from .dp_kwiksort_capped import DPKwikSortCapped
from .noisy_pairwise import NoisyPairwise
from .paper import HARD_INSTANCES, LOWER_BOUNDS, PAPER
from .words import lexicode, ranking_of

LONGEST_CODE = 10
"""Longest words whose codes are listed."""

EXACT = KemenyExponential.name
"""The system whose expected error is known exactly."""

SYSTEMS: dict[str, type[dpaudit.Mechanism]] = {
    system.name: system for system in (KemenyExponential, NoisyPairwise, DPKwikSortCapped, DPKwikSort)
}


class MarginalsReduction(dpaudit.Mechanism):
    """The map from words to rankings behind the lower bounds, and the central systems on its hard instances."""

    name = "marginals-reduction"
    places = (PAPER.at(section=LOWER_BOUNDS),)
    model = "central"
    trust = "A trusted curator sees every ranking; the adversary sees the aggregate ranking."
    errata = HARD_INSTANCES

    dimensions: int = dpaudit.parameter(2, minimum=1, doc="d, the length of a word")
    padding: int = dpaudit.parameter(2, minimum=0, doc="t, the items between j and j + d + t that no word moves")
    epsilon: float = dpaudit.parameter(1.0, maximum=700.0, doc="ϵ of the system on the hard instances")
    delta: float = dpaudit.parameter(0.0, doc="δ of the system; above 0 only for those with Gaussian noise")
    agents: int = dpaudit.parameter(1, minimum=1, doc="n, the agents who all hold π^x")
    distance: int = dpaudit.parameter(1, minimum=1, doc="least number of places where two words of the code differ")
    system: Literal["kemeny-exponential", "noisy-pairwise", "dp-kwiksort-capped", "dp-kwiksort"] = dpaudit.parameter(
        "kemeny-exponential", doc="the central system that is run on the hard instances"
    )

    def validate(self) -> None:
        if self.distance > self.dimensions:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'distance' must be at most {self.dimensions}, the length of a word, "
                f"got {self.distance}"
            )
        if self.delta > 0 and self.system not in ("noisy-pairwise", "dp-kwiksort-capped"):
            raise dpaudit.ParameterError(f"{self.name}: {self.system} has no Gaussian noise; leave 'delta' at 0")

    @property
    def alternatives(self) -> int:
        """Length of a ranking, m = 2 d + t."""
        return 2 * self.dimensions + self.padding

    def words(self) -> np.ndarray:
        """The code: words of shape (N, d), of which any two differ in at least ``distance`` places."""
        if self.dimensions > LONGEST_CODE:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'dimensions' is {self.dimensions}; codes are listed up to {LONGEST_CODE}"
            )
        return lexicode(self.dimensions, self.distance)

    def aggregate(self) -> Any:
        """Return the central system at these parameters."""
        settings: dict[str, Any] = {
            "epsilon": self.epsilon,
            "alternatives": self.alternatives,
            "agents": self.agents,
        }
        if self.delta > 0:
            settings |= {"delta": self.delta, "noise": "gaussian"}
        return SYSTEMS[self.system](**settings)

    def exact_error(self) -> float:
        """Expected error of the exponential mechanism; it treats all alternatives, so all words, alike."""
        ahead = np.triu(np.ones((self.alternatives, self.alternatives), dtype=np.int64), k=1)
        return float(self.aggregate().gibbs(self.agents * ahead).expected_excess) / self.agents

    def errors(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Errors K(σ, π^x) of runs of the system, each at a random word x of the code."""
        code, system = self.words(), self.aggregate()
        drawn = rng.integers(len(code), size=runs)
        values = np.empty(runs)
        for number in np.unique(drawn):
            order = ranking_of(code[number], self.padding)
            profile = rankings.Profile(order[None], np.array([self.agents]))
            outputs = system.sample(profile, int((drawn == number).sum()), rng)
            values[drawn == number] = rankings.kendall_tau(outputs, order)
        return values
