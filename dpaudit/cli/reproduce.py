"""``dpaudit reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dpaudit.cli.check import run, settings


def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FIGURE ...]",
            help="Papers (song2022), figures and tables ('Figure 2': that of every paper; 'song2022 figure 2': that of "
            "one), or ids of claims and how they begin. None: all.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE[,VALUE...]", help="Values of a parameter; several make a grid."),
    ] = None,
    data: Annotated[str | None, typer.Option(metavar="FILE", help="Measure on the rankings of a PrefLib file.")] = None,
    samples: Annotated[int | None, typer.Option(metavar="N", help="Runs of a measurement.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Spend a tenth of the runs; what these cannot tell is inconclusive.")
    ] = False,
    seconds: Annotated[float | None, typer.Option(metavar="S", help="After S seconds begin no further figure.")] = None,
    max_cells: Annotated[
        int | None,
        typer.Option(metavar="N", help="Allow so many cells (claims times combinations of values); 20000 by default."),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="C", help="Confidence of every result; by default the plan's, or else 0.999."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Equal seeds give equal records.")] = 0,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes; by default one per processor.")] = None,
    format_: Annotated[
        Literal["text", "json", "markdown", "junit", "sarif"],
        typer.Option("--format", help="What goes to standard output."),
    ] = "text",
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the reports there, and keep results as they arrive, as `check` does."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything anew, whatever is kept in DIR.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress; only what is not as expected.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback when a target raises.")] = False,
) -> None:
    """Measure the published figures of the papers again, against the published numbers."""
    from dpaudit.runner import MOST_CELLS, Request

    request = Request(
        set=settings(set_ or []),
        data=data,
        samples=samples,
        confidence=confidence,
        seed=seed,
        quick=quick,
        figures=figure or [],
        max_cells=MOST_CELLS if max_cells is None else max_cells,
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
