"""Datasets that a claim can be measured on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The content of a data file.

    Attributes
    ----------
    value
        What the mechanism's parameter of role ``dataset`` takes.
    sizes
        What the data decide, by the role of the parameter that it is: ``{"agents": 795, "alternatives": 4}``.

    Examples
    --------
    >>> import dpaudit
    >>> data = dpaudit.Dataset(value=[[0, 1], [1, 0]], sizes={"agents": 2, "alternatives": 2})
    >>> data.sizes["agents"]
    2
    """

    value: Any
    sizes: Mapping[str, int] = field(default_factory=dict)


class DatasetLoader(Protocol):
    """Reads data files of one form.

    Examples
    --------
    >>> import dpaudit
    >>> class Counts:
    ...     form = "counts, one a line"
    ...     def load(self, path):
    ...         return dpaudit.Dataset(value=[int(line) for line in open(path)])
    >>> class Total(dpaudit.Mechanism):
    ...     counts: list | None = dpaudit.parameter(None, role="dataset", loader=Counts())
    ...     def sample(self, data, size, rng):
    ...         return rng.laplace(data, size=size)
    >>> Total().parameters()
    {'counts': None}
    """

    @property
    def form(self) -> str:
        """What such a file holds, in words: ``rankings (PrefLib)``."""

    def load(self, path: str) -> Dataset:
        """Read a file.

        Raises
        ------
        DataError
            The file cannot be read, or is malformed.
        """
