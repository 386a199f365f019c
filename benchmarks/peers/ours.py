"""The black-box auditor on one pair of inputs."""

from suite.given import Given

import dpaudit
from peers.common import Said


def audited(row: Given, samples: int, confidence: float, seed: int) -> Said:
    """The black-box auditor on the pair of a row."""

    class OnThePair(type(row.mechanism)):
        name = row.mechanism.name

        def neighbours(self):
            return dpaudit.Neighbouring(relation="neighbours", pairs=[row.pair], complete=False, scope="one pair")

    mechanism = OnThePair(**row.mechanism.parameters())
    record = dpaudit.check(mechanism, samples=samples, confidence=confidence, method="black-box", seed=seed)
    result = record.results[0]
    if "epsilon" not in result.measured:
        raise RuntimeError(f"{row.mechanism.name}: {result.note}")
    return Said(samples=samples, bound=result.measured["epsilon"].lower)
