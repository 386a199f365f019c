"""Whether a sampler follows the law that a mechanism declares, so that a wrong law proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.auditors.blackbox import a_value, audit_black_box
from dpaudit.auditors.budget import Budget
from dpaudit.auditors.outputs import Coder
from dpaudit.auditors.pace import OutOfTimeError
from dpaudit.auditors.sampler import Sampler
from dpaudit.auditors.streams import Streams
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence
from dpaudit.claims.guarantees import exceeds
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.laws import FiniteLaw
from dpaudit.laws.finite import outcome_key
from dpaudit.laws.joint import flattened
from dpaudit.mechanism import Mechanism
from dpaudit.statistics import goodness_of_fit

SAMPLES = 100_000
"""Samples on each input of the worst pair that are held against a finite law, and of the search for a violation."""

ALPHA = 1e-6
"""Probability, at most, with which a sampler that follows its law is reported as one that does not."""

_GROUPS = 16
_EXACT_INTEGERS = 1 << 53


def find_disagreement(
    view: Mechanism,
    claim: PrivacyClaim,
    neighbouring: Neighbouring,
    evidence: Evidence,
    worst: tuple[Any, Any],
    budget: Budget,
    streams: Streams,
) -> str:
    """Compare samples with the declared law.

    A finite law is tested for goodness of fit on both inputs of the worst pair, outcome by outcome and grouped by
    their likelihood ratio; and whatever the law, the value that it gives the forced parameter must not lie below what
    a search over all pairs finds in samples. A law of numbers that overstates the loss goes unnoticed. Of the budget
    only the deadline counts.

    Returns
    -------
    str
        How the sampler contradicts the law, or nothing.

    Raises
    ------
    OutOfTimeError
        The deadline passed before the comparison was done.
    """
    pace = budget.pace(4 * SAMPLES)
    sampler = Sampler(view.sample, view.name, streams, own_randomness=view.own_randomness, pace=pace)
    for data in worst:
        sampler.check_deterministic(data)
    laws = [flattened(law) for law in map(view.law, worst) if law is not None]
    if len(laws) == len(worst) and None not in laws:
        ratios = _ratios(laws[0], laws[1])
        for side, (data, law) in enumerate(zip(worst, laws, strict=True)):
            assert law is not None
            if _misfit(law, ratios, sampler.draw(data, SAMPLES, "law", side)) < ALPHA / 3:
                return (
                    f"{view.name}: `sample` does not follow `law` for the input {data!r} "
                    f"({SAMPLES} samples, false-alarm rate {ALPHA:g})"
                )
    forced = claim.guarantee.forced
    exact = evidence.measured[forced].upper
    assert exact is not None
    lower = _lower_bound(view, claim, neighbouring, SAMPLES, ALPHA / 3, exact, budget, streams)
    if exceeds(lower, exact):
        return (
            f"{view.name}: samples show {a_value(forced)} of at least {lower:.6g}, but `law` gives {exact:.6g} "
            f"(false-alarm rate {ALPHA:g})"
        )
    return ""


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


def _ratios(p: FiniteLaw | None, q: FiniteLaw | None) -> dict[Any, float]:
    """Log-ratio of the two laws by outcome."""
    assert p is not None
    assert q is not None
    other = dict(zip(map(outcome_key, q.outcomes), q.log_probabilities.tolist(), strict=True))
    keys = map(outcome_key, p.outcomes)
    with np.errstate(invalid="ignore"):
        return {
            key: float(np.nan_to_num(value - other.get(key, -np.inf)))
            for key, value in zip(keys, p.log_probabilities.tolist(), strict=True)
        }


def _misfit(law: FiniteLaw, ratios: dict[Any, float], outputs: np.ndarray) -> float:
    """p-value of the outputs under the law, the smaller of two tests doubled."""
    keyed = outcome_keyer(outputs)
    index = {keyed(outcome): i for i, outcome in enumerate(law.outcomes)}
    coder = Coder(outputs)
    codes = np.array([index.get(keyed(outcome), len(index)) for outcome in coder.outcomes])
    counts = np.bincount(codes[coder(outputs)], minlength=len(index) + 1)
    probabilities = np.append(np.exp(law.log_probabilities), 0.0)
    by_ratio = np.array([ratios.get(outcome_key(outcome), -np.inf) for outcome in law.outcomes])
    order = np.argsort(by_ratio, kind="stable")
    reached = np.cumsum(probabilities[:-1][order]) - probabilities[:-1][order] / 2
    groups = np.empty(len(counts), dtype=int)
    groups[order] = np.minimum((reached * _GROUPS).astype(int), _GROUPS - 1)
    groups[-1] = _GROUPS
    grouped = [np.bincount(groups, weights=values, minlength=_GROUPS + 1) for values in (counts, probabilities)]
    by_outcome = goodness_of_fit(counts, probabilities)
    return min(1.0, 2 * min(by_outcome, goodness_of_fit(grouped[0].astype(int), grouped[1])))


def outcome_keyer(outputs: np.ndarray) -> Callable[[Any], Any]:
    """Return the function under which outputs like these and the outcomes of a law have equal keys where they agree."""
    # Rows of an array may stand for nested outcomes, such as a choice and what follows: compare their values in order.
    return _flat_key if outputs.ndim > 1 else outcome_key


def _flat_key(outcome: Any) -> Any:
    """Key under which a sampled row and a nested outcome of the law are the same: their values in order."""
    flat: list[Any] = []

    def visit(item: Any) -> None:
        if isinstance(item, tuple):
            for part in item:
                visit(part)
        else:
            small = isinstance(item, bool | float) or (isinstance(item, int) and abs(item) <= _EXACT_INTEGERS)
            flat.append(float(item) if small else item)

    visit(outcome_key(outcome))
    return tuple(flat)
