"""Balcer and Cheu 2020 on shuffling under pure differential privacy: one claim, about shuffled randomized response."""

import dpaudit
from dpaudit.catalog.balle2019 import ShuffledResponse

PAPER = dpaudit.Paper(
    key="balcer2020",
    title="Separating local & shuffled differential privacy via histograms",
    authors=("Balcer", "Cheu"),
    year=2020,
    venue="ITC",
    doi="10.4230/LIPIcs.ITC.2020.1",
)


@dpaudit.claim(
    "balcer2020.pure",
    ShuffledResponse,
    kind="privacy",
    place=PAPER.at(note="on pure differential privacy"),
    statement="With δ = 0, shuffled reports need the ε0 of one report, and no more.",
)
def pure(protocol: ShuffledResponse) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=protocol.epsilon)
