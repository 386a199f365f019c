"""Output laws, and what follows from two of them: privacy loss, hockey-stick divergence, privacy profile."""

from dpaudit.laws.amplification import (
    blanket_delta,
    blanket_hoeffding_delta,
    clones_delta,
    clones_epsilon,
    stronger_clones_epsilon,
)
from dpaudit.laws.base import Comparison, Event, Law, compare
from dpaudit.laws.continuous import GaussianLaw, LaplaceLaw
from dpaudit.laws.counts import Bit, HockeyStick, hockey_stick, log_count_law
from dpaudit.laws.finite import FiniteLaw
from dpaudit.laws.joint import ProductLaw, PublicMixtureLaw
from dpaudit.laws.loss import PrivacyLoss
from dpaudit.laws.privacy_profile import PrivacyProfileBounds
from dpaudit.laws.shuffle import Shuffle, ShuffleLoss
from dpaudit.laws.worst import worst_others

__all__ = [
    "Bit",
    "Comparison",
    "Event",
    "FiniteLaw",
    "GaussianLaw",
    "HockeyStick",
    "LaplaceLaw",
    "Law",
    "PrivacyLoss",
    "PrivacyProfileBounds",
    "ProductLaw",
    "PublicMixtureLaw",
    "Shuffle",
    "ShuffleLoss",
    "blanket_delta",
    "blanket_hoeffding_delta",
    "clones_delta",
    "clones_epsilon",
    "compare",
    "hockey_stick",
    "log_count_law",
    "stronger_clones_epsilon",
    "worst_others",
]
