"""Counts of the events of a score: what they promise of a test by fresh samples, and by how much that may be luck."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtri

from dpaudit.auditors.learning.allotment import allotted, compared_places
from dpaudit.auditors.learning.scores import ColumnScore, Score, score_from_json, scores_of
from dpaudit.auditors.learning.smoothing import Curve, fitted_curve
from dpaudit.auditors.learning.threads import one_thread
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.outputs import Outputs, OutputsLike
from dpaudit.claims.guarantees import Guarantee
from dpaudit.errors import CheckError

_THRESHOLDS = 1000
"""Ranks from either end at which the thresholds of a score are looked at, evenly by their logarithm, and half as many
evenly by rank. Chosen by hand, for time: neighbours differ by one or two per cent of the outputs beyond them. With 500
or 2,000, the mean in benchmarks/sensitivity.md changes by 0.002 of the oracle's bound at most, one row by up to
0.090."""

_BAND_ERROR = 0.05
"""Probability, about, with which the lower bound of some event looked at is above the truth (see `caution_of`). The
usual level of a test, chosen by hand. With 0.025 or 0.1, the mean in benchmarks/sensitivity.md changes by 0.003 of the
oracle's bound at most, one row by up to 0.171."""

SIDES = 4
"""Events of a threshold: above or below it, and likelier on the first or on the second input. Not a matter of
choice."""

_LEAST_THRESHOLDS = 16
"""Thresholds that a score must have for a smooth log-ratio along it. Chosen by hand: a curve through fewer says little
beyond their counts. With 8 or 32, the mean in benchmarks/sensitivity.md changes by 0.002 of the oracle's bound at most,
one row by up to 0.031."""

_MOST_TOGETHER = 3
"""Events of one score that are tested together, at most. Chosen by hand: a half-line, that of the other direction, and
one farther out in the tail. Neither 2 nor 4 changes a bound of benchmarks/sensitivity.md by 0.1 %."""

_LEAST_SMOOTHED = 50.0
"""Occurrences, at least, of an event that a smooth log-ratio advises, as its shapes say little of what is rarer. Tuned
on seeds 0 to 39 of Laplace, geometric and Gaussian noise (benchmarks/weak_effects.md). With 25 or 100, the mean in
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

_HALF_A_HIT = 0.5
"""What stands for the occurrences on the other input of an event that never occurred there: Jeffreys' prior. With 0.25
or 1, the mean in benchmarks/sensitivity.md stays, and one row changes by up to 0.006 of the oracle's bound."""

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

_LEAST_HITS = 1e-3
"""Occurrences that stand for none where a bound is worked out from expected counts, so that no logarithm is infinite.
Any number far below one would do. Neither 0.0005 nor 0.002 changes a bound of benchmarks/sensitivity.md by 0.1 %."""


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
    judged
        Whether the counts are those of this event, and not of one that was learned from fewer samples before it.
    """

    event: ThresholdEvent
    reverse: bool
    predicted: float
    p_hits: int
    q_hits: int
    rows: int
    judged: bool = True

    @property
    def occurrences(self) -> int:
        """Occurrences on both inputs."""
        return self.p_hits + self.q_hits

    @property
    def rates(self) -> tuple[float, float]:
        """Probabilities of the event and of its complement, each on the input where it is rarer.

        What did not occur may be about as likely as one in as many outputs.
        """
        return max(self.q_hits, 1) / self.rows, max(self.rows - self.p_hits, 1) / self.rows


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


@dataclass(frozen=True, slots=True)
class Advice:
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

    def beside(self, other: Advice, part: float) -> Advice:
        """Both, the other one with this part of the error probability."""
        parts = (*(each * (1 - part) for each in self.parts), *(each * part for each in other.parts))
        return Advice(self.evidence, self.choices + other.choices, parts)

    def alone(self) -> Advice:
        """The first event, with the whole error probability."""
        return Advice(self.evidence, self.choices[:1])


def fits(expected: Any, hits: Any) -> Any:
    """Whether counts are as many as a line has them expected, but for chance."""
    return np.abs(np.log((expected + 0.5) / (hits + 0.5))) * np.sqrt(hits + 1) <= _CLOSE


def caution_of(tables: Sequence[Counts]) -> float:
    """Standard errors by which all events looked at may be too good at once, with probability `_BAND_ERROR` at most.

    Thresholds are nested, so that those whose events differ in size by less than a factor of two say nearly the same:
    they count as one, which makes as many of a score as the samples have binary digits. Boole's inequality over these,
    over the two sides and directions, and over the scores gives the error of each.
    """
    return caution_for([table.rows for table in tables])


def caution_for(rows: Sequence[int]) -> float:
    """As :func:`caution_of`, of one score for each of these numbers of rows."""
    looked_at = sum(SIDES * math.log2(2 * each) for each in rows)
    return -float(ndtri(_BAND_ERROR / looked_at))


@dataclass(frozen=True)
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

    def least_likely(self) -> tuple[float, Choice]:
        """Standard errors by which the counts of an event differ between the inputs, the most of all, and the event."""
        found = []
        for above, reverse in ((True, False), (True, True), (False, False), (False, True)):
            counts = self.above if above else self.below
            p_hits, q_hits = counts[::-1] if reverse else counts
            errors = (p_hits - q_hits) / np.sqrt(np.maximum(p_hits + q_hits, 1))
            place = int(np.argmax(errors))
            found.append((float(errors[place]), self._at(place, -math.inf, above=above, reverse=reverse)))
        return max(found, key=lambda each: each[0])

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

    def advised(self, test: FinalTest, *, least: float = 0.0, clear: bool = False) -> Advice | None:
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
        Advice or None
            None where there are few thresholds, or the counts of some events above thresholds, and of some below,
            differ from what the log-ratio makes them by more than luck explains.
        """
        explained = self._explained(test, least=least, clear=clear)
        if explained is None:
            return None
        curve, both, least_hits = explained
        found = allotted(curve, both, self.rows, test, least=least_hits, most=_MOST_TOGETHER)
        if not found:
            return None
        choices = tuple(self._at(each.place, each.expected, above=each.above, reverse=each.reverse) for each in found)
        return Advice(curve.evidence, choices, tuple(each.share for each in found))

    def evidence(self, test: FinalTest, *, clear: bool = False) -> float | None:
        """Return the evidence of what `advised` returns, without choosing events, and None where it returns None."""
        explained = self._explained(test, clear=clear)
        if explained is None:
            return None
        curve, both, least_hits = explained
        compared = compared_places(len(curve.total), both, self.rows, least_hits)
        return curve.evidence if any(len(at) for at, _ in compared.values()) else None

    def _explained(
        self, test: FinalTest, *, least: float = 0.0, clear: bool = False
    ) -> tuple[Curve, dict[bool, np.ndarray], float] | None:
        """The log-ratio, occurrences of the events that it explains, by side, and how many an event needs."""
        if test.provisional or len(self.thresholds) < _LEAST_THRESHOLDS or self.curve is None:
            return None
        curve, errors = self.curve, caution_for([self.rows])
        both = {
            above: np.sum(self.above if above else self.below, axis=0).astype(float)
            for above in (True, False)
            if curve.explains(self.cells, errors, above=above, amiss=_LITTLE_AMISS if clear else 0.0)
        }
        if not both:
            return None
        learned = 0.0 if isinstance(self.score, ColumnScore) else _LEAST_LEARNED * math.sqrt(2 * self.rows)
        learned = min(learned, _LEAST_CLEAR if clear else _COMMON)
        return curve, both, max(_LEAST_SMOOTHED, learned, least * 2 * self.rows)

    @cached_property
    def curve(self) -> Curve | None:
        """The log-ratio along the score, by the counts; None where it has no such curve."""
        return fitted_curve(self.cells, self.means, estimates=self.score.log_ratio)

    @cached_property
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
        """Choose the event of the largest prediction.

        Of thresholds that promise as much, the strictest: what was not seen yet may be inside the others. Where the
        event never occurred on the other input, whose outputs may end there, the next of these lies as far beyond that
        end as luck has it; so the threshold may leave out as many outputs as the standard error of their number.
        """
        most = predicted.max()
        good = predicted >= (most - _AS_GOOD * abs(most) if math.isfinite(most) else most)
        p_hits, q_hits = (self.above if above else self.below)[:: -1 if reverse else 1]
        best = int(np.argmax(predicted))
        if q_hits[best] == 0:
            good |= (q_hits == 0) & (p_hits >= p_hits[best] - math.sqrt(p_hits[best]))
        as_good = np.flatnonzero(good)
        i = int(as_good[-1] if above else as_good[0])
        return self._at(i, float(predicted[best]), above=above, reverse=reverse)

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


def expected_of(choice: Choice, test: FinalTest, caution: float) -> float:
    """Lower bound to be expected of an event, its counts being that many standard errors worse than seen."""
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
