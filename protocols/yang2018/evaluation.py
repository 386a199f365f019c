"""Section IV: the baselines, and what the text says of Figures 1 and 2.

The paper plots the Sushi data and prints no numbers, and the data may not be passed on. What its text says of the
curves is claimed of the data (`sushi.py`); here the same is measured on users of a model, under names of our own.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .baselines import Uniform
from .harmony import HarmonyReport
from .marginals import variation_distances
from .measures import CLOSE, FLAT, errors, most_runs, setting, wins
from .paper import PAPER
from .ranking_oracles import RankingGrr, RankingOlh, RankingRappor, RankingSh
from .rule_one import rule_one, rule_one_sizes, triplet_distributions
from .safari import Safari

LDP = "For every ε > 0 and d: a report is ε-locally differentially private."
LEFT_OUT = "what the figure leaves out"
ON_MODEL = "on users of a model"

# Section IV-A: the flat baselines.


@dpaudit.claim("yang2018.ranking-grr-ldp", RankingGrr, kind="privacy", place=PAPER.at(section="IV-A"), statement=LDP)
def ranking_grr_ldp(flat: RankingGrr) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=flat.epsilon, view="report")


@dpaudit.claim(
    "yang2018.ranking-rappor-ldp", RankingRappor, kind="privacy", place=PAPER.at(section="IV-A"), statement=LDP
)
def ranking_rappor_ldp(flat: RankingRappor) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=flat.epsilon, view="report")


@dpaudit.claim("yang2018.ranking-sh-ldp", RankingSh, kind="privacy", place=PAPER.at(section="IV-A"), statement=LDP)
def ranking_sh_ldp(flat: RankingSh) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=flat.epsilon, view="report")


@dpaudit.claim("yang2018.ranking-olh-ldp", RankingOlh, kind="privacy", place=PAPER.at(section="IV-A"), statement=LDP)
def ranking_olh_ldp(flat: RankingOlh) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=flat.epsilon, view="report")


# Section IV-B, Figure 1(a): errors over the number of items.


@dpaudit.claim(
    "yang2018.figure1a",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(a)", note=ON_MODEL),
    statement=(
        "At the stated ε, n and d >= 4, on users of a Mallows model: SAFARI's error is below that of every flat "
        "baseline in most runs, more than half of them (chosen here)."
    ),
    ours=True,
    reproduces="Figure 1(a)",
)
def figure1a(safari: Safari) -> dpaudit.UtilityClaim:
    if safari.items < 4:
        return below_flat(safari, "the text excepts fewer than four items")
    real = safari.profile is not None or safari.users == "mallows"
    return below_flat(safari, "" if real else "the paper has real rankings; see yang2018.figure1a-any-users")


@dpaudit.claim(
    "yang2018.figure1a-any-users",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(a)"),
    ours=True,
    statement=(
        "At the stated ε, n and d, whatever model the users come from: SAFARI's error is below that of every flat "
        "baseline in most runs."
    ),
)
def figure1a_any_users(safari: Safari) -> dpaudit.UtilityClaim:
    return below_flat(safari, "")


def below_flat(safari: Safari, inapplicable: str) -> dpaudit.UtilityClaim:
    """Claim that SAFARI's error is below that of every flat baseline in most runs."""
    return wins(
        safari,
        lambda error: error["safari"] < min(error[name] for name in FLAT),
        ("safari", "safari-noprivacy", "uniform", *FLAT),
        inapplicable=inapplicable,
    )


@dpaudit.claim(
    "yang2018.figure1a-small",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(a)", note=ON_MODEL),
    statement=(
        "At the stated ε, n and users, with d = 3 items: GRR, RAPPOR, SH and OLH all err at most 0.05 more than "
        "SAFARI, in most runs (both chosen here)."
    ),
    ours=True,
    reproduces="Figure 1(a)",
)
def figure1a_small(safari: Safari) -> dpaudit.UtilityClaim:
    return wins(
        safari,
        lambda error: max(error[name] for name in FLAT) < error["safari"] + CLOSE,
        ("safari", "safari-noprivacy", "uniform", *FLAT),
        inapplicable="" if safari.items < 4 else "it is about fewer than four items",
    )


@dpaudit.claim(
    "yang2018.figure1a-growth",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(a)", note=ON_MODEL),
    statement=(
        "At the stated ε, n, d and users: SAFARI's lead over the best flat baseline is larger with d items than with d "
        "- 1, in most runs (chosen here)."
    ),
    ours=True,
    reproduces="Figure 1(a)",
)
def figure1a_growth(safari: Safari) -> dpaudit.UtilityClaim:
    def once(orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        less = safari.but(items=safari.items - 1, profile=None)
        others = orders[orders != safari.items - 1].reshape(len(orders), safari.items - 1)
        here, there = lead(safari, orders, rng), lead(less, others, rng)
        return {"value": here > there, "lead at d": here, "lead at d - 1": there}

    return most_runs(
        safari,
        once,
        "the leads",
        beside_support=(-1.0, 1.0),
        scope=f"{setting(safari)}; the same users without one item",
        inapplicable="" if safari.items > 3 else "there is no triplet of fewer than three items",
    )


def lead(safari: Safari, orders: np.ndarray, rng: np.random.Generator) -> float:
    """Error of the best flat baseline less SAFARI's."""
    found = errors(safari, orders, ("safari", *FLAT), rng)
    return min(found[name] for name in FLAT) - found["safari"]


@dpaudit.claim(
    "yang2018.figure1a-uniform",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(a)", note=LEFT_OUT),
    statement=(
        "At the stated ε, n, d and users: SAFARI's error is below that of uniformly random rankings in most runs."
    ),
    ours=True,
    on_data=True,
    reproduces="Figure 1(a)",
)
def figure1a_uniform(safari: Safari) -> dpaudit.UtilityClaim:
    return wins(safari, lambda error: error["safari"] < error["uniform"], ("safari", "uniform"))


@dpaudit.claim(
    "yang2018.uniform-beats-flat",
    Uniform,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(a)", note=LEFT_OUT),
    statement=(
        "At the stated ε, n and d: every flat baseline has a larger error than rankings drawn without any data, in "
        "most runs."
    ),
    ours=True,
    on_data=True,
)
def uniform_beats_flat(uniform: Uniform) -> dpaudit.UtilityClaim:
    return wins(uniform, lambda error: error["uniform"] < min(error[name] for name in FLAT), ("uniform", *FLAT))


# Section IV-B, Figure 1(b): errors over ε.


@dpaudit.claim(
    "yang2018.figure1b-nopriv",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(b)", note=ON_MODEL),
    statement=(
        "At the stated ε, n, d and users: SAFARI's error is at most 0.05 above that without privacy, in most runs "
        "(both chosen here)."
    ),
    ours=True,
    reproduces="Figure 1(b)",
)
def figure1b_nopriv(safari: Safari) -> dpaudit.UtilityClaim:
    return wins(
        safari,
        lambda error: error["safari"] < error["safari-noprivacy"] + CLOSE,
        ("safari", "safari-noprivacy", "uniform"),
    )


@dpaudit.claim(
    "yang2018.figure1b-nopriv-large",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(b)", note=ON_MODEL),
    statement=(
        "At the stated ε, n, d and users: SAFARI's error is less above that without privacy at ε than at ε/2, in most "
        "runs (chosen here)."
    ),
    ours=True,
    reproduces="Figure 1(b)",
)
def figure1b_nopriv_large(safari: Safari) -> dpaudit.UtilityClaim:
    def once(orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        half = safari.but(epsilon=safari.epsilon / 2)
        # What is without noise does not depend on ε.
        found = errors(safari, orders, ("safari", "safari-noprivacy"), rng)
        at_half = errors(half, orders, ("safari",), rng)["safari"]
        return {
            "value": found["safari"] < at_half,
            "safari at ε": found["safari"],
            "safari at ε/2": at_half,
            "safari-noprivacy": found["safari-noprivacy"],
        }

    return most_runs(safari, once, "the average variation distances, cut at 1")


@dpaudit.claim(
    "yang2018.figure1b-degrades",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(b)", note=ON_MODEL),
    statement=(
        "At the stated ε, n, d and users: SAFARI's error at ε/2 is at most 0.05 above that at ε, in most runs (both "
        "chosen here)."
    ),
    ours=True,
    reproduces="Figure 1(b)",
)
def figure1b_degrades(safari: Safari) -> dpaudit.UtilityClaim:
    def once(orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        half = safari.but(epsilon=safari.epsilon / 2)
        at_full, at_half = (errors(at, orders, ("safari",), rng)["safari"] for at in (safari, half))
        return {"value": at_half < at_full + CLOSE, "safari at ε": at_full, "safari at ε/2": at_half}

    return most_runs(safari, once, "the average variation distances, cut at 1")


@dpaudit.claim(
    "yang2018.figure1b-advantage",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(b)", note=ON_MODEL),
    statement=(
        "At the stated ε, n, d and users: SAFARI's lead over the best flat baseline is larger at ε/2 than at ε, in "
        "most runs (chosen here)."
    ),
    ours=True,
    reproduces="Figure 1(b)",
)
def figure1b_advantage(safari: Safari) -> dpaudit.UtilityClaim:
    def once(orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        half = safari.but(epsilon=safari.epsilon / 2)
        at_full, at_half = lead(safari, orders, rng), lead(half, orders, rng)
        return {"value": at_half > at_full, "lead at ε": at_full, "lead at ε/2": at_half}

    return most_runs(safari, once, "the leads", beside_support=(-1.0, 1.0))


# Section IV-B, Figure 2: SAFA against Harmony on the distributions S3.


@dpaudit.claim(
    "yang2018.figure2",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure=2, note=ON_MODEL),
    statement=(
        "At the stated ε, n, d and users: SAFA's distributions S3 are nearer to the truth than Harmony's, both at ε/2 "
        "and Harmony with the Hadamard matrix, in most runs (budget, matrix and share of the runs chosen here)."
    ),
    ours=True,
    reproduces="Figure 2",
)
def figure2(safari: Safari) -> dpaudit.UtilityClaim:
    def error(frequencies: np.ndarray, truth: np.ndarray) -> float:
        kept = frequencies if safari.postprocess == "none" else safari.probabilities(frequencies)
        return float(variation_distances(kept, truth, 1).mean())

    def once(orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        positions = rankings.positions(orders)
        truth = triplet_distributions(positions).reshape(-1, 2 * safari.items)
        safa = error(safari.triplet_frequencies(positions, rng), truth)
        harmony = error(harmony_frequencies(safari, positions, rng), truth)
        return {"value": safa < harmony, "safa": min(1.0, safa), "harmony": min(1.0, harmony)}

    return most_runs(
        safari,
        once,
        "the average variation distances, cut at 1",
        scope=f"{setting(safari)}; both at ε/2, Harmony with the Hadamard matrix",
    )


def harmony_frequencies(safari: Safari, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Frequencies of Rule I's attributes, shape (attributes, 2 d), by Harmony at ε/2."""
    sizes = rule_one_sizes(positions.shape[1])
    report = HarmonyReport(epsilon=safari.epsilon / 2, attributes=len(sizes), values=int(sizes[0]))
    harmony = report.randomizer
    asked = harmony.assign(len(positions), rng)
    reports = harmony.randomize(harmony.orthogonal(), asked, rule_one(positions, asked), rng)
    return harmony.estimate(harmony.orthogonal(), asked, reports)
