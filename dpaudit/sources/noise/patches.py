"""Functions that draw noise are replaced in all loaded modules, and put back."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from dpaudit.claims.noise import NoiseFunction
from dpaudit.errors import CheckError
from dpaudit.sources.noise import libraries, named, numpy_noise, standard_noise

_LOCK: Final = threading.Lock()
_MISSING: Final = object()


class Patches:
    """What was replaced, and by what."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._everywhere: dict[int, tuple[Any, Any]] = {}

    def attribute(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute of a class or of a module."""
        before = vars(owner).get(name, _MISSING)
        setattr(owner, name, value)
        self._undo.append(lambda: delattr(owner, name) if before is _MISSING else setattr(owner, name, before))

    def everywhere(self, original: Any, value: Any) -> None:
        """Replace an object by whatever name a loaded module has it."""
        self._everywhere[id(original)] = (original, value)

    def apply(self) -> None:
        """Replace what is to be replaced everywhere, and generators that modules hold."""
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            if not isinstance(names, dict) or names.get("__name__", "").startswith("dpaudit.sources.noise"):
                continue
            for name, value in list(names.items()):
                found = self._everywhere.get(id(value))
                if found is not None and found[0] is value:
                    new = found[1]
                elif type(value) in numpy_noise.RECORDING:
                    new = numpy_noise.recording(value)
                else:
                    continue
                names[name] = new
                self._undo.append(lambda names=names, name=name, value=value: names.__setitem__(name, value))  # type: ignore[misc]

    def undo(self) -> None:
        """Put everything back, the last first."""
        while self._undo:
            self._undo.pop()()


@contextmanager
def patched(functions: Sequence[NoiseFunction] = ()) -> Iterator[None]:
    """Replace what draws noise; what it drew before is not changed, nor what it would draw next.

    Raises
    ------
    CheckError
        Noise is being recorded already, here or in another thread.
    ParameterError
        One of ``functions`` cannot be found.
    """
    if not _LOCK.acquire(blocking=False):
        raise CheckError("noise is being recorded already; end that recording before another one begins")
    patches = Patches()
    try:
        numpy_noise.patch(patches)
        standard_noise.patch(patches)
        libraries.patch(patches)
        named.patch(patches, functions)
        patches.apply()
        yield
    finally:
        patches.undo()
        _LOCK.release()
