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
        "Abstract": "Abstract",
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
        "n'": "share, n / C(m, 2)",
        "ϵ_k": "epsilon / queries, the budget of one answer",
        "θ": "dispersion",
    },
)

PROTOCOL_ERRATA: Final = (
    dpaudit.Erratum(
        where=PAPER.at(section="2.1.1", note="and Section 4.1.3"),
        printed="1 / C(m, 2) times a sum over all i ≠ j, and 2 / (n m (m - 1)) times the sum of these",
        meant="the share of the pairs in different order, averaged over the agents",
        reason="the former counts every pair twice, and the latter divides by the number of pairs again",
    ),
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
        where=PAPER.at(section="2.3", theorem="2.1"),
        printed="where ϵ' is smaller than ϵ",
        meant="the theorem names no ϵ'; the words are left out",
        reason="no other symbol of it could be meant: ϵ + ln n is not smaller than ϵ",
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
    dpaudit.Erratum(
        where=PAPER.at(section="4.2.3"),
        printed="of the algorithm with and without shuffling the second one has a large ϵ locally, and performs better",
        meant="the first one, with shuffling",
        reason="at equal central ϵ the agents have ϵ + ln n' with a shuffler and ϵ without, and Figure 4 shows the "
        "former to be better",
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

LEFT_ALONE: Final = (
    dpaudit.Assertion(
        where=PAPER.at(section="Abstract"),
        says="The mechanism demonstrated competitive results in output accuracy and privacy protection.",
        reason="no number; what is meant by it is audited as Figures 2 to 4 and Theorem 3.1",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="1"),
        says="Anonymizing hardly solves the problem, as at the Hugo Awards 2015; DP defends whatever is known before.",
        reason="about other people's systems, and a common reading of the definition",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="1"),
        says="Shang et al. add noise to votes; Hay et al. have three algorithms; Wang et al. study soundness.",
        reason="about other people's systems; those of Shang et al. and Hay et al. are audited under their papers",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="1"),
        says="HRA with its Borda count, combined with DP directly, costs too much budget and performs very poorly.",
        reason="no split of the budget is given and none is measured; the budget of the score is audited",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="1"),
        says="It performs better than some differentially private aggregations by pairwise comparisons.",
        reason="audited as Figure 2, against the two that the paper compares with",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section=("1", "2.2")),
        says="Local privacy needs much data for an acceptable utility; distributed privacy has a higher utility.",
        reason="no number and no setting; the comparison that the paper makes is audited as Figure 4",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section=("1", "5")),
        says="It is the first to adopt distributed differential privacy for ranking aggregation.",
        reason="about priority",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.1.1"),
        says="Kemeny optimal aggregation minimises the average Kendall tau distance.",
        reason="a definition",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.1.2"),
        says="Pivots drawn at random are likely to reduce the utility of a private ranking.",
        reason="audited as Figure 2, and without noise as hra-without-pivots",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.2"),
        says="In the distributed model nobody needs to worry about privacy leakage from the curator.",
        reason="no number; what the curator's view says of an agent is audited as Theorem 3.1",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.3"),
        says="Shuffling cuts the connection between the outputs and their sources.",
        reason="no number; audited as what Section 3.2 says of guessing the source",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="3"),
        says="The final ranking represents the preferences of most agents, and no ranking is revealed to the curator.",
        reason="the aim, not a result",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="3.1"),
        says="A smaller K guarantees the utility, but may end up with a less representative ranking.",
        reason="says both ways; which K is best is audited as Figure 3",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="3.1"),
        says="Other mechanisms than the Gaussian one can be used too.",
        reason="no theorem is stated for them; Theorem 3.1 read for them is audited as a statement of ours",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="3.3", equation=1),
        says="The score C_aj reduces the noise effect.",
        reason="no measure is named; what it does to the distance is audited (score-utility)",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="3.4", equation=3),
        says="The number of answers about a pair is n' = n / C(m, 2).",
        reason="true of the mean only, as agents draw their pairs; the effect is audited as Theorem 3.1 by lot",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="3.4", part="proof", theorem="3.1"),
        says="K rounds with ϵ / K and δ each make (ϵ, δ).",
        reason="a proof step, which composition at K δ would not give; its result is audited as Theorem 3.1, local",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4"),
        says="All algorithms were executed 300 times.",
        reason="about the authors' runs; no curve has a number in print, so that no mean of 300 can be held against it",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.1.1"),
        says="TurkDots contains rankings of 4 alternatives.",
        reason="about data; it is seen when the file is read",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.1.2"),
        says="LDP-QuickSort asks only what QuickSort uses, and wastes no budget on other pairs.",
        reason="how it is defined; what it comes to is audited as Figure 2",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.2.1"),
        says="The cause is that DDP-Helnaksort uses more information of pairs, and has no error of pivots.",
        reason="an explanation without a number",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.2.2"),
        says="The cause is that large noise on much information harms more than small noise on little.",
        reason="an explanation without a number; its two halves are audited as Figure 3 and as Section 3.1",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.2.2", figure=3),
        says="In panel (b) too the performance is better with every smaller K.",
        reason="of 104 steps from K to K - 1 at m = 15; figure3-synthetic has K = 1 against 2, 15 and 105",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.2.3"),
        says="The distance grows more on TurkDots because the synthetic data have fewer answers on each pair.",
        reason="an explanation; the amplification ln n' and the growth itself are audited as Figure 4",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section=("4.2.3", "5")),
        says="Cryptographic tools may amplify the privacy, and personalised privacy may improve the utility.",
        reason="about future work",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="5"),
        says="Theory and experiments confirm that the shuffle model is valid.",
        reason="a summary of Theorem 3.1 and Figure 4",
    ),
)
"""What the paper asserts and what is not audited, in its order."""
