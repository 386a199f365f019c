"""SAFARI and SAFA: collecting preference rankings under local differential privacy (Yang et al. 2018).

The riffle independent model and its structure come from Huang and Guestrin, "Riffled independence for ranked data",
NIPS 2009, and "Learning hierarchical riffle independent groupings from rankings", ICML 2010.
"""

from . import claims, claims_safa, controls, evaluation, finer, sushi
from .baselines import SafariNoPrivacy, Uniform
from .harmony import Harmony, HarmonyReport
from .paper import ERRATA, HARMONY, LEFT_ALONE, PAPER
from .ranking_oracles import RankingGrr, RankingOlh, RankingRappor, RankingSh
from .safa import Safa, SafaReport
from .safari import Safari, SafariReport

__all__ = [
    "ERRATA",
    "HARMONY",
    "LEFT_ALONE",
    "PAPER",
    "Harmony",
    "HarmonyReport",
    "RankingGrr",
    "RankingOlh",
    "RankingRappor",
    "RankingSh",
    "Safa",
    "SafaReport",
    "Safari",
    "SafariNoPrivacy",
    "SafariReport",
    "Uniform",
    "claims",
    "claims_safa",
    "controls",
    "evaluation",
    "finer",
    "sushi",
]
