"""Plan to results: cells, seeds, workers, progress, gate."""

from dpaudit.runner.cells import Cell, Request, build_cells
from dpaudit.runner.check import check
from dpaudit.runner.execute import run_cells
from dpaudit.runner.verify import Verification, verify

__all__ = ["Cell", "Request", "Verification", "build_cells", "check", "run_cells", "verify"]
