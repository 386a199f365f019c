"""What guarantees ask of two laws beyond their privacy profile. The layer of laws, which is above, provides it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dpaudit.claims.evidence import Interval
from dpaudit.errors import CheckError

if TYPE_CHECKING:
    from dpaudit.laws.base import Comparison, Event


class Decisions(Protocol):
    """What two laws say of guarantees, in one direction: exact values, or bounds that enclose them.

    None stands where nothing is known for laws of this kind.
    """

    def renyi(self, order: float) -> Interval | None:
        """Renyi divergence of an order of at least 1, which may be infinite."""

    def concentrated(self, delta: float) -> Interval | None:
        """Smallest rho of zero-concentrated DP, or where delta is above 0 of its approximate form."""

    def gaussian(self) -> Interval | None:
        """Smallest mu of Gaussian DP."""

    def trade_off(self, type_one: float) -> Interval | None:
        """Least type II error of a test whose type I error is at most ``type_one``."""

    def likeliest_event(self, value: Callable[[Any, Any], Any]) -> Event:
        """Return the event of Neyman and Pearson whose two probabilities have the largest value."""


_makers: list[Callable[[Comparison], Decisions]] = []


def provide(maker: Callable[[Comparison], Decisions]) -> None:
    """Say what makes the decisions of a comparison."""
    _makers[:] = [maker]


def decisions_of(comparison: Comparison) -> Decisions:
    """Return what a comparison says of guarantees."""
    if not _makers:
        raise CheckError("import dpaudit.laws before guarantees are held against laws")
    return _makers[0](comparison)
