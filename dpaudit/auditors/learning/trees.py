"""A score learned by gradient-boosted trees, for what simpler scores do not see."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpaudit.auditors.learning.threads import one_thread
from dpaudit.auditors.learning.transforms import Identity
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.event_words import half_line
from dpaudit.auditors.outputs.outputs import OutputsLike, as_outputs
from dpaudit.auditors.sampling.pace import check_time

if TYPE_CHECKING:
    from dpaudit.auditors.learning.scores import Score

_LARGEST = 1e300
"""Size to which numbers are limited before trees look at them: scikit-learn takes no infinite ones, and differences of
these are finite."""

_LIBRARY, _IMPORT_SECONDS = "sklearn.ensemble", 2.0
"""What is imported where trees are learned for the first time, and seconds that this takes. Measured roughly: 1 second,
or 2 where other work shares the processor."""


@dataclass(frozen=True, slots=True)
class BoostedScore:
    """Log-odds of a gradient-boosted classifier that sees the columns and the other scores."""

    cost: ClassVar[int] = 9
    log_ratio: ClassVar[bool] = True

    columns: Columns
    others: tuple[Score, ...]
    model: Any

    @classmethod
    def fit(
        cls, x: OutputsLike, y: OutputsLike, columns: Columns, others: tuple[Score, ...], *, rounds: int
    ) -> BoostedScore:
        """Train that many rounds on samples of both inputs."""
        if _LIBRARY not in sys.modules:
            check_time(_IMPORT_SECONDS)
        from sklearn.ensemble import HistGradientBoostingClassifier

        rows = np.concatenate([_features(side, columns, [score(side) for score in others]) for side in (x, y)])
        labels = np.r_[np.ones(len(x)), np.zeros(len(y))]
        model = HistGradientBoostingClassifier(
            max_iter=rounds, learning_rate=0.15, min_samples_leaf=50, early_stopping=False, random_state=0
        )
        with one_thread():
            return cls(columns, others, model.fit(rows, labels))

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        return self.of_features(outputs, [score(outputs) for score in self.others])

    def of_features(self, outputs: OutputsLike, others: Sequence[np.ndarray]) -> np.ndarray:
        """Score of every output, where the other scores of it are known."""
        with one_thread():
            return np.asarray(self.model.decision_function(_features(outputs, self.columns, others)))

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Threshold on the learned score; a re-run with the same seed learns the same one."""
        width = int(self.model.n_features_in_) - len(self.others)
        what = Identity(self.columns).listed(range(width), width, naming)
        return {f"log-odds learned from {what} (the same seed learns them again)": half_line(threshold, above=above)}

    def to_json(self) -> None:
        """Trees have no form of their own: they are learned again from the same samples."""
        return


def _features(outputs: OutputsLike, columns: Columns, others: Sequence[np.ndarray]) -> np.ndarray:
    # The learner takes midpoints of values, which must stay finite.
    numbers = np.clip(as_outputs(outputs).rows(columns).astype(float, copy=False), -_LARGEST, _LARGEST)
    return np.column_stack([numbers, *others])
