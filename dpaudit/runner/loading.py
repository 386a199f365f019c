"""What importing a module loads, directly or not, found by following the imports in its syntax.

Names do not lead to all the code that decides a result: an import may change other modules, classes enter themselves in
a table, a function is looked up by a text. So everything that a user's module loads counts, but for what is installed,
which counts by its version.
"""

from __future__ import annotations

import ast
import hashlib
import pkgutil
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from dpaudit.registry import TargetReference
from dpaudit.registry.references import import_target, shown_path
from dpaudit.runner.code import Codebase, imported_from
from dpaudit.runner.modules import Location, location_of, source_of
from dpaudit.runner.unseen import may_run_unseen_code, module_in_text

_OURS = "dpaudit"
_FILE = "_dpaudit_target_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What importing modules loads.

    Attributes
    ----------
    modules
        Modules with source that are not installed, those that were asked for among them.
    others
        Digests of compiled modules that are not installed, and modules that are imported and are not there.
    packages
        Names of the installed packages.
    complete
        Whether that is all; not where code is made, or modules are named, at run time.
    """

    modules: frozenset[str]
    others: frozenset[str]
    packages: frozenset[str]
    complete: bool


class Loading:
    """Follows imports; looks for every module, and reads it, once.

    Parameters
    ----------
    codebase
        What reads the modules.
    """

    def __init__(self, codebase: Codebase) -> None:
        self._codebase = codebase
        self._locations: dict[str, Location | None] = {}
        self._imports: dict[str, list[_Import] | None] = {}
        self._known: dict[frozenset[str], Loaded] = {}

    def of(self, roots: Collection[str]) -> Loaded:
        """What importing some modules loads; packages of which they are part are followed where installed, too."""
        asked = frozenset(roots)
        if asked not in self._known:
            self._known[asked] = _Walk(self, asked).loaded()
        return self._known[asked]

    def location(self, name: str) -> Location | None:
        """Where a module lies; see `location_of`."""
        if name not in self._locations:
            self._locations[name] = location_of(name)
        return self._locations[name]

    def imports(self, name: str) -> list[_Import] | None:
        """What a module with source imports; None where it cannot be read, or says less than it loads."""
        if name not in self._imports:
            self._imports[name] = self._read(name)
        return self._imports[name]

    def _read(self, name: str) -> list[_Import] | None:
        statements, location = self._codebase.statements(name), self.location(name)
        if statements is None or location is None:
            return None
        package = bool(location.folders)
        if may_run_unseen_code(statements, name, package=package):
            return None
        nodes = [node for statement in statements for node in ast.walk(statement)]
        return [found for node in nodes for found in _imports(node, name, package=package)]


@cache
def files_beside(reference: TargetReference) -> dict[str, str]:
    """SHA-256 of the files that a user's target loads beside its own, by their paths; of installed ones nothing."""
    if reference.command is not None:
        return {}
    name = import_target(reference.home)[0].__name__
    if name.partition(".")[0] == _OURS:
        return {}
    found: dict[str, str] = {}
    for module in sorted(Loading(Codebase()).of([name]).modules - {name}):
        file = source_of(module)
        if file is not None and file.is_file() and file != reference.file:
            found[shown_path(str(file))] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


class _Import(NamedTuple):
    """A module that is imported, and the names that are taken from it, which may be modules too."""

    module: str
    names: tuple[str, ...] = ()


def _imports(node: ast.AST, name: str, *, package: bool) -> Iterator[_Import]:
    if isinstance(node, ast.Import):
        yield from (_Import(alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        names = tuple(alias.name for alias in node.names)
        yield _Import(imported_from(node, name, package=package), names)
    elif text := module_in_text(node):
        yield _Import(text)


class _Walk:
    """One walk along imports."""

    def __init__(self, loading: Loading, roots: Collection[str]) -> None:
        self._loading = loading
        self._own = {root.partition(".")[0] for root in roots}
        self._seen: dict[str, bool] = {}
        self._waiting: list[str] = []
        self._others: set[str] = set()
        self._packages: set[str] = set()
        self._complete = True
        for root in roots:
            self._load(root)

    def loaded(self) -> Loaded:
        """What the walk finds."""
        while self._waiting and self._complete:
            found = self._loading.imports(self._waiting.pop())
            if found is None:
                self._complete = False
            for each in found or ():
                self._load(each.module)
                for below in self._modules_below(each) if self._seen.get(each.module) else ():
                    self._load(below)
        return Loaded(
            modules=frozenset(name for name, followed in self._seen.items() if followed),
            others=frozenset(self._others),
            packages=frozenset(self._packages),
            complete=self._complete,
        )

    def _load(self, name: str) -> None:
        """Note a module with all packages that it lies in."""
        parts = [name] if name.startswith(_FILE) else name.split(".")
        for length in range(1, len(parts) + 1):
            part = ".".join(parts[:length])
            if part not in self._seen:
                self._seen[part] = self._is_followed(part)
                self._waiting += [part] if self._seen[part] else []
            if not self._seen[part]:
                return

    def _modules_below(self, found: _Import) -> Iterator[str]:
        location = self._loading.location(found.module)
        folders = [] if location is None else [str(folder) for folder in location.folders]
        names = [module.name for module in pkgutil.iter_modules(folders)] if "*" in found.names else found.names
        for name in names:
            below = f"{found.module}.{name}"
            if folders and self._loading.location(below) is not None:
                yield below

    def _is_followed(self, name: str) -> bool:
        """Whether a module has source that counts; note what it is if not."""
        top, location = name.partition(".")[0], self._loading.location(name)
        if top == _OURS or not name:
            return False
        if location is None:
            self._others.add(f"{name} is missing")
            return False
        if location.installed and top not in self._own:
            self._packages |= {top} - sys.stdlib_module_names
            return False
        if location.source is not None:
            return True
        if location.file is None or location.folders or location.file.suffix == ".pyc":
            self._complete = False
            return False
        try:
            self._others.add(f"{name} {hashlib.sha256(location.file.read_bytes()).hexdigest()}")
        except OSError:
            self._complete = False
        return False
