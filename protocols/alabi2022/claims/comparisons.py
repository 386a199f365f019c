"""Concrete bounds via KwikSort: how many comparisons it makes."""

import math

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.ailon2008 import KwikSort

from ..paper import CENTRAL, PAPER

CONCRETE_BOUNDS = PAPER.at(section=CENTRAL, corollary=6, part="before", note="Concrete Bounds via KwikSort")
CAP_FACTOR = 4
"""Constant chosen for the number of comparisons that is stated as O(m log m): at most 4 m ln m."""
LARGEST_COUNTED = 128
"""Most alternatives up to which the law of the number of comparisons is computed."""


@dpaudit.claim(
    "alabi2022.comparisons-expected",
    KwikSort,
    kind="rate",
    place=CONCRETE_BOUNDS,
    statement="The expected number of comparisons that KwikSort makes grows like m log m.",
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
    statement="KwikSort makes at most q = 4 m ln m comparisons with probability at least 1 - 1/m^4.",
)
def comparisons_tail(kwiksort: KwikSort) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda alternatives: alternatives**-4 - _tail(alternatives),
        instances=[{"alternatives": m} for m in range(2, LARGEST_COUNTED + 1)],
        complete=True,
        explain=lambda alternatives: {"actual": _tail(alternatives), "claimed": alternatives**-4},
        tolerance=0.0,
        scope=(
            f"2 to {LARGEST_COUNTED} alternatives and comparisons that contradict each other nowhere; the "
            f"constant {CAP_FACTOR} is chosen here, O(m log m) is printed"
        ),
    )


def _tail(alternatives: int) -> float:
    """Probability of more than 4 m ln m comparisons."""
    return rankings.quicksort_tail(alternatives, math.floor(CAP_FACTOR * alternatives * math.log(alternatives)))
