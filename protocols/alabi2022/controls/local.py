"""Broken variants of the local systems. Each carries one bug, and each must come out ``refuted``."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from ..answers import Answers
from ..ldp_kwiksort_interactive import LDPKwikSortInteractive
from ..paper import PAPER
from ..vector import VectorReport

PRIVATE = "What one agent sends is ϵ-locally differentially private."
UNBIASED = "What is reported has the truth as its expectation."


class AgentTranscript(dpaudit.Mechanism):
    """What one agent sends in Algorithm 2: its 2q/m answers, at ϵ_0 = ϵm / 2q each."""

    name = "agent-transcript"
    notation = (
        "an input is the agent's ranking, best first; an output holds the agent's answers, and its report to "
        "the fallback where there is one"
    )
    trust = "As the local reductions: the adversary sees what one agent sends."
    model = "local"

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget that is claimed")
    alternatives: int = dpaudit.parameter(4, minimum=2, role="alternatives", doc="m")
    cap: int = dpaudit.parameter(4, minimum=1, doc="q, so small that the bug is soon seen")

    @property
    def system(self) -> LDPKwikSortInteractive:
        """The system in which it is sent."""
        return LDPKwikSortInteractive(**self.parameters())

    @property
    def answers(self) -> Answers:
        """The answers."""
        found = self.system.views()["transcript"]
        assert isinstance(found, Answers)
        return found

    @property
    def report(self) -> VectorReport:
        """A report of all comparisons at ϵ."""
        settings: dict[str, Any] = {"epsilon": self.epsilon, "alternatives": self.alternatives}
        return VectorReport(**settings)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.answers.sample(data, size, rng)

    def neighbours(self) -> dpaudit.Neighbouring:
        identity = np.arange(self.alternatives)
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(identity, identity[::-1])],
            complete=False,
            scope="a ranking against its reverse",
        )


@dpaudit.control("control.local-uncapped", AgentTranscript, paper=PAPER, statement=PRIVATE)
def LocalUncapped(right: AgentTranscript) -> Answers:  # noqa: N802 - it becomes a class
    """The cap is not enforced: an agent answers for all pairs of alternatives, at the budget of 2q/m answers."""
    return right.answers.but(answers=right.system.pairs)


@dpaudit.control("control.local-counter-per-call", AgentTranscript, paper=PAPER, statement=PRIVATE)
def LocalCounterPerCall(right: AgentTranscript) -> Answers:  # noqa: N802
    """The counter is not shared across the recursion: every call of KwikSort may use a set 2q/m times."""
    # With the least item as its pivot a call on k items asks k - 1 times and leaves k - 1 items to the next.
    asked = sum(min(right.system.uses, items - 1) for items in range(2, right.alternatives + 1))
    return right.answers.but(answers=asked)


@dpaudit.control("control.local-full-fallback", AgentTranscript, paper=PAPER, statement=PRIVATE)
def LocalFullFallback(right: AgentTranscript) -> Answers:  # noqa: N802
    """The fallback gets the whole budget, although the answers get half of it."""
    return right.answers.but(epsilon=right.system.answer_budget / 2, fallback=right.epsilon)


@dpaudit.control("control.local-whole-budget-answer", AgentTranscript, paper=PAPER, statement=PRIVATE)
def LocalWholeBudgetAnswer(right: AgentTranscript) -> Answers:  # noqa: N802
    """Every answer is randomized with the whole budget ϵ instead of ϵ_0."""
    return right.answers.but(epsilon=right.epsilon)


@dpaudit.control("control.local-double-half-space", AgentTranscript, paper=PAPER, statement=PRIVATE)
def LocalDoubleHalfSpace(right: AgentTranscript) -> VectorReport:  # noqa: N802
    """The vector mechanism chooses its half-space with the probability for 2ϵ."""
    return right.report.but(epsilon=2 * right.epsilon)


@dpaudit.control("control.local-unsplit-entries", AgentTranscript, paper=PAPER, statement=PRIVATE)
def LocalUnsplitEntries(right: AgentTranscript, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:  # noqa: N802
    """Every comparison is randomized with the whole budget, as if there were only one."""
    truth = rankings.answers(np.atleast_2d(data), rankings.alternative_pairs(right.alternatives))
    coin = randomizers.RandomizedResponse.for_epsilon(right.epsilon)
    return coin.randomize(np.broadcast_to(truth, (size, truth.shape[1])), rng)


class LocalWrongScale(AgentTranscript):
    """Ties are split between the half-spaces, but the reports keep the size B for ties in both."""

    name = "local-wrong-scale"
    source = "a bug planted in local-pairwise"

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.report.sample(data, size, rng)

    def mean(self, sign: int) -> float:
        """Expectation of a reported entry where the true one is +1 or -1, over all reports."""
        right, d = self.report.response, self.report.pairs
        law = right.law(np.full(d, sign > 0))
        assert isinstance(law, dpaudit.FiniteLaw)
        entry = np.where(np.asarray(law.outcomes)[:, 0] == 1, 1.0, -1.0)
        size = self.report.but(ties="both").response.scale
        return float(size * np.exp(law.log_probabilities) @ entry)


@dpaudit.claim(
    "control.local-wrong-scale",
    LocalWrongScale,
    kind="lemma",
    place=PAPER.at(),
    statement=UNBIASED,
    bug=str(LocalWrongScale.__doc__),
)
def wrong_scale(control: LocalWrongScale) -> dpaudit.LemmaClaim:
    return _unbiased(control.mean, (1, -1))


class LocalMinusHalf(AgentTranscript):
    """An answer encodes no as -1/2 instead of 0, which is private still, but not unbiased."""

    name = "local-minus-half"
    source = "a bug planted in ldp-kwiksort-interactive"

    def mean(self, truth: int) -> float:
        """Expectation of an answer, from the probabilities (1 + w / d_ϵ) / 2 at w = 1 or -1/2."""
        size = 1 / math.tanh(self.system.answer_budget / 2)
        positive = (1 + (1.0 if truth else -0.5) / size) / 2
        return size * (2 * positive - 1)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        truth = bool(rankings.answers(np.atleast_2d(data), [[1, 0]])[0, 0])
        encoded = (1.0 if truth else -0.5) * math.tanh(self.system.answer_budget / 2)
        return rng.random(size) < (1 + encoded) / 2


@dpaudit.claim(
    "control.local-minus-half",
    LocalMinusHalf,
    kind="lemma",
    place=PAPER.at(),
    statement=UNBIASED,
    bug=str(LocalMinusHalf.__doc__),
)
def minus_half(control: LocalMinusHalf) -> dpaudit.LemmaClaim:
    return _unbiased(control.mean, (0, 1))


def _unbiased(mean: Callable[[int], float], truths: Sequence[int]) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda truth: -abs(mean(truth) - truth),
        instances=[{"truth": truth} for truth in truths],
        complete=True,
        explain=lambda truth: {"actual": mean(truth), "claimed": float(truth)},
        tolerance=1e-9,
        scope="both values that a comparison can have",
    )
