"""What guarantees ask of two laws beyond their privacy profile. The layer of laws, which is above, provides it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from dpaudit.claims.evidence import Interval
from dpaudit.errors import CheckError

if TYPE_CHECKING:
    from dpaudit.claims.guarantees.base import Guarantee
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


NO_SINGLE_EVENT: Final = "the divergence of all outputs breaks the claim; of single events this one comes nearest"
"""What stands before the outcomes of an event whose own probabilities the guarantee allows."""

_makers: list[Callable[[Comparison], Decisions]] = []


def provide(maker: Callable[[Comparison], Decisions]) -> None:
    """Say what makes the decisions of a comparison."""
    _makers[:] = [maker]


def decisions_of(comparison: Comparison) -> Decisions:
    """Return what a comparison says of guarantees."""
    if not _makers:
        raise CheckError("import dpaudit.laws before guarantees are held against laws")
    return _makers[0](comparison)


def worst_event_of(
    guarantee: Guarantee, comparison: Comparison, *, frequent: bool, value: Callable[[Any, Any], Any] | None = None
) -> Event:
    """Return the event that forces most of a guarantee; see `Guarantee.worst_event`.

    ``value`` is what to look for in place of `Guarantee.forces`, where that is 0 almost everywhere. Divergences of all
    outputs may break what no single event does; the outcomes then say so.
    """
    event = decisions_of(comparison).likeliest_event(guarantee.by_samples if frequent else value or guarantee.forces)
    if frequent or guarantee.exceeds(float(guarantee.forces(event.p, event.q))):
        return event
    return replace(event, outcomes={NO_SINGLE_EVENT: event.outcomes}, members=None)
