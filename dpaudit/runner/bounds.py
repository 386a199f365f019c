"""Records of bounds that come from files of outputs: a claim held against each, as `dpaudit check` holds one."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.auditors.blackbox.audit import (
    coarser,
    what_was_equal,
    what_was_left_out,
    what_was_planted,
    what_was_read_by_text,
    what_would_show,
)
from dpaudit.auditors.blackbox.curve_bounds import PrivacyBounds
from dpaudit.auditors.blackbox.one_run import OneRunBound
from dpaudit.auditors.blackbox.samples import SamplesBound
from dpaudit.auditors.sampling.budget import complement
from dpaudit.claims.evidence import Counterexample, Evidence, Interval, Remedy, Violation
from dpaudit.claims.guarantees import Guarantee, exceeds
from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict, status_of

_DIGEST = 12
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What is claimed of the outputs in some files.

    Attributes
    ----------
    guarantee
        Kind of guarantee, as records hold it.
    forced
        The parameter that is bounded.
    parameters
        The claimed parameters by name.
    """

    guarantee: str
    forced: str
    parameters: Mapping[str, float]

    @classmethod
    def of(cls, guarantee: Guarantee) -> Claimed:
        """Claim a guarantee."""
        return cls(guarantee=guarantee.kind, forced=guarantee.forced, parameters=dict(guarantee.parameters))

    @property
    def value(self) -> float:
        """The claimed value of the parameter that is bounded."""
        return self.parameters[self.forced]

    def __str__(self) -> str:
        """The claim in words."""
        return ", ".join(f"{name} {value:.12g}" for name, value in self.parameters.items())


def judge_run(bound: OneRunBound, claimed: Claimed) -> Evidence:
    """Hold a claim against a bound from one run."""
    number = sum(bound.guesses)
    scope = f"one run with {bound.canaries} canaries, of which {bound.included} were in"
    least = bound.least_right(claimed.value)
    counts = f"{bound.right} of {number} guesses were right"
    witness, remedy = None, None
    if exceeds(bound.value, claimed.value):
        verdict = Verdict.REFUTED
        witness = Counterexample(
            instance=f"the {bound.guesses[0]} highest scores guessed in, the {bound.guesses[1]} lowest guessed out",
            quantity="number of right guesses",
            measured=bound.right,
            claimed=(number + 1 if least is None else least) - 1,
            direction="at-most",
            details={"guesses": number, "canaries": bound.canaries, f"{bound.parameter} that follows": bound.value},
        )
        note = f"{counts}, which bounds {bound.parameter} from below"
    elif not exceeds(bound.ceiling, claimed.value):
        verdict, remedy = Verdict.INCONCLUSIVE, Remedy.SAMPLES
        note = (
            f"with so few canaries even right guesses alone bound {bound.parameter} by no more than "
            f"{bound.ceiling:.4g}; put more canaries into the run"
        )
    else:
        verdict = Verdict.CONSISTENT
        note = counts if least is None else f"{counts}; {least} or more would have refuted the claim"
    return Evidence(
        verdict=verdict,
        scope=scope,
        method="one-run",
        measured={bound.parameter: Interval(lower=bound.value, upper=None)},
        witness=witness,
        note=note,
        samples=bound.canaries,
        remedy=remedy,
    )


def judge_samples(bound: SamplesBound, names: tuple[str, str], whole: PrivacyBounds | None = None) -> Evidence:
    """Hold the guarantee of a bound from two samples against it, and show the bounds on a whole curve with it."""
    guarantee, name = bound.guarantee, bound.parameter
    counts = f"{bound.hits[0]} of {bound.trials[0]} and {bound.hits[1]} of {bound.trials[1]}"
    measured = {
        name: Interval(lower=bound.value, upper=None),
        "detection_limit": Interval.exact(bound.detection_limit),
    }
    witness, remedy = None, None
    if guarantee.exceeds(bound.value):
        likelier, other = reversed(names) if bound.reverse else names
        verdict, note = Verdict.REFUTED, f"the event occurred {counts} times, which bounds {name} from below"
        witness = Violation(
            data=likelier, neighbour=other, event=bound.event, p=bound.p, q=bound.q, forces={name: bound.value}
        )
    elif math.isinf(bound.detection_limit):
        verdict, remedy = Verdict.INCONCLUSIVE, Remedy.SAMPLES
        note = "no violation could have been found with so few rows; give more"
        if bound.hidden:
            note, remedy = what_was_equal(bound.hidden, bound.by_text), Remedy.FEATURES
        elif bound.blind and not bound.too_few:
            # Of few rows, every column of numbers is like an identifier.
            planted = what_was_planted(bound.value, name, "the two", bound.identifier)
            give = f"give {coarser(bound.held)} without identifiers"
            if bound.identifier:
                give = "leave that column (in JSON Lines, that key) out of both files"
            in_order = ", or give lists in ascending order in place of sets" if "lists" in bound.held else ""
            note = f"{planted}; {give}{in_order}{what_was_read_by_text(bound.by_text)}"
    else:
        verdict = Verdict.CONSISTENT
        note = what_would_show(bound.detection_limit, name, bound.rarer)
    if bound.left_out:
        note += f"; {what_was_left_out(bound.left_out)}"
    note = "; ".join([note, *bound.notes])
    return Evidence(
        verdict=verdict,
        scope=f"{bound.rows[0]} and {bound.rows[1]} outputs in files, {bound.learned} of each to choose an event",
        method="black-box",
        measured=measured,
        witness=witness,
        note=note,
        samples=sum(bound.rows),
        curves=None if whole is None else whole.curves(),
        remedy=remedy,
    )


def bound_result(
    evidence: Evidence,
    claimed: Claimed,
    *,
    files: Sequence[Path],
    name: str,
    relation: str,
    confidence: float,
    seed: int,
    command: str,
) -> Result:
    """Return the result of one claim about outputs in files.

    Parameters
    ----------
    evidence, claimed
        What was found, and the claim.
    files
        The files; their content stands in the parameters, by its hash.
    name
        What the outputs are of, as reports head it.
    relation
        What the two inputs are to each other.
    confidence, seed, command
        As a result holds them.
    """
    return Result(
        target=name,
        claim=f"{name}.bound",
        kind="privacy",
        source="",
        statement=f"It keeps {claimed}.",
        parameters={f"file{i or ''}": described(path) for i, path in enumerate(files)},
        relation=relation,
        scope=evidence.scope,
        method=evidence.method,
        verdict=evidence.verdict,
        expected=None,
        ok=status_of(evidence.verdict, None) == 0,
        claimed=dict(claimed.parameters),
        measured=evidence.measured,
        witness=evidence.witness,
        note=evidence.note,
        samples=evidence.samples,
        seed=seed,
        command=command,
        guarantee=claimed.guarantee,
        curves=evidence.curves,
        remedy=evidence.remedy,
        error_probability=None if evidence.verdict is Verdict.ERROR else complement(confidence),
    )


def bounds_record(results: Sequence[Result], *, seed: int, command: str, started: float) -> Record:
    """Return the record of results."""
    from dpaudit.runner.check import make_record

    return make_record(results, None, seed=seed, command=command, started=started)


def described(path: Path) -> str:
    """Return a file with its hash, as a parameter of a result."""
    digest: Any = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError:
        return f"{path.name} (cannot be read)"
    return f"{path.name} (SHA-256 {digest.hexdigest()[:_DIGEST]})"
