"""Rankings: profiles, counts, Kendall tau, KwikSort, Kemeny, Mallows, queries, PrefLib."""

from dpaudit.rankings.gibbs import Gibbs
from dpaudit.rankings.hierarchical import hierarchical
from dpaudit.rankings.kemeny import KemenyResult, kemeny
from dpaudit.rankings.kemeny_law import noisy_kemeny_law
from dpaudit.rankings.kemeny_weights import WeightedKemeny, kemeny_rankings, kemeny_weighted, weighted_cost
from dpaudit.rankings.kendall import (
    average_kendall_tau,
    kendall_cost,
    kendall_tau,
    margin_distance,
    ranking_with_inversions,
)
from dpaudit.rankings.kwiksort import KwikSortRuns, comparisons, kwiksort, kwiksort_queries, kwiksort_runs
from dpaudit.rankings.kwiksort_counted import kwiksort_counted_law, kwiksort_wrong_pairs
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
)
from dpaudit.rankings.pairwise import answers, margins, pairwise_counts
from dpaudit.rankings.partition import partition_counts
from dpaudit.rankings.preflib import PREFLIB, PreferenceFile, read_preflib, read_profile
from dpaudit.rankings.profiles import Profile
from dpaudit.rankings.queries import margin_matrix, overload_probability, pair_tally, random_subsets
from dpaudit.rankings.quicksort import quicksort_comparisons, quicksort_expected_comparisons, quicksort_tail

__all__ = [
    "PREFLIB",
    "Gibbs",
    "KemenyResult",
    "KwikSortRuns",
    "Mallows",
    "PreferenceFile",
    "Profile",
    "Profiles",
    "WeightedKemeny",
    "all_rankings",
    "alternative_pairs",
    "answers",
    "average_kendall_tau",
    "check_rankings",
    "comparisons",
    "hierarchical",
    "kemeny",
    "kemeny_rankings",
    "kemeny_weighted",
    "kendall_cost",
    "kendall_tau",
    "kwiksort",
    "kwiksort_counted_law",
    "kwiksort_expected_cost",
    "kwiksort_law",
    "kwiksort_log_law",
    "kwiksort_queries",
    "kwiksort_runs",
    "kwiksort_wrong_pairs",
    "margin_distance",
    "margin_matrix",
    "margins",
    "noisy_kemeny_law",
    "overload_probability",
    "pair_index",
    "pair_tally",
    "pairwise_counts",
    "partition_counts",
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
    "weighted_cost",
]
