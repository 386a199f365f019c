"""What holds the values of outputs, where the way to these does not say it: lists without values, and classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from dpaudit.auditors.outputs.flat import Flat, Structure, named_tuple_of, outputs_by_structure, paths, steps

_REMEMBERED = 4096

_MOST = 32
"""How many containers are looked at, at most: those that about half of the outputs have come first. Chosen by hand."""

_EMPTY = {"list": "[]", "dict": "{}", "set": "set()"}
_OTHERS = {"list": "a list", "dict": "a dict", "set": "a set"}
_NO_CLASSES = frozenset({"text", "whole", "decimal", "complex", "record"})
"""Structures that are neither of these nor of a class."""


@lru_cache(maxsize=_REMEMBERED)
def containers(structure: Structure) -> dict[str, str]:
    """Return what there is at every path of a structure that leads to no single value.

    Examples
    --------
    >>> containers(("dict", ("'errors'", "'n'"), (0, None)))
    {'': 'a dict', "['errors']": '[]'}
    """
    found: dict[str, str] = {}
    _add_containers(structure, "", found)
    return found


def _add_containers(structure: Structure, path: str, found: dict[str, str]) -> None:
    if structure is None:
        return
    what = "list" if isinstance(structure, int) else structure[0]
    inside = steps(structure)
    if what in _EMPTY:
        found[path] = _OTHERS[what] if inside else _EMPTY[what]
    elif what not in _NO_CLASSES:
        found[path] = f"of class {(named_tuple_of(what) or what).rpartition('<locals>.')[2]}"
    for step, part in inside:
        _add_containers(part, path + step, found)


def telling_containers(flats: Sequence[Flat]) -> list[tuple[str, str]]:
    """Return where outputs with values on the same paths differ: a path, and what some, but not all, have there.

    Of several differences that divide the outputs in the same way, the first one is returned.
    """
    counts: Counter[Structure] = Counter()
    for flat in flats:
        counts.update(outputs_by_structure(flat))
    by_paths: dict[tuple[str, ...], list[Structure]] = {}
    for structure in counts:
        by_paths.setdefault(paths(structure), []).append(structure)
    differing: set[tuple[str, str]] = set()
    for alike in by_paths.values():
        if len(alike) > 1:
            every = Counter(item for structure in alike for item in containers(structure).items())
            differing |= {item for item, count in every.items() if count < len(alike)}
    if not differing:
        return []
    size = counts.total()
    times: Counter[tuple[str, str]] = Counter()
    for structure, count in counts.items():
        times.update(dict.fromkeys(differing & containers(structure).items(), count))
    kept: list[tuple[str, str]] = []
    known: set[tuple[bool, ...]] = set()
    for item in sorted(differing, key=lambda item: (-min(times[item], size - times[item]), item)):
        has = tuple(item in containers(structure).items() for structure in counts)
        if has in known:
            continue
        kept.append(item)
        if len(kept) == _MOST:
            break
        known |= {has, tuple(not each for each in has)}
    return kept
