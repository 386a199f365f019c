"""Song, Lan, Li, Li 2022: DDP-Helnaksort, and the baseline LDP-QuickSort that it is compared with."""

from . import claims, controls, evaluation
from .ddp_helnaksort import DDPHelnaksort
from .ldp_quicksort import LDPQuickSort
from .paper import PAPER

__all__ = ["PAPER", "DDPHelnaksort", "LDPQuickSort", "claims", "controls", "evaluation"]
