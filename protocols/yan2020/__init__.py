"""Yan, Li, Liu, "Private rank aggregation under local differential privacy", Int. J. Intell. Syst. 35(10), 2020."""

# Claims are listed in the order in which their modules are imported.
# isort: off
from . import preliminaries, claims, proof_steps, observations, costs, central
from . import figure3, figure4, figure5, trends, real_data, table3, controls, finer

# isort: on
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
    "central",
    "claims",
    "controls",
    "costs",
    "figure3",
    "figure4",
    "figure5",
    "finer",
    "observations",
    "preliminaries",
    "proof_steps",
    "real_data",
    "table3",
    "trends",
]
