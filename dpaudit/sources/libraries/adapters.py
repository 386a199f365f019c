"""Which objects of which library are targets, and what a TARGET argument such as ``opendp:module:measurement`` says."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from dpaudit.errors import TargetError
from dpaudit.sources.libraries.objects import LibraryMechanism, made_class


@dataclass(frozen=True, slots=True, kw_only=True)
class _Library:
    """A library: its package, what pip calls it, and where its adapter is."""

    package: str
    install: str
    home: str
    wanted: str
    returned: tuple[str, ...]
    """Return annotations of functions that make such objects."""


_LIBRARIES: Final = {
    "opendp": _Library(
        package="opendp",
        install="opendp",
        home="dpaudit.sources.libraries.opendp_objects",
        wanted="an OpenDP Measurement",
        returned=("Measurement",),
    ),
    "diffprivlib": _Library(
        package="diffprivlib",
        install="diffprivlib",
        home="dpaudit.sources.libraries.diffprivlib_objects",
        wanted="a diffprivlib mechanism, or functools.partial of a tool with its epsilon",
        returned=("DPMechanism", "partial"),
    ),
    "pure-ldp": _Library(
        package="pure_ldp",
        install="pure-ldp",
        home="dpaudit.sources.libraries.pure_ldp_objects",
        wanted="a pure-LDP client with epsilon and d",
        returned=("FreqOracleClient",),
    ),
}


@dataclass(frozen=True, slots=True)
class LibraryTarget:
    """What ``opendp:module:measurement`` says: the library, the file or module, and the object; empty for all of them.

    Raises
    ------
    TargetError
        It does not name a module or a file.
    """

    library: str
    home: str
    attribute: str

    @classmethod
    def of(cls, text: str) -> LibraryTarget:
        """Read a TARGET argument."""
        prefix, _, rest = text.partition(":")
        if ".py:" in rest or rest.endswith(".py"):
            head, _, attribute = rest.partition(".py")
            home, attribute = f"{head}.py", attribute.lstrip(":")
        else:
            home, _, attribute = rest.partition(":")
        if not home:
            raise TargetError(f"{text!r} names no module; write {prefix}:module:object or {prefix}:file.py::object")
        return cls(prefix.replace("_", "-"), home, attribute)

    @property
    def plain(self) -> str:
        """The same without the library: ``file.py::object`` or ``module:object``."""
        return f"{self.home}{'::' if self.home.endswith('.py') else ':'}{self.attribute}"

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
    return made_class(base, make, name=target.attribute, origin=(target.path, target.attribute))


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
    annotation = function.__annotations__.get("return", "")
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return function.__module__ == module.__name__ and text.partition("[")[0].rpartition(".")[2] in said.returned
