"""The progress bar, on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dpaudit.claims.record import Result
from dpaudit.escapes import visible
from dpaudit.runner.cells import Cell
from dpaudit.runner.execute import Progress


@contextmanager
def progress(total: int, *, enabled: bool) -> Iterator[Progress | None]:
    """Show how many cells are done, if enabled."""
    if not enabled:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def advance(cell: Cell, result: Result) -> None:
            bar.update(task, advance=1, description=visible(f"{cell.target} {cell.claim}: {result.verdict.value}"))

        yield advance
