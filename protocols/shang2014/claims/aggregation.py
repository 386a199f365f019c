"""Section II-A: ranking rules."""

from collections.abc import Sequence

import numpy as np

import dpaudit
from dpaudit import rankings

from ..bounds import rule_of
from ..gaussian_histogram import GaussianHistogram
from ..other_rules import histogram_margins
from ..paper import PAPER
from ..positional import FloatArray, PositionalRule
from .shared import setting, unless_measurable, unless_positional

CONDORCET = PAPER.at(section="II-A", note="on the Condorcet criterion")

FISHBURN = ((6, (0, 1, 2)), (3, (2, 0, 1)), (4, (1, 0, 2)), (4, (1, 2, 0)))
"""Rankings of 17 agents: the first alternative beats both others, and the second has more points by most rules.

Fishburn, "Paradoxes of voting", American Political Science Review 68, 1974.
"""


@dpaudit.claim(
    "shang2014.normalised-scores",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="II-A", note="on normalised scores"),
    statement="Scores normalised to s_1 = 1 and s_M = 0 give the same rankings, for any scores that fall.",
)
def normalised_scores(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    m = system.alternatives

    def margin(seed: int) -> float:
        rng = np.random.default_rng(seed)
        scores = np.sort(rng.normal(size=m))[::-1]
        histogram = rng.normal(size=(1, len(rankings.all_rankings(m))))
        normal = (scores - scores[-1]) / (scores[0] - scores[-1])
        orders = [
            np.argsort(-PositionalRule(tuple(each.tolist())).score_histograms(histogram)) for each in (scores, normal)
        ]
        return 0.0 if np.array_equal(orders[0], orders[1]) else -1.0

    return dpaudit.LemmaClaim(
        margin=margin,
        variables={"seed": dpaudit.Integers(0, 2**32 - 1)},
        scope=f"M = {m}, scores and noisy histograms drawn by seed",
        inapplicable=unless_measurable(system),
    )


@dpaudit.claim(
    "shang2014.kemeny-condorcet",
    GaussianHistogram,
    kind="lemma",
    place=CONDORCET,
    statement="The Kemeny-Young method ranks an alternative first that a majority prefers to each other one.",
)
def kemeny_condorcet(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    m = system.alternatives

    def margin(seed: int, agents: int) -> float:
        rng = np.random.default_rng(seed)
        orders = rng.permuted(np.tile(np.arange(m), (agents, 1)), axis=1)
        wins = rankings.pairwise_counts(orders)
        winner = np.flatnonzero((2 * wins > agents).sum(axis=1) == m - 1)
        histogram = np.bincount(rankings.ranking_index(orders), minlength=len(rankings.all_rankings(m)))[None].astype(
            float
        )
        first = int(system.aggregate(histogram, rng)[0, 0])
        return -1.0 if winner.size and first != int(winner[0]) else 0.0

    return dpaudit.LemmaClaim(
        margin=margin,
        variables={"seed": dpaudit.Integers(0, 2**32 - 1), "agents": dpaudit.Integers(1, 25)},
        scope=f"M = {m}, profiles of up to 25 agents drawn by seed",
        inapplicable=unless_measurable(system) if system.rule == "kemeny" else "it is about the rule kemeny",
    )


@dpaudit.claim(
    "shang2014.positional-condorcet",
    GaussianHistogram,
    kind="lemma",
    place=CONDORCET,
    statement="Every positional rule fails the Condorcet criterion: on some profile another has more points.",
)
def positional_condorcet(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    rule = rule_of(system)
    m = system.alternatives

    def profiles() -> list[FloatArray]:
        others = list(range(3, m))
        vetoed = [(2, list(range(m))), (1, [1, 2, *others, 0])]
        return [_histogram(agents, m) for agents in ([(n, [*order, *others]) for n, order in FISHBURN], vetoed)]

    def ahead() -> dict[str, float]:
        scores = [rule.score_histograms(histogram) for histogram in profiles()]
        return {name: float(each[1] - each[0]) for name, each in zip(("17 agents", "3 agents"), scores, strict=True)}

    def margin() -> float:
        wins = [histogram_margins(histogram[None], m)[0] for histogram in profiles()]
        # The first alternative beats all others; pairs that have it come first.
        assert all((each[: m - 1] > 0).all() for each in wins)
        return max(ahead().values()) - 1e-9

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{}],
        complete=True,
        explain=ahead,
        scope=f"{setting(system)}; points of another alternative less the Condorcet winner's, on one of two profiles",
        inapplicable=unless_positional(system),
    )


def _histogram(agents: Sequence[tuple[int, Sequence[int]]], m: int) -> FloatArray:
    histogram = np.zeros(len(rankings.all_rankings(m)))
    for count, order in agents:
        histogram[int(rankings.ranking_index(np.array(order)))] += count
    return histogram
