"""Scores of outputs: estimates of the log likelihood ratio between two inputs, learned from samples.

An event is the set of outputs whose score is at least a threshold. A score only has to put decisive outputs first: any
event is valid, because its probabilities are bounded on samples that had no part in choosing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

_REPEATED_SHARE = 0.5
_ATOM_REPEATS = 10
_BINS = 64
_LEARNER_ROWS = 200_000
_MAX_COLUMN_CANDIDATES = 16
_LARGEST = 1e300


class Score(Protocol):
    """Scores outputs; larger means likelier on the first input."""

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        """Score of every output, shape (size,)."""
        ...

    def negated(self) -> Score:
        """Return the score for the other direction."""
        ...

    def describe(self, threshold: float) -> Any:
        """Return the event {score >= ``threshold``} in a form that a reader can recompute."""
        ...


class Coder:
    """Numbers the distinct outputs, so that equal outputs get equal codes; -1 for outputs not seen before."""

    def __init__(self, outputs: np.ndarray) -> None:
        keys = _row_keys(outputs)
        self.keys, first = np.unique(keys, return_index=True)
        self.outcomes = outputs[first]

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        keys = _row_keys(outputs)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)


@dataclass(frozen=True, slots=True)
class OutcomeScore:
    """Smoothed log-ratio of the counts of every outcome seen; 0 for others."""

    coder: Coder
    ratios: np.ndarray

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray) -> OutcomeScore:
        """Count outcomes on samples of both inputs."""
        coder = Coder(np.concatenate([x, y]))
        size = len(coder.keys)
        counts = [np.bincount(coder(side), minlength=size) for side in (x, y)]
        return cls(coder, np.log(counts[0] + 0.5) - np.log(counts[1] + 0.5))

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        codes = self.coder(outputs)
        return np.where(codes >= 0, self.ratios[codes], 0.0)

    def negated(self) -> OutcomeScore:
        """Swap the inputs."""
        return OutcomeScore(self.coder, -self.ratios)

    def describe(self, threshold: float) -> Any:
        """List the outcomes of the event."""
        chosen = self.coder.outcomes[self.ratios >= threshold].tolist()
        if len(chosen) == 1 and threshold > 0:
            return chosen[0]
        listed = {"any of": chosen[:24]}
        if len(chosen) > 24:
            listed["and others, altogether"] = len(chosen)
        if threshold <= 0:
            listed["or"] = "an outcome that the selection sample did not contain"
        return listed


@dataclass(frozen=True, slots=True)
class ColumnScore:
    """One number of the output, or its negative."""

    column: int | None
    sign: int

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        values = outputs if self.column is None else outputs.reshape(len(outputs), -1)[:, self.column]
        return self.sign * values.astype(float)

    def negated(self) -> ColumnScore:
        """Swap the inputs."""
        return ColumnScore(self.column, -self.sign)

    def describe(self, threshold: float) -> Any:
        """Half-line in one coordinate."""
        what = "output" if self.column is None else f"output[{self.column}]"
        return {what: f">= {threshold:.17g}" if self.sign > 0 else f"<= {-threshold:.17g}"}


@dataclass(frozen=True, slots=True)
class HistogramScore:
    """Log-ratio of counts in cells between quantiles of one number."""

    edges: np.ndarray
    ratios: np.ndarray

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray) -> HistogramScore:
        """Choose quantiles of both samples together and count."""
        # No interpolation between quantiles, which may be infinite.
        levels = np.linspace(0, 1, _BINS + 1)[1:-1]
        edges = np.unique(np.quantile(np.concatenate([x, y]), levels, method="lower"))
        counts = [np.bincount(np.searchsorted(edges, side, side="right"), minlength=len(edges) + 1) for side in (x, y)]
        return cls(edges, np.log(counts[0] + 0.5) - np.log(counts[1] + 0.5))

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        return self.ratios[np.searchsorted(self.edges, outputs, side="right")]

    def negated(self) -> HistogramScore:
        """Swap the inputs."""
        return HistogramScore(self.edges, -self.ratios)

    def describe(self, threshold: float) -> Any:
        """Union of intervals [from, to)."""
        bounds = np.r_[-np.inf, self.edges, np.inf]
        chosen = self.ratios >= threshold
        starts = np.flatnonzero(chosen & ~np.r_[False, chosen[:-1]])
        ends = np.flatnonzero(chosen & ~np.r_[chosen[1:], False])
        return {
            "output in [from, to)": [
                [float(bounds[i]), float(bounds[j + 1])] for i, j in zip(starts, ends, strict=True)
            ]
        }


@dataclass(frozen=True, slots=True)
class LearnedScore:
    """Log-odds of a gradient-boosted classifier that tells the two inputs' outputs apart."""

    model: Any
    sign: int = 1

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray) -> LearnedScore:
        """Train on at most 200,000 rows."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        half = _LEARNER_ROWS // 2
        rows = np.concatenate([_columns(x[:half]), _columns(y[:half])])
        labels = np.r_[np.ones(min(half, len(x))), np.zeros(min(half, len(y)))]
        model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
        with _one_thread():
            return cls(model.fit(rows, labels))

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        with _one_thread():
            return self.sign * np.asarray(self.model.decision_function(_columns(outputs)))

    def negated(self) -> LearnedScore:
        """Swap the inputs."""
        return LearnedScore(self.model, -self.sign)

    def describe(self, threshold: float) -> Any:
        """Threshold on the learned score; a re-run with the same seed learns the same one."""
        return {"learned log-odds": f">= {threshold:.17g}" if self.sign > 0 else f"<= {-threshold:.17g}"}


def candidates(outputs: np.ndarray) -> Iterator[Callable[[np.ndarray, np.ndarray], Score]]:
    """Yield the ways of learning a score that suit outputs of this form."""
    numeric = outputs.dtype.kind in "biuf"
    repeated = len(outputs) - len(np.unique(_row_keys(outputs)))
    if repeated >= _ATOM_REPEATS or not numeric:
        yield OutcomeScore.fit
    if not numeric or (outputs.dtype.kind != "f" and repeated >= _REPEATED_SHARE * len(outputs)):
        return
    columns = 1 if outputs.ndim == 1 else int(np.prod(outputs.shape[1:]))
    if columns == 1:
        flat = outputs.reshape(len(outputs), -1)[:, 0]
        if len(np.unique(flat)) > _BINS:
            yield _fixed(ColumnScore(None if outputs.ndim == 1 else 0, 1))
            if outputs.ndim == 1:
                yield HistogramScore.fit
        return
    if columns <= _MAX_COLUMN_CANDIDATES:
        for column in range(columns):
            yield _fixed(ColumnScore(column, 1))
    yield LearnedScore.fit


def _fixed(score: Score) -> Callable[[np.ndarray, np.ndarray], Score]:
    return lambda x, y: score


def _columns(outputs: np.ndarray) -> np.ndarray:
    # The learner takes midpoints of values, which must stay finite.
    return np.asarray(np.clip(outputs.reshape(len(outputs), -1).astype(float), -_LARGEST, _LARGEST))


def _one_thread() -> Any:
    """Keep the learner to one thread: audits run in parallel as processes, and idle OpenMP threads spin."""
    return _threads().limit(limits=1, user_api="openmp")


@cache
def _threads() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _row_keys(outputs: np.ndarray) -> np.ndarray:
    """One sortable value per output, equal exactly for equal outputs."""
    if outputs.dtype.kind == "O":
        return np.array([repr(_canonical(item)) for item in outputs])
    if outputs.ndim == 1:
        return outputs
    rows = np.ascontiguousarray(outputs.reshape(len(outputs), -1))
    if rows.shape[1] == 1:
        return rows[:, 0]
    if rows.dtype.kind in "US":
        # The bytes of a string depend on the longest one in its array.
        return np.array([repr(row) for row in rows.tolist()])
    if rows.dtype.kind == "f":
        rows = rows + 0.0  # -0.0 and 0.0 are equal but differ in their bytes
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _canonical(item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return _canonical(item.tolist())
    if isinstance(item, set | frozenset):
        return ("set", sorted(repr(_canonical(part)) for part in item))
    if isinstance(item, list | tuple):
        return [_canonical(part) for part in item]
    if isinstance(item, np.generic):
        return item.item()
    return item
