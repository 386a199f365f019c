"""The cases: null, exact and broken mechanisms."""

import math
from functools import cache, partial

import numpy as np
from suite.laws import draw
from suite.oracle import true_epsilon

from calibration import truths
from calibration.interface import Case, Kind, Mechanism

E = math.e
COLUMNS, MOVING = 20, 7
"""Number of columns, and the one that depends on the input."""


def _with_outcomes(
    kind: Kind,
    name: str,
    laws: np.ndarray,
    trap: str,
    *,
    promised: float = 0.0,
    delta: float = 0.0,
    outputs: np.ndarray | None = None,
    protocol: str | None = None,
) -> Case:
    """A case of which the probabilities of all outcomes are known, on the inputs 0 and 1."""

    def sample(data, size, rng):
        drawn = draw(laws[data], size, rng)
        return drawn if outputs is None else outputs[drawn]

    return Case(
        kind=kind,
        mechanism=Mechanism(name=name, sample=sample, epsilon=promised, delta=delta, protocol=protocol),
        pair=(0, 1),
        truth=partial(true_epsilon, *laws, delta),
        trap=trap,
    )


def _with_noise(kind, name, sample, truth, trap, *, promised=0.0, delta=0.0, pair=(0.0, 1.0)) -> Case:
    """A case with a density, and its true epsilon by a closed form."""
    mechanism = Mechanism(name=name, sample=sample, epsilon=promised, delta=delta)
    return Case(kind=kind, mechanism=mechanism, pair=pair, truth=truth, trap=trap)


def _nothing() -> float:
    """The law does not depend on the input."""
    return 0.0


def _all() -> float:
    """Some outputs of probability above delta come from one of the inputs alone."""
    return math.inf


def _same(law: np.ndarray) -> np.ndarray:
    return np.array([law, law])


def _needles(rare: float, values: int) -> np.ndarray:
    """Many rare values, all together of probability ``rare``, and a common one."""
    return np.r_[1 - rare, np.full(values, rare / values)]


def _shares(values: int) -> np.ndarray:
    law = 1 / np.arange(1, values + 1) ** 1.5
    return law / law.sum()


def _laplace(data, size, rng, scale=1.0):
    return data + rng.laplace(scale=scale, size=size)


def _clipped_at_both_ends(data, size, rng):
    return np.clip(data + rng.laplace(size=size), 0.0, 1.0)


def _moving_column(data, size, rng, scale=1.0):
    rows = rng.laplace(size=(size, COLUMNS))
    rows[:, MOVING] = data + scale * rows[:, MOVING]
    return rows


def _spread(data, size, rng):
    return data / 5 + rng.laplace(size=(size, 5))


def _clamped(data, size, rng):
    return np.where(rng.random(size) < 0.5, 0.0, np.clip(rng.laplace(size=size), -1.0, 1.0))


def _one_draw_for_two(data, size, rng):
    noise = rng.laplace(size=size)
    return np.column_stack([data + noise, noise])


def _gaussian(data, size, rng):
    return data + rng.normal(size=size)


def _own_values(delta: float, values: int, laws: np.ndarray) -> np.ndarray:
    """With probability delta one of ``values`` that no other input gives."""
    leak = np.zeros((2, 2 * values))
    leak[0, :values] = leak[1, values:] = 1 / values
    return truths.mixed(delta, leak, laws)


def _null() -> list[Case]:
    outcomes = partial(_with_outcomes, "null")
    noise = partial(_with_noise, "null", truth=_nothing)
    return [
        noise("null-laplace", lambda d, s, r: r.laplace(size=s), trap="thresholds without end"),
        outcomes("null-constant", _same(np.ones(1)), "one output, always"),
        outcomes("null-rare-event", _same(np.array([0.999, 0.001])), "seen once or never among a thousand"),
        outcomes("null-rare-values", _same(_needles(0.3, 1000)), "each seen once in one sample, never in the other"),
        outcomes("null-large-alphabet", _same(_shares(10_000)), "10,000 values, most of them rare"),
        noise("null-no-repeats", lambda d, s, r: r.integers(0, 1 << 62, s), trap="whole numbers that never come again"),
        noise(
            "null-20-columns",
            lambda d, s, r: r.normal(size=(s, COLUMNS)),
            trap="none of them moves: the best of many is luck",
        ),
        noise(
            "null-60-flags",
            lambda d, s, r: (r.random((s, 60)) < 0.02).astype(np.int8),
            trap="rare flags, none of which depends on the input",
        ),
        noise("null-atoms", _clamped, trap="atoms at 0 and at both ends of an interval"),
        noise("null-heavy-tails", lambda d, s, r: r.standard_cauchy(s), trap="the largest outputs are far out"),
    ]


def _exact() -> list[Case]:
    outcomes, noise = partial(_with_outcomes, "exact"), partial(_with_noise, "exact")
    honest = truths.randomized_response(E / (1 + E))
    bits, rows = truths.bits_kept(math.exp(0.5) / (1 + math.exp(0.5)), 4)
    return [
        outcomes("randomized-response", honest, "two outputs", promised=1.0, protocol="randomized-response"),
        outcomes(
            "fifty-values",
            truths.several_values(E**2 / (E**2 + 49), 50),
            "two outputs of fifty decide",
            promised=2.0,
            protocol="randomized-response",
        ),
        outcomes(
            "unary-encoding", bits, "rows of bits", promised=1.0, outputs=rows, protocol="symmetric-unary-encoding"
        ),
        outcomes("geometric", truths.clipped_geometric(1.0, (3, 4), 7), "ties, and atoms at both ends", promised=1.0),
        outcomes(
            "needle",
            np.array([[E * 5e-4, 1 - E * 5e-4], [5e-4, 1 - 5e-4]]),
            "only an output of probability 0.0005 shows all of it",
            promised=1.0,
        ),
        noise(
            "laplace",
            _laplace,
            partial(truths.shifted, 1.0, 1.0),
            "half of all thresholds are equally good",
            promised=1.0,
        ),
        noise(
            "clipped-laplace",
            _clipped_at_both_ends,
            partial(truths.shifted, 1.0, 1.0),
            "two atoms at which the ratio is largest",
            promised=1.0,
        ),
        noise(
            "logistic",
            lambda d, s, r: d + r.logistic(size=s),
            partial(truths.shifted, 1.0, 1.0),
            "the ratio is largest in the tail, where nearly nothing is",
            promised=1.0,
        ),
        noise(
            "one-of-20-columns",
            _moving_column,
            partial(truths.shifted, 1.0, 1.0),
            "19 columns have no effect",
            promised=1.0,
        ),
        noise(
            "five-columns", _spread, lambda: 5 * truths.shifted(0.2, 1.0), "the effect is spread evenly", promised=1.0
        ),
        noise(
            "gaussian-delta",
            _gaussian,
            partial(truths.gaussian, 1.0, 1.0, 0.05),
            "delta decides which threshold is best",
            promised=truths.gaussian(1.0, 1.0, 0.05),
            delta=0.05,
        ),
        outcomes(
            "leak-within-delta",
            truths.mixed(0.05, np.eye(2), honest),
            "an output of probability 0.05 = delta that the other input never gives",
            promised=1.0,
            delta=0.05,
        ),
        outcomes(
            "own-values-within-delta",
            _own_values(0.05, 1000, honest),
            "2,000 rare outputs that only one input gives, all together delta",
            promised=1.0,
            delta=0.05,
        ),
        outcomes(
            "only-a-leak-within-delta",
            truths.mixed(0.02, np.eye(2), _same(np.array([0.5, 0.5]))),
            "the laws differ, and epsilon is 0 at delta 0.02",
            delta=0.02,
        ),
    ]


def _broken() -> list[Case]:
    outcomes, noise = partial(_with_outcomes, "broken", promised=1.0), partial(_with_noise, "broken", promised=1.0)
    honest = truths.randomized_response(E / (1 + E))
    twice = np.array([np.outer(law, law).ravel() for law in honest])
    whole, rows = truths.bits_kept(E / (1 + E), 4)
    exactly = truths.clipped_geometric(1.0, (0, 1), 7)
    exactly[0] = np.eye(8)[0]
    return [
        noise(
            "scale-halved", partial(_laplace, scale=0.5), partial(truths.shifted, 1.0, 0.5), "noise of half the scale"
        ),
        outcomes(
            "budget-spent-twice",
            twice,
            "two answers, each with all of the budget",
            outputs=np.array([[0, 0], [0, 1], [1, 0], [1, 1]]),
        ),
        noise(
            "forgotten-clamp",
            _laplace,
            partial(truths.shifted, 3.0, 1.0),
            "a record of 3 in a sum whose noise is for records of at most 1",
            pair=(0.0, 3.0),
        ),
        outcomes(
            "biased-coin",
            truths.randomized_response(0.8),
            "the value is kept with probability 0.8, and not 0.731",
            protocol="randomized-response",
        ),
        outcomes(
            "one-value-too-few",
            truths.several_values(E / (E + 2), 4),
            "randomized response over 4 values with the formula for 3",
            protocol="randomized-response",
        ),
        outcomes(
            "whole-budget-in-each-bit",
            whole,
            "unary encoding in which either bit has the budget of two",
            outputs=rows,
            protocol="symmetric-unary-encoding",
        ),
        outcomes("no-noise-for-0", exactly, "a count of 0 is released as it is"),
        outcomes(
            "rare-leak",
            truths.mixed(0.002, np.eye(2), honest),
            "the input itself, once in 500 outputs",
        ),
        outcomes(
            "leak-above-delta",
            truths.mixed(0.02, np.eye(2), honest),
            "the input itself with probability 0.02, where delta is 0.005",
            delta=0.005,
        ),
        noise(
            "wrong-delta",
            _gaussian,
            partial(truths.gaussian, 1.0, 1.0, 0.01),
            "Gaussian noise for delta 0.1, promised for 0.01",
            promised=truths.gaussian(1.0, 1.0, 0.1),
            delta=0.01,
        ),
        noise(
            "half-noise-in-one-of-20",
            partial(_moving_column, scale=0.5),
            partial(truths.shifted, 1.0, 0.5),
            "to be found among 20 columns",
        ),
        noise("one-draw-for-two-counts", _one_draw_for_two, _all, "two noisy counts whose difference is exact"),
    ]


@cache
def cases() -> dict[str, Case]:
    """All cases by name: null, exact, broken."""
    return {case.name: case for case in (*_null(), *_exact(), *_broken())}
