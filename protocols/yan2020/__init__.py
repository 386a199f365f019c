"""Yan, Li, Liu, "Private rank aggregation under local differential privacy", Int. J. Intell. Syst. 35(10), 2020."""

from . import claims, controls, figure3, figure4, figure5, table3
from .evaluation import LDPKwikSortEvaluation
from .ldp_kwiksort import LDPKwikSortLap, LDPKwikSortRR
from .paper import ERRATA, PAPER
from .reports import LaplaceReport, RandomizedResponseReport

__all__ = [
    "ERRATA",
    "PAPER",
    "LDPKwikSortEvaluation",
    "LDPKwikSortLap",
    "LDPKwikSortRR",
    "LaplaceReport",
    "RandomizedResponseReport",
    "claims",
    "controls",
    "figure3",
    "figure4",
    "figure5",
    "table3",
]
