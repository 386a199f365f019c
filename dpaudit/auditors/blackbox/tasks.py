"""What one pair of inputs is audited for, and how its samples and its error probability are shared out."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.sampling.streams import CHUNK
from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError

LEAST_SAMPLES = 1000
"""Fewest samples per input that an audit may be asked for. Chosen by hand: a fifth of them, 200, choose the event, and
fewer say next to nothing about one."""

_SELECTION_SHARE = 0.2
"""Part of the samples that chooses the event, of up to `_MANY` samples. Measured: where the effect is weak, 0.2 reached
0.974 of the oracle's bound, 0.3 reached 0.948 and 0.4 reached 0.899 (Laplace noise, epsilon 0.01, 40 seeds;
benchmarks/weak_effects.md)."""

_MANY = 1_000_000
"""Samples per input from which on that part falls. Chosen by hand: an event is then chosen from 200,000 or more."""

_MANY_POWER = 0.75
"""Power of the samples with which the selection sample grows beyond `_MANY`. Chosen by hand: at 10^7 samples a ninth
chooses the event, and nearly all of them bound it."""

_MOST_SELECTED = 4_000_000
"""Samples per input that choose the event, at most: they are held in memory, which this bounds. An audit of Laplace
noise takes about 480 MiB from 10^8 samples on (benchmarks/speed.md)."""

LEAST_SELECTED = 10
"""Outputs per input without which no event is chosen, even after the time for them is over. Chosen by hand."""

FINAL_SHARE = 0.9
"""Part of the time left that the final sample is planned for, so that it ends in time and its own bound holds. Chosen
by hand; 0.95 before a time limit alone could decide how many samples there are."""

FIRST_ROUND = 1000
"""Outputs per input of the first round of a final sample that may stop early; each round doubles all outputs so far.
Chosen by hand: as few as a whole audit may have (`LEAST_SAMPLES`)."""

_ROUNDS = 8
"""Rounds, about, of the final sample of a target that may fail. A round that fails counts for nothing, an eighth of the
sample. Chosen by hand."""

_SEQUENTIAL_SHARE = 0.5
"""Part of the error probability of the bound that holds whenever sampling stops, where it is meant to stop early.
Chosen by hand: the bound for the whole sample gets as much. At 99.9 % confidence that bound is then 3.29 standard
errors below the estimate in place of 3.09, 6 % more."""

_TIMED_SHARE = 0.2
"""The same where a deadline may pass, although the samples are planned for it. Chosen by hand: 3.16 standard errors at
99.9 % confidence, 2 % more."""

_RESERVE = 0.05
"""The same where only a failure of the target would end sampling early. Chosen by hand: 3.11 standard errors at 99.9 %
confidence, 0.5 % more."""


def check_samples(samples: int) -> None:
    """Raise ParameterError where samples are too few to be split, or no number."""
    if not in_range(samples, LEAST_SAMPLES):
        raise ParameterError(f"samples must be at least {LEAST_SAMPLES} for an audit by sampling, got {samples}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTask:
    """What one pair is audited for: a guarantee, a number of samples per input, an error probability.

    ``most_selected`` limits the samples per input that choose the event; ``timed`` says that a deadline may end
    sampling at any time, ``asked`` how many samples per input there would be without it, and ``at_most`` that nobody
    asked for as many. ``may_fail`` says that the target may end sampling by failing, after which what was drawn before
    still counts.
    """

    guarantee: Guarantee
    samples: int
    alpha: float
    stop_early: bool = False
    timed: bool = False
    most_selected: int = _MOST_SELECTED
    asked: int = 0
    at_most: bool = False
    may_fail: bool = False

    @property
    def selection(self) -> int:
        """Samples per input that choose the event."""
        least = min(LEAST_SAMPLES // 5, max(self.samples // 2, LEAST_SELECTED))
        beyond = max(self.samples / _MANY, 1.0)
        share = _SELECTION_SHARE * beyond ** (_MANY_POWER - 1)
        return min(max(least, int(self.samples * share)), self.most_selected)

    @property
    def final(self) -> int:
        """Samples per input that bound its probabilities."""
        return self.samples - self.selection

    def round_size(self, final: int) -> int:
        """Outputs per input of a round of the final sample, at most."""
        return min(CHUNK, max(FIRST_ROUND, -(-final // _ROUNDS))) if self.may_fail else CHUNK

    @property
    def test(self) -> FinalTest:
        """The test that these samples make."""
        return FinalTest(self.guarantee, self.final, self.alpha)

    @property
    def sequential_share(self) -> float:
        """Part of the error probability that the bound gets which holds at all times."""
        if self.stop_early:
            return _SEQUENTIAL_SHARE
        if self.timed:
            return _TIMED_SHARE
        return _RESERVE if self.may_fail else 0.0
