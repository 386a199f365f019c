"""Shuffled randomized response: what shuffling buys exactly, and what published bounds promise of it.

Sources: Balle, Bell, Gascon, Nissim, "The privacy blanket of the shuffle model", CRYPTO 2019; Feldman, McMillan,
Talwar, "Hiding among the clones", FOCS 2021, and "Stronger privacy amplification by shuffling for Renyi and
approximate differential privacy", SODA 2023.

Symbols: epsilon is the papers' ε0 of one report, users n, delta δ; what is bounded is the ε of the shuffled reports.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

import dpaudit
from dpaudit import laws, randomizers

BALLE = "Balle, Bell, Gascon, Nissim 2019"
FELDMAN = "Feldman, McMillan, Talwar"


@cache
def shuffled(epsilon: float, users: int) -> laws.Shuffle:
    """Reports of so many users by binary randomized response, in random order."""
    return randomizers.Shuffler(randomizers.RandomizedResponse.for_epsilon(epsilon)).of(users)


@cache
def exact_epsilon(epsilon: float, users: int, delta: float) -> laws.ShuffleLoss:
    """Smallest ε at δ, over all inputs of all users."""
    return shuffled(epsilon, users).epsilon(delta)


@cache
def crossing(bound: Callable[[float, float, int], float], epsilon: float, users: int, delta: float) -> float:
    """Smallest ε at which a bound on δ is at most δ, rounded upwards; ε0 where there is none below."""
    low, high = 0.0, epsilon
    while high - low > 1e-9 * epsilon:
        middle = (low + high) / 2
        low, high = (middle, high) if bound(middle, epsilon, users) > delta else (low, middle)
    return high


class ShuffledResponse(dpaudit.Mechanism):
    """Binary randomized response behind a shuffler.

    Inputs are (users with a 0, users with a 1). The output is how many of the shuffled reports are 1.
    """

    name = "shuffled-response"
    source = f"{BALLE}; {FELDMAN} 2021, 2023"
    model = "shuffle"
    trust = "Users trust a shuffler, which sees who sends what; the receiver sees the reports in random order."
    notation = (
        "an input is how many users hold a 0 and how many a 1; the output is how many of the shuffled reports are 1"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ε0 of one report")
    users: int = dpaudit.parameter(1000, minimum=1, doc="n")
    delta: float = dpaudit.parameter(1e-6, above=0.0, maximum=0.5, doc="δ")

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        response = randomizers.RandomizedResponse.for_epsilon(self.epsilon)
        zeros, ones = (int(count) for count in data)
        return rng.binomial(zeros, response.flip, size) + rng.binomial(ones, response.keep, size)

    def law(self, data: Any) -> dpaudit.FiniteLaw:
        return shuffled(self.epsilon, self.users).law(data)

    def neighbours(self) -> dpaudit.Neighbouring:
        worst = exact_epsilon(self.epsilon, self.users, self.delta)
        return dpaudit.Neighbouring(
            relation="substitution",
            pairs=[(worst.data, worst.neighbour)],
            complete=True,
            scope=(
                f"all inputs (zeros, ones) of {self.users} users, one of them changed: those with the largest epsilon "
                "at δ of all; at δ = 0 all have the same, that of reports which all agree"
            ),
        )

    def claims(self) -> Sequence[dpaudit.Claim]:
        at = (self.epsilon, self.users, self.delta)
        return [
            dpaudit.PrivacyClaim(
                id="balcer2020.pure",
                source="Balcer, Cheu 2020, on pure differential privacy",
                statement="With δ = 0, shuffled reports need the ε0 of one report, and no more.",
                epsilon=self.epsilon,
            ),
            self._bound(
                "feldman2021.theorem3.1", f"{FELDMAN} 2021, Theorem 3.1, for any randomizer", laws.clones_epsilon(*at)
            ),
            self._bound(
                "feldman2021.clones",
                f"{FELDMAN} 2021, Section 3, for any randomizer, computed exactly",
                crossing(laws.clones_delta, *at),
            ),
            self._bound(
                "feldman2023.closed-form",
                f"{FELDMAN} 2023, Section 3, for randomizers as its errata have it",
                laws.stronger_clones_epsilon(*at),
            ),
            self._bound(
                "balle2019.hoeffding",
                f"{BALLE}, Section 5, with Hoeffding's inequality",
                crossing(laws.blanket_hoeffding_delta, *at),
            ),
            self._bound(
                "balle2019.blanket", f"{BALLE}, Section 5, computed exactly", crossing(laws.blanket_delta, *at)
            ),
        ]

    def _bound(self, name: str, source: str, bound: float) -> dpaudit.UtilityClaim:
        claimed = np.isfinite(bound)
        return dpaudit.UtilityClaim(
            id=name,
            source=source,
            statement="Shuffled reports need at most this ε at δ.",
            bound=float(bound) if claimed else 0.0,
            inapplicable="" if claimed else f"not claimed for {self.users} users at ε0 = {self.epsilon:g}",
            exact=lambda: exact_epsilon(self.epsilon, self.users, self.delta).epsilon,
            support=(0.0, self.epsilon),
            trivial=self.epsilon,
            trivial_reason="a report that is not shuffled has no larger ε",
            quantity="ε of the shuffled reports",
            scope=f"all inputs of {self.users} users, δ = {self.delta:g}",
        )
