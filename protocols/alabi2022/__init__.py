"""Alabi, Ghazi, Kumar, Manurangsi, "Private rank aggregation in central and local models", AAAI 2022."""

from . import claims, controls, finer
from .dp_kwiksort_capped import DPKwikSortCapped, LongestRun, Transcript
from .ldp_kwiksort_interactive import LDPKwikSortInteractive
from .local_pairwise import LocalPairwise
from .marginals_reduction import MarginalsReduction
from .noisy_pairwise import NoisyMatrix, NoisyPairwise
from .paper import ERRATA, LEFT_ALONE, PAPER

__all__ = [
    "ERRATA",
    "LEFT_ALONE",
    "PAPER",
    "DPKwikSortCapped",
    "LDPKwikSortInteractive",
    "LocalPairwise",
    "LongestRun",
    "MarginalsReduction",
    "NoisyMatrix",
    "NoisyPairwise",
    "Transcript",
    "claims",
    "controls",
    "finer",
]
