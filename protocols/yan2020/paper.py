"""The paper, and what is misprinted or left open in it."""

import dpaudit

PAPER = dpaudit.Paper(
    key="yan2020",
    title="Private rank aggregation under local differential privacy",
    authors=("Yan", "Li", "Liu"),
    year=2020,
    venue="International Journal of Intelligent Systems 35(10)",
    doi="10.1002/int.22261",
    url="https://arxiv.org/abs/1908.04486",
    sections={
        "Abstract": "Abstract",
        "1": "Introduction",
        "2": "Preliminaries and Related Work",
        "2.1": "Rank Aggregation",
        "2.2": "Private Rank Aggregation",
        "2.3": "Local Differential Privacy",
        "3": "Locally Private Rank Aggregation",
        "3.1": "Problem Formalization",
        "3.2": "Protocol Overview",
        "3.3": "Local Perturbation",
        "3.4": "Post-processing",
        "3.5": "Laplace Solution",
        "4": "Theoretical Analysis",
        "4.1": "Privacy Guarantee",
        "4.2": "Utility Guarantee",
        "4.2.1": "Analysis of LDP-KwikSort:RR",
        "4.2.2": "Analysis of LDP-KwikSort:Lap",
        "4.3": "Computational Complexity",
        "5": "Empirical Analysis",
        "5.1": "Experiment Settings",
        "5.1.1": "Competitors",
        "5.1.2": "Datasets and Configuration",
        "5.1.3": "Utility Metrics",
        "5.2": "The Impact of Query Amount",
        "5.3": "The Impact of Privacy Budget",
        "5.4": "The Impact of Agent and Alternative Amount",
        "5.5": "The Impact of Dispersion Parameter",
        "5.6": "Time Cost",
        "5.7": "Discussion",
        "6": "Conclusion",
        "Appendix": "Appendix",
    },
    symbols={
        "ϵ": "epsilon",
        "K": "queries",
        "ϵ_k": "epsilon / queries",
        "m": "alternatives",
        "n": "agents",
        "θ": "dispersion",
        "p - q": "bias",
        "cmp": "margins",
    },
)

OF_THE_PROTOCOL = (
    dpaudit.Erratum(
        where=PAPER.at(section="2.1"),
        printed="K(L, L_i) = |{(a_j, a_l) : a_j < a_l, L has a_j before a_l but L_i has a_l before a_j}|",
        meant="the number of pairs that the two rankings order differently, whichever of them has a_j first",
        reason="as printed the aggregate (2, 1) has distance 0 to an agent's (1, 2)",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="3.2"),
        printed="K rounds of interactions, in each of which the curator randomly selects K different pairs",
        meant="K different pairs altogether, one for each of K answers, as Algorithms 1 to 4 and Section 4 have it",
        reason="taken literally these are K^2 answers of budget ϵ/K each, and so Kϵ",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="5.1.2"),
        printed="synthetic data come from PerMallows with the θ of the theorems",
        meant="two parametrisations: phi = 1 - θ in the theorems, phi = exp(-θ) in PerMallows",
        reason="θ = 0.5 is phi = 0.5 in the theorems and 0.607 in PerMallows; the parameter `convention` chooses",
    ),
)
"""Errata that concern both solutions."""

OF_KWIKSORT = (
    dpaudit.Erratum(
        where=PAPER.at(section="2.1"),
        printed="KwikSort achieves an 11/7-approximation [2]; so too in Section 4.2.1",
        meant="2 for KwikSort alone, and 11/7 for the better of its ranking and that of a random agent",
        reason="so the source proves it; no profile on which KwikSort is above 11/7 is known here (kwiksort-ratio)",
    ),
)
"""Errata that concern KwikSort, which the paper cites."""

OF_RR = (
    dpaudit.Erratum(
        where=PAPER.at(section="3.3", algorithm=1),
        printed="the report is 1 if g <= p_rr and 0 otherwise, whatever the true answer",
        meant="the report is the true answer if g <= p_rr and its opposite otherwise",
        reason="as printed the reports do not depend on the data; the matrix M_rr of Section 3.3 is what is meant",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="4.1", theorem=1, part="proof"),
        printed="the ratio of the report probabilities is 2 p_rr / (1 - p_rr) = e^ϵ_k",
        meant="p_rr / (1 - p_rr) = e^ϵ_k",
        reason="with p_rr = e^ϵ_k / (e^ϵ_k + 1) the printed left side is 2 e^ϵ_k",
    ),
)
"""Errata that concern LDP-KwikSort:RR alone."""

OF_LAP = (
    dpaudit.Erratum(
        where=PAPER.at(section="4.2.2"),
        printed="p_{1,0} = F(-0.5) = 1 - exp(-ϵ_k / 2) / 2, and p_{1,1} = 1 - F(-0.5) = exp(-ϵ_k / 2) / 2",
        meant="F(-0.5) = exp(-ϵ_k / 2) / 2 is the probability of a false answer, and p_{1,1} one minus it",
        reason="F is below one half at a negative point, and M_lap has p_lap on its diagonal",
    ),
)
"""Errata that concern LDP-KwikSort:Lap alone."""

OF_DP_KWIKSORT = (
    dpaudit.Erratum(
        where=PAPER.at(section="5.1.1"),
        printed="the budget of one comparison is ϵ / ((m - 1) log m), without the base of the logarithm",
        meant="left open: the parameter `logarithm` audits both the natural and the binary one",
        reason="no base is stated; the binary logarithm is what the count of comparisons of a QuickSort suggests",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="5.1.1"),
        printed="noise Lap(1/ϵ') on a difference of counts, for neighbours that differ on one record",
        meant="left open: the parameter `relation` audits substitution and add-remove",
        reason="replacing one ranking changes a difference of counts by 2, adding or removing one changes it by 1",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="5.3"),
        printed="DP-KwikSort is based on the local model of DP",
        meant="the central model",
        reason="the curator adds the noise to counts of true answers",
    ),
)
"""Errata that concern DP-KwikSort, which the paper restates."""

OF_THE_EVALUATION = (
    dpaudit.Erratum(
        where=PAPER.at(section="5.2"),
        printed="K from {1, 2, 3, 4, m + 1, C(m, 2)}, and the minimum at ϵ = 10 is at K = ϵ/2 = 5",
        meant="K = 5 beside them; without it the claim can be read off for m = 4 alone, where m + 1 is 5",
        reason="m + 1 is 11 for SUSHI and 16 for the Mallows profiles of Section 5.3, so 5 is not among their K",
    ),
    dpaudit.Erratum(
        where=PAPER.at(section="5.6"),
        printed="from m = 15 on LDP-KwikSort:RR needs more time than LDP-KwikSort:Lap",
        meant="from m = 30 on",
        reason="Table 3 has 2.8551 s for RR and 2.9294 s for Lap at m = 15, and RR above Lap from m = 30 on",
    ),
)
"""Errata that concern the experiments."""

ERRATA = (*OF_KWIKSORT, *OF_THE_PROTOCOL, *OF_RR, *OF_LAP, *OF_DP_KWIKSORT, *OF_THE_EVALUATION)

LEFT_ALONE = (
    dpaudit.Assertion(
        where=PAPER.at(section="Abstract"),
        says="Existing works that guarantee differential privacy in rank aggregation all assume a trusted curator.",
        reason="about the literature, as is that no work on the local model existed (Section 2.2)",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="Abstract"),
        says="LDP-KwikSort is effective and efficient, with a practical trade-off and strong local privacy.",
        reason="no measure is named; Sections 1, 5.7 and 6 repeat it, and what can be measured of it has claims",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="1"),
        says="An ensemble is usually more accurate than a single learner; preference data can be sensitive.",
        reason="motivation, about other people's work",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="1", note="on linkage"),
        says="Anonymized ballots of the 2015 Hugo Awards could be matched to individuals.",
        reason="about an incident elsewhere",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="1", note="on the central model"),
        says="An adversary with any background knowledge cannot confidently infer whether an agent's profile is there.",
        reason="what differential privacy means, in words",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.1", note="on Kemeny rankings"),
        says="A Kemeny optimal ranking is NP-hard to compute for n > 3.",
        reason="a theorem of complexity, about four agents and other even numbers of them",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.1", note="on the implementation"),
        says="Where a margin is zero pwlistorder places the alternative after the pivot, and the paper at random.",
        reason="about the authors' code, which is not published",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.2"),
        says="Shang et al. released the histogram of rankings, and Hay et al. proposed three algorithms.",
        reason="about other papers, which have pages of their own",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.2", definition=2),
        says="The Laplace mechanism with scale Δf/ϵ satisfies the definition.",
        reason="a textbook theorem; theorem1-lap proves it for the answers that are sent",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.3", definition=3),
        says="K invocations of ϵ_k-DP randomizers with budgets that add up to ϵ are ϵ-LDP.",
        reason="a definition here; theorem1-rr and theorem1-lap prove it for the protocol",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="2.3", equation=2),
        says="Randomized response with p = e^ϵ / (e^ϵ + 1) is ϵ-DP.",
        reason="the case K = 1 of theorem1-rr",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="3.2"),
        says="The curator selects K different pairs for each agent, who answers each of them.",
        reason="describes the protocol; tests hold the code against Algorithms 1 to 4",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="3.5"),
        says="The sensitivity of an answer is 1, and the counters of Algorithm 4 estimate the true counts.",
        reason="a difference of two bits; the counters are of flipped answers, and the paper claims no unbiasedness",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.2.1", equation=3),
        says="The estimated margin is the noisy one over 2 p_rr - 1, so that both have the same sign.",
        reason="arithmetic; a test solves Equation 1 for random counts",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.2.1", equation=3, part="after"),
        says="KwikSort depends on the signs of the margins alone.",
        reason="by the definition of KwikSort",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.2.1", theorem=2, part="proof", lemma=1),
        says="Hoeffding's inequality for Bernoulli trials, and its use for both counters.",
        reason="a textbook theorem; pairwise-bound audits what follows for a random number of answers",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.2.1", theorem=2, part="proof", lemma=2),
        says="The Chernoff bound P(X >= R) <= 2^(-R), R >= 6 E[X], for independent Poisson trials.",
        reason="a textbook theorem, and true; its use for pairs that are not independent is theorem2-independent-pairs",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.2.2"),
        says="An answer with Laplace noise is taken for its opposite with probability exp(-ϵ_k / 2) / 2.",
        reason="a distribution function; the misprint in it is an erratum, and theorem3 and pairwise-bound-lap use it",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="4.3"),
        says="The estimation takes O(m^2) steps, and the basic operations of an agent are K draws and K additions.",
        reason="one subtraction for each of the C(m, 2) pairs; the draws are counted by table2-agent-time",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="5.1.2"),
        says="TurkDots, TurkPuzzle and SUSHI have n = 795, 793 and 5000 agents and m = 4, 4 and 10 alternatives.",
        reason="about the data; tests check the first two, and SUSHI may not be passed on",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="5.2"),
        says="A large K helps intuitively; the property is more obvious on synthetic data.",
        reason="no measure is named; both kinds of data have claims of their own",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="5.3"),
        says="The trends under the two metrics are consistent, as one reflects the steps and one the ranking.",
        reason="no measure is named; both metrics have claims of their own",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="5.4"),
        says="With more alternatives LDP-KwikSort needs more agents to reach KwikSort's distance, say 7500 at m = 30.",
        reason="no bound is named; the percentages that the text gives there have claims",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="5.6", table=3),
        says="The seconds of Table 3.",
        reason="times of a machine of 2012 and of code that is not published; the orderings have claims",
    ),
    dpaudit.Assertion(
        where=PAPER.at(section="Appendix"),
        says="Figures 6 and 7: the error rates and distances of both solutions at every K and budget.",
        reason="curves without numbers; what the text says of them is Figure 3's",
    ),
)
"""What the paper asserts and what is not audited."""
