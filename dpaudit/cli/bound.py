"""``dpaudit bound``: bounds from files of what a run has put out."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dpaudit.cli.bound_words import bound_in_words, claim_in_words, lines, option_words
from dpaudit.cli.output import write, write_out
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.auditors.blackbox.one_run import OneRunBound
    from dpaudit.claims.evidence import Evidence
    from dpaudit.runner.bounds import Claimed

Kind = Literal["approximate", "gaussian", "zero-concentrated", "renyi"]


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
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of CSV files has the names of the columns; without it, that is guessed.",
        ),
    ] = None,
    one_run: Annotated[
        Path | None,
        typer.Option(
            metavar="SCORES.csv",
            help="Scores of the canaries of one run of a training, and which of them fair coins had put in: columns "
            "score and included (1 or 0).",
        ),
    ] = None,
    delta: Annotated[float, typer.Option(metavar="D", help="Bound epsilon, or rho, at this delta.")] = 0.0,
    guarantee: Annotated[
        Kind | None,
        typer.Option(
            help="Bound epsilon (approximate), mu of Gaussian DP, rho of zero-concentrated DP, or epsilon of Renyi DP "
            "at --order; without it, what the claim says."
        ),
    ] = None,
    order: Annotated[float | None, typer.Option(metavar="A", help="Order of Renyi DP, above 1.")] = None,
    claim_epsilon: Annotated[
        float | None, typer.Option(metavar="E", help="Hold this claim against the bound: status 1 if it is refuted.")
    ] = None,
    claim_mu: Annotated[
        float | None, typer.Option(metavar="M", help="Likewise, for Gaussian DP; implies --guarantee gaussian.")
    ] = None,
    claim_rho: Annotated[
        float | None, typer.Option(metavar="R", help="Likewise; implies --guarantee zero-concentrated.")
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
    curve: Annotated[
        bool,
        typer.Option(
            "--curve",
            help="Of files of outputs: bound the whole privacy profile and the trade-off function too, with half of "
            "the error probability; the report draws them.",
        ),
    ] = False,
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="What goes to standard output.")
    ] = "text",
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write record.json, report.md, index.html and junit.xml on the claim there."),
    ] = None,
) -> None:
    """Bound epsilon, mu or rho from below, from files: status 0, 1 if a claim is refuted, 3 if it is undecided.

    Rows must be independent outputs. They are split once at random: a part chooses an event, the others bound it.
    """
    from dpaudit.auditors.sampling.budget import DEFAULT_CONFIDENCE
    from dpaudit.claims.guarantees.named import NUMBERS, bounded_number, kind_claimed, named_guarantee
    from dpaudit.cli.bound_files import bound_files
    from dpaudit.reporting import check_writable
    from dpaudit.runner.bounds import Claimed

    if one_run is None and not files:
        raise ParameterError("nothing to bound; give two files of outputs, or --one-run SCORES.csv")
    if one_run is not None and (files or label is not None or features is not None or header is not None or curve):
        raise ParameterError(
            "--one-run takes scores of canaries alone; leave files, --label, --header, --features and --curve out"
        )
    if one_run is None and guesses is not None:
        raise ParameterError("--guesses is for --one-run; leave it out with files of outputs")
    numbers = {"--claim-epsilon": claim_epsilon, "--claim-mu": claim_mu, "--claim-rho": claim_rho, "--order": order}
    kind = kind_claimed(guarantee, numbers)
    if one_run is not None and kind not in ("approximate", "gaussian"):
        raise ParameterError(f"--one-run bounds epsilon, or mu of Gaussian DP; leave {kind} out, or give two files")
    if not 0 <= delta < 1:
        raise ParameterError(f"--delta must be at least 0 and below 1 for a bound, got {delta}")
    if delta and "delta" not in NUMBERS[kind]:
        raise ParameterError(f"there is no delta in a guarantee of the kind {kind}; leave --delta out")
    claim = {"approximate": claim_epsilon, "gaussian": claim_mu, "zero-concentrated": claim_rho, "renyi": claim_epsilon}
    values = {"delta": delta, **({} if order is None else {"order": order})}
    named = named_guarantee(kind, {**values, bounded_number(kind): claim[kind] or 0.0})
    claimed = None if claim[kind] is None else Claimed.of(named)
    if output is not None:
        if claimed is None:
            raise ParameterError(
                f"a report is about a claim; give --claim-{bounded_number(kind)}, or leave --output out"
            )
        check_writable(output)
    certain = DEFAULT_CONFIDENCE if confidence is None else confidence
    shared: dict[str, Any] = {"claimed": claimed, "confidence": certain, "seed": seed}
    shared |= {"format_": format_, "output": output}
    if one_run is not None:
        raise typer.Exit(
            bound_one_run(
                one_run,
                kind="gaussian" if kind == "gaussian" else "approximate",
                delta=delta,
                guesses=guesses,
                **shared,
            )
        )
    options: dict[str, Any] = {"label": label, "header": header, "features": features, "curve": curve}
    raise typer.Exit(bound_files(files or [], guarantee=named, **options, **shared))


def bound_one_run(
    path: Path,
    *,
    kind: Literal["approximate", "gaussian"],
    delta: float,
    claimed: Claimed | None,
    confidence: float,
    guesses: int | None,
    seed: int,
    format_: str,
    output: Path | None,
) -> int:
    """Bound from one run, print what was found and write its record; return the exit status."""
    from dpaudit.auditors.blackbox.one_run import CoinsError, one_run_bound
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
    from dpaudit.auditors.blackbox.one_run import MORE

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
            rows[3] = ("to say more", "many more canaries are needed")
    if claimed is not None and evidence is not None:
        rows.append(("claim", claim_in_words(claimed, evidence)))
    return lines(bound_in_words(found.parameter, found.value, {"delta": found.delta}, found.confidence), rows)


def _json(path: Path, found: OneRunBound, claimed: Claimed | None, evidence: Evidence | None) -> str:
    from dpaudit.claims.record import plain

    told: dict[str, Any] = {"file": str(path), **plain(found), "claimed": None, "verdict": None}
    if claimed is not None and evidence is not None:
        told |= {"claimed": dict(claimed.parameters), "verdict": str(evidence.verdict), "note": evidence.note}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"
