"""Section 5.1.1: DP-KwikSort at the numbers of alternatives of the experiments, and a budget that its noise does keep.

At m = 3 and 4 the law of the output is computed for all neighbouring profiles (``yan2020.dp-kwiksort``). For more
alternatives one event is looked at: the probability of one ranking, where all margins are equal, is a recursion.
"""

import math

import dpaudit
from dpaudit.catalog.hay2017 import DPKwikSort

from .paper import PAPER

SYSTEM = PAPER.at(section="5.1.1")


@dpaudit.claim(
    "yan2020.dp-kwiksort-one-ranking",
    DPKwikSort,
    kind="lemma",
    place=SYSTEM,
    statement=(
        "At every ϵ, m and n, in one event: DP-KwikSort with noise Lap((m - 1) log m / ϵ) returns a ranking with at "
        "most e^ϵ times the probability that it has after one agent is exchanged, added or removed, where all margins "
        "are equal."
    ),
)
def one_ranking(protocol: DPKwikSort) -> dpaudit.LemmaClaim:
    step = 2 if protocol.relation == "substitution" else 1
    words = "replaces a ranking by its reverse" if step == 2 else "adds the reverse or removes the ranking"
    return dpaudit.LemmaClaim(
        margin=lambda margin: protocol.epsilon - loss(protocol, margin, step),
        instances=[{"margin": margin} for margin in range(step - protocol.agents, protocol.agents + 1, step)],
        explain=lambda margin: {
            "claimed": protocol.epsilon,
            "actual": loss(protocol, margin, step),
            "probability": math.exp(log_probability(protocol, margin)),
            "probability afterwards": math.exp(log_probability(protocol, margin - step)),
        },
        scope=(
            f"n = {protocol.agents}, m = {protocol.alternatives}, some agents with one ranking and all others with its "
            f"reverse; a change that {words}; logarithm of the quotient of the probabilities"
        ),
    )


def loss(protocol: DPKwikSort, margin: int, step: int) -> float:
    """Logarithm of the quotient of the probabilities of a ranking at a margin and at one smaller by the step."""
    return log_probability(protocol, margin) - log_probability(protocol, margin - step)


def log_probability(protocol: DPKwikSort, margin: int) -> float:
    """Log-probability of the ranking that wins every comparison by the same margin, negative where it loses.

    Each of m alternatives is the pivot with probability 1/m, all m - 1 others have to fall on the right side of it, and
    then both sides are sorted in the same way.
    """
    log_right = float(protocol.noise.log_below(float(margin)))
    log_sorted = [0.0]
    for length in range(1, protocol.alternatives + 1):
        sides = [log_sorted[place] + log_sorted[length - 1 - place] for place in range(length)]
        largest = max(sides)
        total = largest + math.log(math.fsum(math.exp(side - largest) for side in sides))
        log_sorted.append((length - 1) * log_right - math.log(length) + total)
    return log_sorted[-1]


@dpaudit.claim(
    "yan2020.dp-kwiksort-mended",
    DPKwikSort,
    kind="privacy",
    place=PAPER.at(section="5.1.1", note="with the budget of all comparisons"),
    statement=(
        "At every ϵ, m and n, DP-KwikSort with noise Lap((m - 1) log m / ϵ) is (ϵ m / log m)-differentially private "
        "for substitution, and half of that for add-remove; so noise Lap(2 C(m,2) / ϵ), or Lap(C(m,2) / ϵ), keeps ϵ."
    ),
    ours=True,
    mends=("yan2020.dp-kwiksort", "yan2020.dp-kwiksort-one-ranking"),
)
def all_comparisons(protocol: DPKwikSort) -> dpaudit.PrivacyClaim:
    """Every comparison may be made, each at most once, and a ranking moves its margin by 2 or by 1."""
    moved = 2 if protocol.relation == "substitution" else 1
    return dpaudit.PrivacyClaim(epsilon=math.comb(protocol.alternatives, 2) * moved / protocol.noise.scale)
