"""Section 5.2, Figure 3: the number of queries."""

import math
from collections.abc import Callable, Mapping
from functools import partial

import dpaudit

from .comparison import METRICS, estimator
from .curves import TITLES, curve, less
from .evaluation import LDPKwikSortEvaluation
from .paper import PAPER

PLACE = PAPER.at(section="5.2", figure=3)

LEAST = (
    "On Figure 3's Mallows profiles (n = 5000, m = 15, θ = 0.25, 0.5 and 0.75), of all its K the error of {} is least "
    "at K = ϵ/2, or at 1 where ϵ is at most 2."
)
RISING = (
    "On Figure 3's Mallows profiles (n = 5000, m = 15, θ = 0.25, 0.5 and 0.75), at ϵ = 1 and 2, the error of {} grows "
    "with K."
)
MEASURED = "On Figure 3's profiles, of all its K the error of {} is least at K = ϵ/2, or at 1 where ϵ is at most 2."


def least_measured(evaluation: LDPKwikSortEvaluation, solution: str, metric: str) -> dpaudit.FigureClaim:
    """The metric at K = ϵ/2 and at the best other K of the figure, measured."""
    half, rival = evaluation.half(), evaluation.rival(solution)
    return curve(
        evaluation,
        lambda: {f"K = {k}": estimator(evaluation.solution(solution, queries=k)) for k in evaluation.listed()},
        metric,
        less(f"K = {half}", f"K = {rival}"),
        quantity=f"{METRICS[metric]} at K = {half} less that at K = {rival}, by Equation 4 the best other K",
        runs=200,
    )


def least_exactly(evaluation: LDPKwikSortEvaluation, solution: str) -> dpaudit.UtilityClaim:
    """The expected error rate at K = ϵ/2 and at any other K of the figure, computed."""
    half = evaluation.half()
    return _exactly(
        evaluation,
        lambda: over_the_least({k: evaluation.expected_error_rate(solution, k) for k in evaluation.listed()}, half),
        quantity=f"expected error rate at K = {half} over the least at any other K of the figure",
        bound=1.0,
    )


def over_the_least(rates: Mapping[int, float], chosen: int) -> float:
    """Quotient of the rate at the chosen K and the least at any other; rates may be as small as 1e-300."""
    least = min(rate for k, rate in rates.items() if k != chosen)
    return rates[chosen] / least if least else 1.0


def rising_exactly(evaluation: LDPKwikSortEvaluation, solution: str) -> dpaudit.UtilityClaim:
    """The expected error rate from one K of the figure to the next, computed."""

    def largest_decrease() -> float:
        rates = [evaluation.expected_error_rate(solution, k) for k in evaluation.listed()]
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
    unknown = "" if evaluation.profile is None else "the ground truth of the data is not known"
    return dpaudit.UtilityClaim(
        exact=exact,
        quantity=quantity,
        bound=bound,
        support=(-math.inf, math.inf),
        scope=f"{evaluation.setting}; errors against the ground truth, of which a majority of the agents is certain",
        inapplicable=unknown or inapplicable,
    )


for _id, _solution, _metric in (
    ("yan2020.figure3-kendall-tau-rr", "rr", "kendall-tau"),
    ("yan2020.figure3-error-rate-rr", "rr", "error-rate"),
    ("yan2020.figure3-kendall-tau-lap", "lap", "kendall-tau"),
    ("yan2020.figure3-error-rate-lap", "lap", "error-rate"),
):
    dpaudit.claim(
        _id,
        LDPKwikSortEvaluation,
        kind="figure",
        place=PLACE,
        statement=MEASURED.format(TITLES[_solution]),
        on_data=True,
        reproduces="Figure 3",
        only={"agents": 5000, "alternatives": 15, "dispersion": (0.25, 0.5, 0.75)},
    )(partial(least_measured, solution=_solution, metric=_metric))

for _id, _solution, _statement, _function in (
    ("yan2020.figure3-least-rr", "rr", LEAST, least_exactly),
    ("yan2020.figure3-rising-rr", "rr", RISING, rising_exactly),
    ("yan2020.figure3-least-lap", "lap", LEAST, least_exactly),
    ("yan2020.figure3-rising-lap", "lap", RISING, rising_exactly),
):
    dpaudit.claim(
        _id,
        LDPKwikSortEvaluation,
        kind="utility",
        place=PLACE,
        statement=_statement.format(TITLES[_solution]),
        reproduces="Figure 3",
        only={"agents": 5000, "alternatives": 15, "dispersion": (0.25, 0.5, 0.75)},
    )(partial(_function, solution=_solution))
