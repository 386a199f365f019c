"""Song, Lan, Li, Li 2022: DDP-Helnaksort, and the baseline LDP-QuickSort that it is compared with."""

from . import aggregation, claims, controls, evaluation, finer, score, shuffler_figures, statements
from .ddp_helnaksort import DDPHelnaksort
from .ldp_quicksort import LDPQuickSort
from .paper import PAPER

__all__ = [
    "PAPER",
    "DDPHelnaksort",
    "LDPQuickSort",
    "aggregation",
    "claims",
    "controls",
    "evaluation",
    "finer",
    "score",
    "shuffler_figures",
    "statements",
]
