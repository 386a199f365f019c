"""Which code something uses: a fingerprint of definitions and of all that they reach, without docstrings and comments.

The code is read and not run. A module's top-level statements are its units. A unit reaches the units that its names and
dotted names mean, in its own module and in those that are imported. A class is one unit with all its methods, since a
name says nothing of which of them are called. So a fingerprint changes whenever the code that decides a result may have
changed, and stays when something else did: a docstring, a comment, a function that nothing here calls.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

Unit = tuple[str, int]
"""A module's name and the place of a statement in it; -1 for the whole module."""

VOCABULARY: Final = (
    "dpaudit.catalog",
    "dpaudit.claims.claims",
    "dpaudit.claims.datasets",
    "dpaudit.claims.declarations",
    "dpaudit.claims.evidence",
    "dpaudit.claims.papers",
    "dpaudit.claims.record",
    "dpaudit.claims.verdicts",
    "dpaudit.errors",
    "dpaudit.mechanism",
    "dpaudit.registry",
    "dpaudit.plan",
    "dpaudit.runner",
    "dpaudit.testing",
)
"""Modules whose definitions decide no number: names and forms in which numbers are handed on."""

AUDITORS: Final = ("dpaudit.auditors",)
"""Modules that count by the revision of an auditor, not by their code."""

_WHOLE = -1
_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Code that something uses.

    Attributes
    ----------
    digest
        SHA-256 of the syntax trees of all units.
    units
        The units, each as ``module:name``.
    packages
        Names of the installed packages that the units import.
    """

    digest: str
    units: tuple[str, ...]
    packages: frozenset[str]


class Codebase:
    """The modules read so far; one object reads every file once.

    Parameters
    ----------
    left_out
        Modules, with all below them, whose units are not followed.
    cut
        Units that are not followed, as (module, name).
    """

    def __init__(
        self, *, left_out: Collection[str] = (*VOCABULARY, *AUDITORS), cut: Collection[tuple[str, str]] = ()
    ) -> None:
        self._left_out, self._cut = tuple(left_out), frozenset(cut)
        self._modules: dict[str, _Module | None] = {}
        self._edges: dict[Unit, tuple[frozenset[Unit], frozenset[str]]] = {}

    def fingerprint(self, roots: Iterable[tuple[str, str | int]]) -> Fingerprint:
        """Fingerprint of definitions.

        Parameters
        ----------
        roots
            Modules with the name of a definition, or with a line of it. Where a module has no such definition at its
            top level, the whole module counts.
        """
        waiting = [unit for module, where in roots for unit in self._roots(module, where)]
        reached: set[Unit] = set()
        packages: set[str] = set()
        while waiting:
            unit = waiting.pop()
            if unit in reached:
                continue
            reached.add(unit)
            further, installed = self._reached_from(unit)
            packages |= installed
            waiting.extend(further - reached)
        # Several statements of one name count in the order in which they stand.
        parts = sorted((module, index) for module, index in reached)
        digests, units = [], []
        for name, index in parts:
            module = self._module(name)
            assert module is not None
            units.append(f"{_plain_name(name)}:{module.label(index)}")
            digests.append(f"{units[-1]} {module.digest(index)}")
        digest = hashlib.sha256("\n".join(digests).encode()).hexdigest()
        return Fingerprint(digest=digest, units=tuple(dict.fromkeys(units)), packages=frozenset(packages))

    def _roots(self, name: str, where: str | int) -> list[Unit]:
        module = self._module(name)
        if module is None:
            return []
        if isinstance(where, int):
            found = [i for i, (first, last) in enumerate(module.spans) if first <= where <= last]
        else:
            found = list(module.bindings.get(where, ()))
        return [(name, i) for i in found] or [(name, _WHOLE)]

    def _module(self, name: str) -> _Module | None:
        if name not in self._modules:
            path = _file_of(name)
            self._modules[name] = None if path is None else _Module.read(name, path)
        return self._modules[name]

    def _reached_from(self, unit: Unit) -> tuple[frozenset[Unit], frozenset[str]]:
        if unit not in self._edges:
            name, index = unit
            module = self._module(name)
            assert module is not None
            units: set[Unit] = set()
            packages: set[str] = set()
            for part in range(len(module.statements)) if index == _WHOLE else (index,):
                local = module.imports_within(part)
                for path in module.names(part):
                    self._resolve(module, local, path, units, packages, depth=0)
            self._edges[unit] = frozenset(units), frozenset(packages)
        return self._edges[unit]

    def _resolve(
        self,
        module: _Module,
        local: Mapping[str, _Imported],
        path: tuple[str, ...],
        units: set[Unit],
        packages: set[str],
        *,
        depth: int,
    ) -> None:
        """Add the units, or the installed package, that a dotted name in a module means."""
        first, rest = path[0], path[1:]
        if depth > 30:
            return
        if first in local or (first not in module.bindings and first in module.imports):
            imported = local.get(first) or module.imports[first]
            self._resolve_imported(imported, rest, units, packages, depth)
        elif first in module.bindings:
            if (module.name, first) not in self._cut:
                units.update((module.name, index) for index in module.bindings[first])
        else:
            for star in module.stars:
                other = self._followed(star, packages)
                if other is not None and (first in other.bindings or first in other.imports):
                    self._resolve(other, {}, path, units, packages, depth=depth + 1)

    def _resolve_imported(
        self, imported: _Imported, rest: tuple[str, ...], units: set[Unit], packages: set[str], depth: int
    ) -> None:
        name, attribute = imported.module, imported.attribute
        wanted = (attribute, *rest) if attribute else rest
        while True:
            if (name, wanted[0] if wanted else "") in self._cut:
                return
            module = self._followed(name, packages)
            if module is None:
                return
            if not wanted:
                # The module itself is handed on: anything in it may be used.
                units.add((name, _WHOLE))
                return
            # ``from package import submodule`` within the package itself means the submodule.
            itself = module.imports.get(wanted[0]) == _Imported(name, wanted[0])
            if not itself and (wanted[0] in module.bindings or wanted[0] in module.imports):
                self._resolve(module, {}, wanted, units, packages, depth=depth + 1)
                return
            below = f"{name}.{wanted[0]}"
            if module.package and _file_of(below) is not None:
                name, wanted = below, wanted[1:]
                continue
            self._resolve(module, {}, wanted, units, packages, depth=depth + 1)
            return

    def _followed(self, name: str, packages: set[str]) -> _Module | None:
        """Module that counts by its code, or None; an installed package is noted by its name."""
        # Papers lie in the catalogue, whose own module is vocabulary.
        left_out = any(name == each or name.startswith(f"{each}.") for each in self._left_out)
        if left_out and not name.startswith("dpaudit.catalog."):
            return None
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names:
            return None
        if top != "dpaudit" and _is_installed(name):
            packages.add(top)
            return None
        return self._module(name)


@dataclass(frozen=True, slots=True)
class _Imported:
    """What an imported name stands for: a module, or a name in one."""

    module: str
    attribute: str = ""


@dataclass(eq=False)
class _Module:
    """One module's statements, what they bind, and what is imported."""

    name: str
    package: bool
    statements: list[ast.stmt]
    spans: list[tuple[int, int]]
    bindings: dict[str, list[int]] = field(default_factory=dict)
    imports: dict[str, _Imported] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, name: str, path: Path) -> _Module | None:
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            return None
        spans = [_span(statement) for statement in tree.body if not _is_text(statement)]
        tree = _WithoutWords().visit(tree)
        module = cls(name=name, package=path.name == "__init__.py", statements=tree.body, spans=spans)
        for index, statement in enumerate(tree.body):
            for node in _outside_functions(statement):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    module.imports.update(module._imported(node))
                    if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                        module.stars.append(module._from(node))
                for bound in _bound(node):
                    indices = module.bindings.setdefault(bound, [])
                    if index not in indices:
                        indices.append(index)
        return module

    def imports_within(self, index: int) -> dict[str, _Imported]:
        """What functions of a statement import for themselves."""
        found: dict[str, _Imported] = {}
        for node in ast.walk(self.statements[index]):
            if isinstance(node, ast.Import | ast.ImportFrom):
                found.update(self._imported(node))
        return found

    def names(self, index: int) -> set[tuple[str, ...]]:
        """Names, and dotted names, that a statement uses."""
        found: set[tuple[str, ...]] = set()
        waiting: list[ast.AST] = [self.statements[index]]
        while waiting:
            node = waiting.pop()
            path = _dotted(node)
            if path:
                found.add(path)
            else:
                waiting.extend(ast.iter_child_nodes(node))
        return found

    def label(self, index: int) -> str:
        """Name of a statement for people."""
        if index == _WHOLE:
            return "*"
        return next((name for name, indices in self.bindings.items() if index in indices), f"statement {index + 1}")

    def digest(self, index: int) -> str:
        """SHA-256 of a statement's syntax tree."""
        if index not in self._digests:
            body = self.statements if index == _WHOLE else [self.statements[index]]
            text = "\n".join(ast.dump(statement) for statement in body)
            self._digests[index] = hashlib.sha256(text.encode()).hexdigest()
        return self._digests[index]

    @cached_property
    def _digests(self) -> dict[int, str]:
        return {}

    def _imported(self, node: ast.Import | ast.ImportFrom) -> dict[str, _Imported]:
        if isinstance(node, ast.Import):
            return {
                alias.asname or alias.name.partition(".")[0]: _Imported(
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
                for alias in node.names
            }
        return {alias.asname or alias.name: _Imported(self._from(node), alias.name) for alias in node.names}

    def _from(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".") if self.package else self.name.split(".")[:-1]
        base = parts[: len(parts) - (node.level - 1)]
        return ".".join([*base, *([node.module] if node.module else [])])


_DESCRIPTIONS: Final = frozenset({"source", "places", "trust", "errata", "notation"})
"""Attributes of a mechanism's class that describe it and decide no number."""

_WORDS: Final = {"parameter": {"doc"}, "control": {"paper", "statement"}}
"""Arguments that are words, by the name of the function."""


class _WithoutWords(ast.NodeTransformer):
    """Removes what is written for people: docstrings, descriptions of a class, places and statements of claims."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [item for item in node.body if not _is_description(item)] or [ast.Pass()]
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        # What is declared of a claim besides its id and kind, which keys hold apart, decides no number.
        node.decorator_list = [each for each in node.decorator_list if _called(each) != "claim"]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        words = _WORDS.get(_called(node), set())
        node.keywords = [each for each in node.keywords if each.arg not in words]
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [item for item in body if not _is_text(item)]
            node.body = kept or ([] if isinstance(node, ast.Module) else [ast.Pass()])  # type: ignore[attr-defined]
        return node


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_description(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id in _DESCRIPTIONS for target in targets)


def _called(node: ast.AST) -> str:
    """Last name of the function that a call calls; empty for anything else."""
    path = _dotted(node.func) if isinstance(node, ast.Call) else None
    return path[-1] if path else ""


def _dotted(node: ast.AST) -> tuple[str, ...] | None:
    """``("dpaudit", "laws", "compare")`` for a dotted name; None for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else None


def _outside_functions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Nodes of a statement that are run in the module's own scope."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def _span(statement: ast.stmt) -> tuple[int, int]:
    """First and last line of a statement, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)]), statement.end_lineno or statement.lineno


def _file_of(name: str) -> Path | None:
    """Source file of a module, without running it; None where there is none."""
    loaded = sys.modules.get(name)
    path = getattr(loaded, "__file__", None)
    if path is None and loaded is None and name:
        try:
            found = importlib.util.find_spec(name)
        except (ImportError, AttributeError, ValueError):
            found = None
        path = found.origin if found is not None else None
    return Path(path) if path and str(path).endswith(".py") else None


def _is_installed(name: str) -> bool:
    """Whether a module comes with an installed package, or has no source of its own."""
    path = _file_of(name)
    if path is None:
        return True
    parts = path.resolve().parts
    return any(folder in parts for folder in _INSTALLED) or str(path).startswith(sysconfig.get_paths()["stdlib"])


def _plain_name(module: str) -> str:
    """Name of a module; of a target file, that of the file, wherever it lies."""
    loaded = sys.modules.get(module)
    if module.startswith("_dpaudit_target_") and loaded is not None:
        return Path(str(loaded.__file__)).name
    return module
