"""Hay, Elagina, Miklau, "Differentially private rank aggregation", SDM 2017."""

from . import controls, controls_kemeny, finer
from .dp_kwiksort import DPKwikSort
from .kemeny_exponential import KemenyExponential
from .paper import PAPER

__all__ = ["PAPER", "DPKwikSort", "KemenyExponential", "controls", "controls_kemeny", "finer"]
