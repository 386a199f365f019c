"""The cost of a ranking as a sum over pairs: Notation, and Fact 2."""

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

import dpaudit
from dpaudit import rankings

from ..marginals_reduction import MarginalsReduction
from ..paper import CENTRAL, NOTATION, PAPER

FACT2 = PAPER.at(section=CENTRAL, fact=2)
LISTED_ALTERNATIVES = 4
"""Most alternatives over which all profiles of one or two agents are listed."""


@dpaudit.claim(
    "alabi2022.kemeny-formula",
    MarginalsReduction,
    kind="lemma",
    place=PAPER.at(section=NOTATION),
    statement="For every σ and Π: K(σ, Π) is the sum of w_ji over the i, j with σ(i) <= σ(j), where w_ii = 0.",
)
def kemeny_formula(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    m = reduction.alternatives
    listed = [{"profile": rows} for rows in _small_profiles(m)] if m <= LISTED_ALTERNATIVES else []
    return dpaudit.LemmaClaim(
        margin=lambda profile: -abs(_by_definition(profile) - _by_weights(profile)),
        instances=listed,
        complete=bool(listed),
        variables={} if listed else {"profile": dpaudit.RankingProfiles(6, m)},
        explain=lambda profile: {"actual": _by_weights(profile), "claimed": _by_definition(profile)},
        scope="first row σ, the others Π; "
        + (f"all profiles of 1 or 2 agents over {m} alternatives, up to their names" if listed else "drawn"),
    )


@dpaudit.claim(
    "alabi2022.fact2",
    MarginalsReduction,
    kind="lemma",
    place=FACT2,
    statement="For every σ, w and v: |K(σ, w) - K(σ, v)| is at most the sum of all |w_ji - v_ji|.",
)
def fact2(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return _on_matrices(constrained=False)


@dpaudit.claim(
    "alabi2022.fact2-halved",
    MarginalsReduction,
    kind="lemma",
    place=FACT2,
    ours=True,
    statement=(
        "For every σ, and w and v with w_ij + w_ji = v_ij + v_ji = 1: |K(σ, w) - K(σ, v)| is at most half the sum of "
        "all |w_ji - v_ji|, so that C(m, 2) does for m^2 in Theorem 1."
    ),
)
def fact2_halved(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return _on_matrices(constrained=True)


@dpaudit.claim(
    "alabi2022.theorem1-core",
    MarginalsReduction,
    kind="lemma",
    place=PAPER.at(section=CENTRAL, theorem=1, part="proof"),
    statement=(
        "For every α >= 1, σ, and w and w~ with w_ij + w_ji = 1: K(σ, w~) <= α OPT(w~) implies K(σ, w) <= α OPT(w) + "
        "(α + 1) times the sum of all |w_ji - w~_ji|."
    ),
)
def theorem1_core(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    names = [f"{matrix}_{pair}" for matrix in ("w", "w~") for pair in ("01", "02", "12")]

    def costs(alpha: float, values: Mapping[str, float]) -> dict[str, float]:
        """Both sides for the costliest σ that meets the condition."""
        w, noisy = (
            np.array([[0.5, w01, w02], [1 - w01, 0.5, w12], [1 - w02, 1 - w12, 0.5]])
            for w01, w02, w12 in ([values[name] for name in half] for half in (names[:3], names[3:]))
        )
        places = rankings.positions(rankings.all_rankings(3))
        before = places[:, :, None] < places[:, None, :]
        cost, seen = ((before * matrix.T).sum(axis=(1, 2)) for matrix in (w, noisy))
        bound = alpha * cost.min() + (alpha + 1) * np.abs(w - noisy).sum()
        return {"actual": float(cost[seen <= alpha * seen.min()].max()), "claimed": float(bound)}

    def margin(alpha: float, **values: float) -> float:
        sides = costs(alpha, values)
        return sides["claimed"] - sides["actual"]

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{"alpha": 1.0} | dict.fromkeys(names, 0.5), {"alpha": 5.0} | {n: float(len(n) == 4) for n in names}],
        variables={"alpha": dpaudit.Reals(1.0, 10.0)} | {name: dpaudit.Reals(0.0, 1.0) for name in names},
        explain=lambda alpha, **values: costs(alpha, values),
        tolerance=1e-9,
        scope="all rankings σ of 3 alternatives that meet the condition, drawn weights, α from 1 to 10",
    )


def _on_matrices(*, constrained: bool) -> dpaudit.LemmaClaim:
    """Fact 2 for drawn matrices; halved, for those that obey the probability constraint."""
    names = [f"{matrix}_{i}{j}" for matrix in "wv" for i in range(3) for j in range(3) if i != j]
    used = [n for n in names if n[-2] < n[-1]] if constrained else names
    low, high = (0.0, 1.0) if constrained else (-10.0, 10.0)
    return dpaudit.LemmaClaim(
        margin=lambda **values: fact2_margin(values, constrained=constrained),
        instances=[dict.fromkeys(used, 0.5), {n: float(n[0] == "w") for n in used}],
        variables={n: dpaudit.Reals(low, high) for n in used},
        tolerance=1e-9,
        scope="all rankings σ of 3 alternatives, drawn matrices"
        + (" with the probability constraint" if constrained else ""),
    )


def fact2_margin(values: Mapping[str, float], *, constrained: bool) -> float:
    """Least, over the rankings of 3 alternatives, of the (halved) sum of |w_ji - v_ji| less |K(σ, w) - K(σ, v)|."""
    difference = np.zeros((3, 3))
    for name, value in values.items():
        i, j = int(name[-2]), int(name[-1])
        difference[i, j] += value if name[0] == "w" else -value
        if constrained:
            difference[j, i] = -difference[i, j]
    places = rankings.positions(rankings.all_rankings(3))
    before = places[:, :, None] < places[:, None, :]
    changes = np.abs((before * difference.T).sum(axis=(1, 2)))
    total = np.abs(difference).sum() / (2 if constrained else 1)
    return float(total - changes.max())


def _small_profiles(alternatives: int) -> Iterator[np.ndarray]:
    """List the profiles of one or two agents, each below the identity as σ."""
    every = rankings.all_rankings(alternatives)
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
