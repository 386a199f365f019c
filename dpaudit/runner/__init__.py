"""Plan to results: cells, keys, seeds, workers, progress, the store, the gate.

Names are loaded when they are first used: a module of this package does not cost what all of them cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.runner.cells import Cell, build_cells
    from dpaudit.runner.request import MOST_CELLS, Request
else:  # Hidden from type checkers, which would take any name whatever for one that exists.

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


_HOMES = {
    "Cell": "dpaudit.runner.cells",
    "MOST_CELLS": "dpaudit.runner.request",
    "Request": "dpaudit.runner.request",
    "build_cells": "dpaudit.runner.cells",
}

__all__ = ["MOST_CELLS", "Cell", "Request", "build_cells"]
