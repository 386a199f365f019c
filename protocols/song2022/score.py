"""The score C_aj in place of the Borda count (Sections 1, 3.3 and 5), and HRA without noise (Sections 1 and 4.2.1)."""

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from .collection import Votes, alternatives_of
from .ddp_helnaksort import DDPHelnaksort
from .evaluation import not_above, response_at
from .paired import Curve, by_levels, by_pivots, mean_distance
from .paper import PAPER

SAVED = PAPER.at(section=("1", "3.3", "5"), note="on the budget of the score")
HIGHER = PAPER.at(section=("1", "3.3", "5"), note="on the utility of the score")


@dpaudit.claim(
    "song2022.hra-without-pivots",
    DDPHelnaksort,
    kind="figure",
    place=PAPER.at(section=("1", "4.2.1")),
    statement=(
        "On TurkDots, and here on Mallows profiles with θ = 0.25 too: without pivots, and without noise, HRA on all "
        "pairs of n = 100 agents over m = 4 and m = 15 alternatives is at least as near to them as KwikSort."
    ),
    on_data=True,
    only={"agents": 100, "alternatives": (4, 15), "dispersion": 0.25},
)
def hra_without_pivots(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    true = randomizers.RandomizedResponse(1.0)
    return not_above(
        protocol,
        ("HRA", true, by_levels(protocol.pairs)),
        ("KwikSort", true, by_pivots(protocol.pairs)),
        "true answers to all questions",
    )


@dpaudit.claim(
    "song2022.score-saves-budget",
    DDPHelnaksort,
    kind="lemma",
    place=SAVED,
    statement=(
        "At every ϵ, δ and K the score C_aj saves some privacy budget against the Borda count, here that of the same "
        "answers, the sum of C_aj,ai over the other alternatives: the ranking needs a smaller ϵ."
    ),
)
def score_saves_budget(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    def budgets() -> dict[str, float]:
        """Exact ϵ at δ = 0 of what either score is made of: the answers, which are the same."""
        law = protocol.report.law
        low, high = np.zeros(protocol.queries, dtype=int), np.ones(protocol.queries, dtype=int)
        spent = dpaudit.compare(law(high), law(low)).epsilon(0.0).upper
        assert spent is not None
        return {"actual": spent, "claimed": spent}

    return dpaudit.LemmaClaim(
        margin=lambda: -1.0 if budgets()["actual"] >= budgets()["claimed"] else 0.0,
        instances=[{}],
        complete=True,
        explain=budgets,
        scope=(
            f"ϵ that is spent with C_aj (actual) and with the Borda count (claimed, to be above it), K = "
            f"{protocol.queries}; both are made of answers that have been sent"
        ),
        inapplicable="real answers have no finite ϵ" if protocol.randomizer == "gaussian" else "",
    )


@dpaudit.claim(
    "song2022.score-utility",
    DDPHelnaksort,
    kind="figure",
    place=HIGHER,
    statement=(
        "On TurkDots, and here on Mallows profiles with θ = 0.25 too: at local ϵ = 1, δ = 1e-4, n = 100, m = 4 and K "
        "= 1 the ranking with the score C_aj is at least as near to the agents as that with the Borda count of the "
        "same answers, the sum of C_aj,ai over the other alternatives of the level."
    ),
    on_data=True,
    only={"epsilon": 1.0, "delta": 1e-4, "agents": 100, "alternatives": 4, "queries": 1, "dispersion": 0.25},
)
def score_utility(protocol: DDPHelnaksort) -> dpaudit.FigureClaim:
    response = response_at(protocol, protocol.local_epsilon, protocol.queries)
    return not_above(
        protocol,
        ("C_aj", response, by_score(protocol.queries, borda=False)),
        ("Borda count", response, by_score(protocol.queries, borda=True)),
        f"local ϵ = {protocol.local_epsilon:.4g}, K = {protocol.queries}",
    )


def by_score(queries: int, *, borda: bool) -> Curve:
    """Distance with K questions to every agent, and one of the two scores where a level is not split otherwise."""

    def curve(votes: Votes, preferred: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        wins = collect_wins(votes, queries, rng)
        return mean_distance(lambda table: levels(table, rng, borda=borda), wins, preferred)

    return curve


def collect_wins(votes: Votes, queries: int, rng: np.random.Generator) -> np.ndarray:
    """Ask every agent K random questions: C[i, j] answers prefer i to j, shape (runs, m, m)."""
    runs, agents, pairs = votes.values.shape
    asked = rankings.random_subsets(pairs, queries, runs * agents, rng).reshape(runs, agents, queries)
    given = np.take_along_axis(votes.values, asked, axis=2)
    votes.drawn.sent(given.size)
    cells = asked + pairs * np.arange(runs)[:, None, None]
    m = alternatives_of(pairs)
    i, j = rankings.alternative_pairs(m).T
    wins = np.zeros((runs, m, m))
    for first, second, side in ((i, j, 1.0), (j, i, -1.0)):
        tally = rankings.pair_tally(cells, np.asarray(given == side, dtype=float), runs * pairs)
        wins[:, first, second] = tally.reshape(runs, pairs)
    return wins


def levels(wins: np.ndarray, rng: np.random.Generator, *, borda: bool) -> np.ndarray:
    """Algorithm 2 on the answers C, with C_aj or with the Borda count where all of a level score the same.

    With C_aj it is `rankings.hierarchical` of the margins.
    """
    runs, m = wins.shape[:2]
    margins = wins - np.swapaxes(wins, 1, 2)
    fallback = wins if borda else margins
    priority = rng.permuted(np.tile(np.arange(m), (runs, 1)), axis=1)
    start = np.zeros((runs, m), dtype=np.int64)
    for _ in range(m):
        together = start[:, :, None] == start[:, None, :]
        if not (together.sum(axis=2) > 1).any():
            break
        score = np.where(together, np.sign(margins), 0).sum(axis=2)
        unsplit = ~(together & (score[:, :, None] != score[:, None, :])).any(axis=2)
        # Where all score the same one of those with the largest sum goes above the others.
        sums = np.where(together, fallback, 0).sum(axis=2) * m + priority / m
        winner = sums >= np.where(together, sums[:, None, :], -np.inf).max(axis=2)
        score = np.where(unsplit, winner, score)
        start = start + (together & (score[:, None, :] > score[:, :, None])).sum(axis=2)
    return rankings.positions(start)
