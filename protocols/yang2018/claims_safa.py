"""What Section III-D and the technical report claim of SAFA and Harmony, in the order of the theorems."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

import dpaudit
from dpaudit import randomizers

from .attributes import AttributeCollector
from .harmony import Harmony, HarmonyReport
from .paper import HARMONY, PAPER, technical_report
from .safa import Safa, SafaReport
from .variances import (
    harmony_variance,
    mended_harmony_variance,
    mended_safa_variance,
    printed_crossover,
    printed_harmony_variance,
    printed_safa_variance,
    safa_variance,
    true_crossover,
)

ABOUT = 1.1
"""What "about" is taken to mean: a factor of at most this, on either side."""

LARGEST_DOMAIN = 4096
"""Largest domain size that is looked at."""

MOST_SIZES = 500
"""Most domain sizes that are looked at, all of them or spread out."""


@dpaudit.claim(
    "yang2018.harmony-ldp",
    Harmony,
    kind="privacy",
    place=[PAPER.at(section="III-D"), HARMONY.at()],
    statement="For every ε' > 0, |A| and m: a report of Harmony is ε'-locally differentially private.",
)
def harmony_ldp(harmony: Harmony) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=harmony.epsilon, view="report")


@dpaudit.claim(
    "yang2018.grr-best",
    Safa,
    kind="lemma",
    place=PAPER.at(section="III-D"),
    statement=(
        "At the stated ε', domain size m, 2 d for Rule I and up to d for Rule II at K = 1, and frequency of a value: "
        "of the frequency oracles GRR, unary encoding, local hashing and Hadamard response, GRR has the least variance "
        '(the paper says "a small number of values", after [5], and not how small).'
    ),
    ours=True,
)
def grr_best(safa: Safa) -> dpaudit.LemmaClaim:
    oracles = frequency_oracles(safa.values, safa.epsilon)

    def margin() -> float:
        variances = {name: float(oracle.variance(safa.frequency, 1)) for name, oracle in oracles.items()}
        grr = variances.pop("grr")
        return min(variances.values()) / grr - 1

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{}],
        complete=True,
        explain=lambda: {name: float(oracle.variance(safa.frequency, safa.agents)) for name, oracle in oracles.items()},
        scope=(
            f"ε' = {safa.epsilon:g}, m = {safa.values}, f = {safa.frequency:g}; the users who are asked for one "
            "attribute, their counts debiased by their number, so for any |A|"
        ),
    )


@dpaudit.claim(
    "yang2018.grr-best-mended",
    Safa,
    kind="lemma",
    place=PAPER.at(section="III-D", note="how small the number of values has to be"),
    statement=(
        "For every ε' > 0 and m, and a value of frequency 0: GRR has a smaller variance than unary encoding, local "
        "hashing and Hadamard response if m < 3 e^ε' + 2, and otherwise not."
    ),
    ours=True,
)
def grr_best_mended(safa: Safa) -> dpaudit.LemmaClaim:
    """GRR has the variance (e + m - 2) / (e - 1)^2; the least of the others is 4 e / (e - 1)^2, of unary encoding."""
    crossover = 3 * math.exp(safa.epsilon) + 2

    def variances(values: int) -> tuple[float, float]:
        found = {
            name: float(oracle.variance(0.0, 1)) for name, oracle in frequency_oracles(values, safa.epsilon).items()
        }
        return found.pop("grr"), min(found.values())

    def margin(values: int) -> float:
        grr, others = variances(values)
        return others / grr - 1 if values < crossover else 1 - others / grr

    def explain(values: int) -> Mapping[str, float]:
        grr, others = variances(values)
        return {"GRR": grr, "least of the others": others, "crossover": crossover}

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{"values": values} for values in domain_sizes(4 * crossover)],
        complete=4 * crossover <= MOST_SIZES,
        explain=explain,
        tolerance=1e-9,
        scope=f"ε' = {safa.epsilon:g}, {domain_sizes_text(4 * crossover)}, four times the crossover; one user",
        inapplicable=_held(safa),
    )


def _held(safa: Safa) -> str:
    """Why a claim about a value that nobody holds says nothing here."""
    return "" if safa.frequency == 0 else f"it is about a value of frequency 0, not {safa.frequency:g}"


def frequency_oracles(values: int, epsilon: float) -> dict[str, randomizers.FrequencyOracle]:
    """Frequency oracles that GRR is compared with, and GRR."""
    return {
        "grr": randomizers.GeneralizedRandomizedResponse(values, epsilon),
        "symmetric unary encoding": randomizers.UnaryEncoding(values, epsilon),
        "optimised unary encoding": randomizers.UnaryEncoding(values, epsilon, "optimised"),
        "binary local hashing": randomizers.LocalHashing.binary(values, epsilon),
        "optimal local hashing": randomizers.LocalHashing.optimal(values, epsilon),
        "hadamard response": randomizers.HadamardResponse(values, epsilon),
    }


@dpaudit.claim(
    "yang2018.safa-theorem1",
    Safa,
    kind="privacy",
    place=technical_report(1),
    statement="For every ε' > 0, |A| and m: a report of SAFA is ε'-locally differentially private.",
)
def safa_theorem1(safa: Safa) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=safa.epsilon, view="report")


@dpaudit.claim(
    "yang2018.safa-theorem2",
    Safa,
    kind="lemma",
    place=technical_report(2),
    statement="For every ε' > 0, |A|, m and tuple of values: SAFA's frequencies are unbiased.",
)
def safa_theorem2(safa: Safa) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda truth: -bias(safa, truth),
        instances=[{"truth": truth} for truth in range(safa.values)],
        complete=True,
        tolerance=1e-9,
        scope=f"{collected(safa)}, m = {safa.values}: any users, as the estimates are sums over them",
    )


def bias(safa: Safa, truth: int) -> float:
    """Largest bias over one attribute's values, from the law of the report, as a share of the largest estimate."""
    randomizer = safa.report.randomizer
    law = randomizer.law([truth] * safa.attributes)
    mean, largest = np.zeros((safa.attributes, safa.values)), 1.0
    for (attribute, value), p in zip(law.outcomes, np.exp(law.log_probabilities), strict=True):
        estimate = randomizer.estimate(randomizer.tally(np.array([attribute]), np.array([value])), 1)
        mean += p * estimate
        largest = max(largest, float(np.abs(estimate).max()))
    mean[:, truth] -= 1
    return float(np.abs(mean).max()) / largest


@dpaudit.claim(
    "yang2018.safa-theorem3",
    Safa,
    kind="utility",
    place=technical_report(3),
    statement=(
        "For every ε' > 0, |A|, m, n and frequency f: the variance of SAFA's estimate is about ((e + m - 1)|A| - 1) / "
        "(n (e - 1)^2), e for e^ε', that is within a factor of 1.1 (a constant chosen here)."
    ),
)
def safa_theorem3(safa: Safa) -> dpaudit.UtilityClaim:
    return about(safa, printed_safa_variance(safa), safa_variance(safa))


def about(at: AttributeCollector, printed: float, exact: float) -> dpaudit.UtilityClaim:
    """Claim that a printed variance is within a factor of 1.1 of the exact one, on either side."""
    return dpaudit.UtilityClaim(
        bound=ABOUT,
        exact=lambda: max(printed / exact, exact / printed),
        support=(1.0, math.inf),
        quantity="the larger of the printed and the exact variance over the smaller",
        scope=(
            f"{collected(at)}, m = {at.values}, f = {at.frequency:g}, "
            f"n = {at.agents}: printed {printed:.6g}, exact {exact:.6g}"
        ),
    )


def collected(at: AttributeCollector) -> str:
    """Budget and number of attributes in words."""
    return f"ε' = {at.epsilon:g}, |A| = {at.attributes}"


@dpaudit.claim(
    "yang2018.safa-theorem3-side",
    Safa,
    kind="lemma",
    place=technical_report(3, note="what is left out"),
    statement=(
        "For every |A|, m and frequency: SAFA's exact variance is at least the printed one, and at most e^ε' times "
        "that."
    ),
    ours=True,
)
def safa_theorem3_side(safa: Safa) -> dpaudit.LemmaClaim:
    def margin(values: int, attributes: int, frequency: float) -> float:
        here = safa.but(values=values, attributes=attributes, frequency=frequency)
        ratio = safa_variance(here) / printed_safa_variance(here)
        return min(ratio - 1, math.exp(safa.epsilon) - ratio)

    def explain(values: int, attributes: int, frequency: float) -> Mapping[str, float]:
        here = safa.but(values=values, attributes=attributes, frequency=frequency)
        return {"claimed": printed_safa_variance(here), "actual": safa_variance(here)}

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{"values": safa.values, "attributes": safa.attributes, "frequency": safa.frequency}],
        variables={
            "values": dpaudit.Integers(2, 1000),
            "attributes": dpaudit.Integers(1, 500),
            "frequency": dpaudit.Reals(0.0, 1.0),
        },
        explain=explain,
        tolerance=1e-9,
        scope=f"ε' = {safa.epsilon:g}",
    )


@dpaudit.claim(
    "yang2018.safa-theorem3-mended",
    Safa,
    kind="lemma",
    place=technical_report(3, note="with what is left out"),
    statement=(
        "For every ε' > 0, |A|, m, n and frequency f: the variance of SAFA's estimate is the printed one plus f (e - "
        "1) ((e + m - 1)|A| - e - 1) / (n (e - 1)^2), e for e^ε'."
    ),
    ours=True,
)
def safa_theorem3_mended(safa: Safa) -> dpaudit.LemmaClaim:
    """Held against the law of a report, of a user who holds the value and of one who does not."""
    return from_reports(safa, mended_safa_variance(safa), lambda: one_user_variance(safa))


@dpaudit.claim(
    "yang2018.harmony-variance-mended",
    Harmony,
    kind="lemma",
    place=technical_report(4, note="with the exact factor"),
    statement=(
        "For every ε' > 0, |A|, m, n and frequency f, with orthogonal columns: the variance of Harmony's estimate is "
        "(|A| (e + 1)^2 / (e - 1)^2 - f) / n, e for e^ε'."
    ),
    ours=True,
)
def harmony_variance_mended(harmony: Harmony) -> dpaudit.LemmaClaim:
    """Held against the law of a report, of a user who holds the value and of one who does not."""
    claim = from_reports(harmony, mended_harmony_variance(harmony), lambda: one_harmony_variance(harmony))
    hadamard = harmony.projection == "hadamard"
    return replace(claim, inapplicable="" if hadamard else "it is about orthogonal columns")


def from_reports(
    at: AttributeCollector, claimed: float, of_one: Callable[[], tuple[float, float]]
) -> dpaudit.LemmaClaim:
    """Claim that a variance is that of n users: of a share f, who hold the value, and of the others."""

    def exact() -> float:
        own, other = of_one()
        return (at.frequency * own + (1 - at.frequency) * other) / at.agents

    return dpaudit.LemmaClaim(
        margin=lambda: -abs(claimed / exact() - 1),
        instances=[{}],
        complete=True,
        explain=lambda: {"actual": exact(), "claimed": claimed},
        tolerance=1e-9,
        scope=f"{collected(at)}, m = {at.values}, f = {at.frequency:g}, n = {at.agents}; from the law of one report",
    )


def one_user_variance(safa: Safa) -> tuple[float, float]:
    """Variance of one user's share in SAFA's estimate of a value, where the user holds it and where not."""
    report = safa.report

    def estimate(row: np.ndarray) -> float:
        return float(report.randomizer.estimate(report.randomizer.tally(row[:1], row[1:]), 1)[0, 0])

    return _variance(report, estimate, 0), _variance(report, estimate, 1)


def one_harmony_variance(harmony: Harmony) -> tuple[float, float]:
    """Variance of one user's share in Harmony's estimate of a value, where the user holds it and where not."""
    report = harmony.report

    def estimate(row: np.ndarray) -> float:
        return float(report.randomizer.estimate(report.randomizer.orthogonal(), row[:1], row[None, 1:])[0, 0])

    return _variance(report, estimate, 0), _variance(report, estimate, 1)


def _variance(report: SafaReport | HarmonyReport, estimate: Callable[[np.ndarray], float], truth: int) -> float:
    """Variance of an estimate made of one report of a user who holds one value of all attributes."""
    law = report.law([truth] * report.attributes)
    p, values = np.exp(law.log_probabilities), np.array([estimate(row) for row in np.asarray(law.outcomes)])
    return float(p @ values**2 - (p @ values) ** 2)


@dpaudit.claim(
    "yang2018.harmony-variance",
    Harmony,
    kind="utility",
    place=technical_report(4),
    statement=(
        "For every ε' > 0, |A|, m, n and frequency f, with orthogonal columns: the variance of Harmony's estimate is "
        "(2|A| - 1)(e + 1)^2 / (n (e - 1)^2), e for e^ε', that is within a factor of 1.1 (a constant chosen here)."
    ),
)
def harmony_printed_variance(harmony: Harmony) -> dpaudit.UtilityClaim:
    claim = about(harmony, printed_harmony_variance(harmony), harmony_variance(harmony))
    hadamard = harmony.projection == "hadamard"
    return replace(
        claim, inapplicable="" if hadamard else "it is about orthogonal columns; see harmony-variance-random"
    )


@dpaudit.claim(
    "yang2018.harmony-variance-random",
    Harmony,
    kind="utility",
    place=technical_report(4, note="with random signs"),
    statement=(
        "For every ε' > 0, |A|, m, n and frequency f, with fair random signs for the binary matrix: the variance of "
        "Harmony's estimate is (2|A| - 1)(e + 1)^2 / (n (e - 1)^2), e for e^ε', within a factor of 1.1 (a reading and "
        "a constant chosen here)."
    ),
    ours=True,
)
def harmony_random_variance(harmony: Harmony) -> dpaudit.UtilityClaim:
    claim = about(harmony, printed_harmony_variance(harmony), harmony_variance(harmony))
    return replace(claim, inapplicable="" if harmony.projection == "random" else "it is about random signs")


@dpaudit.claim(
    "yang2018.safa-theorem4",
    Safa,
    kind="lemma",
    place=technical_report(4),
    statement=(
        "For every ε' > 0, |A| and n, and a value nobody holds: SAFA's variance is below Harmony's at every domain "
        "size m below ((2|A| - 1)(e + 1)^2 + 1) / |A| - e + 1, e for e^ε', which is 2 e^2 + 3 e + 3 for many "
        "attributes."
    ),
)
def safa_theorem4(safa: Safa) -> dpaudit.LemmaClaim:
    crossover = printed_crossover(safa)

    def variances(values: int) -> tuple[float, float]:
        here = safa.but(values=values, frequency=0.0)
        return safa_variance(here), harmony_variance(here)

    def margin(values: int) -> float:
        ours, theirs = variances(values)
        return theirs - ours

    def explain(values: int) -> Mapping[str, float]:
        ours, theirs = variances(values)
        return {
            "printed crossover": crossover,
            "true crossover": true_crossover(safa),
            "actual": ours,
            "claimed": theirs,
        }

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{"values": values} for values in domain_sizes(crossover)],
        complete=crossover <= MOST_SIZES,
        explain=explain,
        scope=(
            f"{collected(safa)}, n = {safa.agents}, {domain_sizes_text(crossover)}; Harmony with "
            f"{safa.projection} signs"
        ),
        inapplicable=_held(safa),
    )


@dpaudit.claim(
    "yang2018.safa-theorem4-meant",
    Safa,
    kind="lemma",
    place=technical_report(4, note="with Harmony's exact variance"),
    statement=(
        "For every ε' > 0 and |A|, and a value nobody holds: SAFA's variance is below Harmony's for m < e^2 + e + 2 + "
        "1/|A|, e for e^ε', and not otherwise."
    ),
)
def safa_theorem4_meant(safa: Safa) -> dpaudit.LemmaClaim:
    crossover = true_crossover(safa)

    def margin(values: int) -> float:
        here = safa.but(values=values, frequency=0.0)
        gain = harmony_variance(here) / safa_variance(here) - 1
        return gain if values < crossover else -gain

    return dpaudit.LemmaClaim(
        inapplicable=("" if safa.projection == "hadamard" else "it is the crossover for orthogonal columns")
        or _held(safa),
        margin=margin,
        instances=[{"values": values} for values in domain_sizes(4 * crossover)],
        complete=4 * crossover <= MOST_SIZES,
        tolerance=1e-9,
        scope=f"{collected(safa)}, {domain_sizes_text(4 * crossover)}, four times the crossover",
    )


def domain_sizes(below: float) -> list[int]:
    """Domain sizes from 2 on, below a limit and the largest domain looked at; where they are many, spread out."""
    last = min(math.ceil(below) - 1, LARGEST_DOMAIN)
    if last < MOST_SIZES:
        return list(range(2, last + 1))
    spread: list[int] = np.unique(np.geomspace(2, last, MOST_SIZES).astype(int)).tolist()
    return spread


def domain_sizes_text(below: float) -> str:
    """The same in words."""
    last = min(math.ceil(below) - 1, LARGEST_DOMAIN)
    return f"{'every m' if last < MOST_SIZES else f'{MOST_SIZES} sizes m'} below {min(below, LARGEST_DOMAIN + 1):.6g}"
