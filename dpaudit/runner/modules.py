"""Where modules lie, told without running them."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path

_INSTALLED = ("site-packages", "dist-packages")
_WITHOUT_FILE = ("built-in", "frozen")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a module lies.

    Attributes
    ----------
    file
        Its file, of source or compiled; None for a package without ``__init__``, and for a module of the interpreter.
    folders
        Of a package, the folders in which its modules lie.
    built_in
        Whether it is a module of the interpreter itself.
    """

    file: Path | None = None
    folders: tuple[Path, ...] = ()
    built_in: bool = False

    @property
    def source(self) -> Path | None:
        """The source file, or the folder of a package without one; None where there is neither."""
        if self.file is not None:
            return self.file if self.file.suffix == ".py" else None
        return next((folder for folder in self.folders[:1] if folder.is_dir()), None)

    @property
    def installed(self) -> bool:
        """Whether it comes with an installed package or with Python."""
        places = self.folders if self.file is None else (self.file,)
        return self.built_in or (bool(places) and all(map(_is_installed, places)))


def location_of(name: str) -> Location | None:
    """Where a module lies; None where there is no such module.

    A module that is loaded lies where it was loaded from. Any other is looked for, and its packages are not imported
    for that.
    """
    if not name:
        return None
    loaded = sys.modules.get(name)
    if loaded is not None:
        # A module may make up any attribute that it does not hold.
        held = getattr(loaded, "__dict__", {})
        file = held.get("__file__")
        built_in = file is None and getattr(held.get("__spec__"), "origin", None) in _WITHOUT_FILE
        return _location(file, held.get("__path__") or (), built_in)
    parent, _, _ = name.rpartition(".")
    above = location_of(parent) if parent else None
    if parent and (above is None or not above.folders):
        return None
    found = _spec(name, [str(folder) for folder in above.folders] if above is not None else None)
    if found is None:
        return None
    folders = found.submodule_search_locations or ()
    built_in = found.origin in _WITHOUT_FILE
    return _location(found.origin if found.has_location else None, folders, built_in)


def _location(file: object, folders: Sequence[str], built_in: bool) -> Location:
    return Location(
        file=Path(str(file)) if file else None, folders=tuple(map(Path, map(str, folders))), built_in=built_in
    )


def _spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        try:
            found = finder.find_spec(name, path)
        except (ImportError, AttributeError, ValueError, OSError):
            continue
        if found is not None:
            return found
    return None


def source_of(name: str) -> Path | None:
    """Source file of a module, or the folder of a package without one; None where there is none."""
    location = location_of(name)
    return None if location is None else location.source


def is_installed(name: str) -> bool:
    """Whether a module comes with an installed package or with Python, or has no source of its own."""
    location = location_of(name)
    return location is None or location.source is None or location.installed


def _is_installed(path: Path) -> bool:
    resolved = path.resolve()
    if any(folder in resolved.parts for folder in _INSTALLED):
        return True
    return any(resolved.is_relative_to(folder) for folder in _standard_library())


@cache
def _standard_library() -> tuple[Path, ...]:
    """Folders of Python's own modules."""
    paths = sysconfig.get_paths()
    return tuple(Path(paths[name]).resolve() for name in ("stdlib", "platstdlib"))
