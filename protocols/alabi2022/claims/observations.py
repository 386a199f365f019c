"""Proof overview of the lower bounds: the map from words to rankings, and Observations 15 and 16."""

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from ..marginals_reduction import MarginalsReduction
from ..paper import LOWER_BOUNDS, PAPER
from ..words import least_cost, padding_of, ranking_of, word, word_of

OVERVIEW = PAPER.at(section=LOWER_BOUNDS, observation=15, part="before")
OBSERVATION15 = PAPER.at(section=LOWER_BOUNDS, observation=15)
OBSERVATION16 = PAPER.at(section=LOWER_BOUNDS, observation=16)
ENUMERATED = 7
"""Most alternatives whose rankings are all enumerated."""
LISTED_DIMENSIONS = 4
"""Longest words of which all pairs are listed."""
WORDS = "x_j = -1 where bit j of `word` is set; profiles of several agents follow, because both sides are means"

OnRankings = Callable[[np.ndarray, np.ndarray], tuple[Any, Any]]
"""(k rankings, a word) -> actual and claimed values, (k,) each."""

OnWords = Callable[[np.ndarray, np.ndarray], tuple[float, float]]
"""(x, y) -> actual and claimed value."""


@dpaudit.claim(
    "alabi2022.rho-inverse",
    MarginalsReduction,
    kind="lemma",
    place=OVERVIEW,
    statement="For every word x: ρ(π^x) = x, with ρ as printed: -1 where j comes first.",
)
def rho_inverse(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return _on_words(reduction, _inverse(reduction, -1))


@dpaudit.claim(
    "alabi2022.rho-inverse-meant",
    MarginalsReduction,
    kind="lemma",
    place=OVERVIEW,
    statement="For every word x: ρ(π^x) = x, with ρ = +1 where j comes before j + d + t.",
)
def rho_inverse_meant(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return _on_words(reduction, _inverse(reduction, 1))


def _inverse(reduction: MarginalsReduction, sign: int) -> OnWords:
    d, t = reduction.dimensions, reduction.padding
    return lambda x, y: (float((sign * word_of(ranking_of(x, t)[None], d)[0] != x).sum()), 0.0)


@dpaudit.claim(
    "alabi2022.observation15",
    MarginalsReduction,
    kind="lemma",
    place=OBSERVATION15,
    statement=(
        "For every σ and words x: K(σ, {π^x}) is at least t (d / 2 - <ρ(σ), mean x> / 2), with ρ as printed: -1 where "
        "j comes first."
    ),
)
def observation15(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return _on_rankings(reduction, _linear(-1))


@dpaudit.claim(
    "alabi2022.observation15-meant",
    MarginalsReduction,
    kind="lemma",
    place=OBSERVATION15,
    statement=(
        "For every σ and words x: K(σ, {π^x}) is at least t (d / 2 - <ρ(σ), mean x> / 2), with ρ = +1 where j comes "
        "before j + d + t."
    ),
)
def observation15_meant(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return _on_rankings(reduction, _linear(1))


@dpaudit.claim(
    "alabi2022.observation15-text",
    MarginalsReduction,
    kind="lemma",
    place=OBSERVATION15,
    statement=(
        "For every σ and words x: K(σ, {π^x}) is at least t (d / 2 - <ρ(σ), mean x> / 2), with ρ as printed and the "
        "map of the text, which switches where x_j = +1."
    ),
    mends="alabi2022.observation15",
)
def observation15_text(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    def sides(orders: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
        # The text's map of x is the formula's of -x.
        return _linear(1)(orders, -x)[0], _linear(-1)(orders, x)[1]

    return _on_rankings(reduction, sides)


@dpaudit.claim(
    "alabi2022.observation15-sharp",
    MarginalsReduction,
    kind="lemma",
    place=OBSERVATION15,
    ours=True,
    statement=(
        "For every σ and word x: K(σ, π^x) is at least D (t + d) - D (D - 1) / 2, where D counts the places where ρ(σ) "
        "and x differ."
    ),
)
def observation15_sharp(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    def sides(orders: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
        different = (word_of(orders, len(x)) != x).sum(axis=1)
        return _linear(1)(orders, x)[0], least_cost(different, len(x), padding_of(orders, x))

    return _on_rankings(reduction, sides)


@dpaudit.claim(
    "alabi2022.observation15-constant",
    MarginalsReduction,
    kind="lemma",
    place=OBSERVATION15,
    ours=True,
    statement=(
        "The largest c with K(σ, {π^x}) >= c (d / 2 - <ρ(σ), mean x> / 2) for every σ and words x is t + (d + 1) / 2."
    ),
)
def observation15_constant(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    d, t, m = reduction.dimensions, reduction.padding, reduction.alternatives
    if m > ENUMERATED:
        reason = f"the rankings of {m} alternatives are too many; they are enumerated up to {ENUMERATED}"
        return dpaudit.LemmaClaim(margin=lambda: 0.0, inapplicable=reason)
    best, claimed = _best_constant(d, t), t + (d + 1) / 2
    return dpaudit.LemmaClaim(
        margin=lambda: -abs(best - claimed),
        instances=[{}],
        complete=True,
        explain=lambda: {"actual": best, "claimed": claimed},
        scope=f"all rankings and all words at d = {d}, t = {t}",
    )


def _linear(sign: int) -> OnRankings:
    def sides(orders: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
        t = padding_of(orders, x)
        wrong = (sign * word_of(orders, len(x)) != x).sum(axis=1)
        return rankings.kendall_tau(orders, ranking_of(x, t)), t * wrong

    return sides


@dpaudit.claim(
    "alabi2022.observation16",
    MarginalsReduction,
    kind="lemma",
    place=OBSERVATION16,
    statement="For every y and words x: K(π^y, {π^x}) is at most t (d / 2 - <y, mean x> / 2) + 2 d^2.",
)
def observation16(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return _on_words(reduction, _upper(reduction, 1, 2))


@dpaudit.claim(
    "alabi2022.observation16-meant",
    MarginalsReduction,
    kind="lemma",
    place=OBSERVATION16,
    statement="For every y and words x: K(π^y, {π^x}) is at most 2 t (d / 2 - <y, mean x> / 2) + 2 d^2.",
)
def observation16_meant(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return _on_words(reduction, _upper(reduction, 2, 2))


@dpaudit.claim(
    "alabi2022.observation16-sharp",
    MarginalsReduction,
    kind="lemma",
    place=OBSERVATION16,
    ours=True,
    statement="For every y and words x: K(π^y, {π^x}) is at most 2 t (d / 2 - <y, mean x> / 2) + d^2.",
    mends="alabi2022.observation16",
)
def observation16_sharp(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return _on_words(reduction, _upper(reduction, 2, 1))


@dpaudit.claim(
    "alabi2022.observation16-exact",
    MarginalsReduction,
    kind="lemma",
    place=OBSERVATION16,
    ours=True,
    statement="For every y and x: K(π^y, π^x) = D (2 t + 2 d - D), where D counts the places where x and y differ.",
)
def observation16_exact(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    d, t = reduction.dimensions, reduction.padding

    def sides(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
        different = (x != y).sum()
        return _upper(reduction, 2, 1)(x, y)[0], float(different * (2 * t + 2 * d - different))

    return _on_words(reduction, sides, equal=True)


def _upper(reduction: MarginalsReduction, pairs: int, squares: int) -> OnWords:
    d, t = reduction.dimensions, reduction.padding
    return lambda x, y: (
        float(rankings.kendall_tau(ranking_of(y, t), ranking_of(x, t))),
        float(pairs * t * (x != y).sum() + squares * d**2),
    )


def _on_rankings(reduction: MarginalsReduction, sides: OnRankings) -> dpaudit.LemmaClaim:
    """Claim about all rankings and one word: enumerated where that is possible, drawn otherwise.

    Both sides are means over the words of a profile, so one word is enough.
    """
    d, t, m = reduction.dimensions, reduction.padding, reduction.alternatives
    listed = _worst_rankings(d, t, sides) if m <= ENUMERATED else []

    def one(sigma: np.ndarray, bits: int, dimensions: int) -> tuple[float, float]:
        orders = np.asarray(sigma)[:1]
        actual, claimed = sides(orders, word(bits, min(dimensions, orders.shape[1] // 2)))
        return float(actual[0]), float(claimed[0])

    def margin(sigma: np.ndarray, word: int, dimensions: int) -> float:
        actual, claimed = one(sigma, word, dimensions)
        return actual - claimed

    drawn: dict[str, Any] = {
        "sigma": dpaudit.RankingProfiles(1, m),
        "word": dpaudit.Integers(0, 2**d - 1),
        "dimensions": dpaudit.Integers(1, d),
    }
    return dpaudit.LemmaClaim(
        margin=margin,
        instances=listed,
        complete=bool(listed),
        variables={} if listed else drawn,
        explain=lambda sigma, word, dimensions: dict(
            zip(("actual", "claimed"), one(sigma, word, dimensions), strict=True)
        ),
        scope=(
            f"all {math.factorial(m)} rankings for each of {2**d} words, d = {d}, t = {t}"
            if listed
            else f"drawn rankings of up to {m} alternatives and words of up to {d} places"
        )
        + f"; {WORDS}",
    )


def _on_words(reduction: MarginalsReduction, sides: OnWords, *, equal: bool = False) -> dpaudit.LemmaClaim:
    """Claim about all pairs of words: that the actual value is at most the claimed one, or equal to it."""
    d, t = reduction.dimensions, reduction.padding
    every = range(2**d) if d <= LISTED_DIMENSIONS else ()
    drawn = dpaudit.Integers(0, 2**d - 1)

    def one(x: int, y: int) -> tuple[float, float]:
        return sides(word(x, d), word(y, d))

    def margin(word: int, other: int) -> float:
        actual, claimed = one(word, other)
        return -abs(claimed - actual) if equal else claimed - actual

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{"word": x, "other": y} for x, y in itertools.product(every, repeat=2)],
        complete=bool(every),
        variables={} if every else {"word": drawn, "other": drawn},
        explain=lambda word, other: dict(zip(("actual", "claimed"), one(word, other), strict=True)),
        scope=f"{'all' if every else 'drawn'} pairs of words x and y (`other`), d = {d}, t = {t}; {WORDS}",
    )


@cache
def _every(alternatives: int) -> np.ndarray:
    return rankings.all_rankings(alternatives)


def _worst_rankings(dimensions: int, padding: int, sides: OnRankings) -> list[dict[str, Any]]:
    """For every word, the ranking of all with the smallest actual value against the claimed one."""
    every = _every(2 * dimensions + padding)
    worst = []
    for bits in range(2**dimensions):
        actual, claimed = sides(every, word(bits, dimensions))
        place = int(np.argmin(actual - claimed))
        worst.append({"sigma": every[place][None], "word": bits, "dimensions": dimensions})
    return worst


def _best_constant(dimensions: int, padding: int) -> float:
    """Least K(σ, π^x) / D over all rankings σ and words x with D > 0."""
    every = _every(2 * dimensions + padding)
    ratios = []
    for bits in range(2**dimensions):
        x = word(bits, dimensions)
        different = (word_of(every, dimensions) != x).sum(axis=1)
        cost = rankings.kendall_tau(every, ranking_of(x, padding))
        ratios.append(float((cost[different > 0] / different[different > 0]).min()))
    return min(ratios)
