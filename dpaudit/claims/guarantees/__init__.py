"""Guarantees: what a privacy claim promises about any two neighbouring inputs.

One module for each kind. `Guarantee` says what a kind knows; auditors ask that and mention no parameter by name.
"""

from dpaudit.claims.guarantees.approximate import ApproximateDP
from dpaudit.claims.guarantees.base import (
    ABSOLUTE_ROUNDING,
    PART_OF_PROBABILITY,
    ROUNDING,
    Guarantee,
    ProfilePoint,
    exceeds,
    rounded_up,
)
from dpaudit.claims.guarantees.gaussian import GaussianDP
from dpaudit.claims.guarantees.profile import PrivacyProfile
from dpaudit.claims.guarantees.renyi import RenyiCurve, RenyiDP
from dpaudit.claims.guarantees.trade_off import TradeOff
from dpaudit.claims.guarantees.zero_concentrated import ZeroConcentratedDP

__all__ = [
    "ABSOLUTE_ROUNDING",
    "PART_OF_PROBABILITY",
    "ROUNDING",
    "ApproximateDP",
    "GaussianDP",
    "Guarantee",
    "PrivacyProfile",
    "ProfilePoint",
    "RenyiCurve",
    "RenyiDP",
    "TradeOff",
    "ZeroConcentratedDP",
    "exceeds",
    "rounded_up",
]
