"""Reusable local randomizers and noise, with their exact laws.

Examples
--------
>>> import dpaudit
>>> from dpaudit.randomizers import RandomizedResponse
>>> round(RandomizedResponse.for_epsilon(1.0).keep, 4)
0.7311
"""

from dpaudit.randomizers.attributes import Projection, SampledProjection, SampledResponse
from dpaudit.randomizers.gaussian import GaussianNoise
from dpaudit.randomizers.generalized import GeneralizedRandomizedResponse
from dpaudit.randomizers.hypercube import HypercubeResponse
from dpaudit.randomizers.laplace import LaplaceNoise
from dpaudit.randomizers.local_hashing import LocalHashing
from dpaudit.randomizers.oracle import FrequencyOracle
from dpaudit.randomizers.projection import HadamardResponse, SignProjection, hadamard
from dpaudit.randomizers.randomized_response import RandomizedResponse
from dpaudit.randomizers.shuffler import Shuffler
from dpaudit.randomizers.simplex import clipped, norm_sub
from dpaudit.randomizers.thresholded import Thresholded
from dpaudit.randomizers.unary import UnaryEncoding

__all__ = [
    "FrequencyOracle",
    "GaussianNoise",
    "GeneralizedRandomizedResponse",
    "HadamardResponse",
    "HypercubeResponse",
    "LaplaceNoise",
    "LocalHashing",
    "Projection",
    "RandomizedResponse",
    "SampledProjection",
    "SampledResponse",
    "Shuffler",
    "SignProjection",
    "Thresholded",
    "UnaryEncoding",
    "clipped",
    "hadamard",
    "norm_sub",
]
