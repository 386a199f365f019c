"""Profiles that neighbour each other: one ranking is replaced, added or removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from math import comb, factorial
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from dpaudit.claims.inputs import Pair, distinct
from dpaudit.errors import ParameterError
from dpaudit.rankings.orders import IntArray, all_rankings, as_positive_int, check_rankings

Relation = Literal["substitution", "add-remove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """Profiles of n agents over m alternatives as arrays of shape (n, m), neighbouring in one ranking.

    Agents are anonymous: the order of the rows does not matter, and the ranking that changes comes first. With
    add-remove the other profile has n - 1 rows.

    Attributes
    ----------
    agents
        n, at least 1; with add-remove that of the larger profile.
    alternatives
        m, at least 2.
    relation
        ``substitution`` (one ranking is replaced) or ``add-remove``.
    neutral
        Whether the mechanism treats all alternatives alike. Pairs that differ only in the names of the alternatives
        then stand for each other: the ranking that changes is 0, 1, ..., m-1 in the first profile.

    Raises
    ------
    ParameterError
        An argument is out of range.

    Examples
    --------
    >>> import dpaudit
    >>> domain = dpaudit.Profiles(agents=3, alternatives=3)
    >>> domain.count()
    315
    """

    agents: int
    alternatives: int
    relation: Relation = "substitution"
    neutral: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "agents", as_positive_int(self.agents, "Profiles: agents"))
        object.__setattr__(self, "alternatives", as_positive_int(self.alternatives, "Profiles: alternatives", 2))
        if self.relation not in get_args(Relation):
            raise ParameterError(f"Profiles: relation must be substitution or add-remove, got {self.relation!r}")

    @property
    def scope(self) -> str:
        """The inputs covered, in words."""
        words = "replaced" if self.relation == "substitution" else "added or removed"
        names = " and the names of the alternatives" if self.neutral else ""
        return (
            f"profiles of {self.agents} agent{'s' if self.agents > 1 else ''} over {self.alternatives} alternatives "
            f"with one ranking {words}, up to the order of the agents{names}"
        )

    def count(self) -> int:
        """Return the number of pairs that ``pairs`` lists."""
        rankings = factorial(self.alternatives)
        rests = comb(rankings + self.agents - 2, self.agents - 1)
        if self.neutral:
            return rests * (rankings - 1 if self.relation == "substitution" else 1)
        return rests * (comb(rankings, 2) if self.relation == "substitution" else rankings)

    def pairs(self) -> Iterator[Pair]:
        """Yield every pair, by the rankings that do not change first.

        With ``neutral`` and substitution, renaming the alternatives can turn a pair into another one in the list.

        Raises
        ------
        ParameterError
            There are more than 10 alternatives.
        """
        every = all_rankings(self.alternatives)
        for others in combinations_with_replacement(range(len(every)), self.agents - 1):
            rest = every[list(others)].reshape(-1, self.alternatives)
            if self.relation == "add-remove":
                for first in every[:1] if self.neutral else every:
                    yield self._pair(first, None, rest)
            else:
                changes = product(every[:1], every[1:]) if self.neutral else combinations(every, 2)
                for first, second in changes:
                    yield self._pair(first, second, rest)

    def patterns(self) -> Iterator[Pair]:
        """Yield pairs in which the other agents agree, oppose each other, or go round in a circle."""
        m, others = self.alternatives, self.agents - 1
        identity = np.arange(m)
        reverse, swapped = identity[::-1], np.array([1, 0, *range(2, m)])
        odd = np.arange(others)[:, None] % 2 == 1
        rests = [
            np.where(odd, reverse, identity),
            np.tile(identity, (others, 1)),
            np.tile(reverse, (others, 1)),
            np.where(odd, swapped, identity),
            (identity + np.arange(others)[:, None]) % m,
        ]
        last = np.array([*range(m - 2), m - 1, m - 2])
        changed = [reverse, swapped, last, np.roll(identity, 1), np.roll(identity, -1)]
        if self.relation == "add-remove":
            firsts = [identity] if self.neutral else [identity, *changed]
            return distinct(self._pair(first, None, rest) for first, rest in product(firsts, rests))
        return distinct(self._pair(identity, second, rest) for second, rest in product(changed, rests))

    def draw(self, rng: np.random.Generator) -> Pair:
        """Draw a pair; the other agents hold one ranking, a few of them, or independent ones."""
        m, others = self.alternatives, self.agents - 1
        held = self._random(rng, (1, min(3, max(others, 1)), max(others, 1))[rng.integers(3)])
        rest = held[rng.integers(len(held), size=others)]
        first = np.arange(m) if self.neutral or rng.random() < 0.5 else self._random(rng, 1)[0]
        return self._pair(first, self._other(first, rng) if self.relation == "substitution" else None, rest)

    def vary(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Change one of the other agents' rankings, or the ranking that differs."""
        first, second, rest = self._parts(pair)
        changeable = ["first"] * (not self.neutral) + ["second"] * (second is not None) + ["rest"] * (len(rest) > 0)
        if not changeable:
            return pair
        what = changeable[rng.integers(len(changeable))]
        if what == "rest":
            rest = rest.copy()
            i, j = rng.integers(len(rest), size=2)
            rest[i] = rest[j] if i != j and rng.random() < 0.5 else self._other(rest[i], rng)
        elif what == "second" and second is not None:
            changed = self._other(second, rng)
            second = second if np.array_equal(changed, first) else changed
        else:
            changed = self._other(first, rng)
            first = first if second is not None and np.array_equal(changed, second) else changed
        return self._pair(first, second, rest)

    def _random(self, rng: np.random.Generator, count: int) -> IntArray:
        return rng.permuted(np.tile(np.arange(self.alternatives), (count, 1)), axis=1)

    def _other(self, ranking: IntArray, rng: np.random.Generator) -> IntArray:
        """Another ranking: two neighbours swapped, reversed, one alternative moved, or any."""
        m = self.alternatives
        for _ in range(8):
            kind = rng.integers(4)
            other = ranking.copy()
            if kind == 0:
                place = rng.integers(m - 1)
                other[[place, place + 1]] = ranking[[place + 1, place]]
            elif kind == 1:
                other = ranking[::-1].copy()
            elif kind == 2:
                taken, put = rng.integers(m, size=2)
                other = np.insert(np.delete(ranking, taken), put, ranking[taken])
            else:
                other = self._random(rng, 1)[0]
            if not np.array_equal(other, ranking):
                return other
        return ranking[::-1].copy()

    def _pair(self, first: npt.ArrayLike, second: npt.ArrayLike | None, rest: IntArray) -> Pair:
        """Pair in which one ranking changes and the others, sorted, do not."""
        ordered = np.array(rest[np.lexsort(rest.T[::-1])], dtype=np.int64).reshape(-1, self.alternatives)
        larger = np.concatenate([np.asarray(first, dtype=np.int64)[None], ordered])
        if second is None:
            return larger, ordered
        return larger, np.concatenate([np.asarray(second, dtype=np.int64)[None], ordered])

    def _parts(self, pair: Pair) -> tuple[IntArray, IntArray | None, IntArray]:
        """Take a pair of this domain apart."""
        n, m = self.agents, self.alternatives
        profile, other = np.asarray(pair[0]), np.asarray(pair[1])
        removed = self.relation == "add-remove"
        if profile.shape != (n, m) or other.shape != (n - removed, m) or (profile[1:] != other[1 - removed :]).any():
            raise ParameterError(
                f"Profiles: shapes {profile.shape} and {other.shape} are no pair of {self.scope}; the ranking that "
                "changes comes first, and the other rows are equal"
            )
        rankings = check_rankings(profile)
        return rankings[0], None if removed else check_rankings(other)[0], rankings[1:]
