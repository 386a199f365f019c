"""Choosing the event: scores compete on one part of the samples, and thresholds on another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, cast

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtri

from dpaudit.auditors.allotment import allotted
from dpaudit.auditors.columnwords import PLAIN, Naming
from dpaudit.auditors.outputs import Outputs, OutputsLike, as_outputs
from dpaudit.auditors.planted import identifies, planted
from dpaudit.auditors.scorefamilies import FAMILIES, Allowance, Family, Form
from dpaudit.auditors.scores import ColumnScore, CombinedScore, OutcomeScore, Score, score_from_json, scores_of
from dpaudit.auditors.smoothing import fitted_curve
from dpaudit.auditors.threads import one_thread
from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.errors import CheckError
from dpaudit.statistics import bound_from_counts

_THRESHOLDS = 1000
"""Ranks from either end at which the thresholds of a score are looked at, evenly by their logarithm, and half as many
evenly by rank. Chosen by hand, for time: neighbours differ by one or two per cent of the outputs beyond them. With 500
or 2,000, the mean in benchmarks/sensitivity.md changes by 0.002 of the oracle's bound at most, one row by up to
0.090."""

_FINALISTS = 3
"""Families that learn from all rows where there are many, of those that did best on few: so many by their bound, and so
many by how far they tell the inputs apart; and scores that trees build on. Chosen by hand, for time; it was 2 until
weak effects were looked for in common events."""

_CELLS = 4_000_000
"""Numbers, per input, that a score is fitted and judged on in the end. Chosen by hand, for time."""

_FEW_CELLS = 1_000_000
"""Numbers, per input, that a score is fitted and judged on to compete with others. Measured: with 200,000, weak effects
were lost; with a fifth of the rows, one of three bounds for Laplace noise shifted in 5 of 20 columns fell from 0.116 to
0.047 (benchmarks/README.md)."""

_LEAST_ROWS = 10_000
"""Outputs that these numbers make, at least, however wide they are. Chosen by hand; it was 20,000 before."""

_MOST_ROWS = 200_000
"""Outputs that they make, at most. What looks for rare outputs has no limit. Chosen by hand, for time."""

_BAND_ERROR = 0.05
"""Probability, about, with which the lower bound of some event looked at is above the truth (see `_caution`). The usual
level of a test, chosen by hand. With 0.025 or 0.1, the mean in benchmarks/sensitivity.md changes by 0.003 of the
oracle's bound at most, one row by up to 0.171."""

_SIDES = 4
"""Events of a threshold: above or below it, and likelier on the first or on the second input. Not a matter of
choice."""

_RARE = 0.7
"""Standard errors of caution for a rare event, which is tested beside the main one. Chosen by hand, far below those of
the band: it takes no more than a share of the error probability. With 0.35 or 1.4, the mean in
benchmarks/sensitivity.md changes by 0.004 of the oracle's bound at most, one row by up to 0.133."""

_LITTLE_CAUTION = 1.0
"""Standard errors of caution where no event stands out, and no smooth log-ratio says which is best. Chosen by hand.
With 0.5 or 2, the mean in benchmarks/sensitivity.md changes by 0.003 of the oracle's bound at most, one row by up to
0.098."""

_COMMON_SHARE = 0.2
"""Least part of the outputs that an event and its complement have there. Chosen by hand: a weak effect shows in common
events. With 0.1 or 0.4, the mean in benchmarks/sensitivity.md changes by 0.003 of the oracle's bound at most, one row
by up to 0.098."""

_LEAST_THRESHOLDS = 16
"""Thresholds that a score must have for a smooth log-ratio along it. Chosen by hand: a curve through fewer says little
beyond their counts. With 8 or 32, the mean in benchmarks/sensitivity.md changes by 0.002 of the oracle's bound at most,
one row by up to 0.031."""

_LEAST_COMMON = 0.1
"""Least part of the outputs that are in an event which a smooth log-ratio advises, where no event stands out. Measured:
with 0.3, Laplace and geometric noise gained up to 0.05 of the oracle's bound, and Gaussian and Gumbel noise lost 0.11
to 0.16 (benchmarks/README.md). With 0.05 or 0.2, the mean in benchmarks/sensitivity.md changes by 0.004 of the oracle's
bound at most, one row by up to 0.066."""

_MOST_TOGETHER = 3
"""Events of one score that are tested together, at most. Chosen by hand: a half-line, that of the other direction, and
one farther out in the tail. Neither 2 nor 4 changes a bound of benchmarks/sensitivity.md by 0.1 %."""

_LEAST_SMOOTHED = 50.0
"""Occurrences, at least, of an event that a smooth log-ratio advises, as its shapes say little of what is rarer. Tuned
on seeds 0 to 39 of Laplace, geometric and Gaussian noise (benchmarks/README.md). With 25 or 100, the mean in
benchmarks/sensitivity.md changes by 0.002 of the oracle's bound at most, one row by up to 0.134."""

_LEAST_LEARNED = 0.7
"""The same where the score is learned, in units of the root of the outputs, `_COMMON` at most: its extremes are the
luck of those that taught it. Chosen by hand. With 0.35 or 1.4, the mean in benchmarks/sensitivity.md changes by 0.003
of the oracle's bound at most, one row by up to 0.059."""

_LEAST_CLEAR = 100
"""The same, at most, where an event stands out. Measured: with 400, counts alone decided in sparse vector 6, which had
0.88 to 0.99 of the oracle's bound (`git log -S _LEAST_CLEAR`). With 50 or 200, the mean in benchmarks/sensitivity.md
changes by 0.001 of the oracle's bound at most, one row by up to 0.029."""

_LITTLE_AMISS = 0.05
"""Part of a log-ratio by which the smooth one may be off, besides luck, where an event stands out: many outputs tell it
from any smooth one. Chosen by hand; no error was allowed before (see `_LEAST_CLEAR`). With 0.025 or 0.1, the mean in
benchmarks/sensitivity.md changes by 0.006 of the oracle's bound at most, one row by up to 0.171."""

_AGAINST_LEARNED = 4.0
"""Where no event stands out: how many times likelier the counts must be by a learned score than by one that is not, for
both to get as much of the error probability. Chosen by hand; it was 5 before. Neither 2 nor 8 changes a bound of
benchmarks/sensitivity.md by 0.1 %."""

_LEAST_SHARE = 0.15
"""Share of the error probability below which an event gets none there. Chosen by hand: it would cost the other event
more than it may gain. Neither 0.075 nor 0.3 changes a bound of benchmarks/sensitivity.md by 0.1 %."""

_MORE_CAUTION = 1.0
"""Standard errors by which an event must stand out more for no common one to be tested beside it. Chosen by hand. With
0.5 or 2, the mean in benchmarks/sensitivity.md stays, and one row changes by up to 0.011 of the oracle's bound."""

_MUCH_COMMONER = 2.0
"""How many times commoner that one must be, where it is of the same score. Chosen by hand: events that differ by less
say nearly the same. Neither 1 nor 4 changes a bound of benchmarks/sensitivity.md by 0.1 %."""

_WORTH_ITS_COST = 3.0
"""What another event must promise above the main one, times what testing it takes from the bound of the main one.
Chosen by hand: of several promises the largest is too large by luck. With 1.5 or 6, the mean in
benchmarks/sensitivity.md changes by 0.003 of the oracle's bound at most, one row by up to 0.097."""

_WORTH_TESTING = 0.02
"""The same as a part of the bound of the main one. Chosen by hand. With 0.01 or 0.04, the mean in
benchmarks/sensitivity.md stays, and one row changes by up to 0.002 of the oracle's bound."""

_HALF_A_HIT = 0.5
"""What stands for the occurrences on the other input of an event that never occurred there: Jeffreys' prior. With 0.25
or 1, the mean in benchmarks/sensitivity.md stays, and one row changes by up to 0.006 of the oracle's bound."""

_LEAST_SEEN = 3
"""Occurrences from which on another event is tested; and, on the other input, from which on a smooth log-ratio may take
the place of the counts. Chosen by hand. With 2 or 4, the mean in benchmarks/sensitivity.md stays, and one row changes
by up to 0.002 of the oracle's bound."""

_LEAST_DECISIVE = 6
"""Occurrences from which on luck hardly explains that an event never occurred on the other input: of an event as likely
on both, none of six is there with probability 1/64. Neither 5 nor 7 changes a bound of benchmarks/sensitivity.md by 0.1
%."""

_TO_COMPARE = 1.25
"""Standard errors of caution by which families of scores are ranked that have learned from few rows. Chosen by hand:
the band of all events would leave nothing to rank where effects are weak."""

_CHEAP_ENOUGH = 0.01
"""Part of the largest promise by which another may fall short of it and count as equal, so that the score that costs
less is taken. Chosen by hand. With 0.005 or 0.02, the mean in benchmarks/sensitivity.md stays, and one row changes by
up to 0.005 of the oracle's bound."""

_AS_GOOD = 0.003
"""The same for thresholds of one score, of which the strictest is taken: what was not seen yet may be inside the
others. Chosen by hand. With 0.0015 or 0.006, the mean in benchmarks/sensitivity.md changes by 0.003 of the oracle's
bound at most, one row by up to 0.098."""

_COMMON = 400
"""Occurrences on both inputs from which on a fitted line may be trusted instead of the counts; and those that events of
learned scores need at most. Chosen by hand: counts are then known to 5 %. With 200 or 800, the mean in
benchmarks/sensitivity.md stays, and one row changes by up to 0.002 of the oracle's bound."""

_CLOSE = 2.0
"""Standard errors of a count by which it may be off a fitted line. Chosen by hand: chance exceeds it once in 22 times.
With 1 or 4, the mean in benchmarks/sensitivity.md stays, and one row changes by up to 0.005 of the oracle's bound."""

_LEAST_PLANTED = 1.0
"""Epsilon of a planted difference, at least. Chosen by hand, so that a few thousand outputs show it."""

_MOST_PLANTED = 3.0
"""Epsilon of a planted difference, at most: as claimed between these. Chosen by hand: a larger one would show where the
claimed one is hidden."""

_SHARE_OF_COUNTS = 0.25
"""Part of the error probability of an event that stands out by its counts, beside a rarer one by a smooth log-ratio.
Chosen by hand: the best of several smooth log-ratios promises too much by luck, which commoner events hardly do."""

SHARE_OF_OTHERS = 0.12
"""Part of the error probability of each event that is tested because it promises more than the main one. Chosen by
hand; it was 0.15 while there were two such events in place of three. With 0.06 or 0.24, the mean in
benchmarks/sensitivity.md changes by 0.004 of the oracle's bound at most, one row by up to 0.133."""

_SHARE_OF_LUCK = 0.03
"""The same where no event stands out, so that luck explains what it promises. Chosen by hand. With 0.015 or 0.06, the
mean in benchmarks/sensitivity.md stays, and one row changes by up to 0.009 of the oracle's bound."""

_SHARE_OF_COMMON = 0.5
"""Part of a common event beside one that stands out by little. Chosen by hand: either may be the better one. With 0.25
or 0.9, the mean in benchmarks/sensitivity.md changes by 0.005 of the oracle's bound at most, one row by up to 0.062."""

MOST_CANDIDATES = 5
"""Events, at most, that are tested: the main one, those beside it, and three others at most. Witness files name
candidates up to this number. With 4 or 6, the mean in benchmarks/sensitivity.md stays, and one row changes by up to
0.002 of the oracle's bound."""

Sides = tuple[Outputs, Outputs]
"""Samples of the first and of the second input."""


@dataclass(frozen=True, slots=True)
class ThresholdEvent:
    """A set of outputs: those whose score is at least, or at most, a threshold."""

    score: Score
    threshold: float
    above: bool

    def contains(self, outputs: OutputsLike) -> np.ndarray:
        """Whether each output is in the event, shape (size,)."""
        return self.contains_scores(self.scores(outputs))

    @one_thread()
    def scores(self, outputs: OutputsLike) -> np.ndarray:
        """Score of every output, shape (size,)."""
        scores = scores_of(self.score, outputs)
        if scores.shape != (len(outputs),):
            raise CheckError(
                f"the event's score has shape {scores.shape} for {len(outputs)} outputs of shape {outputs.shape[1:]}; "
                "it belongs to outputs of another form"
            )
        return scores

    def contains_scores(self, scores: np.ndarray) -> np.ndarray:
        """Whether outputs of these scores are in the event, shape (size,)."""
        return np.asarray(scores >= self.threshold if self.above else scores <= self.threshold)

    def is_same(self, other: ThresholdEvent) -> bool:
        """Whether another event has the same score, threshold and side."""
        return self.score is other.score and (self.threshold, self.above) == (other.threshold, other.above)

    def describe(self, naming: Naming = PLAIN) -> Any:
        """Return the event in words and numbers, where the numbers of arrays have these names."""
        return self.score.describe(self.threshold, above=self.above, naming=naming)

    def to_json(self) -> dict[str, Any] | None:
        """Return what :meth:`from_json` makes the event from; None where its score can only be learned again."""
        score = self.score.to_json()
        return None if score is None else {"score": score, "threshold": self.threshold, "above": self.above}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Self:
        """Make the event again."""
        return cls(score_from_json(raw["score"]), float(raw["threshold"]), bool(raw["above"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An event with what the judging sample says of it.

    Attributes
    ----------
    event
        The event.
    reverse
        Whether it is likelier on the second input.
    predicted
        Lower bound on the forced parameter that the final sample will give, counts being a little worse than here.
    p_hits, q_hits, rows
        Occurrences in the judging sample on the likelier and on the other input, and its size per input.
    """

    event: ThresholdEvent
    reverse: bool
    predicted: float
    p_hits: int
    q_hits: int
    rows: int

    @property
    def occurrences(self) -> int:
        """Occurrences on both inputs."""
        return self.p_hits + self.q_hits


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The events that go to the final sample.

    Attributes
    ----------
    main
        The event that all samples speak for.
    beside
        Events that share the error probability with it, because the counts leave open which of them is better: others
        of its score, and a common event of another score.
    others
        Events that may prove more: one that a line fitted to its score has found, a rare one, and one that was never
        seen on the other input.
    parts_beside, share_of_others
        Parts of the error probability that the events beside the main one have of what the others leave, and that of
        each of these.
    blind
        Whether a difference planted in copies of the outputs went unnoticed (see `planted`): asked where nothing told
        the inputs apart, and where a part of the outputs identifies, which may hide more than what was seen.
    identified
        Whether a part of the outputs identifies (see `identifies`).
    left_out
        Names of the families of scores that would have taken too long.
    """

    main: Choice
    beside: tuple[Choice, ...] = ()
    others: tuple[Choice, ...] = ()
    parts_beside: tuple[float, ...] = ()
    share_of_others: float = SHARE_OF_OTHERS
    blind: bool = False
    identified: bool = False
    left_out: tuple[str, ...] = ()

    def overlooks(self, bound: float, guarantee: Guarantee) -> bool:
        """Whether a violation may be hidden from all scores, after this bound on the forced parameter.

        Where a part of the outputs identifies, it may hide one unless the claim is refuted; otherwise only where
        nothing was told apart.
        """
        return self.blind and (not guarantee.exceeds(bound) if self.identified else bound <= 0)

    @property
    def choices(self) -> list[Choice]:
        """All of them, the main one first."""
        return [self.main, *self.beside, *self.others]

    @property
    def shares(self) -> list[float]:
        """Parts of the error probability, in this order."""
        rest = 1 - self.share_of_others * len(self.others)
        parts = [1 - sum(self.parts_beside), *self.parts_beside]
        return [*(rest * part for part in parts), *(self.share_of_others for _ in self.others)]


@dataclass(frozen=True, slots=True)
class FinalTest:
    """The test that will decide, for which events are chosen.

    Attributes
    ----------
    guarantee
        The claim.
    size, alpha
        Size per input of the sample that will decide, and the error probability of its bound.
    supported
        Whether outputs come with which inputs they support: what identifies them has then been made sense of.
    provisional
        Whether events are chosen again after a few more outputs: no smooth log-ratio is then worth its time.
    """

    guarantee: Guarantee
    size: int
    alpha: float
    supported: bool = False
    provisional: bool = False


@one_thread()
def select_events(
    x: OutputsLike, y: OutputsLike, test: FinalTest, *, blindness: bool = True, until: float | None = None
) -> Selection:
    """Learn scores on one half of the samples; choose among them and their thresholds on the other half.

    Parameters
    ----------
    x, y
        Samples of the two inputs, equally many.
    test
        The test that the events are for.
    blindness
        Whether to find out whether the outputs may hide a difference from all scores.
    until
        Time in seconds since the epoch by which to be ready: families of scores that take longer are left out. None
        for what any audit of this size may cost (see `Allowance`).

    Notes
    -----
    The main event is that whose bound in the final sample would be largest if the truth were at the lower end of a
    simultaneous confidence band over all events looked at (`_caution`): events that are rare, and look best by luck,
    have wide bands. Its threshold, and those of events that share the error probability with it, are chosen by a smooth
    log-ratio where that fits the counts (`fitted_curve`, `allotted`). Where no event stands out of the band, common
    ones are chosen in the same way; one is also tested beside an event that stands out by little.

    Others are tested beside it with parts of the error probability, where they promise more than these parts cost the
    main one: the best event of a score that a line relates to the log-ratio, for which counts need not be compared
    threshold by threshold, a rare one, and one that never occurred on the other input.
    """
    x, y = as_outputs(x), as_outputs(y)
    with np.errstate(over="ignore", invalid="ignore"):  # outputs may be infinite
        competition = compete(x, y, test, thorough=True, until=until)
        selection = choose_from(competition.tables, test)
        if until is None and not test.provisional:
            selection = _learned_again(selection, competition, (x, y))
    selection = replace(selection, left_out=competition.left_out)
    if not blindness:
        return replace(selection, blind=False)
    identified = not test.supported and identifies(x, y)
    blind = (selection.blind or identified) and _is_blind(x, y, test, until)
    return replace(selection, blind=blind, identified=identified)


@dataclass(frozen=True, slots=True)
class _Advice:
    """Events that are tested together, the most important one first, with the parts of the error probability of each.

    ``evidence`` is the logarithm of how many times likelier the counts are than without any difference.
    """

    evidence: float
    choices: tuple[Choice, ...]
    parts: tuple[float, ...] = (1.0,)

    @property
    def promised(self) -> float:
        """Bound that the first event promises."""
        return self.choices[0].predicted

    def beside(self, other: _Advice, part: float) -> _Advice:
        """Both, the other one with this part of the error probability."""
        parts = (*(each * (1 - part) for each in self.parts), *(each * part for each in other.parts))
        return _Advice(self.evidence, self.choices + other.choices, parts)

    def alone(self) -> _Advice:
        """The first event, with the whole error probability."""
        return _Advice(self.evidence, self.choices[:1])


def choose_from(tables: Sequence[Counts], test: FinalTest) -> Selection:
    """As :func:`select_events`, of scores that have competed; ``blind`` where no event stands out."""
    caution = _caution(tables)
    found = [table.best(test, caution) for table in tables]
    stands_out = max(choice.predicted for choice in found) > 0
    if stands_out:
        advice, share = _standing_out(_cheapest(found), tables, test, caution), SHARE_OF_OTHERS
    else:
        advice, share = _of_weak_effect(tables, test), _SHARE_OF_LUCK
    main = advice.choices[0]
    return Selection(
        main=main,
        beside=advice.choices[1:],
        parts_beside=advice.parts[1:],
        others=_others(main, tables, test, share)[: MOST_CANDIDATES - len(advice.choices)],
        share_of_others=share,
        blind=not stands_out,
    )


def _standing_out(choice: Choice, tables: Sequence[Counts], test: FinalTest, caution: float) -> _Advice:
    """Return the events to be tested where one stands out of the band.

    A smooth log-ratio advises the thresholds where it promises as much. Of an event that hardly occurs on the other
    input, the counts there do not say how large the log-ratio is. Now and then luck alone makes an event stand out: so
    a common event is tested too where the one that stands out promises less, at one more standard error, than that.
    """
    (table,) = (table for table in tables if table.score is choice.event.score)
    advice = _Advice(0.0, (choice,))
    smooth = None if choice.q_hits < _LEAST_SEEN else table.advised(test, clear=True)
    if smooth is not None and smooth.promised >= choice.predicted:
        advice = smooth
    estimate = _of_estimates(tables, test)
    if estimate is not None and estimate.promised > advice.promised * (1 + _CHEAP_ENOUGH):
        by_counts, advice, smooth = advice, estimate, estimate
        if by_counts.choices[0].occurrences > estimate.choices[0].occurrences:
            # The best of several estimates promises too much by luck, which commoner events do hardly.
            advice = smooth = estimate.alone().beside(by_counts.alone(), _SHARE_OF_COUNTS)
    common = _of_weak_effect(tables, test).alone()
    (event,) = common.choices
    main = advice.choices[0]
    if table.best(test, caution + _MORE_CAUTION).predicted <= common.promised and (
        event.event.score is not main.event.score
        or (advice is not smooth and event.occurrences > _MUCH_COMMONER * main.occurrences)
    ):
        return advice.alone().beside(common, _SHARE_OF_COMMON)
    return advice


def _of_estimates(tables: Sequence[Counts], test: FinalTest) -> _Advice | None:
    """Return events of the score that promises most of those that estimate the log-ratio, by a smooth log-ratio.

    Counts at each threshold alone hardly favour a score that tells rare outputs apart. An event that never occurred on
    the other input does not say how large its log-ratio is.
    """
    found = [table.advised(test, clear=True) for table in tables if table.score.log_ratio]
    suited = [advice for advice in found if advice is not None and advice.choices[0].q_hits]
    return max(suited, key=lambda advice: advice.promised, default=None)


def _of_weak_effect(tables: Sequence[Counts], test: FinalTest) -> _Advice:
    """Return common events, with the parts of the error probability of each.

    Common events say most of an effect that is as small as its standard error. That of the score by which the counts
    are likeliest is tested. Learned scores are judged on fewer samples, and the best of several looks good by luck; so
    where some are learned and others are not, the best of either kind share the error probability by how likely the
    counts are by each.
    """
    most = max(table.rows for table in tables)
    given: list[_Advice] = []
    learned: list[_Advice] = []
    for table in tables:
        found = table.advised(test, least=_LEAST_COMMON)
        if found is None:
            choice = table.best(test, _LITTLE_CAUTION, least=_COMMON_SHARE)
            found = _Advice(_evidence_of_counts(choice), (choice,))
        if math.isfinite(found.promised):
            (given if table.rows == most else learned).append(found)
    if not (given or learned):
        return _Advice(0.0, (_cheapest([table.best(test, _caution(tables)) for table in tables]),))
    if not (given and learned):
        return _likeliest(given + learned)
    main, other = _likeliest(given), _likeliest(learned)
    share = float(expit(other.evidence - main.evidence - math.log(_AGAINST_LEARNED)))
    if share > 1 - _LEAST_SHARE:
        return other
    return main if share < _LEAST_SHARE else main.beside(other.alone(), share)


def _evidence_of_counts(choice: Choice) -> float:
    """Logarithm of how many times likelier the counts are than without a difference, less that of the events tried."""
    likelier = sum(hits * math.log(2 * hits / choice.occurrences) for hits in (choice.p_hits, choice.q_hits) if hits)
    return max(likelier - math.log(_SIDES * math.log2(2 * choice.rows)), 0.0)


def _likeliest(found: Sequence[_Advice]) -> _Advice:
    """Return the events of the score by which the counts are likeliest."""
    return max(found, key=lambda advice: (advice.evidence, advice.promised))


def _cheapest(found: Sequence[Choice]) -> Choice:
    """Event that promises most, or as much at less cost."""
    most = max(choice.predicted for choice in found)
    enough = most - _CHEAP_ENOUGH * abs(most)
    return min((c for c in found if c.predicted >= enough), key=lambda c: c.event.score.cost)


def _others(main: Choice, tables: Sequence[Counts], test: FinalTest, share: float) -> tuple[Choice, ...]:
    """Events whose promise is worth the share of the error probability that testing each takes from the main one."""
    part = replace(test, alpha=test.alpha * share)
    rare = max((table.best(part, _RARE) for table in tables), key=lambda choice: choice.predicted)
    fitted = [choice for table in tables if (choice := table.best_fitted(part)) is not None]
    line = max(fitted, key=lambda choice: choice.predicted) if fitted else None
    unseen = max((table.best_unseen(part) for table in tables), key=lambda choice: choice.predicted)
    found: list[Choice] = []
    for choice, caution in ((line, 0.0), (rare, _RARE), (unseen, 0.0)):
        if choice is None or choice.p_hits < _LEAST_SEEN:
            continue
        expected = _expected_of(main, test, caution)
        cost = expected - _expected_of(main, replace(test, alpha=test.alpha * (1 - share)), caution)
        if any(choice.event.is_same(each.event) for each in found):
            continue
        # What is found already is not promised again. Where luck explains all of it, each may be the one that is real.
        known = [] if share == _SHARE_OF_LUCK else [each.predicted for each in found]
        reached = max([expected, 0.0, *known])
        gained = choice.predicted - reached
        if choice is unseen and choice.q_hits == 0 and choice.p_hits >= _LEAST_DECISIVE:
            # What the other input never gives is as likely as what it seldom gives.
            gained = (max(gained, 0.0) + max(_never_elsewhere(choice, part) - reached, 0.0)) / 2
        if gained > _WORTH_ITS_COST * cost and gained > _WORTH_TESTING * reached:
            found.append(choice)
    return tuple(found)


def _never_elsewhere(choice: Choice, test: FinalTest) -> float:
    """Bound to be expected where an event never occurs on the other input."""
    hits = min(round(choice.p_hits * test.size / choice.rows), test.size)
    return bound_from_counts(test.guarantee, (hits, 0), (test.size, test.size), alpha=test.alpha)


def fits(expected: Any, hits: Any) -> Any:
    """Whether counts are as many as a line has them expected, but for chance."""
    return np.abs(np.log((expected + 0.5) / (hits + 0.5))) * np.sqrt(hits + 1) <= _CLOSE


def _is_blind(x: Outputs, y: Outputs, test: FinalTest, until: float | None) -> bool:
    """Whether a planted difference, about as large as the claim allows, is not told from none."""
    allowed = test.guarantee.claimed if test.guarantee.by_ratio else _LEAST_PLANTED
    with np.errstate(over="ignore", invalid="ignore"):  # outputs may be as large as numbers can be
        copies = planted(x, y, min(max(allowed, _LEAST_PLANTED), _MOST_PLANTED))
    if copies is None:
        return False
    pure = FinalTest(ApproximateDP(0.0), test.size, test.alpha)
    with np.errstate(over="ignore", invalid="ignore"):
        contest = _Contest(*copies, pure, thorough=True, until=until)
        # All families count as looked at, although the first that notices the difference is enough.
        caution = _caution_for([len(copies[0])] * len(contest.families))
        unnoticed = all(table.best(pure, caution).predicted <= 0 for _, table in contest.tables())
    # Families that there was no time for might have noticed it.
    return unnoticed and not (until is not None and contest.allowance.left_out)


@dataclass(frozen=True, slots=True)
class Competition:
    """Scores that have competed, in the order of their families.

    Attributes
    ----------
    tables
        Counts of their events.
    form, families
        What the outputs look like, and the family of every score.
    left_out
        Names of families that took too long.
    """

    tables: list[Counts]
    form: Form
    families: tuple[Family, ...] = ()
    left_out: tuple[str, ...] = ()


def compete(x: Outputs, y: Outputs, test: FinalTest, *, thorough: bool, until: float | None = None) -> Competition:
    """Scores learned on one half, with counts of their events on the other; quick ones only unless ``thorough``."""
    contest = _Contest(x, y, test, thorough=thorough, until=until)
    tried = sorted(contest.tables(), key=lambda item: item[0])
    tables = [table for _, table in tried] or [Counts.of(_anything(), contest.judge)]
    families = tuple(contest.families[place] for place, _ in tried)
    return Competition(tables, contest.form, families, tuple(contest.allowance.left_out))


def _learned_again(selection: Selection, competition: Competition, sides: Sides) -> Selection:
    """Let scores whose families gain by it learn from all samples, also from those by which they were chosen.

    Their events keep their parts of the samples that judged.
    """
    for family, table in zip(competition.families, competition.tables, strict=False):
        if family.again and any(choice.event.score is table.score for choice in selection.choices):
            score = family.fit(competition.form, *sides)
            if score is not None:
                judge = (side[len(side) - table.rows :] for side in sides)
                ordered = np.sort(np.concatenate([scores_of(score, side) for side in judge]))
                moved = partial(_moved, table=table, score=score, ordered=ordered)
                selection = replace(
                    selection,
                    main=moved(selection.main),
                    beside=tuple(map(moved, selection.beside)),
                    others=tuple(map(moved, selection.others)),
                )
    return selection


def _moved(choice: Choice, table: Counts, score: Score, ordered: np.ndarray) -> Choice:
    """Event of another score in place of that of a table, with as many of its samples inside."""
    if choice.event.score is not table.score:
        return choice
    inside = sum(int(np.count_nonzero(choice.event.contains_scores(side))) for side in table.scores)
    at = len(ordered) - inside if choice.event.above else inside - 1
    return replace(choice, event=replace(choice.event, score=score, threshold=float(ordered[at])))


class _Contest:
    """Families of scores that are tried in the order of what they cost, as long as the allowance lasts."""

    def __init__(self, x: Outputs, y: Outputs, test: FinalTest, *, thorough: bool, until: float | None) -> None:
        half = len(x) // 2
        self.test = test
        self.both = x, y
        self.learn, self.judge = (x[:half], y[:half]), (x[half:], y[half:])
        self.form = Form.of(*self.learn, thorough=thorough)
        self.families = [family for family in FAMILIES if family.suits(self.form)]
        self.allowance = Allowance.of(2 * (test.size + len(x)), self.form.width, until)
        self._rows = min(_MOST_ROWS, max(_LEAST_ROWS, _CELLS // self.form.width))
        few = max(_LEAST_ROWS, _FEW_CELLS // self.form.width)
        self._few, self._quick = (_first(_first(sides, self._rows), few) for sides in (self.learn, self.judge))

    def tables(self) -> Iterator[tuple[int, Counts]]:
        """Yield the place of every family that has learned a score, and counts of its events."""
        made: list[tuple[int, Counts]] = []
        for family in sorted(self._entrants(), key=lambda family: (family.combines, self._work(family))):
            work = self._work(family)
            if not self.allowance.fits(family, work):
                continue
            table = self.allowance.spend(work, partial(self._table, family, made))
            if table is not None:
                made.append((self.families.index(family), table))
                yield made[-1]

    def _entrants(self) -> list[Family]:
        """Families that compete: of those for which few outputs do, the best there, where there are many outputs."""
        whole = [family for family in self.families if family.rare or family.combines]
        others = [family for family in self.families if family not in whole]
        if min(self._rows, len(self.learn[0])) > 2 * len(self._few[0]) and len(others) > _FINALISTS:
            others = _finalists(self.form, others, self._few, self._quick, self.test)
        return whole + others

    def _work(self, family: Family) -> float:
        """Units of work of a family."""
        rows = len(self.learn[0]) if family.rare else min(self._rows, len(self.learn[0]))
        return family.work(self.form, 2 * (rows + len(self.judge[0])))

    def _table(self, family: Family, made: list[tuple[int, Counts]]) -> Counts | None:
        """Counts of the events of a score that a family learns; None where it has nothing to say."""
        if family.combines:
            return self._combined(family, [table for _, table in sorted(made, key=lambda item: item[0])])
        score = family.fit(self.form, *(self.learn if family.rare else _first(self.learn, self._rows)))
        if score is None:
            return None
        # What is not learned may be judged on all samples.
        return Counts.of(score, self.judge if family.learns(self.form) else self.both)

    def _combined(self, family: Family, tables: list[Counts]) -> Counts | None:
        """As :meth:`_table`, where a quick attempt shows that the family sees more than the scores tried so far."""
        if not tables:
            return None
        caution = _caution(tables)
        best = sorted(tables, key=lambda table: -table.best(self.test, caution).predicted)[:_FINALISTS]
        others = tuple(table.score for table in best)
        probe = cast("CombinedScore | None", family.fit(self.form, *self.learn, others, probe=True))
        if probe is None:
            return None
        found = [
            probe.of_features(side, [self._quick_scores(table, place) for table in best])
            for place, side in enumerate(self._quick)
        ]
        promised = Counts.counted(probe, (found[0], found[1])).best(self.test, caution).predicted
        reached = max(table.of_first(len(self._quick[0])).best(self.test, caution).predicted for table in best)
        if promised <= max(reached, 0.0) * (1 + 2 * _CHEAP_ENOUGH) + _CHEAP_ENOUGH:
            return None
        score = family.fit(self.form, *self.learn, others, probe=False)
        return None if score is None else Counts.of(score, self.judge)

    def _quick_scores(self, table: Counts, side: int) -> np.ndarray:
        """Scores of the first outputs of a side that judge; what is not learned was judged on those before them too."""
        scores = table.scores[side]
        begin = len(scores) - len(self.judge[side])
        return scores[begin : begin + len(self._quick[side])]


def _caution(tables: Sequence[Counts]) -> float:
    """Standard errors by which all events looked at may be too good at once, with probability `_BAND_ERROR` at most.

    Thresholds are nested, so that those whose events differ in size by less than a factor of two say nearly the same:
    they count as one, which makes as many of a score as the samples have binary digits. Boole's inequality over these,
    over the two sides and directions, and over the scores gives the error of each.
    """
    return _caution_for([table.rows for table in tables])


def _caution_for(rows: Sequence[int]) -> float:
    """As :func:`_caution`, of one score for each of these numbers of rows."""
    looked_at = sum(_SIDES * math.log2(2 * each) for each in rows)
    return -float(ndtri(_BAND_ERROR / looked_at))


def _first(sides: Sides, rows: int) -> Sides:
    return sides[0][:rows], sides[1][:rows]


def _finalists(form: Form, competing: list[Family], few: Sides, quick: Sides, test: FinalTest) -> list[Family]:
    """Families that do best when fitted and judged on a few samples: by their bound, and by telling apart."""
    marks: list[tuple[float, float, int]] = []
    for i, family in enumerate(competing):
        score = family.fit(form, *few)
        if score is not None:
            apart = [scores_of(score, side) for side in quick]
            # Some scores do not say which input is likelier.
            shift = abs(apart[0].mean() - apart[1].mean())
            spread = np.sqrt((apart[0].var() + apart[1].var()) / len(quick[0]))
            promised = Counts.counted(score, (apart[0], apart[1])).best(test, _TO_COMPARE).predicted
            marks.append((promised, shift / spread if spread > 0 else 0.0, i))
    kept = {i for *_, i in sorted(marks, reverse=True)[:_FINALISTS]}
    kept |= {i for *_, i in sorted(marks, key=lambda mark: -mark[1])[:_FINALISTS]}
    return [family for i, family in enumerate(competing) if i in kept]


def _anything() -> Score:
    """Score under which all outputs are alike, where nothing can be learned."""
    nothing = np.empty(0)
    return OutcomeScore("text", nothing.astype(str), nothing, nothing)


@dataclass(frozen=True, slots=True)
class Counts:
    """How often the events of a score occurred in the samples that judge it.

    Attributes
    ----------
    score, rows
        The score, and samples per input.
    thresholds
        Ascending.
    above, below
        Occurrences on either input of scores of at least, and of at most, each threshold.
    means
        Mean score of the outputs from each threshold to below the next one.
    scores
        Score of every output, in the order of the samples.
    """

    score: Score
    rows: int
    thresholds: np.ndarray
    above: tuple[np.ndarray, np.ndarray]
    below: tuple[np.ndarray, np.ndarray]
    means: np.ndarray
    scores: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, score: Score, sides: Sides) -> Self:
        """Count the events of a score."""
        return cls.counted(score, (scores_of(score, sides[0]), scores_of(score, sides[1])))

    @classmethod
    def counted(cls, score: Score, scores: tuple[np.ndarray, np.ndarray]) -> Self:
        """Count the events of a score from the scores of samples of both inputs."""
        xs, ys = (np.sort(side) for side in scores)
        merged = np.sort(np.concatenate([xs, ys]), kind="stable")
        thresholds = _spread(merged)
        starts = np.searchsorted(merged, thresholds)
        means = np.add.reduceat(merged, starts) / np.diff(np.append(starts, len(merged)))
        above, below = (
            tuple(np.searchsorted(side, thresholds, side=which) for side in (xs, ys)) for which in ("left", "right")
        )
        rows = len(xs)
        return cls(score, rows, thresholds, (rows - above[0], rows - above[1]), (below[0], below[1]), means, scores)

    def of_first(self, rows: int) -> Self:
        """Counts in the first rows alone."""
        return self.counted(self.score, (self.scores[0][:rows], self.scores[1][:rows]))

    def best(self, test: FinalTest, caution: float, *, least: float = 0.0) -> Choice:
        """Event of the largest bound to be expected, its counts being that many standard errors worse than seen.

        Only events count that at least, and at most the other, such part of the outputs is in; the prediction is
        ``-inf`` where there is none.
        """
        found = [
            self._best_of(test, caution, least, above=above, reverse=reverse)
            for above in (True, False)
            for reverse in (False, True)
        ]
        return max(found, key=lambda choice: choice.predicted)

    def best_unseen(self, test: FinalTest) -> Choice:
        """Event that promises most of those that never occurred on the other input; ``-inf`` where there is none."""
        found = []
        for above, reverse in ((True, False), (True, True), (False, False), (False, True)):
            counts = self.above if above else self.below
            p_hits, q_hits = counts[::-1] if reverse else counts
            predicted = _predicted(p_hits, q_hits + _HALF_A_HIT, self.rows, test, 0.0)
            found.append(self._chosen(np.where(q_hits == 0, predicted, -np.inf), above=above, reverse=reverse))
        return max(found, key=lambda choice: choice.predicted)

    def best_fitted(self, test: FinalTest) -> Choice | None:
        """Event of the largest bound where a line relates the score to the log-ratio; None where none does.

        Thresholds then need not be compared by counts of their own, which differ by luck.
        """
        line = self.line()
        if line is None:
            return None
        found = []
        for above, reverse in ((True, False), (False, True)):
            p_hits, modelled = self.modelled(line, above=above, reverse=reverse)
            predicted = _predicted(p_hits, modelled, self.rows, test, 0.0)
            q_hits = (self.above if above else self.below)[0 if reverse else 1]
            predicted = np.where(
                fits(modelled, q_hits) & (p_hits + modelled >= min(_COMMON, self.rows // 5)), predicted, -np.inf
            )
            found.append(self._chosen(predicted, above=above, reverse=reverse))
        best = max(found, key=lambda choice: choice.predicted)
        return best if math.isfinite(best.predicted) else None

    def advised(self, test: FinalTest, *, least: float = 0.0, clear: bool = False) -> _Advice | None:
        """Events that are worth most by what a smooth log-ratio may be, given the counts.

        All samples say what the log-ratio is at every threshold, so that none is taken because luck favours it.

        Parameters
        ----------
        test
            As in :meth:`best`.
        least
            Part of the outputs, at least, that is in an event. At most a half is: where scores order outputs by their
            log-ratio, rarer events have larger ones.
        clear
            Whether some event stands out.

        Returns
        -------
        _Advice or None
            None where there are few thresholds, or the counts of some events above thresholds, and of some below,
            differ from what the log-ratio makes them by more than luck explains.
        """
        if test.provisional or len(self.thresholds) < _LEAST_THRESHOLDS:
            return None
        cells = self.cells
        curve = fitted_curve(cells, self.means, estimates=self.score.log_ratio)
        if curve is None:
            return None
        errors = _caution_for([self.rows])
        both = {
            above: np.sum(self.above if above else self.below, axis=0).astype(float)
            for above in (True, False)
            if curve.explains(cells, errors, above=above, amiss=_LITTLE_AMISS if clear else 0.0)
        }
        if not both:
            return None
        learned = 0.0 if isinstance(self.score, ColumnScore) else _LEAST_LEARNED * math.sqrt(2 * self.rows)
        learned = min(learned, _LEAST_CLEAR if clear else _COMMON)
        least_hits = max(_LEAST_SMOOTHED, learned, least * 2 * self.rows)
        found = allotted(curve, both, self.rows, test, least=least_hits, most=_MOST_TOGETHER)
        if not found:
            return None
        choices = tuple(self._at(each.place, each.expected, above=each.above, reverse=each.reverse) for each in found)
        return _Advice(curve.evidence, choices, tuple(each.share for each in found))

    @property
    def cells(self) -> np.ndarray:
        """Occurrences, on either input, of scores from each threshold to below the next one, shape (2, thresholds)."""
        return np.stack([hits - np.append(hits[1:], 0) for hits in self.above]).astype(float)

    def line(self) -> tuple[float, float] | None:
        """Slope, less a standard error, and intercept of the log-ratio as a line in the score, by logistic regression.

        Scores are grouped between the thresholds, which stand for them. None where the score is no estimate of the
        log-ratio, or does not rise with it.
        """
        if not self.score.log_ratio or len(self.thresholds) < 2:
            return None
        counts = self.cells
        total = counts.sum(axis=0)
        centre = float(np.average(self.thresholds, weights=total))
        spread = float(np.sqrt(np.average((self.thresholds - centre) ** 2, weights=total)))
        if not (math.isfinite(spread) and spread > 0):
            return None
        rows = np.stack([(self.thresholds - centre) / spread, np.ones(len(self.thresholds))])

        def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
            logit = weights @ rows
            excess = total * expit(logit) - counts[0]
            return float(total @ np.logaddexp(0, logit) - counts[0] @ logit), rows @ excess

        weights = minimize(loss, np.zeros(2), jac=True, method="BFGS").x
        likely = expit(weights @ rows)
        information = (rows * (total * likely * (1 - likely))) @ rows.T
        determinant = float(np.linalg.det(information))
        slope = float(weights[0]) - math.sqrt(information[1, 1] / determinant) if determinant > 0 else 0.0
        if not (math.isfinite(slope) and slope > 0):
            return None
        return slope / spread, float(weights[1]) - slope / spread * centre

    def modelled(self, line: tuple[float, float], *, above: bool, reverse: bool) -> tuple[np.ndarray, np.ndarray]:
        """Occurrences of every event on its likelier input, and those that the line expects on the other."""
        likelier = self.above[1 if reverse else 0]
        each = (likelier - np.append(likelier[1:], 0)).astype(float)
        sign = 1.0 if reverse else -1.0
        other = each * np.exp(np.clip(sign * (line[0] * self.thresholds + line[1]), -50, 50))
        if above:
            return likelier, np.minimum(np.cumsum(other[::-1])[::-1], self.rows)
        return self.below[1 if reverse else 0], np.minimum(np.cumsum(other), self.rows)

    def _best_of(self, test: FinalTest, caution: float, least: float, *, above: bool, reverse: bool) -> Choice:
        counts = self.above if above else self.below
        p_hits, q_hits = counts[::-1] if reverse else counts
        predicted = _predicted(p_hits, q_hits, self.rows, test, caution)
        if least:
            part = (p_hits + q_hits) / (2 * self.rows)
            predicted = np.where((part >= least) & (part <= 1 - least), predicted, -np.inf)
        return self._chosen(predicted, above=above, reverse=reverse)

    def _chosen(self, predicted: np.ndarray, *, above: bool, reverse: bool) -> Choice:
        """Choose the event of the largest prediction."""
        # Of thresholds that promise as much, the strictest: what was not seen yet may be inside the others.
        most = predicted.max()
        as_good = np.flatnonzero(predicted >= (most - _AS_GOOD * abs(most) if math.isfinite(most) else most))
        i = int(as_good[-1] if above else as_good[0])
        return self._at(i, float(predicted[i]), above=above, reverse=reverse)

    def _at(self, place: int, predicted: float, *, above: bool, reverse: bool) -> Choice:
        """Event of the threshold at a place."""
        p_hits, q_hits = (self.above if above else self.below)[:: -1 if reverse else 1]
        return Choice(
            event=ThresholdEvent(self.score, float(self.thresholds[place]), above),
            reverse=reverse,
            predicted=predicted,
            p_hits=int(p_hits[place]),
            q_hits=int(q_hits[place]),
            rows=self.rows,
        )


def _spread(ordered: np.ndarray) -> np.ndarray:
    """Distinct values out of an ordered sample, densest in both tails."""
    if len(ordered) > 2 * _THRESHOLDS:
        ranks = np.unique(np.geomspace(1, len(ordered), _THRESHOLDS).astype(int)) - 1
        even = np.linspace(0, len(ordered) - 1, _THRESHOLDS // 2).astype(int)
        ordered = ordered[np.unique(np.concatenate([ranks, len(ordered) - 1 - ranks, even]))]
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]]


def _predicted(p_hits: np.ndarray, q_hits: np.ndarray, rows: int, test: FinalTest, caution: float) -> np.ndarray:
    """Lower bound to be expected of the final sample, after these counts in ``rows`` samples per input."""
    worse = _worse(p_hits.astype(float), q_hits.astype(float), rows, test.guarantee, caution)
    p, q = (np.maximum(hits * (test.size / rows), _LEAST_HITS) for hits in worse)
    return test.guarantee.expected(p, np.minimum(q, test.size), test.size, test.alpha)


_LEAST_HITS = 1e-3
"""Occurrences that stand for none where a bound is worked out from expected counts, so that no logarithm is infinite.
Any number far below one would do. Neither 0.0005 nor 0.002 changes a bound of benchmarks/sensitivity.md by 0.1 %."""


def _expected_of(choice: Choice, test: FinalTest, caution: float) -> float:
    hits = np.array([choice.p_hits]), np.array([choice.q_hits])
    return float(_predicted(*hits, choice.rows, test, caution)[0])


def _worse(
    p_hits: np.ndarray, q_hits: np.ndarray, rows: int, guarantee: Guarantee, errors: float
) -> tuple[np.ndarray, np.ndarray]:
    """Counts at the lower end of an interval of that many standard errors for what they force.

    Where only their ratio counts, the split of both is at the end of Wilson's interval for a proportion. Otherwise each
    count is at the end of a score interval of its own, and the two share the errors as their parts in the variance of
    the forced value are.
    """
    if guarantee.by_ratio:
        both = np.maximum(p_hits + q_hits, _LEAST_HITS)
        centre = p_hits + errors**2 / 2
        share = (centre - errors * np.sqrt(p_hits * q_hits / both + errors**2 / 4)) / (both + errors**2)
        return share * both, (1 - share) * both
    p, q = (p_hits + 0.5) / (rows + 1), (q_hits + 0.5) / (rows + 1)
    # Where the event forces nothing, both count as in a ratio.
    steps = (np.where(np.greater(step, 0), step, own) for step, own in zip(guarantee.steps(p, q), (p, q), strict=True))
    parts = [np.sqrt(own * (1 - own)) / step for own, step in zip((p, q), steps, strict=True)]
    length = np.hypot(*parts)
    of_p, of_q = (errors * part / length for part in parts)
    low = p_hits + of_p**2 / 2 - of_p * np.sqrt(p_hits * np.maximum(1 - p, 0) + of_p**2 / 4)
    high = q_hits + of_q**2 / 2 + of_q * np.sqrt(q_hits + of_q**2 / 4)
    return low, np.minimum(high, rows)
