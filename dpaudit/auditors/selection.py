"""Choosing the event: scores compete on one part of the samples, and thresholds on another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpaudit.auditors.learners import Fitter, boosted_score, fitters
from dpaudit.auditors.outputs import Outputs, OutputsLike, as_outputs, joined
from dpaudit.auditors.scores import OutcomeScore, Score, score_from_json, scores_of
from dpaudit.claims.guarantees import Guarantee
from dpaudit.errors import CheckError

_THRESHOLDS = 1000
_FINALISTS = 3
_CELLS, _FEW_CELLS = 4_000_000, 1_000_000
"""Numbers, per input, that a score is fitted and judged on in the end, and to compete with others."""

_LEAST_ROWS, _MOST_ROWS = 10_000, 200_000
"""Limits of the outputs that these numbers make. What looks for rare outputs has no limit."""
_CAUTION = (2.0, 1.25, 0.75)
"""Standard errors by which each count is taken to be worse than it is: at first, where that leaves no event that proves
anything, and for an event that is a gamble."""

_BOLDER = 1

_WORTH_A_GAMBLE = 0.15
_GAMBLE_COUNT, _DESPERATE_COUNT = 5, 3
_WEAK = 0.7
"""Part of the bold promise below which caution is thought to hide too much."""

_CHEAP_ENOUGH = 0.01
_AS_GOOD = 0.003
_TELLING_COUNT = 50
_COMMON_COUNT = 400
_CLOSE = 2.0
_NEWTON_STEPS = 6
_MOST_KNOWN = 0.5


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
        scores = scores_of(self.score, outputs)
        if scores.shape != (len(outputs),):
            raise CheckError(
                f"the event's score has shape {scores.shape} for {len(outputs)} outputs of shape {outputs.shape[1:]}; "
                "it belongs to outputs of another form"
            )
        return np.asarray(scores >= self.threshold if self.above else scores <= self.threshold)

    def describe(self) -> Any:
        """Return the event in words and numbers."""
        return self.score.describe(self.threshold, above=self.above)

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
    steepest
        How far any threshold of this score with enough counts sets the inputs apart, less a standard error (see
        `Guarantee.apart`).
    gain
        Log-likelihood by which the score tells the inputs apart better than chance; 0 where it is no log-ratio.
    """

    event: ThresholdEvent
    reverse: bool
    predicted: float
    p_hits: int
    q_hits: int
    rows: int
    steepest: float
    gain: float = 0.0

    @property
    def uninformed(self) -> bool:
        """Whether the event is all outputs for want of a score that knows most of them, so that it says nothing."""
        everything = self.p_hits == self.q_hits == self.rows
        return everything and isinstance(self.event.score, OutcomeScore) and self.event.score.known < _MOST_KNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The events that go to the final sample: a safe one, and a rarer one that may prove much more."""

    main: Choice
    gamble: Choice | None = None

    @property
    def choices(self) -> list[Choice]:
        """Both, as far as there are two."""
        return [self.main] if self.gamble is None else [self.main, self.gamble]


@dataclass(frozen=True, slots=True)
class FinalTest:
    """The test that will decide, for which events are chosen.

    Attributes
    ----------
    guarantee
        The claim.
    size, alpha
        Size per input of the sample that will decide, and the error probability of its bound.
    """

    guarantee: Guarantee
    size: int
    alpha: float


def select_events(x: OutputsLike, y: OutputsLike, test: FinalTest) -> Selection:
    """Learn scores on one half of the samples; choose among them and their thresholds on the other half.

    Parameters
    ----------
    x, y
        Samples of the two inputs, equally many.
    test
        The test that the events are for.
    """
    x, y = as_outputs(x), as_outputs(y)
    with np.errstate(over="ignore", invalid="ignore"):  # outputs may be infinite
        tried = _compete(x, y, test, thorough=True)
    cautious, bolder, boldest = ([judged[level] for _, judged in tried] for level in range(len(_CAUTION)))
    # Of bold promises, that of the score is believed which tells the inputs apart best as a whole.
    telling = max(choice.gain for choice in bolder)
    believed = [choice for choice in bolder if choice.gain == telling]
    weak = max(choice.predicted for choice in cautious) < _WEAK * max(choice.predicted for choice in believed)
    promising = believed if weak else cautious
    most = max(choice.predicted for choice in promising)
    enough = most - _CHEAP_ENOUGH * abs(most)
    main = min((c for c in promising if c.predicted >= enough), key=lambda c: c.event.score.cost)
    gamble = max(boldest, key=lambda choice: choice.predicted)
    # Where there is nothing to lose, fewer sightings are enough.
    seen_enough = _GAMBLE_COUNT if main.predicted > 0 else _DESPERATE_COUNT
    worth_it = gamble.p_hits >= seen_enough and gamble.predicted > max(main.predicted, 0.0) + _WORTH_A_GAMBLE
    return Selection(main=main, gamble=gamble if worth_it else None)


def promised_bound(x: OutputsLike, y: OutputsLike, test: FinalTest) -> float:
    """Bound that :func:`select_events` would expect of a pair, to compare pairs by a few samples each.

    Both halves learn and judge in turn, where that is quick. Scores that take long to learn do not take part.
    """
    x, y = as_outputs(x), as_outputs(y)
    turns = [(x, y)]
    if x.dtype.kind != "f" or x.width == 1:
        half = len(x) // 2
        turns.append((joined([x[half:], x[:half]]), joined([y[half:], y[:half]])))
    with np.errstate(over="ignore", invalid="ignore"):
        promised = [_compete(*sides, test, thorough=False) for sides in turns]
    return sum(max(judged[_BOLDER].predicted for _, judged in tried) for tried in promised) / len(promised)


def _compete(x: Outputs, y: Outputs, test: FinalTest, *, thorough: bool) -> list[tuple[Score, list[Choice]]]:
    """Scores learned on one half, with their best events on the other; trees only where ``thorough``."""
    half = len(x) // 2
    learn, judge = (x[:half], y[:half]), (x[half:], y[half:])
    always, competing, width = fitters(*learn, thorough=thorough)
    rows = min(_MOST_ROWS, max(_LEAST_ROWS, _CELLS // width))
    some_learn, some_judge = _first(learn, rows), _first(judge, rows)
    few, quick = (_first(sides, max(_LEAST_ROWS, _FEW_CELLS // width)) for sides in (some_learn, some_judge))
    if len(some_learn[0]) > 2 * len(few[0]) and len(competing) > _FINALISTS:
        competing = _finalists(competing, few, quick, test)
    tried = []
    for ways, learned in ((always, learn), (competing, some_learn)):
        scores = (fit(*learned) for fit in ways)
        tried += [(score, _judge(score, judge, test)) for score in scores if score is not None]
    if not tried:
        return [(_anything(), _judge(_anything(), judge, test))]
    if thorough and width > 1:
        trees = _boosted(learn, quick, tried, test)
        if trees is not None:
            tried.append((trees, _judge(trees, judge, test)))
    return tried


def _first(sides: Sides, rows: int) -> Sides:
    return sides[0][:rows], sides[1][:rows]


def _finalists(competing: list[Fitter], few: Sides, quick: Sides, test: FinalTest) -> list[Fitter]:
    """Ways of scoring that do best when fitted and judged on a few samples: by their bound, and by telling apart."""
    marks: list[tuple[float, float, int]] = []
    for i, fit in enumerate(competing):
        score = fit(*few)
        if score is not None:
            apart = [scores_of(score, side) for side in quick]
            shift = apart[0].mean() - apart[1].mean()
            spread = np.sqrt((apart[0].var() + apart[1].var()) / len(quick[0]))
            marks.append((_judge(score, quick, test)[1].predicted, shift / spread if spread > 0 else 0.0, i))
    kept = {i for *_, i in sorted(marks, reverse=True)[:_FINALISTS]}
    kept |= {i for *_, i in sorted(marks, key=lambda mark: -mark[1])[:_FINALISTS]}
    return [fit for i, fit in enumerate(competing) if i in kept]


def _boosted(
    learn: Sides,
    quick: Sides,
    tried: list[tuple[Score, list[Choice]]],
    test: FinalTest,
) -> Score | None:
    """Trees, where a quick attempt shows that they see more than the scores tried so far."""
    best = sorted(tried, key=lambda item: -item[1][0].predicted)[:_FINALISTS]
    others = tuple(item[0] for item in best)
    probe = boosted_score(*learn, others, probe=True)
    if probe is None:
        return None
    promised = _judge(probe, quick, test)[0].predicted
    reached = max(_judge(score, quick, test)[0].predicted for score in others)
    if promised <= max(reached, 0.0) * (1 + 2 * _CHEAP_ENOUGH) + _CHEAP_ENOUGH:
        return None
    return boosted_score(*learn, others, probe=False)


def _anything() -> Score:
    """Score under which all outputs are alike, where nothing can be learned."""
    nothing = np.empty(0)
    return OutcomeScore("text", nothing.astype(str), nothing, nothing)


def _judge(score: Score, sides: Sides, test: FinalTest) -> list[Choice]:
    """Best event of a score at every level of caution."""
    xs, ys = (np.sort(scores_of(score, side)) for side in sides)
    thresholds = _spread(np.sort(np.concatenate([xs, ys]), kind="stable"))
    scale = _Scale.fit(xs, ys, thresholds) if score.log_ratio else None
    best: list[Choice | None] = [None] * len(_CAUTION)
    for above in (True, False):
        if above:
            counts = [len(side) - np.searchsorted(side, thresholds, side="left") for side in (xs, ys)]
        else:
            counts = [np.searchsorted(side, thresholds, side="right") for side in (xs, ys)]
        for reverse in (False, True):
            p_hits, q_hits = reversed(counts) if reverse else counts
            telling = (p_hits >= _TELLING_COUNT) & (q_hits >= _TELLING_COUNT)
            p, q = p_hits[telling], q_hits[telling]
            steepest = float(test.guarantee.apart(p, q, len(xs), errors=1.0).max(initial=0.0))
            # Boldness is for weak effects on common events; for rare ones there is the gamble.
            common = p_hits + q_hits >= min(_COMMON_COUNT, len(xs) // 5)
            for level, caution in enumerate(_CAUTION):
                predicted = _predicted(p_hits, q_hits, len(xs), test, caution)
                if level == _BOLDER:
                    if scale is not None and above != reverse:
                        modelled = scale.other_hits(ys if reverse else xs, thresholds, above=above)
                        close = np.abs(np.log((modelled + 0.5) / (q_hits + 0.5))) * np.sqrt(q_hits + 1) <= _CLOSE
                        trusted = _predicted(p_hits, modelled, len(xs), test, 0.0)
                        predicted = np.where(close, trusted, predicted)
                    predicted = np.where(common, predicted, predicted.min())
                # Of thresholds that promise as much, the strictest: what was not seen yet may be inside the others.
                most = predicted.max()
                as_good = np.flatnonzero(predicted >= most - _AS_GOOD * abs(most))
                i = int(as_good[-1] if above else as_good[0])
                current = best[level]
                if current is None or predicted[i] > current.predicted:
                    best[level] = Choice(
                        event=ThresholdEvent(score, float(thresholds[i]), above),
                        reverse=reverse,
                        predicted=float(predicted[i]),
                        p_hits=int(p_hits[i]),
                        q_hits=int(q_hits[i]),
                        rows=len(xs),
                        steepest=steepest,
                        gain=0.0 if scale is None else scale.gain,
                    )
    return [choice for choice in best if choice is not None]


@dataclass(frozen=True, slots=True)
class _Scale:
    """Log-ratio as a linear function of a score: where counts are too few to compare thresholds, this does."""

    slope: float
    offset: float
    gain: float

    @classmethod
    def fit(cls, xs: np.ndarray, ys: np.ndarray, thresholds: np.ndarray) -> Self | None:
        """Logistic regression of the input on the score, its slope less a standard error; None if that leaves none.

        Scores are grouped between the thresholds, which stand for them.
        """
        counts = np.stack(
            [np.diff(np.r_[np.searchsorted(side, thresholds, side="left"), len(side)]) for side in (xs, ys)]
        )
        total = counts.sum(axis=0)
        centre = float(np.average(thresholds, weights=total))
        spread = float(np.sqrt(np.average((thresholds - centre) ** 2, weights=total)))
        if not (np.isfinite(spread) and spread > 0):
            return None
        rows = np.stack([(thresholds - centre) / spread, np.ones(len(thresholds))])
        weights = np.zeros(2)
        hessian = np.eye(2)
        for _ in range(_NEWTON_STEPS):
            fitted = 1 / (1 + np.exp(-(weights @ rows)))
            hessian = (rows * (total * fitted * (1 - fitted))) @ rows.T
            if not np.linalg.det(hessian) > 0:
                return None
            weights = weights + np.linalg.solve(hessian, rows @ (counts[0] - total * fitted))
        slope = weights[0] - np.sqrt(np.linalg.inv(hessian)[0, 0])
        if not (np.isfinite(slope) and slope > 0):
            return None
        fitted = weights @ rows
        gain = float(counts[0] @ fitted - total @ np.logaddexp(0, fitted) + total.sum() * np.log(2))
        return cls(float(slope / spread), float(weights[1] - slope / spread * centre), gain)

    def other_hits(self, likelier: np.ndarray, thresholds: np.ndarray, *, above: bool) -> np.ndarray:
        """Hits to be expected on the other input, from the ascending scores of the input where it is likelier."""
        sign = -1.0 if above else 1.0
        ratios = np.exp(np.clip(sign * (self.slope * likelier + self.offset), -50, 50))
        total = np.r_[0.0, np.cumsum(ratios)]
        if above:
            return np.asarray(total[-1] - total[np.searchsorted(likelier, thresholds, side="left")])
        return np.asarray(total[np.searchsorted(likelier, thresholds, side="right")])


def _spread(ordered: np.ndarray) -> np.ndarray:
    """Distinct values out of an ordered sample, densest in both tails."""
    if len(ordered) > 2 * _THRESHOLDS:
        ranks = np.unique(np.geomspace(1, len(ordered), _THRESHOLDS).astype(int)) - 1
        even = np.linspace(0, len(ordered) - 1, _THRESHOLDS // 2).astype(int)
        ordered = ordered[np.unique(np.concatenate([ranks, len(ordered) - 1 - ranks, even]))]
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]]


def _predicted(p_hits: np.ndarray, q_hits: np.ndarray, rows: int, test: FinalTest, caution: float) -> np.ndarray:
    """Lower bound to be expected of the final sample, after these counts in ``rows`` samples per input.

    Rare events look best by luck, so each count is taken ``caution`` standard errors to the worse (score bounds of a
    Poisson mean: 0 hits may have been caution squared).
    """
    final = test.size
    lean = caution**2 / 2
    factor = final / rows
    p = (p_hits + lean - caution * np.sqrt(p_hits + lean / 2)) * factor
    q = np.minimum((q_hits + lean + caution * np.sqrt(q_hits + lean / 2)) * factor, final)
    p, q = np.maximum(p, 1e-3), np.maximum(q, 1e-3)
    return test.guarantee.expected(p, q, final, test.alpha)
