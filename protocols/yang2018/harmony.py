"""Harmony for categorical attributes (Nguyen et al. 2016), as Section III-D describes it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers

from .attributes import AttributeCollector, AttributeReport
from .paper import HARMONY, HARMONY_VARIANCE, PAPER, PROJECTION


class HarmonyReport(AttributeReport):
    """Report of Harmony: the attribute, a row of the Hadamard matrix, and the value's sign in it, randomized."""

    notation = (
        "an input holds the user's value of every attribute; an output is the attribute asked for, the row of "
        "the Hadamard matrix, and the sign reported"
    )

    @property
    def randomizer(self) -> randomizers.SampledProjection:
        """The randomizer, with the Hadamard matrix."""
        return randomizers.SampledProjection(self.attributes, self.values, self.epsilon)

    def sends(self) -> Sequence[dpaudit.Message]:
        # The loss is the same whatever public matrix the signs come from.
        return [dpaudit.Message(self.randomizer, others=[replace(self.randomizer, projection="random")])]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        asked = self.randomizer.assign(size, rng)
        signs = self.randomizer.randomize(self.randomizer.orthogonal(), asked, np.asarray(data)[asked], rng)
        return np.concatenate([asked[:, None], signs], axis=1)

    def law(self, data: Any) -> dpaudit.FiniteLaw:
        return self.randomizer.law(data, self.randomizer.orthogonal())


class Harmony(AttributeCollector):
    """Harmony on categorical attributes: each user reports one sign of a projection of one attribute's value."""

    name = "harmony"
    places = (PAPER.at(section="III-D"), HARMONY.at())
    errata = (PROJECTION, HARMONY_VARIANCE)

    @property
    def report(self) -> HarmonyReport:
        """What one user sends."""
        return HarmonyReport(epsilon=self.epsilon, attributes=self.attributes, values=self.values)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    @property
    def randomizer(self) -> randomizers.SampledProjection:
        """The randomizer, with the matrix that the parameter ``projection`` names."""
        return replace(self.report.randomizer, projection=self.projection)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw estimated frequencies, shape (size, |A|, m), for users' tuples of shape (n, |A|)."""
        tuples, harmony = np.asarray(data), self.randomizer
        found = []
        for _ in range(size):
            matrices = harmony.matrices(rng)
            asked = harmony.assign(len(tuples), rng)
            reports = harmony.randomize(matrices, asked, tuples[np.arange(len(tuples)), asked], rng)
            found.append(harmony.estimate(matrices, asked, reports))
        return np.array(found)
