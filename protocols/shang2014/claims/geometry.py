"""Section III-A, and Section III-B up to Lemma 1: profiles as points of the simplex of shares."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

import dpaudit
from dpaudit import rankings

from ..bounds import rule_of
from ..exact_errors import largest_pair_distance, pair_distance_density, pair_flip_probability
from ..gaussian_histogram import GaussianHistogram
from ..paper import PAPER
from ..positional import PositionalRule
from .shared import relative, setting, unless_measurable, unless_positional

MOST_LISTED = 6
"""Alternatives up to which all rankings are listed."""


@dpaudit.claim(
    "shang2014.proposition1",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-A", proposition=1),
    statement="Noise with σ̂^2 = 2 ln(2/δ) / (ϵN)^2 on the shares errs as often as Eq. 5's on counts.",
)
def proposition1(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    claimed_noise = math.sqrt(2 * math.log(2 / system.failure)) / (system.epsilon * system.agents)

    def flips() -> dict[str, float]:
        sizes = {"claimed": claimed_noise, "actual": system.share_noise}
        return {name: pair_flip_probability(rule_of(system), size) for name, size in sizes.items()}

    return dpaudit.LemmaClaim(
        margin=lambda: -abs(relative(**flips())),
        instances=[{}],
        complete=True,
        explain=flips,
        tolerance=1e-9,
        scope=f"probability that a given pair is reversed, {setting(system)}",
        inapplicable=unless_positional(system),
    )


@dpaudit.claim(
    "shang2014.proposition1-meant",
    GaussianHistogram,
    kind="lemma",
    place=[PAPER.at(section="III-A", proposition=1), PAPER.at(section="II-A", equation=2)],
    statement="The ranking of α q̂ is that of q̂ for every α > 0, even where counts are negative.",
)
def proposition1_meant(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    cells = math.factorial(system.alternatives)

    def margin(seed: int, log_factor: float) -> float:
        histogram = np.random.default_rng(seed).normal(system.agents / cells, system.noise.scale, size=(1, cells))
        orders = [system.aggregate(q, np.random.default_rng(0)) for q in (histogram, math.exp(log_factor) * histogram)]
        return 0.0 if np.array_equal(orders[0], orders[1]) else -1.0

    return dpaudit.LemmaClaim(
        margin=margin,
        variables={"seed": dpaudit.Integers(0, 2**32 - 1), "log_factor": dpaudit.Reals(-8.0, 8.0)},
        scope=f"{system.rule}, noisy histograms drawn by seed, ln α from -8 to 8",
        inapplicable=unless_measurable(system),
    )


@dpaudit.claim(
    "shang2014.distance-range",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B"),
    statement="The distance of a profile from the hyperplane of a pair is at most √2.",
)
def distance_range(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    largest = largest_pair_distance(rule_of(system))
    return dpaudit.LemmaClaim(
        margin=lambda: math.sqrt(2) - largest,
        instances=[{}],
        complete=True,
        explain=lambda: {"claimed": math.sqrt(2), "actual": largest, "1 / sqrt 2": 1 / math.sqrt(2)},
        scope=setting(system),
        inapplicable=unless_positional(system),
    )


@dpaudit.claim(
    "shang2014.equation9",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", equation=9),
    statement="p_D is the same on both sides of 0, and has half of its mass from 0 to √2.",
)
def equation9(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    rule = rule_of(system)

    def sides(distance: float) -> dict[str, float]:
        there, opposite = pair_distance_density(rule, [distance, -distance]).tolist()
        # With noise beyond all bounds every other pair is reversed.
        return {"density": there, "at the opposite": opposite, "mass above 0": pair_flip_probability(rule, 1e12)}

    return dpaudit.LemmaClaim(
        margin=lambda distance: (
            -max(
                abs(sides(distance)["density"] - sides(distance)["at the opposite"]),
                abs(sides(distance)["mass above 0"] - 0.5),
            )
        ),
        instances=[{"distance": distance} for distance in np.linspace(0, largest_pair_distance(rule), 21).tolist()],
        complete=True,
        explain=sides,
        tolerance=1e-8,
        scope=f"{setting(system)}; 21 distances, and the integral",
        inapplicable=unless_positional(system),
    )


@dpaudit.claim(
    "shang2014.lemma1",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", lemma=1),
    statement="The density of the distance is largest at 0.",
)
def lemma1(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    rule, three = rule_of(system), system.alternatives == 3

    def density(distance: float, middle: float | None) -> float:
        own = rule if middle is None else PositionalRule((1.0, middle, 0.0))
        return float(pair_distance_density(own, distance))

    return dpaudit.LemmaClaim(
        margin=lambda distance, middle=None: density(0.0, middle) - density(distance, middle),
        instances=[{"distance": distance} for distance in np.linspace(0, largest_pair_distance(rule), 201).tolist()],
        variables={"distance": dpaudit.Reals(0.0, 1 / math.sqrt(2)), "middle": dpaudit.Reals(0.0, 1.0)}
        if three
        else {},
        tolerance=1e-9,
        scope=f"{system.rule} at 201 distances" + "; scores (1, s, 0)" * three,
        inapplicable=unless_positional(system),
    )


@dpaudit.claim(
    "shang2014.equation13",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", lemma=1, part="proof", equation=13),
    statement="At every distance s the slice of the simplex has volume √M! G(s) / Γ(M! - 1).",
)
def equation13(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    return _slices(system, (0.0, 0.1, 0.2, 0.4, 1 / math.sqrt(2), 1.0))


@dpaudit.claim(
    "shang2014.equation13-mended",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", lemma=1, part="proof", equation=13, note="through the origin, as Equation 12"),
    statement="The slice of the simplex at distance 0 has volume √M! G(0) / Γ(M! - 1).",
    ours=True,
)
def equation13_mended(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    return _slices(system, (0.0,))


def _slices(system: GaussianHistogram, distances: Sequence[float]) -> dpaudit.LemmaClaim:
    """Volumes of slices at given distances against the density G of Equation 11, both over that of the simplex."""
    rule = rule_of(system)
    gaps, counts = rule.gap_coefficients()
    upper = [(gap / rule.gap_norm, n) for gap, n in zip(gaps.tolist(), counts.tolist(), strict=True) if gap > 0]

    def density(distance: float) -> float:
        return float(pair_distance_density(rule, distance))

    def exponential_density(s: float) -> float:
        """(M! - 1) G(s), where G is the density of the same linear form of independent exponential variables."""
        from scipy.integrate import quad

        def transformed(u: float) -> float:
            """Characteristic function at t = sinh u, times cos(s t) dt / du."""
            t = math.sinh(u)
            log = sum(n * math.log1p((gap * t) ** 2) for gap, n in upper)
            return math.cos(s * t) * math.exp(-log) * math.cosh(u)

        form = quad(transformed, 0, 15, limit=500)
        return float((math.factorial(system.alternatives) - 1) * form[0] / math.pi)

    return dpaudit.LemmaClaim(
        margin=lambda distance: -abs(density(distance) - exponential_density(distance)),
        instances=[{"distance": distance} for distance in distances],
        complete=len(distances) == 1,
        explain=lambda distance: {"claimed": exponential_density(distance), "actual": density(distance)},
        tolerance=1e-6,
        scope="both over the volume of the simplex",
        inapplicable=unless_positional(system),
    )


@dpaudit.claim(
    "shang2014.equation15",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", lemma=1, part="proof", equation=15),
    statement="For every positional rule and t, φ_Y(t) is the product of 1 / (1 + β_j² t²) over half of the rankings.",
)
def equation15(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    rule, m = rule_of(system), system.alternatives
    inapplicable = unless_positional(system) or _unless_listed(system)
    entries = [] if inapplicable else [_entry(rule, np.array(order)) for order in rankings.all_rankings(m).tolist()]
    frequency = Counter(round(entry, 12) + 0.0 for entry in entries)

    def sides(entry: float) -> dict[str, float]:
        return {"claimed": frequency[entry], "actual": frequency[-entry]}

    return dpaudit.LemmaClaim(
        margin=lambda entry: -abs(sides(entry)["claimed"] - sides(entry)["actual"]),
        instances=[{"entry": entry} for entry in sorted(frequency)],
        complete=True,
        explain=sides,
        scope=f"{setting(system)}; how many rankings have each entry of β, and how many the opposite one: factors of "
        "Equation 14 with opposite entries multiply to a factor of Equation 15",
        inapplicable=inapplicable,
    )


@dpaudit.claim(
    "shang2014.equation15-reversal",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", lemma=1, part="proof", equation=15, note="the sentence before it"),
    statement="For every positional rule β has opposite entries at a ranking and at its reversal.",
)
def equation15_reversal(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    return _opposite(system, lambda order: order[::-1])


@dpaudit.claim(
    "shang2014.equation15-reversal-mended",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(
        section="III-B", lemma=1, part="proof", equation=15, note="the sentence before it, with the pair exchanged"
    ),
    statement="For every positional rule β has opposite entries at a ranking and at that with the pair exchanged.",
    ours=True,
)
def equation15_reversal_mended(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    exchanged = np.r_[1, 0, np.arange(2, system.alternatives)]
    return _opposite(system, lambda order: exchanged[order])


def _opposite(system: GaussianHistogram, partner: Callable[[np.ndarray], np.ndarray]) -> dpaudit.LemmaClaim:
    """β of the hyperplane of alternatives 0 and 1 at each ranking, against that at its partner."""
    rule, m = rule_of(system), system.alternatives

    def sides(ranking: Sequence[int]) -> dict[str, float]:
        order = np.array(ranking)
        return {"claimed": -_entry(rule, order), "actual": _entry(rule, np.asarray(partner(order)))}

    return dpaudit.LemmaClaim(
        margin=lambda ranking: -abs(sides(ranking)["claimed"] - sides(ranking)["actual"]),
        instances=[{"ranking": order} for order in rankings.all_rankings(m).tolist()] if m <= MOST_LISTED else [{}],
        complete=True,
        explain=sides,
        scope=f"{setting(system)}; every ranking",
        inapplicable=unless_positional(system) or _unless_listed(system),
    )


def _entry(rule: PositionalRule, order: np.ndarray) -> float:
    """Entry of β, the unit normal of the hyperplane of alternatives 0 and 1, at a ranking."""
    places = rankings.positions(order)
    return float((rule.scores[int(places[0])] - rule.scores[int(places[1])]) / rule.gap_norm)


def _unless_listed(system: GaussianHistogram) -> str:
    return "" if system.alternatives <= MOST_LISTED else f"listed up to M = {MOST_LISTED}"
