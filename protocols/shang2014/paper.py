"""Shang, Wang, Cuff, Kulkarni 2014: bibliographic data, symbols and errata."""

import dpaudit

PAPER = dpaudit.Paper(
    key="shang2014",
    title="The application of differential privacy for rank aggregation: privacy and accuracy",
    authors=("Shang", "Wang", "Cuff", "Kulkarni"),
    year=2014,
    venue="17th International Conference on Information Fusion (FUSION)",
    sections={
        "I": "Introduction",
        "II": "Differential privacy in rank aggregation",
        "II-A": "Rank aggregation: definitions and notations",
        "II-B": "Differential privacy",
        "II-C": "Privacy preserving algorithms",
        "III": "General error bounds",
        "III-A": "Geometric perspective of positional ranking systems",
        "III-B": "An upper bound on the general error rate",
        "III-C": "Asymptotic error rate",
        "IV": "Simulation results",
        "V": "Conclusions",
    },
    symbols={
        "ϵ": "epsilon",
        "δ": "failure; the parameter delta may also be a tenth over the number of agents",
        "M": "alternatives",
        "N": "agents",
        "q": "histogram",
        "v": "shares",
        "g": "rule",
        "σ": "noise.scale",
        "σ̂": "share_noise, which is σ / N",
        "P_e": "the error rate",
        "p_D": "pair_distance_density: density of the distance from the hyperplane where two alternatives tie",
        "τ": "tau; bounds are functions of x = τ / σ̂",
        "Q": "upper_tail of the standard normal law",
    },
)

ERRATA = (
    dpaudit.Erratum(
        where=PAPER.at(section="II-A"),
        printed="the Kemeny-Young method is NP-hard even for M = 4, with M the number of candidates",
        meant="for 4 voters",
        reason="four candidates have 24 rankings; the result that is cited is about four lists",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="III-B"),
        printed="D takes values on [-√2, √2]",
        meant="D takes values on [-1/√2, 1/√2] at most",
        reason="the unit normal has each entry with both signs, so its largest entry is at most 1/√2",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="III-B", lemma=1, part="proof", equation=13),
        printed="Eq. 12 holds for any hyperplane, not only for one through the origin",
        meant="it holds through the origin only, and Lemma 1 follows because p_D is even and log-concave",
        reason="the density of Y is positive everywhere, but a hyperplane farther than 1/√2 misses the simplex",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="III-B", lemma=2, note="and Theorem 2, Equations 17 to 21"),
        printed="the last term is Q(τ / σ̂)",
        meant="C(M, 2) Q(τ / σ̂), by a union over the pairs as for the first term",
        reason="near one hyperplane noise may cross another (Eq. 17), and beyond τ any of several (Eq. 18)",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="III-B", theorem=2, part="after", equation=26),
        printed="the second term has the factor 1 / (2 √π)",
        meant="1 / √π",
        reason="Eq. 25 at x = ϵ N τ / √(2 ln(2/δ)) gives twice the printed term; Eq. 27 follows from the right one",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="III-C", lemma=3, part="proof", equation=28),
        printed="by Jensen's inequality the average of Q over [0, τ / σ̂] is at most Q(τ / (2 σ̂))",
        meant="at least",
        reason="Q is convex on [0, ∞); the third line also lacks the factor τ that the fourth has",
    ),
)
