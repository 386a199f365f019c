"""Evidence: exact, likelihood, black-box, utility bounds, lemmas."""

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
