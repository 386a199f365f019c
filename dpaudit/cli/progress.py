"""The progress bar, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from dpaudit.claims.record import Result
from dpaudit.escapes import visible
from dpaudit.runner.cells import Cell
from dpaudit.runner.execute import Progress
from dpaudit.runner.prepare import Prepared

Begin = Callable[[Prepared], Progress | None]


@contextmanager
def progress(*, enabled: bool) -> Iterator[Begin]:
    """Show how many cells are done once it is known how many there are, if enabled."""
    with ExitStack() as stack:
        yield (lambda prepared: stack.enter_context(_bar(len(prepared.cells)))) if enabled else (lambda prepared: None)


@contextmanager
def _bar(total: int) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def advance(cell: Cell, result: Result) -> None:
            bar.update(task, advance=1, description=visible(f"{cell.target} {cell.claim}: {result.verdict.value}"))

        yield advance
