"""Which code something uses: a fingerprint of definitions and of all that they reach, without docstrings and comments.

The code is read and not run. A module's top-level statements are its units. A unit reaches the units that its names and
dotted names mean, in its own module and in those that are imported, whichever of several imports is run. A class is
one unit with all its methods, since a name says nothing of which of them are called. Whoever reaches a module also
reaches the statements in it that may change something without binding it: calls, assignments to attributes and items,
functions that a decorator may register. So a fingerprint changes with the code that decides a result, as far as names
lead to it, and stays when something else did: a docstring, a comment, a function that nothing here calls. That is for
code that is written to be read so; of a user's code, whatever `dpaudit.runner.loading` finds counts in full.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from dpaudit.runner.modules import is_installed, source_of

Unit = tuple[str, int]
"""A module's name and the place of a statement in it; -1 for the whole module."""

VOCABULARY: Final = (
    "dpaudit.catalog",
    "dpaudit.claims.claims",
    "dpaudit.claims.datasets",
    "dpaudit.claims.declarations",
    "dpaudit.claims.evidence",
    "dpaudit.claims.noise",
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
_DEEPEST = 30


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
    complete
        Whether all that is used could be read; not where code is made, or modules are named, at run time.
    """

    digest: str
    units: tuple[str, ...]
    packages: frozenset[str]
    complete: bool = True


class Reader:
    """Reads modules, each once; several codebases may share what it has read.

    Parameters
    ----------
    papers
        Modules, with all below them, in which words count for nothing: places and statements of claims, descriptions
        of a mechanism. Elsewhere the same names may mean something else.
    """

    def __init__(self, *, papers: Collection[str] = ("dpaudit",)) -> None:
        self._papers = tuple(papers)
        self._modules: dict[str, _Module | None] = {}
        self._installed: dict[str, bool] = {}

    def is_installed(self, name: str) -> bool:
        """Whether a module comes with an installed package or with Python, or has no source of its own."""
        if name not in self._installed:
            self._installed[name] = is_installed(name)
        return self._installed[name]

    def module(self, name: str) -> _Module | None:
        """A module; None where it has no source that can be read."""
        if name not in self._modules:
            found = source_of(name)
            words = any(name == each or name.startswith(f"{each}.") for each in self._papers)
            self._modules[name] = None if found is None else _Module.read(name, found, without_words=words)
        return self._modules[name]


class Codebase:
    """Modules, and which of their statements reach which.

    Parameters
    ----------
    left_out
        Modules, with all below them, whose units are not followed.
    cut
        Units that are not followed, as (module, name).
    reader
        What reads the modules; a new one where there is none, so that one object reads every file once.
    """

    def __init__(
        self,
        *,
        left_out: Collection[str] = (*VOCABULARY, *AUDITORS),
        cut: Collection[tuple[str, str]] = (),
        reader: Reader | None = None,
    ) -> None:
        self._left_out, self._cut = tuple(left_out), frozenset(cut)
        self._reader = reader or Reader()
        self._module = self._reader.module
        self._edges: dict[Unit, tuple[frozenset[Unit], frozenset[str]]] = {}

    def fingerprint(self, roots: Iterable[tuple[str, str | int]], *, full: Iterable[str] = ()) -> Fingerprint:
        """Fingerprint of definitions.

        Parameters
        ----------
        roots
            Modules with the name of a definition, or with a line of it. Where a module has no such definition at its
            top level, the whole module counts.
        full
            Modules of which every statement counts, with what it reaches.
        """
        waiting = [unit for module, where in roots for unit in self._roots(module, where)]
        waiting += [(module, index) for module in full for index in range(len(self.statements(module) or ()))]
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
        complete = not any(self._reads_more(module, index) for module, index in parts)
        return Fingerprint(
            digest=digest, units=tuple(dict.fromkeys(units)), packages=frozenset(packages), complete=complete
        )

    def statements(self, name: str) -> Sequence[ast.stmt] | None:
        """Statements of a module, without docstrings; None where it has no source that can be read."""
        module = self._module(name)
        return None if module is None else module.statements

    def _reads_more(self, name: str, index: int) -> bool:
        module = self._module(name)
        return module is not None and name.partition(".")[0] != "dpaudit" and module.is_dynamic(index)

    def _roots(self, name: str, where: str | int) -> list[Unit]:
        module = self._module(name)
        if module is None:
            return []
        if isinstance(where, int):
            found = {(name, i) for i, (first, last) in enumerate(module.spans) if first <= where <= last}
        else:
            # A class of another module may only be imported here.
            found = set()
            self._resolve(module, {}, (where.partition(".")[0],), found, set(), depth=0)
        return sorted(found) or [(name, _WHOLE)]

    def _reached_from(self, unit: Unit) -> tuple[frozenset[Unit], frozenset[str]]:
        if unit not in self._edges:
            name, index = unit
            module = self._module(name)
            assert module is not None
            units: set[Unit] = set()
            packages: set[str] = set()
            whole = index == _WHOLE
            for part in range(len(module.statements)) if whole else (index,):
                local = module.imports_within(part)
                for path in module.names(part):
                    self._resolve(module, local, path, units, packages, depth=0)
                for imported in module.named_modules(part):
                    self._resolve_imported(_Imported(imported), (), units, packages, 0)
            if whole:
                for first in module.imports:
                    self._resolve(module, {}, (first,), units, packages, depth=0)
            units |= {(name, effect) for effect in module.effects}
            # What a package does when it is imported may change its modules.
            for parent in _parents(name):
                above = self._followed(parent, set())
                units |= set() if above is None else {(parent, effect) for effect in above.effects}
            self._edges[unit] = frozenset(units), frozenset(packages)
        return self._edges[unit]

    def _resolve(
        self,
        module: _Module,
        local: Mapping[str, list[_Imported]],
        path: tuple[str, ...],
        units: set[Unit],
        packages: set[str],
        *,
        depth: int,
    ) -> None:
        """Add the units, or the installed package, that a dotted name in a module means."""
        first, rest = path[0], path[1:]
        if depth > _DEEPEST:
            return
        if first in local:
            for imported in local[first]:
                self._resolve_imported(imported, rest, units, packages, depth)
        if first in module.bindings and (module.name, first) not in self._cut:
            units.update((module.name, index) for index in module.bindings[first])
        # A name may be bound in several ways, of which one is run.
        for imported in module.imports.get(first, ()):
            self._resolve_imported(imported, rest, units, packages, depth)
        if not (first in local or first in module.bindings or first in module.imports):
            for star in module.stars:
                other = self._followed(star, packages)
                if other is not None:
                    self._resolve(other, {}, path, units, packages, depth=depth + 1)
            if depth and "__getattr__" in module.bindings:
                units.update((module.name, index) for index in module.bindings["__getattr__"])

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
            itself = _Imported(name, wanted[0]) in module.imports.get(wanted[0], ())
            if not itself and (wanted[0] in module.bindings or wanted[0] in module.imports):
                self._resolve(module, {}, wanted, units, packages, depth=depth + 1)
                return
            below = f"{name}.{wanted[0]}"
            if module.package and source_of(below) is not None:
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
        if top in sys.stdlib_module_names and self._reader.is_installed(name):
            return None
        if top != "dpaudit" and self._reader.is_installed(name):
            packages.add(top)
            return None
        return self._module(name)


@dataclass(frozen=True, slots=True)
class _Imported:
    """What an imported name stands for: a module, or a name in one."""

    module: str
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class _Uses:
    """What a statement uses: names and dotted names, what its functions import, and calls that import by a name."""

    names: set[tuple[str, ...]] = field(default_factory=set)
    imports: dict[str, list[_Imported]] = field(default_factory=dict)
    import_calls: list[ast.Call] = field(default_factory=list)


@dataclass(eq=False)
class _Module:
    """One module's statements, what they bind, what is imported, and what may change something without binding it."""

    name: str
    package: bool
    statements: list[ast.stmt]
    spans: list[tuple[int, int]]
    bindings: dict[str, list[int]] = field(default_factory=dict)
    imports: dict[str, list[_Imported]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    effects: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, name: str, path: Path, *, without_words: bool) -> _Module | None:
        if path.is_dir():
            return cls(name=name, package=True, statements=[], spans=[])
        try:
            tree = ast.parse(path.read_bytes())
            spans = [_span(statement) for statement in tree.body if not _is_text(statement)]
            if without_words:
                tree = _WithoutWords().visit(tree)
            elif _is_deep(tree):
                return None
            _remove_docstrings(tree)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None
        module = cls(name=name, package=path.name == "__init__.py", statements=tree.body, spans=spans)
        for index, statement in enumerate(tree.body):
            if _may_change_more(statement, declared=without_words):
                module.effects.append(index)
            for node in _outside_functions(statement):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    for bound, imported in module._imported(node).items():
                        module.imports.setdefault(bound, []).append(imported)
                        if node is not statement and not _is_for_type_checkers(statement):
                            # Which of several imports is run is decided by the statement around them.
                            module._bind(bound, index)
                    if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                        module.stars.append(module._from(node))
                for bound in _bound(node):
                    module._bind(bound, index)
        return module

    def _bind(self, name: str, index: int) -> None:
        indices = self.bindings.setdefault(name, [])
        if index not in indices:
            indices.append(index)

    def imports_within(self, index: int) -> dict[str, list[_Imported]]:
        """What functions of a statement import for themselves."""
        return self._uses(index).imports

    def named_modules(self, index: int) -> list[str]:
        """Modules that a statement imports by a name in a text."""
        return [name for call in self._uses(index).import_calls if (name := _text_argument(call))]

    def is_dynamic(self, index: int) -> bool:
        """Whether a statement runs code, or imports modules, that cannot be read from it."""
        parts = range(len(self.statements)) if index == _WHOLE else [index]
        if any(not _text_argument(call) for part in parts for call in self._uses(part).import_calls):
            return True
        return any(_called(node) in ("exec", "eval") for part in parts for node in ast.walk(self.statements[part]))

    def names(self, index: int) -> set[tuple[str, ...]]:
        """Names, and dotted names, that a statement uses."""
        return self._uses(index).names

    def _uses(self, index: int) -> _Uses:
        """What a statement uses, found in one walk over it."""
        if index in self._used:
            return self._used[index]
        uses = self._used[index] = _Uses()
        waiting: list[ast.AST] = [self.statements[index]]
        while waiting:
            node = waiting.pop()
            path = dotted(node)
            if path:
                uses.names.add(path)
                continue
            if isinstance(node, ast.Import | ast.ImportFrom):
                for bound, imported in self._imported(node).items():
                    uses.imports.setdefault(bound, []).append(imported)
            elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
                uses.import_calls.append(node)
            waiting.extend(ast.iter_child_nodes(node))
        return uses

    @cached_property
    def _used(self) -> dict[int, _Uses]:
        return {}

    def _of(self, index: int) -> list[ast.stmt]:
        return self.statements if index == _WHOLE else [self.statements[index]]

    def label(self, index: int) -> str:
        """Name of a statement for people."""
        if index == _WHOLE:
            return "*"
        return next((name for name, indices in self.bindings.items() if index in indices), f"statement {index + 1}")

    def digest(self, index: int) -> str:
        """SHA-256 of a statement's syntax tree."""
        if index not in self._digests:
            text = "\n".join(ast.dump(statement) for statement in self._of(index))
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
        return imported_from(node, self.name, package=self.package)


_DESCRIPTIONS: Final = frozenset({"source", "places", "trust", "errata", "notation"})
"""Attributes of a mechanism's class that describe it and decide no number."""

_WORDS: Final = {"parameter": {"doc"}, "control": {"paper", "statement"}, "claim": {"only"}}
"""Arguments that are words, by the name of the function, or that keys hold apart."""


_MOST_LEVELS = 300
"""Levels of a syntax tree that are followed: what visits or writes a tree calls itself up to three times for each."""


def _is_deep(tree: ast.Module) -> bool:
    """Whether a tree is nested deeper than can be read."""
    level: list[ast.AST] = [tree]
    for _ in range(_MOST_LEVELS):
        level = [below for node in level for below in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def _remove_docstrings(tree: ast.Module) -> None:
    """Remove the texts that stand alone as statements; no expression is visited, since only statements hold others."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [item for item in body if not _is_text(item)]
            node.body = kept or ([] if isinstance(node, ast.Module) else [ast.Pass()])  # type: ignore[attr-defined]
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            below = getattr(node, part, None)
            if isinstance(below, list):
                waiting.extend(below)


class _WithoutWords(ast.NodeTransformer):
    """Removes what a paper's module says for people: descriptions of a class, places and statements of claims."""

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


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_description(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id in _DESCRIPTIONS for target in targets)


def _may_change_more(statement: ast.stmt, *, declared: bool) -> bool:
    """Whether a statement of a module may do something besides binding the names that it binds.

    ``declared`` is for papers and the toolkit: there decorators register claims and nothing else, and what declares a
    claim is reached from that claim.
    """
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
        return False
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return not declared and any(_last_name(each) not in _PURE_DECORATORS for each in statement.decorator_list)
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if declared and all(isinstance(each, ast.Attribute) and each.attr in _DESCRIPTIONS for each in targets):
            return False
        return not all(isinstance(each, ast.Name | ast.Tuple | ast.List) for each in targets)
    if isinstance(statement, ast.If):
        return any(_may_change_more(each, declared=declared) for each in (*statement.body, *statement.orelse))
    if isinstance(statement, ast.For) and declared:
        return any(_may_change_more(each, declared=True) for each in statement.body)
    if isinstance(statement, ast.Expr) and declared:
        return not (isinstance(statement.value, ast.Call) and _called(statement.value.func) == "claim")
    return True


_PURE_DECORATORS: Final = frozenset(
    {"cache", "lru_cache", "dataclass", "total_ordering", "claim", "control", "overload"}
)
"""Decorators that change nothing but what they decorate."""


def _is_for_type_checkers(statement: ast.stmt) -> bool:
    """Whether a statement is ``if TYPE_CHECKING:``, whose imports only say where names come from."""
    return isinstance(statement, ast.If) and (dotted(statement.test) or ("",))[-1] == "TYPE_CHECKING"


def _last_name(decorator: ast.expr) -> str:
    path = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return path[-1] if path else ""


def imported_from(node: ast.ImportFrom, name: str, *, package: bool) -> str:
    """Module that ``from … import`` in a module of that name means."""
    if not node.level:
        return node.module or ""
    parts = name.split(".") if package else name.split(".")[:-1]
    base = parts[: len(parts) - (node.level - 1)]
    return ".".join([*base, *([node.module] if node.module else [])])


def _text_argument(call: ast.Call) -> str:
    """First argument of a call where it is a text; empty otherwise."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def _called(node: ast.AST) -> str:
    """Last name of the function that a call calls; empty for anything else."""
    path = dotted(node.func) if isinstance(node, ast.Call) else None
    return path[-1] if path else ""


def dotted(node: ast.AST) -> tuple[str, ...] | None:
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
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name


def _span(statement: ast.stmt) -> tuple[int, int]:
    """First and last line of a statement, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)]), statement.end_lineno or statement.lineno


def _parents(module: str) -> list[str]:
    """Packages that a module lies in, but for those of dpaudit itself, whose imports change nothing."""
    parts = module.split(".")
    return [] if parts[0] == "dpaudit" else [".".join(parts[:length]) for length in range(1, len(parts))]


def _plain_name(module: str) -> str:
    """Name of a module; of a target file, that of the file, wherever it lies."""
    loaded = sys.modules.get(module)
    if module.startswith("_dpaudit_target_") and loaded is not None:
        return Path(str(loaded.__file__)).name
    return module
