"""What the peers share: samples, rows of numbers, and the bound from two counts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from suite.given import Given

from dpaudit.auditors.blackbox.audit import sampler_of
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.statistics.proportions import proportion_lower, proportion_upper

MOST_CATEGORIES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an auditor says of a pair: a lower bound on epsilon, a p-value for equal laws, or both.

    ``samples`` is per input; of fewer than it was given, where it cannot use more.
    """

    samples: int
    bound: float | None = None
    p_value: float | None = None


class Source:
    """Samples of both inputs of a case, as arrays; features that the mechanism names included."""

    def __init__(self, row: Given, seed: int) -> None:
        self._sampler = sampler_of(row.mechanism, Budget(), Streams(seed, ("peers", row.mechanism.name))).about(
            *row.pair
        )
        self._pair = row.pair

    def draw(self, size: int, purpose: str, *, side: int) -> Outputs:
        """Samples of the first (0) or second (1) input."""
        return Outputs(self._sampler.draw(self._pair[side], size, purpose, side))

    def both(self, size: int, purpose: str) -> tuple[Outputs, Outputs]:
        """Samples of both inputs."""
        return self.draw(size, purpose, side=0), self.draw(size, purpose, side=1)


@dataclass(frozen=True, slots=True)
class Rows:
    """Outputs as rows of finite numbers; categories become flags.

    No peer takes structured outputs or text: these are taken apart as dpaudit does. ``flags`` are values of numeric
    outputs that get a flag too, and 0 in their place, as DP-Sniper has it for the answers of sparse vectors.
    """

    columns: Columns
    categories: tuple[tuple[int, tuple[float, ...]], ...]
    flags: tuple[float, ...] = ()

    @classmethod
    def fit(cls, x: Outputs, y: Outputs, flags: Sequence[float] = ()) -> Self | None:
        """Form that suits samples; None where outputs cannot be taken apart."""
        columns = x.columns_with(y)
        if columns is None:
            return None
        found = []
        if not columns.numeric:
            rows = np.concatenate([side.rows(columns) for side in (x, y)])
            for place, kept in enumerate(columns.kept):
                values = np.unique(rows[:, place])
                if kept and kept % 2 == 0 and len(values) <= MOST_CATEGORIES:
                    found.append((place, tuple(values.tolist())))
        return cls(columns, tuple(found), tuple(flags))

    def __call__(self, outputs: Outputs) -> np.ndarray:
        """Matrix of numbers, shape (size, columns)."""
        rows = outputs.rows(self.columns).astype(float)
        rows = np.nan_to_num(rows, nan=0.0, posinf=1e300, neginf=-1e300)
        parts = []
        for value in self.flags:
            where = rows == value
            parts.append(where.astype(float))
            rows = np.where(where, 0.0, rows)
        coded = [place for place, _ in self.categories]
        parts += [(rows[:, [place]] == np.array(values)).astype(float) for place, values in self.categories]
        return np.hstack([np.delete(rows, coded, axis=1), *parts])


def bound_of(hits_p: int, hits_q: int, trials: int, confidence: float, delta: float) -> float:
    """log((p - delta) / q) from two Clopper-Pearson bounds that share the error probability; at least 0."""
    alpha = (1 - confidence) / 2
    low = float(proportion_lower(hits_p, trials, alpha)) - delta
    high = float(proportion_upper(hits_q, trials, alpha))
    return max(0.0, math.log(low) - math.log(high)) if low > 0 else 0.0
