"""Steps of the proofs of Theorems 2 and 3: a Chernoff bound for independent pairs, and what holds without it."""

import math

import numpy as np

import dpaudit
from dpaudit import rankings

from .ldp_kwiksort import LDPKwikSort, LDPKwikSortLap, LDPKwikSortRR
from .paper import PAPER
from .profiles import setting
from .utility import coins_at_least, mu, pair_error

MOST_ALTERNATIVES = 6
"""Alternatives up to which the joint law of an agent's answers about two pairs is summed over all rankings."""

MOST_AGENTS = 400
"""Agents up to which the joint law of two tallies is computed."""

BY_MARKOV = 1 / 6

USE_OF_LEMMA2 = PAPER.at(section="4.2.1", theorem=2, part="proof", note="the use of Lemma 2")


@dpaudit.claim(
    "yan2020.equation4-step",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="4.2.1", theorem=2, part="proof", equation=4),
    statement="At every ϵ_k > 0, p_rr - q_rr is at least ϵ_k / (ϵ_k + 2), by e^x >= x + 1: Eq. 4's last step.",
)
def equation4_step(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda epsilon_k: math.tanh(epsilon_k / 2) - epsilon_k / (epsilon_k + 2),
        instances=[{"epsilon_k": protocol.epsilon / protocol.asked}],
        variables={"epsilon_k": dpaudit.Reals(1e-9, 100.0)},
        explain=lambda epsilon_k: {"claimed": epsilon_k / (epsilon_k + 2), "actual": math.tanh(epsilon_k / 2)},
        scope="ϵ_k of this setting, and ϵ_k drawn from 1e-9 to 100",
    )


@dpaudit.claim(
    "yan2020.theorem2-independent-pairs",
    LDPKwikSortRR,
    kind="lemma",
    place=USE_OF_LEMMA2,
    statement="At all n, m, K, ϵ and θ it is independent which pairs are wrong, as Lemma 2 requires.",
)
def independent_pairs(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    couples = [
        {"pair": (0, 1), "other": other} for other in ((0, 2), (1, 2), (2, 3)) if max(other) < protocol.alternatives
    ]

    def sides(pair: tuple[int, int], other: tuple[int, int]) -> dict[str, float]:
        both, one, two = wrong_together(protocol, pair, other)
        return {"claimed": one * two, "actual": both, "one wrong": one, "other wrong": two}

    return dpaudit.LemmaClaim(
        margin=lambda pair, other: -abs(sides(pair, other)["claimed"] - sides(pair, other)["actual"]),
        instances=couples,
        explain=sides,
        scope=f"{setting(protocol)}; probability that both pairs are wrong, against the product",
        inapplicable=_unless_summed(protocol),
    )


def _unless_summed(protocol: LDPKwikSort) -> str:
    if not 3 <= protocol.alternatives <= MOST_ALTERNATIVES:
        return f"the joint law is computed for 3 to {MOST_ALTERNATIVES} alternatives"
    return "" if protocol.agents <= MOST_AGENTS else f"the joint law is computed for up to {MOST_AGENTS} agents"


def wrong_together(protocol: LDPKwikSort, pair: tuple[int, int], other: tuple[int, int]) -> tuple[float, float, float]:
    """Probabilities that the estimated signs of two pairs contradict the identity: of both, of one and of the other."""
    m, n = protocol.alternatives, protocol.agents
    votes = _joint_vote(protocol, pair, other)
    # All n agents' votes, by the transform: entry [i, j] is tallies of i - n and j - n.
    size = 2 * n + 1
    spectrum = np.fft.fft2(votes, (size, size)) ** n
    law = np.fft.ifft2(spectrum).real
    assert m >= 3
    return float(law[:n, :n].sum()), float(law[:n].sum()), float(law[:, :n].sum())


def _joint_vote(protocol: LDPKwikSort, pair: tuple[int, int], other: tuple[int, int]) -> np.ndarray:
    """Law of one agent's votes about two pairs, -1, 0 or 1 each, shape (3, 3); a right vote is 1."""
    m, k, pairs = protocol.alternatives, protocol.asked, protocol.pairs
    orders = rankings.all_rankings(m)
    weights = np.exp(rankings.Mallows(np.arange(m), protocol.phi).log_pmf(orders))
    places = rankings.positions(orders)
    right = (1 + protocol.bias(k)) / 2

    def vote(both: tuple[int, int]) -> np.ndarray:
        agrees = places[:, both[0]] < places[:, both[1]]
        yes = np.where(agrees, right, 1 - right)
        return np.stack([1 - yes, yes], axis=1)

    first, second = vote(pair), vote(other)
    one_of_two = k * (pairs - k) / (pairs * (pairs - 1))
    law = np.zeros((3, 3))
    law[np.ix_([0, 2], [0, 2])] = k * (k - 1) / (pairs * (pairs - 1)) * np.einsum("r,ri,rj", weights, first, second)
    law[[0, 2], 1] = one_of_two * (weights @ first)
    law[1, [0, 2]] = one_of_two * (weights @ second)
    law[1, 1] = (pairs - k) * (pairs - k - 1) / (pairs * (pairs - 1))
    return law


@dpaudit.claim(
    "yan2020.theorem2-chernoff",
    LDPKwikSortRR,
    kind="utility",
    place=PAPER.at(section="4.2.1", theorem=2, part="proof", note="the use of Lemma 2, with E[X] itself"),
    statement=(
        "At all m, ϵ and θ, with one agent who is asked about every pair, for R = 6 E[X]: at least R pairs are wrong "
        "with probability at most 2^(-R), as Lemma 2 would give it for independent pairs."
    ),
    ours=True,
)
def chernoff(protocol: LDPKwikSortRR) -> dpaudit.UtilityClaim:
    known = protocol.agents == 1 and protocol.asked == protocol.pairs
    flip = (1 - protocol.bias(protocol.asked)) / 2
    distance = rankings.Mallows(np.arange(protocol.alternatives), protocol.phi).expected_distance()
    mean = protocol.pairs * flip + (1 - 2 * flip) * distance
    limit = 6 * mean
    return dpaudit.UtilityClaim(
        bound=2**-limit,
        # A sum of binary fractions may fall short of a whole number that it is.
        exact=lambda: float(wrong_of_one_agent(protocol)[math.ceil(limit - 1e-9) :].sum()),
        quantity=f"probability of at least 6 E[X] = {limit:.6g} wrong pairs out of {protocol.pairs}",
        beside={"expected number of wrong pairs": mean},
        scope=f"{setting(protocol)}; pairs that contradict the ground truth",
        inapplicable="" if known else "the law of X is known for one agent who is asked about every pair",
    )


def wrong_of_one_agent(protocol: LDPKwikSort) -> np.ndarray:
    """Law of the number of wrong pairs where one agent is asked about all of them, shape (pairs + 1,)."""
    from scipy.stats import binom

    inversions = np.ones(1)
    for place in range(1, protocol.alternatives + 1):
        powers = protocol.phi ** np.arange(place)
        inversions = np.convolve(inversions, powers / powers.sum())
    flip, pairs = (1 - protocol.bias(protocol.asked)) / 2, protocol.pairs
    law = np.zeros(pairs + 1)
    for wrong, weight in enumerate(inversions.tolist()):
        flipped = binom.pmf(np.arange(pairs - wrong + 1), pairs - wrong, flip)
        kept = binom.pmf(np.arange(wrong + 1), wrong, 1 - flip)
        law += weight * np.convolve(flipped, kept)
    return law


@dpaudit.claim(
    "yan2020.theorem2-mean",
    LDPKwikSortRR,
    kind="utility",
    place=PAPER.at(section="4.2.1", theorem=2, part="proof", note="the last line"),
    statement="At all n, m, K, ϵ and θ, μ, the sum of the bounds of Eq. 4, is the expected number E[X] of wrong pairs.",
)
def mean_is_mu(protocol: LDPKwikSortRR) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        bound=mu(protocol),
        direction="at-least",
        exact=lambda: expected_wrong(protocol),
        support=(0.0, float(protocol.pairs)),
        quantity="expected number of pairs that contradict the ground truth, which is to be μ",
        scope=setting(protocol),
    )


@dpaudit.claim(
    "yan2020.theorem2-mean-mended",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="4.2.1", theorem=2, part="proof", note="the last line, as a bound"),
    statement="At all n, m, K, ϵ and θ the expected number E[X] of wrong pairs is at most μ.",
    ours=True,
    mends=("yan2020.theorem2-mean", "yan2020.smaller-mu-rr"),
)
def theorem2_mean_mended(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    return _mean_below_mu(protocol)


@dpaudit.claim(
    "yan2020.theorem3-mean-mended",
    LDPKwikSortLap,
    kind="lemma",
    place=PAPER.at(section="4.2.2", theorem=3, part="after", note="as a bound"),
    statement="At all n, m, K, ϵ and θ the expected number E[X] of wrong pairs is at most μ.",
    ours=True,
    mends="yan2020.smaller-mu-lap",
)
def theorem3_mean_mended(protocol: LDPKwikSortLap) -> dpaudit.LemmaClaim:
    return _mean_below_mu(protocol)


def _mean_below_mu(protocol: LDPKwikSort) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda: mu(protocol) - expected_wrong(protocol),
        instances=[{}],
        complete=True,
        explain=lambda: {"claimed": mu(protocol), "actual": expected_wrong(protocol)},
        scope=f"{setting(protocol)}; expected number of pairs that contradict the ground truth",
    )


@dpaudit.claim(
    "yan2020.theorem2-mended",
    LDPKwikSortRR,
    kind="utility",
    place=PAPER.at(section="4.2.1", theorem=2, note="by Markov's inequality"),
    statement=(
        "At all n, m, K, ϵ and θ, for agents of the Mallows model, fewer than 6 μ pairs contradict the ground truth, "
        "except with probability at most 1/6, whether or not pairs are independent; μ as in Theorem 2."
    ),
    ours=True,
    mends=("yan2020.theorem2", "yan2020.theorem2-independent-pairs", "yan2020.theorem2-chernoff"),
)
def theorem2_mended(protocol: LDPKwikSortRR) -> dpaudit.UtilityClaim:
    return _by_markov(protocol)


@dpaudit.claim(
    "yan2020.theorem3-mended",
    LDPKwikSortLap,
    kind="utility",
    place=PAPER.at(section="4.2.2", theorem=3, note="by Markov's inequality"),
    statement=(
        "At all n, m, K, ϵ and θ, for agents of the Mallows model, fewer than 6 μ pairs contradict the ground truth, "
        "except with probability at most 1/6, whether or not pairs are independent; μ as in Theorem 3."
    ),
    ours=True,
)
def theorem3_mended(protocol: LDPKwikSortLap) -> dpaudit.UtilityClaim:
    return _by_markov(protocol)


def _by_markov(protocol: LDPKwikSort) -> dpaudit.UtilityClaim:
    limit = 6 * mu(protocol)
    impossible = limit > protocol.pairs
    return dpaudit.UtilityClaim(
        bound=BY_MARKOV,
        exact=lambda: 0.0 if impossible else expected_wrong(protocol) / limit,
        trivial=0.0 if impossible else coins_at_least(protocol.pairs, limit),
        trivial_reason=(
            f"6 μ = {limit:.6g} is more than the {protocol.pairs} pairs there are, so no protocol can err so often"
            if impossible
            else "a fair coin for every pair, and no report at all, does as well"
        ),
        quantity=f"E[X] / (6 μ), which is at least the probability of 6 μ = {limit:.6g} wrong pairs or more",
        scope=setting(protocol),
    )


def expected_wrong(protocol: LDPKwikSort) -> float:
    """Exact expected number of pairs whose estimated sign contradicts the ground truth."""
    m = protocol.alternatives
    agree = rankings.Mallows(np.arange(m), protocol.phi).pairwise_probability()[0]
    return math.fsum((m - apart) * pair_error(protocol, float(agree[apart])) for apart in range(1, m))
