"""Input domains: which inputs neighbour which, declared so that they can be counted, listed, drawn and varied."""

from dpaudit.claims.inputs.anytwo import AnyTwo
from dpaudit.claims.inputs.base import (
    InputDomain,
    Pair,
    distinct,
    error_text,
    input_key,
    is_pair,
    is_twice_the_same,
    pair_key,
    short_repr,
)
from dpaudit.claims.inputs.drawn import DrawnPairs
from dpaudit.claims.inputs.records import Records
from dpaudit.claims.inputs.vectors import Vectors

__all__ = [
    "AnyTwo",
    "DrawnPairs",
    "InputDomain",
    "Pair",
    "Records",
    "Vectors",
    "distinct",
    "error_text",
    "input_key",
    "is_pair",
    "is_twice_the_same",
    "pair_key",
    "short_repr",
]
