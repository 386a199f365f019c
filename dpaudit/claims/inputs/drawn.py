"""Pairs that a Hypothesis strategy draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.claims.hypothesis_draws import reproducible_draws
from dpaudit.claims.inputs.base import Pair, distinct, input_key
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_PATTERNS = 32
_DRAWS = 5
"""Examples of a run of Hypothesis that one draw is taken from: the first is always the simplest pair."""


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
        """Yield what the strategy draws first, always the same: the simplest pair, small ones, and extremes."""
        return distinct(self._examples(_PATTERNS, 0))

    def draw(self, rng: np.random.Generator) -> Pair:
        """Draw a pair; equal states of ``rng`` give equal pairs."""
        drawn = self._examples(_DRAWS, int(rng.integers(2**63)))
        return drawn[rng.integers(len(drawn))]

    def vary(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Draw a pair anew: Hypothesis does not say which pairs are near to one."""
        return self.draw(rng)

    def _examples(self, count: int, seed: int) -> list[Pair]:
        import hypothesis
        from hypothesis import HealthCheck, Phase

        drawn: list[Pair] = []

        def take(value: Any) -> None:
            if not isinstance(value, tuple | list) or len(value) != 2:
                raise ParameterError(
                    f"DrawnPairs: the strategy drew {value!r}; make it draw tuples of two neighbouring inputs"
                )
            key = input_key(value[0])
            hypothesis.assume(key is None or key != input_key(value[1]))
            drawn.append((value[0], value[1]))

        run = hypothesis.seed(seed)(
            hypothesis.settings(
                max_examples=count,
                database=None,
                deadline=None,
                derandomize=False,
                phases=(Phase.generate,),
                report_multiple_bugs=False,
                verbosity=hypothesis.Verbosity.quiet,
                suppress_health_check=list(HealthCheck),
            )(hypothesis.given(self.strategy)(take))
        )
        try:
            with reproducible_draws():
                run()
        except hypothesis.errors.Unsatisfiable:
            drawn.clear()
        if not drawn:
            raise ParameterError("DrawnPairs: the strategy draws no pair of two different inputs")
        return drawn
