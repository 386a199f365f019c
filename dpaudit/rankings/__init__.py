"""Rankings: profiles, counts, Kendall tau, KwikSort, Kemeny, Mallows, queries, PrefLib.

Examples
--------
>>> import numpy as np
>>> import dpaudit
>>> from dpaudit.rankings import kendall_tau
>>> int(kendall_tau(np.array([0, 1, 2]), np.array([2, 1, 0])))
3
"""

from dpaudit.rankings.hierarchical import hierarchical
from dpaudit.rankings.kemeny import KemenyResult, integer_programme, kemeny
from dpaudit.rankings.kendall import (
    average_kendall_tau,
    kendall_cost,
    kendall_tau,
    margin_distance,
    ranking_with_inversions,
)
from dpaudit.rankings.kwiksort import KwikSortRuns, comparisons, kwiksort, kwiksort_queries, kwiksort_runs
from dpaudit.rankings.kwiksort_exact import kwiksort_expected_cost, kwiksort_law, kwiksort_log_law
from dpaudit.rankings.mallows import Mallows
from dpaudit.rankings.neighbours import Profiles
from dpaudit.rankings.orders import (
    all_rankings,
    alternative_pairs,
    check_rankings,
    pair_index,
    positions,
    ranking_at,
    ranking_index,
    row_chunks,
)
from dpaudit.rankings.pairwise import answers, margins, pairwise_counts
from dpaudit.rankings.preflib import PREFLIB, PreferenceFile, read_preflib, read_profile
from dpaudit.rankings.profiles import Profile
from dpaudit.rankings.queries import margin_matrix, pair_tally, random_subsets
from dpaudit.rankings.quicksort import quicksort_comparisons, quicksort_expected_comparisons, quicksort_tail
from dpaudit.rankings.subsets import level_sets, subset_bits

__all__ = [
    "PREFLIB",
    "KemenyResult",
    "KwikSortRuns",
    "Mallows",
    "PreferenceFile",
    "Profile",
    "Profiles",
    "all_rankings",
    "alternative_pairs",
    "answers",
    "average_kendall_tau",
    "check_rankings",
    "comparisons",
    "hierarchical",
    "integer_programme",
    "kemeny",
    "kendall_cost",
    "kendall_tau",
    "kwiksort",
    "kwiksort_expected_cost",
    "kwiksort_law",
    "kwiksort_log_law",
    "kwiksort_queries",
    "kwiksort_runs",
    "level_sets",
    "margin_distance",
    "margin_matrix",
    "margins",
    "pair_index",
    "pair_tally",
    "pairwise_counts",
    "positions",
    "quicksort_comparisons",
    "quicksort_expected_comparisons",
    "quicksort_tail",
    "random_subsets",
    "ranking_at",
    "ranking_index",
    "ranking_with_inversions",
    "read_preflib",
    "read_profile",
    "row_chunks",
    "subset_bits",
]
