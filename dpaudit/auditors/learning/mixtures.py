"""A score for outputs whose numbers depend on something that the output does not show, such as a noisy threshold.

Given the hidden class of an output, its columns are independent. The classes are found in the outputs of both inputs
together, by expectation-maximisation (Dempster, Laird, Rubin 1977), as in latent class analysis (Goodman 1974); what
the inputs differ in is then estimated class by class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from dpaudit.auditors.learning.lookup import Lookup
from dpaudit.auditors.learning.row_scores import of_some
from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import Transform
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.event_words import half_line, rule, with_rule
from dpaudit.auditors.outputs.outputs import OutputsLike

_CLASSES = 8
"""Hidden classes of either input. Chosen by hand: enough for the levels of one hidden quantity, such as a noisy
threshold that all numbers are compared with."""

_ROUNDS = 25
"""Rounds of expectation-maximisation on a few outputs, at most. Chosen by hand, for time."""

_MORE_ROUNDS = 6
"""Rounds on all outputs, at most, after those. Chosen by hand, for time."""

_FEW_ROWS = 10_000
"""Outputs of either input that the first rounds learn from; as many others decide whether the classes describe what
they have not seen. Chosen by hand, for time."""

_MOST_ROWS = 60_000
"""Outputs of either input that the last rounds learn from, at most. Chosen by hand, for time."""

_MOST_CELLS = 400
"""Cells of all columns together up to which classes are learned. Chosen by hand: each class has a probability for every
cell."""

_SMOOTHED = 0.5
"""Occurrences that are added to those in every cell, so that no probability is 0; also how far the first classes
overlap. One half is Jeffreys' prior for a proportion."""

_CONVERGED = 1e-5
"""Mean gain of the log-likelihood of an output from which on another round is not worth its time: e^0.1 for 10,000
outputs. Chosen by hand."""


_DEPENDENT = 3.0
"""Standard deviations by which the chi-squared statistics of all pairs of columns must add up to more than chance makes
them on either input for classes to be learned. Chosen by hand: chance does that once in 370 times, and then only time
is lost."""


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
    cells: _Cells = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", _Cells(self.edges, self.columns))

    @classmethod
    def fit(
        cls, transform: Transform, edges: tuple[np.ndarray, ...], x: np.ndarray, y: np.ndarray
    ) -> MixtureScore | None:
        """Learn from rows on both inputs, which the transform has made.

        None where fewer than two columns vary, no two of them depend on each other, or classes learned from some rows
        do not describe others better than independent columns do: the score would be a sum over columns, and others
        are.
        """
        columns = np.array([i for i, edge in enumerate(edges) if len(edge)], dtype=int)
        if len(columns) < 2 or sum(len(edges[i]) + 1 for i in columns) > _MOST_CELLS:
            return None
        cells = _Cells(edges, columns)
        sides = [cells.numbers(side[:_MOST_ROWS]) for side in (x, y)]
        numbers = np.concatenate([side[:_FEW_ROWS] for side in sides])
        # Together, the inputs may hide that columns depend on each other, in opposite ways.
        if not any(_depend(side[:_FEW_ROWS], [len(edges[i]) + 1 for i in columns]) for side in sides):
            return None
        some = cells.counted(numbers)
        sizes = np.concatenate([np.full(len(edges[i]) + 1, len(edges[i]) + 1) for i in columns])
        weights, laws = _improved(some, _first_parts(numbers), sizes, _ROUNDS)
        if len(sides[0]) >= 2 * _FEW_ROWS:
            others = cells.counted(np.concatenate([side[_FEW_ROWS : 2 * _FEW_ROWS] for side in sides]))
            independent = np.log((some.sum(axis=0) + _SMOOTHED) / (some.shape[0] + _SMOOTHED * sizes))[:, None]
            if _parts(others, weights, laws)[1] <= _parts(others, np.zeros(1), independent)[1]:
                return None
        every = cells.counted(np.concatenate(sides))
        weights, laws = _improved(every, _parts(every, weights, laws)[0], sizes, _MORE_ROUNDS)
        counted = [every[: len(sides[0])], every[len(sides[0]) :]]
        return cls(transform, edges, columns, *_differences(counted, weights, laws, _column_of(edges, columns)))

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        """Log-ratio of every output, shape (size,)."""
        return self.of_rows(self.transform(outputs))

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log-ratio of rows that have been transformed already."""
        cells = self.cells.counted(self.cells.numbers(rows))
        found = [_scaled(_joint(cells, *law))[1] for law in zip(self.weights, self.laws, strict=True)]
        return np.asarray(found[0] - found[1])

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Threshold on the log-ratio of the two mixtures, with the rule where it is short."""
        columns, width = self.columns.tolist(), len(self.edges)
        event = {
            f"log-ratio of two mixtures of {self.weights.shape[1]} hidden classes, each a law of independent numbers, "
            f"which are {self.transform.listed(columns, width, naming)}": half_line(threshold, above=above),
            **self.transform.explained(columns, width, naming),
        }
        axes = [self.transform.axis(column, width, self.edges[column], naming) for column in columns]
        return with_rule(event, rule(axes, of_some(self.of_rows, columns, width), threshold, above=above))

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


class _Cells:
    """Cells of the columns that take part, numbered one column after the other."""

    __slots__ = ("_lookup", "_size")

    def __init__(self, edges: tuple[np.ndarray, ...], columns: np.ndarray) -> None:
        tables, begins = [Table(np.empty(0), np.zeros(1)) for _ in edges], 0
        for column in columns.tolist():
            tables[column] = Table(edges[column], begins + np.arange(len(edges[column]) + 1.0))
            begins += len(edges[column]) + 1
        self._lookup, self._size = Lookup.of(tables), begins

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """Cell of every column of rows, shape (size, k)."""
        assert self._lookup is not None
        return np.ascontiguousarray(self._lookup.each(rows, np.int32).T)

    def counted(self, numbers: np.ndarray) -> csr_array:
        """Matrix of outputs and cells with a 1 where an output is in a cell."""
        ends = np.arange(0, numbers.size + 1, numbers.shape[1], dtype=np.int32)
        return csr_array((np.ones(numbers.size), numbers.ravel(), ends), shape=(len(numbers), self._size))


def _depend(numbers: np.ndarray, sizes: list[int]) -> bool:
    """Whether pairs of columns depend on each other, which those of a hidden class do.

    Parameters
    ----------
    numbers
        Cells of outputs, numbered one column after the other, shape (size, k).
    sizes
        Cells of each column.
    """
    begins = np.cumsum([0, *sizes[:-1]])
    columns = np.ascontiguousarray((numbers - begins).T).astype(np.intp)
    counts = [np.bincount(column, minlength=size) for column, size in zip(columns, sizes, strict=True)]
    excess, variance = 0.0, 0.0
    for i, of_i in enumerate(counts):
        for j in range(i + 1, len(counts)):
            together = np.bincount(columns[i] * sizes[j] + columns[j], minlength=sizes[i] * sizes[j])
            expected = np.outer(of_i, counts[j]).ravel() / len(numbers)
            seen = expected > 0
            freedom = (np.count_nonzero(of_i) - 1) * (np.count_nonzero(counts[j]) - 1)
            excess += float(np.sum((together - expected)[seen] ** 2 / expected[seen])) - freedom
            variance += 2 * freedom
    return bool(excess > _DEPENDENT * np.sqrt(variance))


def _column_of(edges: tuple[np.ndarray, ...], columns: np.ndarray) -> np.ndarray:
    """Place of the column of each cell."""
    return np.repeat(np.arange(len(columns)), [len(edges[i]) + 1 for i in columns.tolist()])


def _joint(cells: csr_array, weights: np.ndarray, laws: np.ndarray) -> np.ndarray:
    """Logarithm of the probability of every output together with every class, shape (classes, size)."""
    return np.asarray(np.ascontiguousarray((cells @ laws).T) + weights[:, None])


def _scaled(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability of every class given the output, shape (classes, size), and the log-probability of the output."""
    largest = joint.max(axis=0)
    parts = np.exp(joint - largest)
    total = parts.sum(axis=0)
    return parts / total, largest + np.log(total)


def _parts(cells: csr_array, weights: np.ndarray, laws: np.ndarray) -> tuple[np.ndarray, float]:
    """Probability of every class given the output, shape (size, classes), and the mean log-likelihood."""
    parts, likelihood = _scaled(_joint(cells, weights, laws))
    return np.ascontiguousarray(parts.T), float(likelihood.mean())


def _first_parts(cells: np.ndarray) -> np.ndarray:
    """Parts in which the classes are outputs whose cells lie low, or high, altogether.

    Hidden quantities that all numbers depend on shift them together.
    """
    order = np.argsort(cells.sum(axis=1), kind="stable")
    parts = np.full((len(cells), _CLASSES), _SMOOTHED / _CLASSES)
    parts[order, np.arange(len(order)) * _CLASSES // len(order)] += 1 - _SMOOTHED
    return parts


def _shares(parts: np.ndarray) -> np.ndarray:
    """Logarithm of the part of all outputs that is in each class; a class may be empty."""
    return np.asarray(np.log(np.maximum(parts.mean(axis=0), np.finfo(float).tiny)))


def _improved(cells: csr_array, parts: np.ndarray, sizes: np.ndarray, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights and laws of the classes, after so many rounds of expectation-maximisation.

    ``sizes`` are the cells of the column that each cell is of: what every count is raised by adds up to that many.
    """
    before = -np.inf
    weights = laws = np.empty(0)
    for _ in range(rounds):
        weights = _shares(parts)
        laws = np.log(cells.T @ parts + _SMOOTHED) - np.log(parts.sum(axis=0) + _SMOOTHED * sizes[:, None])
        parts, likelihood = _parts(cells, weights, laws)
        if likelihood - before < _CONVERGED:
            break
        before = likelihood
    return weights, laws


def _differences(
    sides: list[csr_array], weights: np.ndarray, laws: np.ndarray, column_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weights and laws of either input: the common ones, and half of what the inputs differ by in each class.

    Differences that are no larger than chance makes them are shrunk, column by column, as James and Stein's estimator
    shrinks means.
    """
    parts = [_parts(side, weights, laws)[0] for side in sides]
    shares = [_shares(part) for part in parts]
    counts = [side.T @ part + _SMOOTHED for side, part in zip(sides, parts, strict=True)]
    ratios = np.log(counts[0]) - np.log(counts[1]) - (shares[0] - shares[1])
    surprise = ratios**2 / (1 / counts[0] + 1 / counts[1])
    for column in range(column_of[-1] + 1):
        cells = column_of == column
        excess = surprise[cells].sum(axis=0)
        ratios[cells] *= np.maximum(0.0, 1 - (cells.sum() - 1) / np.maximum(excess, 1e-300))
    return np.stack(shares), np.stack([laws + ratios / 2, laws - ratios / 2])
