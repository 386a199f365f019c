"""Where the code of a TARGET argument is, found without running any of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

from dpaudit.errors import TargetError
from dpaudit.registry.catalogue import in_catalogue
from dpaudit.registry.references import names_catalogue_file
from dpaudit.sources.declarations import is_command
from dpaudit.sources.libraries.adapters import LibraryTarget, is_library


def code_file(text: str) -> Path | None:
    """File of the code that a TARGET argument means, found without running any of it; None for the catalogue's.

    Of a command that a plan declares it is the plan. A command that is given as such has none.

    Raises
    ------
    TargetError
        There is no such file or module.
    """
    if is_command(text):
        return Path(text) if text.endswith(".toml") else None
    if is_library(text):
        text = LibraryTarget.of(text).plain
    name = text.partition("::")[0]
    if name.endswith(".py"):
        file = Path(name)
        if not file.is_file():
            raise TargetError(f"{name}: cannot read the target file ({_problem(file)})")
        return None if names_catalogue_file(text) else file
    dotted, colon, _ = text.partition(":")
    if not colon or in_catalogue(dotted) or dotted.startswith("dpaudit."):
        return None
    return module_file(dotted)


def module_file(dotted: str) -> Path:
    """File of a module; nothing is imported, not even the packages that it lies in.

    Raises
    ------
    TargetError
        There is no such module, or it has no file.
    """
    places: list[str] | None = None
    spec = None
    parts = dotted.split(".")
    if not all(part.isidentifier() for part in parts):
        raise TargetError(f"{dotted!r} is not a module; write module:Class, file.py::Class or a name of the catalogue")
    for depth in range(1, len(parts) + 1):
        name = ".".join(parts[:depth])
        spec = _spec(name, places) if depth == 1 or places else None
        if spec is None:
            raise TargetError(
                f"module {dotted!r} cannot be imported (there is no module {name!r}); install it, or mend the name"
            )
        places = _places(spec, places)
    if spec is None or not spec.has_location or spec.origin is None:
        raise TargetError(f"module {dotted!r} has no file; name a module that a file holds")
    return Path(spec.origin)


def local_path(text: str) -> str:
    """Return a path as it is written here, where it was written with the separators of Windows."""
    return text.replace("\\", "/") if os.sep == "/" and not Path(text.partition("::")[0]).exists() else text


def is_below_current_folder(file: Path) -> bool:
    """Whether a file lies in the current folder or below it, wherever links lead."""
    return file.resolve().is_relative_to(Path.cwd().resolve())


def _problem(file: Path) -> str:
    return "it is not a file" if file.exists() else "No such file or directory"


def _spec(name: str, places: Sequence[str] | None) -> ModuleSpec | None:
    found = (finder.find_spec(name, places, None) for finder in sys.meta_path if hasattr(finder, "find_spec"))
    try:
        return next((spec for spec in found if spec is not None), None)
    except KeyError:
        # A namespace package in another, which looks its parent up among the modules that are imported.
        return ModuleSpec(name, None, is_package=True)


def _places(spec: ModuleSpec, above: Sequence[str] | None) -> list[str]:
    """Folders of a package; none for a module."""
    if spec.submodule_search_locations is None:
        return []
    if spec.origin is not None:
        return list(spec.submodule_search_locations)
    # The folders of a namespace package are looked up in its parent, which has not been imported.
    tail = spec.name.rpartition(".")[2]
    folders = [os.path.join(folder or os.curdir, tail) for folder in (sys.path if above is None else above)]
    return [folder for folder in folders if os.path.isdir(folder)]
