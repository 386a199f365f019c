"""Concrete bounds via KwikSort: how many comparisons it makes."""

import math
from collections.abc import Mapping

import numpy as np

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.ailon2008 import KwikSort

from ..paper import CENTRAL, PAPER
from .central_shared import TABLE_1

CONCRETE_BOUNDS = PAPER.at(section=CENTRAL, corollary=6, part="before", note="Concrete Bounds via KwikSort")
CAP_FACTOR = 4
"""Constant chosen for the number of comparisons that is stated as O(m log m): at most 4 m ln m."""
FEW = 4
"""Alternatives whose rankings are all listed to find one of least cost."""
PARTS = 1000
"""Parts in which their weights are drawn."""
SMALL_XI = (10.0, 1.0, 0.1, 1e-2, 1e-4, 1e-8, 1e-12)
"""Values of ξ, which Table 1 says can be any positive constant."""
LARGEST_COUNTED = 128
"""Most alternatives up to which the law of the number of comparisons is computed."""


@dpaudit.claim(
    "alabi2022.comparisons-expected",
    KwikSort,
    kind="rate",
    place=[CONCRETE_BOUNDS, TABLE_1],
    statement="As m grows, the expected number of comparisons that KwikSort makes grows like m log m.",
)
def comparisons_expected(kwiksort: KwikSort) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="alternatives",
        points=(4, 8, 16, 32, 64, 128, 256, 512, 1024),
        exponent=1.0,
        shape=math.log,
        direction="equal",
        exact=lambda m: rankings.quicksort_expected_comparisons(int(m)),
        quantity="expected number of comparisons",
        scope="comparisons that contradict each other nowhere, which is where there are most",
    )


@dpaudit.claim(
    "alabi2022.comparisons-tail",
    KwikSort,
    kind="lemma",
    place=CONCRETE_BOUNDS,
    statement=(
        "For every m from 2 to 128, at ξ = 1: KwikSort makes at most q = 4 m ln m comparisons with probability at "
        "least 1 - ξ/m^4."
    ),
)
def comparisons_tail(kwiksort: KwikSort) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda alternatives: alternatives**-4 - _tail(alternatives, 1.0),
        instances=[{"alternatives": m} for m in range(2, LARGEST_COUNTED + 1)],
        complete=True,
        explain=lambda alternatives: {"actual": _tail(alternatives, 1.0), "claimed": alternatives**-4},
        tolerance=0.0,
        scope=(
            f"2 to {LARGEST_COUNTED} alternatives and comparisons that contradict each other nowhere; the "
            f"constant {CAP_FACTOR} is chosen here, O(m log m) is printed"
        ),
    )


@dpaudit.claim(
    "alabi2022.comparisons-any-xi",
    KwikSort,
    kind="lemma",
    place=[CONCRETE_BOUNDS, TABLE_1],
    statement=(
        "For every m from 2 to 128 and every listed ξ from 10 to 10^-12: KwikSort makes at most O_ξ(m log m) "
        "comparisons, (4 + ln(1/ξ)) m ln m where ξ < 1 and 4 m ln m otherwise, with probability at least 1 - ξ/m^4."
    ),
)
def comparisons_any_xi(kwiksort: KwikSort) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda alternatives, xi: xi / alternatives**4 - _tail(alternatives, xi),
        instances=[{"alternatives": m, "xi": xi} for m in range(2, LARGEST_COUNTED + 1) for xi in SMALL_XI],
        complete=True,
        explain=lambda alternatives, xi: {"actual": _tail(alternatives, xi), "claimed": xi / alternatives**4},
        tolerance=0.0,
        scope=(
            f"2 to {LARGEST_COUNTED} alternatives, ξ from {SMALL_XI[0]:g} to {SMALL_XI[-1]:g}; comparisons that "
            "contradict each other nowhere; the constant is chosen here, O_ξ(m log m) is printed"
        ),
    )


@dpaudit.claim(
    "alabi2022.kwiksort-five",
    KwikSort,
    kind="lemma",
    place=CONCRETE_BOUNDS,
    statement=(
        "For every weights of four alternatives with w_ij + w_ji = 1: the expected cost of KwikSort on their "
        "majorities is at most 5 OPT."
    ),
)
def kwiksort_five(kwiksort: KwikSort) -> dpaudit.LemmaClaim:
    names = [f"w_{i}{j}" for i, j in rankings.alternative_pairs(FEW)]

    def costs(values: Mapping[str, int]) -> tuple[float, float]:
        counts = np.zeros((FEW, FEW), dtype=np.int64)
        i, j = rankings.alternative_pairs(FEW).T
        counts[i, j] = [values[name] for name in names]
        counts[j, i] = PARTS - counts[i, j]
        least = int(rankings.kendall_cost(rankings.all_rankings(FEW), counts).min())
        return rankings.kwiksort_expected_cost(counts) / PARTS, least / PARTS

    def margin(**values: int) -> float:
        expected, least = costs(values)
        return 5 * least - expected

    def explain(**values: int) -> dict[str, float]:
        expected, least = costs(values)
        return {"actual": expected, "claimed": 5 * least}

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[dict.fromkeys(names, PARTS // 2), dict.fromkeys(names, PARTS)],
        variables={name: dpaudit.Integers(0, PARTS) for name in names},
        explain=explain,
        tolerance=1e-9,
        scope=f"drawn weights of four alternatives in parts of {PARTS}; the least cost of all rankings",
    )


def _tail(alternatives: int, xi: float) -> float:
    """Probability of more than (4 + max(0, ln(1/ξ))) m ln m comparisons."""
    factor = CAP_FACTOR + max(0.0, -math.log(xi))
    return rankings.quicksort_tail(alternatives, math.floor(factor * alternatives * math.log(alternatives)))
