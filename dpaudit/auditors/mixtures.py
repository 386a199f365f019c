"""A score for outputs whose numbers depend on something that the output does not show, such as a noisy threshold.

Given the hidden class of an output, its columns are independent. The classes are found in the outputs of both inputs
together, by expectation-maximisation (Dempster, Laird, Rubin 1977), as in latent class analysis (Goodman 1974); what
the inputs differ in is then estimated class by class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.auditors.outputs import OutputsLike
from dpaudit.auditors.rowscores import Transform, cell_numbers

_CLASSES = 8
_ROUNDS, _MORE_ROUNDS = 25, 6
"""Rounds on a few outputs, and on all."""

_FEW_ROWS, _MOST_ROWS = 10_000, 60_000
"""Outputs of either input."""

_MOST_CELLS = 400
"""Cells of all columns together."""

_SMOOTHED = 0.5
_CONVERGED = 1e-5
"""Mean gain of the log-likelihood of an output from which on another round is not worth its time."""


@dataclass(frozen=True, slots=True)
class MixtureScore:
    """Log-ratio of two mixtures of products of discrete laws, one for each input.

    Attributes
    ----------
    transform
        What the columns are.
    edges
        Cells of every column.
    columns
        Columns that take part, shape (k,).
    weights
        Logarithm of the probability of every class on either input, shape (2, classes).
    laws
        Logarithm of the probability of every cell of the columns, one after the other, in every class on either input;
        shape (2, cells, classes).
    """

    cost: ClassVar[int] = 4
    log_ratio: ClassVar[bool] = True

    transform: Transform
    edges: tuple[np.ndarray, ...]
    columns: np.ndarray
    weights: np.ndarray
    laws: np.ndarray

    @classmethod
    def fit(
        cls, transform: Transform, edges: tuple[np.ndarray, ...], x: np.ndarray, y: np.ndarray
    ) -> MixtureScore | None:
        """Learn from rows on both inputs, which the transform has made; None where fewer than two columns vary."""
        columns = np.array([i for i, edge in enumerate(edges) if len(edge)], dtype=int)
        if len(columns) < 2 or sum(len(edges[i]) + 1 for i in columns) > _MOST_CELLS:
            return None
        sides = [_cells(edges, columns, side[:_MOST_ROWS]) for side in (x, y)]
        size = sum(len(edges[i]) + 1 for i in columns)
        some = np.concatenate([side[:_FEW_ROWS] for side in sides])
        weights, laws = _improved(some, _first_parts(some), size, _ROUNDS)
        every = np.concatenate(sides)
        weights, laws = _improved(every, _parts(every, weights, laws)[0], size, _MORE_ROUNDS)
        return cls(transform, edges, columns, *_differences(sides, weights, laws, _column_of(edges, columns)))

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        """Log-ratio of every output, shape (size,)."""
        rows = self.transform(outputs)
        cells = _cells(self.edges, self.columns, rows)
        found = [_log_mixture(cells, weights, laws) for weights, laws in zip(self.weights, self.laws, strict=True)]
        return np.asarray(found[0] - found[1])

    def describe(self, threshold: float, *, above: bool) -> Any:
        """Threshold on the log-ratio of the two mixtures."""
        return {
            f"log-ratio of two mixtures of {self.weights.shape[1]} hidden classes, in each of which "
            f"{len(self.columns)} columns are independent": f"{'>=' if above else '<='} {threshold:.17g}"
        }

    def to_json(self) -> dict[str, Any]:
        """Transform, cells and laws."""
        return {
            "kind": "mixture",
            "transform": self.transform.to_json(),
            "edges": [edges.tolist() for edges in self.edges],
            "columns": self.columns.tolist(),
            "weights": self.weights.tolist(),
            "laws": self.laws.tolist(),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> MixtureScore:
        """Make the score again."""
        return cls(
            Transform.from_json(raw["transform"]),
            tuple(np.array(edges, dtype=float) for edges in raw["edges"]),
            np.array(raw["columns"], dtype=int),
            np.array(raw["weights"], dtype=float),
            np.array(raw["laws"], dtype=float),
        )


def _cells(edges: tuple[np.ndarray, ...], columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Number of the cell of each column, among those of all columns; shape (size, k)."""
    numbers = np.empty((len(rows), len(columns)), dtype=np.int64)
    offset = 0
    for place, column in enumerate(columns.tolist()):
        numbers[:, place] = cell_numbers(edges[column], rows[:, column]) + offset
        offset += len(edges[column]) + 1
    return numbers


def _column_of(edges: tuple[np.ndarray, ...], columns: np.ndarray) -> np.ndarray:
    """Place of the column of each cell."""
    return np.repeat(np.arange(len(columns)), [len(edges[i]) + 1 for i in columns.tolist()])


def _joint(cells: np.ndarray, weights: np.ndarray, laws: np.ndarray) -> np.ndarray:
    """Logarithm of the probability of every output together with every class, shape (size, classes)."""
    found = np.tile(weights, (len(cells), 1))
    for column in cells.T:
        found += laws[column]
    return found


def _log_mixture(cells: np.ndarray, weights: np.ndarray, laws: np.ndarray) -> np.ndarray:
    return np.asarray(np.logaddexp.reduce(_joint(cells, weights, laws), axis=1))


def _counted(cells: np.ndarray, parts: np.ndarray, size: int) -> np.ndarray:
    """Sum of the parts that outputs have in each class, over the outputs in each cell; shape (cells, classes)."""
    counts = np.zeros((size, parts.shape[1]))
    for number in range(parts.shape[1]):
        for column in cells.T:
            counts[:, number] += np.bincount(column, weights=parts[:, number], minlength=size)
    return counts


def _parts(cells: np.ndarray, weights: np.ndarray, laws: np.ndarray) -> tuple[np.ndarray, float]:
    """Probability of every class given the output, and the mean log-likelihood."""
    joint = _joint(cells, weights, laws)
    total = np.logaddexp.reduce(joint, axis=1)
    return np.exp(joint - total[:, None]), float(total.mean())


def _first_parts(cells: np.ndarray) -> np.ndarray:
    """Parts in which the classes are outputs whose cells lie low, or high, altogether.

    Hidden quantities that all numbers depend on shift them together.
    """
    order = np.argsort(cells.sum(axis=1), kind="stable")
    parts = np.full((len(cells), _CLASSES), _SMOOTHED / _CLASSES)
    parts[order, np.arange(len(order)) * _CLASSES // len(order)] += 1 - _SMOOTHED
    return parts


def _improved(cells: np.ndarray, parts: np.ndarray, size: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights and laws of the classes, after so many rounds of expectation-maximisation."""
    before = -np.inf
    weights = laws = np.empty(0)
    for _ in range(rounds):
        weights = np.log(parts.mean(axis=0))
        laws = np.log(_counted(cells, parts, size) + _SMOOTHED) - np.log(parts.sum(axis=0) + 1)
        parts, likelihood = _parts(cells, weights, laws)
        if likelihood - before < _CONVERGED:
            break
        before = likelihood
    return weights, laws


def _differences(
    sides: list[np.ndarray], weights: np.ndarray, laws: np.ndarray, column_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weights and laws of either input: the common ones, and half of what the inputs differ by in each class.

    Differences that are no larger than chance makes them are shrunk, column by column, as James and Stein's estimator
    shrinks means.
    """
    parts = [_parts(side, weights, laws)[0] for side in sides]
    shares = [np.log(part.mean(axis=0)) for part in parts]
    counts = [_counted(side, part, len(laws)) + _SMOOTHED for side, part in zip(sides, parts, strict=True)]
    ratios = np.log(counts[0]) - np.log(counts[1]) - (shares[0] - shares[1])
    surprise = ratios**2 / (1 / counts[0] + 1 / counts[1])
    for column in range(column_of[-1] + 1):
        cells = column_of == column
        excess = surprise[cells].sum(axis=0)
        ratios[cells] *= np.maximum(0.0, 1 - (cells.sum() - 1) / np.maximum(excess, 1e-300))
    return np.stack(shares), np.stack([laws + ratios / 2, laws - ratios / 2])
