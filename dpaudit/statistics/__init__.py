"""Confidence intervals for proportions, events and means, goodness of fit and fits of rates."""

from dpaudit.statistics.anytime import anytime_lower, anytime_upper
from dpaudit.statistics.betting import BettingMeans
from dpaudit.statistics.events import (
    BY_RATIO,
    anytime_bound,
    best_share,
    bound_from_counts,
    detection_limit,
    event_that_forces,
    forced_lower,
    log_ratio_lower,
)
from dpaudit.statistics.fit import cdf_distance, cdf_shift, detectable_shifts, goodness_of_fit
from dpaudit.statistics.guesses import epsilon_of_guesses, mu_of_guesses
from dpaudit.statistics.means import mean_interval, student_interval
from dpaudit.statistics.proportions import clopper_pearson, proportion_lower, proportion_upper
from dpaudit.statistics.rates import Exponent, fitted_exponent, local_exponents
from dpaudit.statistics.wealth import NO_HITS, PairBet, PairHits, best_bets, joint_bets, lines_above

__all__ = [
    "BY_RATIO",
    "NO_HITS",
    "BettingMeans",
    "Exponent",
    "PairBet",
    "PairHits",
    "anytime_bound",
    "anytime_lower",
    "anytime_upper",
    "best_bets",
    "best_share",
    "bound_from_counts",
    "cdf_distance",
    "cdf_shift",
    "clopper_pearson",
    "detectable_shifts",
    "detection_limit",
    "epsilon_of_guesses",
    "event_that_forces",
    "fitted_exponent",
    "forced_lower",
    "goodness_of_fit",
    "joint_bets",
    "lines_above",
    "local_exponents",
    "log_ratio_lower",
    "mean_interval",
    "mu_of_guesses",
    "proportion_lower",
    "proportion_upper",
    "student_interval",
]
