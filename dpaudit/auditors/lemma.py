"""The lemma auditor: every listed instance, then drawn ones; a counterexample is shrunk."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.auditors.streams import Streams
from dpaudit.claims.claims import LemmaClaim
from dpaudit.claims.domains import Domain, Integers, Reals
from dpaudit.claims.evidence import Counterexample, Evidence, Interval
from dpaudit.claims.hypothesis_draws import reproducible_draws
from dpaudit.claims.record import plain
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

DEFAULT_DRAWS = 2000
_LONGEST_INSTANCE = 400


def audit_lemma(claim: LemmaClaim, *, draws: int | None, streams: Streams) -> Evidence:
    """Look for an instance at which the lemma's margin is negative.

    Parameters
    ----------
    claim
        The lemma.
    draws
        Instances to draw besides the listed ones; None for 2000.
    streams
        Random streams.

    Returns
    -------
    Evidence
        ``refuted`` with the counterexample of the smallest margin among the listed ones, or else the smallest that
        shrinking a drawn one gives; ``proved`` if the listed instances are complete; ``consistent`` otherwise.

    Raises
    ------
    CheckError
        The lemma has no instances and no variables, or its margin is not a number.
    """
    draws = DEFAULT_DRAWS if draws is None else draws
    worst_margin, worst = math.inf, None
    for instance in claim.instances:
        margin = _margin(claim, instance)
        if margin < worst_margin:
            worst_margin, worst = margin, instance
    searched = f"{len(claim.instances)} listed" if claim.instances else ""
    drawn = 0
    counterexample = worst if worst_margin < -claim.tolerance else None
    if claim.variables and counterexample is None:
        counterexample, drawn_margin, drawn_worst, drawn = _search(claim, draws, streams)
        if drawn_margin < worst_margin:
            worst_margin, worst = drawn_margin, drawn_worst
        searched = f"{searched} and {drawn} drawn" if searched else f"{drawn} drawn"
    if not searched:
        raise CheckError(f"{claim.id}: a lemma needs `instances` or `variables`")
    if counterexample is not None:
        worst_margin = _margin(claim, counterexample)
        verdict = Verdict.REFUTED
    elif claim.complete and not claim.variables:
        verdict = Verdict.PROVED
    else:
        verdict = Verdict.CONSISTENT
    shown = counterexample if counterexample is not None else worst
    explained = dict(claim.explain(**shown)) if claim.explain and shown is not None else {}
    return Evidence(
        verdict=verdict,
        scope=f"{claim.scope}; {searched} instances" if claim.variables or not claim.scope else claim.scope,
        method="exact" if claim.complete and not drawn else "counterexample search",
        measured={
            **{name: Interval.exact(value) for name, value in explained.items()},
            "margin": Interval.exact(worst_margin),
        },
        witness=None if counterexample is None else _counterexample(claim, counterexample, explained),
        note=_nearest(worst, searched) if verdict is Verdict.CONSISTENT else "",
        samples=drawn,
    )


def _nearest(worst: Mapping[str, Any] | None, searched: str) -> str:
    """Return where the smallest margin is, if that is short enough to say."""
    text = json.dumps(plain(worst), ensure_ascii=False)
    nearest = f"; the smallest margin is at {text}" if len(text) <= _LONGEST_INSTANCE else ""
    return f"no counterexample among the {searched} instances{nearest}"


def _margin(claim: LemmaClaim, instance: Mapping[str, Any]) -> float:
    margin = claim.margin(**instance)
    if isinstance(margin, bool | np.bool_):
        raise CheckError(f"{claim.id}: `margin` returned a boolean; return claimed minus actual, as a number")
    margin = float(margin)
    if math.isnan(margin):
        raise CheckError(f"{claim.id}: the margin is not a number at {dict(instance)}")
    return margin


def _counterexample(claim: LemmaClaim, instance: Mapping[str, Any], explained: Mapping[str, float]) -> Counterexample:
    measured = float(explained["actual"] if "actual" in explained else -_margin(claim, instance))
    claimed = float(explained.get("claimed", 0.0))
    return Counterexample(
        instance={name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in instance.items()},
        quantity="actual value" if "actual" in explained else "actual minus claimed",
        measured=measured,
        claimed=claimed,
        direction="at-most" if measured > claimed else "at-least",
        details={name: float(value) for name, value in explained.items()},
    )


def _search(
    claim: LemmaClaim, draws: int, streams: Streams
) -> tuple[Mapping[str, Any] | None, float, Mapping[str, Any] | None, int]:
    """Draw instances towards small margins.

    Return the shrunk counterexample, the smallest margin, its instance, and the number of draws.
    """
    import hypothesis
    from hypothesis import HealthCheck, Phase, strategies

    smallest, nearest, count = math.inf, None, 0
    found: list[Mapping[str, Any]] = []

    def holds(instance: Mapping[str, Any]) -> None:
        nonlocal smallest, nearest, count
        margin = _margin(claim, instance)
        count += 1
        if margin < smallest:
            smallest, nearest = margin, instance
        if math.isfinite(margin):
            hypothesis.target(-margin)
        if margin < -claim.tolerance:
            found.append(instance)
            raise _CounterexampleError

    strategy = strategies.fixed_dictionaries(
        {name: _strategy(domain) for name, domain in sorted(claim.variables.items())}
    )
    run = hypothesis.seed(int(streams.generator("draws").integers(2**63)))(
        hypothesis.settings(
            max_examples=draws,
            database=None,
            deadline=None,
            derandomize=False,
            phases=(Phase.generate, Phase.target, Phase.shrink),
            report_multiple_bugs=False,
            verbosity=hypothesis.Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
        )(hypothesis.given(strategy)(holds))
    )
    try:
        with reproducible_draws():
            run()
    except _CounterexampleError:
        # Hypothesis runs the smallest failing example last.
        return found[-1], smallest, nearest, count
    return None, smallest, nearest, count


class _CounterexampleError(Exception):
    """The lemma fails here."""


def _strategy(domain: Domain) -> SearchStrategy[Any]:
    from hypothesis import strategies

    if isinstance(domain, Reals):
        return strategies.floats(domain.low, domain.high, allow_nan=False)
    if isinstance(domain, Integers):
        return strategies.integers(domain.low, domain.high)
    return strategies.builds(
        _restricted,
        strategies.lists(strategies.permutations(range(domain.alternatives)), min_size=1, max_size=domain.agents),
        strategies.integers(2, domain.alternatives),
    )


def _restricted(rows: list[list[int]], alternatives: int) -> np.ndarray:
    """Drop the last alternatives from all rankings, so that their number shrinks whatever the rankings are."""
    return np.array([[item for item in row if item < alternatives] for row in rows], dtype=int)
