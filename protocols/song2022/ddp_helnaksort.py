"""DDP-Helnaksort (Section 3): local noise, a shuffler for every pair, hierarchical rank aggregation."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .collection import RandomizerName, Report, Voters, cast, collect, orders_of, truths
from .paper import PAPER, PROTOCOL_ERRATA
from .shuffling import AnswersOfDrawnAgents, AnswersOfSecretDraws, ShuffledAnswers, proved_epsilon


class DDPHelnaksort(Voters):
    """DDP-Helnaksort: Gaussian noise, a threshold, a shuffler for every pair, hierarchical rank aggregation."""

    epsilon: float | None = dpaudit.parameter(
        None, above=0.0, doc="ϵ, the budget of one agent; 1 where neither it nor `central_epsilon` is given"
    )
    delta: float = dpaudit.parameter(1e-4, above=0.0, maximum=1.0, doc="δ")
    randomizer: RandomizerName = dpaudit.parameter("gaussian-threshold", doc="what one answer goes through")
    queries: int = dpaudit.parameter(1, minimum=1, doc="K")
    central_epsilon: float | None = dpaudit.parameter(
        None, minimum=0.0, doc="in place of `epsilon`, the ϵ after shuffling: that of one agent is this plus ln n'"
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
        if self.epsilon is not None and self.central_epsilon is not None:
            raise dpaudit.ParameterError(
                f"{self.name}: 'epsilon' ({self.epsilon:g}) and 'central_epsilon' ({self.central_epsilon:g}) each "
                "decide the budget of one agent, so that one of them would be without effect; give one of the two, and "
                "take a plan's back with --set epsilon=null or --set central_epsilon=null"
            )
        if self.epsilon is None and self.central_epsilon is None:
            object.__setattr__(self, "epsilon", 1.0)
        if self.local_epsilon <= 0:
            raise dpaudit.ParameterError(
                f"{self.name}: central_epsilon + ln n' must be above 0, got {self.local_epsilon:g}; "
                "raise 'central_epsilon' or 'agents'"
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
        return self.voters / self.pairs

    @property
    def on_a_pair(self) -> int:
        """Whole part of n'."""
        return max(1, math.floor(self.share))

    @property
    def local_epsilon(self) -> float:
        """ϵ of one agent."""
        if self.central_epsilon is not None:
            return self.central_epsilon + math.log(self.share)
        return self.epsilon or 0.0

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

    def proved(self, agents: int) -> float:
        """An ϵ at δ that is proved for so many shuffled answers; real answers have none here."""
        if self.randomizer == "gaussian":
            return self.local_epsilon
        return proved_epsilon(self.randomizer, self.local_epsilon, self.delta, agents)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        shared: dict[str, Any] = {
            "epsilon": self.local_epsilon,
            "delta": self.delta,
            "randomizer": self.randomizer,
            "claimed": self.amplified,
        }
        # Without a shuffler the answers of the others, who are known by name, say nothing of one agent.
        shuffled = {
            "received": ShuffledAnswers(agents=self.on_a_pair, **shared),
            "received-by-lot": AnswersOfDrawnAgents(agents=self.voters, pairs=self.pairs, **shared),
            "received-of-secret-draws": AnswersOfSecretDraws(agents=self.voters, **shared),
            "received-of-secret-draws-as-proved": AnswersOfSecretDraws(
                agents=self.voters, **{**shared, "claimed": self.proved(self.voters)}
            ),
        }
        return {
            "output": self,
            "report": self.report,
            "noise": self.report.but(randomizer="gaussian"),
            **(shuffled if self.shuffle else dict.fromkeys(shuffled, self.report)),
        }
