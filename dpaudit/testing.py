"""Assertions for test suites; under pytest, `dpaudit.pytest_plugin` has a fixture and a marker for them.

Examples
--------
>>> import dpaudit
>>> from dpaudit.testing import assert_private
>>> evidence = assert_private(
...     lambda data, size, rng: sum(data) + rng.laplace(scale=2.0, size=size),
...     epsilon=0.5, pairs=[((0, 1, 1), (1, 1, 1))], samples=10_000,
... )
>>> str(evidence.verdict)
'consistent'
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path, PurePath
from typing import Any, get_args

from dpaudit.auditors.agreement import ALPHA as AGREEMENT_ALPHA
from dpaudit.auditors.audit import audit, view_of
from dpaudit.auditors.blackbox.samples import bound_from_samples
from dpaudit.auditors.outputs.features import FeatureMap
from dpaudit.auditors.sampling.arguments import check_true_or_false
from dpaudit.auditors.sampling.budget import DEFAULT_CONFIDENCE, DEFAULT_SAMPLES, Budget, Features, Method, deadline_in
from dpaudit.auditors.sampling.sampler import SampleFunction, sampled
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.auditors.sampling.supports import SupportFunction
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence, Interval, Violation
from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.claims.inputs import Pair, short_repr
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.ranges import in_range
from dpaudit.claims.record import plain
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError, DpauditError, ParameterError, TargetRaisedError
from dpaudit.mechanism import Mechanism
from dpaudit.runner.bounds import judge_samples
from dpaudit.sources.commands import CommandMechanism
from dpaudit.sources.files import read_table
from dpaudit.sources.libraries.adapters import mechanism_of
from dpaudit.sources.libraries.objects import LibraryMechanism

__all__ = ["assert_private"]

_LONGEST = 4000
"""Characters of an input or an event that a failure prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """One audit that was made: whether by sampling, and the probability of a false alarm, at most."""

    by_sampling: bool
    false_alarm: Decimal


history: list[Audited] = []
"""The audits that were made in this process, from which the pytest plugin sums up a session."""


def assert_private(
    target: Mechanism | SampleFunction | tuple[Any, Any] | Any,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    guarantee: Guarantee | None = None,
    pairs: Iterable[Pair] | None = None,
    view: str = "output",
    samples: int | None = None,
    seconds: float | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 0,
    method: Method = "auto",
    stop_early: bool = False,
    features: FeatureMap | Features | None = "none",
    supports: SupportFunction | None = None,
    own_randomness: bool = False,
) -> Evidence:
    """Fail if a mechanism is not (``epsilon``, ``delta``)-differentially private, or breaks another guarantee.

    Parameters
    ----------
    target
        A mechanism, with its parameters and ``neighbours``, such as a `dpaudit.CommandMechanism`; or a function
        ``sample(data, size, rng)`` that returns ``size`` independent outputs along axis 0, with ``pairs``; or an object
        of a library, as `dpaudit.from_opendp`, `dpaudit.from_diffprivlib` and `dpaudit.from_pure_ldp` take it; or
        outputs that were drawn already, a tuple of two arrays, lists, frames, or paths of files, one for each of two
        neighbouring inputs (`dpaudit.bound_from_samples`).
    epsilon, delta
        What it must satisfy: epsilon >= 0 and finite, delta in [0, 1). An object of a library and a command claim
        something themselves, which is taken where neither epsilon nor a guarantee is given.
    guarantee
        In their place, any `dpaudit.Guarantee` that it must satisfy.
    pairs
        For a function: a list of neighbouring inputs, each a tuple ``(x, y)``; both directions are considered. For an
        object of a library: in place of those that are derived.
    view
        For a mechanism: what the adversary sees, a key of its ``views()``.
    samples
        Samples per input of an audit by sampling, at least 1000; 1,000,000 by default.
    seconds
        After this long an audit by sampling ends with what it has, once the call of ``sample`` under way returns;
        without it, a slow ``sample`` is waited for until all samples are drawn. Samples and calls are planned by how
        fast ``sample`` is. Where ``samples`` are given too, and the time is not enough for them, what is undecided is
        inconclusive, and fails; without them, the time decides how many there are.
    confidence, seed
        Confidence, in (0, 1), and seed, >= 0, of an audit by sampling.
    method
        ``exact`` and ``black-box`` insist; ``auto`` takes the strongest that applies.
    stop_early
        Stop sampling as soon as the claim is refuted.
    features
        ``float-bits``: look at the bit patterns of floating-point outputs too. It implies an audit by sampling. Or, for
        a function and for outputs that were drawn already, a function of an array of outputs that returns an array of
        what to look at, one row per output (see `dpaudit.epsilon_lower_bound`), also for a `dpaudit.CommandMechanism`;
        any other mechanism has it as a method.
    supports
        For a function or a `dpaudit.CommandMechanism`: ``supports(outputs, data)`` returns whether each output speaks
        for the input ``data``, an array of bool of shape (size,), or None where that is not known (see
        `Mechanism.supports`).
    own_randomness
        For a function: whether it draws from a source that ``rng`` does not seed; runs then differ.

    Returns
    -------
    Evidence
        What was found, for further assertions.

    Raises
    ------
    AssertionError
        There is a violation, or the budget or the time was too small to say.
    ParameterError
        An argument cannot be used.
    DpauditError
        The target raised or breaks the contract of `dpaudit.Mechanism`.

    Notes
    -----
    **Guarantee.** A violation found by sampling is a false alarm with probability at most 1 - ``confidence``, decided
    once and for all by the seed: a re-run gives the same answer, unless the target has randomness of its own or
    ``seconds`` is given.
    **Checked against** the rate of false refutations on mechanisms that meet their claim exactly.

    Examples
    --------
    >>> def noisy_count(data, size, rng):
    ...     return sum(data) + rng.laplace(scale=2.0, size=size)
    >>> evidence = assert_private(noisy_count, epsilon=0.5, pairs=[((0, 1, 1), (1, 1, 1))], samples=10_000)
    >>> print(evidence.verdict)
    consistent
    """
    deadline = deadline_in(seconds)
    # Pytest shows a failure, or a broken contract, where the test made the call, and any other error where it arose.
    __tracebackhide__ = _is_expected
    if not isinstance(target, Mechanism) and (adapted := mechanism_of(target, pairs=pairs)) is not None:
        target, pairs = adapted, None
    if epsilon is None and guarantee is None and not delta:
        guarantee = own_guarantee(target)
    if (epsilon is None) == (guarantee is None):
        raise ParameterError("give epsilon (and delta), or a guarantee in their place")
    if guarantee is not None and (not isinstance(guarantee, Guarantee) or delta != 0):
        problem = "leave delta out" if isinstance(guarantee, Guarantee) else f"got {short_repr(guarantee)}"
        raise ParameterError(f"guarantee must be a dpaudit.Guarantee that says all that is claimed; {problem}")
    for name, value, kind, words in (
        ("epsilon", 0.0 if epsilon is None else epsilon, Real, "a number"),
        ("delta", delta, Real, "a number"),
        ("samples", DEFAULT_SAMPLES if samples is None else samples, Integral, "a whole number"),
        ("confidence", confidence, Real, "a number"),
        ("seed", seed, Integral, "a whole number"),
    ):
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ParameterError(f"{name} must be {words}, got {short_repr(value)}")
    if seed < 0:
        raise ParameterError(f"seed must be at least 0, got {seed}")
    check_true_or_false(stop_early=stop_early, own_randomness=own_randomness)
    named: Features
    look: FeatureMap | None
    named, look = ("none", features) if callable(features) else ("none" if features is None else features, None)
    if named not in get_args(Features):
        raise ParameterError(
            f"features must be a function or one of {', '.join(get_args(Features))}, got {short_repr(features)}"
        )
    statement = str(guarantee)
    if guarantee is None:
        assert epsilon is not None
        if not in_range(epsilon, 0):
            raise ParameterError(f"epsilon must be a finite number >= 0, got {short_repr(epsilon)}")
        if not in_range(delta, 0, 1, without=(1.0,)):
            raise ParameterError(
                f"delta must be at least 0 and below 1, at which any mechanism is private, got {short_repr(delta)}"
            )
        guarantee = ApproximateDP(float(epsilon), float(delta))
        statement = f"({guarantee.epsilon:.12g}, {guarantee.delta:.12g})-DP"
    if isinstance(target, tuple):
        given = {
            "pairs": pairs is not None,
            "view": view != "output",
            "samples": samples is not None,
            "seconds": seconds is not None,
            "method": method not in ("auto", "black-box"),
            "stop_early": stop_early,
            "supports": supports is not None,
            "own_randomness": own_randomness,
        }
        if wrong := [name for name, value in given.items() if value]:
            raise ParameterError(f"{wrong[0]} says nothing of outputs that were drawn already; leave it out")
        return _assert_samples(
            target, guarantee, statement, confidence=float(confidence), seed=int(seed), features=look or named
        )
    claim = PrivacyClaim(id="assert_private", statement=statement, guarantee=guarantee, view=view)
    budget = Budget(
        samples=None if samples is None else int(samples),
        confidence=float(confidence),
        method=method,
        stop_early=stop_early,
        features=named,
        deadline=deadline,
    )
    if isinstance(target, CommandMechanism) and (look is not None or supports is not None):
        mechanism: Mechanism = target.looking_at(features=look, supports=supports)
        mechanism = _mechanism(mechanism, pairs, view, method, None, None, own_randomness)
    else:
        mechanism = _mechanism(target, pairs, view, method, look, supports, own_randomness)
    shown, _ = view_of(mechanism, claim)
    streams = Streams(int(seed), (mechanism.name, "assert_private"))
    try:
        evidence = audit(mechanism, claim, budget=budget, streams=streams)
    except (CheckError, TargetRaisedError) as error:
        # The message says what is wrong, and the cause keeps the way through the target's own code.
        raise error.with_traceback(None) from error.__cause__
    audited = _audited(shown, evidence, confidence)
    history.append(audited)
    if evidence.verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE):
        raise AssertionError(
            _message(mechanism, shown, claim, budget, seconds, seed, evidence, audited, look, supports)
        )
    return evidence


def own_guarantee(target: Any) -> Guarantee | None:
    """Return what an object of a library, or a command, claims of itself; None of anything else."""
    if not isinstance(target, Mechanism):
        adapted = mechanism_of(target)
        return None if adapted is None else adapted.guarantee()
    if isinstance(target, LibraryMechanism):
        return target.guarantee()
    return target.claims()[0].guarantee if isinstance(target, CommandMechanism) else None


def _assert_samples(
    given: tuple[Any, ...],
    guarantee: Guarantee,
    statement: str,
    *,
    confidence: float,
    seed: int,
    features: FeatureMap | Features,
) -> Evidence:
    """Fail if outputs that were drawn already refute a guarantee, or are too few to say."""
    if len(given) != 2:
        raise ParameterError(
            f"give the outputs on two inputs, a tuple of two arrays or files, got {len(given)} of them"
        )
    tables = [read_table(Path(each)) if isinstance(each, str | PurePath) else each for each in given]
    names = [
        table.name if isinstance(each, str | PurePath) else name
        for each, table, name in zip(given, tables, "AB", strict=True)
    ]
    found = bound_from_samples(
        tables[0],
        tables[1],
        guarantee=guarantee,
        confidence=confidence,
        seed=seed,
        features=None if features == "none" else features,
        names=(names[0], names[1]),
    )
    evidence = judge_samples(found, (names[0], names[1]))
    audited = Audited(by_sampling=True, false_alarm=1 - Decimal(repr(confidence)))
    history.append(audited)
    if evidence.verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE):
        holds = "are not" if evidence.verdict is Verdict.REFUTED else "are not shown to be"
        shown = " and ".join(f"{name} ({rows} rows)" for name, rows in zip(names, found.rows, strict=True))
        lines = [f"the outputs {shown} {holds} {statement}: {evidence.verdict.value} ({evidence.method})"]
        if isinstance(evidence.witness, Violation):
            lines += _violation_lines(evidence.witness, guarantee, by_sampling=True)
        lines.append(f"  {evidence.note}")
        if evidence.verdict is Verdict.REFUTED:
            lines.append(f"  false-alarm rate: at most {float(audited.false_alarm):.6g}")
        again = f"seed={seed}, confidence={confidence!r}"
        again += f", features={_shown(features)}" if features != "none" else ""
        lines.append(f"  to see it again: {again}")
        raise AssertionError("\n".join(lines))
    return evidence


def _is_expected(caught: Any) -> bool:
    return isinstance(caught.value, AssertionError | DpauditError)


def _mechanism(
    target: Mechanism | SampleFunction,
    pairs: Iterable[Pair] | None,
    view: str,
    method: Method,
    features: FeatureMap | None,
    supports: SupportFunction | None,
    own_randomness: bool,
) -> Mechanism:
    """Return the target, or the mechanism that a function and its pairs make."""
    if isinstance(target, Mechanism):
        shown = short_repr(target)
        if pairs is not None:
            raise ParameterError(f"a mechanism lists its own pairs in `neighbours`; leave `pairs` out with {shown}")
        if features is not None:
            raise ParameterError(f"define `features` as a method of the class of {shown}, and leave it out here")
        if supports is not None:
            raise ParameterError(f"define `supports` as a method of the class of {shown}, and leave it out here")
        if own_randomness:
            raise ParameterError(f"declare `own_randomness = True` in the class of {shown}, and leave it out here")
        return target
    if isinstance(target, type) and issubclass(target, Mechanism):
        raise ParameterError(f"{target.__name__} is a class; give an instance with its parameters")
    if not callable(target):
        raise ParameterError(
            "target must be a mechanism, a function `sample(data, size, rng)`, or a tuple of outputs on two inputs, "
            f"got {short_repr(target)}"
        )
    name = _name(target)
    if pairs is None:
        raise ParameterError(f"{name} is a function; give the inputs to compare as well: pairs=[(x, y), ...]")
    if view != "output":
        raise ParameterError(f"{name} is a function, which has no view but its output; leave view={view!r} out")
    if method == "exact":
        raise ParameterError(f"{name} is a function, whose law is not known; leave method='exact' out")
    if supports is not None and not callable(supports):
        raise ParameterError(f"supports must be a function of outputs and an input, got {short_repr(supports)}")
    return _sampling(target, name, _checked(pairs), features, supports, own_randomness)


def _checked(pairs: Iterable[Pair]) -> list[Pair]:
    mend = "pairs must be a list of tuples (x, y) of two inputs to compare"
    if isinstance(pairs, tuple) or not isinstance(pairs, Iterable):
        raise ParameterError(f"{mend}, got {short_repr(pairs)}")
    # Iterated once: what an iterator gives is gone afterwards.
    listed = list(pairs)
    if not listed:
        raise ParameterError(f"{mend}, got none")
    for place, pair in enumerate(listed):
        # No other sequence is taken for a pair, because an input may well be a list of two values.
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise ParameterError(f"{mend}, got {short_repr(pair)} at place {place}")
    return listed


def _sampling(
    function: SampleFunction,
    name_: str,
    pairs: list[Pair],
    features: FeatureMap | None,
    supports: SupportFunction | None,
    own_randomness_: bool,
) -> Mechanism:
    class Sampling(Mechanism):
        """A function that samples."""

        name = name_
        own_randomness = own_randomness_

        def sample(self, data: Any, size: int, rng: Any) -> Any:
            return sampled(function, name_, data, size, rng)

        def neighbours(self) -> Neighbouring:
            return Neighbouring(relation="the pairs given", pairs=pairs, complete=False, scope="the pairs given")

        def __repr__(self) -> str:
            return name_

    # Whether a class has these methods says whether they are looked at, and a class has a `repr` and a name of its own.
    members: dict[str, Any] = {"name": name_, "__repr__": Sampling.__repr__}
    if features is not None:
        members["features"] = lambda _, outputs: features(outputs)
    if supports is not None:
        members["supports"] = lambda _, outputs, data: supports(outputs, data)
    made: Mechanism = type(Sampling.__name__, (Sampling,), members)()
    return made


def _shown(features: FeatureMap | Features) -> str:
    return _name(features) if callable(features) else repr(features)


def _name(function: Any) -> str:
    """Name of a function as its author knows it: no address, which would differ in the next run."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).rpartition("<locals>.")[2]


def _audited(view: Mechanism, evidence: Evidence, confidence: float) -> Audited:
    if evidence.method != "exact":
        return Audited(by_sampling=True, false_alarm=1 - Decimal(repr(float(confidence))))
    # A law that is known is held against the sampler, which may seem to contradict it by chance.
    samples = type(view).sample is not Mechanism.sample
    return Audited(by_sampling=False, false_alarm=Decimal(repr(AGREEMENT_ALPHA)) if samples else Decimal(0))


def _message(
    mechanism: Mechanism,
    view: Mechanism,
    claim: PrivacyClaim,
    budget: Budget,
    seconds: float | None,
    seed: int,
    evidence: Evidence,
    audited: Audited,
    features: FeatureMap | None,
    supports: SupportFunction | None,
) -> str:
    refuted = evidence.verdict is Verdict.REFUTED
    holds = "is not" if refuted else "is not shown to be"
    lines = [f"{mechanism!r} {holds} {claim.statement}: {evidence.verdict.value} ({evidence.method})"]
    if isinstance(evidence.witness, Violation):
        lines += _violation_lines(evidence.witness, claim.guarantee, by_sampling=audited.by_sampling)
    else:
        lines += [
            f"  {name.ljust(10)} {_bounds(evidence.measured[name], claimed)}"
            for name, claimed in claim.guarantee.parameters.items()
            if name in evidence.measured
        ]
    if evidence.note:
        # Notes are worded for the command line.
        lines.append(f"  {evidence.note.replace('--samples', '`samples`').replace('--seconds', '`seconds`')}")
    if audited.by_sampling:
        if refuted:
            lines.append(f"  false-alarm rate: at most {float(audited.false_alarm):.6g}")
        again = f"seed={seed}"
        # With a deadline alone, the time decides how many samples there are.
        if budget.samples or seconds is None:
            again += f", samples={budget.samples or DEFAULT_SAMPLES}"
        again += f", confidence={budget.confidence!r}"
        again += f", seconds={seconds!r}" if seconds is not None else ""
        again += f", method={budget.method!r}" if budget.method != "auto" else ""
        again += ", stop_early=True" if budget.stop_early else ""
        again += f", features={_shown(features or budget.features)}" if features or budget.features != "none" else ""
        again += f", supports={_name(supports)}" if supports is not None else ""
        lines.append(f"  to see it again: {again}")
        if view.own_randomness:
            lines.append("  the target has randomness that no seed fixes, so that another run gives other samples")
        elif seconds is not None:
            lines.append("  the samples depend on how fast they are drawn, so that another run may give others")
    return "\n".join(lines)


def _violation_lines(violation: Violation, guarantee: Guarantee, *, by_sampling: bool) -> list[str]:
    from dpaudit.reporting.differences import difference

    where = difference(violation.data, violation.neighbour)
    lines = [
        f"  input      {_short(violation.data)}",
        f"  neighbour  {_short(violation.neighbour)}",
        *([f"  they differ in {where}"] if where else []),
        f"  event      {_short(violation.event)}",
        f"  p, q       {violation.p:.6g}, {violation.q:.6g} "
        f"({'frequency' if by_sampling else 'probability'} of the event on the input and on the neighbour)",
    ]
    for name, value in violation.forces.items():
        claimed = guarantee.parameters[name]
        known = Interval(lower=value, upper=None) if by_sampling else Interval.exact(value)
        others = {other: number for other, number in guarantee.parameters.items() if other != name}
        if name == guarantee.forced:
            # A delta of 0 goes without saying.
            others = {other: number for other, number in others.items() if number}
        at = "".join(f" at {other} {number:.12g}" for other, number in others.items())
        bound = _bounds(known, claimed).removeprefix("at least ")
        lines.append(f"  so {name} >= {bound}{at} (claimed: {claimed:.12g})")
    return lines


def _bounds(interval: Interval, claimed: float) -> str:
    from dpaudit.reporting.numbers import format_interval, telling_digits

    return format_interval(interval, digits=telling_digits(interval, claimed))


def _short(value: Any) -> str:
    text = json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"
