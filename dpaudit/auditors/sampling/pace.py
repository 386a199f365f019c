"""How long sampling takes: what fits before a deadline, and word to the user while it goes on."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from dpaudit.auditors.sampling.streams import CHUNK

LONG = 60.0
"""Seconds of sampling from which on the user is told beforehand how long it will take."""

FIRST_WORD, NEXT_WORD = 5.0, 10.0
"""Seconds until the user is told how far sampling has come, and between two such lines."""

Announce = Callable[[str], None]
"""Is told, in words, how long sampling is going to take and how far it has come."""

_TELLING = 1 << 13
"""Outputs from which on a call says what others will take."""

_CALL_SHARE = 0.03
"""Part of the time left that a call may take, so that the deadline is not missed by much."""

_GROWTH = 8
"""How many times as many outputs as any call before a call may ask for: what they take is not known before. Where a
larger call took no longer than a smaller one, their outputs have been seen to take next to nothing, and calls grow at
once."""

_WORTH = 3.0
"""How many times as long as a call takes whatever its size its outputs may take, where that is more than the part of
the time left: shorter calls would spend most of the time on what does not depend on their size."""

_ONE_BEFORE_LAST = 2.25
"""How many times as long as calls take whatever their size there must be left for one that is not the last. Chosen by
hand: the last one then has some time for its outputs."""

_LAST = 0.9
"""Part of what is left that the outputs of the last call may take that fits."""

_REST = 1.5
"""How many times as many outputs as fit into a call are drawn at once instead of in two calls."""

_NOISE = 0.05
"""Part of a call's time that its outputs are taken to need at least, since equal calls do not take equally long. With
0.01 where calls differ by less, those of a second grew fiftyfold in place of tenfold, and those that take no longer up
to a size, and then do, ended up to 16 times the time after the deadline."""

_FALLEN = 1.5
"""How many times as long as a larger call a small one takes that had to prepare something, once and for all."""

_COUNTED = 8
"""How many times as large as a call the largest one may be for the smaller one to count, too. Chosen by hand."""

_LATEST = 0.5
"""Weight of the last call against all before it, unless it is the largest. Chosen by hand: equal calls of structures
took from 0.02 to 0.2 seconds, as Python cleared memory in some of them."""

_UNSEEN = 4.0
"""How many times as slow as others an input is taken to be at first."""

_LEAST_SECONDS = 1e-9


def clock() -> float:
    """Time in seconds since the epoch."""
    return time.time()


class OutOfTimeError(Exception):
    """The deadline has passed; auditors catch it and say what they know by then."""


class TooLongError(Exception):
    """What was begun by `ready_by` takes longer than it may; whoever began it goes on without it."""


_UNTIL: ContextVar[float] = ContextVar("until", default=math.inf)


@contextmanager
def ready_by(until: float | None) -> Iterator[None]:
    """Let `check_time` end what takes longer than until a time in seconds since the epoch; None for no limit."""
    token = _UNTIL.set(math.inf if until is None else until)
    try:
        yield
    finally:
        _UNTIL.reset(token)


def check_time(seconds: float = 0.0) -> None:
    """Raise TooLongError where a step of so many seconds would not end in time (`ready_by`).

    Steps whose number depends on how wide outputs are call it, so that a deadline is kept however wide they are.
    """
    until = _UNTIL.get()
    # Without a deadline no clock is looked at.
    if until < math.inf and clock() + seconds >= until:
        raise TooLongError


@dataclass(slots=True)
class _Calls:
    """What calls on one input took: a smallest and a large one, each as its size and its seconds.

    ``outdated`` says that the next call tells all of what others will take.
    """

    small: tuple[int, float]
    large: tuple[int, float]
    outdated: bool = False

    def add(self, size: int, seconds: float) -> None:
        """Take note of a call."""
        if size < self.small[0] or (size == self.small[0] and seconds < self.small[1]):
            self.small = size, seconds
        if self.outdated:
            self.large, self.outdated = (size, seconds), False
        elif size == self.large[0] == self.small[0] and _FALLEN * seconds < self.large[1]:
            # The first call had to prepare something.
            self.large = size, seconds
        elif _COUNTED * size >= self.large[0]:
            # Of a smaller call, the outputs that it lacks are added; what a call takes anyway is not.
            most = max(size, self.large[0])
            whole = seconds + (most - size) * self.each
            weight = _LATEST if size <= self.large[0] else 1.0
            self.large = most, (1 - weight) * self.large[1] + weight * whole
        if self.small[1] > _FALLEN * self.large[1]:
            self.small = self.large

    @property
    def each(self) -> float:
        """Seconds that one more output takes: all that a call took where there was only one size."""
        (few, short), (many, long) = self.small, self.large
        if many == few:
            return self.at_most
        return min(max((long - short) / (many - few), _NOISE * self.at_most), self.at_most)

    @property
    def at_most(self) -> float:
        """Seconds that an output takes if calls take no time of their own."""
        return self.large[1] / self.large[0]

    @property
    def is_split(self) -> bool:
        """Whether there were two sizes."""
        return self.large[0] > self.small[0]

    @property
    def mostly_fixed(self) -> bool:
        """Whether a larger call took no longer than a smaller one, but for noise."""
        (few, short), (many, long) = self.small, self.large
        return many > few and long <= (1 + _NOISE) * short

    def resembles(self, size: int, seconds: float) -> bool:
        """Whether these calls take as long whatever their size, and one of this size took no longer than they do."""
        return self.mostly_fixed and size > self.small[0] and seconds <= (1 + _NOISE) * self.large[1]

    @property
    def fixed(self) -> float:
        """Seconds that a call takes whatever its size."""
        return max(0.0, self.large[1] - self.each * self.large[0])


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
    _calls: dict[Any, _Calls] = field(default_factory=dict)

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
        """Take note of what a call on one input took, whether or not it counts."""
        seconds = max(seconds, _LEAST_SECONDS)
        if key in self._calls:
            self._calls[key].add(size, seconds)
        else:
            # One call does not say whether its outputs took the time; it was not they where as many on another input
            # did not.
            alike = (calls.small for calls in self._calls.values() if calls.resembles(size, seconds))
            self._calls[key] = _Calls(next(alike, (size, seconds)), (size, seconds))

    def begin_again(self, key: Any) -> None:
        """Let the next call on an input say alone what others will take."""
        self._calls[key].outdated = True

    def each(self, key: Any) -> float:
        """Seconds that an output on one input takes, about; infinite before the first call."""
        if key in self._calls:
            return self._calls[key].each
        return _UNSEEN * max((calls.each for calls in self._calls.values()), default=float("inf"))

    def fixed(self, key: Any) -> float:
        """Seconds that a call on one input takes whatever its size, about."""
        if key in self._calls:
            return self._calls[key].fixed
        return max((calls.fixed for calls in self._calls.values()), default=0.0)

    def is_split(self, key: Any) -> bool:
        """Whether calls of two sizes have told apart what calls on one input take from what their outputs take."""
        return key in self._calls and self._calls[key].is_split

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
        """How many outputs on each of these inputs take this share of the time left; infinite without a deadline.

        They are drawn in calls as large as they may be in the end.
        """
        if not self.timed:
            return float("inf")
        fixed, each = self._needed(keys)
        time = share * self.left
        in_call = max(1.0, min(CHUNK, self._spare(_CALL_SHARE, fixed) / each))
        calls = time / (fixed + in_call * each)
        # What a call takes whatever its size leaves some outputs that hardly add to it.
        return calls * in_call if calls >= 1 else max(_NOISE * fixed, time - fixed) / each

    def outputs_in_call(self, share: float, *keys: Any) -> float:
        """How many outputs to draw at a time from each of these inputs; infinite without a deadline.

        As many as take this share of the time left, or more where the calls themselves take long; but no call asks for
        many more than those before it, unless it fits even if all of their time was that of their outputs.
        """
        if not self.timed:
            return float("inf")
        fixed, each = self._needed(keys)
        largest = max((calls.large[0] for calls in self._calls.values()), default=1)
        most = min(self._calls[key].large[0] if key in self._calls else largest for key in keys)
        if all(key in self._calls and self._calls[key].mostly_fixed for key in keys):
            return self._spare(share, fixed) / each
        at_most = sum(self._at_most(key) + self.extra for key in keys)
        return min(self._spare(share, fixed) / each, max(_GROWTH * most, share * self.left / at_most))

    def call_size(self, size: int, *keys: Any) -> int:
        """How many outputs, of so many, to draw at a time from each of these inputs."""
        if not self.timed:
            return size
        fitting = max(1, int(min(size, self.outputs_in_call(_CALL_SHARE, *keys))))
        # A small rest is not worth a call of its own.
        return size if size <= _REST * fitting else fitting

    def leaves_a_call(self, *keys: Any) -> bool:
        """Whether one more call on each of these inputs leaves time for another."""
        return self.left >= _ONE_BEFORE_LAST * self._needed(keys)[0]

    def _at_most(self, key: Any) -> float:
        """Seconds that an output on one input takes if calls take no time of their own."""
        if key in self._calls:
            return self._calls[key].at_most
        return _UNSEEN * max((calls.at_most for calls in self._calls.values()), default=float("inf"))

    def _needed(self, keys: tuple[Any, ...]) -> tuple[float, float]:
        """Seconds that a call on each of these inputs takes whatever its size, and that an output on each takes."""
        return sum(map(self.fixed, keys)), sum(self.each(key) + self.extra for key in keys)

    def _spare(self, share: float, fixed: float) -> float:
        """Seconds that the outputs of a call may take beside what the call takes."""
        rest = max(0.0, self.left - fixed)
        worth = min(_WORTH * fixed, rest / 2 if rest > 2 * fixed else _LAST * rest)
        return max(share * self.left - fixed, worth, _NOISE * fixed)

    def plan(self, outputs: int) -> None:
        """Plan so many outputs, and say so where it is fewer than were asked for."""
        self.planned = outputs
        if outputs < self.asked and self.announce is not None:
            self.announce(
                f"with {duration(self.left)} left, about {outputs // 2:,} outputs per input of the "
                f"{self.asked // 2:,} drawn without --seconds"
            )

    # Words to the user.

    def is_doubtful(self, size: int, seconds: float) -> bool:
        """Whether a small call was so slow that it matters which part of its time does not depend on its size."""
        return self.announce is not None and not self.timed and self.planned * seconds / size >= LONG

    def compare_calls(self, small: tuple[int, float], large: tuple[int, float]) -> None:
        """Predict from calls of two sizes, each with the seconds it took."""
        each = max(0.0, large[1] - small[1]) / (large[0] - small[0])
        fixed = max(0.0, small[1] - each * small[0])
        self._predict(fixed * (1 + self.planned / CHUNK) + each * self.planned)

    @property
    def out_of_time(self) -> str:
        """Words for a note."""
        whole = self._whole
        takes = f", which would take about {duration(whole)}" if whole >= LONG else ""
        return f"--seconds allowed no more: sampling ended after {self.drawn} of {self.asked} samples{takes}"

    @property
    def _whole(self) -> float:
        """Seconds that all samples that were asked for would take; 0 where that is not known.

        Where calls of one size were made only, or larger ones took no longer, it is not known what an output takes.
        """
        if not self.drawn or any(calls.mostly_fixed or not calls.is_split for calls in self._calls.values()):
            return 0.0
        return self.asked * self.seconds / self.drawn

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
    if seconds < 0.5:
        return "less than a second"
    return "1 second" if seconds < 1.5 else f"{seconds:.0f} seconds"
