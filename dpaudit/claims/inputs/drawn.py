"""Pairs that a Hypothesis strategy draws."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.claims.inputs.base import Pair, distinct, input_key
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_PATTERNS = 32
_TRIES = 200
"""Draws that may come to nothing: too long, or twice the same input."""

_BYTES = 8192
"""What the longest value may be made of; Hypothesis takes no more."""

_SHARES = (1.0, 1.0, 0.5, 0.125)
"""Shares of the bytes that are not zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPairs:
    """Neighbouring pairs that a Hypothesis strategy draws, for inputs of any structure.

    Attributes
    ----------
    strategy
        A strategy of ``hypothesis.strategies`` whose values are tuples or lists of two neighbouring inputs. Pairs of
        twice the same input are drawn again.
    relation
        Name of the relation.
    scope
        The inputs covered, in words.

    Raises
    ------
    ParameterError
        The strategy is none; on drawing, a value is not a pair or the two inputs are always the same.

    Examples
    --------
    >>> import dpaudit
    >>> from hypothesis import strategies as st
    >>> pairs = st.integers(0, 9).map(lambda n: ((0,) * n, (0,) * (n + 1)))
    >>> domain = dpaudit.DrawnPairs(strategy=pairs, relation="add-remove", scope="at most ten zeros")
    >>> domain.relation
    'add-remove'
    >>> dpaudit.DrawnPairs(strategy="no strategy", relation="add-remove", scope="at most ten zeros")
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: DrawnPairs: strategy must be a Hypothesis strategy that draws pairs, got ...
    """

    strategy: SearchStrategy[Pair]
    relation: str
    scope: str

    def __post_init__(self) -> None:
        from hypothesis.strategies import SearchStrategy

        if not isinstance(self.strategy, SearchStrategy):
            raise ParameterError(
                f"DrawnPairs: strategy must be a Hypothesis strategy that draws pairs, got {self.strategy!r}"
            )

    def count(self) -> None:
        """Return None: the pairs of a strategy are not counted."""

    def pairs(self) -> Iterator[Pair]:
        """Raise ParameterError: the pairs of a strategy cannot be listed."""
        raise ParameterError("DrawnPairs: the pairs of a strategy cannot be listed; take patterns or draws")

    def patterns(self) -> Iterator[Pair]:
        """Yield pairs that are always the same: the simplest pair, an extreme one, and others, most of them simple."""
        rng = np.random.default_rng(0)
        ends = (bytes(_BYTES), b"\xff" * _BYTES)
        return distinct(self._examples(itertools.chain(ends, _buffers(rng)), _PATTERNS))

    def draw(self, rng: np.random.Generator) -> Pair:
        """Draw a pair; equal states of ``rng`` give equal pairs."""
        return self._examples(_buffers(rng), 1)[0]

    def vary(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Draw a pair anew: Hypothesis does not say which pairs are near to one."""
        return self.draw(rng)

    def _examples(self, buffers: Iterator[bytes], count: int) -> list[Pair]:
        """Take so many pairs from bytes, which Hypothesis turns into values as it does for fuzzers.

        Its own draws depend on the constants of the modules that happen to be imported, so that equal seeds would not
        give equal pairs.
        """
        import hypothesis

        drawn: list[Pair] = []

        def take(value: Any) -> None:
            if not isinstance(value, tuple | list) or len(value) != 2:
                raise ParameterError(
                    f"DrawnPairs: the strategy drew {value!r}; make it draw tuples of two neighbouring inputs"
                )
            key = input_key(value[0])
            hypothesis.assume(key is None or key != input_key(value[1]))
            drawn.append((value[0], value[1]))

        test = hypothesis.settings(database=None, deadline=None)(hypothesis.given(self.strategy)(take))
        for buffer in itertools.islice(buffers, count + _TRIES):
            test.hypothesis.fuzz_one_input(buffer)  # type: ignore[attr-defined]
            if len(drawn) == count:
                break
        if not drawn:
            raise ParameterError("DrawnPairs: the strategy draws no pair of two different inputs")
        return drawn


def _buffers(rng: np.random.Generator) -> Iterator[bytes]:
    """Yield random bytes without end; those with many zeros make small values and short lists."""
    while True:
        share = _SHARES[rng.integers(len(_SHARES))]
        values = rng.integers(256, size=_BYTES, dtype=np.uint8)
        yield np.where(rng.random(_BYTES) < share, values, np.uint8(0)).tobytes()
