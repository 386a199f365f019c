"""Reduction II in the local model (Algorithms 2 and 3): KwikSort asks, and one of m sets of agents answers each query.

Symbols: epsilon is the paper's ϵ, alternatives m, agents n, cap q, answer_budget ϵ_0, uses the number of answers 2q/m
that a set of agents gives at most; w_ji is the share of the agents who prefer j to i, and an answer is d_ϵ or -d_ϵ.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import messages, rankings

from .answers import Answers, SignedAnswer
from .local_pairwise import LocalPairwise
from .paper import ADAPTIVE, LOCAL, PAPER
from .partition import partition_counts
from .profiles import Instance, as_profile

TABLE_CELLS = 1 << 23


class LDPKwikSortInteractive(dpaudit.Mechanism):
    """Reduction II in the local model: KwikSort asks, and one of m sets of agents answers each query."""

    name = "ldp-kwiksort-interactive"
    places = (PAPER.at(section=LOCAL, algorithm=(2, 3)),)
    trust = "Nobody is trusted: every agent randomizes its answers, and the curator sees only those."
    model = "local"
    errata = ADAPTIVE

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    cap: int | Literal["auto"] = dpaudit.parameter(
        "auto", minimum=1, doc="q; auto: the smallest whole number above 10 m ln m"
    )
    alternatives: int = dpaudit.parameter(4, minimum=2, role="alternatives", doc="m")
    agents: int = dpaudit.parameter(10_000, minimum=1, role="agents", doc="n, for the utility claims")
    instance: Instance = dpaudit.parameter(
        "near-tie", doc="for the utility claims: all agents alike, or a majority of the size of the noise"
    )

    @property
    def pairs(self) -> int:
        """Number of pairs, C(m, 2)."""
        return math.comb(self.alternatives, 2)

    @property
    def queries(self) -> int:
        """The cap q, which Lemma 10 wants above 10 m log m."""
        return least_cap(self.alternatives) if isinstance(self.cap, str) else self.cap

    @property
    def uses(self) -> int:
        """Number of answers that a set gives before ⊥: the counter may reach 2q/m."""
        return 2 * self.queries // self.alternatives

    @property
    def answer_budget(self) -> float:
        """Budget of one answer by Algorithm 2, ϵ_0 = ϵm / 2q."""
        return 0.5 * self.epsilon * self.alternatives / self.queries

    @property
    def fallback(self) -> LocalPairwise:
        """The system of Corollary 9 at ϵ/2."""
        return LocalPairwise(**self._shared(self.epsilon / 2))

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        half = self.epsilon / 2
        one, every = self._shared(self.answer_budget), self._shared(self.answer_budget, answers=self.uses)
        # KwikSort compares no pair twice, and the fallback runs only after a set has been asked for more than 2q/m.
        asked, falls_back = min(self.uses, self.pairs), half if self.pairs > self.uses else 0.0
        return {
            "output": self,
            "answer": Answers(**one),
            "transcript": Answers(**every),
            "halved-transcript-and-fallback": self.halved,
            "halved-transcript-and-printed-fallback": self.halved.but(ties="both"),
            "kwiksort-transcript": Answers(**one, answers=asked, fallback=falls_back),
        }

    def transcript(self) -> dpaudit.Transcript:
        one = np.arange(self.alternatives)[None]
        return dpaudit.Transcript(
            view="halved-transcript-and-fallback",
            inputs=[one, one[:, ::-1]],
            at_most=True,
            # A set gives one answer, so that most runs fail and fall back.
            also=[{"cap": -(-self.alternatives // 2)}],
        )

    @property
    def halved(self) -> Answers:
        """What one agent sends in a run at most: answers that share ϵ/2, and the report to the fallback."""
        return Answers(**self._shared(self.answer_budget / 2, answers=self.uses), fallback=self.epsilon / 2)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``."""
        return self.run(data, size, rng)[0]

    def run(self, data: Any, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Run Algorithm 3 as meant, with ϵ/2 for the answers.

        Returns
        -------
        orders : ndarray of int, shape (size, m)
            Aggregate rankings.
        failed : ndarray of bool, shape (size,)
            Whether the run ended in ⊥ and so in the fallback.
        """
        profile = as_profile(data)
        m = self.alternatives
        orders, failed = np.empty((size, m), dtype=np.int64), np.empty(size, dtype=bool)
        batch = max(1, TABLE_CELLS // m**3)
        answer = Answers(**self._shared(self.answer_budget / 2)).answer
        for start in range(0, size, batch):
            runs = min(batch, size - start)
            assigned = rng.integers(0, m, (runs, m, m))  # ℓ(j, i)
            with messages.ahead() as drawn:
                answers, members = self.answers(profile, assigned, answer, rng)
            piece = slice(start, start + runs)
            orders[piece], asked = rankings.kwiksort_queries(answers > 0.5, rng)
            cells = (assigned + np.arange(runs)[:, None, None] * m)[asked]
            used = np.bincount(cells, minlength=runs * m).reshape(runs, m)
            failed[piece] = used.max(axis=1) > self.uses
            # A run that fails ends in ⊥ where a set is asked too often; in any other all queries have been answered.
            given = np.where(failed[piece, None], np.minimum(used, self.uses), used)
            drawn.sent((given * members).sum())
        fallen = np.flatnonzero(failed)
        if len(fallen):
            orders[fallen] = self.fallback.sample(profile, len(fallen), rng)
        return orders, failed

    def answers(
        self, data: Any, assigned: np.ndarray, answer: SignedAnswer, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Run Algorithm 2 for all ordered pairs, each with the set ``assigned`` to it, in partitions drawn anew.

        An agent's answer is d_ϵ or -d_ϵ. The sum over the agents of a set who prefer j to i is binomial, and so is the
        sum over its other agents.

        Returns
        -------
        estimates : ndarray of float, shape (runs, m, m)
            Estimates of w_ji.
        members : ndarray of int, shape (runs, m)
            Number of agents of each set.
        """
        profile = as_profile(data)
        prefer, members = partition_counts(profile, len(assigned), rng)
        run, j, i = np.ogrid[: len(assigned), : self.alternatives, : self.alternatives]
        yes = prefer[run, assigned, j, i]
        no = members[run, assigned] - yes
        positive = answer.count_positive(yes, no, rng)
        estimate: np.ndarray = self.alternatives / profile.agents * answer.size * (2 * positive - yes - no)
        return estimate, members

    def _shared(self, epsilon: float, **others: Any) -> dict[str, Any]:
        return {"epsilon": epsilon, "alternatives": self.alternatives, **others}


def least_cap(alternatives: int) -> int:
    """Smallest whole number above 10 m ln m."""
    return math.floor(10 * alternatives * math.log(alternatives)) + 1
