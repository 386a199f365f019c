"""Assertions for test suites."""

from __future__ import annotations

from typing import Any

from dpaudit.auditors.audit import view_of
from dpaudit.auditors.budget import DEFAULT_CONFIDENCE, Budget
from dpaudit.auditors.streams import Streams
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence
from dpaudit.claims.verdicts import Verdict
from dpaudit.mechanism import Mechanism


def assert_private(
    mechanism: Mechanism,
    *,
    epsilon: float,
    delta: float = 0.0,
    view: str = "output",
    samples: int | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 0,
) -> Evidence:
    """Fail if a view of a mechanism is not (``epsilon``, ``delta``)-differentially private.

    Parameters
    ----------
    mechanism
        The mechanism, with its parameters and ``neighbours``.
    epsilon, delta
        What it must satisfy.
    view
        A key of its ``views()``.
    samples, confidence, seed
        Samples per input, confidence and seed of an audit by sampling.

    Returns
    -------
    Evidence
        What was found, for further assertions.

    Raises
    ------
    AssertionError
        There is a violation, or the budget was too small to say. A violation found by sampling is a false alarm with
        probability at most 1 - ``confidence``, decided once and for all by the seed: a re-run gives the same answer.
    """
    from dpaudit.auditors.audit import audit

    claim = PrivacyClaim(
        id="assert_private", statement=f"({epsilon:g}, {delta:g})-DP", epsilon=epsilon, delta=delta, view=view
    )
    view_of(mechanism, claim)
    budget = Budget(samples=samples, confidence=confidence)
    evidence = audit(mechanism, claim, budget=budget, streams=Streams(seed, (mechanism.name, "assert_private")))
    if evidence.verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE):
        raise AssertionError(_message(mechanism, claim, evidence, confidence))
    return evidence


def _message(mechanism: Mechanism, claim: PrivacyClaim, evidence: Evidence, confidence: float) -> str:
    lines = [f"{mechanism!r} is not shown to be {claim.statement}: {evidence.verdict.value} ({evidence.method})"]
    witness: Any = evidence.witness
    if witness is not None:
        lines += [
            f"  input      {witness.data}",
            f"  neighbour  {witness.neighbour}",
            f"  event      {witness.event}",
            f"  p, q       {witness.p:.6g}, {witness.q:.6g}",
            f"  so epsilon >= {witness.epsilon:.6g}" if witness.epsilon is not None else f"  delta {witness.delta:.6g}",
        ]
    if evidence.note:
        lines.append(f"  {evidence.note}")
    if evidence.method != "exact":
        lines.append(f"  false-alarm rate: at most {1 - confidence:.3g}")
    return "\n".join(lines)
