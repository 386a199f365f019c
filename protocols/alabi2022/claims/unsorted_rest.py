"""Our Results: KwikSort in the manner of Hay et al., which orders at random what is unsorted at the cap."""

import math
from functools import lru_cache

import dpaudit
from dpaudit import rankings

from ..dp_kwiksort_capped import DPKwikSortCapped
from ..paper import PAPER, RESULTS

LARGEST_FOLLOWED = 30
"""Most alternatives whose runs are followed through all pivots."""


@dpaudit.claim(
    "alabi2022.unsorted-rest",
    DPKwikSortCapped,
    kind="utility",
    place=PAPER.at(section=RESULTS, note="on the variant of Hay et al."),
    statement=(
        "For every m and every q that a run can exceed, and whatever n is: KwikSort that orders at random what is "
        "unsorted after q comparisons has an expected error of at least half the probability of exceeding q, which "
        "does not fall as n grows."
    ),
)
def unsorted_rest(system: DPKwikSortCapped) -> dpaudit.UtilityClaim:
    m, q = system.alternatives, system.limit
    return dpaudit.UtilityClaim(
        bound=rankings.quicksort_tail(m, q) / 2,
        direction="at-least",
        exact=lambda: error_of_unsorted_rest((m,), q),
        support=(0.0, math.inf),
        quantity="expected additive error as n goes to infinity",
        scope=f"m = {m}, q = {q}; agents who agree, and answers without noise",
        inapplicable=(
            f"no run needs more than the {q} comparisons"
            if not system.capped
            else f"runs are followed up to m = {LARGEST_FOLLOWED}"
            if m > LARGEST_FOLLOWED
            else ""
        ),
    )


@lru_cache(maxsize=1 << 18)
def error_of_unsorted_rest(sizes: tuple[int, ...], budget: int) -> float:
    """Expected number of pairs in the wrong order, where parts of these sizes are still to be sorted, in this order.

    A part that the budget does not suffice to split, and all that come after it, are ordered at random.
    """
    left = tuple(size for size in sizes if size > 1)
    if not left:
        return 0.0
    size, *others = left
    if budget < size - 1:
        return sum(math.comb(each, 2) for each in left) / 2
    split = ((smaller, size - 1 - smaller, *others) for smaller in range(size))
    return sum(error_of_unsorted_rest(parts, budget - size + 1) for parts in split) / size
