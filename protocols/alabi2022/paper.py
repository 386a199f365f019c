"""Alabi, Ghazi, Kumar, Manurangsi 2022: rank aggregation in the central and the local model, with lower bounds."""

from typing import Any

import dpaudit

RESULTS = "Our Results"
NOTATION = "Notation"
CENTRAL = "Algorithms in the Central Model"
LOCAL = "Algorithms in the Local Model"
LOWER_BOUNDS = "Lower Bounds"

PAPER = dpaudit.Paper(
    key="alabi2022",
    title="Private rank aggregation in central and local models",
    authors=("Alabi", "Ghazi", "Kumar", "Manurangsi"),
    year=2022,
    venue="AAAI Conference on Artificial Intelligence",
    url="https://arxiv.org/abs/2112.14652",
    sections=(
        "Introduction",
        "Background",
        RESULTS,
        NOTATION,
        CENTRAL,
        LOCAL,
        LOWER_BOUNDS,
        "Other Related Work",
        "Conclusions & Future Work",
    ),
    one_counter=True,
    symbols={
        "ϵ": "epsilon",
        "δ": "delta",
        "m": "alternatives",
        "n": "agents",
        "ξ": "xi",
        "q": "cap",
        "K(σ, Π)": "average Kendall tau distance of the ranking σ to the profile Π",
        "OPT(Π)": "the least average Kendall tau distance to Π",
        "ϵ_0": "answer_budget",
        "2q/m": "uses: the answers that a set of agents gives at most",
        "d_ϵ": "the size of an answer, 1 / tanh(ϵ_0 / 2)",
        "w_ji": "the fraction of the agents who prefer j to i",
        "d": "dimensions",
        "t": "padding",
        "π^x": "ranking_of(x, padding)",
        "ρ(π)": "word_of(orders, dimensions)",
    },
)

FACT_2 = dpaudit.Erratum(
    where=PAPER.at(section=CENTRAL, fact=2, theorem=1),
    printed="|K(σ, w) - K(σ, w~)| <= sum over all i, j in [m] of |w_ji - w~_ji|, and so (α + 1) m^2 e",
    meant="the sum over pairs i < j, and so (α + 1) C(m, 2) e",
    reason="a ranking pays one of the two directions of a pair; the print is true and at least twice too large",
)
COROLLARY_3 = dpaudit.Erratum(
    where=PAPER.at(section=CENTRAL, corollary=3),
    printed="noise Lap(m^2 / (ϵn)) on each query, for q <= m^2 queries",
    meant="noise Lap(C(m, 2) / (ϵn)): footnote 2 noises the pairs i < j only",
    reason="the printed noise spends (m - 1)/(2m) of the budget; the parameter `calibration` audits both",
)
PROOF_OF_THEOREM_5 = dpaudit.Erratum(
    where=PAPER.at(section=CENTRAL, theorem=5, part="proof"),
    printed="E[K(σ, w~)] <= Pr[E_q] E[K(σ^A, w~) | E_q] + Pr[not E_q] E[K(σ*, w~)], E_q: more than q queries",
    meant="E_q and its complement the other way round; and K(σ, w) for K(σ, w~), by one more use of Fact 2",
    reason="the algorithm returns σ^A within the cap and σ* beyond it, and the next line has ζ/m^4 before σ*, with the "
    "bound of Corollary 3, which is about K(σ*, w); the theorem is about K(σ, w) too",
)
COROLLARIES_6_7 = dpaudit.Erratum(
    where=PAPER.at(section=CENTRAL, corollary=(6, 7)),
    printed="noise Lap(q / (ϵn)), or Gaussian noise of deviation O(sqrt(q log(1/δ)) / (ϵn)), on each query",
    meant="the same at ϵ/2: Lap(2q / (ϵn))",
    reason="Theorem 5 wants (ϵ/2, δ) for the queries; q of them at ϵ/q and the fallback at ϵ/2 cost 3ϵ/2",
)
ALGORITHM_1 = dpaudit.Erratum(
    where=PAPER.at(section=CENTRAL, algorithm=1),
    printed="the counter c is an input of the recursion, so that both parts continue from the same value",
    meant="one counter for the whole run",
    reason="the text below the algorithm calls it a global counter",
)

COVARIANCES = dpaudit.Erratum(
    where=PAPER.at(section=LOCAL, lemma=10, part="proof", equation=3),
    printed="Var(w~_ji) = (m/n)^2 (sum of the variances + sum over k < k' of the covariances)",
    meant="twice the sum of the covariances",
    reason="a variance of a sum counts every pair twice; the covariances are at most 0, so the bound stands",
)

ADAPTIVE = (
    COVARIANCES,
    dpaudit.Erratum(
        where=PAPER.at(section=LOCAL, algorithm=(2, 3)),
        printed="the counter of a set is raised inside the loop over its agents",
        meant="it is raised once for every query that the set answers",
        reason="as printed it counts agents, and the first query ends in ⊥ where n > 2q",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section=LOCAL, lemma=10, note="the text after it"),
        printed="⊥ if the set has already been used at least 2q/m times",
        meant="⊥ if it would be used more than 2q/m times, as in Algorithm 2",
        reason="where 2q/m is no whole number the text allows one use more, and nominally more than ϵ",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section=LOCAL, algorithm=3),
        printed="d_ϵ without saying for which budget, a threshold τ = Ω(log m), and a fallback at ϵ/2",
        meant="τ = 2q/m, and Algorithm 2 run on ϵ/2, so that ϵ_0 = ϵm / 4q",
        reason="Theorem 11 claims ϵ in total, and Theorem 5, its counterpart, halves the budget",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section=LOCAL, lemma=10),
        printed="any sequence of q queries",
        meant="different queries, chosen without knowing ℓ",
        reason="a query asked again goes to the same set, and who knows ℓ can ask one set for everything",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section=LOCAL, algorithm=3),
        printed="answers for ji and ij come from different sets, with noise of their own",
        meant="left as printed: KwikSort asks for one of the two",
        reason="their sum is not 1, so the probability constraint that the ratio 5 rests on does not hold",
    ),
)
"""Errata of Reduction II in the local model."""

HARD_INSTANCES = (
    dpaudit.Erratum(
        where=PAPER.at(section=LOWER_BOUNDS, observation=15, part="before"),
        printed="in words, j and j + d + t are switched if x_j = +1; the formula switches them if x_j = -1",
        meant="one of the two: with the text's map, ρ as printed is its inverse; with the formula's, minus ρ is",
        reason="by the formula π^x is the identity at x = (1, ..., 1), of which ρ as printed makes (-1, ..., -1)",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section=LOWER_BOUNDS, observation=15),
        printed="σ in S_2d, and the scalar product with ρ(σ) although ρ(π^x) = -x by the displayed formulas",
        meant="σ in S_(2d+t), and ρ_j = +1 where j comes before j + d + t",
        reason="at σ = π^x and all x^i = x the left side is 0 and the right side as printed t d",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section=LOWER_BOUNDS, observation=16),
        printed="K(π^y, ...) <= t (d / 2 - <y, mean> / 2) + 2 d^2",
        meant="2 t (d / 2 - <y, mean> / 2) + 2 d^2; d^2 in place of 2 d^2 is enough",
        reason="switching j and j + d + t inverts both with each of the t items between, 2 t pairs; as printed it "
        "holds for t <= d only, and the proof of Theorem 14 takes t large. A factor 2 between the observations is "
        "left, because a ranking that puts j and j + d + t on one side of the t items pays t whatever x_j is; it "
        "halves the approximation ratio that the reduction excludes, which may be any constant",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section=LOWER_BOUNDS, observation=16, part="before"),
        printed="the inversions of elements in {1, ..., d+1, d+t+1, ..., 2d+t}",
        meant="{1, ..., d, d+t+1, ..., 2d+t}",
        reason="d + 1 is one of the t items between",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section=LOWER_BOUNDS, theorem=14),
        printed="no (1, o(1/n))-DP algorithm for n = o(sqrt(m) / ϵ), for any ϵ in (0, 1]",
        meant="no (ϵ, o(1/n))-DP algorithm",
        reason="ϵ does not occur in the privacy that is printed; for ϵ that shrink like 1 / m it would exclude "
        "what Corollary 7 gives at privacy 1 and n = m, an error of m^1.5 times logarithms",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section=NOTATION),
        printed="K(σ, Π) sums 1[σ(i) <= σ(j)] w_ji over all i, j, but w_ii is not defined",
        meant="i different from j, or w_ii = 0",
        reason="σ(i) <= σ(i) always holds",
    ),
)
"""Errata of the lower bounds, and of the notation that they use."""

ERRATA = (
    FACT_2,
    COROLLARY_3,
    PROOF_OF_THEOREM_5,
    COROLLARIES_6_7,
    ALGORITHM_1,
    *ADAPTIVE,
    *HARD_INSTANCES,
)


def _left(says: str, reason: str, **where: Any) -> dpaudit.Assertion:
    return dpaudit.Assertion(where=PAPER.at(**where), says=says, reason=reason)


OTHERS = "about other people's work"
STEP = "a proof step without a number of its own"

LEFT_ALONE = (
    _left(
        "The algorithms of Hay et al., Yan et al. and Liu et al. are guaranteed to be DP; their utility is provably "
        "good only under distributional assumptions.",
        "about other people's systems; those of Hay et al. and Yan et al. are audited under yan2020",
        section="Introduction",
    ),
    _left("Rank aggregation reduces to weighted feedback arc sets in tournaments.", OTHERS, section="Background"),
    _left(
        "K(π, π) = 0, and K is at most C(m, 2).",
        "it follows from the definition",
        section="Background",
    ),
    _left(
        "The lower bounds roughly match the upper bounds.",
        "a summary; see nontrivial-laplace, nontrivial-gaussian, nontrivial-local-epsilon and theorem13-constant",
        section=RESULTS,
    ),
    _left(
        "All algorithms run in poly(nm) time.",
        "of Reduction II the comparisons are counted (comparisons-expected); Reduction I and the fallbacks rest on "
        "the approximation scheme of Kenyon-Mathieu and Schudy, in whose place exact Kemeny rankings stand here",
        section=RESULTS,
        table=1,
    ),
    _left(
        "All known rank aggregation algorithms use w alone, and the known ratios hold under the probability "
        "constraint.",
        "about other people's algorithms; the ratio 5 of KwikSort is audited (kwiksort-five)",
        section=NOTATION,
    ),
    _left(
        "Every α-approximation on at most q queries and every Q with expected error e give ratio α and error (α + 1) "
        "m^2 e.",
        "a reduction for all algorithms; audited for those of Corollaries 3 and 4, with its lemma, Fact 2, and what it "
        "makes of that (theorem1-core)",
        section=CENTRAL,
        theorem=1,
    ),
    _left(
        "The scheme of Kenyon-Mathieu and Schudy has ratio 1 + ξ and wants all entries.",
        OTHERS,
        section=CENTRAL,
        part="after",
        theorem=1,
    ),
    _left(
        "Every α-approximation on at most q queries, but for a probability ζ/m^4, gives ratio α + ζ.",
        "a reduction for all algorithms; audited for KwikSort (corollary6, corollary7) and its budget for any q",
        section=CENTRAL,
        theorem=5,
    ),
    _left(
        "E[K(σ^A, w~)] >= Pr[E_q] E[K(σ^A, w~) | E_q].",
        STEP,
        section=CENTRAL,
        theorem=5,
        equation=2,
        part="proof",
    ),
    _left(
        "Approximate DP does not help in the local model: sequentially interactive protocols can be made pure.",
        OTHERS,
        section=LOCAL,
    ),
    _left(
        "The mechanism of Duchi et al. answers all entries at once, and Bassily's answers depend on the order of "
        "queries.",
        "about other people's mechanisms, as the reason for Lemma 10",
        section=LOCAL,
        theorem=8,
        part="after",
    ),
    _left(
        "E[B_k w~] = w / m, and distinct B_k are negatively correlated, so that the covariances are at most 0.",
        "proof steps; the whole variance is audited exactly (lemma10-error)",
        section=LOCAL,
        lemma=10,
        part="proof",
    ),
    _left(
        "Every α-approximation on q queries gives a local ratio of α + ζ and an error of O(m^1.5 q / (ϵ sqrt n)).",
        "a reduction for all algorithms, its proof in the supplement; audited for KwikSort (theorem11, "
        "theorem11-budget)",
        section=LOCAL,
        theorem=11,
    ),
    _left(
        "An arbitrary ranking has an additive error of O(m^2).",
        "it follows from the definition",
        section=LOWER_BOUNDS,
    ),
    _left(
        "There is no (1, o(1/n))-DP (α, c m^2)-approximation for n = o(sqrt(m) / ϵ).",
        "it rests on fingerprinting (Dwork et al. 2015, Steinke and Ullman 2017), with constants that nobody states, "
        "and is not audited; theorem14-packing reaches n of the order of log(1/δ) / ϵ only",
        section=LOWER_BOUNDS,
        theorem=14,
    ),
    _left(
        "A lower bound of the central model holds in the local model too.",
        "a local protocol is a central one; no number",
        section=LOWER_BOUNDS,
        theorem=14,
        part="after",
    ),
    _left(
        "Signs of marginals are enough to violate privacy, for distributions with a mean near -1 or +1.",
        OTHERS,
        section=LOWER_BOUNDS,
        observation=16,
        part="after",
    ),
    _left(
        "With t large the additive 2 d^2 is small against the optimum.",
        "a step of the proof of Theorem 14, in the supplement",
        section=LOWER_BOUNDS,
        observation=16,
        part="after",
    ),
    _left(
        "No voting rule meets Arrow's criteria; Kemeny rankings put a Condorcet winner first and are NP-hard to find "
        "for four voters; Bun et al. have other neighbours.",
        OTHERS,
        section="Other Related Work",
    ),
    _left(
        "Each algorithm has a near-optimal ratio or a near-optimal error, and not both.",
        "a summary of Tables 1 and 2",
        section="Conclusions & Future Work",
    ),
    _left(
        "Interactivity seems inherent to algorithms in the manner of QuickSort.",
        "a conjecture",
        section="Conclusions & Future Work",
    ),
)
"""What the paper asserts and is not audited, in its order."""
