"""The code that runs is the code that was judged: every planted bug in what a run sends ends the privacy audit.

Each bug is planted in the code that runs alone. The views, with their laws and messages, stay right.
"""

import math
from pathlib import Path

import numpy as np
import pytest

import dpaudit
from dpaudit import messages, randomizers, rankings
from dpaudit.auditors import Streams
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.recorded import find_deviation, find_view_deviation
from dpaudit.auditors.sampling.pace import OutOfTimeError, Pace
from dpaudit.catalog.alabi2022 import DPKwikSortCapped, LDPKwikSortInteractive, LocalPairwise, NoisyPairwise
from dpaudit.catalog.alabi2022.answers import SignedAnswer
from dpaudit.catalog.alabi2022.dp_kwiksort_capped import compared
from dpaudit.catalog.alabi2022.vector import VectorReport
from dpaudit.catalog.hay2017 import DPKwikSort
from dpaudit.catalog.shang2014 import GaussianHistogram
from dpaudit.catalog.shang2014.positional import ranking_histogram
from dpaudit.catalog.song2022 import DDPHelnaksort, LDPQuickSort
from dpaudit.catalog.song2022.collection import Votes, cast, collect, local_randomizer, orders_of, truths
from dpaudit.catalog.song2022.ldp_quicksort import quicksort
from dpaudit.catalog.song2022.shuffling import ShuffledAnswers
from dpaudit.catalog.yan2020 import LaplaceReport, LDPKwikSortLap, LDPKwikSortRR, RandomizedResponseReport
from dpaudit.catalog.yang2018 import Harmony, RankingGrr, RankingOlh, RankingRappor, RankingSh, Safa, Safari
from dpaudit.runner.cells import build_cells
from dpaudit.runner.request import Request

SEED = 20


# Yan, Li, Liu 2020.


class WholeBudgetAnswers(LDPKwikSortRR):
    """Every one of the K answers of a run gets all of ϵ."""

    def estimate(self, chunks, rng):
        return LDPKwikSortRR(**{**self.parameters(), "epsilon": self.epsilon * self.asked}).estimate(chunks, rng)


class _OneMore(RandomizedResponseReport):
    def assign(self, size, rng):
        return rankings.random_subsets(self.pairs, self.queries + 1, size, rng)


class ExtraAnswer(LDPKwikSortRR):
    """An agent gives K + 1 answers."""

    def estimate(self, chunks, rng):
        report = _OneMore(**self.report.parameters())
        tally = np.zeros((1, self.pairs))
        for chunk in chunks:
            orders = chunk.reshape(-1, self.alternatives)
            asked = report.assign(len(orders), rng)
            votes = self.votes(report.randomize(report.truths(orders, asked), rng))
            tally = tally + rankings.pair_tally(asked, votes, self.pairs).reshape(1, self.pairs)
        return rankings.margin_matrix(np.tile(self.margins(tally), (len(chunk), 1)), self.alternatives)


class _Biased(RandomizedResponseReport):
    def randomize(self, truths, rng):
        return randomizers.RandomizedResponse(self.response.keep + 0.001).randomize(truths, rng)


class BiasedCoin(LDPKwikSortRR):
    """The coin of a run keeps the truth with a probability that is 0.001 too large."""

    def estimate(self, chunks, rng):
        object.__setattr__(self, "_running", True)
        try:
            return super().estimate(chunks, rng)
        finally:
            object.__setattr__(self, "_running", False)

    @property
    def report(self):
        right = super().report
        return _Biased(**right.parameters()) if getattr(self, "_running", False) else right


class OwnCoin(LDPKwikSortRR):
    """A run tosses coins of its own, past the randomizer."""

    def estimate(self, chunks, rng):
        orders = np.concatenate([chunk.reshape(-1, self.alternatives) for chunk in chunks])
        truth = rankings.answers(orders, rankings.alternative_pairs(self.alternatives))
        said = truth ^ (rng.random(truth.shape) < 0.3)
        return rankings.margin_matrix(np.where(said, 1.0, -1.0).sum(axis=0)[None], self.alternatives)


class _OccasionallyTrue(RandomizedResponseReport):
    def randomize(self, truths, rng):
        return np.where(rng.random(truths.shape) < 0.02, truths, super().randomize(truths, rng))


class OccasionalTruth(LDPKwikSortRR):
    """One answer in fifty of a run goes out as it is, after a coin was tossed for it in vain."""

    def estimate(self, chunks, rng):
        object.__setattr__(self, "_running", True)
        try:
            return super().estimate(chunks, rng)
        finally:
            object.__setattr__(self, "_running", False)

    @property
    def report(self):
        right = super().report
        return _OccasionallyTrue(**right.parameters()) if getattr(self, "_running", False) else right


class TrueTies(LDPKwikSortRR):
    """Ties of the estimated margins are decided by the true ones."""

    def sample(self, data, size, rng):
        estimates = self.estimate([np.broadcast_to(data, (size, *data.shape))], rng)
        return self.aggregate(estimates + 1e-3 * rankings.margins(rankings.pairwise_counts(data)), rng)


class HalfNoiseInRuns(LDPKwikSortLap):
    """The Laplace noise of a run has half the scale that it should have."""

    def estimate(self, chunks, rng):
        return LDPKwikSortLap(**{**self.parameters(), "epsilon": 2 * self.epsilon}).estimate(chunks, rng)


class LessNoiseReport(LaplaceReport):
    """The sampler of a view has 0.9 times the noise of its law."""

    def sample(self, data, size, rng):
        return LaplaceReport(**{**self.parameters(), "epsilon": self.epsilon / 0.9}).sample(data, size, rng)


class LessNoiseInTheView(LDPKwikSortLap):
    """The view's sampler has 0.9 times the noise, where the law is too long to be listed."""

    @property
    def report(self):
        return LessNoiseReport(**super().report.parameters())


# Song, Lan, Li, Li 2022.


class UndividedNoise(DDPHelnaksort):
    """The noise of each of K answers has the scale for one answer."""

    def sample(self, data, size, rng):
        response = local_randomizer(self.randomizer, self.local_epsilon, self.delta)
        votes = cast(truths(orders_of(data, size)), response, rng)
        return rankings.hierarchical(collect(votes, self.queries, rng), rng)


class MoreQuestions(DDPHelnaksort):
    """An agent gives K + 1 answers."""

    def sample(self, data, size, rng):
        votes = cast(truths(orders_of(data, size)), self.report.response, rng)
        return rankings.hierarchical(collect(votes, self.queries + 1, rng), rng)


class AnswersTwice(DDPHelnaksort):
    """An agent answers its questions twice, with fresh noise."""

    def sample(self, data, size, rng):
        rounds = [cast(truths(orders_of(data, size)), self.report.response, rng) for _ in range(2)]
        return rankings.hierarchical(sum(collect(votes, self.queries, rng) for votes in rounds), rng)


class UnshuffledAnswers(ShuffledAnswers):
    """The answers about a pair in the order of the agents."""

    def sample(self, data, size, rng):
        truth = np.repeat([False, True], [int(count) for count in data])
        return self.response.randomize(np.broadcast_to(truth, (size, self.agents)), rng)


class ShufflerSkipped(DDPHelnaksort):
    """The shuffler sends the answers on in the order in which they come."""

    def views(self):
        received = super().views()["received"]
        return {**super().views(), "received": UnshuffledAnswers(**received.parameters())}


class QuickSortUndividedNoise(LDPQuickSort):
    """The noise of each of K answers has the scale for one answer."""

    def sample(self, data, size, rng):
        response = local_randomizer(self.randomizer, self.epsilon, self.delta)
        return quicksort(cast(truths(orders_of(data, size)), response, rng), self.queries, rng)


class QuickSortUncapped(LDPQuickSort):
    """An agent answers as often as it is drawn."""

    def sample(self, data, size, rng):
        votes = cast(truths(orders_of(data, size)), self.report.response, rng)
        return quicksort(votes, 100, rng)


# Alabi, Ghazi, Kumar, Manurangsi 2022, the local model.


class WholeBudgetInRun(LDPKwikSortInteractive):
    """The answers of a run spend all of ϵ, and the fallback has ϵ/2 on top."""

    def answers(self, data, assigned, answer, rng):
        return super().answers(data, assigned, SignedAnswer(2 * answer.epsilon), rng)


class CapNotEnforced(LDPKwikSortInteractive):
    """A set of agents answers as often as it is asked."""

    def run(self, data, size, rng):
        profile = rankings.Profile.from_rankings(data)
        m = self.alternatives
        assigned = rng.integers(0, m, (size, m, m))
        with messages.ahead() as drawn:
            answers, members = self.answers(profile, assigned, self.halved.answer, rng)
        orders, asked = rankings.kwiksort_queries(answers > 0.5, rng)
        cells = (assigned + np.arange(size)[:, None, None] * m)[asked]
        drawn.sent((np.bincount(cells, minlength=size * m).reshape(size, m) * members).sum())
        return orders, np.zeros(size, dtype=bool)


class FallbackAtFullBudget(LDPKwikSortInteractive):
    """The fallback has all of ϵ, although the answers have half of it."""

    @property
    def fallback(self):
        return LocalPairwise(epsilon=self.epsilon, alternatives=self.alternatives)


class FallbackWithPrintedTies(LDPKwikSortInteractive):
    """The fallback's report has both half-spaces contain the ties, as printed."""

    @property
    def fallback(self):
        return _PrintedPairwise(epsilon=self.epsilon / 2, alternatives=self.alternatives)


class _PrintedPairwise(LocalPairwise):
    @property
    def report(self):
        return VectorReport(epsilon=self.epsilon, alternatives=self.alternatives, ties="both")


class DoubleReport(LocalPairwise):
    """The reports of a run are drawn at 2ϵ."""

    def reported(self, data, size, rng):
        return LocalPairwise(**{**self.parameters(), "epsilon": 2 * self.epsilon}).reported(data, size, rng)


class ReportsTwice(LocalPairwise):
    """Every agent reports twice."""

    def reported(self, data, size, rng):
        return (super().reported(data, size, rng) + super().reported(data, size, rng)) // 2


class UnsplitEntries(LocalPairwise):
    """Every comparison is randomized with all of ϵ."""

    def reported(self, data, size, rng):
        whole = LocalPairwise(**{**self.parameters(), "epsilon": self.epsilon * math.comb(self.alternatives, 2)})
        return whole.reported(data, size, rng)


# The central model.


class HalfNoiseMatrix(NoisyPairwise):
    """The noisy weights of a run have half of the noise."""

    def sample(self, data, size, rng):
        return NoisyPairwise(**{**self.parameters(), "epsilon": 2 * self.epsilon}).sample(data, size, rng)


class CentralCapNotEnforced(DPKwikSortCapped):
    """All comparisons of a run are answered, and the fallback never runs."""

    def sample(self, data, size, rng):
        with messages.ahead() as drawn:
            noisy = self.computed.query_noise.randomize(np.tile(self.weights(data), (size, 1)), rng)
        made = rankings.kwiksort_runs(compared(noisy, self.alternatives, rng), self.pairs, rng)
        drawn.sent(made.comparisons.sum())
        return made.rankings


class CentralFallbackAtFullBudget(DPKwikSortCapped):
    """The fallback has all of ϵ, although the queries have half of it."""

    def sample(self, data, size, rng):
        return _FullFallback(**self.parameters()).sample(data, size, rng)


class _FullFallback(DPKwikSortCapped):
    @property
    def fallback(self):
        right = super().fallback
        return right.but(epsilon=2 * right.epsilon)


class CentralUndividedQueries(DPKwikSortCapped):
    """Every query of a run gets what all q of them should share."""

    def sample(self, data, size, rng):
        spent = self.but(epsilon=self.epsilon * self.limit)
        return DPKwikSortCapped(**spent.parameters()).sample(data, size, rng)


class HalfNoiseComparisons(DPKwikSort):
    """The comparisons of a run have half of the noise."""

    def noisy(self, margins, rng):
        return DPKwikSort(**{**self.parameters(), "epsilon": 2 * self.epsilon}).noisy(margins, rng)


class HalfNoiseHistogram(GaussianHistogram):
    """The histogram of a run has half of the noise."""

    @property
    def noise(self):
        return randomizers.GaussianNoise(super().noise.scale / 2)


class TrueHistogramAdded(GaussianHistogram):
    """The true histogram is added to the noisy one."""

    def sample(self, data, size, rng):
        counts = ranking_histogram(rankings.Profile.from_rankings(data))
        noisy = self.noise.randomize(np.broadcast_to(counts, (size, len(counts))), rng)
        return self.aggregate(noisy + 1e3 * counts, rng)


class HistogramDrawnTwice(GaussianHistogram):
    """Noisy histograms of a run are averaged over two draws."""

    def aggregate(self, histograms, rng):
        return super().aggregate((histograms + self.noise.randomize(histograms, rng)) / 2, rng)


# Yang, Cheng, Su, Chen, Ren, Liu 2018.


class TrueChain(Safari):
    """The chain is learned from the true places, after the first phase was asked in vain."""

    def information(self, positions, rng):
        super().information(positions, rng)
        x, y, z = np.ogrid[: self.items, : self.items, : self.items]
        return 1.0 * (positions[0][x] < positions[0][y]) * (y != z)


class FirstPhaseAtEpsilon(Safari):
    """The first phase of a run spends all of ε."""

    def triplet_frequencies(self, positions, rng):
        return Safari(**{**self.parameters(), "epsilon": 2 * self.epsilon}).triplet_frequencies(positions, rng)


class SecondPhaseAtEpsilon(Safari):
    """The second phase of a run spends all of ε."""

    def chain_frequencies(self, chain, positions, rng):
        return Safari(**{**self.parameters(), "epsilon": 2 * self.epsilon}).chain_frequencies(chain, positions, rng)


class SplitsAskEverybody(Safari):
    """Every split asks all users, and not those of its own group."""

    def groups(self, users, sizes, rng):
        return [np.arange(users)] * len(sizes)


class SafaTwice(Safa):
    """Every user reports two attributes."""

    def sample(self, data, size, rng):
        return (super().sample(data, size, rng) + super().sample(data, size, rng)) / 2


class HarmonyAtTwice(Harmony):
    """The signs of a run are drawn at 2ε."""

    def sample(self, data, size, rng):
        return Harmony(**{**self.parameters(), "epsilon": 2 * self.epsilon}).sample(data, size, rng)


def _at_twice(system):
    class AtTwice(system):
        """The reports of a run are drawn at 2ε."""

        def distribution(self, counts, rng):
            return system(**{**self.parameters(), "epsilon": 2 * self.epsilon}).distribution(counts, rng)

    AtTwice.__name__ = AtTwice.__qualname__ = f"{system.__name__}AtTwice"
    return AtTwice


RankingGrrAtTwice = _at_twice(RankingGrr)
RankingRapporAtTwice = _at_twice(RankingRappor)
RankingShAtTwice = _at_twice(RankingSh)
RankingOlhAtTwice = _at_twice(RankingOlh)


# Runs that differ from the one that is recorded alone.


class WholeBudgetInManyRuns(LDPKwikSortRR):
    """Several runs in one call spend 20 times ϵ."""

    def estimate(self, chunks, rng):
        several = len(chunks[0]) > 1
        spent = 20 * self.epsilon if several else self.epsilon
        return LDPKwikSortRR(**{**self.parameters(), "epsilon": spent}).estimate(chunks, rng)


class BudgetByRuns(DDPHelnaksort):
    """Every run of a call spends ϵ times the number of runs."""

    def sample(self, data, size, rng):
        return DDPHelnaksort(**{**self.parameters(), "epsilon": self.epsilon * size}).sample(data, size, rng)


class WholeBudgetInReverse(LDPKwikSortRR):
    """Several runs in one call spend 20 times ϵ on one of the inputs."""

    def estimate(self, chunks, rng):
        wrong = len(chunks[0]) > 1 and chunks[0][0, 0, 0] > 0
        spent = 20 * self.epsilon if wrong else self.epsilon
        return LDPKwikSortRR(**{**self.parameters(), "epsilon": spent}).estimate(chunks, rng)


class WholeBudgetOfMany(LDPKwikSortRR):
    """Several users spend 20 times ϵ each."""

    def estimate(self, chunks, rng):
        spent = 20 * self.epsilon if chunks[0].shape[1] > 1 else self.epsilon
        return LDPKwikSortRR(**{**self.parameters(), "epsilon": spent}).estimate(chunks, rng)


class AnswersTwiceOfMany(DDPHelnaksort):
    """Several agents answer twice."""

    def sample(self, data, size, rng):
        orders = super().sample(data, size, rng)
        return orders if len(data) == 1 else super().sample(data, size, rng)


class OthersGoAsTheyAre(LDPKwikSortRR):
    """What all agents but the first prefer is counted as it is."""

    def sample(self, data, size, rng):
        estimates = self.estimate([np.broadcast_to(data, (size, *data.shape))], rng)
        others = np.asarray(data)[1:]
        bare = rankings.margins(rankings.pairwise_counts(others)) if len(others) else 0
        return self.aggregate(estimates + 100 * bare, rng)


class FarApartOfMany(LDPKwikSortLap):
    """Noise is added to 50 times the answers, where there are several agents."""

    def estimate(self, chunks, rng):
        wrong = _TimesFifty(**self.parameters())
        return (wrong if chunks[0].shape[1] > 1 else LDPKwikSortLap(**self.parameters())).estimate(chunks, rng)


# Random numbers.


class FixedSeed(LDPKwikSortRR):
    """A run seeds a generator of its own, always alike."""

    def estimate(self, chunks, rng):
        return super().estimate(chunks, np.random.default_rng(0))


class SameCoin(DDPHelnaksort):
    """One coin for all answers of a run."""

    def sample(self, data, size, rng):
        seed = int(rng.integers(2**63))
        preferred = truths(orders_of(data, size))
        with messages.ahead() as drawn:
            columns = [
                self.report.response.randomize(preferred[:, :, pair], np.random.default_rng(seed))
                for pair in range(preferred.shape[2])
            ]
        votes = Votes(2.0 * np.stack(columns, axis=2) - 1, drawn)
        return rankings.hierarchical(collect(votes, self.queries, rng), rng)


class SameCoinForAllAgents(LDPKwikSortRR):
    """One coin for all agents."""

    def sample(self, data, size, rng):
        state = rng.bit_generator.state
        total = 0
        for order in np.asarray(data):
            rng.bit_generator.state = state
            total = total + self.estimate([np.broadcast_to(order, (size, 1, len(order)))], rng)
        return self.aggregate(total, rng)


class _Still:
    """Random numbers that are none."""

    def __init__(self, rng):
        self.rng = rng

    def laplace(self, centre, scale, shape):
        return np.zeros(shape)

    def __getattr__(self, name):
        return getattr(self.rng, name)


class _StillGenerator(np.random.Generator):
    def laplace(self, centre, scale, shape):
        return np.zeros(shape)


class StillNoise(LDPKwikSortLap):
    """The noise is 0."""

    def estimate(self, chunks, rng):
        return super().estimate(chunks, _Still(rng))


class StillGenerator(NoisyPairwise):
    """The noise is 0, by a generator that seems to be one of numpy's."""

    def sample(self, data, size, rng):
        return super().sample(data, size, _StillGenerator(rng.bit_generator))


# What noise is added to.


class _TimesFiftyReport(LaplaceReport):
    def truths(self, orders, asked):
        return 50 * super().truths(orders, asked)


class _TimesFifty(LDPKwikSortLap):
    """Noise is added to 50 times the answers."""

    @property
    def report(self):
        return _TimesFiftyReport(**super().report.parameters())


class TimesFifty(LDPKwikSortLap):
    """Noise of a run is added to 50 times the answers."""

    def estimate(self, chunks, rng):
        return _TimesFifty(**self.parameters()).estimate(chunks, rng)


class HeavierWeights(NoisyPairwise):
    """Noise of a run is added to twice the weights."""

    def sample(self, data, size, rng):
        noisy = self.main_noise.randomize(np.tile(2 * self.weights(data), (size, 1)), rng)
        return rankings.kwiksort(rankings.comparisons(rankings.margin_matrix(noisy - 1, self.alternatives), rng), rng)


class CumulatedHistogram(GaussianHistogram):
    """Noise of a run is added to sums of counts: no number is further apart, but more of them are."""

    def sample(self, data, size, rng):
        sums = np.cumsum(ranking_histogram(rankings.Profile.from_rankings(data)))
        noisy = self.noise.randomize(np.broadcast_to(sums, (size, len(sums))), rng)
        return self.aggregate(np.diff(noisy, prepend=0.0), rng)


class LateDebiasing(LDPKwikSortRR):
    """The collector scales its estimates wrongly, which no user can notice."""

    def margins(self, tally):
        return 2 * super().margins(tally)


CAPPED = {"budget": "meant", "calibration": "tight", "agents": 1}
MEANT_5, MEANT_11 = "alabi2022.theorem5-budget", "alabi2022.theorem11-budget"
LOCAL, CENTRAL = "song2022.theorem3.1-local", "song2022.theorem3.1-central"
RR, LAP = "yan2020.theorem1-rr", "yan2020.theorem1-lap"
MEANT_8, SAFARI = "alabi2022.theorem8-privacy", "yang2018.safari-ldp"

MUTANTS = [
    (WholeBudgetAnswers(queries=2), RR, "2 messages through RandomizedResponse"),
    (ExtraAnswer(queries=2), RR, "3 messages through RandomizedResponse"),
    (BiasedCoin(queries=1), RR, "epsilon 1.005 together"),
    (OwnCoin(queries=2), RR, "0 messages through RandomizedResponse"),
    (OccasionalTruth(queries=2), RR, "differ although all their messages are the same"),
    (TrueTies(queries=2), RR, "differ although all their messages are the same"),
    (HalfNoiseInRuns(queries=2), LAP, "2 messages through LaplaceNoise(scale=1)"),
    (UndividedNoise(epsilon=2.0, queries=4), LOCAL, "4 messages through Thresholded"),
    (MoreQuestions(epsilon=2.0, queries=2), LOCAL, "3 messages through Thresholded"),
    (AnswersTwice(epsilon=2.0, queries=1), LOCAL, "2 messages through Thresholded"),
    (AnswersTwice(central_epsilon=1.0), CENTRAL, "2 messages through Thresholded"),
    (QuickSortUndividedNoise(queries=4), "song2022.ldp-quicksort", "GaussianNoise(scale=4.34"),
    (QuickSortUncapped(queries=1), "song2022.ldp-quicksort", "messages through Thresholded"),
    (WholeBudgetInRun(), MEANT_11, "through SignedAnswer(epsilon=0.0357"),
    (CapNotEnforced(cap=4), MEANT_11, "messages through SignedAnswer"),
    (CapNotEnforced(), MEANT_11, "at cap = 2"),
    (FallbackAtFullBudget(cap=4), MEANT_11, "1 message through HypercubeResponse(dimension=6, epsilon=1,"),
    (FallbackAtFullBudget(), MEANT_11, "at cap = 2"),
    (FallbackWithPrintedTies(), MEANT_11, "ties='both'"),
    (DoubleReport(), MEANT_8, "1 message through HypercubeResponse(dimension=6, epsilon=2"),
    (ReportsTwice(), MEANT_8, "2 messages through HypercubeResponse"),
    (UnsplitEntries(randomizer="entrywise"), "alabi2022.entrywise-privacy", "6 messages through RandomizedResponse"),
    (HalfNoiseMatrix(alternatives=3), "alabi2022.corollary3-privacy", "3 messages through LaplaceNoise"),
    (CentralCapNotEnforced(**CAPPED, cap=2), MEANT_5, "3 messages through LaplaceNoise"),
    (CentralCapNotEnforced(**CAPPED, alternatives=11), MEANT_5, "at alternatives = 3, cap = 2"),
    (CentralFallbackAtFullBudget(**CAPPED, cap=2), MEANT_5, "3 messages through LaplaceNoise"),
    (CentralFallbackAtFullBudget(**CAPPED, alternatives=11), MEANT_5, "at alternatives = 3"),
    (CentralUndividedQueries(**CAPPED, cap=2), MEANT_5, "through LaplaceNoise(scale=2)"),
    (
        HalfNoiseComparisons(alternatives=6, logarithm="binary", relation="add-remove"),
        "yan2020.dp-kwiksort",
        "15 messages through LaplaceNoise",
    ),
    (HalfNoiseHistogram(), "shang2014.theorem1", "6 messages through GaussianNoise"),
    (TrueHistogramAdded(), "shang2014.theorem1", "differ although all their messages are the same"),
    (HistogramDrawnTwice(), "shang2014.theorem1", "12 messages through GaussianNoise"),
    (FirstPhaseAtEpsilon(items=3), SAFARI, "1 message through SampledResponse"),
    (SecondPhaseAtEpsilon(items=3), SAFARI, "1 message through SampledResponse"),
    (SplitsAskEverybody(items=5, ranks="relative"), SAFARI, "3 messages through SampledResponse"),
    (TrueChain(items=4), SAFARI, "differ although all their messages are the same"),
    (SafaTwice(), "yang2018.safa-theorem1", "2 messages through SampledResponse"),
    (HarmonyAtTwice(), "yang2018.harmony-ldp", "1 message through SampledProjection"),
    (RankingGrrAtTwice(), "yang2018.ranking-grr-ldp", "1 message through GeneralizedRandomizedResponse"),
    (RankingRapporAtTwice(), "yang2018.ranking-rappor-ldp", "1 message through UnaryEncoding"),
    (RankingShAtTwice(), "yang2018.ranking-sh-ldp", "1 message through LocalHashing"),
    (RankingOlhAtTwice(), "yang2018.ranking-olh-ldp", "1 message through LocalHashing"),
]
"""Bugs in what runs send, a privacy claim that does not see them otherwise, and what the audit says."""

MUTANTS += [
    (WholeBudgetInManyRuns(queries=2), RR, "a call of `sample` for 256 outputs on"),
    (BudgetByRuns(), LOCAL, "a call of `sample` for 256 outputs on"),
    (WholeBudgetInReverse(queries=2), RR, "a call of `sample` for 256 outputs on [[3, 2, 1, 0]]"),
    (WholeBudgetOfMany(queries=2), RR, "with 3 users, sends 48 messages through RandomizedResponse(keep=0.999955)"),
    (AnswersTwiceOfMany(queries=2), LOCAL, "with 3 users, sends 96 messages"),
    (OthersGoAsTheyAre(queries=2), RR, "differ although all their messages are the same"),
    (FarApartOfMany(queries=2), LAP, "50 apart on [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]"),
    (FixedSeed(queries=2), RR, "from the same random numbers as others"),
    (SameCoin(queries=2), LOCAL, "from the same random numbers as others"),
    (SameCoinForAllAgents(queries=2), RR, "with 3 users, draws 16 messages"),
    (StillNoise(queries=2), LAP, "from a _Still; draw them from the `rng`"),
    (StillGenerator(alternatives=3), "alabi2022.corollary3-privacy", "without any random numbers"),
    (TimesFifty(queries=2), LAP, "to numbers that are 50 (together 100) apart"),
    (HeavierWeights(alternatives=3), "alabi2022.corollary3-privacy", "further than the view 'noisy-matrix' has them"),
    (CumulatedHistogram(), "shang2014.theorem1", "1 (together 5) apart"),
]

IN_VIEWS = [
    (LessNoiseInTheView(queries=6, alternatives=30), LAP, "6 messages through LaplaceNoise(scale=5.4)"),
    (ShufflerSkipped(central_epsilon=1.0, agents=96), CENTRAL, "does not follow `law`"),
]
"""Bugs in the sampler of a view."""

SURVIVORS = ("UndividedNoise", "QuickSortUndividedNoise")
"""Bugs that no test found before runs were recorded."""

RIGHT = [
    *{
        repr(right): right for right in (type(mutant).__bases__[0](**mutant.parameters()) for mutant, _, _ in MUTANTS)
    }.values(),
    LateDebiasing(queries=2),
    Safari(items=4, thin=2, chain="fixed"),
    Harmony(projection="random"),
    LDPQuickSort(queries=6, randomizer="gaussian"),
    LDPKwikSortInteractive(alternatives=2),
    LDPKwikSortInteractive(alternatives=7),
    DPKwikSortCapped(cap=0),
    DPKwikSortCapped(noise="gaussian", delta=1e-5, cap=2, agents=3),
    GaussianHistogram(rule="kemeny", relation="substitution", alternatives=4),
    GaussianHistogram(alternatives=6),
]


def _name(value):
    return type(value).__name__ if isinstance(value, dpaudit.Mechanism) else None


def _seen_by_the_audit(mutant, claim, samples):
    (result,) = dpaudit.check(mutant, claims=[claim], seed=SEED, samples=samples).results
    assert result.verdict == "error", result.note
    return result.note


@pytest.mark.slow
@pytest.mark.parametrize(("mutant", "claim", "found"), MUTANTS, ids=_name)
def test_a_recorded_run_shows_another_budget(mutant, claim, found):
    assert claim in [made.id for made in mutant.claims()]
    assert found in find_deviation(mutant, Streams(SEED))


@pytest.mark.slow
@pytest.mark.parametrize(("mutant", "claim", "found"), MUTANTS, ids=_name)
def test_every_one_ends_the_privacy_audit(mutant, claim, found):
    # What runs send is seen in any number of outputs.
    note = _seen_by_the_audit(mutant, claim, samples=1000)
    assert found in note
    if type(mutant).__name__ in SURVIVORS:
        assert "mend whichever is wrong" in note


@pytest.mark.slow
@pytest.mark.parametrize(("mutant", "claim", "found"), IN_VIEWS, ids=_name)
def test_every_one_in_a_view_ends_the_privacy_audit(mutant, claim, found):
    note = _seen_by_the_audit(mutant, claim, samples=20_000)
    assert found in note
    if isinstance(mutant, LessNoiseInTheView):
        assert "mend whichever is wrong" in note


@pytest.mark.slow
@pytest.mark.parametrize("target", RIGHT, ids=_name)
def test_right_protocols_send_what_their_views_declare(target):
    assert find_deviation(target, Streams(SEED)) == ""


@pytest.mark.slow
def test_debiasing_is_no_matter_of_privacy():
    (result,) = dpaudit.check(LateDebiasing(queries=2), claims=[RR], seed=SEED).results
    assert result.verdict == "proved"


@pytest.mark.slow
def test_a_refutation_stands_and_says_what_runs_send():
    """The noise before Corollary 6 gives the queries a whole budget: the view is refuted whatever runs send."""
    mutant = CentralCapNotEnforced(cap=2, agents=1, calibration="tight")
    (result,) = dpaudit.check(mutant, claims=["alabi2022.corollary6-budget-tight"], seed=SEED).results
    assert result.verdict == "refuted"
    assert "sends 3 messages through LaplaceNoise" in result.note


@pytest.mark.slow
def test_every_planned_privacy_claim_sends_what_its_view_declares():
    """One cell of each; `make check` looks at all. The bugs of the controls are what they send."""
    checked = 0
    known = set()
    run = set()
    for cell in build_cells(Request()):
        if cell.kind != "privacy" or cell.data or cell.claim.startswith("control."):
            continue
        if (cell.target, cell.claim) in known:
            continue
        known.add((cell.target, cell.claim))
        target = cell.instance()
        claim = cell.declaration().bind(target)
        if not claim.inapplicable:
            view, neighbouring = view_of(target, claim)
            # Several claims are about the same runs.
            if repr(target) not in run:
                assert find_deviation(target, Streams(SEED)) == ""
                run.add(repr(target))
            assert find_view_deviation(view, neighbouring, Streams(SEED)) == ""
            checked += 1
    assert checked > 40


# Measurements take the randomizers of the same objects.

MEASURED = [
    (LDPKwikSortRR(queries=2, alternatives=5, agents=7500), "yan2020.theorem2", 15_000, ()),
    (LDPKwikSortLap(queries=3, alternatives=5, agents=7500), "yan2020.theorem3", 22_500, ()),
    (LDPKwikSortRR(queries=2, agents=50), "yan2020.section5-kendall-tau", 100, (LDPKwikSortLap, DPKwikSort)),
    (LDPKwikSortRR(queries=2, agents=50), "yan2020.section5-error-rate", 100, (LDPKwikSortLap, DPKwikSort)),
    (DDPHelnaksort(epsilon=4.0, queries=3), "song2022.figure2-kwiksort", 600, ()),  # two protocols, with the same noise
    (LocalPairwise(agents=70), "alabi2022.corollary9", 70, ()),
    (LocalPairwise(agents=70, randomizer="entrywise"), "alabi2022.corollary9", 420, ()),
    (NoisyPairwise(alternatives=4, agents=100), "alabi2022.corollary3", 6, ()),
    (GaussianHistogram(), "shang2014.figure2", 6, ()),
    (Safari(items=4, agents=200), "yang2018.figure1a-uniform", 400, ()),
]


@pytest.mark.parametrize(("target", "claim", "number", "others"), MEASURED)
def test_measurements_send_what_the_views_declare(target, claim, number, others):
    made = next(made for made in target.claims() if made.id == claim)
    with messages.record() as ledger:
        made.measure(1, np.random.default_rng(SEED))
    declared = target.views()[target.transcript().view].sends()
    own = [(randomizer, sent) for randomizer, sent in ledger.entries if any(d.is_through(randomizer) for d in declared)]
    assert sum(sent for _, sent in own) == number
    rest = [randomizer for randomizer, _ in ledger.entries if all(randomizer is not known for known, _ in own)]
    assert len(rest) == len(others)
    for randomizer in rest:
        assert isinstance(randomizer, randomizers.LaplaceNoise)


def test_many_users_send_as_often_as_one():
    orders = np.random.default_rng(SEED).permuted(np.tile(np.arange(4), (9, 1)), axis=1)
    for target, each in ((LDPKwikSortRR(queries=2), 2), (DDPHelnaksort(queries=3), 3), (LocalPairwise(), 1)):
        with messages.record() as ledger:
            target.sample(orders, 5, np.random.default_rng(SEED))
        assert [number for _, number in ledger.entries] == [5 * 9 * each]


# A small protocol, right and wrong.


class _Noisy(dpaudit.Mechanism):
    """A clipped number with noise."""

    epsilon: float = 1.0

    @property
    def noise(self):
        return randomizers.LaplaceNoise(1 / self.epsilon)

    def sends(self):
        return [dpaudit.Message(self.noise)]

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0.0, 1.0], scope="numbers from 0 to 1")

    def sample(self, data, size, rng):
        return self.noise.randomize(np.full(size, np.clip(data, 0, 1)), rng)


class _Numbers(dpaudit.Mechanism):
    """The sum of noisy numbers, of one user each."""

    model = "local"

    epsilon: float = 1.0
    how: str = "right"

    @property
    def report(self):
        return _Noisy(epsilon=self.epsilon)

    def views(self):
        return {"output": self, "report": self.report}

    def transcript(self):
        crowds = [(2, np.array([0.5, 7.0]))] if self.how == "asks one, crowd" else []
        return dpaudit.Transcript(view="report", inputs=[np.array([0.2]), np.array([7.0])], crowds=crowds)

    def sample(self, data, size, rng):
        noise = self.report.noise
        numbers = np.clip(data, 0, 1)
        if self.how == "one by one, children":
            children = rng.spawn(len(numbers))
            return sum(
                noise.randomize(np.full(size, number), child) for number, child in zip(numbers, children, strict=True)
            )
        if self.how == "seeds":
            seeds = rng.integers(2**63, size=len(numbers))
            return sum(
                noise.randomize(np.full(size, number), np.random.default_rng(seed))
                for number, seed in zip(numbers, seeds, strict=True)
            )
        if self.how == "Mersenne":
            twister = np.random.Generator(np.random.MT19937(int(rng.integers(2**63))))
            return noise.randomize(np.tile(numbers, (size, 1)), twister).sum(axis=1)
        if self.how == "by value":
            return sum(
                noise.randomize(np.full((size, (numbers == value).sum()), value), rng).sum(axis=1)
                for value in np.unique(numbers)
            )
        if self.how.startswith("asks one"):
            chosen = rng.integers(len(numbers), size=size)
            return noise.randomize(numbers[chosen], rng)
        if self.how == "one user":
            (number,) = numbers
            return noise.randomize(np.full(size, number), rng)
        if self.how == "upside down":
            return noise.randomize(5 - np.tile(numbers, (size, 1)), rng).sum(axis=1)
        if self.how == "unclipped":
            numbers = np.asarray(data)
        return noise.randomize(np.tile(numbers, (size, 1)), rng).sum(axis=1)


@pytest.mark.parametrize(
    "how",
    ["right", "one by one, children", "seeds", "Mersenne", "by value", "asks one", "one user", "upside down"],
)
def test_right_ways_of_drawing(how):
    assert find_deviation(_Numbers(how=how), Streams(SEED)) == ""


def test_clipping_that_was_forgotten():
    found = find_deviation(_Numbers(how="unclipped"), Streams(SEED))
    assert "to numbers that are 6.8 (together 6.8) apart on [0.2] and [7.0], further than the view 'report'" in found


def test_crowds_of_the_author_send_all_messages():
    found = find_deviation(_Numbers(how="asks one, crowd"), Streams(SEED))
    assert "with 2 users, sends 1 message through LaplaceNoise" in found


class _Degenerate(dpaudit.Mechanism):
    """A bit that is reported as it is."""

    def sends(self):
        return [dpaudit.Message(randomizers.RandomizedResponse(1.0))]

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="no bit")

    def sample(self, data, size, rng):
        return randomizers.RandomizedResponse(1.0).count_ones([False], [1], rng, size)


def test_a_coin_that_is_never_tossed_may_be_declared():
    target = _Degenerate()
    assert find_view_deviation(target, target.neighbours(), Streams(SEED)) == ""


# The ledger.


def test_nothing_is_recorded_unless_it_is_asked_for():
    response = randomizers.RandomizedResponse.for_epsilon(1.0)
    with messages.record() as ledger:
        pass
    response.randomize([0, 1], np.random.default_rng(0))
    assert ledger.entries == []


def test_recording_changes_no_output():
    target, orders = LDPKwikSortInteractive(cap=4), np.tile(np.arange(4), (6, 1))
    plain = target.sample(orders, 200, np.random.default_rng(SEED))
    with messages.record():
        recorded = target.sample(orders, 200, np.random.default_rng(SEED))
    assert (plain == recorded).all()


def test_what_a_randomizer_draws_through_others_is_one_message():
    oracle = randomizers.LocalHashing.binary(5, 1.0)
    with messages.record() as ledger:
        oracle.randomize([0, 3, 3], np.random.default_rng(0))
    assert ledger.entries == [(oracle, 3)]


@pytest.mark.parametrize(
    ("draw", "number"),
    [
        (lambda rng: randomizers.RandomizedResponse.for_epsilon(1.0).randomize(np.ones((4, 3)), rng), 12),
        (lambda rng: randomizers.RandomizedResponse.for_epsilon(1.0).count_ones([True, False], [7, 1], rng, 5), 40),
        (lambda rng: randomizers.RandomizedResponse.for_epsilon(1.0).count_ones([False], [np.array([7, 8])], rng), 15),
        (lambda rng: randomizers.Thresholded(randomizers.LaplaceNoise(1.0)).count_ones([True], [3], rng), 3),
        (lambda rng: randomizers.Thresholded(randomizers.LaplaceNoise(1.0)).randomize(np.zeros(4), rng), 4),
        (lambda rng: randomizers.GaussianNoise(1.0).randomize(np.zeros((2, 2)), rng), 4),
        (lambda rng: randomizers.HypercubeResponse(3, 1.0).randomize(np.zeros((5, 3)), rng), 5),
        (lambda rng: randomizers.HypercubeResponse(3, 1.0).tally(np.zeros((2, 3)), [10, 20], rng), 30),
        (lambda rng: randomizers.UnaryEncoding(4, 1.0).randomize([0, 1, 2], rng), 3),
        (lambda rng: randomizers.UnaryEncoding(4, 1.0).aggregate([5, 0, 6, 0], rng), 11),
        (lambda rng: randomizers.GeneralizedRandomizedResponse(4, 1.0).aggregate([5, 0, 6, 0], rng), 11),
        (lambda rng: randomizers.SignProjection.hadamard(4, 1.0).randomize([0, 1], rng), 2),
        (lambda rng: randomizers.SignProjection.hadamard(4, 1.0).aggregate([1, 0, 6, 0], rng), 7),
        (lambda rng: randomizers.HadamardResponse(4, 1.0).randomize([0, 1], rng), 2),
        (lambda rng: randomizers.HadamardResponse(4, 1.0).aggregate([1, 0, 6, 0], rng), 7),
    ],
)
def test_every_randomizer_announces_its_messages(draw, number):
    with messages.record() as ledger:
        draw(np.random.default_rng(SEED))
    assert [sent for _, sent in ledger.entries] == [number]


def test_a_tape_returns_the_messages_of_another_run():
    target, (one, other) = DDPHelnaksort(queries=3), DDPHelnaksort(queries=3).lone_voters()
    tape = messages.Tape()
    with messages.record(tape):
        outputs = target.sample(one, 50, np.random.default_rng(SEED))
    tape.rewind()
    with messages.record(tape) as ledger:
        again = target.sample(other, 50, np.random.default_rng(SEED))
    assert (outputs == again).all()
    assert not tape.parted
    assert [number for _, number in ledger.entries] == [150]
    with messages.record(tape):
        target.sample(other, 50, np.random.default_rng(SEED))
    assert tape.parted


def test_only_those_count_that_are_sent():
    response = randomizers.RandomizedResponse.for_epsilon(1.0)
    with messages.record() as ledger:
        with messages.ahead() as drawn:
            response.randomize(np.ones(100), np.random.default_rng(0))
        assert ledger.entries == []
        drawn.sent(3)
        drawn.sent(np.int64(4))
    assert ledger.entries == [(response, 7)]


def test_budgets_are_told_apart_where_the_coin_is_almost_true():
    """At 30 and at 60 the probability of the truth rounds to the same number."""
    message = dpaudit.Message(randomizers.RandomizedResponse.for_epsilon(30.0))
    assert message.is_through(randomizers.RandomizedResponse.for_epsilon(10.0 * 3))
    assert not message.is_through(randomizers.RandomizedResponse.for_epsilon(60.0))


def test_a_scale_that_was_computed_in_another_order_is_the_same():
    message = dpaudit.Message(randomizers.LaplaceNoise(0.1 + 0.2))
    assert message.is_through(randomizers.LaplaceNoise(0.3))
    assert not message.is_through(randomizers.GaussianNoise(0.3))
    assert not message.is_through(randomizers.LaplaceNoise(0.3001))


def test_what_cannot_be_declared_is_refused():
    response = randomizers.RandomizedResponse.for_epsilon(1.0)
    with pytest.raises(dpaudit.ParameterError, match="0 <= least <= times"):
        dpaudit.Message(response, 2, least=3)
    with pytest.raises(dpaudit.ParameterError, match="at least one input"):
        dpaudit.Transcript(view="report", inputs=[])


class _WrongView(LDPKwikSortRR):
    def transcript(self):
        return dpaudit.Transcript(view="reports", inputs=[np.arange(4)[None]])


class _SilentView(LDPKwikSortRR):
    def transcript(self):
        return dpaudit.Transcript(view="output", inputs=[np.arange(4)[None]])


class _NoTranscript(LDPKwikSortRR):
    def transcript(self):
        return "report"


class _NoMessages(RandomizedResponseReport):
    def sends(self):
        return [self.response]


class _ViewWithoutMessages(LDPKwikSortRR):
    def views(self):
        return {"report": _NoMessages()}


class _NamesTaken(dpaudit.Mechanism):
    """Parameters that have the names."""

    transcript: str = "a"
    sends: int = 1

    def sample(self, data, size, rng):
        return rng.random(size)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")


def test_parameters_may_have_the_names():
    target = _NamesTaken()
    assert find_deviation(target, Streams(SEED)) == ""
    assert find_view_deviation(target, target.neighbours(), Streams(SEED)) == ""


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (_NoTranscript(), "`transcript` returned str; return a dpaudit.Transcript"),
        (_ViewWithoutMessages(), "return a list of dpaudit.Message"),
        (_WrongView(), "the views are 'output', 'report'"),
        (_SilentView(), "define `sends` there"),
    ],
)
def test_a_transcript_must_name_a_view_with_messages(target, words):
    with pytest.raises(dpaudit.CheckError, match=words):
        find_deviation(target, Streams(SEED))


def test_recording_ends_with_the_deadline():
    with pytest.raises(OutOfTimeError):
        find_deviation(LDPKwikSortRR(), Streams(SEED), Pace(planned=0, deadline=0.0))


def test_the_example_for_authors():
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("### Messages")[2]
    names = {}
    exec(section.partition("```python\n")[2].partition("```")[0], names)
    tally = names["Tally"](queries=3)
    assert find_deviation(tally, Streams(SEED)) == ""
    with messages.record() as ledger:
        tally.sample(np.ones((5, 3)), 2, np.random.default_rng(SEED))
    assert [number for _, number in ledger.entries] == [2 * 5 * 3]
    tally.report.sample([0, 1, 1], 2, np.random.default_rng(SEED))

    class Unsplit(names["Tally"]):
        def sample(self, data, size, rng):
            whole = names["Report"](epsilon=self.epsilon, queries=1)
            return whole.response.randomize(np.tile(data, (size, 1, 1)), rng).sum(axis=(1, 2))

    assert "epsilon 3 together" in find_deviation(Unsplit(queries=3), Streams(SEED))
