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
        where=PAPER.at(section="III-B", lemma=1, part="proof", equation=(14, 16)),
        printed="the characteristic function of β X is (1 + iβt)^(-1); the integrals of Eq. 16 are over s",
        meant="(1 - iβt)^(-1), and over t",
        reason="X is exponential; the product is the same, as β has each entry with both signs",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="III-B", lemma=1, part="proof", equation=15, note="the sentence before it"),
        printed="the entries of β at a ranking and at its reversal are opposite",
        meant="at a ranking and at that with the two alternatives exchanged, so that Equation 15 itself is right",
        reason="plurality gives 1 where a is first and b second, and 0 at the reversal",
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
    dpaudit.Erratum(
        where=PAPER.at(section="IV", figure=2),
        printed="δ = 5e-4 is 0.1 divided by the number of voters",
        meant="left open: 5e-4 is 1/N for N = 2000, and 0.1/N is 5e-5, as Figure 3 has it",
        reason="Figure 2 is audited at both",
    ),
)

LEFT_ALONE = (
    dpaudit.Assertion(
        where=PAPER.at(section="I", note="on privacy leaks"),
        says="Users of the Netflix data were identified; rankings can be learned from global statistics.",
        reason="about other people's data",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="I", note="on recommendations"),
        says="Good private social recommendations are achievable for few users only.",
        reason="about another paper",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="I", note="on the definition"),
        says="Differential privacy makes no assumption on the attacker's background knowledge.",
        reason="what the definition means, in words",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="II-A", note="on complexity"),
        says="The Kemeny-Young method is NP-hard, and a positional rule takes O(M N + M log M) steps.",
        reason="a theorem of complexity (misprinted, see the errata), and the additions and the sort of the definition",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="II-A", note="on neutrality"),
        says="All positional rules are anonymous and neutral.",
        reason="by definition: they see counts and places alone",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="II-A", note="on plurality"),
        says="Plurality discards too much information.",
        reason="an opinion",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="II-B", definition=1, part="after"),
        says="(ϵ, δ)-DP relaxes ϵ-DP in that the ratio need not be bounded where both probabilities are very small.",
        reason="a remark on a definition",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="II-C", note="on negative counts"),
        says="Some noisy counts may be negative, which does not harm: positional rules are defined for them.",
        reason="by definition; proposition1-meant has negative counts for all rules",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="II-C", equation=5, part="after", note="on Gaussian noise"),
        says="A linear combination of jointly Gaussian variables is Gaussian.",
        reason="a textbook theorem",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="III-A"),
        says="C(M, 2) hyperplanes part the rank simplex into M! congruent polytopes, each with M - 1 of them.",
        reason="by symmetry under relabelling, and because an order is known from its M - 1 neighbours",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="III-A", note="on ties"),
        says="Ties have no effect on the analysis.",
        reason="true of positional rules, of which the section is; any-rule shows that it is not of Copeland's",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="III-B"),
        says="If noise switches two candidates the ranking changes; p_D is the same for all pairs.",
        reason="by definition, and by symmetry under relabelling",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="III-B", equation=9, part="after"),
        says="p_D(l) is proportional to the volume of the slice at distance l.",
        reason="the definition of a density",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="III-B", lemma=1, part="proof", equation=(11, 12, 14, 16)),
        says="The density of Y, its value at 0 by Webb, its characteristic function, and |G(s)| <= G(0).",
        reason="proof steps, correct up to misprints (see the errata); lemma1 is what they are for",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="III-B", theorem=2, part="proof", equation=(20, 21, 23)),
        says="Q(0) = 1/2, Lemma 1 and Equation 22 put into Lemma 2.",
        reason="proof steps that hold where Lemma 2 does; lemma1 and equation22 are audited",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="III-B", theorem=2, part="after", equation=25, note="on the approximation"),
        says="Equation 25 is a good approximation for large x.",
        reason="no measure is named",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="III-C", theorem=3, part="proof"),
        says="Theorem 3 follows from Lemma 3 and the bounded convergence theorem.",
        reason="Lemma 3 is false, and theorem3 is audited by itself",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="V"),
        says="The bounds give insight into the trade-off, and can be tightened for a given rule.",
        reason="no measure is named; borda-bound is the tightened one",
    ),
)
"""What the paper asserts and what is not audited."""
