"""What one agent sends in Algorithms 2 and 3: answers to public queries, and a report to the fallback."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dpaudit
from dpaudit import messages, rankings

from .vector import Ties, VectorReport


@dataclass(frozen=True, slots=True)
class SignedAnswer:
    """Algorithm 2: the sign of one answer, d_ϵ with probability (1 + w / d_ϵ) / 2, where w is 0 or 1.

    1 / d_ϵ = tanh(ϵ / 2), and at w = 1 the probabilities are those of randomized response.
    """

    epsilon: float

    @property
    def size(self) -> float:
        """d_ϵ, by which a sign is multiplied."""
        return 1 / math.tanh(self.epsilon / 2)

    @property
    def keep(self) -> float:
        """Probability of a positive answer at w = 1."""
        return 1 / (1 + math.exp(-self.epsilon))

    @messages.announces(lambda truths, rng: np.size(truths))
    def randomize(self, truths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Whether each answer is positive; same shape."""
        signs: np.ndarray = rng.random(np.shape(truths)) < np.where(truths, self.keep, 0.5)
        return signs

    @messages.announces(lambda yes, no, rng: np.sum(yes) + np.sum(no))
    def count_positive(self, yes: np.ndarray, no: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw how many answers are positive, of so many agents with w = 1 and with w = 0."""
        positive: np.ndarray = rng.binomial(yes, self.keep) + rng.binomial(no, 0.5)
        return positive

    def law(self, truth: bool) -> dpaudit.FiniteLaw:
        """Law of whether one answer is positive."""
        log_keep = -math.log1p(math.exp(-self.epsilon))
        log_p = [log_keep - self.epsilon, log_keep] if truth else [-math.log(2)] * 2
        return dpaudit.FiniteLaw([0, 1], np.array(log_p))


class Answers(dpaudit.Mechanism):
    """What one agent sends in Algorithms 2 and 3: its answers, and where there is a fallback its report there.

    The public queries are those that tell two rankings apart best: the first ranking denies what the second affirms.
    """

    notation = (
        "an input is the agent's ranking, best first; an output holds 1 for every positive answer, 0 for a "
        "negative one, and then, where there is a fallback, the report to it"
    )

    epsilon: float = dpaudit.parameter(0.1, doc="ϵ_0, the budget of one answer")
    alternatives: int = dpaudit.parameter(4, minimum=2, role="alternatives", doc="m")
    answers: int = dpaudit.parameter(1, minimum=1, doc="number of answers")
    fallback: float = dpaudit.parameter(0.0, minimum=0.0, doc="budget of the fallback's report; 0: there is none")
    ties: Ties = dpaudit.parameter("split", doc="of the fallback's report")

    @property
    def report(self) -> VectorReport | None:
        """The report to the fallback, where there is one."""
        if self.fallback == 0:
            return None
        return VectorReport(epsilon=self.fallback, alternatives=self.alternatives, ties=self.ties)

    @property
    def answer(self) -> SignedAnswer:
        """What one answer goes through."""
        return SignedAnswer(self.epsilon)

    def sends(self) -> Sequence[dpaudit.Message]:
        answers = dpaudit.Message(self.answer, self.answers)
        return [answers] if self.report is None else [answers, *self.report.sends()]

    def truths(self, data: Any) -> np.ndarray:
        """Whether the agent prefers l to j, for as many pairs j < l as there are answers, repeated if there are more.

        The last pair is asked for only where it is needed, as two rankings can agree on it and still be worst for all
        the others.
        """
        asked = rankings.alternative_pairs(self.alternatives)[:, ::-1]
        if len(asked) not in (1, self.answers):
            asked = asked[:-1]
        said: np.ndarray = rankings.answers(np.atleast_2d(data), np.resize(asked, (self.answers, 2)))[0]
        return said

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        signs = self.answer.randomize(np.broadcast_to(self.truths(data), (size, self.answers)), rng)
        parts = [signs.astype(np.int8)] + ([] if self.report is None else [self.report.sample(data, size, rng)])
        return np.concatenate(parts, axis=1)

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """Return how many answers are positive, and the report: the answers of one agent differ only by chance."""
        positive = outputs[:, : self.answers].sum(axis=1, keepdims=True)
        return np.concatenate([positive, outputs[:, self.answers :]], axis=1)

    def law(self, data: Any) -> dpaudit.Law:
        coins = [self.answer.law(False), self.answer.law(True)]
        parts: list[dpaudit.Law] = [coins[int(truth)] for truth in self.truths(data)]
        if self.report is not None:
            parts.append(self.report.law(data))
        return parts[0] if len(parts) == 1 else dpaudit.ProductLaw(parts)

    def neighbours(self) -> dpaudit.Neighbouring:
        identity = np.arange(self.alternatives)
        reverse = identity[::-1]
        others = [reverse] if self.alternatives == 2 else [reverse, np.r_[reverse[[1, 0]], reverse[2:]]]
        what = f"{self.answers} answer{'s' if self.answers > 1 else ''} to public queries"
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(identity, other) for other in others],
            complete=True,
            scope=(
                f"any two rankings of {self.alternatives} alternatives, {what}"
                f"{'' if self.report is None else ' and the report of the fallback'}; nothing is worse for an answer "
                "than that one ranking denies what the other affirms, nor for the fallback's report than the reverse "
                "or what is one swap from it"
            ),
        )
