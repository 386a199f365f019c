"""What Sections I to III-C claim, in the paper's order."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .baselines import SafariNoPrivacy
from .marginals import variation_distances
from .measures import (
    CLOSE,
    FIXED_CHAIN,
    NOISELESS_FIXED,
    NOISELESS_RANDOM,
    RANDOM_CHAIN,
    repeated,
    setting,
    wins,
)
from .paper import PAPER
from .ranking_oracles import RankingGrr, RankingOlh, RankingOracle, RankingRappor, RankingSh
from .riffle import chain_in_order, relative_positions
from .rule_one import rule_one, rule_one_sizes, triplet_distributions, triplets
from .safari import Safari

# Section I: collecting the distribution over all rankings directly suffers from excessive noise.

NOISE = (
    "With d = 10 items and 5,000 users, as the paper's data have, at every stated ε: collecting the distribution over "
    "all rankings directly suffers from excessive noise, a squared error above that of the uniform distribution, "
    "whatever the users hold."
)
PAPERS_ITEMS, PAPERS_USERS = 10, 5000
"""Items and users of the data in Section IV."""


@dpaudit.claim("yang2018.ranking-grr-noise", RankingGrr, kind="utility", place=PAPER.at(section="I"), statement=NOISE)
def ranking_grr_noise(flat: RankingGrr) -> dpaudit.UtilityClaim:
    return excessive_noise(flat)


@dpaudit.claim(
    "yang2018.ranking-rappor-noise", RankingRappor, kind="utility", place=PAPER.at(section="I"), statement=NOISE
)
def ranking_rappor_noise(flat: RankingRappor) -> dpaudit.UtilityClaim:
    return excessive_noise(flat)


@dpaudit.claim("yang2018.ranking-sh-noise", RankingSh, kind="utility", place=PAPER.at(section="I"), statement=NOISE)
def ranking_sh_noise(flat: RankingSh) -> dpaudit.UtilityClaim:
    return excessive_noise(flat)


@dpaudit.claim("yang2018.ranking-olh-noise", RankingOlh, kind="utility", place=PAPER.at(section="I"), statement=NOISE)
def ranking_olh_noise(flat: RankingOlh) -> dpaudit.UtilityClaim:
    return excessive_noise(flat)


def excessive_noise(flat: RankingOracle) -> dpaudit.UtilityClaim:
    """Claim that the squared error is above that of the uniform distribution, which is 1 - 1/d! at most."""
    return dpaudit.UtilityClaim(
        bound=1 - 1 / flat.oracle.values,
        direction="at-least",
        exact=lambda: total_variance(flat),
        support=(0.0, math.inf),
        quantity="expected squared distance of the raw estimates to the truth",
        scope=f"ε = {flat.epsilon:g}, d = {flat.items}, n = {flat.agents}; nothing is further from uniform",
        inapplicable=of_other_size(flat.items, flat.agents),
    )


def of_other_size(items: int, agents: int = PAPERS_USERS) -> str:
    """Why a claim about data of the paper's size says nothing here."""
    if (items, agents) == (PAPERS_ITEMS, PAPERS_USERS):
        return ""
    return f"it is about d = {PAPERS_ITEMS} items and n = {PAPERS_USERS} users"


def total_variance(flat: RankingOracle) -> float:
    """Expected squared distance of the raw estimates to the truth; the same whatever the truth."""
    own, other = flat.oracle.variance(1.0, flat.agents), flat.oracle.variance(0.0, flat.agents)
    return float(own + (flat.oracle.values - 1) * other)


@dpaudit.claim(
    "yang2018.safari-less-noise",
    Safari,
    kind="lemma",
    place=PAPER.at(section="I"),
    statement=(
        "With d = 10 items, at every stated ε and K: every frequency that SAFARI collects has a smaller variance than "
        "every frequency of a ranking by generalised randomized response."
    ),
)
def safari_less_noise(safari: Safari) -> dpaudit.LemmaClaim:
    return less_noise(safari, of_other_size(safari.items))


@dpaudit.claim(
    "yang2018.safari-less-noise-at",
    Safari,
    kind="lemma",
    place=PAPER.at(section="I"),
    ours=True,
    statement=(
        "At the stated d, ε and K: every frequency that SAFARI collects has a smaller variance than every frequency of "
        "a ranking by generalised randomized response."
    ),
)
def safari_less_noise_at(safari: Safari) -> dpaudit.LemmaClaim:
    return less_noise(safari, "")


def less_noise(safari: Safari, inapplicable: str) -> dpaudit.LemmaClaim:
    """Compare the variances for values that nobody holds, and per user, of both phases and of the flat baseline."""
    settings: dict[str, Any] = {"epsilon": safari.epsilon, "items": safari.items}
    claimed = float(RankingGrr(**settings).oracle.variance(0.0, 1))

    def variance(phase: int) -> float:
        return phase_variances(safari)[phase - 1]

    return dpaudit.LemmaClaim(
        margin=lambda phase: math.log(claimed / variance(phase)),
        instances=[{"phase": 1}, {"phase": 2}],
        complete=True,
        explain=lambda phase: {"actual": variance(phase), "claimed": claimed},
        scope=(
            f"ε = {safari.epsilon:g}, d = {safari.items}, K = {safari.thin}; the largest domain of either phase, n = 1"
        ),
        inapplicable=inapplicable,
    )


def phase_variances(safari: Safari) -> tuple[float, float]:
    """Largest variance, for one user and a value that nobody holds, of the frequencies of Rules I and II at ε/2."""
    odds = math.exp(safari.epsilon / 2)

    def largest(sizes: np.ndarray) -> float:
        count = len(sizes)
        return float(((odds + int(max(sizes)) - 1) * count - 1) / (odds - 1) ** 2)

    return largest(rule_one_sizes(safari.items)), largest(chain_in_order(safari.items, safari.thin).sizes())


# Section II-B: the riffle independent model approximates the distribution of rankings.


@dpaudit.claim(
    "yang2018.noprivacy-model",
    SafariNoPrivacy,
    kind="utility",
    place=PAPER.at(section="II-B"),
    statement=(
        "At the stated d, n and K, where the users' rankings are riffle independent (Mallows) or real: the riffle "
        "independent model is near, without noise the error is below 0.05 in most runs."
    ),
    on_data=True,
)
def noprivacy_model(system: SafariNoPrivacy) -> dpaudit.UtilityClaim:
    independent = system.profile is not None or system.users == "mallows"
    return near_without_noise(system, "" if independent else "the users' rankings are not riffle independent")


@dpaudit.claim(
    "yang2018.noprivacy-model-any-users",
    SafariNoPrivacy,
    kind="utility",
    place=PAPER.at(section="II-B"),
    ours=True,
    statement=(
        "At the stated d, n and K, whatever model the users come from: the riffle independent model is near, without "
        "noise the error is below 0.05 in most runs."
    ),
)
def noprivacy_model_any_users(system: SafariNoPrivacy) -> dpaudit.UtilityClaim:
    return near_without_noise(system, "")


def near_without_noise(system: SafariNoPrivacy, inapplicable: str) -> dpaudit.UtilityClaim:
    """Claim that SAFARI without noise errs by less than `CLOSE` in most runs."""
    systems = ("safari-noprivacy", "uniform")
    return wins(system, lambda error: error["safari-noprivacy"] < CLOSE, systems, inapplicable=inapplicable)


@dpaudit.claim(
    "yang2018.noprivacy-chain",
    SafariNoPrivacy,
    kind="utility",
    place=PAPER.at(section="II-B"),
    ours=True,
    statement=(
        "At the stated d, n, K and users: without noise, the chain from tripletwise mutual information errs less in "
        "most runs than a random chain."
    ),
    on_data=True,
)
def noprivacy_chain(system: SafariNoPrivacy) -> dpaudit.UtilityClaim:
    return wins(
        system,
        lambda error: error["safari-noprivacy"] < error[NOISELESS_RANDOM],
        ("safari-noprivacy", NOISELESS_RANDOM, NOISELESS_FIXED, "uniform"),
        inapplicable="" if system.chain == "learned" else "the chain is not learned",
    )


# Section III-A: the five phases.


@dpaudit.claim(
    "yang2018.safari-ldp",
    Safari,
    kind="privacy",
    place=PAPER.at(section="III-A"),
    statement=(
        "For every ε > 0, d, K and chain: what a user sends in both phases together is ε-locally differentially "
        "private."
    ),
)
def safari_ldp(safari: Safari) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=safari.epsilon, view="report")


@dpaudit.claim(
    "yang2018.learned-chain",
    Safari,
    kind="utility",
    place=PAPER.at(section="III-A", note="Phase 2"),
    statement=(
        "At the stated ε, d, n, K and users: the chain learned at ε/2 errs less in most runs than a random one with "
        "all of ε for Phase 4."
    ),
    ours=True,
    on_data=True,
)
def learned_chain(safari: Safari) -> dpaudit.UtilityClaim:
    return wins(
        safari,
        lambda error: error["safari"] < error[RANDOM_CHAIN],
        ("safari", RANDOM_CHAIN, FIXED_CHAIN, "uniform"),
        inapplicable="" if safari.chain == "learned" else "the chain is not learned",
    )


# Section III-B: Rule I.


@dpaudit.claim(
    "yang2018.rule1-size",
    Safari,
    kind="lemma",
    place=PAPER.at(section="III-B"),
    statement="For every d from 3 to 8: Rule I makes d C(d-1, 2) attributes with 2 d values each, all of which occur.",
    only={"items": range(3, 9)},
)
def rule1_size(safari: Safari) -> dpaudit.LemmaClaim:
    def margin(items: int) -> float:
        claimed = [items * math.comb(items - 1, 2), 2 * items]
        return -float(np.abs(rule_one_size(items) - claimed).max())

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{"items": items} for items in range(3, 9)],
        complete=True,
        scope="d from 3 to 8; all rankings",
    )


def rule_one_size(items: int) -> np.ndarray:
    """Number of attributes of Rule I, and the number of values of each that occur; -1 where these numbers differ."""
    positions = rankings.positions(rankings.all_rankings(items))
    seen = {len(np.unique(rule_one(positions, np.full(len(positions), asked)))) for asked in range(items)}
    return np.array([len(triplets(items)), seen.pop() if len(seen) == 1 else -1])


@dpaudit.claim(
    "yang2018.small-domains",
    Safari,
    kind="lemma",
    place=PAPER.at(section="III-D"),
    statement=(
        "For every d from 3 to 10, the range of the experiments, at K = 1: the domains of Rules I and II are smaller "
        "than d!."
    ),
    only={"items": range(3, 11), "thin": 1},
)
def small_domains(safari: Safari) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda items: float(math.factorial(items) - 1 - largest_domain(items)),
        instances=[{"items": items} for items in range(3, 11)],
        complete=True,
        explain=lambda items: {"actual": largest_domain(items), "claimed": math.factorial(items) - 1},
        scope="d from 3 to 10, K = 1",
    )


@dpaudit.claim(
    "yang2018.small-domains-mended",
    Safari,
    kind="lemma",
    place=PAPER.at(section="III-D"),
    ours=True,
    statement=(
        "For every d from 4 to 10, at K = 1: the domains of Rules I and II have at most a third of the values that "
        "there are rankings."
    ),
    only={"items": range(4, 11), "thin": 1},
)
def small_domains_mended(safari: Safari) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda items: float(math.factorial(items) // 3 - largest_domain(items)),
        instances=[{"items": items} for items in range(4, 11)],
        complete=True,
        explain=lambda items: {"actual": largest_domain(items), "claimed": math.factorial(items) // 3},
        scope="d from 4 to 10, K = 1",
    )


def largest_domain(items: int) -> int:
    """Largest domain of an attribute of either rule, at K = 1."""
    return int(max(*rule_one_sizes(items), *chain_in_order(items, 1).sizes()))


@dpaudit.claim(
    "yang2018.rule1-consistency",
    Safari,
    kind="lemma",
    place=PAPER.at(section="III-B"),
    statement=(
        "For every distribution of rankings: S1 and S2 follow from S3, as every attribute gives the same Pr[φ] and "
        "Pr[λ]."
    ),
)
def rule1_consistency(safari: Safari) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda profile: -disagreement(profile),
        variables={"profile": dpaudit.RankingProfiles(agents=6, alternatives=6)},
        tolerance=1e-9,
        scope="distributions S3 of the rankings themselves, up to six items",
    )


def disagreement(profile: np.ndarray) -> float:
    """Largest difference between what two triplets say of the place of x, or of the order of y and z."""
    joint = triplet_distributions(rankings.positions(profile))
    listed = triplets(profile.shape[1])
    worst = 0.0
    for columns, axis in ((listed[:, :1], -1), (listed[:, 1:], -2)):
        shares = joint.sum(axis=axis)
        for key in np.unique(columns, axis=0):
            alike = shares[(columns == key).all(axis=1)]
            worst = max(worst, float(np.ptp(alike, axis=0).max()))
    return worst


@dpaudit.claim(
    "yang2018.rule1-consistency-estimates",
    Safari,
    kind="utility",
    place=PAPER.at(section="III-B", note="of the estimates"),
    statement=(
        "At the stated ε, d, n and users: the estimates of two attributes of Rule I agree on one Pr[φ] within a "
        "variation distance of 0.05 on average (a constant chosen here)."
    ),
    ours=True,
    on_data=True,
)
def rule1_consistency_estimates(safari: Safari) -> dpaudit.UtilityClaim:
    def once(orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, float]:
        frequencies = safari.triplet_frequencies(rankings.positions(orders), rng).reshape(-1, safari.items, 2)
        # The first two attributes are both about item 0.
        first, second = frequencies[:2].sum(axis=-1)
        return {"value": min(1.0, float(variation_distances(first, second, 1)))}

    return dpaudit.UtilityClaim(
        bound=CLOSE,
        measure=repeated(safari, once),
        runs=400,
        quantity="variation distance between two attributes' estimates of one Pr[φ], cut at 1, averaged",
        scope=setting(safari),
    )


@dpaudit.claim(
    "yang2018.rule1-sufficient",
    Safari,
    kind="lemma",
    place=[PAPER.at(section="III-B", note="of ranks within a set"), PAPER.at(section="II-B")],
    statement=(
        "For d = 4 and 5, where φ is read as the rank within the set that is split (Definition 1 has the rank among "
        "all items): S3 determines the distributions that the splits after the first need."
    ),
    ours=True,
    only={"items": (4, 5)},
)
def rule1_sufficient(safari: Safari) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda items: float(rank_gap(items)),
        instances=[{"items": items} for items in (4, 5)],
        complete=True,
        explain=lambda items: {"actual": -float(rank_gap(items)), "claimed": 0.0},
        scope="d = 4 and 5, sets of d - 1 items; linear functions of the distribution of rankings",
    )


@cache
def rank_gap(items: int) -> int:
    """Rank of S3 less the rank of S3 together with S3 of all items but the first; 0 where S3 determines the latter."""
    positions = rankings.positions(rankings.all_rankings(items))
    rows = triplet_indicators(positions)
    within = triplet_indicators(relative_positions(positions, range(1, items)))
    return int(np.linalg.matrix_rank(rows) - np.linalg.matrix_rank(np.concatenate([rows, within])))


def triplet_indicators(positions: np.ndarray) -> np.ndarray:
    """For every value of every attribute of Rule I, which rankings have it."""
    items = positions.shape[1]
    rows = []
    for asked in range(len(triplets(items))):
        values = rule_one(positions, np.full(len(positions), asked))
        rows.append(values == np.arange(2 * items)[:, None])
    return np.concatenate(rows).astype(float)
