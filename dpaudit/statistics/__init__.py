"""Confidence intervals for proportions, ratios of proportions and means, and goodness of fit."""

from dpaudit.statistics.anytime import anytime_lower, anytime_upper
from dpaudit.statistics.betting import BettingMeans
from dpaudit.statistics.fit import goodness_of_fit
from dpaudit.statistics.means import mean_interval
from dpaudit.statistics.proportions import clopper_pearson, proportion_lower, proportion_upper
from dpaudit.statistics.ratios import (
    best_share,
    conditional_epsilon_lower,
    epsilon_lower,
    refutable_epsilon,
)

__all__ = [
    "BettingMeans",
    "anytime_lower",
    "anytime_upper",
    "best_share",
    "clopper_pearson",
    "conditional_epsilon_lower",
    "epsilon_lower",
    "goodness_of_fit",
    "mean_interval",
    "proportion_lower",
    "proportion_upper",
    "refutable_epsilon",
]
