"""References to targets, by file or by module, that can be sent to another process."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final, TypeGuard

from dpaudit.catalog import NAME, PATH
from dpaudit.claims.declarations import declarations_of
from dpaudit.claims.inputs import short_repr
from dpaudit.errors import TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.reading import MEBIBYTE, read_bytes
from dpaudit.registry.names import suggestion
from dpaudit.sources.declarations import CommandDeclaration, declaration_of, is_command
from dpaudit.sources.libraries.adapters import LibraryTarget, adapted, is_library, objects_in

_LARGEST = 16 * MEBIBYTE

_OUTPUTS: Final = ("sample", "law", "log_likelihood", "views")
"""Methods of a mechanism that say what it puts out."""

_METHODS: Final = (*_OUTPUTS, "neighbours", "claims", "supports", "features", "sends", "transcript", "validate")
"""All methods that a mechanism may define."""

_LOADED: dict[str, tuple[str, str, ModuleType]] = {}

_SENT: dict[str, tuple[ModuleType, str]] = {}
"""Modules whose source another process sent, by the path that its references have, with their digests."""


@dataclass(frozen=True, slots=True)
class TargetReference:
    """Where a target's code is, in a form that can be sent to another process.

    Attributes
    ----------
    path
        The file, the dotted name of an importable module, or what declares a command: a plan, or ``command:`` and JSON.
        With ``opendp:`` in front, or another library, the file or module whose object is a target.
    attribute
        Name of the class in it; empty for a command.
    digest
        SHA-256 of the file's content when it was found, of a command with its declaration; empty for a module without a
        file.
    pairs
        Neighbouring inputs for an object of a library, as JSON; empty where they are derived.
    """

    path: str
    attribute: str
    digest: str
    pairs: str = ""

    def load(self) -> type[Mechanism]:
        """Import the class.

        Raises
        ------
        TargetError
            The code changed since it was found, fails to import, or has no such class.
        """
        said = self.command
        if said is not None:
            if said.digest() != self.digest:
                raise TargetError(f"{said.shown} changed while it was being audited; run again")
            from dpaudit.sources.commands import command_class

            return command_class(said)
        module, digest = import_target(self.home)
        if digest != self.digest:
            raise TargetError(f"{self.home} changed while it was being audited; run again")
        if is_library(self.path):
            return adapted(replace(LibraryTarget.of(f"{self.path}:{self.attribute}"), pairs=self.pairs), module)
        return class_in(module, self.attribute, self.path)

    @property
    def home(self) -> str:
        """The file or module, of an object of a library without the library."""
        return LibraryTarget.of(self.path).home if is_library(self.path) else self.path

    @property
    def command(self) -> CommandDeclaration | None:
        """The command, where it is one."""
        return declaration_of(self.path) if is_command(self.path) else None

    @classmethod
    def to_command(cls, said: CommandDeclaration) -> TargetReference:
        """Reference to a command.

        Raises
        ------
        TargetError
            Its program is not there, or cannot be executed.
        """
        return cls(said.text, "", said.digest())

    @property
    def file(self) -> Path | None:
        """The file, where there is one."""
        if self.home.endswith(".py"):
            return Path(self.home)
        found = getattr(import_target(self.home)[0], "__file__", None)
        return Path(found) if found else None


@dataclass(frozen=True, slots=True)
class TargetSource:
    """The source of a target's file, for a process that may not have the file.

    Attributes
    ----------
    path, file
        The path that references have, and where the file is.
    digest, content
        The content, and its SHA-256.
    """

    path: str
    file: str
    digest: str
    content: bytes

    @classmethod
    def of(cls, reference: TargetReference) -> TargetSource | None:
        """Source of a reference's file; None where it is imported by the name of its module, or is a program.

        Raises
        ------
        TargetError
            The file cannot be read, or has changed.
        """
        if reference.command is not None or not reference.home.endswith(".py"):
            return None
        file = _resolved(reference.home)
        if _catalogue_module(file) is not None:
            return None
        try:
            content = read_bytes(file, most=_LARGEST)
        except OSError as error:
            raise TargetError(f"{reference.home}: cannot read the target file ({error.strerror})") from None
        if hashlib.sha256(content).hexdigest() != reference.digest:
            raise TargetError(f"{reference.home} changed while it was being audited; run again")
        return cls(reference.home, str(file), reference.digest, content)

    def take(self) -> None:
        """Take the source for what references to this path mean in this process.

        Raises
        ------
        TargetError
            It fails to import.
        """
        known = _SENT.get(self.path)
        if known is None or known[1] != self.digest:
            _SENT[self.path] = _executed(self.file, self.content, self.path), self.digest


def is_target(value: object, module: str) -> TypeGuard[type[Mechanism]]:
    """Whether something is a mechanism defined in a module that makes claims."""
    return (
        _is_mechanism(value)
        and value.__module__ == module
        and (value.claims is not Mechanism.claims or bool(declarations_of(value)))
        and not value.__qualname__.startswith("_")
        and not _awaits_command(value)
    )


def _awaits_command(value: type[Mechanism]) -> bool:
    """Whether a class looks at the outputs of any program that it is given, and is no target without one."""
    commands = sys.modules.get("dpaudit.sources.commands")
    return commands is not None and issubclass(value, commands.CommandMechanism) and not hasattr(value, "declaration")


def _is_mechanism(value: object) -> TypeGuard[type[Mechanism]]:
    """Whether something is a subclass of the base; without its own code, which may raise when it is asked."""
    return issubclass(type(value), type) and Mechanism in type.__dict__["__mro__"].__get__(value)


def _is_common_base(value: type[Mechanism], targets: Iterable[type[Mechanism]]) -> bool:
    """Whether a target puts nothing out, and only holds claims and more that another one inherits, which does."""
    if _puts_out(value) or declarations_of(value):
        return False
    return any(value in other.__mro__ and other.claims is value.claims and _puts_out(other) for other in targets)


def _puts_out(value: type[Mechanism]) -> bool:
    """Whether a mechanism defines outputs, their law, or views that do."""
    return any(getattr(value, name) is not getattr(Mechanism, name) for name in _OUTPUTS)


def targets_in(path: str) -> list[TargetReference]:
    """Targets of a file or module: the mechanisms defined there that make claims, without bases that only share them.

    Raises
    ------
    TargetError
        The file cannot be read or imported, or defines no target.
    """
    module, digest = import_target(path)
    targets: dict[str, type[Mechanism]] = {}
    for name, value in vars(module).items():
        try:
            if is_target(value, module.__name__):
                targets[name] = value
        except Exception as error:
            raise TargetError(f"{path}: {name} raised {type(error).__name__} when looked at: {error}") from error
    found = [
        TargetReference(_name(path, module), name, digest)
        for name, value in targets.items()
        if not _is_common_base(value, targets.values())
    ]
    if not found:
        raise TargetError(
            f"{path} defines no target; define a subclass of dpaudit.Mechanism with `claims`, or with claims that are "
            "declared about it; classes that are made in another module are no targets of this one"
        )
    return found


def unclaimed_in(path: str) -> list[str]:
    """Mechanisms of a file that put something out and make no claim, but for those that others in it are made of."""
    module, _ = import_target(path)
    own = {
        name: value
        for name, value in vars(module).items()
        if _is_mechanism(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    return [
        name
        for name, value in own.items()
        if _puts_out(value)
        and not is_target(value, module.__name__)
        and not any(value in other.__mro__ for other in own.values() if other is not value)
    ]


def library_targets(text: str) -> list[TargetReference]:
    """Objects of a library that a TARGET argument means: one, or all that its file or module holds.

    Raises
    ------
    TargetError
        The library is not installed, the file or module cannot be imported, or there is no such object.
    """
    said = LibraryTarget.of(text)
    said.check_installed()
    module, digest = import_target(said.home)
    path = f"{said.library}:{_name(said.home, module)}"
    if said.attribute:
        adapted(said, module)
        return [TargetReference(path, said.attribute, digest, said.pairs)]
    found = [TargetReference(path, name, digest, said.pairs) for name, _ in objects_in(said, module)]
    if not found:
        raise TargetError(
            f"{said.home} has no object of {said.library}; name a function that returns one: {text}:FUNCTION, or say "
            "what it returns in its annotation"
        )
    return found


def class_in(module: ModuleType, attribute: str, path: str) -> type[Mechanism]:
    """Mechanism of that name in a module.

    Raises
    ------
    TargetError
        There is none, or something that is no method stands in place of one of its methods.
    """
    value = getattr(module, attribute, None)
    if not _is_mechanism(value):
        classes = [name for name, item in vars(module).items() if _is_mechanism(item) and item is not Mechanism]
        known = ", ".join(classes) or "none"
        raise TargetError(f"{path} has no mechanism {attribute!r}{suggestion(attribute, classes)}; it has: {known}")
    check_methods(value, path)
    return value


def check_methods(target: type[Mechanism], path: str) -> None:
    """Raise TargetError where something that is no method stands in place of one, such as ``law = None``."""
    for name in _METHODS:
        found = getattr(target, name, None)
        if not callable(found):
            what = "a property" if isinstance(found, property) else short_repr(found)
            raise TargetError(
                f"{path}: `{target.__qualname__}.{name}` is {what} and no method; define it with `def`, or leave it out"
            )


def line_in(path: str, error: BaseException) -> int | None:
    """Line of a file at which an exception left it, or None if it did not come through there."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == path), None)


def shown_path(path: str) -> str:
    """One form of a file's path, however it was named: relative where it lies below the current folder."""
    if not path.endswith(".py"):
        return path
    file, here = Path(path).resolve(), Path.cwd().resolve()
    return (file.relative_to(here) if file.is_relative_to(here) else file).as_posix()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Undo what code of a target does to the current folder and to the limit of recursion, on which others depend."""
    limit = sys.getrecursionlimit()
    try:
        folder = Path.cwd()
    except OSError:
        folder = None
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if folder is not None:
            os.chdir(folder)


def loaded_from(module: str) -> str | None:
    """File from which a module of that name was loaded as a target, or None."""
    return next((path for path, _, loaded in list(_LOADED.values()) if loaded.__name__ == module), None)


def import_target(path: str) -> tuple[ModuleType, str]:
    """Import a file or a module; return it with the SHA-256 of its file.

    A file of the catalogue is imported by its module's name.

    Raises
    ------
    TargetError
        It cannot be read or imported.
    """
    if path in _SENT:
        return _SENT[path]
    if not path.endswith(".py"):
        return _import_dotted(path)
    file = _resolved(path)
    dotted = _catalogue_module(file)
    return _import_dotted(dotted) if dotted else _import_file(str(file))


def _resolved(path: str) -> Path:
    try:
        file = Path(path).resolve()
        file.stat()
    except (OSError, ValueError, RuntimeError) as error:
        # A loop of links is a RuntimeError of older versions of Python.
        why = getattr(error, "strerror", None) or "no file can be found by this name"
        raise TargetError(f"{path}: cannot read the target file ({why})") from None
    return file


def names_catalogue_file(text: str) -> bool:
    """Whether a TARGET argument names a file or a module of the catalogue."""
    name = text.partition("::")[0]
    if name.endswith(".py"):
        return _catalogue_module(_resolved(name)) is not None
    return name.startswith(f"{NAME}.")


def _name(path: str, module: ModuleType) -> str:
    return module.__name__ if module.__name__.startswith(f"{NAME}.") else shown_path(path)


def _catalogue_module(file: Path) -> str | None:
    for folder in map(Path, PATH):
        if file.is_relative_to(folder.resolve()) and file.is_file():
            parts = file.relative_to(folder.resolve()).with_suffix("").parts
            return ".".join((NAME, *(parts[:-1] if parts[-1] == "__init__" else parts)))
    return None


@cache
def _import_file(path: str) -> tuple[ModuleType, str]:
    file = Path(path)
    shown = shown_path(path)
    try:
        content = read_bytes(file, most=_LARGEST)
    except OSError as error:
        raise TargetError(f"{shown}: cannot read the target file ({error.strerror})") from None
    module, digest = _executed(path, content, shown), hashlib.sha256(content).hexdigest()
    _LOADED[path] = (path, digest, module)
    return module, digest


def _executed(path: str, content: bytes, shown: str) -> ModuleType:
    """Module that the content of a file makes."""
    file = Path(path)
    name = f"_dpaudit_target_{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        # What runs is what the digest is of: not a compiled file beside it, nor what the file holds a moment later.
        with undisturbed():
            exec(compile(content, path, "exec", dont_inherit=True), vars(module))  # noqa: S102
    except BaseException as error:
        sys.modules.pop(name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        if isinstance(error, SyntaxError) and error.filename in (path, None):
            where = f"{shown}, line {error.lineno}" if error.lineno else shown
            raise TargetError(f"{where}: {error.msg}; mend the syntax") from error
        line = line_in(path, error)
        where = f"{shown}, line {line}" if line else shown
        raise TargetError(f"{where}: the file raised {type(error).__name__} when imported: {error}") from error
    return module


def _import_dotted(dotted: str) -> tuple[ModuleType, str]:
    try:
        with undisturbed():
            module = importlib.import_module(dotted)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        mend = "install it, or mend the name" if isinstance(error, ModuleNotFoundError) else "mend the module"
        raise TargetError(f"module {dotted!r} cannot be imported ({type(error).__name__}: {error}); {mend}") from error
    file = getattr(module, "__file__", None)
    return module, _digest(file) if file else ""


@cache
def _digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
