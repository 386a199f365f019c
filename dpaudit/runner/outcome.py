"""One cell, audited: from the target to the result. What the target raises becomes a result.

The auditors are loaded where a cell is audited, which is seldom the process that asks for it.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from dpaudit.auditors.sampling.budget import DEFAULT_SAMPLES, Budget, complement
from dpaudit.auditors.sampling.pace import Announce
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.auditors.sampling.work import FAILED, Part, WantedError, Work, perform
from dpaudit.claims.claims import (
    Claim,
    FigureClaim,
    LemmaClaim,
    PrivacyClaim,
    RateClaim,
    StabilityClaim,
    UtilityClaim,
)
from dpaudit.claims.evidence import Counterexample, Evidence, Remedy, Violation
from dpaudit.claims.inputs import error_text
from dpaudit.claims.noise import NoiseClaim
from dpaudit.claims.record import METHOD_ENDED, METHOD_NONE, METHOD_RAISED, METHOD_UNUSABLE, UNKNOWN_KIND, Result, plain
from dpaudit.claims.verdicts import Verdict, status_of
from dpaudit.errors import DpauditError, ParameterError, PlanError, TargetError, TargetRaisedError
from dpaudit.escapes import visible
from dpaudit.mechanism import Mechanism
from dpaudit.runner.cells import Cell
from dpaudit.runner.instances import claims_of, code_of, described_parameters
from dpaudit.runner.processes import Answer, Ended, Finished, Overdue, Raised
from dpaudit.runner.request import setting, spelled
from dpaudit.runner.witnesses import make_witness, witness_text

_FEWEST_RUNS = 40
"""Fewer runs cannot tell at the confidence of a long run whether most of them are won."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all cells of a run share.

    Attributes
    ----------
    seed
        Seed of the run.
    debug
        Print the tracebacks of what targets raise to standard error.
    witnesses
        Whether witness files are wanted.
    seconds, deadline
        What the whole run may take, and the time (in seconds since the epoch) at which that is over.
    announce
        Say on standard error where sampling will take long, and how far it has come.
    spread
        Whether parts of an audit that take long are asked of others.
    """

    seed: int
    debug: bool = False
    witnesses: bool = False
    seconds: float | None = None
    deadline: float | None = None
    announce: bool = False
    spread: bool = False

    def limited(self, seconds: float | None, started: float | None = None) -> Settings:
        """Return these settings with a time limit that begins now, or began at a time since the epoch."""
        began = time.time() if started is None else started
        return replace(self, seconds=seconds, deadline=None if seconds is None else began + seconds)

    @property
    def last(self) -> float | None:
        """Time at which what is still running is ended."""
        return None if self.deadline is None else self.deadline + GRACE

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.time() >= self.deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A result and the text of its witness file, as plain data that can leave a worker."""

    result: Result
    witness: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """An audit that waits for parts of it.

    Attributes
    ----------
    parts, made
        The parts, and outcomes of others, by name.
    drawn, planned, found
        Outputs drawn so far and altogether, and what is known so far, in words.
    """

    parts: tuple[Part, ...]
    made: Mapping[str, bytes]
    drawn: int = 0
    planned: int = 0
    found: str = ""


def run_cell(cell: Cell, settings: Settings) -> Outcome:
    """Audit one cell; whatever the target raises becomes a result."""
    found = run_in_parts(cell, replace(settings, spread=False))
    assert isinstance(found, Outcome)
    return found


def run_in_parts(
    cell: Cell, settings: Settings, known: Mapping[str, bytes] | None = None, given: Mechanism | None = None
) -> Outcome | Pending:
    """Audit one cell as far as what is known of its parts allows; whatever the target raises becomes a result.

    Parameters
    ----------
    cell, settings
        The cell, and what all cells share.
    known
        Outcomes of its parts by name.
    given
        The target, where the cell does not say how to make it.
    """
    work = Work(known=known or {}) if settings.spread and not cell.timed else None
    try:
        target = cell.instance() if given is None else given
        return audited(cell, target, settings, work)
    except WantedError as wanted:
        return Pending(
            parts=wanted.parts,
            made={} if work is None else dict(work.made),
            drawn=wanted.drawn,
            planned=wanted.planned,
            found=wanted.found,
        )
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        _show(error, settings)
        return Outcome(result=_result(cell, settings, failure(error)))


def run_part(cell: Cell, settings: Settings, part: Part, given: Mechanism | None = None) -> bytes:
    """Do a part of a cell's audit; return its outcome for `run_cell`, which does again what failed here."""
    from dpaudit.auditors.audit import view_of
    from dpaudit.auditors.blackbox.audit import sampler_again

    try:
        target = cell.instance() if given is None else given
        claim = _claim(cell, target)
        assert isinstance(claim, PrivacyClaim)
        view, _ = view_of(target, claim)
        return perform(part.own, part.shared, lambda recipe: sampler_again(view, recipe))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        _show(error, settings)
        return FAILED


def audited(cell: Cell, target: Mechanism, settings: Settings, work: Work | None = None) -> Outcome:
    """Audit one cell on a given instance of its target.

    Raises
    ------
    WantedError
        There is a `Work`, and others are to do parts.
    """
    from dpaudit.auditors.audit import audit

    claim = _claim(cell, target)
    parameters = described_parameters(target, cell.data)
    streams = Streams(settings.seed, (cell.target, cell.claim, json.dumps(parameters, sort_keys=True)))
    usual, fewest = _usual_samples(claim)
    samples = cell.samples
    if cell.quick:
        # A tenth of what the cell would spend, but not so little that nothing can come of it.
        spent = cell.samples or usual
        samples = max(min(fewest, spent), spent // 10)
    budget = Budget(
        samples=samples,
        confidence=complement(cell.error_probability),
        method=cell.method,
        stop_early=cell.stop_early,
        features=cell.features,
        deadline=settings.deadline,
        # Where an audit goes on with what is known of its parts, the run has told how long it takes.
        announce=announcer(cell) if settings.announce and not (work and work.known) else None,
        work=work,
    )
    try:
        evidence = audit(target, claim, budget=budget, streams=streams)
    except (KeyboardInterrupt, WantedError):
        raise
    except BaseException as error:
        _show(error, settings)
        evidence = failure(error)
    if samples is not None and cell.expected is not None and (cell.planned or usual) > samples:
        evidence = _unless_too_few(cell, evidence, planned=cell.planned or usual, spent=samples)
    evidence = _unless_too_short(cell, evidence)
    evidence = _unless_held_against_messages(evidence, claim, target)
    witness = None
    if settings.witnesses and isinstance(claim, PrivacyClaim):
        made = make_witness(cell, claim, evidence, budget, streams, command_of(cell, settings, samples))
        witness = None if made is None else witness_text(made)
    return Outcome(result=_result(cell, settings, evidence, target, claim, samples), witness=witness)


def _usual_samples(claim: Claim) -> tuple[int, int]:
    """What is spent where nobody asks for a number, and the least that can lead to anything."""
    from dpaudit.auditors.blackbox.tasks import LEAST_SAMPLES
    from dpaudit.auditors.counterexamples.lemma import DEFAULT_DRAWS
    from dpaudit.auditors.counterexamples.stability import DEFAULT_PAIRS
    from dpaudit.auditors.noise.audit import DEFAULT_PAIRS as DEFAULT_NOISE_PAIRS

    if isinstance(claim, PrivacyClaim):
        return DEFAULT_SAMPLES, LEAST_SAMPLES
    if isinstance(claim, LemmaClaim):
        return DEFAULT_DRAWS, 1
    if isinstance(claim, StabilityClaim):
        return DEFAULT_PAIRS, 1
    if isinstance(claim, NoiseClaim):
        return DEFAULT_NOISE_PAIRS, 1
    return getattr(claim, "runs", 1), _FEWEST_RUNS


def check_samples_of(cells: Sequence[Cell], target: Mechanism | None = None) -> None:
    """Raise ParameterError where a privacy claim is decided by samples, and fewer are asked for than an audit takes.

    What is decided exactly takes no notice of the number, and passes. Of claims that cells of several parameters share,
    the first is looked at.

    Parameters
    ----------
    cells
        What is to be audited.
    target
        The instance that they are about; without it, each cell makes its own.
    """
    from dpaudit.auditors.audit import takes_samples
    from dpaudit.auditors.blackbox.tasks import LEAST_SAMPLES

    looked_at = set()
    for cell in cells:
        samples = cell.samples
        if samples is None or samples >= LEAST_SAMPLES or cell.kind != PrivacyClaim.kind or cell.missing:
            continue
        shared = cell.called, cell.claim, cell.method, cell.features, samples
        if shared in looked_at:
            continue
        looked_at.add(shared)
        sampled = False
        # What the target raises is told when the cell is audited.
        with suppress(Exception):
            mechanism = cell.instance() if target is None else target
            claim = _claim(cell, mechanism)
            sampled = isinstance(claim, PrivacyClaim) and takes_samples(
                mechanism, claim, method=cell.method, features=cell.features
            )
        if sampled:
            planned = f"{cell.plan}: " if cell.plan and samples == cell.planned else ""
            raise ParameterError(
                f"{planned}samples must be at least {LEAST_SAMPLES} for an audit by sampling, got {samples}; "
                f"raise the number, or leave out {cell.claim} of {cell.target}, which is audited so"
            )


def _unless_too_few(cell: Cell, evidence: Evidence, *, planned: int, spent: int) -> Evidence:
    """Evidence as it is, or ``inconclusive`` where it falls short of what is expected of more samples.

    That a fraction of the plan's samples finds neither a proof nor a violation is no news about the claim.
    """
    if not evidence.samples:
        return evidence
    told = f"the plan spends {planned} samples here, not {spent}"
    if evidence.verdict is Verdict.INCONCLUSIVE:
        return replace(evidence, note=f"{evidence.note}; {told}" if evidence.note else told)
    if evidence.verdict is not Verdict.CONSISTENT or cell.expected not in (Verdict.CERTIFIED, Verdict.REFUTED):
        return evidence
    note = f"too few samples to tell whether it is {cell.expected}, as expected; {told}: leave --quick or --samples out"
    return replace(evidence, verdict=Verdict.INCONCLUSIVE, note=note, remedy=Remedy.SAMPLES)


def _unless_too_short(cell: Cell, evidence: Evidence) -> Evidence:
    """As :func:`_unless_too_few`, where a time limit left time for fewer samples."""
    shortened = evidence.verdict is Verdict.CONSISTENT and evidence.remedy is Remedy.TIME
    if not (shortened and cell.expected in (Verdict.CERTIFIED, Verdict.REFUTED)):
        return evidence
    note = f"too few samples to tell whether it is {cell.expected}, as expected; {evidence.note}"
    return replace(evidence, verdict=Verdict.INCONCLUSIVE, note=note)


def _unless_held_against_messages(evidence: Evidence, claim: Claim, target: Mechanism) -> Evidence:
    """Say where a target declares messages against which its runs are not held."""
    if not isinstance(claim, PrivacyClaim) or evidence.verdict is Verdict.ERROR:
        return evidence
    with suppress(Exception):
        # A target that declares its own messages is held against them as a view is.
        silent = target.transcript() is None and target.sends() is None
        views = target.views().values()
        if silent and any(callable(view.sends) and view.sends() is not None for view in views):
            told = "runs were not held against the messages that the views declare: define `transcript`"
            return replace(evidence, note=f"{evidence.note}; {told}" if evidence.note else told)
    return evidence


def announcer(cell: Cell) -> Announce:
    """Return what tells the user, a line at a time, how long sampling for this cell will take and how far it is."""
    said_before: set[str] = set()

    def announce(words: str) -> None:
        if words not in said_before:
            said_before.add(words)
            said = f"dpaudit: {cell.target}, {cell.claim}: {words}"
            sys.stderr.write(f"{visible(' '.join(said.split()))}\n")
            sys.stderr.flush()

    return announce


def _claim(cell: Cell, target: Mechanism) -> Claim:
    """Bind the cell's claim to the target's parameters."""
    declaration = cell.declaration()
    if declaration is not None:
        with code_of(type(target), f"the declaration of {cell.claim}"):
            claim = declaration.bind(target)
    else:
        made = {claim.id: claim for claim in claims_of(target)}
        if cell.claim not in made:
            raise TargetError(f"{target.name} makes no claim {cell.claim!r} at {target.parameters()}")
        claim = made[cell.claim]
    if cell.published is not None:
        if not isinstance(claim, FigureClaim):
            raise PlanError(f"claim {claim.id} is about no figure; leave the key 'published' out of the plan")
        claim = replace(claim, published=cell.published[0], tolerance=cell.published[1])
    return claim


def _show(error: BaseException, settings: Settings) -> None:
    if settings.debug:
        sys.stderr.write(visible("".join(traceback.format_exception(error))))


def failure(error: BaseException) -> Evidence:
    """Evidence that stands for an exception: the target is unusable, or it raised."""
    unusable = isinstance(error, DpauditError) and not isinstance(error, TargetRaisedError)
    note = str(error) if isinstance(error, DpauditError) else f"raised {error_text(error)}"
    return Evidence(
        verdict=Verdict.ERROR,
        scope="at these parameters",
        method=METHOD_UNUSABLE if unusable else METHOD_RAISED,
        note=note,
    )


def told_anew(result: Result, cell: Cell, settings: Settings) -> Result:
    """Return a result, which may have been kept, with what its key does not fix as it is now.

    That is what is expected and why, the words of a declared claim, the name of the data file, and the command.
    """
    words: dict[str, Any] = {"source": cell.source, "statement": cell.statement} if cell.declared else {}
    # With --quick the command has the number of samples that was found when the claim was bound.
    command = result.command if cell.quick else command_of(cell, settings, cell.samples)
    return replace(
        result,
        expected=cell.expected,
        reason=cell.reason,
        ok=status_of(result.verdict, cell.expected) == 0,
        parameters=dict(cell.described),
        command=command,
        **words,
    )


def late_result(cell: Cell, settings: Settings) -> Outcome:
    """Result of a cell that the time limit left no time for, with the claim's words as the target gives them."""
    try:
        target = cell.instance()
        return Outcome(result=_result(cell, settings, _NOT_BEGUN, target, _claim(cell, target)))
    except Exception:
        return not_begun(cell, settings)


def not_begun(cell: Cell, settings: Settings) -> Outcome:
    """Result of a cell that the time limit left no time for, without asking its target."""
    return Outcome(result=_result(cell, settings, _NOT_BEGUN))


_NOT_BEGUN: Final = Evidence(
    verdict=Verdict.INCONCLUSIVE,
    scope="at these parameters",
    method=METHOD_NONE,
    note="not begun: the time that --seconds allows, start-up included, was over",
    remedy=Remedy.TIME,
)


def answered(cell: Cell, settings: Settings, answer: Answer) -> Outcome:
    """Outcome of a cell that a worker was asked for: what it returned, or what became of it."""
    method = METHOD_RAISED
    match answer:
        case Finished(Outcome() as outcome):
            return outcome
        case Overdue():
            evidence = Evidence(
                verdict=Verdict.INCONCLUSIVE,
                scope="at these parameters",
                method=METHOD_NONE,
                note=f"ended: it had not finished {GRACE:g} seconds after the time that --seconds allows",
                remedy=Remedy.TIME,
            )
            return Outcome(result=_result(cell, settings, evidence))
        case Ended(how):
            method = METHOD_ENDED
            note = (
                f"the process that ran the target {how} before it had finished (out of memory, or the target ended it)"
            )
        case Raised(error=DpauditError() as error):
            return Outcome(result=_result(cell, settings, failure(error)))
        case Raised(message):
            note = f"raised {message}"
        case _:
            note = "the process that ran the target answered something else than was asked for"
    evidence = Evidence(verdict=Verdict.ERROR, scope="at these parameters", method=method, note=note)
    return Outcome(result=_result(cell, settings, evidence))


GRACE: Final = 5.0
"""Seconds that an audit has to end with what it has when the time is over; then its process is ended."""


def _result(
    cell: Cell,
    settings: Settings,
    evidence: Evidence,
    target: Mechanism | None = None,
    claim: Claim | None = None,
    samples: int | None = None,
) -> Result:
    view = relation = guarantee = None
    claimed: dict[str, float] = {}
    if isinstance(claim, PrivacyClaim):
        from dpaudit.auditors.audit import view_of

        view, guarantee = claim.view, claim.guarantee.kind
        claimed = dict(claim.guarantee.parameters)
        if target is not None and evidence.verdict is not Verdict.ERROR:
            # Of a claim that was not audited, `neighbours` need not be usable.
            with suppress(Exception):
                relation = view_of(target, claim)[1].relation
    elif isinstance(claim, NoiseClaim):
        promised = claim.guarantee
        # Where a declared sensitivity is exceeded, or nothing can be told, no parameter is measured.
        if promised is not None and promised.forced in evidence.measured:
            claimed = {promised.forced: promised.claimed}
    elif isinstance(claim, UtilityClaim):
        claimed = {"bound": claim.bound}
    elif isinstance(claim, FigureClaim):
        name = "published" if claim.direction == "equal" else "bound"
        claimed = {} if claim.published is None else {name: claim.published}
    elif isinstance(claim, RateClaim):
        claimed = {"exponent" if claim.direction == "equal" else "exponent_at_most": claim.exponent}
    sampled = (
        evidence.samples
        and cell.kind not in (LemmaClaim.kind, StabilityClaim.kind, NoiseClaim.kind)
        and evidence.verdict is not Verdict.ERROR
    )
    return Result(
        target=cell.target,
        claim=cell.claim,
        kind=claim.kind if claim else cell.kind or UNKNOWN_KIND,
        source=claim.source if claim else cell.source,
        statement=claim.statement if claim else cell.statement,
        parameters=dict(cell.described) if target is None else described_parameters(target, cell.data),
        view=view,
        relation=relation,
        guarantee=guarantee,
        scope=evidence.scope,
        method=evidence.method,
        verdict=evidence.verdict,
        expected=cell.expected,
        reason=cell.reason,
        ok=status_of(evidence.verdict, cell.expected) == 0,
        claimed=claimed,
        measured=evidence.measured,
        witness=_plain_witness(evidence.witness),
        note=evidence.note,
        remedy=evidence.remedy,
        samples=evidence.samples,
        error_probability=cell.error_probability if sampled else None,
        seed=settings.seed,
        command=command_of(cell, settings, samples if cell.quick else cell.samples),
        curves=evidence.curves,
        growth=evidence.growth,
        timed=isinstance(claim, FigureClaim) and claim.timed,
    )


def _plain_witness(witness: Violation | Counterexample | None) -> Violation | Counterexample | None:
    """Return a witness as JSON holds it: any object may be an input, and not every object can leave a worker."""
    if isinstance(witness, Violation):
        return replace(witness, **{name: plain(getattr(witness, name)) for name in ("data", "neighbour", "event")})
    return witness and replace(witness, instance=plain(witness.instance))


def command_of(cell: Cell, settings: Settings, samples: int | None) -> str:
    """The command that audits a cell alone."""
    words = ["dpaudit", "check", *spelled(cell.called), "--claim", cell.claim]
    for name, value in cell.parameters.items():
        words += ["--set", f"{name}={setting(value)}"]
    if cell.data is not None:
        words += ["--data", cell.data[0]]
    if cell.method != "auto":
        words += ["--method", cell.method]
    if samples is not None:
        words += ["--samples", str(samples)]
    if cell.stop_early:
        words += ["--stop-early"]
    if cell.features != "none":
        words += ["--features", cell.features]
    if settings.seconds is not None:
        words += ["--seconds", f"{settings.seconds:g}"]
    if cell.confidence is not None:
        words += ["--confidence", repr(cell.confidence)]
    return shlex.join([*words, *(["--seed", str(settings.seed)] if settings.seed else [])])
