"""The exponential mechanism over all rankings: a ranking is the likelier the closer it is to the agents.

Source: Hay, Elagina, Miklau, "Differentially private rank aggregation", SDM 2017, as restated in Table 1 of Alabi,
Ghazi, Kumar, Manurangsi, "Private rank aggregation in central and local models", AAAI 2022.

Symbols: epsilon is the paper's ϵ, alternatives m, agents n, K(σ, Π) the average Kendall tau distance of a ranking σ to
the profile Π, OPT the least one, C = m (m - 1) / 2 the number of pairs, and β the factor in P(σ) ~ exp(-β n K(σ, Π)).

β = ϵ / (2 C) for substitution: the total distance n K moves by at most C, up at one ranking and down at another, and
so does the normaliser's logarithm. β = ϵ / C for add-remove: a further agent moves n K by 0 to C, up at every ranking.

The table says that the mechanism takes time O(m! n). The law follows from the pairwise counts by a recursion over
subsets, in O(m^2 n + m 2^m): see `dpaudit.rankings.Gibbs`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations_with_replacement
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import rankings

TABLE = "Alabi, Ghazi, Kumar, Manurangsi 2022, Table 1"
_LISTED_ALTERNATIVES = 7
_LARGEST = 18
_LISTED_OUTPUTS = 2_000_000
_LISTED_PAIRS = 30_000
_LISTED_PROFILES = 5_000
_SPLITS = 120
_MANY = 10_000_000


class KemenyExponential(dpaudit.Mechanism):
    """Exponential mechanism over all rankings, its utility the Kendall tau distance to the agents."""

    name = "kemeny-exponential"
    source = "Hay, Elagina, Miklau 2017; Alabi, Ghazi, Kumar, Manurangsi 2022, Table 1"
    model = "central"
    trust = "A trusted curator sees every ranking; the adversary sees the aggregate ranking."
    notation = "an input lists the agents' rankings, best first; the output is a ranking"

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the whole budget")
    alternatives: int = dpaudit.parameter(3, minimum=2, doc="m, at most 18: the law is computed over 2^m subsets")
    agents: int = dpaudit.parameter(2, minimum=1, doc="n")
    relation: Literal["substitution", "add-remove"] = dpaudit.parameter("substitution", doc="neighbouring relation")
    instance: Literal["unanimous", "split", "cycle", "graded", "every"] = dpaudit.parameter(
        "unanimous",
        doc="profile of the utility claims: all agree; two opposed blocs in the worst proportion; a Condorcet cycle; "
        "majorities that shrink with the distance of the two alternatives; the worst of all profiles",
    )

    def validate(self) -> None:
        if self.alternatives > _LARGEST:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'alternatives' must be at most {_LARGEST}, because the law is computed over "
                f"2^m subsets, got {self.alternatives}"
            )

    @property
    def pairs(self) -> int:
        """C, the number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    @property
    def beta(self) -> float:
        """β, the price of one disagreement with one agent: ϵ over the range of what one agent can change."""
        return _beta(self.epsilon, self.alternatives, self.relation)

    def gibbs(self, counts: np.ndarray) -> rankings.Gibbs:
        """Law of the output for pairwise counts of shape (m, m)."""
        return _gibbs(np.asarray(counts, dtype=np.int64).tobytes(), self.alternatives, self.beta)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``."""
        return self.gibbs(_counts(data, self.alternatives)).sample(size, rng)

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        if self.alternatives > _LISTED_ALTERNATIVES:
            return None
        return dpaudit.FiniteLaw(_every(self.alternatives), self.gibbs(_counts(data, self.alternatives)).log_law())

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        return self.gibbs(_counts(data, self.alternatives)).log_pmf(outputs)

    def neighbours(self) -> dpaudit.Neighbouring:
        # Relabelling the alternatives turns the ranking that changes into the first one.
        profiles = rankings.Profiles(
            agents=self.agents, alternatives=self.alternatives, relation=self.relation, neutral=True
        )
        pairs = profiles.count()
        complete = pairs <= _LISTED_PAIRS and pairs * math.factorial(self.alternatives) <= _LISTED_OUTPUTS
        return dpaudit.Neighbouring(
            relation=self.relation,
            pairs=profiles.pairs if complete else profiles.patterns,
            complete=complete,
            scope=profiles.scope,
            domain=profiles,
        )

    # Its utility.

    def profiles(self) -> Iterator[np.ndarray]:
        """Pairwise counts of the profiles of the utility claims."""
        m, n = self.alternatives, self.agents
        ahead = np.triu(np.ones((m, m), dtype=np.int64), k=1)
        if self.instance == "unanimous":
            yield n * ahead
        elif self.instance == "split":
            majority, _ = _worst_split(m, n, self.beta)
            yield majority * ahead + (n - majority) * ahead.T
        elif self.instance == "cycle":
            rotations = (np.arange(m) + np.arange(min(m, n))[:, None]) % m
            shares = (n + np.arange(len(rotations))[::-1]) // len(rotations)
            yield rankings.pairwise_counts(rankings.Profile(rotations, shares))
        elif self.instance == "graded":
            margins = self.graded_margins() * ahead
            yield (n * (ahead + ahead.T) + margins - margins.T) // 2
        else:
            yield from _all_profiles(m, n)

    def graded_margins(self) -> np.ndarray:
        """Margins a / (β |j - l|), rounded to the parity of n, that some profile of n agents has; a is about 1.4.

        Two agents can give any one pair a margin of 2 and all others 0 (McGarvey 1953), so margins that add up to n or
        less can be had.
        """
        m, n = self.alternatives, self.agents
        items = np.arange(m)
        distance = np.maximum(np.abs(items[:, None] - items), 1)
        total = np.triu(1 / distance, k=1).sum()
        # An odd agent gives every pair a margin of 1, and rounding up adds at most 1 to each.
        scale = min(1.4 / self.beta, max(0.0, (n - 1 - 2 * self.pairs) / total))
        margins: np.ndarray = n % 2 + 2 * np.rint(scale / distance / 2).astype(np.int64)
        return margins

    def error(self) -> float:
        """Largest of E[K(σ, Π)] - OPT(Π) over the profiles of the claims."""
        return max(self.gibbs(counts).expected_excess for counts in self.profiles()) / self.agents

    def printed_bound(self) -> float:
        """m^3 log m / (ϵ n)."""
        return self.alternatives**3 * math.log(self.alternatives) / (self.epsilon * self.agents)

    def entropy_bound(self) -> float:
        """Entropy of the uniform law over the price: log m! / (β n)."""
        return math.lgamma(self.alternatives + 1) / (self.beta * self.agents)

    def block_bound(self) -> float:
        """Least of (log m! - H_s) / (β n) + E_s over s, for rankings that are shuffled within blocks of s items."""
        m = self.alternatives

        def bound(s: int) -> float:
            blocks, rest = divmod(m, s)
            entropy = blocks * math.lgamma(s + 1) + math.lgamma(rest + 1)
            excess = (blocks * math.comb(s, 2) + math.comb(rest, 2)) / 2
            return (math.lgamma(m + 1) - entropy) / (self.beta * self.agents) + excess

        return min(bound(s) for s in range(1, m + 1))

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id="alabi2022.kemeny-exponential",
                source=f"{TABLE}; Hay, Elagina, Miklau 2017",
                statement="The aggregate ranking of the exponential mechanism is ϵ-differentially private.",
                epsilon=self.epsilon,
            ),
            self._utility_claim(
                "alabi2022.kemeny-exponential-utility",
                TABLE,
                "E[K(σ, Π)] is at most OPT + m^3 log m / (ϵ n): the constant in O(.) can be 1.",
                self.printed_bound(),
            ),
            self._utility_claim(
                "alabi2022.kemeny-exponential-utility-entropy",
                f"{TABLE}, with its constant",
                "E[K(σ, Π)] is at most OPT + log m! / (β n): β n (E K - OPT) is an entropy less a logarithm that is at "
                "least 0.",
                self.entropy_bound(),
            ),
            self._utility_claim(
                "alabi2022.kemeny-exponential-utility-blocks",
                f"{TABLE}, sharpened",
                "E[K(σ, Π)] is at most OPT + E_s + (log m! - H_s) / (β n) for every block size s, where H_s is the "
                "entropy and E_s half the pairs of rankings that are shuffled within blocks of s items.",
                self.block_bound(),
            ),
            *self._rate_claims(),
        ]

    def _utility_claim(self, name: str, source: str, statement: str, bound: float) -> dpaudit.UtilityClaim:
        return dpaudit.UtilityClaim(
            id=name,
            source=source,
            statement=statement,
            bound=bound,
            exact=self.error,
            support=(0.0, float(self.pairs)),
            trivial=self.pairs / 2,
            trivial_reason="a uniformly random ranking errs by no more than half the pairs, whatever the profile",
            quantity="additive error E[K(σ, Π)] - OPT(Π)",
            scope=f"instance {self.instance}, n = {self.agents}, m = {self.alternatives}, {self.relation}",
        )

    def _rate_claims(self) -> Sequence[dpaudit.RateClaim]:
        """Growth of the worst error on two opposed blocs, and of the error on graded majorities."""

        def split(*, epsilon: float = self.epsilon, m: float = self.alternatives, n: float = _MANY) -> float:
            return _worst_split(int(m), int(n), _beta(epsilon, int(m), self.relation))[1]

        def graded(m: float) -> float:
            return replace(self, alternatives=int(m), agents=_MANY, instance="graded").error()

        quantity = "additive error on two opposed blocs in the worst proportion"
        many = f"n = {_MANY}, ϵ = {self.epsilon:g}"
        return [
            dpaudit.RateClaim(
                id="alabi2022.kemeny-exponential-rate-agents",
                reproduces="Table 1",
                source=TABLE,
                statement="The additive error falls like 1 / n.",
                variable="agents",
                points=(1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6),
                exponent=-1.0,
                direction="equal",
                exact=lambda agents: split(n=agents),
                quantity=quantity,
                scope=f"m = {self.alternatives}, ϵ = {self.epsilon:g}",
            ),
            dpaudit.RateClaim(
                id="alabi2022.kemeny-exponential-rate-epsilon",
                reproduces="Table 1",
                source=TABLE,
                statement="The additive error falls like 1 / ϵ.",
                variable="epsilon",
                points=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
                exponent=-1.0,
                direction="equal",
                exact=lambda epsilon: split(epsilon=epsilon),
                quantity=quantity,
                scope=f"m = {self.alternatives}, n = {_MANY}",
            ),
            dpaudit.RateClaim(
                id="alabi2022.kemeny-exponential-rate-alternatives",
                reproduces="Table 1",
                source=TABLE,
                statement="The additive error grows like m^3 log m at most.",
                variable="alternatives",
                points=(8, 16, 32, 64, 128, 256),
                exponent=3.0,
                shape=math.log,
                exact=lambda alternatives: split(m=alternatives),
                quantity=quantity,
                scope=many,
            ),
            dpaudit.RateClaim(
                id="alabi2022.kemeny-exponential-rate-opposed",
                source=f"{TABLE}, without its logarithm",
                statement="On two opposed blocs the additive error grows like m^3.",
                variable="alternatives",
                points=(8, 16, 32, 64, 128, 256),
                exponent=3.0,
                direction="equal",
                exact=lambda alternatives: split(m=alternatives),
                quantity=quantity,
                scope=many,
            ),
            dpaudit.RateClaim(
                id="alabi2022.kemeny-exponential-rate-graded",
                reproduces="Table 1",
                source=f"{TABLE}, with its logarithm",
                statement="On majorities that shrink with the distance of the alternatives, the additive error grows "
                "like m (m - 1) log m!, so like m^3 log m.",
                variable="alternatives",
                points=(4, 6, 8, 10, 12, 14),
                exponent=3.0,
                shape=lambda m: (m - 1) * math.lgamma(m + 1) / m**2,
                direction="equal",
                exact=graded,
                quantity="additive error on graded majorities",
                scope=many,
            ),
        ]


def _beta(epsilon: float, alternatives: int, relation: str) -> float:
    return epsilon / (math.comb(alternatives, 2) * (2 if relation == "substitution" else 1))


def _worst_split(alternatives: int, agents: int, beta: float) -> tuple[int, float]:
    """Size of the larger of two opposed blocs at which the error is largest, of about a hundred sizes, and that error.

    Where all margins are one number g, the law is a Mallows model with exp(-β g), and a disagreement with it costs g.
    """

    def error(margin: int) -> float:
        model = rankings.Mallows(np.arange(alternatives), math.exp(-beta * margin))
        return margin * model.expected_distance() / agents

    less = np.unique(np.floor((agents - np.geomspace(1, agents, _SPLITS)) / 2).astype(int))
    margin = max((agents - 2 * less).tolist(), key=error)
    return (agents + margin) // 2, error(margin)


@lru_cache(maxsize=4)
def _gibbs(counts: bytes, alternatives: int, beta: float) -> rankings.Gibbs:
    table = np.frombuffer(counts, dtype=np.int64).reshape(alternatives, alternatives)
    return rankings.Gibbs(table.astype(float), beta)


@cache
def _every(alternatives: int) -> np.ndarray:
    return rankings.all_rankings(alternatives)


def _counts(data: Any, alternatives: int) -> np.ndarray:
    if isinstance(data, np.ndarray) and not len(data):
        return np.zeros((alternatives, alternatives), dtype=np.int64)
    return rankings.pairwise_counts(data)


def _all_profiles(alternatives: int, agents: int) -> Iterator[np.ndarray]:
    """Pairwise counts of all profiles, up to the names of the alternatives."""
    every = rankings.all_rankings(alternatives)
    number = math.comb(len(every) + agents - 2, agents - 1)
    if number > _LISTED_PROFILES:
        raise dpaudit.ParameterError(
            f"kemeny-exponential: the instance 'every' means {number} profiles of {agents} agents over {alternatives} "
            f"alternatives; take fewer of them, for at most {_LISTED_PROFILES} profiles"
        )
    for others in combinations_with_replacement(range(len(every)), agents - 1):
        yield rankings.pairwise_counts(every[[0, *others]])
