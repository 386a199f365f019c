"""Broken variants of LDP-KwikSort's reports. Each carries one bug, which must be found from samples alone."""

from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers

from .paper import PAPER
from .reports import LaplaceReport, RandomizedResponseReport, Report


def far_and_near(right: Report) -> list[tuple[np.ndarray, np.ndarray]]:
    """A ranking against the most distant one and against one of the nearest."""
    identity = np.arange(right.alternatives)
    swapped = np.r_[1, 0, identity[2:]]
    return [(identity, identity[::-1]), (identity, swapped)]


COMMON: dict[str, Any] = {
    "paper": PAPER,
    "statement": "The report is ϵ-locally differentially private.",
    "pairs": far_and_near,
    "scope": "a ranking against its reverse and against a swap of its first two alternatives",
}


@dpaudit.control("control.unsplit-budget", RandomizedResponseReport, **COMMON, queries=2)
def unsplit_budget(right: RandomizedResponseReport) -> RandomizedResponseReport:
    """The budget is not split: each of the K answers gets all of ϵ."""
    return right.but(epsilon=right.epsilon * right.queries)


@dpaudit.control("control.extra-answer", RandomizedResponseReport, **COMMON, queries=2)
def extra_answer(right: RandomizedResponseReport) -> RandomizedResponseReport:
    """K + 1 answers are sent with a budget of ϵ/K each."""
    sent = right.queries + 1
    return right.but(epsilon=right.epsilon * sent / right.queries, queries=sent)


@dpaudit.control("control.biased-coin", RandomizedResponseReport, **COMMON, queries=2)
def biased_coin(right: RandomizedResponseReport, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The true answer is kept with a probability that is 0.01 too large."""
    asked, truths = _questions(right, data, size, rng)
    biased = randomizers.RandomizedResponse(right.response.keep + 0.01)
    return np.concatenate([asked, biased.randomize(truths, rng)], axis=1)


@dpaudit.control("control.same-pair-twice", RandomizedResponseReport, **COMMON, queries=2)
def same_pair_twice(right: RandomizedResponseReport, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Every pair is asked twice and answered with fresh randomness, on the budget of one answer."""
    asked, truths = _questions(right, data, size, rng)
    return np.concatenate([asked, right.randomize(truths, rng), right.randomize(truths, rng)], axis=1)


@dpaudit.control("control.occasional-truth", RandomizedResponseReport, **COMMON, queries=6)
def occasional_truth(right: RandomizedResponseReport, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Every answer is sent as it is with probability 0.01."""
    asked, truths = _questions(right, data, size, rng)
    answers = np.where(rng.random(truths.shape) < 0.01, truths, right.randomize(truths, rng))
    return np.concatenate([asked, answers], axis=1)


@dpaudit.control("control.one-coin", RandomizedResponseReport, **COMMON, queries=2)
def one_coin(right: RandomizedResponseReport, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """One coin decides for all the answers of an agent whether they are true."""
    asked, truths = _questions(right, data, size, rng)
    kept = right.response.randomize(np.ones((size, 1), dtype=bool), rng)
    return np.concatenate([asked, truths == kept], axis=1)


@dpaudit.control("control.queries-from-data", RandomizedResponseReport, **COMMON, queries=2)
def queries_from_data(right: RandomizedResponseReport, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """With probability 0.25 an agent that would say no is asked about another pair, as long as it says yes there."""
    single = right.but(queries=1)
    asked, truths = _questions(single, data, size, rng)
    again, confirmed = _questions(single, data, size, rng)
    redraw = ~truths & confirmed & (rng.random((size, 1)) < 0.25)
    asked, truths = np.where(redraw, again, asked), truths | redraw
    return np.concatenate([asked, single.randomize(truths, rng)], axis=1)


@dpaudit.control("control.half-noise", LaplaceReport, **COMMON, queries=2)
def half_noise(right: LaplaceReport) -> LaplaceReport:
    """The Laplace noise has half the scale that it should have."""
    return right.but(epsilon=2 * right.epsilon)


@dpaudit.control("control.clear-answer", LaplaceReport, **COMMON, queries=2)
def clear_answer(right: LaplaceReport, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """An answer goes out without its Laplace noise with probability 0.01."""
    asked, truths = _questions(right, data, size, rng)
    answers = np.where(rng.random(truths.shape) < 0.01, truths, right.randomize(truths, rng))
    return np.concatenate([asked, answers], axis=1)


def _questions(report: Report, data: Any, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pairs asked and true answers of ``size`` agents with the same ranking."""
    asked = report.assign(size, rng)
    return asked, report.truths(np.broadcast_to(data, (size, report.alternatives)), asked)
