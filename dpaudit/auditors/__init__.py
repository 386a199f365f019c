"""Evidence: exact, likelihood, black-box, utility bounds, lemmas."""

from dpaudit.auditors.audit import audit
from dpaudit.auditors.blackbox import audit_black_box
from dpaudit.auditors.budget import Budget
from dpaudit.auditors.curve_bounds import PrivacyBounds, privacy_bounds, privacy_bounds_from_samples
from dpaudit.auditors.exact import audit_exact
from dpaudit.auditors.lemma import audit_lemma
from dpaudit.auditors.likelihood import audit_likelihood
from dpaudit.auditors.lower_bound import LowerBound, epsilon_lower_bound
from dpaudit.auditors.one_run import OneRunBound, one_run_bound
from dpaudit.auditors.samples import SamplesBound, bound_from_samples
from dpaudit.auditors.streams import Streams
from dpaudit.auditors.utility import audit_utility

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
