"""Figure 4 of Song, Lan, Li, Li 2022 (Section 4.2.3): the shuffler, and the budget, measured again.

The axis is the ϵ of the curator's view, with and without a shuffler: `central_epsilon`.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers

from .ddp_helnaksort import DDPHelnaksort
from .evaluation import not_above, response_at
from .paired import by_levels, paired
from .paper import PAPER

PANEL_B = 15
"""Alternatives of the synthetic data, panel (b)."""


@dpaudit.claim(
    "song2022.figure4",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.3", figure=4),
    statement=(
        "On TurkDots (a), and here on Mallows profiles with θ = 0.25 too: at equal central ϵ, 0.5 or 1, K = 1, δ = "
        "1e-4 and n = 100, with m = 4 (a) and m = 15 (b), the shuffler helps: local ϵ + ln n' with it is at least as "
        "near to the agents as ϵ without."
    ),
    on_data=True,
    reproduces="Figure 4",
    only={"central_epsilon": (0.5, 1.0), "delta": 1e-4, "agents": 100, "alternatives": (4, 15), "dispersion": 0.25},
)
def figure4(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    return _with_and_without(protocol, as_claimed(protocol), f"with a shuffler n' = {protocol.share:.4g} times e^ϵ")


@dpaudit.claim(
    "song2022.figure4-mended",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.2.3", figure=4),
    statement="At equal ϵ an answer carries no more noise with the shuffler than without, wherever n >= C(m, 2).",
    ours=True,
    mends="song2022.figure4-noise",
)
def figure4_mended(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    few = f"n' = {protocol.share:.4g} is below 1" if protocol.share < 1 else ""
    return _no_more_noise(protocol, few)


@dpaudit.claim(
    "song2022.figure4-noise",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.2.3", figure=4),
    statement=(
        "At every equal ϵ, and n = 100 with m = 4 (a) and m = 15 (b), an answer carries no more noise with the "
        "shuffler than without."
    ),
    only={"agents": 100, "alternatives": (4, 15)},
)
def figure4_noise(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    return _no_more_noise(protocol)


def _no_more_noise(protocol: DDPHelnaksort, inapplicable: str = "") -> dpaudit.LemmaClaim:
    gained = math.log(protocol.share)
    return dpaudit.LemmaClaim(
        margin=lambda: gained,
        instances=[{}],
        complete=True,
        explain=lambda: {"actual": protocol.amplified, "claimed": protocol.amplified + gained},
        scope=f"local ϵ (claimed) against the ϵ without a shuffler (actual); n' = {protocol.share:.4g}",
        inapplicable=inapplicable,
    )


@dpaudit.claim(
    "song2022.figure4-panels",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.3", figure=4),
    statement=(
        "On TurkDots (a), and here on Mallows profiles with θ = 0.25 too: at equal central ϵ, 0.5 or 1, K = 1, δ = "
        "1e-4 and n = 100, leaving the shuffler out costs more distance with m = 4 (a) than with m = 15 (b)."
    ),
    on_data=True,
    reproduces="Figure 4",
    only={"central_epsilon": (0.5, 1.0), "delta": 1e-4, "agents": 100, "alternatives": 4, "dispersion": 0.25},
)
def figure4_panels(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        costs = {}
        for panel, shown in (("(a)", protocol), ("(b)", _panel_b(protocol))):
            found = _curves(shown, as_claimed(shown), runs, rng)
            costs[f"cost in {panel}"] = found["without"] - found["with a shuffler"]
        return {"value": costs["cost in (b)"] - costs["cost in (a)"], **costs}

    return dpaudit.FigureClaim(
        measure=measure,
        direction="at-most",
        published=0.0,
        runs=20_000,
        support=(-2.0, 2.0),
        beside_support=(-1.0, 1.0),
        quantity="average Kendall tau distance without a shuffler less with it, panel (b) less panel (a)",
        scope=f"ϵ = {protocol.amplified:.4g}, {protocol.where()} against m = {PANEL_B}",
        inapplicable=_only_one(protocol) or _no_axis(protocol),
    )


def _panel_b(protocol: DDPHelnaksort) -> DDPHelnaksort:
    return protocol.but(profile=None, alternatives=PANEL_B, agents=protocol.voters)


@dpaudit.claim(
    "song2022.figure4-budget",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.3", figure=4),
    statement=(
        "On TurkDots (a), and here on Mallows profiles with θ = 0.25 too: at K = 1, δ = 1e-4 and n = 100, with m = 4 "
        "(a) and m = 15 (b), the distance with a shuffler is at ϵ/2 at least that at ϵ = 1."
    ),
    on_data=True,
    reproduces="Figure 4",
    only={"central_epsilon": 1.0, "delta": 1e-4, "agents": 100, "alternatives": (4, 15), "dispersion": 0.25},
)
def figure4_budget(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    full, half = (response_at(protocol, _local(protocol, protocol.amplified / part), 1) for part in (1, 2))
    return not_above(
        protocol,
        ("at ϵ", full, by_levels(1)),
        ("at ϵ/2", half, by_levels(1)),
        f"with a shuffler, ϵ = {protocol.amplified:.4g}, n' = {protocol.share:.4g}",
        _only_one(protocol) or _no_axis(protocol),
    )


@dpaudit.claim(
    "song2022.figure4-budget-without",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.3", figure=4),
    statement=(
        "On TurkDots (a), and here on Mallows profiles with θ = 0.25 too: at K = 1, δ = 1e-4 and n = 100, with m = 4 "
        "(a) and m = 15 (b), the distance without a shuffler is at ϵ/2 at least that at ϵ = 1."
    ),
    on_data=True,
    reproduces="Figure 4",
    only={"central_epsilon": 1.0, "delta": 1e-4, "agents": 100, "alternatives": (4, 15), "dispersion": 0.25},
)
def figure4_budget_without(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    axis = max(protocol.amplified, 1e-6)
    return not_above(
        protocol,
        ("at ϵ", response_at(protocol, axis, 1), by_levels(1)),
        ("at ϵ/2", response_at(protocol, axis / 2, 1), by_levels(1)),
        f"without a shuffler, ϵ = {protocol.amplified:.4g}",
        _only_one(protocol) or _no_axis(protocol),
    )


@dpaudit.claim(
    "song2022.figure4-exact",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section="4.2.3", figure=4, note="both sides as truthful as (ϵ, δ)-DP allows"),
    statement=(
        "At equal and exact (ϵ, δ), with randomized response as truthful as these allow for n' agents on a pair who "
        "are known, the shuffler helps."
    ),
    ours=True,
    on_data=True,
    reproduces="Figure 4",
)
def figure4_exact(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    return _with_and_without(protocol, as_exact(protocol), "randomized response")


def as_claimed(protocol: DDPHelnaksort) -> tuple[Any, Any]:
    """Randomizers that are (ϵ, δ)-DP according to Theorem 3.1: after shuffling n' answers, and alone."""
    axis = max(protocol.amplified, 1e-6)
    return response_at(protocol, _local(protocol, axis), 1), response_at(protocol, axis, 1)


def as_exact(protocol: DDPHelnaksort) -> tuple[Any, Any]:
    """The most truthful binary randomizers that are (ϵ, δ)-DP: after shuffling n' answers, and alone."""
    axis = max(protocol.amplified, 1e-6)
    odds = math.exp(axis)
    alone = randomizers.RandomizedResponse((odds + protocol.delta) / (odds + 1))
    return randomizers.RandomizedResponse(most_truthful(protocol.on_a_pair, axis, protocol.delta)), alone


@cache
def most_truthful(agents: int, epsilon: float, delta: float) -> float:
    """Largest probability of a true answer at which so many shuffled answers are (ϵ, δ)-DP, to 1e-9."""
    low, high = 0.5, 1.0
    while high - low > 1e-9:
        keep = (low + high) / 2
        shuffle = randomizers.Shuffler(randomizers.RandomizedResponse(keep)).of(agents)
        low, high = (keep, high) if shuffle.worst(epsilon).delta <= delta else (low, keep)
    return low


def _with_and_without(protocol: DDPHelnaksort, responses: tuple[Any, Any], words: str) -> dpaudit.FigureClaim:
    return not_above(
        protocol,
        ("with a shuffler", responses[0], by_levels(1)),
        ("without", responses[1], by_levels(1)),
        f"ϵ = {protocol.amplified:.4g}, {words}",
        _only_one(protocol) or _no_axis(protocol),
    )


def _curves(
    protocol: DDPHelnaksort, responses: tuple[Any, Any], runs: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    names = ("with a shuffler", "without")
    return paired(protocol, runs, rng, dict(zip(names, ((each, by_levels(1)) for each in responses), strict=True)))


def _local(protocol: DDPHelnaksort, axis: float) -> float:
    """ϵ of one agent at a place of the axis, with a shuffler."""
    return max(axis + math.log(protocol.share), 1e-6)


def _only_one(protocol: DDPHelnaksort) -> str:
    return "" if protocol.queries == 1 else f"the figure is about K = 1, got K = {protocol.queries}"


def _no_axis(protocol: DDPHelnaksort) -> str:
    found = protocol.amplified
    return (
        "" if found > 0 else f"the axis of the figure is ϵ - ln n', which is {found:.4g}; set central_epsilon above 0"
    )
