"""The suite's cases with one pair of inputs each, so that only the event has to be found."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from suite import case_named, oracle
from suite.case import Audited, Case
from suite.exact import RatioCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A case with the pair of inputs on which it is audited.

    Attributes
    ----------
    case
        The case.
    pair
        The declared pair, or the best of several at these samples.
    truth
        True epsilon of that pair at the claimed delta.
    samples, confidence
        Per input, and of the bound.
    """

    case: Case | RatioCase
    pair: tuple[Any, Any]
    truth: float
    samples: int
    confidence: float

    @property
    def mechanism(self) -> Audited:
        return self.case.mechanism

    @property
    def oracle(self) -> float:
        """The best bound at these samples."""
        return _oracle(self.mechanism.name, self.samples, self.confidence)


@cache
def _oracle(name: str, samples: int, confidence: float) -> float:
    return case_named(name).oracle(samples, confidence)


@cache
def given(name: str, samples: int, confidence: float) -> Given:
    """The case of that name with its pair."""
    case = case_named(name)
    if isinstance(case, RatioCase):
        return Given(case=case, pair=case.mechanism.pair, truth=case.truth(), samples=samples, confidence=confidence)
    pair = case.best_pair(samples, confidence)
    cells = case.cells(*pair)
    # A partition can only be too coarse to show all of the truth.
    truth = min(case.truth(), oracle.true_epsilon(cells.p, cells.q, case.mechanism.delta))
    return Given(case=case, pair=pair, truth=truth, samples=samples, confidence=confidence)
