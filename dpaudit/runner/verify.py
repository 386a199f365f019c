"""Checking a witness file on fresh samples."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from dpaudit.auditors.audit import view_of
from dpaudit.auditors.blackbox.audit import search_pair
from dpaudit.auditors.blackbox.pair import EventBound
from dpaudit.auditors.learning.counts import ThresholdEvent
from dpaudit.auditors.recheck import counted, enough_samples, event_from_data, learn_event, recheck
from dpaudit.auditors.sampling.budget import DEFAULT_CONFIDENCE, Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.inputs import Pair, pair_key, short_repr
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.record import plain
from dpaudit.errors import DpauditError, ParameterError, TargetRaisedError, WitnessError
from dpaudit.mechanism import Mechanism
from dpaudit.registry import TargetReference
from dpaudit.runner.cells import read_data
from dpaudit.runner.check import check_run
from dpaudit.runner.instances import claims_of, described_parameters, instantiate
from dpaudit.runner.plaindata import NotDataError, from_data
from dpaudit.runner.processes import Team
from dpaudit.runner.trust import Trusted
from dpaudit.runner.version import dpaudit_version
from dpaudit.runner.witnesses import WitnessFile, read_witness

SCHEMA: Literal["dpaudit.verification/2"] = "dpaudit.verification/2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What fresh samples say of a witness.

    Attributes
    ----------
    schema
        Name and number of the format.
    confirmed
        Whether they refute the claim again: the bound is above the claimed value.
    target, claim, view, parameters
        What was checked.
    guarantee, claimed
        Kind of the guarantee that is claimed, and its parameters.
    data, neighbour
        The two inputs, that on which the event is likelier first, as JSON holds them.
    event
        The event in words and numbers.
    hits, trials
        Occurrences and trials on ``data`` and on ``neighbour``.
    p, q
        Frequencies of the event there.
    forces
        Lower confidence bound on the parameter that the event forces, the others being as claimed.
    confidence, samples, seed
        Confidence of the bound, samples per input, and seed.
    notes
        What else to know: code or data that have changed, an event that was learned again.

    Examples
    --------
    >>> import dpaudit
    >>> found = dpaudit.Verification(
    ...     confirmed=True, target="half-noise", claim="control.half-noise", view="output", parameters={},
    ...     guarantee="approximate-dp", claimed={"epsilon": 1.0, "delta": 0.0}, data=0, neighbour=1,
    ...     event="output at most 0", hits=(900, 100), trials=(1000, 1000), p=0.9, q=0.1,
    ...     forces={"epsilon": 1.9}, confidence=0.999, samples=1000, seed=0, notes=(),
    ... )
    >>> found.confirmed and found.forces["epsilon"] > found.claimed["epsilon"]
    True
    """

    schema: Literal["dpaudit.verification/2"] = SCHEMA
    confirmed: bool
    target: str
    claim: str
    view: str
    parameters: Mapping[str, Any]
    guarantee: str
    claimed: Mapping[str, float]
    data: Any
    neighbour: Any
    event: Any
    hits: tuple[int, int]
    trials: tuple[int, int]
    p: float
    q: float
    forces: Mapping[str, float]
    confidence: float
    samples: int
    seed: int
    notes: tuple[str, ...]

    def to_json(self) -> str:
        """Return the result as JSON text, the same to the byte for equal seeds."""
        return json.dumps(plain(self), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def verify(
    path: str | Path,
    *,
    samples: int | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 0,
    target: str | None = None,
    changed: bool = False,
) -> Verification:
    """Check a witness file that ``dpaudit check --output`` wrote on fresh samples.

    Parameters
    ----------
    path
        The file. Paths in it are relative to the folder in which the audit ran.
    samples
        Samples per input, at least 1; by default as many as a true witness most likely needs, at most 4,000,000.
    confidence
        Confidence of the bound, in (0, 1).
    seed
        At least 0. Equal seeds give equal results; no seed gives the samples of the audit.
    target
        The target to run, as for `dpaudit.check`, in place of the one that the file names. A file that names code
        outside of the current folder, other than the catalogue's, is refused unless this names it.
    changed
        Check code or data that have changed since the audit; otherwise they are refused, before any of them is run.

    Returns
    -------
    Verification

    Raises
    ------
    WitnessError
        The file is no witness, does not fit its target, or names code that is elsewhere or has changed.
    TargetRaisedError
        The target raised.
    DpauditError
        The target or its data cannot be used, or an option is out of range.

    Notes
    -----
    **Guarantee.** A target that meets the claim is ``confirmed`` to violate it with probability at most 1 -
    ``confidence``: all samples are fresh and count one event.
    **Checked against** planted violations, and events that show none.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.verify("missing.json")
    Traceback (most recent call last):
        ...
    dpaudit.errors.WitnessError: missing.json: cannot read the witness (No such file or directory)
    """
    if not isinstance(path, str | Path):
        raise ParameterError(f"path must be that of a witness file, got {short_repr(path)}")
    asked = partial(verify_here, samples=samples, confidence=confidence, seed=seed, target=target, changed=changed)
    with Team() as team:
        found: Verification = team.call(asked, path)
    return found


def verify_here(
    path: str | Path,
    *,
    samples: int | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 0,
    target: str | None = None,
    changed: bool = False,
) -> Verification:
    """Check a witness file in this process, which its target may end; see `verify`."""
    budget = Budget(samples=samples, confidence=confidence)
    check_run(None, seed, 1)
    witness = read_witness(path)
    inputs = _decoded(path, "inputs", witness.inputs)
    event_data = _decoded(path, "event", witness.event)
    trusted = Trusted(path, witness, target=target, changed=changed)
    reference, data = trusted.reference(), trusted.data()
    notes = trusted.notes
    with _blamed_on(witness.target):
        mechanism = _instance(path, witness, reference, data)
        view = _view(path, witness, mechanism)
        claim = _claim(path, witness, mechanism)
        guarantee = _guarantee(path, witness, claim)
        _check_claim(path, witness, claim, mechanism)
        audit = _Audit(path, witness, mechanism, view, guarantee)
        if inputs is None:
            inputs = audit.pair_again()
            notes.append("the inputs cannot be written as data; they were searched again as in the audit")
        elif not _are_listed(path, inputs, witness, neighbouring := view_of(mechanism, audit.claim)[1]):
            lists = "list this pair" if neighbouring.domain is None else "list all pairs of its domain, nor this one"
            notes.append(f"the target does not {lists}; whether its inputs are neighbours is for you to judge")
        if event_data is None:
            event, reverse = audit.event_again(inputs)
            notes.append("the event is a classifier, which was learned again from the audit's selection samples")
            if witness.audit.version != dpaudit_version():
                notes.append(f"version {witness.audit.version} found it; this one may learn another")
        else:
            event, reverse = _event(path, event_data, view, inputs), witness.reverse
        if view.own_randomness:
            notes.append("the target has randomness that no seed fixes, so that another run gives other samples")
        known = _known(witness)
        if samples is None:
            samples = enough_samples(known, guarantee, alpha=budget.alpha)
        described = described_parameters(mechanism, data)
        key = json.dumps(described, sort_keys=True)
        try:
            found, event = recheck(
                view,
                guarantee,
                inputs,
                event,
                reverse=reverse,
                known=known,
                budget=replace(budget, samples=samples, features=witness.features),
                # The first name of an audit's streams is the target's, and a claim is no JSON object.
                streams=Streams(seed, ("verify", witness.target, witness.claim, key)),
                raw_outputs=witness.method != "black-box",
            )
        except (IndexError, TypeError, ValueError, AttributeError, KeyError) as error:
            if isinstance(error, DpauditError):
                raise
            why = "the target has changed; audit it again" if notes else "the file is damaged; write it again"
            raise WitnessError(
                f"{path}: key 'event' does not fit the outputs of {witness.target} ({error}): {why}"
            ) from error
    p_input, q_input = reversed(inputs) if reverse else inputs
    return Verification(
        confirmed=guarantee.exceeds(found.value),
        target=witness.target,
        claim=witness.claim,
        view=witness.view,
        parameters=described,
        guarantee=guarantee.kind,
        claimed=dict(guarantee.parameters),
        data=plain(p_input),
        neighbour=plain(q_input),
        event=plain(event.describe(found.naming)),
        hits=found.hits,
        trials=found.trials,
        p=found.hits[0] / max(found.trials[0], 1),
        q=found.hits[1] / max(found.trials[1], 1),
        forces={guarantee.forced: found.value},
        confidence=confidence,
        samples=samples,
        seed=seed,
        notes=tuple(notes),
    )


class _Audit:
    """The audit that found a witness, so far as parts of it have to be repeated."""

    def __init__(
        self, path: str | Path, witness: WitnessFile, mechanism: Mechanism, view: Mechanism, guarantee: Guarantee
    ) -> None:
        self._path, self._witness, self._mechanism, self._view = path, witness, mechanism, view
        audit = witness.audit
        self.claim = PrivacyClaim(id=witness.claim, guarantee=guarantee, view=witness.view)
        self._budget = Budget(
            samples=audit.samples,
            confidence=audit.confidence,
            stop_early=audit.stop_early,
            features=witness.features,
        )
        self._streams = Streams(audit.seed, tuple(audit.stream))

    def pair_again(self) -> Pair:
        """Search the pair of inputs again."""
        if self._witness.method != "black-box":
            raise WitnessError(
                f"{self._path}: the inputs of this witness cannot be written as data, so that only the audit can show "
                f"it again: {self._witness.command}"
            )
        _, neighbouring = view_of(self._mechanism, self.claim)
        search = search_pair(self._view, self.claim, neighbouring, budget=self._budget, streams=self._streams)
        return search.found.pair

    def event_again(self, inputs: Pair) -> tuple[ThresholdEvent, bool]:
        """Learn the event again."""
        audit = self._witness.audit
        return learn_event(
            self._view,
            self.claim.guarantee,
            inputs,
            budget=self._budget,
            streams=self._streams,
            samples=audit.pair_samples,
            candidate=audit.candidate,
        )


def _decoded(path: str | Path, key: str, raw: Any) -> Any:
    try:
        # A pair is a list in JSON.
        return tuple(from_data(item) for item in raw) if isinstance(raw, tuple) else from_data(raw)
    except NotDataError as error:
        raise WitnessError(f"{path}: key '{key}': {error}; give a file that `dpaudit check --output` wrote") from None


def _instance(
    path: str | Path, witness: WitnessFile, reference: TargetReference, data: tuple[str, str] | None
) -> Mechanism:
    if data is not None:
        read_data(reference.load(), data[0])
    try:
        return instantiate(reference.load(), witness.parameters, data)
    except ParameterError as error:
        raise ParameterError(f"{path}: key 'parameters': {error}") from error


def _view(path: str | Path, witness: WitnessFile, mechanism: Mechanism) -> Mechanism:
    views = mechanism.views()
    if witness.view not in views:
        raise WitnessError(
            f"{path}: key 'view': {mechanism.name} has no view {witness.view!r}; its views are {', '.join(views)}"
        )
    return views[witness.view]


def _claim(path: str | Path, witness: WitnessFile, mechanism: Mechanism) -> PrivacyClaim:
    """Return the target's claim; WitnessError where it makes no such claim."""
    made = {claim.id: claim for claim in claims_of(mechanism) if isinstance(claim, PrivacyClaim)}
    if witness.claim not in made:
        known = ", ".join(made) or "none"
        raise WitnessError(
            f"{path}: key 'claim': {mechanism.name} makes no privacy claim {witness.claim!r}; it makes: {known}"
        )
    return made[witness.claim]


def _guarantee(path: str | Path, witness: WitnessFile, claim: PrivacyClaim) -> Guarantee:
    """Return the guarantee that the file says is broken: of the kind that the target claims."""
    kind = type(claim.guarantee)
    if witness.claimed.guarantee != kind.kind:
        raise WitnessError(
            f"{path}: key 'claimed.guarantee': the target claims {kind.kind}, not {witness.claimed.guarantee}; "
            "audit it again"
        )
    known, given = set(claim.guarantee.parameters), set(witness.claimed.parameters)
    if known != given:
        problem = f"{min(known - given)} is missing" if known - given else f"{kind.kind} has no {min(given - known)}"
        raise WitnessError(f"{path}: key 'claimed.parameters': {problem}; audit the target again")
    try:
        return kind.from_parameters(witness.claimed.parameters)
    except ParameterError as error:
        raise WitnessError(f"{path}: key 'claimed.parameters': {error}; audit the target again") from None


def _check_claim(path: str | Path, witness: WitnessFile, claim: PrivacyClaim, mechanism: Mechanism) -> None:
    """Raise WitnessError where the target does not claim what the file says it breaks."""
    made, claimed = dict(claim.guarantee.parameters), witness.claimed.parameters
    if (made, claim.view) != (claimed, witness.view):
        raise WitnessError(
            f"{path}: key 'claimed': {mechanism.name} claims {_listed(made)} of the view {claim.view!r}, "
            f"not {_listed(claimed)} of {witness.view!r}; audit it again"
        )


def _listed(parameters: Mapping[str, float]) -> str:
    return " and ".join(f"{name} {value:.17g}" for name, value in parameters.items())


def _are_listed(path: str | Path, inputs: Pair, witness: WitnessFile, neighbouring: Neighbouring) -> bool:
    """Whether the target lists the pair; WitnessError where it lists all and this is none of them."""

    def key(pair: Pair) -> Any:
        return pair_key(pair) or frozenset(repr(plain(data)) for data in pair)

    wanted = key(inputs)
    if any(key(pair) == wanted for pair in neighbouring):
        return True
    if neighbouring.complete:
        raise WitnessError(
            f"{path}: key 'inputs' is not a pair of neighbouring inputs of {witness.target} "
            f"({neighbouring.scope}); audit it again"
        )
    return False


def _event(path: str | Path, raw: Mapping[str, Any], view: Mechanism, inputs: Pair) -> ThresholdEvent:
    try:
        event = event_from_data(raw, view, inputs)
        event.describe()
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        words = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise WitnessError(
            f"{path}: key 'event' is not an event ({words}); give a file that `dpaudit check --output` wrote"
        ) from None
    if math.isnan(event.threshold):
        raise WitnessError(f"{path}: key 'event.threshold' must be a number; write the file again")
    return event


def _known(witness: WitnessFile) -> EventBound:
    found = witness.found
    if found.hits is None or found.trials is None:
        return counted(found.p, found.q)
    return EventBound(hits=found.hits, trials=found.trials, value=max(found.forces.values(), default=0.0))


@contextmanager
def _blamed_on(target: str) -> Iterator[None]:
    """Say that a target raised, where it is its own code that did."""
    try:
        yield
    except DpauditError:
        raise
    except (Exception, SystemExit) as error:
        raise TargetRaisedError(f"{target} raised {type(error).__name__}: {error}") from error
