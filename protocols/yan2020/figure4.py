"""Section 5.3, Figure 4: the privacy budget."""

from functools import partial

import dpaudit

from .comparison import METRICS, System, estimator
from .curves import TITLES, curve, less
from .evaluation import LDPKwikSortEvaluation
from .paper import PAPER

PLACE = PAPER.at(section="5.3", figure=4)

NEAR = 0.01
"""Constant chosen for "approach": a hundredth of the range of the normalised distance."""


def rr_less_lap(evaluation: LDPKwikSortEvaluation, metric: str) -> dpaudit.FigureClaim:
    """The metric of RR and of Lap."""
    difference = less("ldp-kwiksort-rr", "ldp-kwiksort-lap")
    return curve(evaluation, evaluation.systems, metric, difference, quantity=f"{METRICS[metric]}, RR less Lap")


def kwiksort_less(evaluation: LDPKwikSortEvaluation, system: str) -> dpaudit.FigureClaim:
    """The distance of KwikSort and of a private system."""
    return curve(
        evaluation,
        lambda: _some(evaluation, "kwiksort", system),
        "kendall-tau",
        less("kwiksort", system),
        quantity=f"{METRICS['kendall-tau']}, kwiksort less {system}",
    )


def improves(evaluation: LDPKwikSortEvaluation, solution: str, metric: str) -> dpaudit.FigureClaim:
    """The metric at this budget and at half of it."""

    def systems() -> dict[str, System]:
        halved = evaluation.solution(solution, epsilon=evaluation.epsilon / 2)
        return {"at this budget": estimator(evaluation.solution(solution)), "at half the budget": estimator(halved)}

    difference = less("at this budget", "at half the budget")
    return curve(evaluation, systems, metric, difference, quantity=f"{METRICS[metric]} at ϵ less that at ϵ/2")


def _some(evaluation: LDPKwikSortEvaluation, *names: str) -> dict[str, System]:
    systems = evaluation.systems()
    return {name: systems[name] for name in names}


for _id, _metric in (
    ("yan2020.figure4-kendall-tau", "kendall-tau"),
    ("yan2020.figure4-error-rate", "error-rate"),
):
    dpaudit.claim(
        _id,
        LDPKwikSortEvaluation,
        kind="figure",
        place=PLACE,
        statement=f"LDP-KwikSort:RR's {METRICS[_metric]} is at most LDP-KwikSort:Lap's.",
        on_data=True,
        reproduces="Figure 4",
    )(partial(rr_less_lap, metric=_metric))

for _id, _system in (
    ("yan2020.figure4-lower-bound-dp", "dp-kwiksort"),
    ("yan2020.figure4-lower-bound-rr", "ldp-kwiksort-rr"),
    ("yan2020.figure4-lower-bound-lap", "ldp-kwiksort-lap"),
):
    dpaudit.claim(
        _id,
        LDPKwikSortEvaluation,
        kind="figure",
        place=PLACE,
        statement=f"KwikSort's {METRICS['kendall-tau']} is the lower bound: at most that of {_system}.",
        on_data=True,
        reproduces="Figure 4",
    )(partial(kwiksort_less, system=_system))


@dpaudit.claim(
    "yan2020.figure4-dp-approaches",
    LDPKwikSortEvaluation,
    kind="figure",
    place=PLACE,
    statement=(
        f"DP-KwikSort's {METRICS['kendall-tau']} approaches KwikSort's: it is at most {NEAR:g} above it "
        "(a constant chosen here)."
    ),
    on_data=True,
    reproduces="Figure 4",
)
def dp_approaches(evaluation: LDPKwikSortEvaluation) -> dpaudit.FigureClaim:
    return curve(
        evaluation,
        lambda: _some(evaluation, "kwiksort", "dp-kwiksort"),
        "kendall-tau",
        less("dp-kwiksort", "kwiksort"),
        quantity=f"{METRICS['kendall-tau']}, DP-KwikSort ({evaluation.logarithm} logarithm) less KwikSort",
        published=NEAR,
    )


for _id, _solution, _metric in (
    ("yan2020.figure4-kendall-tau-improves-rr", "rr", "kendall-tau"),
    ("yan2020.figure4-error-rate-improves-rr", "rr", "error-rate"),
    ("yan2020.figure4-kendall-tau-improves-lap", "lap", "kendall-tau"),
    ("yan2020.figure4-error-rate-improves-lap", "lap", "error-rate"),
):
    dpaudit.claim(
        _id,
        LDPKwikSortEvaluation,
        kind="figure",
        place=PLACE,
        statement=f"The {METRICS[_metric]} of {TITLES[_solution]} falls as the budget grows.",
        on_data=True,
        reproduces="Figure 4",
    )(partial(improves, solution=_solution, metric=_metric))
