"""Shang, Wang, Cuff, Kulkarni, "The application of differential privacy for rank aggregation: privacy and accuracy".

FUSION 2014: Gaussian noise on the histogram of all rankings, then any ranking rule on the noisy histogram.
"""

from . import claims, controls, evaluation, finer
from .gaussian_histogram import GaussianHistogram, NoisyHistogram
from .paper import PAPER

__all__ = ["PAPER", "GaussianHistogram", "NoisyHistogram", "claims", "controls", "evaluation", "finer"]
