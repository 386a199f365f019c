"""Broken variants of the local reductions. Each carries one bug, and each must come out ``refuted``."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

INTERACTIVE: Any = dpaudit.load("ldp-kwiksort-interactive")
ANSWERS: Any = type(INTERACTIVE().views()["answer"])
VECTOR: Any = type(dpaudit.load("local-pairwise")().views()["report"])


class _Broken(dpaudit.Mechanism):
    """What one agent sends, with a bug; no law is declared, so that the black-box auditor has to find it."""

    notation = (
        "an input is the agent's ranking, best first; an output holds the agent's answers, and its report to "
        "the fallback where there is one"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget that is claimed")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")
    cap: int = dpaudit.parameter(4, minimum=1, doc="q, so small that the bug is soon seen")

    source = "a bug planted in a local reduction"
    trust = "As the local reductions: the adversary sees what one agent sends."
    model = "local"

    @property
    def honest(self) -> Any:
        """The right protocol, whose set of agents gives 2q/m answers at ϵm / 2q."""
        return INTERACTIVE(epsilon=self.epsilon, alternatives=self.alternatives, cap=self.cap)

    def sent(self) -> Any:
        """What is sent instead, as a mechanism."""
        raise NotImplementedError

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.sent().sample(data, size, rng)

    def neighbours(self) -> dpaudit.Neighbouring:
        identity = np.arange(self.alternatives)
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(identity, identity[::-1])],
            complete=False,
            scope="a ranking against its reverse",
        )

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="What one agent sends is ϵ-locally differentially private.",
                epsilon=self.epsilon,
            )
        ]


class LocalUncapped(_Broken):
    """The cap is not enforced: an agent answers for all pairs of alternatives, at the budget of 2q/m answers."""

    def sent(self) -> Any:
        budget, pairs = self.honest.answer_budget, math.comb(self.alternatives, 2)
        return ANSWERS(epsilon=budget, alternatives=self.alternatives, answers=pairs)


class LocalCounterPerCall(_Broken):
    """The counter is not shared across the recursion: every call of KwikSort may use a set 2q/m times."""

    def sent(self) -> Any:
        # With the least item as its pivot a call on k items asks k - 1 times and leaves k - 1 items to the next.
        asked = sum(min(self.honest.uses, items - 1) for items in range(2, self.alternatives + 1))
        return ANSWERS(epsilon=self.honest.answer_budget, alternatives=self.alternatives, answers=asked)


class LocalFullFallback(_Broken):
    """The fallback gets the whole budget, beside answers that got half of it."""

    def sent(self) -> Any:
        return ANSWERS(
            epsilon=self.honest.answer_budget / 2,
            alternatives=self.alternatives,
            answers=self.honest.uses,
            fallback=self.epsilon,
        )


class LocalWholeBudgetAnswer(_Broken):
    """Every answer is randomized with the whole budget ϵ instead of ϵ_0."""

    def sent(self) -> Any:
        return ANSWERS(epsilon=self.epsilon, alternatives=self.alternatives, answers=self.honest.uses)


class LocalDoubleHalfSpace(_Broken):
    """The vector mechanism chooses its half-space with the probability for 2ϵ."""

    def sent(self) -> Any:
        return VECTOR(epsilon=2 * self.epsilon, alternatives=self.alternatives)


class LocalUnsplitEntries(_Broken):
    """Every comparison is randomized with the whole budget, as if there were only one."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        truth = rankings.answers(np.atleast_2d(data), rankings.alternative_pairs(self.alternatives))
        coin = randomizers.RandomizedResponse.for_epsilon(self.epsilon)
        return coin.randomize(np.broadcast_to(truth, (size, truth.shape[1])), rng)


class LocalWrongScale(_Broken):
    """Ties are split between the half-spaces, but the reports keep the size B for ties in both."""

    def sent(self) -> Any:
        return VECTOR(epsilon=self.epsilon, alternatives=self.alternatives)

    def mean(self, sign: int) -> float:
        """Expectation of a reported entry where the true one is +1 or -1, over all reports."""
        d = math.comb(self.alternatives, 2)
        law = randomizers.HypercubeResponse(d, self.epsilon).law(np.full(d, sign > 0))
        assert isinstance(law, dpaudit.FiniteLaw)
        entry = np.where(np.asarray(law.outcomes)[:, 0] == 1, 1.0, -1.0)
        size = randomizers.HypercubeResponse(d, self.epsilon, "both").scale
        return float(size * np.exp(law.log_probabilities) @ entry)

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [_unbiased(self, self.mean, (1, -1))]


class LocalMinusHalf(_Broken):
    """An answer encodes no as -1/2 instead of 0, which is private still, but not unbiased."""

    def mean(self, truth: int) -> float:
        """Expectation of an answer, from the probabilities (1 + w / d_ϵ) / 2 at w = 1 or -1/2."""
        size = 1 / math.tanh(self.honest.answer_budget / 2)
        positive = (1 + (1.0 if truth else -0.5) / size) / 2
        return size * (2 * positive - 1)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        truth = bool(rankings.answers(np.atleast_2d(data), [[1, 0]])[0, 0])
        encoded = (1.0 if truth else -0.5) * math.tanh(self.honest.answer_budget / 2)
        return rng.random(size) < (1 + encoded) / 2

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [_unbiased(self, self.mean, (0, 1))]


def _unbiased(control: _Broken, mean: Any, truths: Sequence[int]) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        id=f"control.{control.name}",
        source=control.summary(),
        statement="What is reported has the truth as its expectation.",
        margin=lambda truth: -abs(mean(truth) - truth),
        instances=[{"truth": truth} for truth in truths],
        complete=True,
        explain=lambda truth: {"actual": mean(truth), "claimed": float(truth)},
        tolerance=1e-9,
        scope="both values that a comparison can have",
    )
