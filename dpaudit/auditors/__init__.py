"""Evidence: exact, likelihood, black-box, utility bounds, lemmas.

Names are loaded when they are first used: who starts audits elsewhere needs none of what audits.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.auditors.audit import audit
    from dpaudit.auditors.blackbox.audit import audit_black_box
    from dpaudit.auditors.blackbox.curve_bounds import PrivacyBounds, privacy_bounds, privacy_bounds_from_samples
    from dpaudit.auditors.blackbox.lower_bound import LowerBound, epsilon_lower_bound
    from dpaudit.auditors.blackbox.one_run import OneRunBound, one_run_bound
    from dpaudit.auditors.blackbox.samples import SamplesBound, bound_from_samples
    from dpaudit.auditors.counterexamples.lemma import audit_lemma
    from dpaudit.auditors.exact import audit_exact
    from dpaudit.auditors.likelihood.audit import audit_likelihood
    from dpaudit.auditors.measures.utility import audit_utility
    from dpaudit.auditors.sampling.budget import Budget
    from dpaudit.auditors.sampling.streams import Streams
else:  # Hidden from type checkers, which would take any name whatever for one that exists.

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


class _Package(ModuleType):
    """The package, of which `audit` is the function, although a module in it has that name too."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "audit" and isinstance(value, ModuleType):
            value = value.audit
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

_HOMES = {
    "Budget": "dpaudit.auditors.sampling.budget",
    "LowerBound": "dpaudit.auditors.blackbox.lower_bound",
    "OneRunBound": "dpaudit.auditors.blackbox.one_run",
    "PrivacyBounds": "dpaudit.auditors.blackbox.curve_bounds",
    "SamplesBound": "dpaudit.auditors.blackbox.samples",
    "Streams": "dpaudit.auditors.sampling.streams",
    "audit": "dpaudit.auditors.audit",
    "audit_black_box": "dpaudit.auditors.blackbox.audit",
    "audit_exact": "dpaudit.auditors.exact",
    "audit_lemma": "dpaudit.auditors.counterexamples.lemma",
    "audit_likelihood": "dpaudit.auditors.likelihood.audit",
    "audit_utility": "dpaudit.auditors.measures.utility",
    "bound_from_samples": "dpaudit.auditors.blackbox.samples",
    "epsilon_lower_bound": "dpaudit.auditors.blackbox.lower_bound",
    "one_run_bound": "dpaudit.auditors.blackbox.one_run",
    "privacy_bounds": "dpaudit.auditors.blackbox.curve_bounds",
    "privacy_bounds_from_samples": "dpaudit.auditors.blackbox.curve_bounds",
}

__all__ = [
    "Budget",
    "LowerBound",
    "OneRunBound",
    "PrivacyBounds",
    "SamplesBound",
    "Streams",
    "audit",
    "audit_black_box",
    "audit_exact",
    "audit_lemma",
    "audit_likelihood",
    "audit_utility",
    "bound_from_samples",
    "epsilon_lower_bound",
    "one_run_bound",
    "privacy_bounds",
    "privacy_bounds_from_samples",
]
