"""The exact auditor: every neighbouring pair, from the laws of the outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence, Finding, Interval, Remedy, Violation
from dpaudit.claims.guarantees import ROUNDING, Guarantee
from dpaudit.claims.inputs import Records, input_key, short_repr
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError
from dpaudit.laws import (
    Comparison,
    DiscreteGaussianLaw,
    DiscreteLaplaceLaw,
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    Law,
    UncomposableError,
    compare,
)
from dpaudit.laws.joint import flattened
from dpaudit.laws.privacy_profile import privacy_curves
from dpaudit.mechanism import Mechanism

_CACHED_LAWS = 4096

_PAIRS_IN_ANOTHER_ORDER = 100
"""Pairs of datasets in no order, at most, of which the law is looked at in another order. Chosen by hand, for time."""

_ON_A_LINE = (LaplaceLaw, GaussianLaw, DiscreteLaplaceLaw, DiscreteGaussianLaw)
"""Laws of one number, whose events are half-lines."""


class UndecidedError(CheckError):
    """The guarantee cannot be computed from laws of this kind."""


@dataclass(slots=True)
class _Worst:
    """The pair, in one direction, on which a quantity is largest."""

    lower: float = -math.inf
    upper: float = -math.inf
    p_input: Any = None
    q_input: Any = None
    comparison: Comparison | None = None

    def update(self, value: Interval, p_input: Any, q_input: Any, comparison: Comparison) -> None:
        lower = 0.0 if value.lower is None else value.lower
        upper = math.inf if value.upper is None else value.upper
        self.upper = max(self.upper, upper)
        # On ties, keep the last pair: enumerations run from near to distant inputs, and samples tell distant ones apart
        # most easily.
        if lower >= (self.lower * (1 - ROUNDING) if math.isfinite(self.lower) else self.lower):
            self.p_input, self.q_input, self.comparison = p_input, q_input, comparison
        self.lower = max(self.lower, lower)

    @property
    def interval(self) -> Interval:
        return Interval(lower=self.lower, upper=self.upper)


def audit_exact(
    mechanism: Mechanism, claim: PrivacyClaim, neighbouring: Neighbouring
) -> tuple[Evidence, tuple[Any, Any]]:
    """Compute the worst privacy loss over all the given pairs, in both directions.

    Parameters
    ----------
    mechanism
        The audited view; its ``law`` must be known for every input of the pairs.
    claim, neighbouring
        What is claimed, and the pairs to look at.

    Returns
    -------
    evidence : Evidence
        ``refuted`` with the worst pair and event; ``proved`` if the pairs are complete in their scope, otherwise
        ``certified`` for the pairs listed.
    worst : tuple
        The pair of inputs, in the direction in which the loss is largest.

    Raises
    ------
    CheckError
        There is no pair, or a law is missing, or depends on the order of records that the pairs leave out.
    UndecidedError
        The guarantee cannot be computed from laws of this kind; sampling can still refute it.

    Notes
    -----
    **Guarantee.** Exact up to rounding: a value counts as equal to a claimed one that it exceeds by no more than a
    relative 1e-9 and, except for delta, 1e-13. Of rho and of a Renyi divergence, such a value is inconclusive where
    1e-13 is more than a millionth of the claim.
    **Checked against** closed forms, brute-force enumeration of events, and sampling.
    """
    laws: dict[Any, Law] = {}

    def law_of(data: Any) -> Law:
        key = input_key(data)
        law = laws.get(key)
        if law is None or key is None:
            law = mechanism.law(data)
            if law is None:
                raise CheckError(f"{mechanism.name}: `law` is not known for the input {data!r}")
            _check_outcomes(mechanism, law)
            if len(laws) >= _CACHED_LAWS:
                laws.clear()
            laws[key] = law
        return law

    guarantee = claim.guarantee
    worst_of: dict[str, _Worst] = {}
    pairs = 0
    for data, neighbour in neighbouring:
        pairs += 1
        for p_input, q_input in ((data, neighbour), (neighbour, data)):
            p, q = law_of(p_input), law_of(q_input)
            with _in_double_precision(mechanism, p_input, q_input):
                comparison = compare(p, q)
                values = guarantee.measure(comparison)
            if values is None:
                raise UndecidedError(
                    f"{mechanism.name}: {guarantee} cannot be computed from laws of the kind {type(p).__name__}; "
                    f"{_instead(mechanism)}"
                )
            for name, value in values.items():
                worst_of.setdefault(name, _Worst()).update(value, p_input, q_input, comparison)
    if not pairs:
        raise CheckError(f"{mechanism.name}: `neighbours` lists no pair; list at least one")

    _check_order(mechanism, neighbouring, law_of)
    measured = {name: worst.interval for name, worst in worst_of.items()}
    forced = worst_of[guarantee.forced]
    if forced.lower > 0 and guarantee.claimed > 0:
        measured["tightness"] = Interval(lower=guarantee.claimed / forced.upper, upper=guarantee.claimed / forced.lower)
    worst = worst_of[guarantee.decisive]
    assert worst.comparison is not None
    p, q = law_of(worst.p_input), law_of(worst.q_input)
    remedy, note, violation, finding = None, "", None, None
    if guarantee.exceeds(worst.lower, guarantee.decisive):
        verdict = Verdict.REFUTED
        with _in_double_precision(mechanism, worst.p_input, worst.q_input):
            event = guarantee.worst_event(worst.comparison)
            finding = _finding(worst, p, q, guarantee)
        violation = Violation(
            data=worst.p_input,
            neighbour=worst.q_input,
            event=event.outcomes,
            p=event.p,
            q=event.q,
            forces={guarantee.decisive: worst.lower},
        )
    elif not guarantee.meets(worst.upper, guarantee.decisive):
        verdict, remedy = Verdict.INCONCLUSIVE, Remedy.EXACT
        of = "the privacy profile" if guarantee.profile_point is not None else guarantee.decisive
        note = f"the bounds on {of} enclose the claim"
        if not guarantee.exceeds(worst.upper, guarantee.decisive):
            note = f"{of} exceeds the claim by no more than rounding may do, which is much beside so small a claim"
    else:
        verdict = Verdict.PROVED if neighbouring.complete else Verdict.CERTIFIED
    with _in_double_precision(mechanism, worst.p_input, worst.q_input):
        curves = privacy_curves(worst.comparison, compare(q, p), guarantee.profile_point)
    evidence = Evidence(
        verdict=verdict,
        scope=f"{neighbouring.scope}; {pairs} pair{'s' if pairs != 1 else ''} in both directions",
        method="exact",
        measured=measured,
        witness=violation,
        note=note,
        curves=curves,
        remedy=remedy,
        finding=finding,
    )
    return evidence, (worst.p_input, worst.q_input)


def _instead(mechanism: Mechanism) -> str:
    """Say what to do where a law does not decide a guarantee."""
    if type(mechanism).sample is not Mechanism.sample:
        return "use --method black-box"
    return "claim (epsilon, delta), a privacy profile or a trade-off, which these laws decide: there is no `sample`"


def _check_order(mechanism: Mechanism, neighbouring: Neighbouring, law_of: Callable[[Any], Law]) -> None:
    """Raise CheckError where datasets are listed in one order each, and the law differs in another."""
    domain = neighbouring.domain
    if not isinstance(domain, Records) or domain.ordered:
        return
    inputs = {input_key(data): data for pair in islice(neighbouring, _PAIRS_IN_ANOTHER_ORDER) for data in pair}
    for own, data in inputs.items():
        middle = len(data) // 2
        orders = (data[::-1], data[middle:] + data[:middle], data[::2] + data[1::2])
        for key, other in {input_key(other): other for other in orders}.items():
            if key == own:
                continue
            with _in_double_precision(mechanism, data, other):
                apart = compare(law_of(data), law_of(other)).delta(0.0).lower
            if apart is not None and apart > ROUNDING:
                raise CheckError(
                    f"{mechanism.name}: `law` depends on the order of the records: it differs between "
                    f"{short_repr(data)} and {short_repr(other)}, and the pairs have each dataset in one order only; "
                    "say Records(..., ordered=True)"
                )


def _check_outcomes(mechanism: Mechanism, law: Law) -> None:
    """Raise CheckError where NaN, which equals nothing, is an outcome: two equal laws would differ in it."""
    for part in getattr(law, "parts", ()) or (law,):
        outcomes = part.outcomes if isinstance(part, FiniteLaw) else ()
        if isinstance(outcomes, np.ndarray) and outcomes.dtype != object:
            wrong = outcomes.dtype.kind in "fc" and np.isnan(outcomes).any()
        else:
            wrong = not isinstance(outcomes, range) and any(
                isinstance(each, float | np.floating) and each != each for each in outcomes
            )
        if wrong:
            raise CheckError(
                f"{mechanism.name}: `law` has NaN among its outcomes, which does not equal itself; give another value "
                "in its place, such as None in a list"
            )


@contextmanager
def _in_double_precision(mechanism: Mechanism, p_input: Any, q_input: Any) -> Iterator[None]:
    """Say of which inputs the laws cannot be composed, or hold numbers whose products are too large to be held."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except UncomposableError as error:
        raise UndecidedError(f"{mechanism.name}: {error}") from None
    except ArithmeticError:
        raise UndecidedError(
            f"{mechanism.name}: double precision cannot hold what follows from the laws for the inputs "
            f"{short_repr(p_input)} and {short_repr(q_input)}; choose less extreme parameters or inputs, or "
            f"{_instead(mechanism)}"
        ) from None


def _finding(worst: _Worst, p: Law, q: Law, guarantee: Guarantee) -> Finding | None:
    """Event to be checked by sampling, as data: a list of outcomes or a half-line."""
    flat = flattened(p), flattened(q)
    comparison = compare(flat[0], flat[1]) if flat[0] is not None and flat[1] is not None else worst.comparison
    assert comparison is not None
    event = guarantee.worst_event(comparison, frequent=True)
    if guarantee.profile_point is None and not guarantee.exceeds(float(guarantee.forces(event.p, event.q))):
        return None  # the divergence of all outputs breaks it, and no single event does
    if event.members is not None:
        recipe: dict[str, Any] = {"kind": "outcomes", "outcomes": list(event.members)}
    elif isinstance(event.outcomes, dict) and len(event.outcomes) == 1 and isinstance(p, _ON_A_LINE):
        ((side, threshold),) = event.outcomes.items()
        score = {"kind": "column", "column": 0, "centre": None}
        recipe = {"kind": "score", "score": score, "threshold": threshold, "above": side == "at least"}
    else:
        return None
    return Finding(inputs=(worst.p_input, worst.q_input), event=recipe, p=event.p, q=event.q)
