"""Balle, Bell, Gascon, Nissim 2019: shuffled randomized response, and the privacy blanket as a bound on its ε.

Shuffled randomized response is the common example of the works on shuffling. What it leaves of ε0 is computed exactly,
and the bounds that this and other papers publish are held against it.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

import dpaudit
from dpaudit import laws, randomizers

PAPER = dpaudit.Paper(
    key="balle2019",
    title="The privacy blanket of the shuffle model",
    authors=("Balle", "Bell", "Gascon", "Nissim"),
    year=2019,
    venue="CRYPTO",
    doi="10.1007/978-3-030-26951-7_22",
    symbols={"ε0": "epsilon", "n": "users", "δ": "delta", "ε": "what a bound or the exact law leaves after shuffling"},
)


@cache
def shuffled(response: randomizers.RandomizedResponse, users: int) -> laws.Shuffle:
    """Reports of so many users by binary randomized response, in random order."""
    return randomizers.Shuffler(response).of(users)


@cache
def exact_epsilon(epsilon: float, users: int, delta: float) -> laws.ShuffleLoss:
    """Smallest ε at δ, over all inputs of all users."""
    return shuffled(randomizers.RandomizedResponse.for_epsilon(epsilon), users).epsilon(delta)


class ShuffledResponse(dpaudit.Mechanism):
    """Binary randomized response behind a shuffler.

    Inputs are (users with a 0, users with a 1). The output is how many of the shuffled reports are 1.
    """

    name = "shuffled-response"
    places = (PAPER.at(),)
    model = "shuffle"
    trust = "Users trust a shuffler, which sees who sends what; the receiver sees the reports in random order."
    notation = (
        "an input is how many users hold a 0 and how many a 1; the output is how many of the shuffled reports are 1"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ε0 of one report")
    users: int = dpaudit.parameter(1000, minimum=1, doc="n")
    delta: float = dpaudit.parameter(1e-6, above=0.0, maximum=0.5, doc="δ")

    @property
    def response(self) -> randomizers.RandomizedResponse:
        """What one user's bit goes through."""
        return randomizers.RandomizedResponse.for_epsilon(self.epsilon)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.response, self.users)]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        zeros, ones = (int(count) for count in data)
        return self.response.count_ones([False, True], [zeros, ones], rng, size)

    def law(self, data: Any) -> dpaudit.FiniteLaw:
        return shuffled(self.response, self.users).law(data)

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


@cache
def smallest_epsilon(bound: Callable[[float, float, int], float], epsilon: float, users: int, delta: float) -> float:
    """Smallest ε at which ``bound(ε, ε0, users)`` is at most δ, rounded upwards; ε0 where there is none below."""
    low, high = 0.0, epsilon
    while high - low > 1e-9 * epsilon and low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if bound(middle, epsilon, users) > delta else (low, middle)
    return high


def bound_on_epsilon(protocol: ShuffledResponse, bound: float) -> dpaudit.UtilityClaim:
    """Claim that a published bound is at least the exact ε; an infinite bound is not claimed at all."""
    claimed = np.isfinite(bound)
    at = (protocol.epsilon, protocol.users, protocol.delta)
    return dpaudit.UtilityClaim(
        bound=float(bound) if claimed else 0.0,
        inapplicable="" if claimed else f"not claimed for {protocol.users} users at ε0 = {protocol.epsilon:g}",
        exact=lambda: exact_epsilon(*at).epsilon,
        support=(0.0, protocol.epsilon),
        trivial=protocol.epsilon,
        trivial_reason="a report that is not shuffled has no larger ε",
        quantity="ε of the shuffled reports",
        scope=f"all inputs of {protocol.users} users, δ = {protocol.delta:g}",
    )


@dpaudit.claim(
    "balle2019.hoeffding",
    ShuffledResponse,
    kind="utility",
    place=PAPER.at(section="5", note="with Hoeffding's inequality"),
    statement="Shuffled reports need at most this ε at δ.",
)
def hoeffding(protocol: ShuffledResponse) -> dpaudit.UtilityClaim:
    at = (protocol.epsilon, protocol.users, protocol.delta)
    return bound_on_epsilon(protocol, smallest_epsilon(laws.blanket_hoeffding_delta, *at))


@dpaudit.claim(
    "balle2019.blanket",
    ShuffledResponse,
    kind="utility",
    place=PAPER.at(section="5", note="computed exactly"),
    statement="Shuffled reports need at most this ε at δ.",
)
def blanket(protocol: ShuffledResponse) -> dpaudit.UtilityClaim:
    at = (protocol.epsilon, protocol.users, protocol.delta)
    return bound_on_epsilon(protocol, smallest_epsilon(laws.blanket_delta, *at))


class ShuffledResponseOnAllInputs(dpaudit.Mechanism):
    """Binary randomized response behind a shuffler, audited on all inputs of all users.

    At one δ, one pair of inputs is the worst; at several at once, another one may be at each.
    """

    name = "shuffled-response-all-inputs"
    places = (PAPER.at(),)
    model = "shuffle"
    trust = ShuffledResponse.trust
    notation = ShuffledResponse.notation

    epsilon: float = dpaudit.parameter(1.0, doc="ε0 of one report")
    users: int = dpaudit.parameter(100, minimum=1, maximum=1000, doc="n")

    @property
    def shuffled(self) -> ShuffledResponse:
        """The same mechanism, whose neighbours are those that are the worst at one δ."""
        shared: dict[str, Any] = self.parameters()
        return ShuffledResponse(**shared)

    def sends(self) -> Sequence[dpaudit.Message]:
        return self.shuffled.sends()

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.shuffled.sample(data, size, rng)

    def law(self, data: Any) -> dpaudit.FiniteLaw:
        return self.shuffled.law(data)

    def neighbours(self) -> dpaudit.Neighbouring:
        n = self.users
        return dpaudit.Neighbouring(
            relation="substitution",
            pairs=[((n - ones, ones), (n - ones - 1, ones + 1)) for ones in range(n)],
            complete=True,
            scope=f"all inputs (zeros, ones) of {n} users, one of them changed",
        )


SHARES = (1 / 8, 1 / 4, 1 / 2, 3 / 4)


@dpaudit.claim(
    "balle2019.profile",
    ShuffledResponseOnAllInputs,
    kind="privacy",
    place=PAPER.at(section="5", note="as a privacy profile"),
    statement=(
        "The shuffled reports have at most the δ of the privacy blanket, computed exactly, at ε of an eighth, a "
        "quarter, half and three quarters of ε0 at once."
    ),
    ours=True,
)
def profile(protocol: ShuffledResponseOnAllInputs) -> dpaudit.PrivacyClaim:
    at = (protocol.epsilon, protocol.users)
    points = [(share * protocol.epsilon, laws.blanket_delta(share * protocol.epsilon, *at)) for share in SHARES]
    return dpaudit.PrivacyClaim(guarantee=dpaudit.PrivacyProfile(points))
