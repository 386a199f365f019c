"""Duchi, Jordan, Wainwright: the vector mechanism, by which Alabi et al. 2022 report all comparisons at once.

The mechanism itself is `dpaudit.randomizers.HypercubeResponse`.
"""

import dpaudit

PAPER = dpaudit.Paper(
    key="duchi2013",
    title="Local privacy, data processing inequalities, and statistical minimax rates",
    authors=("Duchi", "Jordan", "Wainwright"),
    year=2013,
    venue="arXiv:1302.3203",
    doi="10.48550/arXiv.1302.3203",
    url="https://arxiv.org/abs/1302.3203",
)

VECTOR_MECHANISM = PAPER.at(note="the ℓ∞ mechanism")
"""Where the mechanism is defined."""

TIES = dpaudit.Erratum(
    where=VECTOR_MECHANISM,
    printed="both half-spaces <z, v> >= 0 and <z, v> <= 0 contain the ties <z, v> = 0",
    meant="a tie counts as half in either, as if a further, fixed entry broke it",
    reason="at even d = C(m, 2) a tie is 1 + e^ϵ times as probable as a report on the wrong side",
)

ERRATA = (TIES,)
