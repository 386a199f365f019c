"""Broken variants of LDP-KwikSort. Each carries one bug, and each must come out ``refuted`` from samples alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers

RESPONSE: Any = dpaudit.load("ldp-kwiksort-rr")
LAPLACE: Any = dpaudit.load("ldp-kwiksort-lap")


class _Broken(dpaudit.Mechanism):
    """A report of LDP-KwikSort with a bug; no law is declared, so that the black-box auditor has to find it."""

    notation = (
        "an input is the agent's ranking, best first; an output names the pairs asked about, by their numbers "
        "in (0, 1), (0, 2), …, and then the answers"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget that is claimed")
    queries: int = dpaudit.parameter(2, minimum=1, doc="K")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")

    source = "a bug planted in LDP-KwikSort"
    model = "local"
    trust = "As LDP-KwikSort: the adversary sees one agent's report."

    def honest(self, epsilon: float, queries: int, protocol: Any = RESPONSE) -> Any:
        """The right protocol's report, with a budget and a number of queries."""
        return protocol(epsilon=epsilon, queries=queries, alternatives=self.alternatives).report

    def neighbours(self) -> dpaudit.Neighbouring:
        identity = np.arange(self.alternatives)
        swapped = np.r_[1, 0, identity[2:]]
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(identity, identity[::-1]), (identity, swapped)],
            complete=False,
            scope="a ranking against its reverse and against a swap of its first two alternatives",
        )

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="The report is ϵ-locally differentially private.",
                epsilon=self.epsilon,
            )
        ]


class UnsplitBudget(_Broken):
    """The budget is not split: each of the K answers gets all of ϵ."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.honest(self.epsilon * self.queries, self.queries).sample(data, size, rng)


class ExtraAnswer(_Broken):
    """K + 1 answers are sent with a budget of ϵ/K each."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        sent = self.queries + 1
        return self.honest(self.epsilon * sent / self.queries, sent).sample(data, size, rng)


class BiasedCoin(_Broken):
    """The true answer is kept with a probability that is 0.01 too large."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        report = self.honest(self.epsilon, self.queries)
        asked, truths = _questions(report, data, size, rng)
        biased = randomizers.RandomizedResponse(report.response.keep + 0.01)
        return np.concatenate([asked, biased.randomize(truths, rng)], axis=1)


class SamePairTwice(_Broken):
    """Every pair is asked twice and answered with fresh randomness, on the budget of one answer."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        report = self.honest(self.epsilon, self.queries)
        asked, truths = _questions(report, data, size, rng)
        return np.concatenate([asked, report.randomize(truths, rng), report.randomize(truths, rng)], axis=1)


class OccasionalTruth(_Broken):
    """Every answer is sent as it is with probability 0.01."""

    queries: int = dpaudit.parameter(6, minimum=1, doc="K")

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        report = self.honest(self.epsilon, self.queries)
        asked, truths = _questions(report, data, size, rng)
        answers = np.where(rng.random(truths.shape) < 0.01, truths, report.randomize(truths, rng))
        return np.concatenate([asked, answers], axis=1)


class OneCoin(_Broken):
    """One coin decides for all the answers of an agent whether they are true."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        report = self.honest(self.epsilon, self.queries)
        asked, truths = _questions(report, data, size, rng)
        kept = report.response.randomize(np.ones((size, 1), dtype=bool), rng)
        return np.concatenate([asked, truths == kept], axis=1)


class QueriesFromData(_Broken):
    """With probability 0.25 an agent that would say no is asked about another pair, as long as it says yes there."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        report = self.honest(self.epsilon, 1)
        asked, truths = _questions(report, data, size, rng)
        again, confirmed = _questions(report, data, size, rng)
        redraw = ~truths & confirmed & (rng.random((size, 1)) < 0.25)
        asked, truths = np.where(redraw, again, asked), truths | redraw
        return np.concatenate([asked, report.randomize(truths, rng)], axis=1)


class HalfNoise(_Broken):
    """The Laplace noise has half the scale that it should have."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.honest(2 * self.epsilon, self.queries, LAPLACE).sample(data, size, rng)


class ClearAnswer(_Broken):
    """An answer goes out without its Laplace noise with probability 0.01."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        report = self.honest(self.epsilon, self.queries, LAPLACE)
        asked, truths = _questions(report, data, size, rng)
        answers = np.where(rng.random(truths.shape) < 0.01, truths, report.randomize(truths, rng))
        return np.concatenate([asked, answers], axis=1)


def _questions(report: Any, data: Any, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pairs asked and true answers of ``size`` agents with the same ranking."""
    asked = report.assign(size, rng)
    return asked, report.truths(np.broadcast_to(data, (size, report.alternatives)), asked)
