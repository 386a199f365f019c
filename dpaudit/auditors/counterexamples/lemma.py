"""The lemma auditor: every listed instance, then drawn ones; a counterexample is shrunk."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dpaudit.auditors.counterexamples.variables import draw_value, simpler_values, vary_value
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import LemmaClaim
from dpaudit.claims.evidence import Counterexample, Evidence, Interval
from dpaudit.claims.record import plain
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError

DEFAULT_DRAWS = 2000
_LONGEST_INSTANCE = 400

_NEAR = 0.5
"""Share of the instances that are drawn near to the best ones."""
_KEPT = 5
_REPEATS = 1000
"""Instances drawn again and again, after which there are no others."""
_SIMPLIFICATIONS = 5000

Instance = dict[str, Any]


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
        search = _Search(claim, streams)
        search.run(draws)
        counterexample, drawn = search.counterexample, search.count
        drawn_margin, drawn_worst = search.smallest
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


class _Search:
    """A search among drawn instances, towards small margins.

    Half of the draws are fresh, and the others near to one of the instances with the smallest margins so far. A
    counterexample is simplified as long as it stays one.
    """

    def __init__(self, claim: LemmaClaim, streams: Streams) -> None:
        self._claim, self._rng = claim, streams.generator("draws")
        self._variables = dict(sorted(claim.variables.items()))
        self._seen: set[tuple[Any, ...]] = set()
        self._best: list[tuple[float, Instance]] = []
        self.count = 0
        self.counterexample: Instance | None = None

    @property
    def smallest(self) -> tuple[float, Instance | None]:
        """The smallest margin, and its instance."""
        return self._best[0] if self._best else (math.inf, None)

    def run(self, draws: int) -> None:
        """Draw instances until one is a counterexample; those seen before do not count."""
        repeats = 0
        while self.count < draws and repeats < _REPEATS:
            instance = self._next()
            if self._is_new(instance):
                repeats = 0
                if self._fails(instance):
                    self.counterexample = self._simplified(instance)
                    return
            else:
                repeats += 1

    def _next(self) -> Instance:
        if self._best and self._rng.random() < _NEAR:
            instance = dict(self._best[self._rng.integers(len(self._best))][1])
            names = [name for name in self._variables if self._rng.random() < 1 / len(self._variables)]
            for name in names or list(self._variables):
                instance[name] = vary_value(self._variables[name], instance[name], self._rng)
            return instance
        return {name: draw_value(domain, self._rng) for name, domain in self._variables.items()}

    def _is_new(self, instance: Instance) -> bool:
        key = tuple(
            (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value for value in instance.values()
        )
        new = key not in self._seen
        self._seen.add(key)
        return new

    def _fails(self, instance: Instance) -> bool:
        margin = _margin(self._claim, instance)
        self.count += 1
        self._best.append((margin, instance))
        self._best.sort(key=lambda entry: entry[0])
        del self._best[_KEPT:]
        return margin < -self._claim.tolerance

    def _simplified(self, instance: Instance) -> Instance:
        last = self.count + _SIMPLIFICATIONS
        found: Instance | None = instance
        while found is not None:
            instance = found
            found = next(
                (each for each in self._simpler(instance) if self.count < last and self._fails(each)),
                None,
            )
        return instance

    def _simpler(self, instance: Instance) -> Iterator[Instance]:
        for name, domain in self._variables.items():
            for value in simpler_values(domain, instance[name]):
                changed = {**instance, name: value}
                if self._is_new(changed):
                    yield changed
