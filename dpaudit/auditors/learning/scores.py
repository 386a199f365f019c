"""Scores of outputs: estimates of the log likelihood ratio between two inputs, learned from samples.

An event is the set of outputs whose score is at least (or at most) a threshold. A score only has to put decisive
outputs first: any event is valid, because its probabilities are bounded on samples that had no part in choosing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from dpaudit.auditors.learning.bits import BitsScore
from dpaudit.auditors.learning.mixtures import MixtureScore
from dpaudit.auditors.learning.residues import ResidueScore
from dpaudit.auditors.learning.row_scores import (
    AdditiveScore,
    CoordinateScore,
    ExtremeScore,
    LinearScore,
    PairScore,
    QuadraticScore,
)
from dpaudit.auditors.learning.transforms import columns_from_json, places_to_json
from dpaudit.auditors.outputs import column_words as columnwords
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.event_words import half_line, in_full
from dpaudit.auditors.outputs.leaves import with_names
from dpaudit.auditors.outputs.outputs import (
    Coder,
    Coding,
    OutputsLike,
    as_outputs,
    find_keys,
    joined,
    outcome_keys,
    raw_of,
)

_COME_AGAIN = 20
"""Outcomes that came again among outputs of which most came once, from which on these count. Chosen by hand: by then
the part of all outputs that they make is known to a fifth or so."""

_LISTED = 24
_BLOCK_VALUES = 1 << 16
_LEAST_BLOCK = 512


class Score(Protocol):
    """Scores outputs; larger means likelier on the first input.

    ``cost`` ranks how long an evaluation takes: of events that promise as much, the cheapest is taken. ``log_ratio``
    says whether the score estimates the log likelihood ratio, so that a line relates the two.
    """

    cost: ClassVar[int]
    log_ratio: ClassVar[bool]

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        """Score of every output, shape (size,)."""
        ...

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Return the event {score >= threshold}, or {score <= threshold}, in words and numbers.

        It says which parts of an output the score looks at, those of arrays by a naming.
        """
        ...

    def to_json(self) -> dict[str, Any] | None:
        """Return what :func:`score_from_json` makes the score from again; None where it can only be learned again."""
        ...


class CombinedScore(Score, Protocol):
    """A score that looks at other scores too."""

    def of_features(self, outputs: OutputsLike, others: Sequence[np.ndarray]) -> np.ndarray:
        """Score of every output, shape (size,), where the other scores of it are known."""
        ...


@dataclass(frozen=True, slots=True)
class OutcomeScore:
    """Smoothed log-ratio of the counts of every outcome seen; 0 for others.

    Those seen once are others, unless most outputs are such ones and some come again: a generator of few states then
    makes them, and what was seen on one input may never come on the other.
    """

    cost: ClassVar[int] = 1
    log_ratio: ClassVar[bool] = False

    coding: Coding
    keys: np.ndarray
    ratios: np.ndarray
    outcomes: Any
    coder: Coder | None = None
    once: bool = False

    @classmethod
    def fit(cls, x: OutputsLike, y: OutputsLike) -> OutcomeScore | None:
        """Count outcomes on samples of both inputs; None where no outcome repeats."""
        if _all_new(x, y):
            return None
        both = joined([x, y])
        coder = Coder(both, at_least=2)
        once = len(coder.keys) >= _COME_AGAIN and 2 * int(np.count_nonzero(coder.codes < 0)) > len(both)
        if once:
            coder = Coder(both)
        size = len(coder.keys)
        if not size:
            return None
        sides = coder.codes[: len(x)], coder.codes[len(x) :]
        counts = [np.bincount(side[side >= 0], minlength=size) for side in sides]
        ratios = np.log(counts[0] + 0.5) - np.log(counts[1] + 0.5) + np.log(len(y) / len(x))
        return cls(coder.coding, coder.keys, ratios, coder.outcomes, coder, once)

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        if not len(self.keys):
            return np.zeros(len(outputs))  # writing wide outputs as texts would take long, for nothing
        if self.coder is not None:
            codes = self.coder(outputs)
        else:
            codes = find_keys(self.keys, outcome_keys(outputs, self.coding))
        # An unseen outcome has code -1, which finds the 0 at the end.
        return np.asarray(np.append(self.ratios, 0.0)[codes])

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """List the outcomes of the event."""
        inside = self.ratios >= threshold if above else self.ratios <= threshold
        others = threshold <= 0.0 if above else threshold >= 0.0
        chosen = with_names(self.outcomes[inside])
        if len(chosen) == 1 and not others:
            return chosen[0]
        listed: dict[str, Any] = {"any of": chosen[:_LISTED]}
        if len(chosen) > _LISTED:
            listed["and others, altogether"] = len(chosen)
        if others:
            often = "" if self.once else " twice"
            listed["or"] = f"an outcome that the selection sample did not show{often}"
        return listed

    def to_json(self) -> dict[str, Any] | None:
        """Keys as text; integers of 64 bits are written as such; None where numbers need extended precision."""
        keys = self.keys
        if keys.dtype == np.longdouble and keys.dtype.itemsize > 8:
            with np.errstate(over="ignore"):
                keys = keys.astype(float)
            if not np.array_equal(keys, self.keys):
                return None
        return {
            "kind": "outcomes",
            "coding": self.coding,
            "dtype": keys.dtype.str,
            "keys": keys.tolist(),
            "ratios": self.ratios.tolist(),
            **({"once": True} if self.once else {}),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> OutcomeScore:
        """Make the score again."""
        keys = np.array(raw["keys"], dtype=raw["dtype"])
        return cls(raw["coding"], keys, np.array(raw["ratios"], dtype=float), keys, once=raw.get("once", False))

    def shown_by(self, outputs: OutputsLike) -> OutcomeScore:
        """Return a score that was made again from its keys, with the outcomes that are among some outputs."""
        codes = find_keys(self.keys, outcome_keys(outputs, self.coding))
        found, first = np.unique(codes, return_index=True)
        seen = with_names(raw_of(outputs)[first])
        outcomes = np.empty(len(self.keys), dtype=object)
        outcomes[:] = self.outcomes.tolist()
        for code, outcome in zip(found.tolist(), seen, strict=True):
            if code >= 0:
                outcomes[code] = outcome
        return replace(self, outcomes=outcomes)


def _all_new(x: OutputsLike, y: OutputsLike) -> bool:
    """Whether no row of floating-point numbers repeats, because no number does that is the first in its row."""
    if x.dtype.kind != "f" or x.ndim != 2:
        return False
    first = np.sort(np.concatenate([raw_of(side)[:, 0] for side in (x, y)]))
    return not (first[1:] == first[:-1]).any()


@dataclass(frozen=True, slots=True)
class ColumnScore:
    """One number of the output, or its distance from a centre."""

    cost: ClassVar[int] = 0
    log_ratio: ClassVar[bool] = False

    column: int | None
    centre: float | None = None
    columns: Columns | None = None

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        if self.columns is not None:
            values = as_outputs(outputs).rows(self.columns)[:, self.column or 0]
        else:
            raw = raw_of(outputs)
            values = raw if self.column is None else raw.reshape(len(raw), -1)[:, self.column]
        values = values.astype(float, copy=False)
        return values if self.centre is None else np.abs(values - self.centre)

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Half-line in one coordinate."""
        column = self.column or 0
        legend: dict[str, str] = {}
        if self.columns is None:
            what = naming.of(column, 1 if self.column is None else column + 2)
            if self.centre is None and what in columnwords.SUPPORTED:
                values = [value for value in (False, True) if (value >= threshold if above else value <= threshold)]
                return {f"{what} is any of": list(map(str, values))}
        else:
            what = columnwords.named(self.columns, column, column + 1, naming)
            if columnwords.value_of(self.columns, column, 0.0) is not None:
                if self.centre is None:
                    codes = range(-1, len(self.columns.categories) + 2)
                    inside = [code for code in codes if (code >= threshold if above else code <= threshold)]
                    part = columnwords.part(self.columns, column, column + 1, naming)
                    return {f"{part} is any of": columnwords.values_of(self.columns, column, inside, part)}
                legend = columnwords.legend(self.columns, [column])
        if self.centre is not None:
            what = f"|{what} - {in_full(self.centre)}|"
        return {what: half_line(threshold, above=above), **legend}

    def to_json(self) -> dict[str, Any]:
        """Column and centre."""
        made: dict[str, Any] = {"kind": "column", "column": self.column, "centre": self.centre}
        if self.columns is not None:
            made["columns"] = {"categories": list(self.columns.categories), **places_to_json(self.columns)}
        return made

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> ColumnScore:
        """Make the score again."""
        columns = raw.get("columns")
        return cls(raw["column"], raw["centre"], None if columns is None else columns_from_json(columns))


_KINDS: dict[str, Any] = {
    "outcomes": OutcomeScore,
    "column": ColumnScore,
    "additive": AdditiveScore,
    "coordinate": CoordinateScore,
    "extreme": ExtremeScore,
    "linear": LinearScore,
    "quadratic": QuadraticScore,
    "mixture": MixtureScore,
    "pairs": PairScore,
    "bits": BitsScore,
    "residues": ResidueScore,
}


def scores_of(score: Score, outputs: OutputsLike) -> np.ndarray:
    """Score of every output, computed block by block so that the intermediate numbers stay in the cache."""
    outputs = as_outputs(outputs)
    rows = max(_LEAST_BLOCK, _BLOCK_VALUES // outputs.width)
    with np.errstate(over="ignore", invalid="ignore"):  # outputs may be infinite, or as large as numbers can be
        if len(outputs) <= rows:
            return score(outputs)
        return np.concatenate([score(outputs[start : start + rows]) for start in range(0, len(outputs), rows)])


def is_of_numbers(score: Score) -> bool:
    """Whether a score was learned from arrays of numbers; False where that cannot be told."""
    raw = score.to_json()
    if raw is None or raw.get("coding") in ("text", "values"):
        return False
    parts = [raw]
    for part in parts:
        if part.get("paths") is not None or part.get("positions") is not None:
            return False
        parts += [inner for inner in part.values() if isinstance(inner, dict)]
    return True


def score_from_json(raw: dict[str, Any]) -> Score:
    """Make a score from what its ``to_json`` gave.

    Raises
    ------
    KeyError, TypeError, ValueError
        It is no score.
    """
    made: Score = _KINDS[raw["kind"]].from_json(raw)
    return made
