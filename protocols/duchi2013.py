"""Duchi, Jordan, Wainwright: the vector mechanism, by which Alabi et al. 2022 report all comparisons at once.

The mechanism itself is `dpaudit.randomizers.HypercubeResponse`.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers

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
    reason="at an even d a tie is 1 + e^ϵ times as probable as a report on the wrong side; Nguyen et al., "
    "arXiv:1606.05053, noted it first",
)

ERRATA = (TIES,)


class VectorReport(dpaudit.Mechanism):
    """One report of the vector mechanism: a vector of d signs, in the half-space of the user's own or the opposite."""

    notation = (
        "an input is a vector of d bits, 1 for +1 and 0 for -1; so is the output, whose entries stand for B and -B"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one user")
    dimensions: int = dpaudit.parameter(6, minimum=1, maximum=1000, doc="d, the entries of a vector")
    ties: Literal["split", "both"] = dpaudit.parameter(
        "split", doc="reports that agree in exactly half of the entries: as mended, or as printed"
    )

    @property
    def response(self) -> randomizers.HypercubeResponse:
        """The randomizer."""
        return randomizers.HypercubeResponse(self.dimensions, self.epsilon, self.ties)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.response)]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        own = np.broadcast_to(np.asarray(data, dtype=bool), (size, self.dimensions))
        return self.response.randomize(own, rng).astype(np.int8)

    def law(self, data: Any) -> dpaudit.Law:
        return self.response.law(np.asarray(data, dtype=bool))

    def neighbours(self) -> dpaudit.Neighbouring:
        ones = np.ones(self.dimensions, dtype=np.int8)
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(ones, np.where(np.arange(self.dimensions) < k, 0, ones)) for k in range(1, self.dimensions + 1)],
            complete=True,
            scope=(
                f"any two vectors of {self.dimensions} bits; all entries and both signs are treated alike, so two "
                "vectors stand for all that differ in as many entries"
            ),
        )


class VectorMechanism(VectorReport):
    """The vector mechanism: one report of d signs at ϵ, with its ties split between the half-spaces or in both."""

    name = "vector-mechanism"
    places = (VECTOR_MECHANISM,)
    model = "local"
    trust = "Nobody is trusted: every user randomizes its vector."
    errata = (TIES,)


@dpaudit.claim(
    "duchi2013.vector-mechanism",
    VectorMechanism,
    kind="privacy",
    place=VECTOR_MECHANISM,
    statement="For every ϵ > 0 and d: one report, with ties in both half-spaces as printed, is ϵ-LDP.",
)
def vector_mechanism(mechanism: VectorMechanism) -> dpaudit.PrivacyClaim:
    both = mechanism.ties == "both"
    return dpaudit.PrivacyClaim(epsilon=mechanism.epsilon, inapplicable="" if both else "it is about ties = both")


@dpaudit.claim(
    "duchi2013.vector-mechanism-mended",
    VectorMechanism,
    kind="privacy",
    place=VECTOR_MECHANISM,
    ours=True,
    statement="For every ϵ > 0 and d: one report, with ties split between the half-spaces, is ϵ-LDP.",
)
def vector_mechanism_mended(mechanism: VectorMechanism) -> dpaudit.PrivacyClaim:
    split = mechanism.ties == "split"
    return dpaudit.PrivacyClaim(epsilon=mechanism.epsilon, inapplicable="" if split else "it is about ties = split")
