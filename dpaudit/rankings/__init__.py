"""Rankings: profiles, counts, Kendall tau, rules, KwikSort, Kemeny, Gibbs, Mallows, riffle independence, PrefLib."""

from dpaudit.rankings.gaussian_error import (
    largest_pair_distance,
    order_kept_probability,
    pair_distance_density,
    pair_flip_probability,
    three_way_error,
)
from dpaudit.rankings.gibbs import Gibbs
from dpaudit.rankings.hierarchical import hierarchical
from dpaudit.rankings.kemeny import KemenyResult, kemeny
from dpaudit.rankings.kemeny_law import noisy_kemeny_law
from dpaudit.rankings.kemeny_weights import WeightedKemeny, kemeny_rankings, kemeny_weighted, weighted_cost
from dpaudit.rankings.kendall import (
    average_kendall_tau,
    error_rate,
    kendall_cost,
    kendall_tau,
    margin_distance,
    ranking_with_inversions,
    sign_errors,
)
from dpaudit.rankings.kwiksort import KwikSortRuns, comparisons, kwiksort, kwiksort_queries, kwiksort_runs
from dpaudit.rankings.kwiksort_counted import kwiksort_counted_law, kwiksort_wrong_pairs
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
from dpaudit.rankings.pairwise import answers, margins, pairwise_counts, profile_margins
from dpaudit.rankings.positional import PositionalRule, rank_by_scores, ranking_histogram
from dpaudit.rankings.preflib import PREFLIB, PreferenceFile, read_preflib, read_profile
from dpaudit.rankings.profiles import Profile
from dpaudit.rankings.queries import margin_matrix, pair_tally, random_subsets
from dpaudit.rankings.quicksort import quicksort_comparisons, quicksort_expected_comparisons, quicksort_tail
from dpaudit.rankings.riffle import Chain, interleavings, random_chain, relative_positions, thin_leaf_sizes
from dpaudit.rankings.rules import copeland, histogram_margins, instant_runoff, kemeny_of_margins, randomize_margins
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
    "PREFLIB",
    "Chain",
    "Gibbs",
    "KemenyResult",
    "KwikSortRuns",
    "Mallows",
    "PositionalRule",
    "PreferenceFile",
    "Profile",
    "Profiles",
    "WeightedKemeny",
    "all_rankings",
    "alternative_pairs",
    "answers",
    "average_kendall_tau",
    "best_split",
    "check_rankings",
    "comparisons",
    "copeland",
    "error_rate",
    "hierarchical",
    "histogram_margins",
    "information_cube",
    "instant_runoff",
    "interleavings",
    "kemeny",
    "kemeny_of_margins",
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
    "largest_pair_distance",
    "learn_chain",
    "margin_distance",
    "margin_matrix",
    "margins",
    "noisy_kemeny_law",
    "order_kept_probability",
    "pair_distance_density",
    "pair_flip_probability",
    "pair_index",
    "pair_tally",
    "pairwise_counts",
    "positions",
    "profile_margins",
    "quicksort_comparisons",
    "quicksort_expected_comparisons",
    "quicksort_tail",
    "random_chain",
    "random_subsets",
    "randomize_margins",
    "rank_by_scores",
    "ranking_at",
    "ranking_histogram",
    "ranking_index",
    "ranking_with_inversions",
    "read_preflib",
    "read_profile",
    "relative_positions",
    "second_order_marginals",
    "second_order_of_law",
    "sign_errors",
    "split_cost",
    "thin_leaf_sizes",
    "three_way_error",
    "triplet_distributions",
    "triplet_information",
    "triplets",
    "variation_distances",
    "weighted_cost",
]
