"""Plan to results: cells, seeds, workers, progress, gate."""

from dpaudit.runner.cells import Cell, Request, build_cells
from dpaudit.runner.check import check
from dpaudit.runner.execute import run_cells

__all__ = ["Cell", "Request", "build_cells", "check", "run_cells"]
