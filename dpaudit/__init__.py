"""dpaudit: is what its authors claim of a private algorithm true?

Reference implementations are for auditing and research: they use a non-cryptographic generator and floating point.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit import randomizers, rankings, testing
    from dpaudit.auditors import LowerBound, epsilon_lower_bound
    from dpaudit.catalog import load
    from dpaudit.claims.claims import Claim, Erratum, LemmaClaim, PrivacyClaim, UtilityClaim
    from dpaudit.claims.domains import Integers, RankingProfiles, Reals
    from dpaudit.claims.evidence import Evidence, Interval, Witness
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

# Public names by the module that defines them; loaded when first used, so that `import dpaudit` is quick.
_HOME = {
    "CheckError": "errors",
    "Claim": "claims.claims",
    "DataError": "errors",
    "DpauditError": "errors",
    "Erratum": "claims.claims",
    "Evidence": "claims.evidence",
    "FiniteLaw": "laws",
    "GaussianLaw": "laws",
    "Integers": "claims.domains",
    "Interval": "claims.evidence",
    "LaplaceLaw": "laws",
    "Law": "laws",
    "LemmaClaim": "claims.claims",
    "LowerBound": "auditors",
    "Mechanism": "mechanism",
    "Neighbouring": "claims.neighbouring",
    "OutputError": "errors",
    "ParameterError": "errors",
    "PlanError": "errors",
    "PrivacyClaim": "claims.claims",
    "ProductLaw": "laws",
    "PublicMixtureLaw": "laws",
    "RankingProfiles": "claims.domains",
    "Reals": "claims.domains",
    "Record": "claims.record",
    "RecordError": "errors",
    "Result": "claims.record",
    "TargetError": "errors",
    "TargetRaisedError": "errors",
    "UtilityClaim": "claims.claims",
    "Verdict": "claims.verdicts",
    "Witness": "claims.evidence",
    "check": "runner",
    "compare": "laws",
    "epsilon_lower_bound": "auditors",
    "load": "catalog",
    "parameter": "mechanism",
    "read_record": "claims.record",
}
_SUBMODULES = ("randomizers", "rankings", "testing")

__all__ = sorted([*_HOME, *_SUBMODULES])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"dpaudit.{name}")
    if name in _HOME:
        return getattr(import_module(f"dpaudit.{_HOME[name]}"), name)
    raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
