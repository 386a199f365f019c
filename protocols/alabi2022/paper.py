"""Alabi, Ghazi, Kumar, Manurangsi 2022: rank aggregation in the central and the local model, with lower bounds."""

import dpaudit

RESULTS = "Our Results"
CENTRAL = "Algorithms in the Central Model"

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
        "Notation",
        CENTRAL,
        "Algorithms in the Local Model",
        "Lower Bounds",
        "Other Related Work",
        "Conclusions & Future Work",
    ),
    symbols={
        "ϵ": "epsilon",
        "δ": "delta",
        "m": "alternatives",
        "n": "agents",
        "ξ": "xi",
        "q": "cap",
        "w_ij": "weights: the fraction of the agents who place i before j",
        "K(σ, Π)": "average Kendall tau distance of the ranking σ to the profile Π",
        "OPT(Π)": "the least average Kendall tau distance to Π",
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
    meant="E_q and its complement the other way round",
    reason="the algorithm returns σ^A within the cap and σ* beyond it, and the next line has ζ/m^4 before σ*",
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

ERRATA = (FACT_2, COROLLARY_3, PROOF_OF_THEOREM_5, COROLLARIES_6_7, ALGORITHM_1)
