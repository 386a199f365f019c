"""DDP-Helnaksort (Section 3): local noise, a shuffler for every pair, hierarchical rank aggregation."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .collection import Answers, Report, Voters, cast, collect, orders_of, truths
from .paper import PAPER, PROTOCOL_ERRATA
from .shuffling import AnswersOfDrawnAgents, AnswersOfSecretDraws, ShuffledAnswers


class DDPHelnaksort(Answers, Voters):
    """DDP-Helnaksort: Gaussian noise, a threshold, a shuffler for every pair, hierarchical rank aggregation."""

    queries: int = dpaudit.parameter(1, minimum=1, doc="K")
    agents_per_pair: int | None = dpaudit.parameter(None, minimum=1, doc="n'; n / C(m, 2) where not given")
    central_epsilon: float | None = dpaudit.parameter(
        None, minimum=0.0, doc="the ϵ after shuffling; where it is given, `epsilon` becomes this plus ln n'"
    )
    shuffle: bool = dpaudit.parameter(True, doc="whether there is a shuffler")

    name = "ddp-helnaksort"
    places = (PAPER.at(section="3"),)
    model = "shuffle"
    trust = (
        "Agents trust a shuffler, which sees who sends what, and nobody else; the curator sees the answers about every "
        "pair in random order. The paper leaves open whether it knows who was asked about which pair; both are audited."
    )
    errata = PROTOCOL_ERRATA

    def validate(self) -> None:
        if self.queries > self.pairs:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'queries' must be at most {self.pairs}, the number of pairs of "
                f"{self.alternatives} alternatives, got {self.queries}"
            )
        if self.local_epsilon > 0:
            # One setting, however it is given, is one cell of an audit.
            object.__setattr__(self, "epsilon", self.local_epsilon)
        else:
            raise dpaudit.ParameterError(
                f"{self.name}: central_epsilon + ln n' must be above 0, got {self.local_epsilon:g}; "
                "raise 'central_epsilon' or 'agents_per_pair'"
            )

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate the rankings of a profile of shape (n, m), or of a ``Profile``, in ``size`` runs."""
        # Section 3.1, Algorithm 1: every agent answers K random questions. Section 3.2: the tally needs no order.
        votes = cast(truths(orders_of(data, size)), self.report.response, rng)
        received = collect(votes, self.queries, rng)
        # Section 3.3, Algorithm 2.
        return rankings.hierarchical(received, rng)

    @property
    def share(self) -> float:
        """n', the average number of agents per pair at K = 1 (Equation 3)."""
        return self.voters / self.pairs if self.agents_per_pair is None else self.agents_per_pair

    @property
    def on_a_pair(self) -> int:
        """Whole part of n'."""
        return max(1, math.floor(self.share))

    @property
    def everybody(self) -> int:
        """n, the agents on all pairs."""
        return self.voters if self.agents_per_pair is None else self.agents_per_pair * self.pairs

    @property
    def local_epsilon(self) -> float:
        """ϵ of one agent."""
        return self.epsilon if self.central_epsilon is None else self.central_epsilon + math.log(self.share)

    @property
    def amplified(self) -> float:
        """ϵ - ln n', which is left according to Theorem 3.1."""
        return self.local_epsilon - math.log(self.share) if self.central_epsilon is None else self.central_epsilon

    @property
    def report(self) -> Report:
        """What one agent sends."""
        return Report(epsilon=self.local_epsilon, delta=self.delta, queries=self.queries, randomizer=self.randomizer)

    def transcript(self) -> dpaudit.Transcript:
        return dpaudit.Transcript(view="report", inputs=self.lone_voters())

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        shared: dict[str, Any] = {
            "epsilon": self.local_epsilon,
            "delta": self.delta,
            "randomizer": self.randomizer,
            "claimed": max(0.0, self.amplified),
        }
        # Without a shuffler the answers of the others, who are known by name, say nothing of one agent.
        return {
            "output": self,
            "report": self.report,
            "received": ShuffledAnswers(agents=self.on_a_pair, **shared) if self.shuffle else self.report,
            "received-by-lot": (
                AnswersOfDrawnAgents(agents=self.voters, pairs=self.pairs, **shared) if self.shuffle else self.report
            ),
            "received-of-secret-draws": (
                AnswersOfSecretDraws(agents=self.everybody, **shared) if self.shuffle else self.report
            ),
        }
