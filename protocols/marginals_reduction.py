"""One-way marginals inside rank aggregation: the hard instances behind the lower bounds, and what they prove.

Source: Alabi, Ghazi, Kumar, Manurangsi, "Private rank aggregation in central and local models", AAAI 2022, sections
Background, Notation and Lower Bounds.

Symbols: dimensions is the paper's d, padding t, alternatives m = 2 d + t, agents n, epsilon ϵ, delta δ. A word x in
{-1, +1}^d becomes the ranking π^x, which starts from the identity and switches j and j + d + t where x_j = -1 (by the
formula; where x_j = +1 by the text), and ρ goes back. D is the number of places where two words differ.

Two laws, found by counting and checked by enumeration, sharpen the two observations. A ranking σ whose word ρ(σ)
differs from x in D places has K(σ, π^x) >= D (t + d) - D (D - 1) / 2, and some σ has no more. Where y differs from x in
D places, K(π^y, π^x) = D (2 t + 2 d - D).

The floor of Theorem 13: n agents who all hold π^x are n replacements away from n who hold π^y. So the probabilities of
one output for two words are within e^(ϵ n) of each other, and the expected error of an ϵ-DP algorithm, averaged over
the words, is at least its average under the best such weights: e^(ϵ n) on the words near ρ(σ), and 1 on the others.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import rankings

PAPER = "Alabi, Ghazi, Kumar, Manurangsi 2022"
SHARE = 0.01
"""Theorem 13: the additive error over m^2."""
AGENTS_SHARE = 0.25
"""Theorem 13 with n = o(m / ϵ) made explicit: n is at most this many m / ϵ."""
_ENUMERATED = 7
_LISTED_DIMENSIONS = 4
_LONGEST_CODE = 10
_WORDS = "x_j = -1 where bit j of `word` is set; profiles of several agents follow, because both sides are means"

_OnRankings = Callable[[np.ndarray, np.ndarray], tuple[Any, Any]]
"""(k rankings, a word) -> actual and claimed values, (k,) each."""

_OnWords = Callable[[np.ndarray, np.ndarray], tuple[float, float]]
"""(x, y) -> actual and claimed value."""


class MarginalsReduction(dpaudit.Mechanism):
    """The map from words to rankings behind the lower bounds, and the central systems on its hard instances."""

    name = "marginals-reduction"
    source = f"{PAPER}, Lower Bounds"
    model = "central"
    trust = "A trusted curator sees every ranking; the adversary sees the aggregate ranking."
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, proof overview of the lower bounds",
            printed="in words, j and j + d + t are switched if x_j = +1; the formula switches them if x_j = -1",
            meant="one of the two: with the text's map, ρ as printed is its inverse; with the formula's, minus ρ is",
            reason="by the formula π^x is the identity at x = (1, ..., 1), of which ρ as printed makes (-1, ..., -1)",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Observation 15",
            printed="σ in S_2d, and the scalar product with ρ(σ) although ρ(π^x) = -x by the displayed formulas",
            meant="σ in S_(2d+t), and ρ_j = +1 where j comes before j + d + t",
            reason="at σ = π^x and all x^i = x the left side is 0 and the right side as printed t d",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Observation 16",
            printed="K(π^y, ...) <= t (d / 2 - <y, mean> / 2) + 2 d^2",
            meant="2 t (d / 2 - <y, mean> / 2) + 2 d^2; d^2 in place of 2 d^2 is enough",
            reason="switching j and j + d + t inverts both with each of the t items between, 2 t pairs; as printed it "
            "holds for t <= d only, and the proof of Theorem 14 takes t large. A factor 2 between the observations is "
            "left, because a ranking that puts j and j + d + t on one side of the t items pays t whatever x_j is; it "
            "halves the approximation ratio that the reduction excludes, which may be any constant",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, before Observation 16",
            printed="the inversions of elements in {1, ..., d+1, d+t+1, ..., 2d+t}",
            meant="{1, ..., d, d+t+1, ..., 2d+t}",
            reason="d + 1 is one of the t items between",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Theorem 14",
            printed="no (1, o(1/n))-DP algorithm for n = o(sqrt(m) / ϵ), for any ϵ in (0, 1]",
            meant="no (ϵ, o(1/n))-DP algorithm",
            reason="ϵ does not occur in the privacy that is printed; for ϵ that shrink like 1 / m it would exclude "
            "what Corollary 7 gives at privacy 1 and n = m, an error of m^1.5 times logarithms",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Notation",
            printed="K(σ, Π) sums 1[σ(i) <= σ(j)] w_ji over all i, j, but w_ii is not defined",
            meant="i different from j, or w_ii = 0",
            reason="σ(i) <= σ(i) always holds",
        ),
    )

    dimensions: int = dpaudit.parameter(2, minimum=1, doc="d, the length of a word")
    padding: int = dpaudit.parameter(2, minimum=0, doc="t, the items between j and j + d + t that no word moves")
    epsilon: float = dpaudit.parameter(1.0, doc="ϵ of the system on the hard instances")
    delta: float = dpaudit.parameter(0.0, doc="δ of the system; above 0 only for those with Gaussian noise")
    agents: int = dpaudit.parameter(1, minimum=1, doc="n, the agents who all hold π^x")
    distance: int = dpaudit.parameter(1, minimum=1, doc="least number of places where two words of the code differ")
    system: Literal["kemeny-exponential", "noisy-pairwise", "dp-kwiksort-capped", "dp-kwiksort"] = dpaudit.parameter(
        "kemeny-exponential", doc="the central system that is run on the hard instances"
    )

    def validate(self) -> None:
        if self.distance > self.dimensions:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'distance' must be at most {self.dimensions}, the length of a word, "
                f"got {self.distance}"
            )
        if self.delta > 0 and self.system not in ("noisy-pairwise", "dp-kwiksort-capped"):
            raise dpaudit.ParameterError(f"{self.name}: {self.system} has no Gaussian noise; leave 'delta' at 0")

    @property
    def alternatives(self) -> int:
        """Length of a ranking, m = 2 d + t."""
        return 2 * self.dimensions + self.padding

    # The floors.

    def words(self) -> np.ndarray:
        """The code: words of shape (N, d), of which any two differ in at least ``distance`` places."""
        if self.dimensions > _LONGEST_CODE:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'dimensions' is {self.dimensions}; codes are listed up to {_LONGEST_CODE}"
            )
        return _lexicode(self.dimensions, self.distance)

    def packing_floor(self) -> float:
        """The floor as the proof has it: success means that ρ(σ) is nearer than half the distance to the true word.

        The balls of that radius are disjoint, so one output is a success for one word at most.
        """
        radius = -(-self.distance // 2)
        return self._failure(1) * float(_least_cost(radius, self.dimensions, self.padding))

    def approximate_floor(self) -> float:
        """The floor for (ϵ, δ): the failures within every radius, each weighted by what the next step costs."""
        words, d = self.words(), self.dimensions
        nearest = np.zeros(d + 1, dtype=int)
        for guess in _lexicode(d, 1):
            within = np.cumsum(np.bincount((words != guess).sum(axis=1), minlength=d + 1))
            nearest = np.maximum(nearest, within)
        steps = np.diff(_least_cost(np.arange(d + 1), d, self.padding))
        return math.fsum(step * self._failure(int(count)) for step, count in zip(steps, nearest, strict=False))

    def _failure(self, within: int) -> float:
        """Least probability of not being near the true word, averaged over the N words, where ``within`` are near any.

        Summed over all pairs of words, the probability s of being near obeys (N - 1) s <= e^(ϵ n) (within - s) +
        (N - 1) δ_n, with δ_n = δ (e^(ϵ n) - 1) / (e^ϵ - 1) for n replacements.
        """
        others = len(self.words()) - 1
        spent = self.epsilon * self.agents
        # All divided by e^(ϵ n), which may overflow.
        unlikely = math.exp(-spent)
        group = self.delta * -math.expm1(-spent) / math.expm1(self.epsilon)
        return max(0.0, ((1 - within) + others * (unlikely - group)) / (others * unlikely + 1))

    def floor(self) -> float:
        """The least average error over the code that probabilities within e^(ϵ n) of each other allow."""
        words = self.words()
        least = math.inf
        for guess in _lexicode(self.dimensions, 1):
            different = (words != guess).sum(axis=1)
            sizes = np.bincount(different, minlength=self.dimensions + 1)
            least = min(least, _least_average(sizes, self.dimensions, self.padding, self.epsilon * self.agents))
        return least

    # The systems on the hard instances.

    def aggregate(self) -> Any:
        """The central system at these parameters."""
        settings: dict[str, Any] = {
            "epsilon": self.epsilon,
            "alternatives": self.alternatives,
            "agents": self.agents,
        }
        if self.delta > 0:
            settings |= {"delta": self.delta, "noise": "gaussian"}
        return dpaudit.load(self.system)(**settings)

    def exact_error(self) -> float:
        """Expected error of the exponential mechanism; it treats all alternatives, so all words, alike."""
        ahead = np.triu(np.ones((self.alternatives, self.alternatives), dtype=np.int64), k=1)
        return float(self.aggregate().gibbs(self.agents * ahead).expected_excess) / self.agents

    def errors(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Errors K(σ, π^x) of runs of the system, each at a random word x of the code."""
        code, system = self.words(), self.aggregate()
        drawn = rng.integers(len(code), size=runs)
        values = np.empty(runs)
        for number in np.unique(drawn):
            order = ranking_of(code[number], self.padding)
            profile = rankings.Profile(order[None], np.array([self.agents]))
            outputs = system.sample(profile, int((drawn == number).sum()), rng)
            values[drawn == number] = rankings.kendall_tau(outputs, order)
        return values

    # The claims.

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [*self._notation_claims(), *self._map_claims(), *self._word_claims(), *self._floor_claims()]

    def _notation_claims(self) -> Iterator[dpaudit.LemmaClaim]:
        m = self.alternatives
        listed = [{"profile": rows} for rows in _small_profiles(m)] if m <= 4 else []
        yield dpaudit.LemmaClaim(
            id="alabi2022.kemeny-formula",
            source=f"{PAPER}, Notation",
            statement="K(σ, Π) is the sum of w_ji over the i, j with σ(i) <= σ(j), where w_ii = 0.",
            margin=lambda profile: -abs(_by_definition(profile) - _by_weights(profile)),
            instances=listed,
            complete=bool(listed),
            variables={} if listed else {"profile": dpaudit.RankingProfiles(6, m)},
            explain=lambda profile: {"actual": _by_weights(profile), "claimed": _by_definition(profile)},
            scope="first row σ, the others Π; "
            + (f"all profiles of 1 or 2 agents over {m} alternatives, up to their names" if listed else "drawn"),
        )
        names = [f"{matrix}_{i}{j}" for matrix in "wv" for i in range(3) for j in range(3) if i != j]
        for name, statement, constrained in (
            ("alabi2022.fact2", "|K(σ, w) - K(σ, v)| is at most the sum of all |w_ji - v_ji|.", False),
            (
                "alabi2022.fact2-halved",
                "Where w_ij + w_ji = v_ij + v_ji = 1, half the sum of all |w_ji - v_ji| is enough, so that C(m, 2) "
                "does for m^2 in Theorem 1.",
                True,
            ),
        ):
            used = [n for n in names if n[-2] < n[-1]] if constrained else names
            low, high = (0.0, 1.0) if constrained else (-10.0, 10.0)
            yield dpaudit.LemmaClaim(
                id=name,
                source=f"{PAPER}, Fact 2",
                statement=statement,
                margin=lambda constrained=constrained, **values: _fact2(values, constrained),
                instances=[dict.fromkeys(used, 0.5), {n: float(n[0] == "w") for n in used}],
                variables={n: dpaudit.Reals(low, high) for n in used},
                tolerance=1e-9,
                scope="all rankings σ of 3 alternatives, drawn matrices"
                + (" with the probability constraint" if constrained else ""),
            )

    def _map_claims(self) -> Iterator[dpaudit.LemmaClaim]:
        """Claims about any ranking σ and one word: both sides are means over the words, so one word is enough."""

        def linear(sign: int) -> _OnRankings:
            def sides(orders: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
                t = _padding(orders, x)
                wrong = (sign * word_of(orders, len(x)) != x).sum(axis=1)
                return rankings.kendall_tau(orders, ranking_of(x, t)), t * wrong

            return sides

        def by_text(orders: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
            # The text's map of x is the formula's of -x.
            actual, _ = linear(1)(orders, -x)
            return actual, linear(-1)(orders, x)[1]

        def sharp(orders: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
            different = (word_of(orders, len(x)) != x).sum(axis=1)
            return linear(1)(orders, x)[0], _least_cost(different, len(x), _padding(orders, x))

        observation = f"{PAPER}, Observation 15"
        below = "K(σ, {π^x}) is at least t (d / 2 - <ρ(σ), mean x> / 2)"
        for name, source, statement, sides in (
            ("observation15", observation, f"{below}, with ρ as printed: -1 where j comes first.", linear(-1)),
            ("observation15-meant", observation, f"{below}, with ρ = +1 where j comes before j + d + t.", linear(1)),
            (
                "observation15-text",
                observation,
                f"{below}, with ρ as printed and the map of the text, which switches where x_j = +1.",
                by_text,
            ),
            (
                "observation15-sharp",
                f"{observation}, sharpened",
                "K(σ, π^x) is at least D (t + d) - D (D - 1) / 2, where D counts the places where ρ(σ) and x differ.",
                sharp,
            ),
        ):
            yield self._ranking_claim(f"alabi2022.{name}", source, statement, sides)
        if self.alternatives <= _ENUMERATED:
            best = _best_constant(self.dimensions, self.padding)
            claimed = self.padding + (self.dimensions + 1) / 2
            yield dpaudit.LemmaClaim(
                id="alabi2022.observation15-constant",
                source=f"{observation}, sharpened",
                statement="The largest c with K(σ, {π^x}) >= c (d / 2 - <ρ(σ), mean x> / 2) is t + (d + 1) / 2.",
                margin=lambda: -abs(best - claimed),
                instances=[{}],
                complete=True,
                explain=lambda: {"actual": best, "claimed": claimed},
                scope=f"all rankings and all words at d = {self.dimensions}, t = {self.padding}",
            )

    def _word_claims(self) -> Iterator[dpaudit.LemmaClaim]:
        """Claims about two words."""
        d, t = self.dimensions, self.padding

        def inverse(sign: int) -> _OnWords:
            return lambda x, y: (float((sign * word_of(ranking_of(x, t)[None], d)[0] != x).sum()), 0.0)

        def upper(pairs: int, squares: int) -> _OnWords:
            return lambda x, y: (
                float(rankings.kendall_tau(ranking_of(y, t), ranking_of(x, t))),
                float(pairs * t * (x != y).sum() + squares * d**2),
            )

        def exact(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
            different = (x != y).sum()
            return upper(2, 1)(x, y)[0], float(different * (2 * t + 2 * d - different))

        overview, observation = f"{PAPER}, proof overview of the lower bounds", f"{PAPER}, Observation 16"
        above = "K(π^y, {π^x}) is at most"
        gap = "(d / 2 - <y, mean x> / 2)"
        for name, source, statement, sides in (
            ("rho-inverse", overview, "ρ(π^x) = x, with ρ as printed: -1 where j comes first.", inverse(-1)),
            ("rho-inverse-meant", overview, "ρ(π^x) = x, with ρ = +1 where j comes before j + d + t.", inverse(1)),
            ("observation16", observation, f"{above} t {gap} + 2 d^2.", upper(1, 2)),
            ("observation16-meant", observation, f"{above} 2 t {gap} + 2 d^2.", upper(2, 2)),
            ("observation16-sharp", f"{observation}, sharpened", f"{above} 2 t {gap} + d^2.", upper(2, 1)),
            (
                "observation16-exact",
                f"{observation}, sharpened",
                "K(π^y, π^x) = D (2 t + 2 d - D), where D counts the places where x and y differ.",
                exact,
            ),
        ):
            yield self._word_claim(f"alabi2022.{name}", source, statement, sides, equal=name.endswith("exact"))

    def _floor_claims(self) -> Iterator[dpaudit.Claim]:
        yield dpaudit.LemmaClaim(
            id="alabi2022.theorem13-constant",
            source=f"{PAPER}, Theorem 13",
            statement=f"With n <= {AGENTS_SHARE:g} m / ϵ agents, every ϵ-DP algorithm has, whatever its approximation "
            f"ratio, an additive error of at least {SHARE:g} m^2 on some profile.",
            margin=lambda alternatives: _largest_floor(alternatives) / alternatives**2 - SHARE,
            instances=[{"alternatives": m} for m in (*range(2, 301), 1000, 3000, 10_000)],
            complete=True,
            explain=lambda alternatives: {"actual": _largest_floor(alternatives), "claimed": SHARE * alternatives**2},
            scope=f"m from 2 to 300, 1000, 3000 and 10000, at ϵ n = {AGENTS_SHARE:g} m; d = m / 2, where OPT = 0",
        )
        if self.dimensions > _LONGEST_CODE:
            return
        common = f"{self.system} errs, on average over the code, by at least"
        pure = "" if self.delta == 0 else "delta is above 0; see alabi2022.theorem14"
        yield self._error_claim(
            "alabi2022.theorem13-packing",
            "Theorem 13, by packing",
            f"{common} what disjoint balls around the words leave to an ϵ-DP algorithm.",
            self.packing_floor(),
            pure,
        )
        floor = self.floor()
        yield self._error_claim(
            "alabi2022.theorem13-floor",
            "Theorem 13, with the best constant",
            f"{common} what probabilities within e^(ϵ n) of each other allow.",
            floor,
            pure,
        )
        bound = SHARE * self.alternatives**2
        yield self._error_claim(
            "alabi2022.theorem13",
            f"Theorem 13, with n = o(m / ϵ) as n <= {AGENTS_SHARE:g} m / ϵ",
            f"{common} {SHARE:g} m^2.",
            bound,
            pure or self._beyond(floor, bound),
        )
        yield self._error_claim(
            "alabi2022.theorem14",
            "Theorem 14, by packing only",
            f"{common} what balls around the words leave to an (ϵ, δ)-DP algorithm, with δ (e^(ϵ n) - 1) / (e^ϵ - 1) "
            "for n replacements; that reaches n of the order of log(1 / δ) / ϵ, not sqrt(m) / ϵ, for which the theorem "
            "relies on fingerprinting.",
            self.approximate_floor(),
            "" if self.delta > 0 else "delta is 0; see alabi2022.theorem13-floor",
        )

    def _beyond(self, floor: float, bound: float) -> str:
        """Why Theorem 13 with its constants says nothing here."""
        spent, most = self.epsilon * self.agents, AGENTS_SHARE * self.alternatives
        if spent > most:
            return f"ϵ n = {spent:g} is above {AGENTS_SHARE:g} m = {most:g}"
        if floor < bound:
            return f"these d, t and code carry a floor of {floor:.4g} only, below {bound:.4g}"
        return ""

    def _ranking_claim(self, name: str, source: str, statement: str, sides: _OnRankings) -> dpaudit.LemmaClaim:
        """Claim about all rankings and all words: enumerated where that is possible, drawn otherwise."""
        d, m = self.dimensions, self.alternatives
        listed = _worst_rankings(d, self.padding, sides) if m <= _ENUMERATED else []

        def one(sigma: np.ndarray, word: int, dimensions: int) -> tuple[float, float]:
            orders = np.asarray(sigma)[:1]
            actual, claimed = sides(orders, _word(word, min(dimensions, orders.shape[1] // 2)))
            return float(actual[0]), float(claimed[0])

        drawn: dict[str, Any] = {
            "sigma": dpaudit.RankingProfiles(1, m),
            "word": dpaudit.Integers(0, 2**d - 1),
            "dimensions": dpaudit.Integers(1, d),
        }
        return dpaudit.LemmaClaim(
            id=name,
            source=source,
            statement=statement,
            margin=lambda **instance: one(**instance)[0] - one(**instance)[1],
            instances=listed,
            complete=bool(listed),
            variables={} if listed else drawn,
            explain=lambda **instance: dict(zip(("actual", "claimed"), one(**instance), strict=True)),
            scope=(
                f"all {math.factorial(m)} rankings for each of {2**d} words, d = {d}, t = {self.padding}"
                if listed
                else f"drawn rankings of up to {m} alternatives and words of up to {d} places"
            )
            + f"; {_WORDS}",
        )

    def _word_claim(
        self, name: str, source: str, statement: str, sides: _OnWords, *, equal: bool
    ) -> dpaudit.LemmaClaim:
        """Claim about all pairs of words: that the actual value is at most the claimed one, or equal to it."""
        d = self.dimensions
        every = range(2**d) if d <= _LISTED_DIMENSIONS else ()
        drawn = dpaudit.Integers(0, 2**d - 1)

        def one(word: int, other: int) -> tuple[float, float]:
            return sides(_word(word, d), _word(other, d))

        def margin(word: int, other: int) -> float:
            actual, claimed = one(word, other)
            return -abs(claimed - actual) if equal else claimed - actual

        return dpaudit.LemmaClaim(
            id=name,
            source=source,
            statement=statement,
            margin=margin,
            instances=[{"word": x, "other": y} for x, y in itertools.product(every, repeat=2)],
            complete=bool(every),
            variables={} if every else {"word": drawn, "other": drawn},
            explain=lambda **instance: dict(zip(("actual", "claimed"), one(**instance), strict=True)),
            scope=f"{'all' if every else 'drawn'} pairs of words x and y (`other`), d = {d}, t = {self.padding}; "
            f"{_WORDS}",
        )

    def _error_claim(
        self, name: str, where: str, statement: str, bound: float, inapplicable: str
    ) -> dpaudit.UtilityClaim:
        exact = self.system == "kemeny-exponential"
        return dpaudit.UtilityClaim(
            id=name,
            source=f"{PAPER}, {where}",
            statement=statement,
            bound=bound,
            direction="at-least",
            exact=self.exact_error if exact else None,
            measure=None if exact else self.errors,
            runs=2000,
            support=(0.0, float(math.comb(self.alternatives, 2))),
            quantity="additive error E[K(σ, Π)], OPT = 0",
            scope=f"n = {self.agents} agents who all hold π^x, x uniform over {len(self.words())} words, "
            f"d = {self.dimensions}, t = {self.padding}, {self.system} at its nominal ϵ",
            inapplicable=inapplicable,
        )


def ranking_of(x: np.ndarray, padding: int) -> np.ndarray:
    """π^x by the formula: j and j + d + t switched where x_j = -1. An involution, so its own inverse."""
    d = len(x)
    order = np.arange(2 * d + padding)
    switched = np.flatnonzero(np.asarray(x) < 0)
    order[switched], order[switched + d + padding] = switched + d + padding, switched
    return order


def word_of(orders: np.ndarray, dimensions: int) -> np.ndarray:
    """ρ as meant: +1 where j comes before j + d + t; shape (k, m) becomes (k, d)."""
    places = rankings.positions(orders)
    m = orders.shape[1]
    return np.where(places[:, :dimensions] < places[:, m - dimensions :], 1, -1)


def _padding(orders: np.ndarray, x: np.ndarray) -> int:
    return int(orders.shape[1]) - 2 * len(x)


def _least_cost(different: Any, dimensions: int, padding: int) -> Any:
    """Least K(σ, π^x) where ρ(σ) and x differ in so many places: D (t + d) - D (D - 1) / 2."""
    return different * (padding + dimensions) - different * (different - 1) / 2


def _least_average(sizes: np.ndarray, dimensions: int, padding: int, spent: float) -> float:
    """Least mean error under weights within e^spent of each other; sizes[D] words differ in D places from a guess."""
    cost = _least_cost(np.arange(dimensions + 1), dimensions, padding)
    scaled = sizes / sizes.max()
    near, near_cost = np.cumsum(scaled), np.cumsum(scaled * cost)
    far, far_cost = near[-1] - near, near_cost[-1] - near_cost
    discount = math.exp(-spent)
    total = near + discount * far
    return float(np.min((near_cost + discount * far_cost)[total > 0] / total[total > 0]))


def _largest_floor(alternatives: int) -> float:
    """Floor over all words at d = m / 2 and ϵ n = AGENTS_SHARE m; over m^2 it tends to 0.01176.

    The limit is (δ - δ^2 / 2) / 4 where log 2 - h(δ) = 1/2, h the entropy in nats.
    """
    from scipy.special import gammaln

    d = alternatives // 2
    places = np.arange(d + 1)
    log_sizes = gammaln(d + 1) - gammaln(places + 1) - gammaln(d - places + 1)
    return _least_average(np.exp(log_sizes - log_sizes.max()), d, alternatives - 2 * d, AGENTS_SHARE * alternatives)


def _word(bits: int, dimensions: int) -> np.ndarray:
    return np.where(bits >> np.arange(dimensions) & 1, -1, 1)


@cache
def _lexicode(dimensions: int, distance: int) -> np.ndarray:
    """Greedy code: every word, in order of its bits, that differs from all before in enough places."""
    every = np.arange(2**dimensions)
    weight = np.array([int(bits).bit_count() for bits in every])
    free = np.ones(len(every), dtype=bool)
    code = []
    for bits in every:
        if free[bits]:
            code.append(int(bits))
            free &= weight[every ^ bits] >= distance
    words = np.array([_word(bits, dimensions) for bits in code])
    words.setflags(write=False)
    return words


def _worst_rankings(dimensions: int, padding: int, sides: _OnRankings) -> list[dict[str, Any]]:
    """For every word, the ranking of all with the smallest actual value against the claimed one."""
    every = _every(2 * dimensions + padding)
    worst = []
    for bits in range(2**dimensions):
        actual, claimed = sides(every, _word(bits, dimensions))
        place = int(np.argmin(actual - claimed))
        worst.append({"sigma": every[place][None], "word": bits, "dimensions": dimensions})
    return worst


def _best_constant(dimensions: int, padding: int) -> float:
    """Least K(σ, π^x) / D over all rankings σ and words x with D > 0."""
    every = _every(2 * dimensions + padding)
    ratios = []
    for bits in range(2**dimensions):
        x = _word(bits, dimensions)
        different = (word_of(every, dimensions) != x).sum(axis=1)
        cost = rankings.kendall_tau(every, ranking_of(x, padding))
        ratios.append(float((cost[different > 0] / different[different > 0]).min()))
    return min(ratios)


@cache
def _every(alternatives: int) -> np.ndarray:
    return rankings.all_rankings(alternatives)


def _small_profiles(alternatives: int) -> Iterator[np.ndarray]:
    every = _every(alternatives)
    for agents in (1, 2):
        for rows in itertools.combinations_with_replacement(range(len(every)), agents):
            yield every[[0, *rows]]


def _by_definition(profile: np.ndarray) -> float:
    """Mean over the agents of the number of pairs i, j with σ(i) < σ(j) and π(i) > π(j)."""
    places = rankings.positions(profile).tolist()
    own, others = places[0], places[1:] or places[:1]
    m = len(own)
    disagreements = sum(own[i] < own[j] and pi[i] > pi[j] for pi in others for i in range(m) for j in range(m))
    return float(disagreements) / len(others)


def _by_weights(profile: np.ndarray) -> float:
    """Sum of w_ji over the i, j with σ(i) <= σ(j), w_ij the share of agents who put i before j."""
    places = rankings.positions(profile)
    own, others = places[0], places[1:] if len(places) > 1 else places[:1]
    w = (others[:, :, None] < others[:, None, :]).mean(axis=0)
    return float((w.T * (own[:, None] <= own[None, :])).sum())


def _fact2(values: Mapping[str, float], constrained: bool) -> float:
    """Least, over the rankings of 3 alternatives, of the (halved) sum of |w_ji - v_ji| less |K(σ, w) - K(σ, v)|."""
    difference = np.zeros((3, 3))
    for name, value in values.items():
        i, j = int(name[-2]), int(name[-1])
        difference[i, j] += value if name[0] == "w" else -value
        if constrained:
            difference[j, i] = -difference[i, j]
    places = rankings.positions(_every(3))
    before = places[:, :, None] < places[:, None, :]
    changes = np.abs((before * difference.T).sum(axis=(1, 2)))
    total = np.abs(difference).sum() / (2 if constrained else 1)
    return float(total - changes.max())
