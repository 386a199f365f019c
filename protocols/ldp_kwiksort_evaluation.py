"""The experiments on LDP-KwikSort: what the text says of its figures and of its table of times.

Source: Yan, Li, Liu, "Private rank aggregation under local differential privacy", Int. J. Intell. Syst. 35(10), 2020,
Section 5.

Symbols: epsilon is the paper's ϵ, alternatives m, agents n, dispersion θ, K the number of queries. RR and Lap are the
two solutions, `kendall-tau` the average normalised Kendall tau distance and `error-rate` Equation 5.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

import dpaudit
from dpaudit import rankings

PAPER = "Yan, Li, Liu 2020"
SOLUTIONS = {"rr": "LDP-KwikSort:RR", "lap": "LDP-KwikSort:Lap"}
METRICS = {"kendall-tau": "average normalised Kendall tau distance", "error-rate": "error rate (Equation 5)"}

FEW_QUERIES = (1, 2, 3, 4)
"""K in Figure 3, besides m + 1 and C(m, 2)."""

RUNS = 30
"""Runs that the paper's numbers are means of (Section 5.1.2)."""

NEAR = 0.01
"""Constant chosen for "approach": a hundredth of the range of the normalised distance."""

SMALL_SHARE = 0.1
"""Constant chosen for "a small increase in time cost": a tenth of the time of the faster solution of LDP-KwikSort."""

CLEAR_FACTOR = 2.0
"""Times are told from each other where they are this many times apart."""

LARGEST_LOGARITHM = 6.0
"""Quotients of two times are taken to be between a millionth and a million."""

TURK_PUZZLE = (793, 4)
"""Agents and alternatives of the data of Figure 5(b)."""

AGENTS_OF_FIGURE_5B = (10, 20, 50, 100, 200, 500)

PRIVATE = ("dp-kwiksort", "ldp-kwiksort-rr", "ldp-kwiksort-lap")

Values = Mapping[str, np.ndarray]
System = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""Estimated margins (runs, m, m) from rankings (runs, n, m), their margins (runs, m, m) and a generator."""


class LDPKwikSortEvaluation(dpaudit.Mechanism):
    """KwikSort, DP-KwikSort and both solutions of LDP-KwikSort on the same profiles."""

    epsilon: float = dpaudit.parameter(2.0, doc="ϵ, the budget of one agent, and the whole of DP-KwikSort's")
    alternatives: int = dpaudit.parameter(15, minimum=3, doc="m")
    agents: int = dpaudit.parameter(5000, minimum=1, doc="n")
    dispersion: float = dpaudit.parameter(0.5, minimum=0, doc="θ of the Mallows model")
    convention: Literal["yan", "permallows"] = dpaudit.parameter(
        "permallows", doc="phi = 1 - θ (the paper's theorems) or exp(-θ) (the package behind its experiments)"
    )
    logarithm: Literal["natural", "binary"] = dpaudit.parameter("natural", doc="base of the logarithm in DP-KwikSort")
    profile: rankings.Profile | None = dpaudit.parameter(None, doc="real rankings (--data), not the Mallows model")

    name = "ldp-kwiksort-evaluation"
    synthetic = ("dispersion", "convention")
    source = f"{PAPER}, Section 5"
    trust = "Four systems side by side: no privacy, a trusted curator, and the two solutions that trust nobody."
    errata: ClassVar[Sequence[dpaudit.Erratum]] = (
        dpaudit.Erratum(
            where=f"{PAPER}, Section 5.2",
            printed="K from {1, 2, 3, 4, m + 1, C(m, 2)}, and the minimum at ϵ = 10 is at K = ϵ/2 = 5",
            meant="K = 5 beside them; without it the claim can be read off for m = 4 alone, where m + 1 is 5",
            reason="m + 1 is 11 for SUSHI and 16 for the Mallows profiles of Section 5.3, so 5 is not among their K",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Section 5.6",
            printed="from m = 15 on LDP-KwikSort:RR needs more time than LDP-KwikSort:Lap",
            meant="from m = 30 on",
            reason="Table 3 has 2.8551 s for RR and 2.9294 s for Lap at m = 15, and RR above Lap from m = 30 on",
        ),
    )

    def validate(self) -> None:
        self.solution("rr")

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    # The systems, each a function from rankings, their margins and a generator to estimated margins.

    def solution(self, name: str, *, queries: int | None = None, epsilon: float | None = None) -> Any:
        """One solution of LDP-KwikSort, with K by the paper's rule unless it is given."""
        return _target(f"ldp-kwiksort-{name}")(
            epsilon=epsilon or self.epsilon,
            queries="auto" if queries is None else queries,
            alternatives=self.alternatives,
            agents=self.agents,
            dispersion=self.dispersion,
            convention=self.convention,
            profile=self.profile,
        )

    def central(self) -> Any:
        """DP-KwikSort."""
        return _target("dp-kwiksort")(
            epsilon=self.epsilon, alternatives=self.alternatives, agents=self.agents, logarithm=self.logarithm
        )

    def systems(self) -> dict[str, System]:
        """All four."""
        central = self.central()
        return {
            "kwiksort": lambda orders, margins, rng: margins,
            "dp-kwiksort": lambda orders, margins, rng: margins + central.noise_of(len(margins), rng),
            "ldp-kwiksort-rr": _estimator(self.solution("rr")),
            "ldp-kwiksort-lap": _estimator(self.solution("lap")),
        }

    # The claims.

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            *(claim for solution in SOLUTIONS for claim in self._figure_3(solution)),
            *self._figure_4(),
            *self._figure_5(),
            *self._table_3(),
        ]

    def _curve(
        self,
        name: str,
        source: str,
        statement: str,
        systems: Callable[[], Mapping[str, System]],
        metric: str,
        value: Callable[[Values], np.ndarray],
        quantity: str,
        **fields: Any,
    ) -> dpaudit.FigureClaim:
        """A number made of one metric of several systems on the same profiles, with each system's own beside it."""

        def measure(runs: int, rng: np.random.Generator) -> Values:
            found = self.solution("rr").compete(runs, rng, systems())
            values = {system: both[metric] for system, both in found.items()}
            return {"value": value(values), **values}

        common: dict[str, Any] = {
            "published": 0.0,
            "direction": "at-most",
            "runs": 400,
            "support": (-1.0, 1.0),
            "beside_support": (0.0, 1.0),
            "scope": self._scope(),
            "on_data": True,
        }
        return dpaudit.FigureClaim(
            id=f"yan2020.{name}",
            source=f"{PAPER}, {source}",
            statement=statement,
            reproduces=f"Figure {name[6]}",
            measure=measure,
            quantity=quantity,
            **{**common, **fields},
        )

    def _scope(self) -> str:
        if self.profile is not None:
            return f"the data, under new labels in every run, ϵ = {self.epsilon:g}"
        phi = self.solution("rr").phi
        return f"Mallows model with phi {phi:.6g}, n = {self.agents}, m = {self.alternatives}, ϵ = {self.epsilon:g}"

    # Figure 3: the number of queries.

    def half(self) -> int:
        """K = ϵ/2 of Section 5.2, at least 1."""
        return min(max(1, round(self.epsilon / 2)), self.pairs)

    def listed(self) -> list[int]:
        """K of Figure 3, and ϵ/2."""
        few = {k for k in (*FEW_QUERIES, self.alternatives + 1) if k <= self.pairs}
        return sorted({*few, self.pairs, self.half()})

    def rival(self, solution: str) -> int:
        """Of the K of Figure 3 other than ϵ/2, that with the largest K (2 p - 1)^2, the exponent of Equation 4."""
        protocol = self.solution(solution)
        others = (k for k in self.listed() if k != self.half())
        return max(others, key=lambda k: k * protocol.bias(k) ** 2)

    def expected_error_rate(self, solution: str, queries: int) -> float:
        """Exact expected error rate of the estimated signs against the ground truth."""
        protocol = self.solution(solution, queries=queries)
        m = self.alternatives
        agree = rankings.Mallows(np.arange(m), protocol.phi).pairwise_probability()[0]
        return math.fsum((m - d) * protocol.pair_error(float(agree[d])) for d in range(1, m)) / self.pairs

    def _figure_3(self, solution: str) -> list[dpaudit.Claim]:
        words, half, rival = SOLUTIONS[solution], self.half(), self.rival(solution)
        statement = f"Of all K of Figure 3 the error of {words} is least at K = ϵ/2, or at 1 where ϵ is at most 2."

        def systems() -> dict[str, System]:
            return {f"K = {k}": _estimator(self.solution(solution, queries=k)) for k in self.listed()}

        def least() -> float:
            return self.expected_error_rate(solution, half) - min(
                self.expected_error_rate(solution, k) for k in self.listed() if k != half
            )

        def rising() -> float:
            rates = [self.expected_error_rate(solution, k) for k in self.listed()]
            return max(rates[i] - rates[i + 1] for i in range(len(rates) - 1))

        exact: dict[str, Any] = {
            "source": f"{PAPER}, Section 5.2",
            "reproduces": "Figure 3",
            "bound": 0.0,
            "support": (-1.0, 1.0),
            "scope": f"{self._scope()}; errors against the ground truth, of which a majority of the agents is certain",
            "inapplicable": "" if self.profile is None else "the ground truth of the data is not known",
        }
        not_said = "" if self.epsilon <= 2 else "said of ϵ = 1 and ϵ = 2"
        return [
            *(
                self._curve(
                    f"figure3-{metric}-{solution}",
                    "Section 5.2",
                    statement,
                    systems,
                    metric,
                    lambda found: found[f"K = {half}"] - found[f"K = {rival}"],
                    f"{METRICS[metric]} at K = {half} less that at K = {rival}, by Equation 4 the best other K",
                    runs=200,
                )
                for metric in METRICS
            ),
            dpaudit.UtilityClaim(
                id=f"yan2020.figure3-least-{solution}",
                statement=statement,
                exact=least,
                quantity=f"expected error rate at K = {half} less the least at any other K of the figure",
                **exact,
            ),
            dpaudit.UtilityClaim(
                id=f"yan2020.figure3-rising-{solution}",
                statement=f"At ϵ = 1 and ϵ = 2 the error of {words} grows with K.",
                exact=rising,
                quantity="largest decrease of the expected error rate from one K of the figure to the next",
                **{**exact, "inapplicable": exact["inapplicable"] or not_said},
            ),
        ]

    # Figure 4: the budget.

    def _figure_4(self) -> list[dpaudit.Claim]:
        def halved(solution: str) -> Callable[[], dict[str, System]]:
            return lambda: {
                "at this budget": _estimator(self.solution(solution)),
                "at half the budget": _estimator(self.solution(solution, epsilon=self.epsilon / 2)),
            }

        def against(competitor: str) -> Callable[[], dict[str, System]]:
            return lambda: {name: self.systems()[name] for name in ("kwiksort", competitor)}

        def less(one: str, other: str) -> Callable[[Values], np.ndarray]:
            return lambda found: found[one] - found[other]

        section, tau = "Section 5.3", METRICS["kendall-tau"]
        competitors = {"dp": "dp-kwiksort", "rr": "ldp-kwiksort-rr", "lap": "ldp-kwiksort-lap"}
        return [
            *(
                self._curve(
                    f"figure4-{metric}",
                    section,
                    f"LDP-KwikSort:RR's {METRICS[metric]} is at most LDP-KwikSort:Lap's.",
                    self.systems,
                    metric,
                    less("ldp-kwiksort-rr", "ldp-kwiksort-lap"),
                    f"{METRICS[metric]}, RR less Lap",
                )
                for metric in METRICS
            ),
            *(
                self._curve(
                    f"figure4-lower-bound-{short}",
                    section,
                    f"KwikSort's {tau} is the lower bound: at most that of {system}.",
                    against(system),
                    "kendall-tau",
                    less("kwiksort", system),
                    f"{tau}, kwiksort less {system}",
                )
                for short, system in competitors.items()
            ),
            self._curve(
                "figure4-dp-approaches",
                section,
                f"DP-KwikSort's {tau} approaches KwikSort's: it is at most {NEAR:g} above it (a constant chosen here).",
                against("dp-kwiksort"),
                "kendall-tau",
                less("dp-kwiksort", "kwiksort"),
                f"{tau}, DP-KwikSort ({self.logarithm} logarithm) less KwikSort",
                published=NEAR,
            ),
            *(
                self._curve(
                    f"figure4-{metric}-improves-{solution}",
                    section,
                    f"The {METRICS[metric]} of {words} falls as the budget grows.",
                    halved(solution),
                    metric,
                    less("at this budget", "at half the budget"),
                    f"{METRICS[metric]} at ϵ less that at ϵ/2",
                )
                for solution, words in SOLUTIONS.items()
                for metric in METRICS
            ),
        ]

    # Figure 5: agents and alternatives.

    def _figure_5(self) -> list[dpaudit.Claim]:
        return [
            self._gap("of-lap", "as a share of Lap's", over="ldp-kwiksort-lap"),
            self._gap("of-rr", "as a share of RR's", over="ldp-kwiksort-rr"),
            self._gap("in-points", "in points of the normalised distance", over=None),
            self._more_alternatives(),
            self._few_agents(),
        ]

    def _gap(self, reading: str, words: str, *, over: str | None) -> dpaudit.FigureClaim:
        """The gap between RR and Lap in percent; the text leaves open what it is a percentage of."""

        def measure(runs: int, rng: np.random.Generator) -> Values:
            found = self.solution("rr").compete(runs, rng, self.systems())
            distance = {name: both["kendall-tau"] for name, both in found.items()}
            gap = distance["ldp-kwiksort-lap"] - distance["ldp-kwiksort-rr"]
            return {"value": gap} if over is None else {"value": gap, "over": distance[over]}

        return dpaudit.FigureClaim(
            id=f"yan2020.figure5-gap-{reading}",
            source=f"{PAPER}, Sections 5.4 and 5.5",
            statement=f"The average Kendall tau distance of RR is below that of Lap by this percentage, {words}.",
            reproduces="Figure 5",
            measure=measure,
            runs=200,
            published_runs=RUNS,
            factor=100.0,
            support=(-1.0, 1.0),
            over_support=(0.0, 1.0),
            quantity=f"gap between Lap and RR in percent, {words}",
            scope=self._scope(),
            on_data=True,
        )

    def _more_alternatives(self) -> dpaudit.FigureClaim:
        """Figure 5(d)-(l): KwikSort's own distance at m and at m - 15."""
        fewer = self.alternatives - 15

        def measure(runs: int, rng: np.random.Generator) -> Values:
            few = type(self)(**{**self.parameters(), "alternatives": fewer})
            sizes = {f"m = {fewer}": few, f"m = {self.alternatives}": self}
            found = {name: size.kwiksort_distance(runs, rng) for name, size in sizes.items()}
            return {"value": found[f"m = {self.alternatives}"] - found[f"m = {fewer}"], **found}

        return dpaudit.FigureClaim(
            id="yan2020.figure5-kwiksort-decreases",
            source=f"{PAPER}, Section 5.4",
            statement="KwikSort's average Kendall tau distance falls with more alternatives, from m = 15 to m = 45.",
            reproduces="Figure 5",
            inapplicable="" if fewer >= 15 else "said of m = 15, 30 and 45: compare 30 with 15, or 45 with 30",
            measure=measure,
            runs=100,
            published=0.0,
            direction="at-most",
            support=(-1.0, 1.0),
            beside_support=(0.0, 1.0),
            quantity=f"KwikSort's {METRICS['kendall-tau']} at m = {self.alternatives} less that at m = {fewer}",
            scope=self._scope(),
        )

    def kwiksort_distance(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """KwikSort's distance to the profile, shape (runs,)."""
        alone: dict[str, Any] = {"kwiksort": lambda orders, margins, rng: margins}
        found: np.ndarray = self.solution("rr").compete(runs, rng, alone)["kwiksort"]["kendall-tau"]
        return found

    def _few_agents(self) -> dpaudit.FigureClaim:
        """Figure 5(b): KwikSort on the rankings of some of the agents of TurkPuzzle."""
        profile = self.profile
        is_puzzle = profile is not None and (profile.agents, profile.alternatives) == TURK_PUZZLE

        def measure(runs: int, rng: np.random.Generator) -> Values:
            assert profile is not None
            orders = profile.rankings()
            found = {}
            for agents in (*AGENTS_OF_FIGURE_5B, len(orders)):
                asked = np.argsort(rng.random((runs, len(orders))), axis=1)[:, :agents]
                margins = rankings.profile_margins(orders[asked])
                chosen = rankings.kwiksort(rankings.comparisons(margins, rng), rng)
                found[f"n = {agents}"] = rankings.margin_distance(chosen, margins, agents)
            return {"value": found["n = 100"], **found}

        return dpaudit.FigureClaim(
            id="yan2020.figure5-kwiksort-at-100",
            source=f"{PAPER}, Section 5.4",
            statement="In Figure 5(b) KwikSort's average Kendall tau distance is below 0.4 at n = 100.",
            reproduces="Figure 5",
            inapplicable=""
            if is_puzzle
            else "said of the rankings of TurkPuzzle (n = 793, m = 4): give them with --data",
            measure=measure,
            runs=400,
            published=0.4,
            direction="at-most",
            support=(0.0, 1.0),
            quantity="KwikSort's average normalised Kendall tau distance at n = 100",
            scope="rankings of n agents of the data, drawn without replacement, and the distance to those",
            on_data=True,
        )

    # Table 3: times.

    def _table_3(self) -> list[dpaudit.FigureClaim]:
        m = self.alternatives
        return [
            self._times(
                "kwiksort-least",
                "KwikSort takes the least time of the four.",
                "KwikSort's time over the least of the others'",
                lambda seconds: seconds["kwiksort"] / np.min([seconds[name] for name in PRIVATE], axis=0),
            ),
            self._times(
                "dp-small-increase",
                f"DP-KwikSort takes little more time than KwikSort: at most {SMALL_SHARE:g} of that of either solution "
                "of LDP-KwikSort (a constant chosen here).",
                "time of DP-KwikSort's noise over that of the faster solution",
                lambda seconds: seconds["noise"] / np.min([seconds[name] for name in PRIVATE[1:]], axis=0),
                bound=SMALL_SHARE,
            ),
            self._times(
                "rr-faster",
                "At few alternatives, m = 4 and m = 5, RR takes less time than Lap.",
                "RR's time over Lap's",
                lambda seconds: seconds["ldp-kwiksort-rr"] / seconds["ldp-kwiksort-lap"],
                inapplicable="" if m <= 5 else "said of m = 4 and m = 5",
            ),
            self._times(
                "rr-slower",
                "From m = 15 on RR takes more time than Lap.",
                "Lap's time over RR's",
                lambda seconds: seconds["ldp-kwiksort-lap"] / seconds["ldp-kwiksort-rr"],
                inapplicable="" if m >= 15 else "said of m = 15 and more",
            ),
        ]

    def _times(
        self,
        name: str,
        statement: str,
        quantity: str,
        quotient: Callable[[Values], np.ndarray],
        *,
        bound: float = 1.0,
        inapplicable: str = "",
    ) -> dpaudit.FigureClaim:
        """A quotient of times, as its decimal logarithm, so that one long pause does not decide the mean."""

        def measure(runs: int, rng: np.random.Generator) -> Values:
            seconds = self.seconds(runs, rng)
            logarithm = np.log10(quotient(seconds)).clip(-LARGEST_LOGARITHM, LARGEST_LOGARITHM)
            return {"value": logarithm, **{f"{system} seconds": taken for system, taken in seconds.items()}}

        return dpaudit.FigureClaim(
            id=f"yan2020.table3-{name}",
            source=f"{PAPER}, Section 5.6",
            statement=statement,
            reproduces="Table 3",
            inapplicable=inapplicable,
            measure=measure,
            runs=120,
            published=math.log10(bound),
            tolerance=math.log10(CLEAR_FACTOR),
            direction="at-most",
            support=(-LARGEST_LOGARITHM, LARGEST_LOGARITHM),
            beside_support=(0.0, 10.0**LARGEST_LOGARITHM),
            quantity=f"decimal logarithm of: {quantity}",
            scope=f"{self._scope()}; seconds of one run, all agents and the curator, all agents in one vectorised step",
            on_data=True,
            timed=True,
        )

    def seconds(self, runs: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Seconds that each system takes for one profile, shape (runs,).

        As in the paper: the agents' part and the curator's, without drawing the rankings and without counting the true
        margins that KwikSort and DP-KwikSort start from. Unlike there, all agents are one step of array operations, so
        that the times of the solutions say little of code that asks one agent after the other. ``noise`` is what
        DP-KwikSort does besides KwikSort.
        """
        systems, protocol = self.systems(), self.solution("rr")
        central = self.central()
        steps = {name: _sorted_by(protocol, system) for name, system in systems.items()}
        steps["noise"] = lambda orders, margins, rng: central.noise_of(1, rng)
        taken: dict[str, list[float]] = {name: [] for name in steps}
        turns = list(steps.items())
        for _ in range(runs):
            orders, margins = protocol.profiles(1, rng)
            # Whoever begins finds the processor's caches full of other things: take turns.
            turns = [*turns[1:], turns[0]]
            for name, step in turns:
                started = time.perf_counter()
                step(orders, margins, rng)
                # A clock that ticks slowly may see no time pass.
                taken[name].append(max(time.perf_counter() - started, 1e-9))
        return {name: np.array(values) for name, values in taken.items()}


@cache
def _target(name: str) -> Any:
    return dpaudit.load(name)


def _estimator(protocol: Any) -> System:
    return lambda orders, margins, rng: protocol.estimate([orders], rng)


def _sorted_by(protocol: Any, system: System) -> System:
    return lambda orders, margins, rng: protocol.aggregate(system(orders, margins, rng), rng)
