"""Choosing the event: scores compete on one part of the samples, and thresholds on another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpaudit.auditors.learners import Fitter, boosted_score, fitters
from dpaudit.auditors.scores import OutcomeScore, Score, score_from_json, scores_of

_THRESHOLDS = 1000
_FINALISTS = 2
_CELLS, _FEW_CELLS = 4_000_000, 1_000_000
"""Numbers, per input, that a score is fitted on in the end, and to compete with others."""

_LEAST_ROWS = 20_000
_CAUTION = (2.0, 1.25, 0.75)
"""Standard errors by which each count is taken to be worse than it is: at first, where that leaves no event that proves
anything, and for an event that is a gamble."""

_WORTH_A_GAMBLE = 0.15
_CHEAP_ENOUGH = 0.01
_TELLING_COUNT = 50
_MOST_KNOWN = 0.5


Sides = tuple[np.ndarray, np.ndarray]
"""Samples of the first and of the second input."""


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs: those whose score is at least, or at most, a threshold."""

    score: Score
    threshold: float
    above: bool

    def contains(self, outputs: np.ndarray) -> np.ndarray:
        """Whether each output is in the event, shape (size,)."""
        scores = scores_of(self.score, outputs)
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
        Lower bound on epsilon that the final sample will give, counts being a little worse than here.
    p_hits, q_hits, rows
        Occurrences in the judging sample on the likelier and on the other input, and its size per input.
    steepest
        Largest log-ratio seen for any threshold of this score with enough counts; at least that of the event.
    """

    event: Event
    reverse: bool
    predicted: float
    p_hits: int
    q_hits: int
    rows: int
    steepest: float

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


def select_events(x: np.ndarray, y: np.ndarray, *, delta: float, final: int, alpha: float) -> Selection:
    """Learn scores on one half of the samples; choose among them and their thresholds on the other half.

    Parameters
    ----------
    x, y
        Samples of the two inputs, equally many.
    delta
        The claim's delta.
    final, alpha
        Size per input of the sample that will decide, and the error probability of its bound.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # outputs may be infinite
        tried = _compete(x, y, _Goal(delta, final, alpha), thorough=True)
    cautious, bolder, boldest = ([judged[level] for _, judged in tried] for level in range(len(_CAUTION)))
    promising = cautious if any(choice.predicted > 0 for choice in cautious) else bolder
    most = max(choice.predicted for choice in promising)
    enough = most - _CHEAP_ENOUGH * abs(most)
    main = min((c for c in promising if c.predicted >= enough), key=lambda c: c.event.score.cost)
    gamble = max(boldest, key=lambda choice: choice.predicted)
    worth_it = gamble.predicted > max(main.predicted, 0.0) + _WORTH_A_GAMBLE
    return Selection(main=main, gamble=gamble if worth_it else None)


def promised_bound(x: np.ndarray, y: np.ndarray, *, delta: float, final: int, alpha: float) -> float:
    """Bound that :func:`select_events` would expect of a pair, cautiously; to compare pairs by a few samples each."""
    with np.errstate(over="ignore", invalid="ignore"):
        tried = _compete(x, y, _Goal(delta, final, alpha), thorough=False)
    return max(judged[0].predicted for _, judged in tried)


@dataclass(frozen=True, slots=True)
class _Goal:
    delta: float
    final: int
    alpha: float


def _compete(x: np.ndarray, y: np.ndarray, goal: _Goal, *, thorough: bool) -> list[tuple[Score, list[Choice]]]:
    """Scores learned on one half, with their best events on the other; trees only where ``thorough``."""
    half = len(x) // 2
    learn, judge = (x[:half], y[:half]), (x[half:], y[half:])
    always, competing, width = fitters(*learn)
    rows = max(_LEAST_ROWS, _CELLS // width)
    few, quick = (_first(sides, max(_LEAST_ROWS, _FEW_CELLS // width)) for sides in (learn, judge))
    if len(learn[0]) > 2 * len(few[0]) and len(competing) > _FINALISTS:
        competing = _finalists(competing, few, quick, goal)
    fitted = [fit(*learn) for fit in always] + [fit(*_first(learn, rows)) for fit in competing]
    scores = [score for score in fitted if score is not None] or [_anything()]
    tried = [(score, _judge(score, judge, goal)) for score in scores]
    if thorough and width > 1:
        trees = _boosted(learn, quick, tried, goal)
        if trees is not None:
            tried.append((trees, _judge(trees, judge, goal)))
    return tried


def _first(sides: Sides, rows: int) -> Sides:
    return sides[0][:rows], sides[1][:rows]


def _finalists(competing: list[Fitter], few: Sides, quick: Sides, goal: _Goal) -> list[Fitter]:
    """Ways of scoring that do best when fitted and judged on a few samples: by their bound, and by telling apart."""
    marks: list[tuple[float, float, int]] = []
    for i, fit in enumerate(competing):
        score = fit(*few)
        if score is not None:
            apart = [scores_of(score, side) for side in quick]
            shift = apart[0].mean() - apart[1].mean()
            spread = np.sqrt((apart[0].var() + apart[1].var()) / len(quick[0]))
            marks.append((_judge(score, quick, goal)[1].predicted, shift / spread if spread > 0 else 0.0, i))
    kept = {i for *_, i in sorted(marks, reverse=True)[:_FINALISTS]}
    kept |= {i for *_, i in sorted(marks, key=lambda mark: -mark[1])[:_FINALISTS]}
    return [fit for i, fit in enumerate(competing) if i in kept]


def _boosted(
    learn: Sides,
    quick: Sides,
    tried: list[tuple[Score, list[Choice]]],
    goal: _Goal,
) -> Score | None:
    """Trees, where a quick attempt shows that they see more than the scores tried so far."""
    best = sorted(tried, key=lambda item: -item[1][0].predicted)[:_FINALISTS]
    others = tuple(item[0] for item in best)
    probe = boosted_score(*learn, others, probe=True)
    if probe is None:
        return None
    promised = _judge(probe, quick, goal)[0].predicted
    reached = max(_judge(score, quick, goal)[0].predicted for score in others)
    if promised <= max(reached, 0.0) * (1 + 2 * _CHEAP_ENOUGH) + _CHEAP_ENOUGH:
        return None
    return boosted_score(*learn, others, probe=False)


def _anything() -> Score:
    """Score under which all outputs are alike, where nothing can be learned."""
    nothing = np.empty(0)
    return OutcomeScore("text", nothing.astype(str), nothing, nothing)


def _judge(score: Score, sides: Sides, goal: _Goal) -> list[Choice]:
    """Best event of a score at every level of caution."""
    xs, ys = (np.sort(scores_of(score, side)) for side in sides)
    thresholds = _spread(np.sort(np.concatenate([xs, ys]), kind="stable"))
    best: list[Choice | None] = [None] * len(_CAUTION)
    for above in (True, False):
        if above:
            counts = [len(side) - np.searchsorted(side, thresholds, side="left") for side in (xs, ys)]
        else:
            counts = [np.searchsorted(side, thresholds, side="right") for side in (xs, ys)]
        for reverse in (False, True):
            p_hits, q_hits = reversed(counts) if reverse else counts
            telling = (p_hits >= _TELLING_COUNT) & (q_hits >= _TELLING_COUNT)
            steepest = float(np.log(p_hits[telling] / q_hits[telling]).max(initial=0.0))
            for which, caution in enumerate(_CAUTION):
                predicted = _predicted(p_hits, q_hits, len(xs), goal, caution)
                i = int(np.argmax(predicted))
                current = best[which]
                if current is None or predicted[i] > current.predicted:
                    best[which] = Choice(
                        event=Event(score, float(thresholds[i]), above),
                        reverse=reverse,
                        predicted=float(predicted[i]),
                        p_hits=int(p_hits[i]),
                        q_hits=int(q_hits[i]),
                        rows=len(xs),
                        steepest=steepest,
                    )
    return [choice for choice in best if choice is not None]


def _spread(ordered: np.ndarray) -> np.ndarray:
    """Distinct values out of an ordered sample, densest in both tails."""
    if len(ordered) > 2 * _THRESHOLDS:
        ranks = np.unique(np.geomspace(1, len(ordered), _THRESHOLDS).astype(int)) - 1
        even = np.linspace(0, len(ordered) - 1, _THRESHOLDS // 2).astype(int)
        ordered = ordered[np.unique(np.concatenate([ranks, len(ordered) - 1 - ranks, even]))]
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]]


def _predicted(p_hits: np.ndarray, q_hits: np.ndarray, rows: int, goal: _Goal, caution: float) -> np.ndarray:
    """Lower bound on epsilon to be expected of the final sample, after these counts in ``rows`` samples per input.

    Rare events look best by luck, so each count is taken ``caution`` standard errors to the worse (score bounds of a
    Poisson mean: 0 hits may have been caution squared). The bound itself is approximated by its normal limit. Only the
    order matters: what is below 0 says how far an event is from proving anything.
    """
    from scipy.special import ndtri

    final, delta, alpha = goal.final, goal.delta, goal.alpha
    lean = caution**2 / 2
    factor = final / rows
    p = (p_hits + lean - caution * np.sqrt(p_hits + lean / 2)) * factor
    q = np.minimum((q_hits + lean + caution * np.sqrt(q_hits + lean / 2)) * factor, final)
    p = np.maximum(p, 1e-3)
    if delta == 0:
        return np.asarray(np.log(p / q) + ndtri(alpha) * np.sqrt(1 / p + 1 / q))
    excess = p / final - delta
    spread = np.sqrt(p * np.maximum(1 - p / final, 1 / final)) / final
    floor = 1e-9
    ratio = np.log(np.maximum(excess, floor) * final / q)
    penalty = ndtri(alpha / 2) * (spread / np.maximum(excess, floor) + 1 / np.sqrt(q))
    return np.where(excess > floor, ratio + penalty, -1e6 + excess)
