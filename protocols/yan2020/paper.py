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
        where=PAPER.at(section="5.1.2"),
        printed="synthetic data come from PerMallows with the θ of the theorems",
        meant="two parametrisations: phi = 1 - θ in the theorems, phi = exp(-θ) in PerMallows",
        reason="θ = 0.5 is phi = 0.5 in the theorems and 0.607 in PerMallows; the parameter `convention` chooses",
    ),
)
"""Errata that concern both solutions."""

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

ERRATA = (*OF_THE_PROTOCOL, *OF_RR, *OF_LAP, *OF_DP_KWIKSORT, *OF_THE_EVALUATION)
