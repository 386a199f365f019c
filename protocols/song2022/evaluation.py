"""The experiments of Song, Lan, Li, Li 2022 on protocols and on K (Sections 4.2.1 and 4.2.2), measured again.

A figure's curve is the average Kendall tau distance, so each claim is about the difference of two such distances. They
are stated at the paper's settings; those of a result are its parameters.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .collection import Votes, true_margins
from .ddp_helnaksort import DDPHelnaksort
from .ldp_quicksort import quicksort
from .paired import Curve, by_levels, by_pivots, paired
from .paper import PAPER


def response_at(protocol: DDPHelnaksort, epsilon: float, queries: int) -> Any:
    """Randomizer of one answer, where an agent with the budget ϵ gives K answers: that of its report."""
    return protocol.report.but(epsilon=epsilon, queries=queries).response


def not_above(
    protocol: DDPHelnaksort,
    one: tuple[str, Any, Curve],
    other: tuple[str, Any, Curve],
    scope: str,
    inapplicable: str = "",
) -> dpaudit.FigureClaim:
    """Claim that the first curve is not above the second: each a name, a randomizer and what makes a distance."""

    def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        found = paired(protocol, runs, rng, {name: (response, curve) for name, response, curve in (one, other)})
        return {"value": found[one[0]] - found[other[0]], **found}

    return dpaudit.FigureClaim(
        measure=measure,
        direction="at-most",
        published=0.0,
        runs=40_000,
        support=(-1.0, 1.0),
        beside_support=(0.0, 1.0),
        quantity=f"average Kendall tau distance, {one[0]} less {other[0]}",
        scope=f"{scope}, {protocol.where()}, δ = {protocol.delta:g}",
        inapplicable=inapplicable,
    )


# Figure 2: the protocols at equal local ϵ.


@dpaudit.claim(
    "song2022.figure2-kwiksort",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.1", figure=2),
    statement=(
        "On TurkDots, and here on Mallows profiles with θ = 0.25 too: at local ϵ = 1, δ = 1e-4, n = 100, m = 4 and K "
        "of 1, m and C(m, 2), DDP-Helnaksort is at least as near to the agents as LDP-KwikSort."
    ),
    on_data=True,
    reproduces="Figure 2",
    only={"epsilon": 1.0, "delta": 1e-4, "agents": 100, "alternatives": 4, "queries": (1, 4, 6), "dispersion": 0.25},
)
def figure2_kwiksort(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    return _against(protocol, "LDP-KwikSort", by_pivots(protocol.queries))


@dpaudit.claim(
    "song2022.figure2-quicksort",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.1", figure=2),
    statement=(
        "On TurkDots, and here on Mallows profiles with θ = 0.25 too: at local ϵ = 1, δ = 1e-4, n = 100, m = 4 and K "
        "of 1, m and C(m, 2), DDP-Helnaksort is at least as near to the agents as LDP-QuickSort."
    ),
    on_data=True,
    reproduces="Figure 2",
    only={"epsilon": 1.0, "delta": 1e-4, "agents": 100, "alternatives": 4, "queries": (1, 4, 6), "dispersion": 0.25},
)
def figure2_quicksort(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    def curve(votes: Votes, preferred: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        order = quicksort(votes, protocol.queries, rng)
        return rankings.margin_distance(order, true_margins(preferred), preferred.shape[1])

    return _against(protocol, "LDP-QuickSort", curve)


def _against(protocol: DDPHelnaksort, title: str, curve: Curve) -> dpaudit.FigureClaim:
    response = response_at(protocol, protocol.local_epsilon, protocol.queries)
    return not_above(
        protocol,
        ("DDP-Helnaksort", response, by_levels(protocol.queries)),
        (title, response, curve),
        f"local ϵ = {protocol.local_epsilon:.4g}, K = {protocol.queries}",
    )


# Section 3.1 and Figure 3: the number of answers K.


@dpaudit.claim(
    "song2022.more-answers",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="3.1"),
    statement=(
        "At m = 4, n = 100 and equal noise of each answer, here that for ϵ, a larger K leads to a more accurate "
        "ranking."
    ),
    on_data=True,
    only={"agents": 100, "alternatives": 4},
)
def more_answers(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    response = response_at(protocol, protocol.local_epsilon, 1)
    return not_above(
        protocol,
        (f"K = {protocol.queries}", response, by_levels(protocol.queries)),
        ("K = 1", response, by_levels(1)),
        f"ϵ = {protocol.local_epsilon:.4g} for each answer",
        _larger(protocol),
    )


@dpaudit.claim(
    "song2022.kwiksort-best-at-one",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.1.2"),
    statement="At m = 4, n = 100, δ = 1e-4 and local ϵ = 1 the utility of LDP-KwikSort is the highest at K = 1.",
    on_data=True,
    only={"epsilon": 1.0, "delta": 1e-4, "agents": 100, "alternatives": 4},
)
def kwiksort_best_at_one(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    return _one_against(protocol, by_pivots, "LDP-KwikSort with ")


@dpaudit.claim(
    "song2022.figure3",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.2", figure=3),
    statement=(
        "On TurkDots, and here on Mallows profiles with θ = 0.25 too: at central ϵ of 0.5 and 1, δ = 1e-4, n = 100 "
        "and m = 4, panel (a), and every K > 1, DDP-Helnaksort is at least as near to the agents with K = 1."
    ),
    on_data=True,
    reproduces="Figure 3",
    only={"central_epsilon": (0.5, 1.0), "delta": 1e-4, "agents": 100, "alternatives": 4, "dispersion": 0.25},
)
def figure3(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    return _one_against(protocol, by_levels)


@dpaudit.claim(
    "song2022.figure3-synthetic",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.2", figure=3),
    statement=(
        "On Mallows profiles with θ = 0.25: at central ϵ of 0.5 and 1, δ = 1e-4, n = 100 and m = 15, panel (b), and "
        "every K > 1, DDP-Helnaksort is at least as near to the agents with K = 1."
    ),
    reproduces="Figure 3",
    only={"central_epsilon": (0.5, 1.0), "delta": 1e-4, "agents": 100, "alternatives": 15, "dispersion": 0.25},
)
def figure3_synthetic(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    return _one_against(protocol, by_levels)


@dpaudit.claim(
    "song2022.figure3-beyond",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.2", figure=3, note="at other ϵ than the figure's"),
    statement="At every local ϵ, δ, n, m and K > 1 DDP-Helnaksort is at least as near to the agents with K = 1.",
    ours=True,
    on_data=True,
)
def figure3_beyond(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    return _one_against(protocol, by_levels)


@dpaudit.claim(
    "song2022.figure3-monotone",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.2", figure=3),
    statement=(
        "On TurkDots, and here on Mallows profiles with θ = 0.25 too: at central ϵ of 0.5 and 1, δ = 1e-4, n = 100 "
        "and m = 4, panel (a), the performance is better as K decreases: at K - 1 DDP-Helnaksort is at least as near "
        "to the agents as at K."
    ),
    on_data=True,
    reproduces="Figure 3",
    only={"central_epsilon": (0.5, 1.0), "delta": 1e-4, "agents": 100, "alternatives": 4, "dispersion": 0.25},
)
def figure3_monotone(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    return _fewer_against(protocol, protocol.queries - 1, by_levels)


def _one_against(protocol: DDPHelnaksort, curve: Any, title: str = "") -> dpaudit.FigureClaim:
    return _fewer_against(protocol, 1, curve, title)


def _fewer_against(protocol: DDPHelnaksort, fewer: int, curve: Any, title: str = "") -> dpaudit.FigureClaim:
    """Claim that fewer answers, with more of the budget each, are not worse than K."""
    few, many = max(1, fewer), protocol.queries
    budget = protocol.local_epsilon
    return not_above(
        protocol,
        (f"{title}K = {few}", response_at(protocol, budget, few), curve(few)),
        (f"{title}K = {many}" + " again" * (few == many), response_at(protocol, budget, many), curve(many)),
        f"local ϵ = {budget:.4g} in all",
        _larger(protocol),
    )


def _larger(protocol: DDPHelnaksort) -> str:
    return "a smaller K is compared with a larger one" if protocol.queries == 1 else ""
