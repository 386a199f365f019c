"""What is asked of workers next: cells, and the parts of those that take long."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from dpaudit.auditors.sampling.pace import FIRST_WORD, NEXT_WORD, duration
from dpaudit.auditors.sampling.work import FAILED, Part, needless
from dpaudit.errors import OutputError
from dpaudit.runner.outcome import Pending
from dpaudit.runner.processes import Answer, Ended, Finished, Raised, Request

_LOOK = "look"

MOST_DEATHS = 3
"""Workers that may end under one request before it is given up."""


class PartKeeper(Protocol):
    """Where outcomes of parts are kept as they arrive."""

    def parts(self, cell: str) -> dict[str, bytes]: ...  # noqa: D102

    def put_parts(self, cell: str, parts: Mapping[str, bytes], without: Iterable[str] = ()) -> None: ...  # noqa: D102

    def drop_parts(self, cell: str) -> None: ...  # noqa: D102


@dataclass(slots=True)
class _Progress:
    """A cell whose audit waits for parts: what is known by name, what is still asked for, and what is being done."""

    known: dict[str, bytes]
    wanted: dict[str, Part] = field(default_factory=dict)
    under_way: set[str] = field(default_factory=set)
    begun: float = 0.0
    told: float = 0.0
    drawn: int = 0
    done: int = 0
    planned: int = 0
    found: str = ""
    looking: bool = False

    def words(self, now: float) -> str:
        """How far it has come, since when its parts were asked for; those that are being done count as half done."""
        half_done = sum(part.outputs for name, part in self.wanted.items() if name in self.under_way) / 2
        rate = (self.done + half_done) / max(now - self.begun, 1e-9)
        drawn = self.drawn + self.done
        words = f"{drawn:,} of {self.planned:,} outputs, {rate:,.0f} per second"
        words += f", {duration(max(self.planned - drawn - half_done, 0) / max(rate, 1e-9))} left"
        return f"{words}; {self.found}" if self.found else words


class Parts:
    """Requests for workers, one after another; there may be more after the last one, when answers have arrived.

    Parts come before cells that were not begun, so that few audits are under way at a time. A request whose worker
    ended is made again, `MOST_DEATHS` times altogether.

    Parameters
    ----------
    homes
        Where the parts of each cell are kept; empty where they cannot be.
    keeper
        What keeps them; None where nothing does.
    begin
        Makes the request of a cell, by its number; None where it is not to be begun.
    ask
        Makes the request of a part.
    lose
        Is told why parts could not be kept.
    announce
        Is told, by the number of a cell, how far its parts have come.
    """

    def __init__(
        self,
        homes: list[str],
        keeper: PartKeeper | None,
        *,
        begin: Callable[[int], Request | None],
        ask: Callable[[int, Part], Request],
        lose: Callable[[OutputError], None] = lambda error: None,
        announce: Callable[[int, str], None] | None = None,
    ) -> None:
        self._homes, self._keeper = homes, keeper
        self._begin, self._ask, self._lose = begin, ask, lose
        self._announce = announce
        self._looks: deque[int] = deque()
        self._cells: deque[int] = deque()
        self._again: deque[int] = deque()
        self._parts: deque[tuple[int, Part]] = deque()
        self._progress: dict[int, _Progress] = {}
        self._deaths: Counter[Any] = Counter()

    def begin_with(self, cells: Iterable[int]) -> None:
        """Ask for these cells."""
        self._cells.extend(cells)

    def known(self, i: int) -> dict[str, bytes]:
        """What is known of the parts of a cell."""
        if i not in self._progress:
            kept = self._keeper.parts(self._homes[i]) if self._keeper is not None and self._homes[i] else {}
            self._progress[i] = _Progress(kept)
        return self._progress[i].known

    def __iter__(self) -> Iterator[Request]:
        return self

    def __next__(self) -> Request:
        """Return the next request; StopIteration where there is none for now."""
        while self._looks:
            # What an audit that is begun again says before it waits again is what it knows by now.
            request = self._begin(i) if (i := self._looks.popleft()) in self._progress else None
            if request is not None:
                return replace(request, key=(_LOOK, i))
        while self._parts:
            i, part = self._parts.popleft()
            if i in self._progress and part.name in self._progress[i].wanted:
                self._progress[i].under_way.add(part.name)
                return self._ask(i, part)
        for waiting in (self._again, self._cells):
            while waiting:
                request = self._begin(waiting.popleft())
                if request is not None:
                    return request
        raise StopIteration

    def take(self, key: Any, answer: Answer) -> list[tuple[int, Answer]]:
        """Take note of an answer; return the cells that have ended with it, and how."""
        i, name = key if isinstance(key, tuple) else (key, None)
        if i == _LOOK:
            self._look(name, answer)
            return []
        if name is not None and (i not in self._progress or name not in self._progress[i].wanted):
            return []
        if isinstance(answer, Ended):
            self._deaths[key] += 1
            if self._deaths[key] < MOST_DEATHS and not answer.final:
                self._repeat(i, name)
                return []
            return [(i, answer)]
        if name is None:
            if not (isinstance(answer, Finished) and isinstance(answer.value, Pending)):
                return [(i, answer)]
            self._spread(i, answer.value)
            return []
        # What failed is done again by the audit itself, and raises what it raises.
        done = isinstance(answer, Finished) and isinstance(answer.value, bytes)
        if not done and not isinstance(answer, Raised):
            return [(i, answer)]
        self._add(i, {name: answer.value if isinstance(answer, Finished) else FAILED})
        progress = self._progress[i]
        progress.done += progress.wanted.pop(name).outputs
        self._tell(i, progress)
        if not progress.wanted:
            self._again.append(i)
        return []

    def end(self, i: int) -> None:
        """Forget the parts of a cell that has ended."""
        if self._progress.pop(i, None) is not None and self._keeper is not None and self._homes[i]:
            try:
                self._keeper.drop_parts(self._homes[i])
            except OutputError as error:
                self._lost(error)

    def _tell(self, i: int, progress: _Progress) -> None:
        """Say now and then how far a cell has come, and ask beforehand what it knows by then."""
        now = time.monotonic()
        if self._announce is None or not progress.wanted or now < progress.told + NEXT_WORD / 2:
            return
        if not progress.looking and any(name.startswith("final/") for name in progress.wanted):
            progress.looking = True
            self._looks.append(i)
        if now >= progress.told + NEXT_WORD:
            progress.told = now
            self._announce(i, progress.words(now))

    def _look(self, i: Any, answer: Answer) -> None:
        progress = self._progress.get(i)
        if progress is not None:
            progress.looking = False
            if isinstance(answer, Finished) and isinstance(answer.value, Pending):
                progress.found = answer.value.found

    def _repeat(self, i: int, name: str | None) -> None:
        if name is None:
            self._again.append(i)
        else:
            self._parts.appendleft((i, self._progress[i].wanted[name]))

    def _spread(self, i: int, pending: Pending) -> None:
        self._add(i, pending.made)
        progress = self._progress[i]
        progress.wanted, progress.under_way = {part.name: part for part in pending.parts}, set()
        progress.drawn, progress.planned, progress.found = pending.drawn, pending.planned, pending.found
        progress.begun, progress.done = time.monotonic(), 0
        progress.told = progress.begun + FIRST_WORD - NEXT_WORD
        self._parts.extend((i, part) for part in pending.parts)

    def _add(self, i: int, found: Mapping[str, bytes]) -> None:
        known = self._progress[i].known
        known.update(found)
        without = needless(found, known)
        for name in without:
            del known[name]
        kept = {name: content for name, content in found.items() if content != FAILED}
        if self._keeper is not None and self._homes[i] and (kept or without):
            try:
                self._keeper.put_parts(self._homes[i], kept, without)
            except OutputError as error:
                self._lost(error)

    def _lost(self, error: OutputError) -> None:
        # The results that are still to come are worth more than what keeps them.
        self._keeper = None
        self._lose(error)
