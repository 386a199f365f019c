"""Hay, Elagina, Miklau, "Differentially private rank aggregation", SDM 2017."""

from . import controls_kemeny
from .kemeny_exponential import KemenyExponential
from .paper import PAPER

__all__ = ["PAPER", "KemenyExponential", "controls_kemeny"]
