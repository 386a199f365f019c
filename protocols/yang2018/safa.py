"""SAFA (Section III-D, Algorithms 1 and 2): each user reports one attribute by generalised randomized response."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers

from .attributes import AttributeCollector, AttributeReport
from .paper import PAPER, SAFA_VARIANCE, USERS_ASKED


class SafaReport(AttributeReport):
    """Report of SAFA: the attribute, and its value by generalised randomized response (Algorithm 2)."""

    notation = (
        "an input holds the user's value of every attribute; an output is the attribute asked for and the "
        "value reported"
    )

    @property
    def randomizer(self) -> randomizers.SampledResponse:
        """The randomizer, with domains of the same size for all attributes."""
        return randomizers.SampledResponse(np.full(self.attributes, self.values), self.epsilon)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.randomizer)]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        asked = self.randomizer.assign(size, rng)
        return np.stack([asked, self.randomizer.randomize(asked, np.asarray(data)[asked], rng)], axis=1)

    def law(self, data: Any) -> dpaudit.FiniteLaw:
        return self.randomizer.law(data)


class Safa(AttributeCollector):
    """SAFA: each user reports one attribute, drawn by the collector, by generalised randomized response."""

    name = "safa"
    places = (PAPER.at(section="III-D", algorithm=(1, 2)),)
    errata = (USERS_ASKED, SAFA_VARIANCE)

    @property
    def report(self) -> SafaReport:
        """What one user sends."""
        return SafaReport(epsilon=self.epsilon, attributes=self.attributes, values=self.values)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw estimated frequencies, shape (size, |A|, m), for users' tuples of shape (n, |A|)."""
        tuples, safa = np.asarray(data), self.report.randomizer
        found = []
        for _ in range(size):
            asked = safa.assign(len(tuples), rng)
            reports = safa.randomize(asked, tuples[np.arange(len(tuples)), asked], rng)
            found.append(safa.estimate(safa.tally(asked, reports), len(tuples)))
        return np.array(found)
