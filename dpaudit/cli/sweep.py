"""``dpaudit sweep``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dpaudit.cli.check import run
from dpaudit.errors import ParameterError
from dpaudit.writing import write_file

if TYPE_CHECKING:
    from dpaudit.sources.libraries.sweeps import Sweep

DEFAULT_SAMPLES = 20_000


def sweep(
    library: Annotated[str, typer.Argument(metavar="LIBRARY", help="opendp, diffprivlib or pure-ldp.")],
    samples: Annotated[int, typer.Option(metavar="N", help="Samples per input, at least 1000.")] = DEFAULT_SAMPLES,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Stop after S seconds, with as many samples as fit; if they are too few to show anything, or fewer "
            "than --samples says, what is undecided is inconclusive.",
        ),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(metavar="C", help="Confidence of every result; 0.999 by default.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the run.")] = 0,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes; by default one per processor.")] = None,
    format_: Annotated[
        Literal["text", "json", "markdown", "junit", "sarif"],
        typer.Option("--format", help="What goes to standard output."),
    ] = "text",
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the reports there, with coverage.md and coverage.json, and keep results as they arrive.",
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything anew, whatever is kept in DIR.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress; only what is not as expected.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback when a target raises.")] = False,
) -> None:
    """Audit the constructors of a library with standard arguments, and say which are left out and why."""
    from dpaudit.runner import Request
    from dpaudit.sources.libraries.adapters import library_names
    from dpaudit.sources.libraries.sweeps import sweep_of

    library = library.replace("_", "-")
    if library not in library_names():
        raise ParameterError(
            f"{library!r} is not a library that can be swept; name one of {', '.join(library_names())}"
        )
    found = sweep_of(library)
    request = Request(targets=found.targets, samples=samples, confidence=confidence, seed=seed)
    try:
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
    except typer.Exit:
        # The run is over; an option that is refused has no coverage to show.
        if output is not None and (output / "record.json").is_file():
            _write_coverage(library, found, output)
        if format_ == "text" and not quiet:
            _print_coverage(library, found)
        raise


def _counted(found: Sweep) -> tuple[int, int]:
    return sum(bool(each.targets) for each in found.constructors), len(found.constructors)


def _print_coverage(library: str, found: Sweep) -> None:
    from dpaudit.cli.output import write_out

    covered, total = _counted(found)
    lines = [f"{library} {found.version}: {covered} of {total} public constructors covered; not covered:"]
    lines += [f"  {each.constructor}: {each.reason}" for each in found.constructors if not each.targets]
    write_out("\n".join(["", *lines, ""]))


def _write_coverage(library: str, found: Sweep, folder: Path) -> None:
    """Write every public constructor with its verdicts, or with the reason why it is not covered."""
    from dpaudit.claims.record import read_record

    verdicts = {result.target: result.verdict.value for result in read_record(folder / "record.json").results}
    covered, total = _counted(found)
    lines = [
        f"# Constructors of {library} {found.version}",
        "",
        f"{covered} of {total} public constructors are covered. The results are in [report.md](report.md).",
        "",
        "| constructor | target: verdict | not covered, because |",
        "|---|---|---|",
    ]
    rows = []
    for each in found.constructors:
        results = {target: verdicts.get(target, "not run") for target in each.targets}
        shown = ", ".join(f"`{target}`: {verdict}" for target, verdict in results.items())
        lines.append(f"| `{each.constructor}` | {shown} | {each.reason} |")
        rows.append({"constructor": each.constructor, "results": results, "reason": each.reason})
    content = {"library": library, "version": found.version, "covered": covered, "of": total, "constructors": rows}
    write_file(folder / "coverage.md", "\n".join([*lines, ""]))
    write_file(folder / "coverage.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")
