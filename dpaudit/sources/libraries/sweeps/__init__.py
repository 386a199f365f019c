"""Constructors of a library with standard arguments: what ``dpaudit sweep`` audits, and what it leaves out and why.

One or two modules for each library. They hold functions that make one object each, and say which public constructor
each covers (``COVERED``) and why others are not covered (``LEFT_OUT``).
"""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from types import ModuleType

from dpaudit.claims.claims import StabilityClaim
from dpaudit.sources.libraries.adapters import LibraryTarget, adapted, check_installed

_HOMES = {
    "opendp": ("opendp_objects", "opendp_transformation_objects"),
    "diffprivlib": ("diffprivlib_objects",),
    "pure-ldp": ("pure_ldp_objects",),
}


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
    targets
        TARGET arguments of all objects of the sweep.
    version
        Version of the library.
    constructors
        Every public constructor of the library.
    """

    targets: tuple[str, ...]
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
    found, usable = [], []
    for module in _HOMES[library]:
        home = importlib.import_module(f"{__name__}.{module}")
        path = f"{library}:{home.__name__}"
        covered: dict[str, tuple[str, ...]] = home.COVERED
        left_out: dict[str, str] = home.LEFT_OUT
        for name in home.public():
            made, problems = [], []
            for each in covered.get(name, ()):
                problem = _problem(f"{path}:{each}", home)
                if problem:
                    problems.append(f"{each}: {problem}")
                else:
                    made.append(target_name(each))
                    usable.append(f"{path}:{each}")
            default = "" if made else left_out.get(name, "no standard arguments are known for it")
            found.append(Covered(constructor=name, targets=tuple(made), reason="; ".join(problems) or default))
    return Sweep(targets=tuple(usable), version=version(library), constructors=tuple(found))


def _problem(text: str, home: ModuleType) -> str:
    """Why an object of a sweep cannot be audited with this version of the library; empty where it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the library's own
            mechanism = adapted(LibraryTarget.of(text), home)()
            if not all(isinstance(claim, StabilityClaim) for claim in mechanism.claims()):
                mechanism.neighbours()  # a stability claim has a domain of its own
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ""
