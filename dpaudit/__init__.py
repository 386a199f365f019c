"""Audits of differential-privacy claims: is what the authors of a private algorithm say true.

Reference implementations are for auditing and research: they use a non-cryptographic generator and floating point.
"""

from dpaudit import randomizers, rankings, testing
from dpaudit.auditors import LowerBound, epsilon_lower_bound
from dpaudit.catalog import load
from dpaudit.claims.claims import Claim, Erratum, LemmaClaim, PrivacyClaim, UtilityClaim
from dpaudit.claims.domains import Integers, RankingProfiles, Reals
from dpaudit.claims.evidence import Evidence, Interval, Witness
from dpaudit.claims.inputs import AnyTwo, DrawnPairs, InputDomain, Records, Vectors
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.record import Record, Result, read_record
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import (
    CheckError,
    DataError,
    DpauditError,
    OutputError,
    ParameterError,
    PlanError,
    RecordError,
    TargetError,
    TargetRaisedError,
)
from dpaudit.laws import FiniteLaw, GaussianLaw, LaplaceLaw, Law, ProductLaw, PublicMixtureLaw, compare
from dpaudit.mechanism import Mechanism, parameter
from dpaudit.rankings import Profiles
from dpaudit.runner import check

__all__ = [
    "AnyTwo",
    "CheckError",
    "Claim",
    "DataError",
    "DpauditError",
    "DrawnPairs",
    "Erratum",
    "Evidence",
    "FiniteLaw",
    "GaussianLaw",
    "InputDomain",
    "Integers",
    "Interval",
    "LaplaceLaw",
    "Law",
    "LemmaClaim",
    "LowerBound",
    "Mechanism",
    "Neighbouring",
    "OutputError",
    "ParameterError",
    "PlanError",
    "PrivacyClaim",
    "ProductLaw",
    "Profiles",
    "PublicMixtureLaw",
    "RankingProfiles",
    "Reals",
    "Record",
    "RecordError",
    "Records",
    "Result",
    "TargetError",
    "TargetRaisedError",
    "UtilityClaim",
    "Vectors",
    "Verdict",
    "Witness",
    "check",
    "compare",
    "epsilon_lower_bound",
    "load",
    "parameter",
    "randomizers",
    "rankings",
    "read_record",
    "testing",
]
