"""What SAFA and Harmony share: users who each hold a value of every attribute, and one of which they are asked for."""

from collections.abc import Iterator

import numpy as np

import dpaudit
from dpaudit import randomizers


class AttributeReport(dpaudit.Mechanism):
    """What one user sends: the attribute asked about, and what the randomizer makes of its value."""

    epsilon: float = dpaudit.parameter(1.0, doc="ε', the budget of one user")
    attributes: int = dpaudit.parameter(3, minimum=1, doc="|A|")
    values: int = dpaudit.parameter(4, minimum=2, doc="m, the size of every domain")

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=self._pairs,
            complete=True,
            scope=(
                f"any two tuples of {self.attributes} values; renaming the values of an attribute and the attributes "
                "leaves the losses as they are, so one tuple stands for all that differ in as many attributes"
            ),
        )

    def _pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        zeros = np.zeros(self.attributes, dtype=np.int64)
        for differing in range(1, self.attributes + 1):
            yield zeros, (np.arange(self.attributes) < differing).astype(np.int64)


class AttributeCollector(dpaudit.Mechanism):
    """The collector's estimates of the frequencies of all values of all attributes."""

    epsilon: float = dpaudit.parameter(1.0, maximum=20.0, doc="ε', the budget of one user")
    attributes: int = dpaudit.parameter(3, minimum=1, doc="|A|")
    values: int = dpaudit.parameter(4, minimum=2, doc="m, the size of every domain")
    agents: int = dpaudit.parameter(5000, minimum=1, role="agents", doc="n")
    frequency: float = dpaudit.parameter(0.05, minimum=0, maximum=1, doc="f, share of the users who hold a value")
    projection: randomizers.Projection = dpaudit.parameter("hadamard", doc="Harmony's binary matrix")

    model = "local"
    trust = "Nobody is trusted: the collector draws the attribute, every user randomizes its value."

    def transcript(self) -> dpaudit.Transcript:
        one = np.zeros((1, self.attributes), dtype=np.int64)
        return dpaudit.Transcript(view="report", inputs=[one, one + 1])
