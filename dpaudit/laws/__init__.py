"""Output laws, and what follows from two of them: privacy loss, hockey-stick divergence, privacy profile."""

from dpaudit.laws.base import Comparison, Event, Law, compare
from dpaudit.laws.continuous import GaussianLaw, LaplaceLaw
from dpaudit.laws.finite import FiniteLaw
from dpaudit.laws.joint import ProductLaw, PublicMixtureLaw
from dpaudit.laws.loss import PrivacyLoss
from dpaudit.laws.profile import ProfileBounds

__all__ = [
    "Comparison",
    "Event",
    "FiniteLaw",
    "GaussianLaw",
    "LaplaceLaw",
    "Law",
    "PrivacyLoss",
    "ProductLaw",
    "ProfileBounds",
    "PublicMixtureLaw",
    "compare",
]
