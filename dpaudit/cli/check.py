"""``dpaudit check``."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from dpaudit.claims.record import Record
from dpaudit.cli.output import emit, say
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.runner import Request

Format = Literal["text", "json", "markdown", "junit"]
Method = Literal["auto", "exact", "likelihood", "black-box"]


def check(
    target: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET ...]",
            help="A target, claim or paper of the catalogue, file.py, file.py::Class, module:Class or plan.toml. None: "
            "every plan in ./audits, or else the catalogue's.",
        ),
    ] = None,
    claim: Annotated[list[str] | None, typer.Option(metavar="ID", help="Audit only this claim (repeatable).")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE[,VALUE...]", help="Values of a parameter; several make a grid."),
    ] = None,
    data: Annotated[str | None, typer.Option(metavar="FILE", help="Measure on the rankings of a PrefLib file.")] = None,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="Samples per input, or runs of a measurement.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Stop after S seconds; what is undecided by then is inconclusive.")
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="C", help="Confidence of every result; by default the plan's, or else 0.999."),
    ] = None,
    method: Annotated[Method | None, typer.Option(help="Insist on a method of auditing privacy.")] = None,
    stop_early: Annotated[
        bool,
        typer.Option(
            "--stop-early", help="Stop sampling as soon as a claim is refuted (what is decided exactly ignores it)."
        ),
    ] = False,
    features: Annotated[
        Literal["float-bits"] | None,
        typer.Option(
            help="Look at the bit patterns of floating-point outputs too; implies --method black-box (what a plan "
            "insists on deciding exactly ignores it)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Equal seeds give equal records.")] = 0,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes; by default one per processor.")] = None,
    format_: Annotated[Format, typer.Option("--format", help="What goes to standard output.")] = "text",
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write record.json, report.md, index.html, junit.xml and witnesses/ there, and keep results as they "
            "arrive: the same command goes on where it was.",
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything anew, whatever is kept in DIR.")] = False,
    with_figures: Annotated[
        bool, typer.Option("--with-figures", help="Measure the published figures too, as `dpaudit reproduce` does.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Spend a tenth of the samples; what these cannot tell is inconclusive.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress; only what is not as expected.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback when a target raises.")] = False,
) -> None:
    """Audit claims and gate on the verdicts."""
    from dpaudit.runner import Request

    request = Request(
        targets=target or [],
        claims=claim or [],
        set=settings(set_ or []),
        data=data,
        samples=samples,
        confidence=confidence,
        method=method,
        stop_early=stop_early,
        features=features or "none",
        seed=seed,
        quick=quick,
        with_figures=with_figures,
    )
    run(
        request,
        seconds=seconds,
        workers=workers,
        format_=format_,
        output=output,
        fresh=fresh,
        quiet=quiet,
        debug=debug,
    )


def run(
    request: Request,
    *,
    seconds: float | None,
    workers: int | None,
    format_: str,
    output: Path | None,
    fresh: bool,
    quiet: bool,
    debug: bool,
) -> NoReturn:
    """Run a request with progress, print and write its record, and leave with its status."""
    from dpaudit.cli.progress import progress
    from dpaudit.reporting import check_writable
    from dpaudit.runner.cells import choose, figures_not_on_data
    from dpaudit.runner.check import run_request

    _validate(request, seconds, workers, output, fresh)
    if output is not None:
        check_writable(output)
    # Standard output is the record's alone, whatever a target prints.
    with redirect_stdout(sys.stderr):
        choice = choose(request)
        cells = choice.cells
        with progress(len(cells), enabled=not quiet and sys.stderr.isatty()) as advance:
            done = run_request(
                request,
                seconds=seconds,
                workers=workers or min(os.cpu_count() or 1, max(1, len(cells))),
                debug=debug,
                cells=cells,
                progress=advance,
                output=output,
                fresh=fresh,
                announce=not quiet,
            )
    record = done.record
    emit(record, format_, output, quiet=quiet)
    if not quiet and done.taken:
        say(
            f"{done.taken} of {len(cells)} results were known from {output} already, by the same code, parameters and "
            "seed; --fresh computes all anew"
        )
    if not quiet and choice.figures_left_out:
        say(f"{choice.figures_left_out} audits of published figures are left to `dpaudit reproduce`")
    if not quiet and (unmeasured := figures_not_on_data(request)):
        say(f"not measured on rankings: {', '.join(unmeasured)}")
    if done.interrupted:
        again = "; the same command goes on from there" if output is not None else ""
        say(f"interrupted; {len(record.results)} of {len(cells)} results are kept{again}")
        raise typer.Exit(130)
    raise typer.Exit(_status(record))


def _status(record: Record) -> int:
    for result in record.results:
        if result.verdict == "error":
            note = result.note.removeprefix(f"{result.claim}: ")
            say(f"{result.target}, {result.claim}: {note}")
    return record.status


def settings(texts: list[str]) -> dict[str, list[Any]]:
    """Read the values of ``--set``.

    Raises
    ------
    ParameterError
        One is not NAME=VALUE, or a name is set twice.
    """
    from dpaudit.runner.request import from_setting

    settings: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name or not values or "" in values.split(","):
            raise ParameterError(f"--set {text}: write NAME=VALUE or NAME=VALUE,VALUE")
        if name in settings:
            raise ParameterError(f"--set {text}: {name} is set twice; write --set {name}=VALUE,VALUE for a grid")
        settings[name] = [from_setting(value) for value in values.split(",")]
    return settings


def _validate(request: Request, seconds: float | None, workers: int | None, output: Path | None, fresh: bool) -> None:
    from dpaudit.runner.check import check_budget, check_run

    if request.quick and request.samples is not None:
        raise ParameterError("--quick spends a tenth of the usual samples; leave it or --samples out")
    if fresh and output is None:
        raise ParameterError("--fresh forgets what --output DIR keeps; give --output, or leave --fresh out")
    check_budget(request)
    check_run(seconds, request.seed, 1 if workers is None else workers)
