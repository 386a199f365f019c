"""Neighbouring relations: which two inputs a privacy claim must not tell apart."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from dpaudit.claims.inputs import AnyTwo, InputDomain, Pair, is_pair, is_twice_the_same, short_repr
from dpaudit.errors import CheckError, DpauditError, ParameterError, TargetError, TargetRaisedError

MOST_LISTED = 100_000
"""Most pairs of a declared domain that are listed one by one; of a larger one the patterns are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbouring:
    """The neighbouring inputs over which a mechanism is audited.

    Attributes
    ----------
    relation
        Name of the relation: ``any-two-inputs`` (local model), ``substitution``, ``add-remove``, or your own.
    pairs
        The pairs of neighbouring inputs, or a function that returns an iterator over them. Auditors look at every
        pair in both directions, so each unordered pair is listed once.
    complete
        Whether the pairs are all that there are in the scope, up to the mechanism's symmetries. Only then can a
        claim be ``proved``.
    scope
        The inputs covered, in words.
    domain
        The domain that the pairs come from, where one is declared; the neighbour search draws further pairs from it.

    Raises
    ------
    ParameterError
        The pairs are neither a list of tuples nor a function that lists them.

    Examples
    --------
    >>> import dpaudit
    >>> listed = [((0, 0), (0, 1))]
    >>> pairs = dpaudit.Neighbouring(relation="substitution", pairs=listed, complete=False, scope="one pair")
    >>> pairs.complete
    False
    >>> dpaudit.Neighbouring.any_two_inputs(["a", "b", "c"], scope="three values").complete
    True
    """

    relation: str
    pairs: Sequence[Pair] | Callable[[], Iterable[Pair]]
    complete: bool
    scope: str
    domain: InputDomain | None = None

    def __post_init__(self) -> None:
        if not (callable(self.pairs) or isinstance(self.pairs, Iterable)):
            raise ParameterError(
                "Neighbouring: pairs must be a list of tuples (x, y), or a function that lists them, "
                f"got {self.pairs!r}"
            )
        if isinstance(self.pairs, Iterator):
            # Auditors go over the pairs more than once; an iterator would be spent by then.
            object.__setattr__(self, "pairs", tuple(_copied(pair, place) for place, pair in enumerate(self.pairs)))

    def __iter__(self) -> Iterator[Pair]:
        """Yield the pairs.

        Raises
        ------
        CheckError
            Something else than a pair is among them, twice the same input, or an input that cannot be copied.
        TargetRaisedError
            The function that lists them raised.
        """
        place = 0
        try:
            for pair in self.pairs() if callable(self.pairs) else self.pairs:
                yield _copied(pair, place)
                place += 1
        except DpauditError:
            raise
        except Exception as error:
            raise TargetRaisedError(
                f"`neighbours` raised {type(error).__name__} after {place} pairs: {error}"
            ) from error

    @classmethod
    def within(cls, domain: InputDomain, *, scope: str | None = None) -> Self:
        """Neighbouring inputs of a declared domain: `Vectors`, `Records`, `AnyTwo`, `DrawnPairs`, or your own.

        Parameters
        ----------
        domain
            The domain.
        scope
            The inputs covered, in words; those of the domain by default.

        Returns
        -------
        Neighbouring
            With all pairs, and ``complete``, where they are at most 100,000; otherwise with the domain's patterns, and
            not ``complete``, so that nothing is proved from them. Auditors that search draw further pairs.

        Raises
        ------
        ParameterError
            ``domain`` is not an input domain.
        """
        if isinstance(domain, type) or not isinstance(domain, InputDomain):
            raise ParameterError(f"Neighbouring.within takes an input domain such as dpaudit.Vectors, got {domain!r}")
        count = domain.count()
        complete = count is not None and count <= MOST_LISTED
        return cls(
            relation=domain.relation,
            pairs=domain.pairs if complete else domain.patterns,
            complete=complete,
            scope=domain.scope if scope is None else scope,
            domain=domain,
        )

    @classmethod
    def any_two_inputs(cls, values: Sequence[Any], *, scope: str) -> Self:
        """All pairs of a finite set of inputs of one user (local model), however many."""
        if len(values) < 2:
            raise TargetError(f"any_two_inputs needs at least two inputs to compare, got {len(values)}")
        domain = AnyTwo(values=values)
        return cls(relation=domain.relation, pairs=domain.pairs, complete=True, scope=scope, domain=domain)


def _copied(pair: Pair, place: int) -> Pair:
    """Return a copy, so that a generator that fills one buffer again and again does not change a pair once given."""
    if not is_pair(pair):
        raise CheckError(
            f"`neighbours` lists {short_repr(pair)} at place {place}; list tuples (x, y) of two inputs to compare"
        )
    if is_twice_the_same(pair):
        # No mechanism tells them apart, so that any claim would pass.
        raise CheckError(
            f"the two inputs of pair {place} are equal: {short_repr(pair[0])}; give two inputs that differ"
        )
    try:
        x, y = copy.deepcopy(pair)
    except Exception as error:
        raise CheckError(
            f"`neighbours` lists an input at place {place} that cannot be copied ({type(error).__name__}: {error}); "
            "take inputs of plain values"
        ) from error
    return x, y
