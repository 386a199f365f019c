"""Plan to results: cells, keys, seeds, workers, progress, the store, the gate."""

from dpaudit.runner.cells import Cell, build_cells
from dpaudit.runner.check import check
from dpaudit.runner.request import MOST_CELLS, Request
from dpaudit.runner.verify import Verification, verify

__all__ = ["MOST_CELLS", "Cell", "Request", "Verification", "build_cells", "check", "verify"]
