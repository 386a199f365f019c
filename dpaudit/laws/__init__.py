"""Output laws, and what follows from two of them: privacy loss, hockey-stick divergence, privacy profile.

Examples
--------
>>> import dpaudit
>>> from dpaudit.laws import GaussianLaw, compare
>>> round(compare(GaussianLaw(0.0, 1.0), GaussianLaw(1.0, 1.0)).delta(1.0).upper, 4)
0.1269
"""

from dpaudit.laws.amplification import (
    blanket_delta,
    blanket_hoeffding_delta,
    clones_delta,
    clones_epsilon,
    stronger_clones_epsilon,
)
from dpaudit.laws.base import Comparison, Event, Law, UncomposableError, compare
from dpaudit.laws.between import BoundedComparison, ChainedComparison, PairedLaw
from dpaudit.laws.composed import ComposedComparison
from dpaudit.laws.continuous import GaussianComparison, GaussianLaw, LaplaceLaw
from dpaudit.laws.counts import Bit, HockeyStick, hockey_stick, log_count_law
from dpaudit.laws.decisions import LawDecisions
from dpaudit.laws.discrete import DiscreteGaussianLaw, DiscreteLaplaceLaw
from dpaudit.laws.finite import FiniteLaw
from dpaudit.laws.joint import ProductLaw, PublicMixtureLaw
from dpaudit.laws.loss import PrivacyLoss
from dpaudit.laws.mixture import GaussianMixtureLaw
from dpaudit.laws.privacy_profile import PrivacyProfileBounds
from dpaudit.laws.renyi import concentration, renyi_divergence
from dpaudit.laws.repeated import ComposedLaw, composition
from dpaudit.laws.replaced import SplicedLoss, SubstitutedGaussianLoss
from dpaudit.laws.shuffle import Shuffle, ShuffleLoss
from dpaudit.laws.sources import (
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    LossSource,
    subsampled,
)
from dpaudit.laws.subsampled_gaussian import SubsampledGaussianSteps
from dpaudit.laws.trade_off import gaussian_shift, trade_off
from dpaudit.laws.worst import worst_others

__all__ = [
    "Bit",
    "BoundedComparison",
    "ChainedComparison",
    "Comparison",
    "ComposedComparison",
    "ComposedLaw",
    "DiscreteGaussianLaw",
    "DiscreteLaplaceLaw",
    "Event",
    "FiniteLaw",
    "FiniteLoss",
    "GaussianComparison",
    "GaussianLaw",
    "GaussianLoss",
    "GaussianMixtureLaw",
    "HockeyStick",
    "LaplaceLaw",
    "LaplaceLoss",
    "Law",
    "LawDecisions",
    "LossSource",
    "PairedLaw",
    "PrivacyLoss",
    "PrivacyProfileBounds",
    "ProductLaw",
    "PublicMixtureLaw",
    "Shuffle",
    "ShuffleLoss",
    "SplicedLoss",
    "SubsampledGaussianSteps",
    "SubstitutedGaussianLoss",
    "UncomposableError",
    "blanket_delta",
    "blanket_hoeffding_delta",
    "clones_delta",
    "clones_epsilon",
    "compare",
    "composition",
    "concentration",
    "gaussian_shift",
    "hockey_stick",
    "log_count_law",
    "renyi_divergence",
    "stronger_clones_epsilon",
    "subsampled",
    "trade_off",
    "worst_others",
]
