"""Confidence intervals for proportions, ratios and means, goodness of fit and fits of rates."""

from dpaudit.statistics.anytime import anytime_lower, anytime_upper
from dpaudit.statistics.betting import BettingMeans
from dpaudit.statistics.fit import goodness_of_fit
from dpaudit.statistics.means import mean_interval, student_interval
from dpaudit.statistics.proportions import clopper_pearson, proportion_lower, proportion_upper
from dpaudit.statistics.rates import Exponent, fitted_exponent, local_exponents
from dpaudit.statistics.ratios import (
    best_share,
    conditional_epsilon_lower,
    epsilon_lower,
    refutable_epsilon,
)

__all__ = [
    "BettingMeans",
    "Exponent",
    "anytime_lower",
    "anytime_upper",
    "best_share",
    "clopper_pearson",
    "conditional_epsilon_lower",
    "epsilon_lower",
    "fitted_exponent",
    "goodness_of_fit",
    "local_exponents",
    "mean_interval",
    "proportion_lower",
    "proportion_upper",
    "refutable_epsilon",
    "student_interval",
]
