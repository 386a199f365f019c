"""A shuffler behind any local randomizer with finitely many inputs and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.laws import FiniteLaw, Law, Shuffle


class LocalRandomizer(Protocol):
    """What a shuffler needs: `RandomizedResponse`, `Thresholded` noise, `HypercubeResponse`, and others, have it."""

    def randomize(self, values: Any, rng: np.random.Generator) -> npt.NDArray[Any]:
        """Report of every value along axis 0, independently; same shape."""
        ...

    def law(self, value: Any) -> Law:
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

    Examples
    --------
    >>> from dpaudit.randomizers import RandomizedResponse, Shuffler
    >>> shuffled = Shuffler(RandomizedResponse.for_epsilon(1.0)).of(1000)
    >>> round(shuffled.epsilon(1e-6).epsilon, 3)
    0.127
    """

    randomizer: LocalRandomizer
    inputs: Sequence[Any] = (0, 1)

    def __post_init__(self) -> None:
        if len(self.inputs) < 2:
            raise ParameterError(f"a shuffler needs at least two possible inputs, got {list(self.inputs)}")

    def of(self, users: int) -> Shuffle:
        """Laws of the shuffled reports of so many users, and the inputs on which they say most of one of them.

        Raises
        ------
        ParameterError
            A report has no finite law.
        """
        reports = [self.randomizer.law(value) for value in self.inputs]
        finite = [law for law in reports if isinstance(law, FiniteLaw)]
        if len(finite) < len(reports):
            raise ParameterError(
                f"the report of {type(self.randomizer).__name__} has a {type(reports[0]).__name__}; "
                "shuffle one with finitely many reports, such as thresholded noise"
            )
        return Shuffle(finite, users)

    def randomize(self, values: npt.ArrayLike, size: int, rng: np.random.Generator) -> npt.NDArray[Any]:
        """Shuffled reports of all users in many runs.

        Parameters
        ----------
        values
            Inputs of the users along axis 0, shape (users, ...).
        size
            Number of runs.

        Returns
        -------
        ndarray, shape (size, users, ...)
            The reports of every run in an order of its own.
        """
        array = np.asarray(values)
        users = len(array)
        reports = self.randomizer.randomize(np.concatenate([array] * size), rng)
        order = rng.permuted(np.tile(np.arange(users), (size, 1)), axis=1)
        shuffled: npt.NDArray[Any] = reports.reshape(size, *array.shape)[np.arange(size)[:, None], order]
        return shuffled
