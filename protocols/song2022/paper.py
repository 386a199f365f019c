"""Bibliographic data, symbols and errata of Song, Lan, Li, Li 2022."""

from typing import Final

import dpaudit
from dpaudit.catalog.cheu2019 import PAPER as CHEU

PAPER: Final = dpaudit.Paper(
    key="song2022",
    title="Distributed differentially private ranking aggregation",
    authors=("Song", "Lan", "Li", "Li"),
    year=2022,
    venue="PAKDD",
    doi="10.1007/978-3-031-05933-9_19",
    sections={
        "1": "Introduction",
        "2": "Preliminaries",
        "2.1": "Ranking aggregation",
        "2.1.1": "Conception and measurement",
        "2.1.2": "Hierarchical ranking aggregation",
        "2.2": "Differential privacy",
        "2.3": "Shuffle model",
        "3": "Ranking aggregation algorithm under DDP",
        "3.1": "Ranking preference collection",
        "3.2": "Shuffling",
        "3.3": "Ranking aggregation",
        "3.4": "Privacy guarantee",
        "4": "Experiments",
        "4.1": "Experiment settings",
        "4.1.1": "Datasets",
        "4.1.2": "Baseline algorithms",
        "4.1.3": "Utility metric - average Kendall tau distance",
        "4.2": "Performance of DDP-Helnaksort",
        "4.2.1": "Comparison between DDP-Helnaksort and baseline algorithms",
        "4.2.2": "Impact of query amount to every agent",
        "4.2.3": "Ablation study: impact of shuffle model and privacy budget",
        "5": "Conclusions",
    },
    symbols={
        "ϵ": "epsilon of one agent; central_epsilon is the ϵ that is left after shuffling",
        "δ": "delta",
        "K": "queries",
        "m": "alternatives",
        "n": "agents",
        "n'": "agents_per_pair, n / C(m, 2)",
        "ϵ_k": "epsilon / queries, the budget of one answer",
        "θ": "dispersion",
    },
)

PROTOCOL_ERRATA: Final = (
    dpaudit.Erratum(
        where=PAPER.at(section="2.2", definition=2),
        printed="Pr[M(x = y)] for every output y",
        meant="Pr[M(x) in Y] for every set Y of outputs",
        reason="with δ > 0 a bound for single outputs does not add up to one for sets of them",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="2.3", theorem="2.1"),
        printed="a randomizer that is (ϵ + ln n, δ)-LDP gives a shuffled protocol that is (ϵ, δ)-DP",
        meant="a shuffled protocol of single messages that is (ϵ, δ)-DP has a randomizer that is (ϵ + ln n, δ)-LDP",
        reason=(f"{CHEU.citation}, which is cited for it, proves the latter; randomized response refutes the former"),
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="3.1", algorithm=1, line=3, note="and Section 3.2"),
        printed="an agent's preference on a randomly selected pair, that is being queried",
        meant="left open who selects the pair, and who knows it; there are claims for known and for secret pairs",
        reason="the proof of Theorem 3.1 hides an answer among the n' on its pair, which fits pairs that are known",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="3.3", equation=1),
        printed="C_aj sums over j in [M]",
        meant="it sums over the other alternatives i of the level",
        reason="j is the alternative whose score it is",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="3.3", algorithm=2, line=(6, 7, 8, 9), note="and Section 2.1.2"),
        printed="PCM divides by the number of answers on a pair; PPR compares M(i, j) with M(i, j)",
        meant="PPR compares M(i, j) with M(j, i), within the level, and a pair without answers is a tie",
        reason="a pair may get no answer, and M(i, j) = 1/2 is the paper's value for equal preference",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="3.3", algorithm=2, line=(10, 11, 12)),
        printed="L(j) += PPR(i, j): an alternative scores for those that are preferred to it",
        meant="L(j) += PPR(j, i): it scores for those that it is preferred to",
        reason="Section 2.1.2 takes row sums, and line 19 ranks by levels, the highest first",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="3.3", algorithm=2, line=(13, 14, 15)),
        printed="the winner of C_aj, with no word on several of them",
        meant="one of them, drawn uniformly",
        reason="any rule by label would prefer some alternatives",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="3.4", equation=2),
        printed="δ on the left side",
        meant="σ, the standard deviation of the noise",
        reason="the right side is the classical calibration of the Gaussian mechanism with the budget ϵ/K",
    ),
)
"""What concerns DDP-Helnaksort."""

BASELINE_ERRATA: Final = (
    dpaudit.Erratum(
        where=PAPER.at(section="4.1.2"),
        printed="K is the number of answers of an agent, and comparisons are asked for when QuickSort makes them",
        meant="who answers which is left open; here an agent answers each with a fixed probability, at most K of them",
        reason="the number of comparisons is not known when they are asked for",
    ),
)
"""What concerns LDP-QuickSort."""

ERRATA: Final = (*PROTOCOL_ERRATA, *BASELINE_ERRATA)
