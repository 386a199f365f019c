"""The error rate of Definition 3, simulated: how often noise changes the ranking of a uniform profile."""

import math

import numpy as np

from .exact_errors import order_kept_probability, three_way_error
from .gaussian_histogram import GaussianHistogram

PROFILES = {
    "simplex": "shares uniform on the simplex",
    "compositions": "all histograms of N agents alike",
    "independent": "every agent's ranking uniform",
}


def uniform_histograms(system: GaussianHistogram, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Histograms of uniform profiles, shape (runs, M!); shares on the simplex are multiplied by N."""
    cells = math.factorial(system.alternatives)
    if system.profiles == "independent":
        return rng.multinomial(system.agents, np.full(cells, 1 / cells), size=runs).astype(float)
    exponential = rng.exponential(size=(runs, cells))
    shares = exponential / exponential.sum(axis=1, keepdims=True)
    if system.profiles == "compositions":
        return rng.multinomial(system.agents, shares).astype(float)
    return np.asarray(shares * system.agents)


def errors(system: GaussianHistogram, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Whether noise changes the ranking, on a new profile in every run; shape (runs,)."""
    parts = []
    for batch in system.batches(runs):
        histograms = uniform_histograms(system, batch, rng)
        truth = system.aggregate(histograms, rng)
        parts.append((system.aggregate(system.noise.randomize(histograms, rng), rng) != truth).any(axis=1))
    return np.concatenate(parts)


def error_probabilities(system: GaussianHistogram, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Probability that noise changes the ranking, given the profile and half of the noise; shape (runs,).

    Where that probability is not known, the errors themselves.
    """
    if system.positional is None or system.profiles != "simplex":
        return errors(system, runs, rng)
    parts = []
    for batch in system.batches(runs):
        scores = system.positional.score_histograms(uniform_histograms(system, batch, rng))
        # Up to a shift common to all of them, the noise on the total scores is independent.
        score_noise = system.noise.scale * system.positional.gap_norm / math.sqrt(2)
        parts.append(1 - order_kept_probability(scores, score_noise, rng))
    return np.concatenate(parts)


def is_integrable(system: GaussianHistogram) -> bool:
    """Whether the error rate is known: a positional rule on three alternatives and the simplex."""
    return system.positional is not None and system.alternatives == 3 and system.profiles == "simplex"


def exact_error(system: GaussianHistogram) -> float:
    """Error rate, integrated; `is_integrable` says where."""
    assert system.positional is not None
    assert is_integrable(system)
    return three_way_error(system.positional, system.share_noise)[0]
