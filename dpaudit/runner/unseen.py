"""Whether a module may run code that cannot be found by reading it: made, loaded or looked up at run time.

Names are judged wherever they stand: as a name, an attribute, an imported name, a keyword or a text, which may be used
to look them up. A module that has one for another purpose is judged wrongly, and then its results are computed again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dpaudit.runner.code import dotted, imported_from

_WORDS: Final = frozenset(
    {
        # Code that is made.
        "compile",
        "eval",
        "exec",
        "CodeType",
        "FunctionType",
        # Modules that are loaded.
        "__import__",
        "__loader__",
        "entry_points",
        "exec_module",
        "find_spec",
        "import_module",
        "load_module",
        "meta_path",
        "module_from_spec",
        "path_hooks",
        "path_importer_cache",
        "reload",
        "run_module",
        "run_path",
        # Things that are looked up.
        "__builtins__",
        "__globals__",
        "__subclasses__",
        "_getframe",
        "currentframe",
        "f_builtins",
        "f_globals",
        "f_locals",
        "globals",
        "locals",
        "vars",
        # What fingerprints leave out.
        "__doc__",
        "getdoc",
        "getsource",
        "getsourcelines",
        # Code that is not Python's.
        "CDLL",
        "LoadLibrary",
        "allow_pickle",
        "create_subprocess_exec",
        "create_subprocess_shell",
        "dlopen",
        "load_library",
    }
)

_ATTRIBUTES: Final = _WORDS | {"modules"}
"""Words that count where they cannot be the name of a variable."""

_LIKE_WORDS: Final = re.compile(
    r"spec_from_\w+|(Source|Sourceless|Extension)FileLoader|(Source|Lazy|Namespace)Loader|FileFinder|_frozen_importlib\w*"
)

_MODULES: Final = frozenset(
    {
        "__main__",
        "_ctypes",
        "_imp",
        "_pickle",
        "builtins",
        "cffi",
        "cloudpickle",
        "clr",
        "code",
        "codeop",
        "cppyy",
        "ctypes",
        "dill",
        "dpaudit.load",
        "dpaudit.registry",
        "dpaudit.runner",
        "gc",
        "imp",
        "importlib.abc",
        "importlib.machinery",
        "importlib.util",
        "joblib",
        "jpype",
        "julia",
        "juliacall",
        "marshal",
        "matlab",
        "mock",
        "os.popen",
        "os.posix_spawn",
        "os.posix_spawnp",
        "os.startfile",
        "os.system",
        "pandas.read_pickle",
        "pickle",
        "pkg_resources",
        "pkgutil",
        "pydoc",
        "pyximport",
        "rpy2",
        "runpy",
        "shelve",
        "site",
        "subprocess",
        "torch.load",
        "torch.utils.cpp_extension",
        "unittest.mock",
        "zipimport",
    }
)
"""Modules, and names in modules, that load or run code from elsewhere."""

_WATCHED: Final = frozenset({"importlib", "inspect", "os", "sys", "types"})
"""Modules that are safe while the names used of them can be read, and not when they are handed on themselves."""

_SEARCHED: Final = frozenset({"os.chdir", "os.fchdir", "sys.path"})
"""Names that decide where modules are looked for: used in a function, they may change it after the fingerprint."""

_OF_OS: Final = re.compile(r"os\.(exec|spawn)\w+")
_TEXT: Final = re.compile(r"[A-Za-z_][\w.]*")


def may_run_unseen_code(statements: Sequence[ast.stmt], name: str, *, package: bool) -> bool:
    """Whether statements of a module may run code that they do not name.

    Parameters
    ----------
    statements
        The statements.
    name, package
        The module's name, and whether it is a package.
    """
    return _Reader(statements, name, package=package).finds()


class _Reader:
    """What the judgement of single nodes needs to know of their module."""

    def __init__(self, statements: Sequence[ast.stmt], name: str, *, package: bool) -> None:
        self._nodes = [node for statement in statements for node in ast.walk(statement)]
        self._bound: dict[str, set[str]] = {}
        self._name, self._package = name, package
        for node in self._nodes:
            for bound, meant, _ in self._imported(node):
                self._bound.setdefault(bound, set()).add(meant)
        self._owners = {id(node.value) for node in self._nodes if isinstance(node, ast.Attribute)}
        self._late = {id(part) for node in self._nodes if isinstance(node, _FUNCTIONS) for part in ast.walk(node)}
        self._plain = {id(part) for node in self._nodes for part in _read_in_full(node)}

    def finds(self) -> bool:
        """Whether any node names what runs unseen code."""
        return any(self._is_unseen(node) for node in self._nodes if id(node) not in self._plain)

    def _imported(self, node: ast.AST) -> Iterator[tuple[str, str, str]]:
        """Names that an import binds, what they mean, and what is imported."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield alias.asname or top, alias.name if alias.asname else top, alias.name
        elif isinstance(node, ast.ImportFrom):
            home = imported_from(node, self._name, package=self._package)
            for alias in node.names:
                whole = home if alias.name == "*" else f"{home}.{alias.name}"
                yield alias.asname or alias.name, whole, whole

    def _is_unseen(self, node: ast.AST) -> bool:
        match node:
            case ast.Name(id=name):
                handed_on = id(node) not in self._owners and bool(self._meanings((name,)) & _WATCHED)
                return name in _WORDS or handed_on or self._searches_anew(node)
            case ast.Attribute(attr=name):
                meanings = self._meanings(dotted(node) or ())
                return _is_word(name) or any(map(_is_module, meanings)) or self._searches_anew(node)
            case ast.Import() | ast.ImportFrom():
                return self._imports_unseen(node)
            case ast.keyword(arg=name) if name is not None:
                return name in _WORDS
            case ast.MatchClass(kwd_attrs=names):
                return any(map(_is_word, names))
            case _:
                return _names_unseen(_text(node))

    def _searches_anew(self, node: ast.AST) -> bool:
        return id(node) in self._late and bool(self._meanings(dotted(node) or ()) & _SEARCHED)

    def _meanings(self, path: tuple[str, ...]) -> set[str]:
        """What a dotted name may mean, by the imports of its first name."""
        if not path:
            return set()
        meant = self._bound.get(path[0], set())
        # Another module, too, may hand on one of these by its name.
        watched = {path[0]} & _WATCHED if meant or "*" in self._bound else set()
        return {".".join((each, *path[1:])) for each in meant | watched}

    def _imports_unseen(self, node: ast.Import | ast.ImportFrom) -> bool:
        star = any(alias.name == "*" for alias in node.names)
        for bound, _, whole in self._imported(node):
            if (bound, whole) == ("import_module", "importlib.import_module"):
                continue
            if _is_module(whole) or any(map(_is_word, whole.split("."))) or (star and whole in _WATCHED):
                return True
        return False


_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _names_unseen(text: str) -> bool:
    """Whether a text is a name that counts, or holds one that is no word of a language."""
    if _TEXT.fullmatch(text):
        return any(map(_is_word, text.split(".")))
    return any("_" in each and _is_word(each) for each in re.findall(r"\w+", text))


def _is_word(name: str) -> bool:
    return name in _ATTRIBUTES or _LIKE_WORDS.fullmatch(name) is not None


def _is_module(path: str) -> bool:
    """Whether a dotted name lies in what loads code from elsewhere."""
    parts = path.split(".")
    above = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    inside = {f"{name}.__dict__" for name in _WATCHED} | _MODULES
    return bool(above & inside) or _OF_OS.fullmatch(path) is not None


def _read_in_full(node: ast.AST) -> Iterable[ast.AST]:
    """Parts of a node that are words and yet say all: modules named in a text, patterns, a mechanism's own values."""
    if isinstance(node, ast.Attribute) and dotted(node) in (("re", "compile"), ("regex", "compile")):
        return [node]
    if not isinstance(node, ast.Call):
        return []
    if module_in_text(node):
        return [node.func]
    own = [isinstance(each, ast.Name) and each.id in ("self", "cls") for each in node.args]
    return [node.func] if dotted(node.func) == ("vars",) and own == [True] else []


def module_in_text(node: ast.AST) -> str:
    """Module that a call imports by its whole name in a text; empty for any other call."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return ""
    if dotted(node.func) not in (("importlib", "import_module"), ("import_module",), ("__import__",)):
        return ""
    text = _text(node.args[0])
    return text if _TEXT.fullmatch(text) else ""


def _text(node: ast.AST) -> str:
    """A text, or several that are added; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return left + right if left and right else ""
    return ""
