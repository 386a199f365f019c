"""A shuffler behind any local randomizer with finitely many inputs and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.laws import FiniteLaw, Shuffle


class LocalRandomizer(Protocol):
    """What a shuffler needs of a local randomizer, such as `RandomizedResponse` or `Thresholded` noise."""

    def randomize(self, values: Any, rng: np.random.Generator) -> npt.NDArray[Any]:
        """Report of every value, independently; same shape."""
        ...

    def law(self, value: Any) -> FiniteLaw:
        """Law of the report of one value."""
        ...


@dataclass(frozen=True, slots=True)
class Shuffler:
    """Sends the reports of all users on in random order.

    Parameters
    ----------
    randomizer
        Makes a report of every user's input.
    inputs
        The possible inputs of a user, at least two; arrays of them are what is randomized.
    """

    randomizer: LocalRandomizer
    inputs: Sequence[Any] = (0, 1)

    def __post_init__(self) -> None:
        if len(self.inputs) < 2:
            raise ParameterError(f"a shuffler needs at least two possible inputs, got {list(self.inputs)}")

    def of(self, users: int) -> Shuffle:
        """Laws of the shuffled reports of so many users, and the inputs on which they say most of one of them."""
        return Shuffle([self.randomizer.law(value) for value in self.inputs], users)

    def randomize(self, values: npt.ArrayLike, size: int, rng: np.random.Generator) -> npt.NDArray[Any]:
        """Shuffled reports of users with these inputs, shape (users,), in ``size`` runs: shape (size, users)."""
        array = np.asarray(values)
        reports = self.randomizer.randomize(np.broadcast_to(array, (size, *array.shape)), rng)
        return rng.permuted(reports, axis=1)
