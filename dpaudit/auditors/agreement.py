"""Whether a sampler follows the law that a mechanism declares, so that a wrong law proves nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.auditors.blackbox.audit import a_value, audit_black_box
from dpaudit.auditors.misfit import Fit, held_against, width_of
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.pace import OutOfTimeError
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence, Interval, Role
from dpaudit.claims.guarantees import exceeds
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, FiniteLaw, Law
from dpaudit.laws.joint import flattened
from dpaudit.mechanism import Mechanism

SAMPLES = 100_000
"""Samples on each input of the worst pair that are held against a finite law, and of the search for a violation."""

ALPHA = 1e-6
"""Probability, at most, with which a sampler that follows its law is reported as one that does not."""

_MOST_NUMBERS = 4_000_000
"""Numbers in all, about, of the samples that are held against a law that is not finite, and of those searched."""

_LEAST = 4000
"""Samples, at least, of the search for a violation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How a sampler stands to the law that it should follow.

    Attributes
    ----------
    contradiction
        How the sampler contradicts the law, or nothing.
    power
        What error of the sampler on either input of the worst pair would have been seen, with probability 0.9:
        ``detectable_shift`` and ``detectable_variation``, as far as they are known.
    """

    contradiction: str = ""
    power: Mapping[str, Interval] = field(default_factory=dict)


def find_disagreement(
    view: Mechanism,
    claim: PrivacyClaim,
    neighbouring: Neighbouring,
    evidence: Evidence,
    worst: tuple[Any, Any],
    budget: Budget,
    streams: Streams,
) -> Agreement:
    """Compare samples with the declared law.

    The law of each input of the worst pair is held against samples on that input (see `held_against`); and whatever
    the law, the value that it gives the forced parameter must not lie below what a search over all pairs finds in
    samples. Of the budget only the deadline counts.

    Raises
    ------
    OutOfTimeError
        The deadline passed before the comparison was done.
    """
    pace = budget.pace(4 * SAMPLES)
    sampler = Sampler(view.sample, view.name, streams, own_randomness=view.own_randomness, pace=pace)
    for data in worst:
        sampler.check_deterministic(data)
    laws = [None if law is None else _listed(law) or law for law in map(view.law, worst)]
    fits: list[Fit | None] = []
    for side, (data, law) in enumerate(zip(worst, laws, strict=True)):
        samples = _samples(law)
        if law is None or not samples:
            continue
        outputs = sampler.draw(data, samples, "law", side)
        fit = held_against(law, outputs, alpha=ALPHA / 3, other=laws[1 - side])
        fits.append(fit)
        if fit is not None and fit.p_value < ALPHA / 3:
            return Agreement(
                contradiction=f"{view.name}: `sample` does not follow `law` for the input {data!r} "
                f"({samples} samples, false-alarm rate {ALPHA:g})"
            )
    forced = claim.guarantee.forced
    exact = evidence.measured[forced].upper
    assert exact is not None
    samples = max(_LEAST, min(_samples(law) or SAMPLES for law in laws))
    lower = _lower_bound(view, claim, neighbouring, samples, ALPHA / 3, exact, budget, streams)
    if exceeds(lower, exact):
        return Agreement(
            contradiction=f"{view.name}: samples show {a_value(forced)} of at least {lower:.6g}, but `law` gives "
            f"{exact:.6g} (false-alarm rate {ALPHA:g})"
        )
    return Agreement(power=_power(fits))


def find_violation(
    view: Mechanism, claim: PrivacyClaim, neighbouring: Neighbouring, budget: Budget, streams: Streams
) -> str:
    """Search samples for a violation of a claim that holds by the mechanism's log-likelihood.

    Where likelihoods leave out what tells inputs apart, they agree with the samples as far as they go.

    Returns
    -------
    str
        How the sampler contradicts the likelihood, or nothing.

    Raises
    ------
    OutOfTimeError
        The deadline passed before the search was done.
    """
    samples = min(SAMPLES, budget.samples or SAMPLES)
    guarantee = claim.guarantee
    lower = _lower_bound(view, claim, neighbouring, samples, ALPHA, guarantee.claimed, budget, streams)
    if guarantee.exceeds(lower):
        return (
            f"{view.name}: samples show {a_value(guarantee.forced)} of at least {lower:.6g}, but the claim of "
            f"{guarantee.claimed:.6g} holds by `log_likelihood` (false-alarm rate {ALPHA:g})"
        )
    return ""


def _listed(law: Law) -> FiniteLaw | None:
    return law.listed() if isinstance(law, DiscreteLaplaceLaw | DiscreteGaussianLaw) else flattened(law)


def _samples(law: Law | None) -> int:
    """Samples to hold against a law; none where its outcomes cannot be told."""
    if isinstance(law, FiniteLaw):
        return SAMPLES
    width = None if law is None else width_of(law)
    return 0 if width is None else max(1, min(SAMPLES, _MOST_NUMBERS // width))


def _power(fits: Sequence[Fit | None]) -> dict[str, Interval]:
    """What would have been seen on whichever side it is harder to see."""
    known = [fit for fit in fits if fit is not None]
    if len(known) < 2:
        return {}
    found = {"detectable_shift": max(fit.shift for fit in known)}
    variations = [fit.variation for fit in known if fit.variation is not None]
    if len(variations) == len(known):
        found["detectable_variation"] = max(variations)
    return {name: Interval.exact(value, role=Role.COMPARISON) for name, value in found.items()}


def _lower_bound(
    view: Mechanism,
    claim: PrivacyClaim,
    neighbouring: Neighbouring,
    samples: int,
    alpha: float,
    limit: float,
    budget: Budget,
    streams: Streams,
) -> float:
    """Bound the forced parameter from samples alone; raise OutOfTimeError where no time is left to exceed the limit."""
    search = Budget(samples=samples, confidence=1 - alpha, deadline=budget.deadline)
    seen = audit_black_box(view, claim, neighbouring, budget=search, streams=streams)
    forced = claim.guarantee.forced
    lower = seen.measured[forced].lower if forced in seen.measured else 0.0
    assert lower is not None
    if "detection_limit" not in seen.measured and not exceeds(lower, limit):
        raise OutOfTimeError
    return lower
