"""Whether a sampler follows the law that a mechanism declares, so that a wrong law proves nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.auditors.blackbox import audit_black_box
from dpaudit.auditors.budget import Budget
from dpaudit.auditors.exact import exceeds
from dpaudit.auditors.sampler import Sampler
from dpaudit.auditors.scores import Coder
from dpaudit.auditors.streams import Streams
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.errors import CheckError
from dpaudit.laws import FiniteLaw
from dpaudit.laws.finite import outcome_key
from dpaudit.laws.joint import flattened
from dpaudit.mechanism import Mechanism
from dpaudit.statistics import goodness_of_fit

FIT_SAMPLES = 100_000
"""Samples on each input that are held against a finite law."""

BOUND_SAMPLES = 20_000
"""Samples on each input that bound epsilon where the law is not finite."""

ALPHA = 1e-6
"""Probability, at most, with which a sampler that follows its law is reported as one that does not."""


def find_disagreement(
    view: Mechanism, claim: PrivacyClaim, evidence: Evidence, worst: tuple[Any, Any], streams: Streams
) -> str:
    """Compare samples with the declared law on the worst pair of an exact audit.

    A finite law is tested for goodness of fit on both inputs; another law's epsilon must not lie below what samples
    prove, so that one which overstates the loss goes unnoticed.

    Returns
    -------
    str
        How the sampler contradicts the law, or nothing.

    """
    sampler = Sampler(view.sample, view.name, streams)
    sampler.check_deterministic(worst[0])
    finite = [flattened(law) for law in map(view.law, worst) if law is not None]
    if len(finite) == len(worst) and None not in finite:
        for side, (data, law) in enumerate(zip(worst, finite, strict=True)):
            assert law is not None
            if _misfit(law, sampler.draw(data, FIT_SAMPLES, "law", side)) < ALPHA / 2:
                return (
                    f"{view.name}: `sample` does not follow `law` for the input {data!r} "
                    f"({FIT_SAMPLES} samples, false-alarm rate {ALPHA:g})"
                )
        return ""
    seen = audit_black_box(
        view,
        claim,
        Neighbouring(relation="", pairs=[worst], complete=False, scope=""),
        budget=Budget(samples=BOUND_SAMPLES, confidence=1 - ALPHA),
        streams=streams,
    )
    lower, exact = seen.measured["epsilon"].lower, evidence.measured["epsilon"].upper
    assert lower is not None
    assert exact is not None
    if exceeds(lower, exact):
        return (
            f"{view.name}: samples show an epsilon of at least {lower:.6g}, but `law` gives {exact:.6g} "
            f"(false-alarm rate {ALPHA:g})"
        )
    return ""


def _misfit(law: FiniteLaw, outputs: np.ndarray) -> float:
    """p-value of the outputs under the law."""
    index = {_flat_key(outcome): i for i, outcome in enumerate(law.outcomes)}
    if len(index) < len(law.outcomes):
        raise CheckError("a finite law lists the same outcome twice; list every outcome once")
    coder = Coder(outputs)
    codes = np.array([index.get(_flat_key(outcome), len(index)) for outcome in coder.outcomes])
    counts = np.bincount(codes[coder(outputs)], minlength=len(index) + 1)
    return goodness_of_fit(counts, np.append(np.exp(law.log_probabilities), 0.0))


def _flat_key(outcome: Any) -> Any:
    """Key under which a sampled row and a nested outcome of the law are the same: their values in order."""
    flat: list[Any] = []

    def visit(item: Any) -> None:
        if isinstance(item, tuple):
            for part in item:
                visit(part)
        else:
            flat.append(float(item) if isinstance(item, bool | int | float) else item)

    visit(outcome_key(outcome))
    return tuple(flat)
