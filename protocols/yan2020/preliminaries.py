"""What Sections 2.3 and 4.2.1 say of randomized response and of the Mallows model, and Section 5.4 of few agents."""

import math
from collections.abc import Callable

import numpy as np

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.ailon2008 import KwikSort

from .ldp_kwiksort import LDPKwikSortRR
from .metrics import profile_margins
from .paper import PAPER
from .profiles import setting

MOST_ANSWERS = 12
"""Answers up to which the estimate of Equation 1 is looked at for every number of yes."""

RATES = 2001
"""Rates of yes, from 0 to 1, among which the likelihood of Equation 1's estimate is compared."""

EQUATION1 = PAPER.at(section="2.3", equation=1)


@dpaudit.claim(
    "yan2020.unbiased",
    LDPKwikSortRR,
    kind="lemma",
    place=EQUATION1,
    statement="For any number of answers and of true yes among them, the estimate of Eq. 1 is unbiased.",
)
def unbiased(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    def expected(answers: int, yes: int) -> float:
        law = reported_yes(yes, answers - yes, protocol.report.response.keep)
        return float(law @ estimated_yes(np.arange(answers + 1), answers, protocol))

    return dpaudit.LemmaClaim(
        margin=lambda answers, yes: -abs(expected(answers, yes) - yes),
        instances=[
            {"answers": answers, "yes": yes} for answers in range(1, MOST_ANSWERS + 1) for yes in range(answers + 1)
        ],
        explain=lambda answers, yes: {"claimed": float(yes), "actual": expected(answers, yes)},
        tolerance=1e-9,
        complete=True,
        scope=f"up to {MOST_ANSWERS} answers, any number of them yes, ϵ_k = {protocol.epsilon / protocol.asked:g}",
    )


@dpaudit.claim(
    "yan2020.maximum-likelihood",
    LDPKwikSortRR,
    kind="lemma",
    place=EQUATION1,
    statement="For any number of reported yes, the estimate of Eq. 1 is the maximum likelihood estimate.",
)
def maximum_likelihood(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    return _most_likely(protocol, cut=False)


@dpaudit.claim(
    "yan2020.maximum-likelihood-mended",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="2.3", equation=1, note="cut off at 0 and at the number of answers"),
    statement="For any number of reported yes, the estimate of Eq. 1, cut off at 0 and 1 as a rate, is the likeliest.",
    ours=True,
)
def maximum_likelihood_mended(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    return _most_likely(protocol, cut=True)


def _most_likely(protocol: LDPKwikSortRR, *, cut: bool) -> dpaudit.LemmaClaim:
    """The estimate against the likeliest rate of yes among agents whose true answers are independent."""
    keep = protocol.report.response.keep

    def log_likelihood(rate: float, reported: int, answers: int) -> float:
        yes = keep * rate + (1 - keep) * (1 - rate)
        return reported * math.log(yes) + (answers - reported) * math.log1p(-yes)

    def margin(reported: int, answers: int) -> float:
        rate = float(estimated_yes(reported, answers, protocol)) / answers
        if cut:
            rate = min(1.0, max(0.0, rate))
        elif not -1e-12 <= rate <= 1 + 1e-12:
            return min(rate, 1 - rate)
        rate = min(1.0, max(0.0, rate))
        others = max(log_likelihood(other, reported, answers) for other in np.linspace(0, 1, RATES).tolist())
        return log_likelihood(rate, reported, answers) - others

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[
            {"reported": reported, "answers": answers}
            for answers in range(1, MOST_ANSWERS // 2)
            for reported in range(answers + 1)
        ],
        explain=lambda reported, answers: {
            "estimate": float(estimated_yes(reported, answers, protocol)),
            "least number": 0.0,
            "largest number": float(answers),
        },
        scope=f"up to {MOST_ANSWERS // 2 - 1} answers, against {RATES} rates of yes from 0 to 1",
    )


def reported_yes(yes: int, no: int, keep: float) -> np.ndarray:
    """Law of the number of reported yes, shape (yes + no + 1,)."""
    from scipy.stats import binom

    kept, flipped = binom.pmf(np.arange(yes + 1), yes, keep), binom.pmf(np.arange(no + 1), no, 1 - keep)
    return np.convolve(kept, flipped)


def estimated_yes(reported: int | np.ndarray, answers: int, protocol: LDPKwikSortRR) -> np.ndarray:
    """Equation 1: the inverse of the transformation matrix on the numbers of reported no and yes."""
    keep = protocol.report.response.keep
    matrix = np.array([[keep, 1 - keep], [1 - keep, keep]])
    return np.asarray(np.linalg.solve(matrix, np.array([answers - reported, reported], dtype=float))[1])


# Section 4.2.1: the Mallows model, pair by pair.


@dpaudit.claim(
    "yan2020.mallows-pairs",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="4.2.1", note="before Theorem 2"),
    statement="Every pair is ordered as in the ground truth with the same probability p_M, where θ = 1 - q_M / p_M.",
)
def mallows_pairs(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    return _pairs_agree(protocol, lambda claimed, actual: -abs(claimed - actual))


@dpaudit.claim(
    "yan2020.mallows-pairs-mended",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="4.2.1", note="before Theorem 2, as a bound"),
    statement="Every pair is ordered as in the ground truth with probability p_M or more, where θ = 1 - q_M / p_M.",
    ours=True,
)
def mallows_pairs_mended(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    return _pairs_agree(protocol, lambda claimed, actual: actual - claimed)


def _pairs_agree(protocol: LDPKwikSortRR, margin: Callable[[float, float], float]) -> dpaudit.LemmaClaim:
    m = protocol.alternatives
    agree = rankings.Mallows(np.arange(m), protocol.phi).pairwise_probability()[0]
    # θ = 1 - q_M / p_M is phi = q_M / p_M in either convention.
    claimed = 1 / (1 + protocol.phi)
    return dpaudit.LemmaClaim(
        margin=lambda apart: margin(claimed, float(agree[apart])),
        instances=[{"apart": apart} for apart in range(1, m)],
        complete=True,
        explain=lambda apart: {"claimed": claimed, "actual": float(agree[apart])},
        scope=f"pairs 1 to {m - 1} places apart in the ground truth, Mallows model with phi {protocol.phi:.6g}",
    )


# Section 4.2.1, the proof of Theorem 2: how many agents are asked about a pair.


@dpaudit.claim(
    "yan2020.agents-of-a-pair",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="4.2.1", theorem=2, part="proof"),
    statement="n K / C(m, 2) agents are asked about each pair.",
)
def agents_of_a_pair(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    mean = protocol.agents * protocol.asked / protocol.pairs

    def certain() -> float:
        from scipy.stats import binom

        nearest = round(mean)
        return float(binom.pmf(nearest, protocol.agents, protocol.asked / protocol.pairs)) * math.isclose(nearest, mean)

    return dpaudit.LemmaClaim(
        margin=lambda: certain() - 1,
        instances=[{}],
        complete=True,
        explain=lambda: {"claimed": 1.0, "actual": certain(), "n K / C(m, 2)": mean},
        scope=f"{setting(protocol)}; probability of just that number for a given pair",
    )


@dpaudit.claim(
    "yan2020.agents-of-a-pair-mended",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="4.2.1", theorem=2, part="proof", note="for the mean"),
    statement="n K / C(m, 2) agents are asked about each pair in the mean.",
    ours=True,
)
def agents_of_a_pair_mended(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    claimed = protocol.agents * protocol.asked / protocol.pairs
    # Of the sets of K pairs that are equally likely, those with a given pair.
    share = math.comb(protocol.pairs - 1, protocol.asked - 1) / math.comb(protocol.pairs, protocol.asked)
    return dpaudit.LemmaClaim(
        margin=lambda: -abs(protocol.agents * share - claimed),
        instances=[{}],
        complete=True,
        explain=lambda: {"claimed": claimed, "actual": protocol.agents * share},
        tolerance=1e-9 * claimed,
        scope=setting(protocol),
    )


# Section 5.4: fewer agents than pairs.


@dpaudit.claim(
    "yan2020.few-agents",
    KwikSort,
    kind="lemma",
    place=PAPER.at(section="5.4", note="of KwikSort"),
    statement="With n < C(m, 2) agents a profile has no sufficient comparisons: the margin of some pair is zero.",
)
def few_agents(kwiksort: KwikSort) -> dpaudit.LemmaClaim:
    def ties(profile: np.ndarray) -> int:
        margins = profile_margins(profile[None])[0]
        return int(np.count_nonzero(margins[np.triu_indices(len(margins), k=1)] == 0))

    return dpaudit.LemmaClaim(
        margin=lambda profile: ties(profile) - 1,
        instances=[{"profile": np.arange(m)[None]} for m in range(3, kwiksort.alternatives + 1)],
        explain=lambda profile: {"claimed": 1.0, "actual": float(ties(profile))},
        scope=f"one agent, 3 to {kwiksort.alternatives} alternatives: pairs with margin zero",
    )


@dpaudit.claim(
    "yan2020.few-agents-mended",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="5.4", note="of LDP-KwikSort, for n K < C(m, 2)"),
    statement="With n K < C(m, 2) LDP-KwikSort asks nobody about some pair, whatever pairs are drawn.",
    ours=True,
)
def few_agents_mended(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    answers = protocol.agents * protocol.asked
    return dpaudit.LemmaClaim(
        margin=lambda: protocol.pairs - answers - 1,
        instances=[{}],
        complete=True,
        explain=lambda: {"least number of pairs left out": protocol.pairs - answers},
        scope=f"n = {protocol.agents}, m = {protocol.alternatives}, K = {protocol.asked}",
        inapplicable="" if answers < protocol.pairs else f"n K = {answers} is at least C(m, 2) = {protocol.pairs}",
    )
