"""Which objects of which library are targets, and what a TARGET argument such as ``opendp:module:measurement`` says."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from types import ModuleType
from typing import Any, Final

from dpaudit.claims.inputs import Pair
from dpaudit.errors import ParameterError, TargetError
from dpaudit.reading import shortened
from dpaudit.sources.declarations import from_json
from dpaudit.sources.libraries.objects import LibraryMechanism, checked_pairs, made_class


@dataclass(frozen=True, slots=True, kw_only=True)
class _Library:
    """A library: its package, what pip calls it, and where its adapter is."""

    package: str
    install: str
    home: str
    wanted: str
    returned: tuple[str, ...]
    """Return annotations of functions that make such objects."""
    adapt: str
    """Function of the adapter that makes a mechanism of an object."""


_LIBRARIES: Final = {
    "opendp": _Library(
        package="opendp",
        install="opendp",
        home="dpaudit.sources.libraries.opendp_objects",
        wanted="an OpenDP Measurement or Transformation",
        returned=("Measurement", "Transformation"),
        adapt="from_opendp",
    ),
    "diffprivlib": _Library(
        package="diffprivlib",
        install="diffprivlib",
        home="dpaudit.sources.libraries.diffprivlib_objects",
        wanted="a diffprivlib mechanism, or functools.partial of a tool with its epsilon",
        returned=("DPMechanism", "partial"),
        adapt="from_diffprivlib",
    ),
    "pure-ldp": _Library(
        package="pure_ldp",
        install="pure-ldp",
        home="dpaudit.sources.libraries.pure_ldp_objects",
        wanted="a pure-LDP client with epsilon and d",
        returned=("FreqOracleClient",),
        adapt="from_pure_ldp",
    ),
}


@dataclass(frozen=True, slots=True)
class LibraryTarget:
    """What ``opendp:module:measurement`` says: the library, the file or module, and the object; empty for all of them.

    Neighbouring inputs in place of those that are derived follow as ``#`` and JSON, ``#[[[0, 1], [1, 1]]]``.

    Raises
    ------
    TargetError
        It does not name a module or a file.
    """

    library: str
    home: str
    attribute: str
    pairs: str = ""

    @classmethod
    def of(cls, text: str) -> LibraryTarget:
        """Read a TARGET argument."""
        text, _, pairs = text.partition("#")
        prefix, _, rest = text.partition(":")
        if ".py:" in rest or rest.endswith(".py"):
            head, _, attribute = rest.partition(".py")
            home, attribute = f"{head}.py", attribute.lstrip(":")
        else:
            home, _, attribute = rest.partition(":")
        if not home:
            raise TargetError(f"{text!r} names no module; write {prefix}:module:object or {prefix}:file.py::object")
        return cls(prefix.replace("_", "-"), home, attribute, pairs)

    @property
    def plain(self) -> str:
        """The same without the library: ``file.py::object`` or ``module:object``."""
        return f"{self.home}{'::' if self.home.endswith('.py') else ':'}{self.attribute}"

    @property
    def given(self) -> tuple[Pair, ...] | None:
        """Neighbouring inputs that it gives; None where it gives none.

        Raises
        ------
        ParameterError
            They are no pairs.
        """
        if not self.pairs:
            return None
        found = from_json(self.pairs, "--pairs")
        if not isinstance(found, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in found):
            raise ParameterError(f"--pairs: {shortened(self.pairs)} must list pairs [x, y] of inputs")
        return checked_pairs(tuple(pair) for pair in found)

    @property
    def path(self) -> str:
        """Library and home."""
        return f"{self.library}:{self.home}"

    def check_installed(self) -> None:
        """Raise TargetError, with what to install, where the library is not there."""
        check_installed(self.library)


def library_names() -> list[str]:
    """Libraries whose objects are targets."""
    return list(_LIBRARIES)


def is_library(text: str) -> bool:
    """Whether a TARGET argument names an object of a library."""
    prefix, colon, _ = text.partition(":")
    return bool(colon) and prefix.replace("_", "-") in _LIBRARIES


def check_installed(library: str) -> None:
    """Raise TargetError, with what to install, where a library is not there."""
    said = _LIBRARIES[library]
    if importlib.util.find_spec(said.package) is None:
        raise TargetError(
            f"{library}: the library is not installed; pip install {said.install}, or 'dpaudit[peers]' for all "
            "libraries that dpaudit audits"
        )


def mechanism_of(value: Any, *, pairs: Iterable[Pair] | None = None) -> LibraryMechanism | None:
    """Return an object of a library as a mechanism with the claim that it carries; None where it is no such object."""
    kind = value.func if isinstance(value, functools.partial) else type(value)
    packages = {each.__module__.partition(".")[0] for each in getattr(kind, "__mro__", (kind,))}
    for said in _LIBRARIES.values():
        if said.package in packages:
            adapter = importlib.import_module(said.home)
            if adapter.recognises(value):
                made: LibraryMechanism = getattr(adapter, said.adapt)(value, pairs=pairs)
                return made
    return None


def with_inputs(text: str, *, pairs: str | None, inputs: str | None) -> str:
    """Return a TARGET argument with neighbouring inputs from JSON: pairs, or inputs of which any two are neighbours.

    Raises
    ------
    ParameterError
        It is no object of a library, or they are no inputs to compare.
    """
    option, said = ("--pairs", pairs) if pairs is not None else ("--inputs", inputs)
    if said is None:
        return text
    if pairs is not None and inputs is not None:
        raise ParameterError("--pairs and --inputs say the same in two ways; give one of them")
    if not is_library(text):
        raise ParameterError(f"{option} is about a program or an object of a library; leave it out with {text}")
    found = from_json(said, option)
    if not isinstance(found, list) or len(found) < (1 if pairs is not None else 2):
        raise ParameterError(f"{option}: {shortened(said)} has nothing to compare; give at least two inputs")
    listed = found if pairs is not None else [list(pair) for pair in combinations(found, 2)]
    made = f"{text.partition('#')[0]}#{json.dumps(listed)}"
    LibraryTarget.of(made).given  # noqa: B018 - says what is wrong with them
    return made


def adapted(target: LibraryTarget, module: ModuleType) -> type[LibraryMechanism]:
    """Return the mechanism that an object of a module is, or what a function of the module returns.

    Raises
    ------
    TargetError
        The module has no such object.
    """
    said = _LIBRARIES[target.library]
    adapter = importlib.import_module(said.home)
    value = getattr(module, target.attribute, None)
    known = [name for name, _ in objects_in(target, module)]
    if value is None:
        raise TargetError(
            f"{target.home} has no object {target.attribute!r}; of {target.library} it has: "
            f"{', '.join(known) or 'none'}"
        )
    make: Callable[..., Any]
    if adapter.recognises(value):
        make = lambda: value  # noqa: E731
    elif inspect.isfunction(value):
        make = value
    else:
        raise TargetError(
            f"{target.home}: {target.attribute!r} is {type(value).__name__}; give {said.wanted}, or a function that "
            "returns one"
        )
    base: type[LibraryMechanism] = adapter.MECHANISM
    if hasattr(adapter, "base_for"):
        base = adapter.base_for(value, _returned(value))
    origin = target.path, target.attribute + (f"#{target.pairs}" if target.pairs else "")
    more: dict[str, Any] = {} if target.home.endswith(".py") else {"recipe": (adapted_again, target, {})}
    return made_class(base, make, name=target.attribute, origin=origin, pairs=target.given, more=more)


def adapted_again(target: LibraryTarget) -> type[LibraryMechanism]:
    """Return the mechanism that an object of a module is, by its reference alone."""
    return adapted(target, importlib.import_module(target.home))


def objects_in(target: LibraryTarget, module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Objects of a module that are targets: those of the library, and functions that say that they return one."""
    said = _LIBRARIES[target.library]
    adapter = importlib.import_module(said.home)
    for name, value in vars(module).items():
        if name.startswith("_"):
            continue
        if adapter.recognises(value) or (inspect.isfunction(value) and _makes(value, module, said)):
            yield name, value


def _makes(function: Any, module: ModuleType, said: _Library) -> bool:
    return function.__module__ == module.__name__ and _returned(function) in said.returned


def _returned(function: Any) -> str:
    """Name of the class that a function says it returns; empty where it does not say."""
    annotation = getattr(function, "__annotations__", {}).get("return", "")
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return text.partition("[")[0].rpartition(".")[2]
