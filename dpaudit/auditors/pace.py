"""How long sampling takes: what fits before a deadline, and word to the user while it goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

LONG = 60.0
"""Seconds of sampling from which on the user is told beforehand how long it will take."""

FIRST_WORD, NEXT_WORD = 5.0, 10.0
"""Seconds until the user is told how far sampling has come, and between two such lines."""

Announce = Callable[[str], None]
"""Is told, in words, how long sampling is going to take and how far it has come."""

_CALL = 1 << 16
"""Outputs of a call in a long audit."""

_TELLING = 1 << 13
"""Outputs from which on a call says what others will take."""

_CALL_SHARE = 0.03
"""Part of the time left that a call may take, so that the deadline is not missed by much."""

_UNSEEN = 4.0
"""How many times as slow as others an input is taken to be at first."""

_LEAST_SECONDS = 1e-9


def clock() -> float:
    """Time in seconds since the epoch."""
    return time.time()


class OutOfTimeError(Exception):
    """The deadline has passed; auditors catch it and say what they know by then."""


@dataclass(slots=True, kw_only=True)
class Pace:
    """What sampling has taken so far in one audit.

    Attributes
    ----------
    planned
        Outputs that the audit is going to draw altogether.
    deadline
        Time in seconds since the epoch (which all processes share) from which on no call is begun; None for never.
        A call under way is waited for.
    announce
        Is told once where sampling is going to take ``LONG`` or more, and again and again how far it has come.
    drawn, seconds
        Outputs drawn so far, and what they took.
    asked
        Outputs that were planned before the deadline was taken into account.
    stage
        What the audit does at the moment, in words; nothing while it samples.
    found
        What the audit knows so far, in words.
    extra
        Seconds per output that the audit itself takes, about.
    """

    planned: int
    deadline: float | None = None
    announce: Announce | None = None
    drawn: int = 0
    seconds: float = 0.0
    asked: int = 0
    stage: str = ""
    found: str = ""
    extra: float = 0.0
    _predicted: bool = False
    _each: dict[Any, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.asked = self.planned

    # Calls of the sampler.

    def begin_call(self) -> None:
        """Raise OutOfTimeError if the deadline has passed."""
        if self.deadline is not None and clock() >= self.deadline:
            raise OutOfTimeError

    def end_call(self, size: int, seconds: float) -> None:
        """Take note of a call of the sampler that counts."""
        self.drawn += size
        self.seconds += seconds
        if size >= min(_TELLING, self.planned):
            self._predict(self.seconds + max(self.planned - self.drawn, 0) * seconds / size)

    def note_speed(self, key: Any, size: int, seconds: float) -> None:
        """Take note of what outputs on one input took, whether or not the call counts."""
        self._each[key] = max(seconds, _LEAST_SECONDS) / size

    def each(self, key: Any) -> float:
        """Seconds that an output on one input takes, about; infinite before the first call."""
        known = self._each.get(key)
        if known is not None:
            return known
        return _UNSEEN * max(self._each.values()) if self._each else float("inf")

    # What fits before the deadline.

    @property
    def timed(self) -> bool:
        """Whether there is a deadline."""
        return self.deadline is not None

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return float("inf") if self.deadline is None else max(0.0, self.deadline - clock())

    def outputs_within(self, share: float, *keys: Any) -> float:
        """How many outputs on each of these inputs take this share of the time left; infinite without a deadline."""
        return self.left * share / sum(self.each(key) + self.extra for key in keys) if self.timed else float("inf")

    def call_size(self, size: int, *keys: Any) -> int:
        """How many outputs, of so many, to draw at a time from each of these inputs."""
        return size if not self.timed else max(1, int(min(size, self.outputs_within(_CALL_SHARE, *keys))))

    def plan(self, outputs: int) -> None:
        """Plan so many outputs, and say so where it is fewer than were asked for."""
        self.planned = outputs
        if outputs < self.asked and self.announce is not None:
            self.announce(
                f"with {duration(self.left)} left, about {outputs // 2:,} outputs per input of the "
                f"{self.asked // 2:,} asked for"
            )

    # Words to the user.

    def is_doubtful(self, size: int, seconds: float) -> bool:
        """Whether a small call was so slow that it matters which part of its time does not depend on its size."""
        return self.announce is not None and not self.timed and self.planned * seconds / size >= LONG

    def compare_calls(self, small: tuple[int, float], large: tuple[int, float]) -> None:
        """Predict from calls of two sizes, each with the seconds it took."""
        each = max(0.0, large[1] - small[1]) / (large[0] - small[0])
        fixed = max(0.0, small[1] - each * small[0])
        self._predict(fixed * (1 + self.planned / _CALL) + each * self.planned)

    @property
    def out_of_time(self) -> str:
        """Words for a note."""
        return f"the time that --seconds allows was over after {self.drawn} of {self.asked} samples"

    @property
    def status(self) -> str:
        """How far sampling has come, in words."""
        words = [f"{self.drawn:,} of {self.planned:,} outputs"]
        if self.seconds > 0:
            rate = self.drawn / self.seconds
            words.append(f"{rate:,.0f} per second" if rate >= 10 else f"{rate:.2g} per second")
            rest = max(self.planned - self.drawn, 0) / max(rate, _LEAST_SECONDS)
            words.append(f"{duration(min(rest, self.left))} left")
        elif self.timed:
            words.append(f"{duration(self.left)} left")
        return "; ".join(part for part in (", ".join(words), self.stage, self.found) if part)

    @contextmanager
    def doing(self, stage: str) -> Iterator[None]:
        """Name what is done other than sampling."""
        self.stage = stage
        try:
            yield
        finally:
            self.stage = ""

    @contextmanager
    def told(self) -> Iterator[None]:
        """Tell the user how far sampling has come, first after ``FIRST_WORD`` and then every ``NEXT_WORD`` seconds.

        A thread does that, because calls of the sampler are not made smaller to interrupt them: their sizes decide
        which random numbers go into which output.
        """
        if self.announce is None:
            yield
            return
        announce, over = self.announce, threading.Event()

        def tell() -> None:
            wait = FIRST_WORD
            while not over.wait(wait):
                announce(self.status)
                wait = NEXT_WORD

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _predict(self, seconds: float) -> None:
        if self.announce is not None and not self.timed and not self._predicted and seconds >= LONG:
            self.announce(
                f"sampling will take about {duration(seconds)}; --samples N draws fewer, --seconds S ends it in time"
            )
            self._predicted = True


def duration(seconds: float) -> str:
    """Return a duration in words."""
    for unit, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} seconds"
