"""``dpaudit bound``: bounds from files of what a run has put out."""

from __future__ import annotations

import json
import math
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dpaudit.cli.bound_words import bound_in_words, claim_in_words, lines, option_words
from dpaudit.cli.output import write, write_out
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.auditors.one_run import OneRunBound
    from dpaudit.claims.evidence import Evidence
    from dpaudit.runner.bounds import Claimed

Kind = Literal["approximate", "gaussian"]


def bound(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[A B | FILE --label COLUMN | FOLDER]",
            help="Outputs on two neighbouring inputs, an output a row: CSV or JSON Lines (.gz as well), npy, npz, "
            "Parquet, Arrow. A folder holds pairs NAME-a.csv and NAME-b.csv, or folders of two files.",
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the only file that says which of two inputs a row is of."),
    ] = None,
    one_run: Annotated[
        Path | None,
        typer.Option(
            metavar="SCORES.csv",
            help="Scores of the canaries of one run of a training, and which of them fair coins had put in: columns "
            "score and included (1 or 0).",
        ),
    ] = None,
    delta: Annotated[float, typer.Option(metavar="D", help="Bound epsilon at this delta.")] = 0.0,
    guarantee: Annotated[Kind, typer.Option(help="Bound epsilon, or mu of Gaussian DP.")] = "approximate",
    claim_epsilon: Annotated[
        float | None, typer.Option(metavar="E", help="Hold this claim against the bound: status 1 if it is refuted.")
    ] = None,
    claim_mu: Annotated[
        float | None, typer.Option(metavar="M", help="Likewise, for Gaussian DP; implies --guarantee gaussian.")
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(metavar="C", help="Confidence of the bound; 0.999 by default.")
    ] = None,
    guesses: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Of one run: how many canaries to guess about, half by the highest scores; chosen before the run was "
            "looked at. By default a few numbers share the error probability.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Equal seeds give equal bounds.")] = 0,
    features: Annotated[
        Literal["float-bits"] | None,
        typer.Option(help="Of files of outputs: look at the bit patterns of floating-point numbers too."),
    ] = None,
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="What goes to standard output.")
    ] = "text",
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write record.json, report.md, index.html and junit.xml on the claim there."),
    ] = None,
) -> None:
    """Bound epsilon or mu from below, from files: status 0, or 1 if a claim is refuted.

    Rows must be independent outputs. They are split once at random: a part chooses an event, the others bound it.
    """
    from dpaudit.auditors.budget import DEFAULT_CONFIDENCE
    from dpaudit.cli.bound_files import bound_files
    from dpaudit.reporting import check_writable

    if one_run is None and not files:
        raise ParameterError("nothing to bound; give two files of outputs, or --one-run SCORES.csv")
    if one_run is not None and (files or label is not None or features is not None):
        raise ParameterError("--one-run takes scores of canaries alone; leave files, --label and --features out")
    kind: Kind = "gaussian" if claim_mu is not None else guarantee
    if one_run is None and (kind == "gaussian" or guesses is not None):
        what = "--guesses" if guesses is not None else "Gaussian DP"
        raise ParameterError(f"{what} is for --one-run; leave it out with files of outputs")
    claimed = claim_of(guarantee, delta, claim_epsilon, claim_mu)
    if output is not None:
        if claimed is None:
            raise ParameterError("a report is about a claim; give --claim-epsilon or --claim-mu, or leave --output out")
        check_writable(output)
    certain = DEFAULT_CONFIDENCE if confidence is None else confidence
    shared: dict[str, Any] = {"delta": delta, "claimed": claimed, "confidence": certain, "seed": seed}
    shared |= {"format_": format_, "output": output}
    if one_run is not None:
        raise typer.Exit(bound_one_run(one_run, kind=kind, guesses=guesses, **shared))
    raise typer.Exit(bound_files(files or [], label=label, features=features, **shared))


def claim_of(guarantee: Kind, delta: float, epsilon: float | None, mu: float | None) -> Claimed | None:
    """Return the claim that the options make; None where they make none.

    Raises
    ------
    ParameterError
        They contradict each other, or a number is out of range.
    """
    from dpaudit.runner.bounds import Claimed

    if epsilon is not None and (mu is not None or guarantee == "gaussian"):
        raise ParameterError("--claim-epsilon is no claim of Gaussian DP; give --claim-mu alone")
    for option, value in (("--claim-epsilon", epsilon), ("--claim-mu", mu)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise ParameterError(f"{option} must be a finite number of at least 0, got {value}")
    if mu is not None:
        return Claimed(guarantee="gaussian-dp", forced="mu", parameters={"mu": mu})
    if epsilon is not None:
        return Claimed(guarantee="approximate-dp", forced="epsilon", parameters={"epsilon": epsilon, "delta": delta})
    return None


def bound_one_run(
    path: Path,
    *,
    kind: Kind,
    delta: float,
    claimed: Claimed | None,
    confidence: float,
    guesses: int | None,
    seed: int,
    format_: str,
    output: Path | None,
) -> int:
    """Bound from one run, print what was found and write its record; return the exit status."""
    from dpaudit.auditors.one_run import CoinsError, one_run_bound
    from dpaudit.claims.verdicts import status_of
    from dpaudit.errors import DataError
    from dpaudit.runner.bounds import bound_result, bounds_record, judge_run
    from dpaudit.sources.canaries import read_canaries

    started = time.time()
    canaries = read_canaries(path)
    try:
        found = one_run_bound(
            canaries.scores,
            canaries.included,
            delta=delta,
            guarantee=kind,
            confidence=confidence,
            guesses=guesses,
            seed=seed,
        )
    except CoinsError as error:
        raise DataError(f"{path}: {error}") from None
    evidence = None if claimed is None else judge_run(found, claimed)
    write_out(_json(path, found, claimed, evidence) if format_ == "json" else _text(found, claimed, evidence))
    if evidence is None or claimed is None:
        return 0
    if output is not None:
        words = ["dpaudit", "bound", "--one-run", str(path), *option_words(claimed), "--confidence", repr(confidence)]
        words += [] if guesses is None else ["--guesses", str(guesses)]
        command = shlex.join([*words, "--seed", str(seed)])
        result = bound_result(
            evidence,
            claimed,
            files=[path],
            name=path.name,
            relation="one canary is added or removed",
            confidence=confidence,
            seed=seed,
            command=command,
        )
        write(bounds_record([result], seed=seed, command=command, started=started), output)
    return status_of(evidence.verdict, None)


def _text(found: OneRunBound, claimed: Claimed | None, evidence: Evidence | None) -> str:
    from dpaudit.auditors.one_run import MORE

    number = sum(found.guesses)
    guessed = f"the {found.guesses[0]} highest scores in, the {found.guesses[1]} lowest out"
    rows = [
        ("canaries", f"{found.canaries}, of which {found.included} were in"),
        ("guesses", f"{guessed}: {found.right} of {number} right"),
        ("at best", f"{found.ceiling:.4g}, had every guess been right"),
        ("to say more", f"{MORE} times the canaries, with as large a share of right guesses: {found.outlook:.4g}"),
    ]
    if found.ceiling <= 0:
        rows[3] = ("to say more", "fewer canaries for this delta, or a lower confidence: their product is too large")
        if not found.delta or found.canaries < number * 2:
            rows[3] = ("to say more", "more canaries")
    if claimed is not None and evidence is not None:
        rows.append(("claim", claim_in_words(claimed, evidence)))
    return lines(bound_in_words(found.parameter, found.value, found.delta, found.confidence), rows)


def _json(path: Path, found: OneRunBound, claimed: Claimed | None, evidence: Evidence | None) -> str:
    from dpaudit.claims.record import plain

    told: dict[str, Any] = {"file": str(path), **plain(found), "claimed": None, "verdict": None}
    if claimed is not None and evidence is not None:
        told |= {"claimed": dict(claimed.parameters), "verdict": str(evidence.verdict), "note": evidence.note}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"
