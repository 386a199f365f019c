"""Feldman, McMillan, Talwar 2021: bounds on what shuffling leaves of the ε0 of any randomizer, by "clones"."""

import dpaudit
from dpaudit import laws
from dpaudit.catalog.balle2019 import ShuffledResponse, bound_on_epsilon, smallest_epsilon

PAPER = dpaudit.Paper(
    key="feldman2021",
    title=("Hiding among the clones: a simple and nearly optimal analysis of privacy amplification by shuffling"),
    authors=("Feldman", "McMillan", "Talwar"),
    year=2021,
    venue="FOCS",
    doi="10.1109/FOCS52979.2021.00096",
    symbols={"ε0": "epsilon", "n": "users", "δ": "delta"},
)


@dpaudit.claim(
    "feldman2021.theorem3.1",
    ShuffledResponse,
    kind="utility",
    place=PAPER.at(section="3", theorem="3.1", note="for any randomizer"),
    statement="Shuffled reports need at most this ε at δ.",
)
def theorem3_1(protocol: ShuffledResponse) -> dpaudit.UtilityClaim:
    return bound_on_epsilon(protocol, laws.clones_epsilon(protocol.epsilon, protocol.users, protocol.delta))


@dpaudit.claim(
    "feldman2021.clones",
    ShuffledResponse,
    kind="utility",
    place=PAPER.at(section="3", note="for any randomizer, computed exactly"),
    statement="Shuffled reports need at most this ε at δ.",
)
def clones(protocol: ShuffledResponse) -> dpaudit.UtilityClaim:
    at = (protocol.epsilon, protocol.users, protocol.delta)
    return bound_on_epsilon(protocol, smallest_epsilon(laws.clones_delta, *at))
