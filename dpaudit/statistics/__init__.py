"""Confidence intervals for proportions, events and means, goodness of fit, fits of rates, densities on the simplex."""

from dpaudit.statistics.anytime import anytime_lower, anytime_upper
from dpaudit.statistics.betting import BettingMeans
from dpaudit.statistics.events import (
    anytime_bound,
    best_share,
    bound_from_counts,
    detection_limit,
    forced_lower,
    log_ratio_lower,
)
from dpaudit.statistics.fit import goodness_of_fit
from dpaudit.statistics.means import mean_interval, student_interval
from dpaudit.statistics.proportions import clopper_pearson, proportion_lower, proportion_upper
from dpaudit.statistics.rates import Exponent, fitted_exponent, local_exponents
from dpaudit.statistics.simplex import linear_form_density, plane_image_density

__all__ = [
    "BettingMeans",
    "Exponent",
    "anytime_bound",
    "anytime_lower",
    "anytime_upper",
    "best_share",
    "bound_from_counts",
    "clopper_pearson",
    "detection_limit",
    "fitted_exponent",
    "forced_lower",
    "goodness_of_fit",
    "linear_form_density",
    "local_exponents",
    "log_ratio_lower",
    "mean_interval",
    "plane_image_density",
    "proportion_lower",
    "proportion_upper",
    "student_interval",
]
