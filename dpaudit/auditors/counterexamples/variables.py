"""Values of a lemma's variables: drawn, varied, and simplified."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpaudit.claims.domains import Domain, Integers, RankingProfiles, Reals

_DIGITS = 17
_EDGE, _NEAR, _ROUND = 0.15, 0.45, 0.6
"""Draws up to these shares are ends of the domain, log-uniform from its simplest value, and round; the rest uniform."""


def draw_value(domain: Domain, rng: np.random.Generator) -> Any:
    """Draw a value: often an end of the domain, or near to its simplest value, because that is where lemmas fail."""
    if isinstance(domain, RankingProfiles):
        return _draw_profile(domain, rng)
    kind = rng.random()
    if kind < _EDGE:
        ends = [domain.low, domain.high, simplest(domain)]
        return _inside(domain, ends[rng.integers(len(ends))])
    if kind < _NEAR:
        return vary_value(domain, simplest(domain), rng)
    drawn = _uniform(domain, rng)
    return _inside(domain, round(drawn, int(rng.integers(3)))) if kind < _ROUND else drawn


def vary_value(domain: Domain, value: Any, rng: np.random.Generator) -> Any:
    """Draw a value near another one, on all scales alike."""
    if isinstance(domain, RankingProfiles):
        return _vary_profile(domain, value, rng)
    sign = 1 if rng.random() < 0.5 else -1
    if isinstance(domain, Integers):
        bits = (domain.high - domain.low).bit_length()
        step = 1 + _below(1 << int(rng.integers(bits + 1)), rng)
        return _inside(domain, value + sign * step)
    span = domain.high / 2 - domain.low / 2
    return _inside(domain, value + sign * span * 10 ** rng.uniform(-12, 0.3))


def simpler_values(domain: Domain, value: Any) -> Iterator[Any]:
    """Yield simpler values, the simplest first; whoever goes on from one of them comes to an end."""
    if isinstance(domain, RankingProfiles):
        yield from _simpler_profiles(value)
    elif isinstance(domain, Integers):
        yield from _towards(simplest(domain), value)
    else:
        yield from _simpler_reals(domain, value)


def simplest(domain: Reals | Integers) -> Any:
    """Return the value nearest to 0."""
    return _inside(domain, 0)


def _inside(domain: Reals | Integers, value: Any) -> Any:
    inside = min(max(value, domain.low), domain.high)
    return int(inside) if isinstance(domain, Integers) else float(inside)


def _uniform(domain: Reals | Integers, rng: np.random.Generator) -> Any:
    if isinstance(domain, Integers):
        return domain.low + _below(domain.high - domain.low + 1, rng)
    share = rng.random()
    return _inside(domain, (1 - share) * domain.low + share * domain.high)


def _below(end: int, rng: np.random.Generator) -> int:
    """Draw a whole number from 0 to ``end`` - 1, however large; the bias is below 2^-64."""
    return int.from_bytes(rng.bytes(end.bit_length() // 8 + 9), "little") % end


def _towards(simple: int, value: int) -> Iterator[int]:
    """Yield ``simple``, and then values ever nearer to ``value``."""
    distance = value - simple
    while distance:
        yield value - distance
        distance = int(distance / 2) if abs(distance) < 2**52 else distance // 2 + (distance < 0)


def _simpler_reals(domain: Reals, value: float) -> Iterator[float]:
    """Yield values of fewer decimal digits, and then those of as many that are nearer to the simplest one."""
    simple = float(simplest(domain))
    if value == simple:
        return
    yield simple
    for digits in range(_DIGITS):
        factor = 10.0**digits
        if not abs(value) * factor < 2**53:
            break
        if round(value, digits) == value:
            first = round(simple * factor)
            found = (step / factor for step in _towards(first, round(value * factor)))
            yield from (each for each in found if abs(each - simple) < abs(value - simple) and _holds(domain, each))
            break
        rounded = sorted({math.floor(value * factor) / factor, math.ceil(value * factor) / factor}, key=abs)
        yield from (each for each in rounded if _holds(domain, each) and round(each, digits) == each)


def _holds(domain: Reals, value: float) -> bool:
    return domain.low <= value <= domain.high


def _draw_profile(domain: RankingProfiles, rng: np.random.Generator) -> np.ndarray:
    agents = int(rng.integers(1, domain.agents + 1))
    alternatives = int(rng.integers(2, domain.alternatives + 1))
    # Voters who agree, or are of few opinions, are rare among independent ones.
    opinions = agents if rng.random() < 0.5 else int(rng.integers(1, min(agents, 3) + 1))
    rows = np.array([rng.permutation(alternatives) for _ in range(opinions)])
    return rows if opinions == agents else rows[rng.integers(opinions, size=agents)]


def _vary_profile(domain: RankingProfiles, profile: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    agents, alternatives = profile.shape
    way, at = rng.integers(4), rng.integers(agents)
    if way == 0 and agents < domain.agents:
        return np.vstack([profile, rng.permutation(alternatives)])
    if way == 1 and agents > 1:
        return np.delete(profile, at, axis=0)
    changed = profile.copy()
    if way == 2:
        changed[at] = rng.permutation(alternatives)
    else:
        left = rng.integers(alternatives - 1)
        changed[at, [left, left + 1]] = changed[at, [left + 1, left]]
    return changed


def _simpler_profiles(profile: np.ndarray) -> Iterator[np.ndarray]:
    """Yield profiles of fewer alternatives, of fewer agents, and with fewer pairs out of order."""
    agents, alternatives = profile.shape
    for least in range(2, alternatives):
        yield _restricted(profile, range(least))
    if alternatives > 2:
        yield from (_restricted(profile, [j for j in range(alternatives) if j != i]) for i in range(alternatives))
    size = agents // 2
    while size:
        yield from (np.delete(profile, slice(start, start + size), axis=0) for start in range(0, agents, size))
        size //= 2
    for i, row in enumerate(profile):
        for j in range(alternatives - 1):
            if row[j] > row[j + 1]:
                for better in (np.arange(alternatives), _swapped(row, j)):
                    changed = profile.copy()
                    changed[i] = better
                    yield changed


def _swapped(row: np.ndarray, left: int) -> np.ndarray:
    changed = row.copy()
    changed[[left, left + 1]] = changed[[left + 1, left]]
    return changed


def _restricted(profile: np.ndarray, kept: Any) -> np.ndarray:
    """Rankings of the alternatives that are kept, numbered anew in their order."""
    kept = np.asarray(kept)
    rows = [row[np.isin(row, kept)] for row in profile]
    return np.searchsorted(kept, np.array(rows))
