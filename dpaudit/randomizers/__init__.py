"""Reusable local randomizers and noise, with their exact laws."""

from dpaudit.randomizers.gaussian import GaussianNoise
from dpaudit.randomizers.hypercube import HypercubeResponse
from dpaudit.randomizers.laplace import LaplaceNoise
from dpaudit.randomizers.randomized_response import RandomizedResponse

__all__ = ["GaussianNoise", "HypercubeResponse", "LaplaceNoise", "RandomizedResponse"]
