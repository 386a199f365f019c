"""Ranking preference collection (Section 3.1, Algorithm 1): agents with rankings, and their noisy answers.

What the agents answer is kept as votes of +1 and -1, so that the curator's tally of a pair is its margin.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import messages, randomizers, rankings

RandomizerName = Literal["gaussian-threshold", "gaussian", "randomized-response", "laplace-threshold"]


def local_randomizer(name: RandomizerName, epsilon: float, delta: float) -> Any:
    """Randomizer of one answer, 0 or 1, with a budget (ϵ_k, δ): lines 4 to 9, and alternatives to them."""
    if name == "randomized-response":
        return randomizers.RandomizedResponse.for_epsilon(epsilon)
    if name == "laplace-threshold":
        return randomizers.Thresholded(randomizers.LaplaceNoise.for_epsilon(epsilon, sensitivity=1.0))
    noise = randomizers.GaussianNoise.classical(epsilon, delta, sensitivity=1.0)
    return noise if name == "gaussian" else randomizers.Thresholded(noise)


def truths(orders: np.ndarray) -> np.ndarray:
    """Whether every agent prefers the first alternative of every pair: shape (runs, n, C(m, 2))."""
    runs, agents, m = orders.shape
    answers = rankings.answers(orders.reshape(runs * agents, m), rankings.alternative_pairs(m))
    return answers.reshape(runs, agents, -1)


@dataclass(frozen=True, slots=True)
class Votes:
    """Randomized answers of all agents to all questions, of which an agent sends those that it is asked for.

    Attributes
    ----------
    values
        Answers as votes of +1 or -1, shape (runs, n, C(m, 2)).
    drawn
        What they are drawn by; it counts those that are sent.
    """

    values: np.ndarray
    drawn: messages.Drawn = field(default_factory=messages.Drawn)


def cast(preferred: np.ndarray, response: Any, rng: np.random.Generator) -> Votes:
    """Randomized answer of every agent to every question.

    A protocol asks an agent some of the questions, and none of them twice. So several protocols may be compared on the
    same votes.
    """
    with messages.ahead() as drawn:
        values: np.ndarray = 2.0 * response.randomize(preferred, rng) - 1
    return Votes(values, drawn)


def collect(votes: Votes, queries: int, rng: np.random.Generator) -> np.ndarray:
    """Ask every agent K random questions and tally the answers: margins, shape (runs, m, m).

    The tally does not depend on the order in which the answers arrive, so the shuffler does not appear here.
    """
    runs, agents, pairs = votes.values.shape
    asked = rankings.random_subsets(pairs, queries, runs * agents, rng).reshape(runs, agents, queries)
    given = np.take_along_axis(votes.values, asked, axis=2)
    votes.drawn.sent(given.size)
    cells = asked + pairs * np.arange(runs)[:, None, None]
    tally = rankings.pair_tally(cells, given, runs * pairs).reshape(runs, pairs)
    return rankings.margin_matrix(tally, alternatives_of(pairs))


def true_margins(preferred: np.ndarray) -> np.ndarray:
    """Margins (runs, m, m) of the true answers to all questions."""
    agents = preferred.shape[1]
    # A product of matrices adds up in a sixth of the time; counts are exact below 2^24 in single precision.
    exact = np.float32 if agents < 2**24 else np.float64
    yes = (np.ones((1, agents), dtype=exact) @ preferred.astype(exact))[:, 0].astype(float)
    margins = 2.0 * yes - agents
    return rankings.margin_matrix(margins, alternatives_of(preferred.shape[2]))


def alternatives_of(pairs: int) -> int:
    """Number of alternatives m, from the number of their pairs C(m, 2)."""
    return (1 + math.isqrt(8 * pairs + 1)) // 2


class Answers(dpaudit.Mechanism):
    """Parameters of everything that shows something of the answers."""

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    delta: float = dpaudit.parameter(1e-4, above=0.0, maximum=1.0, doc="δ")
    randomizer: RandomizerName = dpaudit.parameter("gaussian-threshold", doc="what one answer goes through")


class Report(Answers):
    """What one agent sends: its K answers. Which pairs it was asked about is no secret and depends on no ranking."""

    notation = (
        "an input holds the agent's true answers, 1 where the first of the pair is preferred; an output holds "
        "the noisy ones"
    )

    queries: int = dpaudit.parameter(1, minimum=1, doc="K")

    @property
    def response(self) -> Any:
        """Randomizer of one answer; in Algorithm 1, Gaussian noise of deviation K sqrt(2 ln(1.25 / δ)) / ϵ."""
        return local_randomizer(self.randomizer, self.epsilon / self.queries, self.delta)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.response, self.queries)]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.response.randomize(np.broadcast_to(data, (size, self.queries)), rng)

    def law(self, data: Any) -> dpaudit.ProductLaw:
        one, other = self.response.law(1), self.response.law(0)
        return dpaudit.ProductLaw([one if answer else other for answer in data])

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(np.zeros(self.queries, dtype=int), np.ones(self.queries, dtype=int))],
            complete=True,
            scope=(
                f"any two rankings; a ranking and its reverse answer all {self.queries} questions differently, and the "
                "report of two that differ in fewer answers follows from theirs by drawing the others anew"
            ),
        )


class Voters(dpaudit.Mechanism):
    """Agents with rankings, of the Mallows model or drawn from the data (Section 4.1.1)."""

    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m", role="alternatives")
    agents: int = dpaudit.parameter(100, minimum=1, doc="n", role="agents")
    dispersion: float = dpaudit.parameter(0.25, minimum=0.0, doc="θ of the Mallows model, phi = exp(-θ)")
    profile: rankings.Profile | None = dpaudit.parameter(
        None, doc="real rankings (--data), not the Mallows model", role="dataset", loader=rankings.PREFLIB
    )
    drawn: int = dpaudit.parameter(100, minimum=1, doc="agents drawn from the data in every run, at most all")

    synthetic = ("dispersion",)

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    @property
    def voters(self) -> int:
        """Agents in one run of a measurement."""
        return self.agents if self.profile is None else min(self.drawn, self.agents)

    def electorates(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Rankings of all agents in many runs, shape (runs, n, m), under new labels in every run.

        The labels are new because otherwise their order could help an aggregation that ignores its input.
        """
        if self.profile is None:
            model = rankings.Mallows(np.arange(self.alternatives), math.exp(-self.dispersion))
            orders = model.sample(runs * self.agents, rng).reshape(runs, self.agents, -1)
        else:
            everybody = self.profile.rankings()
            chosen = rankings.random_subsets(len(everybody), self.voters, runs, rng)
            orders = everybody[chosen]
        labels = rng.permuted(np.tile(np.arange(self.alternatives), (runs, 1)), axis=1)
        return np.take_along_axis(labels[:, None, :], orders, axis=2)

    def lone_voters(self) -> list[np.ndarray]:
        """Profiles of one agent, with a ranking and with its reverse."""
        one = np.arange(self.alternatives)[None]
        return [one, one[:, ::-1]]

    def where(self) -> str:
        """Describe the agents in words."""
        if self.profile is not None:
            return f"{self.voters} agents drawn from the data in every run"
        return f"Mallows model with phi = {math.exp(-self.dispersion):.4g}, n = {self.agents}, m = {self.alternatives}"


def orders_of(data: Any, runs: int) -> np.ndarray:
    """Rankings of a profile of shape (n, m), or of a ``Profile``, in every run: shape (runs, n, m)."""
    orders = data.rankings() if isinstance(data, rankings.Profile) else np.asarray(data)
    return np.broadcast_to(orders, (runs, *orders.shape))
