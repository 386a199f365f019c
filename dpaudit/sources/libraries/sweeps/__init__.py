"""Constructors of a library with standard arguments: what ``dpaudit sweep`` audits, and what it leaves out and why.

One module for each library. It holds functions that make one object each, and says which public constructor each covers
(``COVERED``) and why others are not covered (``LEFT_OUT``).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from dpaudit.sources.libraries.adapters import check_installed

_HOMES = {name: f"{__name__}.{name.replace('-', '_')}_objects" for name in ("opendp", "diffprivlib", "pure-ldp")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """A public constructor: the targets that cover it, or the reason why none does."""

    constructor: str
    targets: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What a sweep over a library audits.

    Attributes
    ----------
    target
        TARGET argument that means all objects of the sweep.
    version
        Version of the library.
    constructors
        Every public constructor of the library.
    """

    target: str
    version: str
    constructors: tuple[Covered, ...]


def sweep_of(library: str) -> Sweep:
    """Return what a sweep over a library audits.

    Raises
    ------
    TargetError
        The library is not installed.
    """
    from importlib.metadata import version

    from dpaudit.sources.libraries.objects import target_name

    check_installed(library)
    home = importlib.import_module(_HOMES[library])
    covered: dict[str, tuple[str, ...]] = home.COVERED
    left_out: dict[str, str] = home.LEFT_OUT
    found = []
    for name in home.public():
        targets = tuple(target_name(each) for each in covered.get(name, ()))
        reason = "" if targets else left_out.get(name, "no standard arguments are known for it")
        found.append(Covered(constructor=name, targets=targets, reason=reason))
    return Sweep(target=f"{library}:{_HOMES[library]}", version=version(library), constructors=tuple(found))
