"""Gross violations from a few hundred outputs: bets whose events follow what was seen before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpaudit.auditors.blackbox.alone import check_drawn_alone
from dpaudit.auditors.blackbox.pair import PairBound
from dpaudit.auditors.blackbox.tasks import PairTask
from dpaudit.auditors.learning.counts import Choice, FinalTest, ThresholdEvent
from dpaudit.auditors.learning.selection import select_events
from dpaudit.auditors.outputs.column_words import PLAIN
from dpaudit.auditors.outputs.forms import alike, concatenated
from dpaudit.auditors.sampling.order import MOST_LOOKS, check_independent, of_calls
from dpaudit.auditors.sampling.pace import clock
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.claims.inputs import Pair
from dpaudit.statistics import NO_HITS, PairBet, PairHits, best_bets, detection_limit, joint_bets, lines_above

EARLY_PAIRS = 8
"""Most pairs that are looked at before the search. Chosen by hand."""

_ALPHA_SHARE = 0.5
"""Part of the error probability that goes to the bets. Measured: with a quarter, two Laplace answers in place of one
took 497 outputs per input in the mean of 41 seeds, and with a half 462 (benchmarks/early.md). By this alone, the bound
for the whole sample is 3.29 standard errors below the estimate at 99.9 % confidence in place of 3.09."""

_FIRST = 50
"""Outputs per input from which the first events are chosen, and the fewest of a round. Chosen by hand: fewer choose
events by luck."""

_GROWTH = 8
"""A round has one over this part of the outputs before it: small enough to stop soon after the evidence suffices.
Measured: with 4, two Laplace answers took 538 outputs in place of 497, in the same runs."""

_MOST = 5000
"""Most outputs per input for the bets, before the audit goes on with larger samples. Chosen by hand: larger samples
show what these do not, at less cost for each output."""

_MOST_SHARE = 0.25
"""The same as a part of the samples. Chosen by hand: three quarters are left where the bets refute nothing."""

_PARTS = (1.0, 0.6, 0.3)
"""Parts of the best stake that are bet, an equal amount of wealth on each: events chosen by few outputs are worth less
than these outputs say. Chosen by hand; whichever turns out best loses a factor of three, the others being lost."""

_LEADING = 0.5
"""Part of the wealth that goes to the pair that seems worst, where there are several. Chosen by hand: if it is, the
others cost a factor of two."""

_TIME_SHARE = 0.3
"""Part of the time left that bets may take where there is a deadline. Chosen by hand: most of it is left where they
refute nothing."""

_JUDGED = 400
"""Fewest outputs per input that events are chosen for, so that those of tiny probability are left to larger samples.
Chosen by hand."""

_THRESHOLDS = 32
"""Thresholds, at most, among which that of an opposite event is chosen. Chosen by hand, for time."""

_UNKNOWN = (0.5, 0.5)
"""Probabilities by which nothing is bet on an event."""

_ROUNDING = 1e-12
"""Part of the wealth that counts as none, where all was meant to be bet: rounding leaves about 1e-16."""

_ABOVE = 1e-6
"""Part of the claimed value, or of 1, by which the first value that is tested lies above the claimed one: a mechanism
that meets its claim with equality may exceed it by rounding. Chosen by hand, far above rounding and far below what
outputs show."""

_STEP = 0.01
"""Distance of the values by which a refutation is turned into a bound, relative to the claimed value. Chosen by hand: a
bound is a hundredth of the claimed value too low, at most."""

_LEAST_STEP = 0.001
"""Least distance of these values, where the claimed value is small or 0. Chosen by hand."""

_MOST_STEPS = 2000
"""How many of these values there are, about: up to 21 times the claimed value. Chosen by hand, for time; the first that
is not refuted ends them."""

_FACTORS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
"""Factors of the claimed value that are tested in place of these, for guarantees other than approximate differential
privacy, of which every value takes long. Chosen by hand, for time."""


@dataclass(frozen=True, slots=True)
class _Bets:
    """What is bet in one round on the events of one score: probabilities by which the stakes are set, then the counts.

    Attributes
    ----------
    pair, choice, candidate
        The pair of inputs, the event, and which of the events chosen it is.
    opposite
        The event of the same score that seems likelier on the other input; None where none breaks the guarantee.
    expected
        Probabilities of the event on its likelier input and on the other; and those of the opposite one on its own
        likelier input, which is the other, and on the first.
    wealth
        Part of the wealth that is bet.
    hits, trials
        Occurrences of both in the round, and its outputs per input.
    """

    pair: Pair
    choice: Choice
    candidate: int
    opposite: ThresholdEvent | None
    expected: tuple[tuple[float, float], tuple[float, float]]
    wealth: float = 0.0
    hits: PairHits = NO_HITS
    trials: int = 0

    def settled(self, outputs: tuple[np.ndarray, np.ndarray], wealth: float) -> _Bets:
        """Return the bets with what a round has shown."""
        ordered = outputs[::-1] if self.choice.reverse else outputs
        hits = [
            [0 if event is None else int(np.count_nonzero(event.contains(side))) for side in ordered]
            for event in (self.choice.event, self.opposite)
        ]
        counted = PairHits(*((on_first, on_other) for on_first, on_other in hits))
        return replace(self, wealth=wealth, hits=counted, trials=len(outputs[0]))


@dataclass(slots=True)
class _Seen:
    """A pair of inputs with the outputs so far."""

    pair: Pair
    number: int
    outputs: tuple[np.ndarray, np.ndarray]
    calls: list[int] = field(default_factory=lambda: [_FIRST])
    growth: float = 0.0
    bets: list[_Bets] = field(default_factory=list)


class EarlyTest:
    """A test of a claim that may end after every round of a few outputs.

    Parameters
    ----------
    sampler
        Sampler of the mechanism.
    task
        The audit of which this test is the beginning; half of its error probability goes to the test.

    Notes
    -----
    **Guarantee.** With the error probability given to it, no claim that holds is refuted, and no bound is above the
    smallest value of the forced parameter that holds, whenever sampling stops. In every round, the pairs, the events,
    the stakes and their parts of the wealth depend on outputs of earlier rounds only, so that under a guarantee that
    holds every factor has a mean of at most 1 given the past (`PairBet`), and the wealth, which begins with 1, ever
    reaches 1 / alpha with probability at most alpha (Ville). The bound is found by the same bets against larger
    values, on a grid that is fixed beforehand: it is the last value before the first one that is not refuted, so that
    it can be too large only where the bets against the first value of the grid that holds have reached 1 / alpha.
    **Checked against** the rate of false refutations of mechanisms that meet their claim exactly.

    References
    ----------
    Turner, Ly and Grünwald, "Generic E-variables for exact sequential k-sample tests that allow for optional stopping",
    Journal of Statistical Planning and Inference 230, 2024. Learned events in place of given ones: arXiv 2509.07055.
    """

    def __init__(self, sampler: Sampler, task: PairTask) -> None:
        self._sampler, self._task = sampler, task
        self._threshold = -math.log(task.alpha * _ALPHA_SHARE)
        self._lines = lines_above(_first_value(task.guarantee))
        self._rounds: list[list[_Bets]] = []
        self._log_wealth = 0.0
        self._naming = PLAIN
        self.looked_at: list[Pair] = []
        self.drawn = 0

    @property
    def task_after(self) -> PairTask:
        """The audit of what is left of the error probability and of the samples."""
        task, spent = self._task, -(-self.drawn // 2)
        return replace(
            task, alpha=alpha_after(task.alpha), samples=task.samples - spent, asked=max(task.asked - spent, 0)
        )

    def run(self, pairs: Sequence[Pair]) -> tuple[Pair, PairBound] | None:
        """Draw in rounds until the claim is refuted; return the pair that shows it, or nothing.

        Of several pairs, those that promise most stay after each round.

        Raises
        ------
        OutOfTimeError
            The deadline passed first.
        CheckError
            The outputs that refute the claim depend on each other beyond chance.
        """
        most = 2 * min(_MOST, int(self._task.samples * _MOST_SHARE))
        begun = self.drawn
        seen = []
        # Half of the outputs, at most, only choose the first events.
        for pair in pairs[: most // (4 * _FIRST)]:
            for data in pair:
                self._sampler.check_deterministic(data)
            self.looked_at.append(pair)
            number = len(self.looked_at)
            seen.append(_Seen(pair, number, self._draw(pair, _FIRST, number, 0)))
        if not seen:
            return None
        until = clock() + _TIME_SHARE * self._sampler.pace.left if self._task.timed else None
        took = 0.0
        for number in range(1, most):
            if until is not None and clock() + took >= until:
                break
            before = clock()
            for each in seen:
                self._choose(each, number, until)
            # The next choice is made from more outputs.
            took = clock() - before
            seen.sort(key=lambda each: -each.growth)
            seen = seen[: max(1, (len(seen) + 1) // 2)] if number > 1 else seen
            size = max(_FIRST, len(seen[0].outputs[0]) // _GROWTH)
            if self.drawn - begun + 2 * size * len(seen) > most:
                break
            refuted = self._bet(seen, size, number)
            if refuted is not None:
                return refuted
        return None

    def _draw(self, pair: Pair, size: int, number: int, at: int) -> tuple[np.ndarray, np.ndarray]:
        sampler = self._sampler.about(*pair)
        x, y = sampler.draw_all([(data, size, ("early", number, at, side)) for side, data in enumerate(pair)])
        self.drawn += 2 * size
        self._naming = sampler.naming
        x, y = alike(x, y)
        return x, y

    def _choose(self, seen: _Seen, number: int, until: float | None) -> None:
        """Choose the next bets on a pair from its outputs so far."""
        self._sampler.keep_form()
        rows = len(seen.outputs[0])
        test = FinalTest(self._task.guarantee, max(_JUDGED, rows // _GROWTH), self._task.alpha, provisional=True)
        choices = select_events(*seen.outputs, test, blindness=False, until=until).choices
        bets = [self._on(seen, choice, number) for number, choice in enumerate(choices)]
        growth, _ = _bets_on(self._lines, bets)
        seen.growth = float(growth.max())
        worth = np.flatnonzero(growth > 0)
        seen.bets = [replace(bets[i], wealth=1 / len(worth)) for i in worth]

    def _on(self, seen: _Seen, choice: Choice, candidate: int) -> _Bets:
        """Bets on an event, and on the opposite one of the same score that is worth most by the outputs so far."""
        event = choice.event
        x, y = (event.scores(side) for side in seen.outputs)
        first, other = (y, x) if choice.reverse else (x, y)
        expected = tuple(_rate(np.count_nonzero(event.contains_scores(side)), len(x)) for side in (first, other))
        every = np.concatenate([x, y])
        beyond = np.unique(every[~event.contains_scores(every)])
        beyond = beyond[np.unique(np.linspace(0, len(beyond) - 1, min(_THRESHOLDS, len(beyond))).astype(int))]
        opposites = [replace(event, threshold=float(at), above=not event.above) for at in beyond]
        if not opposites:
            return _Bets(seen.pair, choice, candidate, None, (expected, _UNKNOWN))
        inside = [_counts_within(side, beyond, above=not event.above) for side in (other, first)]
        on_other, on_first = (_rate(hits, len(x)) for hits in inside)
        growth, _ = best_bets(self._lines, on_other, on_first)
        best = int(np.argmax(growth))
        if growth[best] <= 0:
            return _Bets(seen.pair, choice, candidate, None, (expected, _UNKNOWN))
        of_opposite = float(on_other[best]), float(on_first[best])
        return _Bets(seen.pair, choice, candidate, opposites[best], (expected, of_opposite))

    def _bet(self, seen: list[_Seen], size: int, number: int) -> tuple[Pair, PairBound] | None:
        """Draw a round, and settle the bets on it."""
        others = (1 - _LEADING) / max(len(seen) - 1, 1)
        parts = [1.0] if len(seen) == 1 else [_LEADING] + [others] * (len(seen) - 1)
        settled: list[_Bets] = []
        for each, part in zip(seen, parts, strict=True):
            fresh = self._draw(each.pair, size, each.number, number)
            settled += [bet.settled(fresh, part * bet.wealth) for bet in each.bets]
            each.calls.append(size)
            each.outputs = tuple(concatenated(both) for both in zip(each.outputs, fresh, strict=True))  # type: ignore[assignment]
        self._rounds.append(settled)
        self._log_wealth += _log_wealth([settled], self._lines)
        if self._log_wealth < self._threshold:
            return None
        for each in seen:
            self._check_order(each, number)
        return self._refutation(settled)

    def _check_order(self, seen: _Seen, number: int) -> None:
        """Raise CheckError where outputs on a pair depend on each other; there might have been an end each round."""
        ends = np.cumsum(seen.calls).tolist()
        for outputs, data in zip(seen.outputs, seen.pair, strict=True):
            oddity, _ = of_calls(np.split(outputs, ends[:-1]), self._sampler.width, naming=self._naming)
            check_independent(oddity, self._sampler.name, data, looks=number)

    def _refutation(self, settled: list[_Bets]) -> tuple[Pair, PairBound]:
        task, guarantee = self._task, self._task.guarantee
        best = max(settled, key=lambda bet: _log_wealth([[replace(bet, wealth=1.0)]], self._lines))
        choice = best.choice
        counted = [(hits, best.trials) for hits in best.hits.event]
        check_drawn_alone(
            self._sampler.about(*best.pair),
            best.pair,
            choice.event,
            counted[::-1] if choice.reverse else counted,
            looks=MOST_LOOKS * len(settled),
        )
        rate, complement = choice.rates
        limit = detection_limit(guarantee, rate, task.final, complement=complement, alpha=alpha_after(task.alpha))
        bound = PairBound(
            value=self._bound(),
            detection_limit=limit,
            event=choice.event.describe(self._naming),
            reverse=choice.reverse,
            hits=best.hits.event,
            trials=(best.trials, best.trials),
            p=best.hits.event[0] / best.trials,
            q=best.hits.event[1] / best.trials,
            samples=self.drawn,
            stopped_early=True,
            recipe=choice.event.to_json(),
            candidate=best.candidate,
            rounds=len(self._rounds),
        )
        return best.pair, bound

    def _bound(self) -> float:
        """Last value of the grid before the first one that the bets so far do not refute."""
        first = _first_value(self._task.guarantee)
        step = max(_STEP * first.claimed, _LEAST_STEP)
        bound, values = first.claimed, [first.claimed + number * step for number in range(1, _MOST_STEPS)]
        if not isinstance(first, ApproximateDP):
            values = [first.claimed * factor for factor in _FACTORS]
        for value in values:
            lines = lines_above(first.at(value))
            if _log_wealth(self._rounds, lines) < self._threshold:
                break
            bound = value
        return bound


def _rate(hits: Any, rows: int) -> Any:
    """Return about the probability of an event with so many hits; never 0 or 1."""
    return (hits + 0.5) / (rows + 1)


def _counts_within(scores: np.ndarray, thresholds: np.ndarray, *, above: bool) -> np.ndarray:
    """Return how many scores are at least, or at most, each threshold."""
    ordered = np.sort(scores)
    if above:
        return len(scores) - np.searchsorted(ordered, thresholds, side="left")
    return np.searchsorted(ordered, thresholds, side="right")


def alpha_after(alpha: float) -> float:
    """Error probability that the bets leave to what comes after them."""
    return alpha * (1 - _ALPHA_SHARE)


def _first_value(guarantee: Guarantee) -> Guarantee:
    """The guarantee whose violation refutes the claimed one by more than rounding."""
    return guarantee.at(guarantee.claimed + _ABOVE * max(1.0, guarantee.claimed))


def _bets_on(lines: np.ndarray, bets: Sequence[_Bets]) -> tuple[np.ndarray, list[PairBet]]:
    """Stakes by what is expected, with the mean logarithm of the factor of one output on each input."""
    event, opposite = np.array([bet.expected for bet in bets]).transpose(1, 2, 0)
    return joint_bets(lines, event, opposite)


def _log_wealth(rounds: Sequence[Sequence[_Bets]], lines: np.ndarray) -> float:
    """Logarithm of the wealth after rounds of bets; what is not bet in a round stays as it is."""
    every = [each for settled in rounds for each in settled]
    if not every:
        return 0.0
    bets = iter(_bets_on(lines, every)[1])
    wealth = 0.0
    for settled in rounds:
        kept = 1 - sum(each.wealth for each in settled)
        gains = [math.log(kept)] if kept > _ROUNDING else []
        for each in settled:
            bet, share = next(bets), math.log(each.wealth / len(_PARTS))
            gains += [share + bet.scaled(part).log_gain(each.hits, each.trials) for part in _PARTS]
        wealth += float(np.logaddexp.reduce(gains))
    return wealth
