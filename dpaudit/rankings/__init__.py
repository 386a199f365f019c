"""Rankings: profiles, pairwise counts, Kendall tau, KwikSort, Kemeny, Mallows, riffle independence, PrefLib files."""

from dpaudit.rankings.kemeny import KemenyResult, kemeny
from dpaudit.rankings.kendall import average_kendall_tau, error_rate, kendall_cost, kendall_tau, sign_errors
from dpaudit.rankings.kwiksort import comparisons, kwiksort
from dpaudit.rankings.kwiksort_exact import kwiksort_expected_cost, kwiksort_law, kwiksort_log_law
from dpaudit.rankings.mallows import Mallows
from dpaudit.rankings.marginals import second_order_marginals, second_order_of_law, variation_distances
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
from dpaudit.rankings.preflib import PreferenceFile, read_preflib, read_profile
from dpaudit.rankings.profiles import Profile
from dpaudit.rankings.queries import margin_matrix, pair_tally, random_subsets
from dpaudit.rankings.quicksort import quicksort_comparisons, quicksort_expected_comparisons, quicksort_tail
from dpaudit.rankings.riffle import Chain, interleavings, random_chain, relative_positions, thin_leaf_sizes
from dpaudit.rankings.structure import (
    best_split,
    information_cube,
    learn_chain,
    split_cost,
    triplet_distributions,
    triplet_information,
    triplets,
)

__all__ = [
    "Chain",
    "KemenyResult",
    "Mallows",
    "PreferenceFile",
    "Profile",
    "Profiles",
    "all_rankings",
    "alternative_pairs",
    "answers",
    "average_kendall_tau",
    "best_split",
    "check_rankings",
    "comparisons",
    "error_rate",
    "information_cube",
    "interleavings",
    "kemeny",
    "kendall_cost",
    "kendall_tau",
    "kwiksort",
    "kwiksort_expected_cost",
    "kwiksort_law",
    "kwiksort_log_law",
    "learn_chain",
    "margin_matrix",
    "margins",
    "pair_index",
    "pair_tally",
    "pairwise_counts",
    "positions",
    "quicksort_comparisons",
    "quicksort_expected_comparisons",
    "quicksort_tail",
    "random_chain",
    "random_subsets",
    "ranking_at",
    "ranking_index",
    "read_preflib",
    "read_profile",
    "relative_positions",
    "second_order_marginals",
    "second_order_of_law",
    "sign_errors",
    "split_cost",
    "thin_leaf_sizes",
    "triplet_distributions",
    "triplet_information",
    "triplets",
    "variation_distances",
]
