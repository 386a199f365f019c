"""What is asked of every dispersion, Sections 5.2 and 5.5, 5.4 and 5.5 of the gap, and 5.7 of which budget to take."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import dpaudit

from .comparison import METRICS, compete
from .curves import TITLES, Values
from .evaluation import LDPKwikSortEvaluation
from .figure3 import least_exactly
from .paper import PAPER

HALF = PAPER.at(section="5.2", note="at any n, m and θ")

LEAST = (
    "At every n, m and θ, not only those of Figure 3, of all its K the expected error rate of {} against the ground "
    "truth is least at K = ϵ/2, or at 1 where ϵ is at most 2."
)

for _id, _solution in (("yan2020.half-epsilon-rr", "rr"), ("yan2020.half-epsilon-lap", "lap")):
    dpaudit.claim(
        _id,
        LDPKwikSortEvaluation,
        kind="utility",
        place=HALF,
        statement=LEAST.format(TITLES[_solution]),
        ours=True,
    )(partial(least_exactly, solution=_solution))


# Section 5.5: the dispersion, and Section 5.4: the alternatives.


def distances(evaluation: LDPKwikSortEvaluation, runs: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Every system's distance to the profile."""
    found = compete(evaluation.solution("rr"), evaluation.systems(), runs, rng)
    return {name: both["kendall-tau"] for name, both in found.items()}


def falls_with_dispersion(evaluation: LDPKwikSortEvaluation, system: str) -> dpaudit.FigureClaim:
    """A system's distance at θ and at θ - 0.25."""

    def distance(at: LDPKwikSortEvaluation, runs: int, rng: np.random.Generator) -> np.ndarray:
        return compete(at.solution("rr"), {system: at.systems()[system]}, runs, rng)[system]["kendall-tau"]

    def measure(runs: int, rng: np.random.Generator) -> Values:
        wider = evaluation.but(dispersion=evaluation.dispersion - 0.25)
        return {"value": distance(evaluation, runs, rng) - distance(wider, runs, rng)}

    quantity = f"{METRICS['kendall-tau']} of {system} at θ less that at θ - 0.25"
    return _compared(evaluation, measure, quantity, inapplicable=_unless_compared(evaluation))


def _unless_compared(evaluation: LDPKwikSortEvaluation) -> str:
    return (
        ""
        if evaluation.dispersion >= 0.5
        else "said of θ = 0.25, 0.5 and 0.75: compare 0.5 or 0.75 with the one before"
    )


for _id, _system in (
    ("yan2020.figure5-dispersion-kwiksort", "kwiksort"),
    ("yan2020.figure5-dispersion-dp", "dp-kwiksort"),
    ("yan2020.figure5-dispersion-rr", "ldp-kwiksort-rr"),
    ("yan2020.figure5-dispersion-lap", "ldp-kwiksort-lap"),
):
    dpaudit.claim(
        _id,
        LDPKwikSortEvaluation,
        kind="figure",
        place=PAPER.at(section="5.5", figure=5),
        statement=f"From θ = 0.25 to 0.5 and to 0.75 the average Kendall tau distance of {_system} falls.",
        reproduces="Figure 5",
    )(partial(falls_with_dispersion, system=_system))


def gap(found: Values) -> np.ndarray:
    """By what share of Lap's distance RR's is smaller, in every run."""
    return np.clip(1 - found["ldp-kwiksort-rr"] / found["ldp-kwiksort-lap"], -1.0, 1.0)


@dpaudit.claim(
    "yan2020.figure5-gap-grows-with-dispersion",
    LDPKwikSortEvaluation,
    kind="figure",
    place=PAPER.at(section="5.5", figure=5),
    statement="From θ = 0.25 to 0.5 and to 0.75 the gap between RR and Lap grows, as a share of Lap's distance.",
    reproduces="Figure 5",
)
def gap_grows_with_dispersion(evaluation: LDPKwikSortEvaluation) -> dpaudit.FigureClaim:
    def measure(runs: int, rng: np.random.Generator) -> Values:
        more = gap(distances(evaluation, runs, rng))
        less = gap(distances(evaluation.but(dispersion=evaluation.dispersion - 0.25), runs, rng))
        return {"value": less - more}

    quantity = "gap as a share of Lap's distance, at θ - 0.25 less that at θ"
    return _compared(evaluation, measure, quantity, support=(-2.0, 2.0), inapplicable=_unless_compared(evaluation))


@dpaudit.claim(
    "yan2020.figure5-gap-grows-with-alternatives",
    LDPKwikSortEvaluation,
    kind="figure",
    place=PAPER.at(section="5.4", figure=5),
    statement="From m = 15 to 30 and to 45 the gap between RR and Lap grows, as a share of Lap's distance.",
    reproduces="Figure 5",
)
def gap_grows_with_alternatives(evaluation: LDPKwikSortEvaluation) -> dpaudit.FigureClaim:
    fewer = evaluation.alternatives - 15

    def measure(runs: int, rng: np.random.Generator) -> Values:
        more = gap(distances(evaluation, runs, rng))
        return {"value": gap(distances(evaluation.but(alternatives=fewer), runs, rng)) - more}

    return _compared(
        evaluation,
        measure,
        f"gap as a share of Lap's distance, at m = {fewer} less that at m = {evaluation.alternatives}",
        support=(-2.0, 2.0),
        inapplicable="" if fewer >= 15 else "said of m = 15, 30 and 45: compare 30 with 15, or 45 with 30",
    )


# Section 5.7: the budget that is recommended.


@dpaudit.claim(
    "yan2020.recommended-epsilon",
    LDPKwikSortEvaluation,
    kind="figure",
    place=PAPER.at(section="5.7"),
    statement=(
        "At n = 5000 utility is acceptable with ϵ = 1 up to m = 15 and ϵ = 3 above: RR's distance is nearer to "
        "KwikSort's than to 1/2, which a random ranking has (a reading chosen here)."
    ),
    only={"agents": 5000, "epsilon": (1.0, 3.0)},
)
def recommended_epsilon(evaluation: LDPKwikSortEvaluation) -> dpaudit.FigureClaim:
    wanted = 1.0 if evaluation.alternatives <= 15 else 3.0
    as_recommended = evaluation.epsilon == wanted and evaluation.agents == 5000

    def measure(runs: int, rng: np.random.Generator) -> Values:
        found = distances(evaluation, runs, rng)
        return {"value": found["ldp-kwiksort-rr"] - (found["kwiksort"] + 0.5) / 2, **found}

    return _compared(
        evaluation,
        measure,
        "RR's distance less the middle between KwikSort's and 1/2",
        inapplicable=""
        if as_recommended
        else f"said of n = 5000, and with m = {evaluation.alternatives} of ϵ = {wanted:g}",
    )


def _compared(
    evaluation: LDPKwikSortEvaluation,
    measure: Callable[[int, np.random.Generator], Values],
    quantity: str,
    **fields: Any,
) -> dpaudit.FigureClaim:
    common: dict[str, Any] = {
        "runs": 200,
        "published": 0.0,
        "direction": "at-most",
        "support": (-1.0, 1.0),
        "scope": evaluation.setting,
    }
    return dpaudit.FigureClaim(measure=measure, quantity=quantity, **{**common, **fields})
