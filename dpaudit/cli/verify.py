"""``dpaudit verify``."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dpaudit.cli.apart import call
from dpaudit.cli.output import write_out

if TYPE_CHECKING:
    from dpaudit.runner.verify import Verification

_LONGEST = 400


def verify(
    witness: Annotated[
        Path, typer.Argument(metavar="WITNESS.json", help="A file of witnesses/ that `dpaudit check --output` wrote.")
    ],
    samples: Annotated[
        int | None,
        typer.Option(metavar="N", help="Samples per input; by default as many as a true witness most likely needs."),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(metavar="C", help="Confidence of the bound; 0.999 by default.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Equal seeds give equal results.")] = 0,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET", help="Run this target in place of the one that the file names, wherever its code is."
        ),
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Check code or data that have changed since the audit.")
    ] = False,
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="What goes to standard output.")
    ] = "text",
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback when the target raises.")] = False,
) -> None:
    """Check a witness on fresh samples: status 0 if it is confirmed, 1 if not.

    This runs the code of its target: of the catalogue, or of the current folder; else name it with --target.
    """
    from dpaudit.runner.verify import verify_here

    options: dict[str, Any] = {} if confidence is None else {"confidence": confidence}
    asked = partial(verify_here, samples=samples, seed=seed, target=target, changed=changed, **options)
    found: Verification = call(asked, witness)
    write_out(found.to_json() if format_ == "json" else _text(found))
    raise typer.Exit(0 if found.confirmed else 1)


def _text(found: Verification) -> str:
    from dpaudit.reporting.numbers import format_number
    from dpaudit.reporting.wording import clean
    from dpaudit.sources.declarations import PREFIX, declaration_of

    ((name, value),) = found.forces.items()
    claimed = found.claimed[name]
    others = ", ".join(f"{other} {number:.12g}" for other, number in found.claimed.items() if other != name and number)
    least = f"{name} is at least {format_number(value, digits=6)}{f' at {others}' if others else ''}"
    if found.confirmed:
        verdict = f"confirmed: {least}, above the claimed {claimed:.12g}"
    else:
        verdict = f"not confirmed: {least}, which does not exceed the claimed {claimed:.12g}"
    named = declaration_of(found.target).shown if found.target.startswith(PREFIX) else found.target
    parameters = ", ".join(f"{name}={value}" for name, value in found.parameters.items())
    rows = [
        ("target", f"{named}, {found.claim}" + (f", {parameters}" if parameters else "")),
        ("view", found.view),
        ("input", _short(found.data)),
        ("neighbour", _short(found.neighbour)),
        ("event", _short(found.event)),
        ("counts", " and ".join(f"{hits} of {of}" for hits, of in zip(found.hits, found.trials, strict=True))),
        ("p, q", f"{found.p:.6g}, {found.q:.6g} (frequency of the event on the input and on the neighbour)"),
        ("confidence", f"{found.confidence!r} (seed {found.seed}, {found.samples} samples per input)"),
        *(("note", note) for note in found.notes),
    ]
    return clean("\n".join([verdict, *(f"  {name.ljust(10)} {text}" for name, text in rows)]) + "\n")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters; --format json has all)"
