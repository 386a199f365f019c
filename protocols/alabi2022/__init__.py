"""Alabi, Ghazi, Kumar, Manurangsi, "Private rank aggregation in central and local models", AAAI 2022."""

from . import claims, controls
from .ldp_kwiksort_interactive import LDPKwikSortInteractive
from .local_pairwise import LocalPairwise
from .marginals_reduction import MarginalsReduction
from .paper import ERRATA, PAPER

__all__ = ["ERRATA", "PAPER", "LDPKwikSortInteractive", "LocalPairwise", "MarginalsReduction", "claims", "controls"]
