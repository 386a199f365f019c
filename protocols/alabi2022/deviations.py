"""Errors of estimated shares w_ji, in closed form, and what a pair is estimated to where agents are partitioned."""

import math
from typing import Any

import numpy as np

from .answers import Answers


def answer_deviation(budget: float, alternatives: int, agents: float, share: float) -> float:
    """Standard deviation of an answer of Algorithm 2 where a share w_ji of the agents prefers j to i.

    Var = (m/n)^2 [(n d_ϵ^2 - n w) / m + Var(agents of the set who prefer j to i)], the latter hypergeometric over the
    agents and the dummies. It is largest at w_ji = 0. With ``agents`` infinite, the limit times sqrt n is returned.
    """
    size = 1 / math.tanh(budget / 2)
    if math.isinf(agents):
        return math.sqrt(alternatives * (size**2 - share + share * (1 - share) * (1 - 1 / alternatives)))
    per_set = math.ceil(agents / alternatives)
    slots = per_set * alternatives
    part = agents * share / slots
    drawn = per_set * part * (1 - part) * (slots - per_set) / (slots - 1)
    return alternatives / agents * math.sqrt(agents * (size**2 - share) / alternatives + drawn)


def mean_answer(budget: float, alternatives: int, agents: int, yes: int, counted: int) -> float:
    """Expectation of an answer of Algorithm 2 over the members of its set and over the coins.

    Parameters
    ----------
    budget, alternatives, agents
        ϵ_0, m and n.
    yes
        Number of agents who prefer j to i.
    counted
        What the sum of the answers is divided by, apart from m: n, or n with the dummies.
    """
    from scipy.stats import hypergeom

    m, n = alternatives, agents
    share = -(-n // m)
    settings: dict[str, Any] = {"epsilon": budget, "alternatives": m}
    answer = Answers(**settings).answer
    means = [
        answer.size * float(np.dot([-1, 1], np.exp(answer.law(bool(truth)).log_probabilities))) for truth in (0, 1)
    ]
    expected = [
        float(np.dot(k, hypergeom.pmf(k, share * m, group, share)))
        for group in (n - yes, yes)
        for k in [np.arange(min(group, share) + 1)]
    ]
    return m / counted * float(np.dot(means, expected))


def one_pair_error(epsilon: float, alternatives: int, agents: float) -> float:
    """Root mean squared error of w_jl where every agent answers one random pair by randomized response at ϵ.

    Answers to other pairs count as 0, so that an entry's square is C(m, 2) / tanh(ϵ/2)^2 in expectation.
    """
    return math.sqrt((math.comb(alternatives, 2) * math.tanh(epsilon / 2) ** -2 - 1) / 4 / agents)
