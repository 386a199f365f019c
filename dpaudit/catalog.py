"""Finding targets: by catalogue name, file, module. The only place that knows where the catalogue lies."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType

from dpaudit.errors import TargetError
from dpaudit.mechanism import Mechanism

_PACKAGE = Path(__file__).parent
_LOADED: dict[str, tuple[str, str, ModuleType]] = {}


@dataclass(frozen=True, slots=True)
class TargetReference:
    """Where a target's code is, in a form that can be sent to another process.

    Attributes
    ----------
    path
        The file, or the dotted name of an importable module.
    attribute
        Name of the class in it.
    digest
        SHA-256 of the file's content when it was found; empty for a module without a file.
    """

    path: str
    attribute: str
    digest: str

    def load(self) -> type[Mechanism]:
        """Import the class.

        Raises
        ------
        TargetError
            The code changed since it was found, fails to import, or has no such class.
        """
        module, digest = _import(self.path)
        if digest != self.digest:
            raise TargetError(f"{self.path} changed while it was being audited; run again")
        return _class_in(module, self.attribute, self.path)

    @property
    def stem(self) -> str:
        """Name of the file without its ending, or the module's last name."""
        return Path(self.path).stem if self.path.endswith(".py") else self.path.rpartition(".")[2]


def catalogue_root() -> Path | None:
    """Folder that holds ``protocols`` and ``audits``: inside a wheel, or the checkout; None if neither is there."""
    for root in (_PACKAGE / "catalog", _PACKAGE.parent):
        if (root / "protocols").is_dir() and (root / "audits").is_dir():
            return root
    return None


def protocol_files(*, controls: bool = True) -> list[Path]:
    """Protocol files of the catalogue, controls last."""
    root = catalogue_root()
    if root is None:
        return []
    files = sorted((root / "protocols").glob("*.py"))
    return files + (sorted((root / "protocols" / "controls").glob("*.py")) if controls else [])


def catalogue() -> dict[str, TargetReference]:
    """All targets of the catalogue by name."""
    found: dict[str, TargetReference] = {}
    for path in protocol_files():
        for reference in targets_in(str(path)):
            name = reference.load().name
            if name in found:
                raise TargetError(f"{path} and {found[name].path} both define a target named {name!r}; rename one")
            found[name] = reference
    return found


def targets_in(path: str) -> list[TargetReference]:
    """Targets of a file or module: the mechanisms defined there that make claims.

    Raises
    ------
    TargetError
        The file cannot be read or imported, or defines no target.
    """
    module, digest = _import(path)
    found = [
        TargetReference(_shown(path), name, digest)
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, Mechanism)
        and value.__module__ == module.__name__
        and value.claims is not Mechanism.claims
        and not name.startswith("_")
    ]
    if not found:
        raise TargetError(f"{path} defines no target; define a subclass of dpaudit.Mechanism with `claims`")
    return found


def find_targets(text: str) -> list[TargetReference]:
    """Targets that a TARGET argument means: a catalogue name, a file, ``file.py::Class`` or ``module:Class``.

    Raises
    ------
    TargetError
        Nothing of that name; the message names the nearest one known.
    """
    file, _, attribute = text.partition("::")
    if file.endswith(".py"):
        path = str(Path(file))
        if not attribute:
            return targets_in(path)
        module, digest = _import(path)
        _class_in(module, attribute, path)
        return [TargetReference(_shown(path), attribute, digest)]
    dotted, colon, attribute = text.partition(":")
    if colon:
        module, digest = _import(dotted)
        _class_in(module, attribute, dotted)
        return [TargetReference(dotted, attribute, digest)]
    known = catalogue()
    if text in known:
        return [known[text]]
    by_stem = {source.stem: source for source in protocol_files(controls=False)}
    if (stem := text.replace("-", "_")) in by_stem:
        return targets_in(str(by_stem[stem]))
    raise TargetError(f"unknown target {text!r}{suggestion(text, known)}; `dpaudit list` shows the catalogue")


def reference_of(target: type[Mechanism]) -> TargetReference:
    """Where a class comes from; its file if dpaudit imported it from one."""
    for path, digest, module in list(_LOADED.values()):
        if module.__name__ == target.__module__:
            return TargetReference(_shown(path), target.__qualname__, digest)
    return TargetReference(target.__module__, target.__qualname__, "")


def called(reference: TargetReference, name: str) -> str:
    """TARGET argument that means a reference: its catalogue name, ``file.py::Class`` or ``module:Class``."""
    known = catalogue().get(name)
    if known is not None and Path(known.path).resolve() == Path(reference.path).resolve():
        return name
    return f"{reference.path}{'::' if reference.path.endswith('.py') else ':'}{reference.attribute}"


def load(name: str) -> type[Mechanism]:
    """Return the class of a catalogue target (no control), for a protocol that is compared with others.

    Raises
    ------
    TargetError
        There is no target of that name.
    """
    names = []
    for path in protocol_files(controls=False):
        for reference in targets_in(str(path)):
            target = reference.load()
            if target.name == name:
                return target
            names.append(target.name)
    raise TargetError(f"unknown target {name!r}{suggestion(name, names)}; the catalogue has {', '.join(names)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """``, did you mean '…'?`` for the nearest known name, or nothing."""
    near = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f", did you mean {near[0]!r}?" if near else ""


def line_in(path: str, error: BaseException) -> int | None:
    """Line of a file at which an exception left it, or None if it did not come through there."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == path), None)


def _class_in(module: ModuleType, attribute: str, path: str) -> type[Mechanism]:
    value = getattr(module, attribute, None)
    if not (inspect.isclass(value) and issubclass(value, Mechanism)):
        classes = [
            name
            for name, item in vars(module).items()
            if inspect.isclass(item) and issubclass(item, Mechanism) and item is not Mechanism
        ]
        known = ", ".join(classes) or "none"
        raise TargetError(f"{path} has no mechanism {attribute!r}{suggestion(attribute, classes)}; it has: {known}")
    return value


def _shown(path: str) -> str:
    """One form of a file's path, however it was named: relative where it lies below the current folder."""
    if not path.endswith(".py"):
        return path
    file, here = Path(path).resolve(), Path.cwd().resolve()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _import(path: str) -> tuple[ModuleType, str]:
    return _import_file(str(Path(path).resolve())) if path.endswith(".py") else _import_dotted(path)


@cache
def _import_file(path: str) -> tuple[ModuleType, str]:
    file = Path(path)
    shown = _shown(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise TargetError(f"{shown}: cannot read the target file ({error.strerror})") from None
    digest = hashlib.sha256(content).hexdigest()
    name = f"_dpaudit_target_{hashlib.sha256(path.encode()).hexdigest()[:16]}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(name, None)
        if not isinstance(error, Exception | SystemExit):
            raise
        if isinstance(error, SyntaxError) and error.filename in (path, None):
            where = f"{shown}, line {error.lineno}" if error.lineno else shown
            raise TargetError(f"{where}: {error.msg}; mend the syntax") from error
        line = line_in(path, error)
        where = f"{shown}, line {line}" if line else shown
        raise TargetError(f"{where}: the file raised {type(error).__name__} when imported: {error}") from error
    _LOADED[path] = (path, digest, module)
    return module, digest


def _import_dotted(dotted: str) -> tuple[ModuleType, str]:
    try:
        module = importlib.import_module(dotted)
    except (Exception, SystemExit) as error:
        raise TargetError(f"module {dotted!r} cannot be imported ({type(error).__name__}: {error})") from error
    file = getattr(module, "__file__", None)
    return module, hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
