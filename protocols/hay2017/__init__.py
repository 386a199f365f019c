"""Hay, Elagina, Miklau, "Differentially private rank aggregation", SDM 2017."""

from . import controls
from .dp_kwiksort import DPKwikSort
from .paper import PAPER

__all__ = ["PAPER", "DPKwikSort", "controls"]
