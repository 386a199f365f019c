"""Audits of differential-privacy claims: is what the authors of a private algorithm say true.

Reference implementations are for auditing and research: they use a non-cryptographic generator and floating point.
"""

from dpaudit import randomizers, rankings, testing
from dpaudit.auditors import LowerBound, epsilon_lower_bound
from dpaudit.catalog import load
from dpaudit.claims.claims import Claim, Erratum, LemmaClaim, PrivacyClaim, UtilityClaim
from dpaudit.claims.domains import Integers, RankingProfiles, Reals
from dpaudit.claims.evidence import Curves, Evidence, Interval, Witness
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
from dpaudit.runner import check

__all__ = [
    "CheckError",
    "Claim",
    "Curves",
    "DataError",
    "DpauditError",
    "Erratum",
    "Evidence",
    "FiniteLaw",
    "GaussianLaw",
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
    "PublicMixtureLaw",
    "RankingProfiles",
    "Reals",
    "Record",
    "RecordError",
    "Result",
    "TargetError",
    "TargetRaisedError",
    "UtilityClaim",
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
