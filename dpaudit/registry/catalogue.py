"""The catalogue's papers with their targets and claims; installed packages may add to it.

A paper is a package or module of `dpaudit.catalog`, or one that another distribution announces with the entry point
group ``dpaudit.catalog``. One that cannot be imported breaks only what is asked of it.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.catalog import NAME, PATH, ROOT
from dpaudit.claims.declarations import Declaration, declared_in
from dpaudit.claims.papers import Assertion, Erratum, Paper
from dpaudit.errors import TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.registry.names import suggestion
from dpaudit.registry.references import TargetReference, import_target, is_target

GROUP = "dpaudit.catalog"
"""Entry point group by which a distribution announces a package of its own."""

_PROTOCOLS, _PLANS, _RECORDS = "protocols", "audits", "reports"


@dataclass(frozen=True, slots=True, kw_only=True)
class CataloguePaper:
    """One paper of the catalogue: what its package or module defines.

    Attributes
    ----------
    key
        The paper's key.
    module
        Dotted name of its package or module.
    paper
        Bibliographic data; None where the package says nothing of it.
    targets
        Its mechanisms with claims, by name.
    declarations
        The claims that it declares, in the paper's order, controls last.
    errata
        What is misprinted in it (``ERRATA`` of its package, or of its module ``paper``).
    left_alone
        What it asserts and what is not audited (``LEFT_ALONE`` there).
    plan
        Its plan; None where there is none.
    problem
        Why it cannot be imported; empty where it can.
    """

    key: str
    module: str
    paper: Paper | None = None
    targets: dict[str, TargetReference]
    declarations: tuple[Declaration, ...] = ()
    errata: tuple[Erratum, ...] = ()
    left_alone: tuple[Assertion, ...] = ()
    plan: Path | None = None
    problem: str = ""


@cache
def catalogue_papers() -> dict[str, CataloguePaper]:
    """All papers by key."""
    places = list(_places())
    # All are imported before any is looked at: a mechanism of one may have all its claims in another.
    imported = {key: _modules(module) for key, module, _ in places}
    return {key: _paper(key, module, plan, imported[key]) for key, module, plan in places}


def catalogue() -> dict[str, TargetReference]:
    """All targets of the catalogue by name.

    Raises
    ------
    TargetError
        Two papers define a target of the same name.
    """
    found: dict[str, TargetReference] = {}
    for entry in catalogue_papers().values():
        for name, reference in entry.targets.items():
            if name in found:
                raise TargetError(
                    f"{entry.module} and {found[name].path} both define a target named {name!r}; rename one"
                )
            found[name] = reference
    return found


def catalogue_claims() -> dict[str, Declaration]:
    """All declared claims of the catalogue by id.

    Raises
    ------
    TargetError
        Two claims have the same id.
    """
    found: dict[str, Declaration] = {}
    for entry in catalogue_papers().values():
        for declaration in entry.declarations:
            if declaration.id in found:
                other = found[declaration.id].module
                raise TargetError(f"{entry.module} and {other} both declare a claim {declaration.id!r}; rename one")
            found[declaration.id] = declaration
    return found


def catalogue_plans() -> list[Path]:
    """Plans of all papers."""
    return [entry.plan for entry in catalogue_papers().values() if entry.plan is not None]


def record_of(declaration: Declaration) -> list[Path]:
    """Committed record that holds the results of a claim: of the paper that it stands under, or that declares it."""
    keys = [declaration.paper.key] if declaration.paper else []
    keys += [key for key, entry in catalogue_papers().items() if declaration in entry.declarations]
    paths = [ROOT / _RECORDS / f"{key}.json" for key in dict.fromkeys(keys)]
    return [path for path in paths if path.is_file()]


def definition(declaration: Declaration) -> str:
    """File that declares a claim, as the repository names it; empty where it is not known.

    The line is left to `dpaudit show`: it changes with every edit above it.
    """
    file = declaration.file
    if file is None:
        return ""
    for folder in (ROOT / _PROTOCOLS, ROOT):
        if file.resolve().is_relative_to(folder.resolve()):
            return f"{_PROTOCOLS}/{file.resolve().relative_to(folder.resolve()).as_posix()}"
    return file.name


def broken_papers() -> dict[str, str]:
    """Why papers cannot be imported, by key."""
    return {key: entry.problem for key, entry in catalogue_papers().items() if entry.problem}


def in_catalogue(module: str) -> bool:
    """Whether a module is a paper's, of the catalogue or announced by another package; nothing is imported."""
    return any(module == home or module.startswith(f"{home}.") for home in (NAME, *_announced()))


@cache
def _announced() -> tuple[str, ...]:
    """Modules of the papers that other distributions announce."""
    return tuple(point.value for point in entry_points(group=GROUP))


def load(name: str) -> type[Mechanism]:
    """Return the class of a catalogue target, for one that is compared with others.

    Parameters
    ----------
    name
        Name of the target, such as ``ldp-kwiksort-rr``.

    Returns
    -------
    type[Mechanism]
        The class, which takes the parameters by name.

    Raises
    ------
    TargetError
        There is no target of that name.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.load("ldp-kwiksort-rr")(epsilon=0.5).epsilon
    0.5
    >>> dpaudit.load("ldp-kwiksort-rs")
    Traceback (most recent call last):
        ...
    dpaudit.errors.TargetError: unknown target 'ldp-kwiksort-rs' (did you mean 'ldp-kwiksort-rr'?); ...
    """
    known = catalogue()
    if name not in known:
        raise TargetError(f"unknown target {name!r}{suggestion(name, known)}; the catalogue has {', '.join(known)}")
    return known[name].load()


def _places() -> Iterator[tuple[str, str, Path | None]]:
    """Key, module and plan of every paper, those of the catalogue first."""
    for entry in sorted(pkgutil.iter_modules(PATH), key=lambda entry: entry.name):
        plan = ROOT / _PLANS / f"{entry.name}.toml"
        yield entry.name, f"{NAME}.{entry.name}", plan if plan.is_file() else None
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        yield point.name, point.value, None


def _modules(dotted: str) -> list[ModuleType] | str:
    """Import a package with its modules, or say why it cannot be imported."""
    try:
        module = importlib.import_module(dotted)
        modules = [module, *_submodules(module)]
        for each in modules:
            import_target(each.__name__)
    except (Exception, SystemExit) as error:
        return _problem(dotted, error)
    return modules


def _paper(key: str, dotted: str, plan: Path | None, modules: list[ModuleType] | str) -> CataloguePaper:
    if isinstance(modules, str):
        return CataloguePaper(key=key, module=dotted, targets={}, plan=plan, problem=modules)
    module = modules[0]
    declarations = [each for part in modules for each in declared_in(part.__name__).values()]
    targets: dict[str, TargetReference] = {}
    for part in modules:
        for attribute, value in vars(part).items():
            if is_target(value, part.__name__):
                targets[value.name] = TargetReference(part.__name__, attribute, import_target(part.__name__)[1])
    paper = next((item for item in vars(module).values() if isinstance(item, Paper) and item.key == key), None)
    if plan is None and getattr(module, "__file__", None):
        beside = Path(str(module.__file__)).with_name(f"{key}.toml")
        plan = beside if beside.is_file() else None
    return CataloguePaper(
        key=key,
        module=dotted,
        paper=paper,
        targets=targets,
        declarations=tuple(sorted(declarations, key=lambda declaration: bool(declaration.bug))),
        errata=_listed(modules, "ERRATA"),
        left_alone=_listed(modules, "LEFT_ALONE"),
        plan=plan,
    )


def _listed(modules: list[ModuleType], name: str) -> tuple[Any, ...]:
    return tuple(next((vars(part)[name] for part in modules if name in vars(part)), ()))


def _submodules(module: ModuleType) -> list[ModuleType]:
    """Modules of a package and of the packages in it, those first that it imports itself, in that order."""
    names = [f"{module.__name__}.{entry.name}" for entry in pkgutil.iter_modules(getattr(module, "__path__", ()))]
    loaded = list(sys.modules)
    order = {name: loaded.index(name) for name in names if name in loaded}
    found = []
    for name in sorted(names, key=lambda name: order.get(name, len(loaded))):
        each = importlib.import_module(name)
        found += [each, *_submodules(each)]
    return found


def _problem(dotted: str, error: BaseException) -> str:
    """Name the file and line at fault."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}: {error.msg}; mend the syntax"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    where = f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else dotted
    return f"{where}: the file raised {type(error).__name__} when imported: {error}"
