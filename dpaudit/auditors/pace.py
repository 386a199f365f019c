"""How long sampling takes: a deadline at which it stops, and a word to the user where it will be long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

LONG = 60.0
"""Seconds of sampling from which on the user is told how long it will take."""

Announce = Callable[[float], None]
"""Is told how many seconds sampling is going to take, about."""

_CALL = 1 << 16
"""Outputs of a call in a long audit."""

_TELLING = 1 << 13
"""Outputs from which on a call says what others will take."""


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
        Called once, where sampling is going to take ``LONG`` or more.
    drawn, seconds
        Outputs drawn so far, and what they took.
    """

    planned: int
    deadline: float | None = None
    announce: Announce | None = None
    drawn: int = 0
    seconds: float = 0.0

    def begin_call(self) -> None:
        """Raise OutOfTimeError if the deadline has passed."""
        if self.deadline is not None and time.time() >= self.deadline:
            raise OutOfTimeError

    def end_call(self, size: int, seconds: float) -> None:
        """Take note of a call of the sampler."""
        self.drawn += size
        self.seconds += seconds
        if size >= min(_TELLING, self.planned):
            self._predict(self.seconds + max(self.planned - self.drawn, 0) * seconds / size)

    def is_doubtful(self, size: int, seconds: float) -> bool:
        """Whether a small call was so slow that it matters which part of its time does not depend on its size."""
        return self.announce is not None and self.planned * seconds / size >= LONG

    def compare_calls(self, small: tuple[int, float], large: tuple[int, float]) -> None:
        """Predict from calls of two sizes, each with the seconds it took."""
        each = max(0.0, large[1] - small[1]) / (large[0] - small[0])
        fixed = max(0.0, small[1] - each * small[0])
        self._predict(fixed * (1 + self.planned / _CALL) + each * self.planned)

    @property
    def out_of_time(self) -> str:
        """Words for a note."""
        return f"the time that --seconds allows was over after {self.drawn} of {self.planned} samples"

    def _predict(self, seconds: float) -> None:
        if self.announce is not None and seconds >= LONG:
            self.announce(seconds)
            self.announce = None
