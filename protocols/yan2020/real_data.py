"""The panels of Section 5 on real rankings: exact error rates on a given profile, and the profiles of some agents."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

import dpaudit
from dpaudit import rankings

from .comparison import METRICS, estimator
from .curves import TITLES, Values
from .evaluation import LDPKwikSortEvaluation
from .figure3 import over_the_least
from .metrics import profile_margins
from .paper import PAPER

FIGURE3 = PAPER.at(section="5.2", figure=3, note="on real rankings")
FIGURE5 = PAPER.at(section="5.4", figure=5, note="on real rankings")

FEW = 100
"""Agents of Figure 5(a) to 5(c) with whom all agents are compared."""

WITHOUT_DATA = "said of real rankings: give them with --data"

LEAST = "On real rankings, of all K of Figure 3 the error rate of {} is least at K = ϵ/2, or at 1 where ϵ is at most 2."
RISING = "On real rankings, at ϵ = 1 and ϵ = 2, the error rate of {} grows with K."
BELOW = "On the rankings of some agents of real data RR's average Kendall tau distance is at most Lap's, at every n."
CONVERGES = "With more agents of real data the distance of {} gets nearer to KwikSort's: from n = 100 to all agents."


# Section 5.2: the number of queries, exactly.


def least_exactly(evaluation: LDPKwikSortEvaluation, solution: str) -> dpaudit.UtilityClaim:
    """The expected error rate at K = ϵ/2 and at any other K of the figure, computed."""
    half = evaluation.half()
    return _exactly(
        evaluation,
        lambda: over_the_least({k: expected_error_rate(evaluation, solution, k) for k in evaluation.listed()}, half),
        quantity=f"expected error rate at K = {half} over the least at any other K of the figure",
        bound=1.0,
    )


def rising_exactly(evaluation: LDPKwikSortEvaluation, solution: str) -> dpaudit.UtilityClaim:
    """The expected error rate from one K of the figure to the next, computed."""

    def largest_decrease() -> float:
        rates = [expected_error_rate(evaluation, solution, k) for k in evaluation.listed()]
        return max(rates[i] - rates[i + 1] for i in range(len(rates) - 1))

    return _exactly(
        evaluation,
        largest_decrease,
        quantity="largest decrease of the expected error rate from one K of the figure to the next",
        inapplicable="" if evaluation.epsilon <= 2 else "said of ϵ = 1 and ϵ = 2",
    )


def _exactly(
    evaluation: LDPKwikSortEvaluation,
    exact: Callable[[], float],
    *,
    quantity: str,
    bound: float = 0.0,
    inapplicable: str = "",
) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        exact=exact,
        quantity=quantity,
        bound=bound,
        support=(-math.inf, math.inf),
        scope=f"{evaluation.setting}; errors against the majority of the agents, computed",
        inapplicable=inapplicable if evaluation.profile is not None else WITHOUT_DATA,
    )


def expected_error_rate(evaluation: LDPKwikSortEvaluation, solution: str, queries: int) -> float:
    """Exact expected error rate (Equation 5) on the data: labels do not matter to it."""
    assert evaluation.profile is not None
    protocol = evaluation.solution(solution, queries=queries)
    share, right = queries / evaluation.pairs, (1 + protocol.bias(queries)) / 2
    counts = rankings.pairwise_counts(evaluation.profile)
    agents = evaluation.profile.agents
    above = counts[np.triu_indices(evaluation.alternatives, k=1)].tolist()
    majorities = (max(count, agents - count) for count in above if 2 * count != agents)
    wrong = sum(wrong_sign(majority, agents - majority, share, right) for majority in majorities)
    return float(wrong / evaluation.pairs)


def wrong_sign(majority: int, minority: int, share: float, right: float) -> float:
    """Probability that the votes of a majority and a minority, each asked or not and flipped or not, add up below 0."""
    vote = np.array([share * (1 - right), 1 - share, share * right])
    tally = np.convolve(_times(vote, majority), _times(vote[::-1], minority))
    return float(tally[: majority + minority].sum())


def _times(law: np.ndarray, number: int) -> np.ndarray:
    """Law of the sum of independent copies, by repeated squaring."""
    total, power = np.ones(1), law
    while number:
        if number % 2:
            total = np.convolve(total, power)
        power, number = np.convolve(power, power), number // 2
    return total


for _id, _solution, _statement, _function in (
    ("yan2020.figure3-data-least-rr", "rr", LEAST, least_exactly),
    ("yan2020.figure3-data-rising-rr", "rr", RISING, rising_exactly),
    ("yan2020.figure3-data-least-lap", "lap", LEAST, least_exactly),
    ("yan2020.figure3-data-rising-lap", "lap", RISING, rising_exactly),
):
    dpaudit.claim(
        _id,
        LDPKwikSortEvaluation,
        kind="utility",
        place=FIGURE3,
        statement=_statement.format(TITLES[_solution]),
        on_data=True,
        reproduces="Figure 3",
    )(partial(_function, solution=_solution))


# Section 5.4: some of the agents.


def of_some(
    evaluation: LDPKwikSortEvaluation, agents: int, runs: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Distances of KwikSort and both solutions to the rankings of some agents, drawn anew for every run."""
    assert evaluation.profile is not None
    orders = evaluation.profile.rankings()
    chosen = orders[np.argsort(rng.random((runs, len(orders))), axis=1)[:, :agents]]
    margins = profile_margins(chosen)
    protocols = {f"ldp-kwiksort-{name}": evaluation.solution(name) for name in ("rr", "lap")}
    estimates = {name: estimator(protocol)(chosen, margins, rng) for name, protocol in protocols.items()}
    estimates["kwiksort"] = margins.astype(float)
    protocol = protocols["ldp-kwiksort-rr"]
    return {
        name: rankings.margin_distance(protocol.aggregate(estimate, rng), margins, agents)
        for name, estimate in estimates.items()
    }


@dpaudit.claim(
    "yan2020.figure5-data-rr-below-lap",
    LDPKwikSortEvaluation,
    kind="figure",
    place=FIGURE5,
    statement=BELOW,
    on_data=True,
    reproduces="Figure 5",
)
def rr_below_lap(evaluation: LDPKwikSortEvaluation) -> dpaudit.FigureClaim:
    sizes = (20, 50, FEW, 200, 500)

    def measure(runs: int, rng: np.random.Generator) -> Values:
        found = {agents: of_some(evaluation, agents, runs, rng) for agents in sizes}
        less = {agents: each["ldp-kwiksort-rr"] - each["ldp-kwiksort-lap"] for agents, each in found.items()}
        return {
            "value": np.mean(list(less.values()), axis=0),
            **{f"n = {agents}": each for agents, each in less.items()},
        }

    return _on_some(
        evaluation, measure, f"{METRICS['kendall-tau']}, RR less Lap, mean over n = 20, 50, 100, 200 and 500"
    )


def nearer_with_more(evaluation: LDPKwikSortEvaluation, solution: str) -> dpaudit.FigureClaim:
    """A solution's distance less KwikSort's, for all agents and for some."""

    def measure(runs: int, rng: np.random.Generator) -> Values:
        everyone = evaluation.agents
        found = {agents: of_some(evaluation, agents, runs, rng) for agents in (FEW, everyone)}
        excess = {n: each[f"ldp-kwiksort-{solution}"] - each["kwiksort"] for n, each in found.items()}
        return {"value": excess[everyone] - excess[FEW], **{f"n = {n}": each for n, each in excess.items()}}

    return _on_some(evaluation, measure, f"{METRICS['kendall-tau']} above KwikSort's, at all agents less at n = {FEW}")


def _on_some(
    evaluation: LDPKwikSortEvaluation, measure: Callable[[int, np.random.Generator], Values], quantity: str
) -> dpaudit.FigureClaim:
    return dpaudit.FigureClaim(
        inapplicable="" if evaluation.profile is not None else WITHOUT_DATA,
        measure=measure,
        runs=2000,
        published=0.0,
        direction="at-most",
        support=(-1.0, 1.0),
        quantity=quantity,
        scope=f"rankings of n agents of the data, drawn without replacement, and the distance to those; "
        f"ϵ = {evaluation.epsilon:g}",
    )


for _id, _solution in (("yan2020.figure5-data-converges-rr", "rr"), ("yan2020.figure5-data-converges-lap", "lap")):
    dpaudit.claim(
        _id,
        LDPKwikSortEvaluation,
        kind="figure",
        place=FIGURE5,
        statement=CONVERGES.format(TITLES[_solution]),
        on_data=True,
        reproduces="Figure 5",
    )(partial(nearer_with_more, solution=_solution))
