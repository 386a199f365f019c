"""How far a run is, on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from dpaudit.claims.record import Result
from dpaudit.cli.output import say
from dpaudit.escapes import visible
from dpaudit.runner.cells import Cell
from dpaudit.runner.execute import Progress
from dpaudit.runner.prepare import Prepared

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

Begin = Callable[[Prepared], Progress | None]

HEARTBEAT = 30.0
"""Seconds between two lines where there is no terminal."""

_LEAST = 3
"""Results from whose times the time left is estimated."""


@contextmanager
def progress(*, enabled: bool, terminal: bool) -> Iterator[Begin]:
    """Show how far a run is once it is known what there is to do, if enabled."""
    pace = Pace()

    def begin(prepared: Prepared) -> Progress:
        pace.total = len(prepared.cells)
        return pace.note

    if not enabled:
        yield lambda prepared: None
        return
    with _bar(pace) if terminal else _heartbeat(pace):
        yield begin


@dataclass(slots=True)
class Pace:
    """What is done, what is under way, and how long the rest may take.

    Attributes
    ----------
    total
        How many cells there are.
    done
        How many have a result.
    computed
        How many of these were computed in this run.
    running
        The cells that are under way, the oldest first.
    started
        When the first one was begun, on the monotonic clock; None before.
    last
        The last result in words.
    changed
        Called when any of this has changed.
    """

    total: int = 0
    done: int = 0
    computed: int = 0
    running: dict[int, Cell] = field(default_factory=dict)
    started: float | None = None
    last: str = ""
    changed: Callable[[], None] = lambda: None

    def note(self, cell: Cell, result: Result | None) -> None:
        """Note a cell that is begun (without a result), or has its result."""
        if result is None:
            self.running[id(cell)] = cell
            self.started = time.monotonic() if self.started is None else self.started
        else:
            self.computed += self.running.pop(id(cell), None) is not None
            self.done += 1
            self.last = f"{cell.target} {cell.claim}: {result.verdict.value}"
        self.changed()

    @property
    def left(self) -> float | None:
        """Seconds that the rest takes if it goes on as before; None where too little is known."""
        if self.started is None or self.computed < _LEAST:
            return None
        return (time.monotonic() - self.started) / self.computed * (self.total - self.done)

    @property
    def now(self) -> str:
        """What is under way, in words; otherwise the last result."""
        oldest = next(iter(list(self.running.values())), None)
        if oldest is None:
            return self.last
        more = len(self.running) - 1
        values = " ".join(f"{name}={value}" for name, value in oldest.parameters.items())
        return f"{oldest.target} {oldest.claim} {values}".strip() + (f", and {more} more" if more else "")

    @property
    def line(self) -> str:
        """All of it in one line."""
        left = self.left
        words = [f"{self.done} of {self.total} results"]
        words += [] if left is None else [f"about {_spoken(left)} left if it goes on like this"]
        words += [f"now {self.now}"] if self.running else []
        return "; ".join(words)


def _spoken(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def _heartbeat(pace: Pace) -> Iterator[None]:
    """Say every half minute how far the run is."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(HEARTBEAT):
            if pace.total:
                say(pace.line)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _bar(pace: Pace) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.table import Column
    from rich.text import Text

    class Left(ProgressColumn):
        """Time left."""

        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            left = pace.left
            return Text("" if left is None else f"{_spoken(left)} left", style="progress.remaining")

    class Now(ProgressColumn):
        """What is under way."""

        def render(self, task: Task) -> Text:
            return Text(visible(pace.now), no_wrap=True, overflow="ellipsis")

    columns = (
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        Left(),
        Now(table_column=Column(ratio=1, no_wrap=True)),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True, expand=True) as bar:
        task = bar.add_task("", total=None)
        pace.changed = partial(_show, bar, task, pace)
        yield


def _show(bar: Bar, task: TaskID, pace: Pace) -> None:
    bar.update(task, total=pace.total, completed=pace.done)
