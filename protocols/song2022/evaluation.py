"""The experiments of Song, Lan, Li, Li 2022 (Section 4.2): what the paper says of Figures 2 to 4, measured again.

A figure's curve is the average Kendall tau distance, so each claim is about the difference of two such distances.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from .collection import Votes, cast, collect, true_margins, truths
from .ddp_helnaksort import DDPHelnaksort
from .ldp_quicksort import quicksort
from .paper import PAPER

REPEATS = 8
"""Ways to draw pivots and break ties over which a distance is averaged in every run."""


def mean_distance(
    aggregate: Callable[[np.ndarray], np.ndarray], received: np.ndarray, preferred: np.ndarray
) -> np.ndarray:
    """Average Kendall tau distance in every run, in the mean over several ways to draw pivots and break ties."""
    orders = aggregate(np.repeat(received, REPEATS, axis=0))
    margins = np.repeat(true_margins(preferred), REPEATS, axis=0)
    distances = rankings.margin_distance(orders, margins, preferred.shape[1])
    return np.asarray(distances.reshape(-1, REPEATS).mean(axis=1))


def helnaksort_distance(preferred: np.ndarray, response: Any, queries: int, rng: np.random.Generator) -> np.ndarray:
    """Average Kendall tau distance of DDP-Helnaksort in every run."""
    received = collect(cast(preferred, response, rng), queries, rng)
    return mean_distance(lambda margins: rankings.hierarchical(margins, rng), received, preferred)


def response_at(protocol: DDPHelnaksort, epsilon: float, queries: int) -> Any:
    """Randomizer of one answer, where an agent with the budget ϵ gives K answers: that of its report."""
    return protocol.report.but(epsilon=epsilon, queries=queries).response


def _difference(**more: Any) -> dpaudit.UtilityClaim:
    """Claim that the mean difference of two distances is at most 0."""
    return dpaudit.UtilityClaim(bound=0.0, runs=40_000, support=(-1.0, 1.0), beside_support=(0.0, 1.0), **more)


def _asked(protocol: DDPHelnaksort) -> str:
    return f"K = {protocol.queries}, {protocol.where()}"


# Figure 2: the protocols at equal local ϵ.


@dpaudit.claim(
    "song2022.figure2-kwiksort",
    DDPHelnaksort,
    kind="utility",
    place=PAPER.at(section="4.2.1", figure=2),
    statement="At equal local ϵ DDP-Helnaksort is at least as near to the agents as LDP-KwikSort.",
    on_data=True,
    reproduces="Figure 2",
)
def figure2_kwiksort(protocol: DDPHelnaksort) -> dpaudit.UtilityClaim:
    def theirs(votes: Votes, received: np.ndarray, preferred: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return mean_distance(
            lambda margins: rankings.kwiksort(rankings.comparisons(margins, rng), rng), received, preferred
        )

    return _against(protocol, "ldp-kwiksort", "LDP-KwikSort", theirs)


@dpaudit.claim(
    "song2022.figure2-quicksort",
    DDPHelnaksort,
    kind="utility",
    place=PAPER.at(section="4.2.1", figure=2),
    statement="At equal local ϵ DDP-Helnaksort is at least as near to the agents as LDP-QuickSort.",
    on_data=True,
    reproduces="Figure 2",
)
def figure2_quicksort(protocol: DDPHelnaksort) -> dpaudit.UtilityClaim:
    def theirs(votes: Votes, received: np.ndarray, preferred: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        order = quicksort(votes, protocol.queries, rng)
        return rankings.margin_distance(order, true_margins(preferred), preferred.shape[1])

    return _against(protocol, "ldp-quicksort", "LDP-QuickSort", theirs)


def _against(
    protocol: DDPHelnaksort, target: str, title: str, theirs: Callable[..., np.ndarray]
) -> dpaudit.UtilityClaim:
    """Claim of Figure 2 about a competitor, whose distance ``theirs(votes, received, preferred, rng)`` returns."""

    def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        preferred = truths(protocol.electorates(runs, rng))
        votes = cast(preferred, response_at(protocol, protocol.local_epsilon, protocol.queries), rng)
        received = collect(votes, protocol.queries, rng)
        other = theirs(votes, received, preferred, rng)
        ours = mean_distance(lambda margins: rankings.hierarchical(margins, rng), received, preferred)
        margins = true_margins(preferred)
        best = rankings.margin_distance(rankings.hierarchical(margins, rng), margins, preferred.shape[1])
        return {"value": ours - other, "ddp-helnaksort": ours, target: other, "without noise": best}

    return _difference(
        measure=measure,
        quantity=f"average Kendall tau distance, DDP-Helnaksort less {title}",
        scope=f"local ϵ = {protocol.local_epsilon:.4g}, {_asked(protocol)}",
    )


# Figure 3: the number of answers K.


@dpaudit.claim(
    "song2022.figure3",
    DDPHelnaksort,
    kind="utility",
    place=PAPER.at(section="4.2.2", figure=3),
    statement="DDP-Helnaksort is nearest to the agents at K = 1.",
    on_data=True,
    reproduces="Figure 3",
)
def figure3(protocol: DDPHelnaksort) -> dpaudit.UtilityClaim:
    def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        preferred = truths(protocol.electorates(runs, rng))
        one, many = (
            helnaksort_distance(preferred, response_at(protocol, protocol.local_epsilon, queries), queries, rng)
            for queries in (1, protocol.queries)
        )
        return {"value": one - many, "K = 1": one, f"K = {protocol.queries}": many}

    return _difference(
        measure=measure,
        quantity=f"average Kendall tau distance, K = 1 less K = {protocol.queries}",
        scope=f"local ϵ = {protocol.local_epsilon:.4g}, {_asked(protocol)}",
        inapplicable="the figure compares K = 1 with larger K" if protocol.queries == 1 else "",
    )


# Figure 4: the shuffler, and the budget. Its axis is the ϵ of the curator's view, with and without a shuffler.


@dpaudit.claim(
    "song2022.figure4",
    DDPHelnaksort,
    kind="utility",
    place=PAPER.at(section="4.2.3", figure=4),
    statement="At equal ϵ, local ϵ + ln n' with a shuffler and ϵ without, the shuffler helps.",
    on_data=True,
    reproduces="Figure 4",
)
def figure4(protocol: DDPHelnaksort) -> dpaudit.UtilityClaim:
    return _difference(
        measure=partial(_shuffling, protocol, as_claimed),
        quantity="average Kendall tau distance, with a shuffler less without",
        scope=f"ϵ = {axis(protocol):.4g}, with a shuffler n' = {protocol.share:.4g} times e^ϵ, {_asked(protocol)}",
        inapplicable=_only_one(protocol) or _too_few(protocol),
    )


@dpaudit.claim(
    "song2022.figure4-budget",
    DDPHelnaksort,
    kind="utility",
    place=PAPER.at(section="4.2.3", figure=4),
    statement="With a shuffler the distance at ϵ/2 is at least that at ϵ.",
    on_data=True,
    reproduces="Figure 4",
)
def figure4_budget(protocol: DDPHelnaksort) -> dpaudit.UtilityClaim:
    def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        preferred = truths(protocol.electorates(runs, rng))
        half, full = (
            helnaksort_distance(preferred, response_at(protocol, spent + math.log(protocol.share), 1), 1, rng)
            for spent in (axis(protocol) / 2, axis(protocol))
        )
        return {"value": full - half, "at ϵ": full, "at ϵ/2": half}

    return _difference(
        measure=measure,
        quantity="average Kendall tau distance with a shuffler, at ϵ less at ϵ/2",
        scope=f"ϵ = {axis(protocol):.4g}, n' = {protocol.share:.4g}, {_asked(protocol)}",
        inapplicable=_only_one(protocol) or _too_few(protocol),
    )


@dpaudit.claim(
    "song2022.figure4-noise",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.2.3", figure=4),
    statement="At equal ϵ an answer carries no more noise with the shuffler than without.",
)
def figure4_noise(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda: math.log(protocol.share),
        instances=[{}],
        complete=True,
        explain=lambda: {"actual": axis(protocol), "claimed": axis(protocol) + math.log(protocol.share)},
        scope=f"local ϵ (claimed) against the ϵ without a shuffler (actual); n' = {protocol.share:.4g}",
    )


@dpaudit.claim(
    "song2022.figure4-exact",
    DDPHelnaksort,
    kind="utility",
    place=PAPER.at(section="4.2.3", figure=4, note="both sides as truthful as (ϵ, δ)-DP allows"),
    statement="At equal and exact (ϵ, δ) the shuffler helps.",
    ours=True,
    on_data=True,
    reproduces="Figure 4",
)
def figure4_exact(protocol: DDPHelnaksort) -> dpaudit.UtilityClaim:
    return _difference(
        measure=partial(_shuffling, protocol, as_exact),
        quantity="average Kendall tau distance, with a shuffler less without",
        scope=f"ϵ = {axis(protocol):.4g}, δ = {protocol.delta:g}, randomized response, {_asked(protocol)}",
        inapplicable=_only_one(protocol),
    )


def axis(protocol: DDPHelnaksort) -> float:
    """ϵ on the axis of Figure 4."""
    return protocol.epsilon if protocol.central_epsilon is None else protocol.central_epsilon


def as_claimed(protocol: DDPHelnaksort) -> tuple[Any, Any]:
    """Randomizers that are (ϵ, δ)-DP according to Theorem 3.1: after shuffling n' answers, and alone."""
    with_shuffler = max(axis(protocol) + math.log(protocol.share), 1e-6)
    return response_at(protocol, with_shuffler, 1), response_at(protocol, axis(protocol), 1)


def as_exact(protocol: DDPHelnaksort) -> tuple[Any, Any]:
    """The most truthful binary randomizers that are (ϵ, δ)-DP: after shuffling n' answers, and alone."""
    odds = math.exp(axis(protocol))
    alone = randomizers.RandomizedResponse((odds + protocol.delta) / (odds + 1))
    return randomizers.RandomizedResponse(most_truthful(protocol.on_a_pair, axis(protocol), protocol.delta)), alone


@cache
def most_truthful(agents: int, epsilon: float, delta: float) -> float:
    """Largest probability of a true answer at which so many shuffled answers are (ϵ, δ)-DP, to 1e-9."""
    low, high = 0.5, 1.0
    while high - low > 1e-9:
        keep = (low + high) / 2
        shuffle = randomizers.Shuffler(randomizers.RandomizedResponse(keep)).of(agents)
        low, high = (keep, high) if shuffle.worst(epsilon).delta <= delta else (low, keep)
    return low


def _shuffling(
    protocol: DDPHelnaksort,
    calibrate: Callable[[DDPHelnaksort], tuple[Any, Any]],
    runs: int,
    rng: np.random.Generator,
) -> Mapping[str, np.ndarray]:
    preferred = truths(protocol.electorates(runs, rng))
    found = [helnaksort_distance(preferred, response, 1, rng) for response in calibrate(protocol)]
    return {"value": found[0] - found[1], "with a shuffler": found[0], "without": found[1]}


def _only_one(protocol: DDPHelnaksort) -> str:
    return "" if protocol.queries == 1 else f"the figure is about K = 1, got K = {protocol.queries}"


def _too_few(protocol: DDPHelnaksort) -> str:
    return f"n' = {protocol.share:.4g} is below 1, so that ϵ + ln n' is below ϵ" if protocol.share < 1 else ""
