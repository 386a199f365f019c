"""One claim of one target: pick the strongest evidence that the object allows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.auditors.agreement import find_disagreement, find_violation
from dpaudit.auditors.blackbox.audit import audit_black_box
from dpaudit.auditors.counterexamples.lemma import audit_lemma
from dpaudit.auditors.counterexamples.stability import audit_stability
from dpaudit.auditors.exact import UndecidedError, audit_exact
from dpaudit.auditors.likelihood.audit import audit_likelihood
from dpaudit.auditors.likelihood.bounds import audit_by_likelihood_bounds, serves
from dpaudit.auditors.likelihood.losses import knows_likelihood
from dpaudit.auditors.measures.figures import audit_figure
from dpaudit.auditors.measures.rates import audit_rate
from dpaudit.auditors.measures.utility import audit_utility
from dpaudit.auditors.noise.audit import audit_noise
from dpaudit.auditors.recorded import find_deviation, find_view_deviation
from dpaudit.auditors.sampling.budget import Budget, Features, Method
from dpaudit.auditors.sampling.pace import OutOfTimeError, Pace
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import (
    Claim,
    FigureClaim,
    LemmaClaim,
    PrivacyClaim,
    RateClaim,
    StabilityClaim,
    UtilityClaim,
)
from dpaudit.claims.evidence import Evidence, Remedy
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.claims.inputs import short_repr
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.noise import NoiseClaim
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError
from dpaudit.floating_point import our_settings
from dpaudit.laws import Law
from dpaudit.mechanism import Mechanism
from dpaudit.sources.programs import answering_by


@our_settings()
def audit(target: Mechanism, claim: Claim, *, budget: Budget, streams: Streams) -> Evidence:
    """Audit one claim.

    Parameters
    ----------
    target
        The mechanism with its parameters.
    claim
        One of its claims.
    budget, streams
        Spending, confidence, and random streams.

    Returns
    -------
    Evidence

    Raises
    ------
    CheckError
        The target or its check misbehaves, or its sampler does not follow the law or send the messages that it
        declares.
    """
    if claim.inapplicable:
        return Evidence(
            verdict=Verdict.INAPPLICABLE, scope="at these parameters", method="assumptions", note=claim.inapplicable
        )
    if isinstance(claim, PrivacyClaim):
        with answering_by(budget.deadline):
            return _audit_privacy(target, claim, budget, streams)
    if isinstance(claim, UtilityClaim):
        return audit_utility(claim, budget=budget, streams=streams)
    if isinstance(claim, FigureClaim):
        return audit_figure(claim, budget=budget, streams=streams)
    if isinstance(claim, RateClaim):
        return audit_rate(claim, budget=budget, streams=streams)
    if isinstance(claim, LemmaClaim):
        return audit_lemma(claim, draws=budget.samples, streams=streams)
    if isinstance(claim, StabilityClaim):
        return audit_stability(claim, draws=budget.samples, deadline=budget.deadline, streams=streams)
    if isinstance(claim, NoiseClaim):
        return audit_noise(target, claim, pairs=budget.samples, deadline=budget.deadline, streams=streams)
    raise CheckError(f"{claim.id}: no auditor for a {type(claim).__name__}; use one of dpaudit's claim classes")


def view_of(target: Mechanism, claim: PrivacyClaim) -> tuple[Mechanism, Neighbouring]:
    """Mechanism that shows the claim's view, and its neighbouring inputs.

    Raises
    ------
    CheckError
        The target has no such view, or the view lists no neighbouring inputs.
    """
    views = target.views()
    if claim.view not in views:
        raise CheckError(f"{claim.id}: {target.name} has no view {claim.view!r}; its views are {', '.join(views)}")
    view = views[claim.view]
    neighbouring = view.neighbours()
    if not isinstance(neighbouring, Neighbouring):
        raise CheckError(
            f"{claim.id}: `neighbours` of {view.name} returned {type(neighbouring).__name__}; "
            "return a dpaudit.Neighbouring with the pairs of inputs to compare"
        )
    if not isinstance(neighbouring.complete, bool | np.bool_):
        raise CheckError(
            f"{claim.id}: `complete` of the neighbouring inputs of {view.name} must be True or False, got "
            f"{short_repr(neighbouring.complete)}; a claim is proved only where it is True"
        )
    return view, neighbouring


def takes_samples(target: Mechanism, claim: PrivacyClaim, *, method: Method, features: Features) -> bool:
    """Whether samples decide a claim: its method insists on them, or no law is known of the view.

    A law may still turn out not to decide the claim, which only the audit itself finds out.
    """
    method = _method(method, features)
    if claim.inapplicable or method == "exact":
        return False
    if method != "auto":
        return True
    view, neighbouring = view_of(target, claim)
    first = next(iter(neighbouring), None)
    return first is not None and view.law(first[0]) is None


def _method(method: Method, features: Features) -> Method:
    # `--features` implies sampling.
    return method if features == "none" else "black-box"


def _audit_privacy(target: Mechanism, claim: PrivacyClaim, budget: Budget, streams: Streams) -> Evidence:
    """Audit the view, and pass the evidence only where the code that runs sends the messages that views declare."""
    view, neighbouring = view_of(target, claim)
    deviation, shown = "", ""
    in_time, pace = True, Pace(planned=0, deadline=budget.deadline)
    try:
        deviation = find_deviation(target, streams.child("messages"), pace)
        shown = deviation or find_view_deviation(view, neighbouring, streams.child("messages", "view"), pace)
    except OutOfTimeError:
        in_time = False
    evidence = _audit_view(view, neighbouring, claim, budget, streams)
    if evidence.verdict is Verdict.REFUTED:
        # The view is refuted whatever runs send; and what it sends may be the very bug.
        return replace(evidence, note=f"{evidence.note}; {deviation}") if deviation else evidence
    if shown:
        raise CheckError(f"{claim.id}: {shown}; mend whichever is wrong")
    return evidence if in_time else _unchecked(evidence, "", "runs had been recorded")


def _audit_view(
    view: Mechanism, neighbouring: Neighbouring, claim: PrivacyClaim, budget: Budget, streams: Streams
) -> Evidence:
    method = _method(budget.method, budget.features)
    first = next(iter(neighbouring), None)
    if first is None:
        raise CheckError(f"{claim.id}: `neighbours` of {view.name} lists no pair; list at least one")
    law = view.law(first[0])
    if law is not None and not isinstance(law, Law):
        raise CheckError(f"{claim.id}: `law` of {view.name} returned {type(law).__name__}; return a dpaudit law")
    if method == "exact" and law is None:
        raise CheckError(f"{claim.id}: the law of {view.name} is not known; use --method likelihood or black-box")
    if method in ("auto", "exact") and law is not None:
        try:
            return _audit_exactly(view, claim, neighbouring, budget, streams)
        except UndecidedError:
            if method == "exact" or not _can_sample(view):
                raise
    if method in ("auto", "likelihood") and _serves_likelihood(view, claim, first[0], method, streams):
        by_point = claim.guarantee.profile_point is not None
        by_likelihood = audit_likelihood if by_point else audit_by_likelihood_bounds
        evidence = by_likelihood(view, claim, neighbouring, budget=budget, streams=streams)
        return _held_against_samples(view, claim, neighbouring, evidence, budget, streams)
    if isinstance(claim.guarantee, ApproximateDP) and claim.guarantee.delta == 1:
        return Evidence(
            verdict=Verdict.VACUOUS,
            scope=neighbouring.scope,
            method="assumptions",
            note="delta is 1, and any mechanism is private at that",
        )
    return audit_black_box(view, claim, neighbouring, budget=budget, streams=streams)


def _serves_likelihood(view: Mechanism, claim: PrivacyClaim, data: Any, method: Method, streams: Streams) -> bool:
    """Whether likelihoods can decide the claim; CheckError where they cannot and the method insists on them."""
    problem = ""
    if claim.guarantee.profile_point is None and not serves(claim.guarantee):
        problem = f"likelihoods bound one point of the privacy profile, which does not decide {claim.guarantee}; "
    elif not knows_likelihood(view, data, streams):
        problem = f"the likelihood of {view.name} is not known; define `log_likelihood(outputs, data)`, or "
    if problem and method == "likelihood":
        raise CheckError(f"{claim.id}: {problem}use --method black-box")
    return not problem


def _audit_exactly(
    view: Mechanism, claim: PrivacyClaim, neighbouring: Neighbouring, budget: Budget, streams: Streams
) -> Evidence:
    """Decide the claim by the declared law, and hold samples against that."""
    evidence, worst = audit_exact(view, claim, neighbouring)
    if not _can_sample(view):
        return replace(evidence, finding=None)
    try:
        found = find_disagreement(view, claim, neighbouring, evidence, worst, budget, streams.child("agreement"))
    except OutOfTimeError:
        return _unchecked(evidence, "law")
    if found.contradiction:
        return _by_samples(view, claim, neighbouring, found.contradiction, budget, streams)
    return replace(evidence, measured={**evidence.measured, **found.power})


def _held_against_samples(
    view: Mechanism,
    claim: PrivacyClaim,
    neighbouring: Neighbouring,
    evidence: Evidence,
    budget: Budget,
    streams: Streams,
) -> Evidence:
    """Pass what likelihoods say of a claim only where samples alone do not refute it."""
    if evidence.verdict not in (Verdict.CERTIFIED, Verdict.CONSISTENT):
        return evidence
    try:
        contradiction = find_violation(view, claim, neighbouring, budget, streams.child("agreement"))
    except OutOfTimeError:
        return _unchecked(evidence, "log_likelihood")
    if contradiction:
        return _by_samples(view, claim, neighbouring, contradiction, budget, streams)
    return evidence


def _unchecked(evidence: Evidence, source: str, missed: str = "`sample` had been held against it") -> Evidence:
    if evidence.verdict is Verdict.INCONCLUSIVE:
        return evidence
    by = f" by `{source}`" if source else ""
    note = f"{evidence.verdict.value}{by}, but the time that --seconds allows was over before {missed}"
    return replace(evidence, verdict=Verdict.INCONCLUSIVE, witness=None, finding=None, note=note, remedy=Remedy.TIME)


def _can_sample(view: Mechanism) -> bool:
    return type(view).sample is not Mechanism.sample


def _by_samples(
    view: Mechanism,
    claim: PrivacyClaim,
    neighbouring: Neighbouring,
    contradiction: str,
    budget: Budget,
    streams: Streams,
) -> Evidence:
    """Refute the claim from samples where the law is wrong, or else say that the law is wrong."""
    evidence = audit_black_box(view, claim, neighbouring, budget=budget, streams=streams)
    if evidence.verdict is not Verdict.REFUTED:
        raise CheckError(f"{contradiction}; mend whichever is wrong")
    return replace(evidence, note=f"{evidence.note}; {contradiction}")
