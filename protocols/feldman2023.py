"""Feldman, McMillan, Talwar 2023: a sharper bound on what shuffling leaves of ε0, for some randomizers."""

import dpaudit
from dpaudit import laws
from dpaudit.catalog.balle2019 import ShuffledResponse, bound_on_epsilon

PAPER = dpaudit.Paper(
    key="feldman2023",
    title="Stronger privacy amplification by shuffling for Rényi and approximate differential privacy",
    authors=("Feldman", "McMillan", "Talwar"),
    year=2023,
    venue="SODA",
    doi="10.1137/1.9781611977554.ch181",
    symbols={"ε0": "epsilon", "n": "users", "δ": "delta"},
)


@dpaudit.claim(
    "feldman2023.closed-form",
    ShuffledResponse,
    kind="utility",
    place=PAPER.at(section="3", note="for randomizers as its errata have it"),
    statement="Shuffled reports need at most this ε at δ.",
)
def closed_form(protocol: ShuffledResponse) -> dpaudit.UtilityClaim:
    return bound_on_epsilon(protocol, laws.stronger_clones_epsilon(protocol.epsilon, protocol.users, protocol.delta))
