"""What a tool is given, what it returns, and what a case knows.

A tool is a function of six arguments,

    bound(mechanism, x, y, samples, confidence, seed)

that returns a lower bound on epsilon at ``mechanism.delta``, or None where it does not apply. It draws at most
``samples`` outputs of each input, with ``mechanism.sample(x, size, rng)``, from generators that it seeds with ``seed``:
draws beyond that are counted and named, and so are audits with other seeds that are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np

Kind = Literal["null", "exact", "broken"]
KINDS: tuple[Kind, ...] = ("null", "exact", "broken")
Sample = Callable[[Any, int, np.random.Generator], np.ndarray]

ROUNDING = 1e-9
"""What a bound may be above the truth, absolutely and relatively, without counting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """What a tool sees.

    Attributes
    ----------
    name
        For messages.
    sample
        ``sample(data, size, rng)`` returns ``size`` independent outputs along axis 0: numbers or rows of numbers.
    epsilon, delta
        What is promised. The bound is one on epsilon at ``delta``; a tool that tests a claim tests ``epsilon``.
    protocol
        The local protocol that it is, for attacks that know protocols.
    """

    name: str
    sample: Sample
    epsilon: float
    delta: float = 0.0
    protocol: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A mechanism with a pair of inputs and the truth about it.

    Attributes
    ----------
    kind
        ``null``: outputs of both inputs have the same law, and epsilon is 0. ``exact``: what is promised is true, and
        no smaller epsilon is. ``broken``: the true epsilon is larger than what is promised.
    mechanism
        What a tool is given.
    pair
        The two inputs.
    truth
        Works out the true epsilon at the promised delta, from the law of the outputs; may be infinite.
    trap
        What may mislead a tool, or what the bug is.
    """

    kind: Kind
    mechanism: Mechanism
    pair: tuple[Any, Any]
    truth: Callable[[], float]
    trap: str

    @property
    def name(self) -> str:
        return self.mechanism.name


Bound = Callable[[Mechanism, Any, Any, int, float, int], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool to be calibrated.

    Attributes
    ----------
    name
        As the tables have it.
    bound
        See the top of this module.
    how
        How it was made to fit the interface, in a sentence or two.
    error
        Stated probability of a bound above the truth; one minus the confidence that it is asked for, if None.
    requires
        Package without which it is left out.
    control
        Whether it is wrong on purpose, to see that the benchmark notices.
    """

    name: str
    bound: Bound
    how: str = ""
    error: float | None = None
    requires: str | None = None
    control: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ValueError(f"name of a tool must be a text, got {self.name!r}")
        if not callable(self.bound):
            raise ValueError(f"bound of the tool {self.name!r} must be a function, got {self.bound!r}")
        if self.error is not None and not _probability(self.error):
            raise ValueError(
                f"error of the tool {self.name!r} must be a probability below 1, such as 0.05, or None; "
                f"got {self.error!r}"
            )

    @property
    def installed(self) -> bool:
        return self.requires is None or find_spec(self.requires) is not None

    def stated(self, confidence: float) -> float:
        """Stated error probability at that confidence."""
        return round(1 - confidence, 12) if self.error is None else self.error


def _probability(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= value < 1


class FileError(Exception):
    """A file that does not hold what it should; the message says what is wrong."""


def loaded(path: str) -> Tool:
    """The tool that a file calls ``TOOL``."""
    if not Path(path).is_file():
        raise FileError(f"there is no file {path}")
    spec = spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise FileError(f"{path} is no Python file: its name must end in .py")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise FileError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    tool = getattr(module, "TOOL", None)
    if not isinstance(tool, Tool):
        raise FileError(f"{path} must define TOOL = Tool(name=..., bound=...), of calibration.interface")
    return tool
