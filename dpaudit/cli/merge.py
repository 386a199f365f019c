"""``dpaudit merge``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from dpaudit.cli.output import copy_witnesses, emit, write
from dpaudit.errors import RecordError


def merge(
    folder: Annotated[
        list[Path],
        typer.Argument(metavar="DIR ...", help="Folders that `dpaudit check --shard I/N --output DIR` wrote, all N."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the report of the whole there, with witnesses and the joined store."),
    ] = None,
    format_: Annotated[
        Literal["text", "json", "markdown", "junit", "sarif"],
        typer.Option("--format", help="What goes to standard output."),
    ] = "text",
    quiet: Annotated[bool, typer.Option("--quiet", help="Only what is not as expected.")] = False,
) -> None:
    """Join the shards of a run, and gate on the verdicts as the whole run would."""
    from dpaudit.claims.record import read_record
    from dpaudit.reporting import check_writable
    from dpaudit.runner.merge import merge as merge_records
    from dpaudit.runner.store import NAME, Store

    if twice := [str(each) for each, number in Counter(map(str, folder)).items() if number > 1]:
        raise RecordError(f"{twice[0]} is given twice; give each shard once")
    homes = {(each if each.is_dir() else each.parent).resolve() for each in folder}
    if output is not None and output.resolve() in homes:
        raise RecordError(f"--output {output} is one of the shards, which it would replace; name another folder")
    records = {str(each): read_record(each / "record.json" if each.is_dir() else each) for each in folder}
    record = merge_records(records, output=output)
    if output is not None:
        check_writable(output)
        with Store(output / NAME) as store:
            for each in folder:
                if each.is_dir() and (each / NAME).exists() and (each / NAME).resolve() != (output / NAME).resolve():
                    store.join(each / NAME)
        for each in folder:
            home = each if each.is_dir() else each.parent
            copy_witnesses(records[str(each)], home, output)
        write(record, output)
    emit(record, format_, quiet=quiet)
    raise typer.Exit(record.status)
