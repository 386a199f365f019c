"""Frequency oracles of pure-LDP: direct encoding, optimised unary encoding and optimised local hashing.

Each claims that the report of a user who holds one of k values is epsilon-locally differentially private. What is
audited is the report's support vector: the values for which the library's own server counts it. Nothing is lost. In
local hashing, for instance, the report (y, hash seed) has the probability of its seed times p where the user's value
hashes to y, and times q where not; so how likely two values make it depends on the support vector alone.
"""

import random
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from pure_ldp.frequency_oracles import direct_encoding, local_hashing, unary_encoding

import dpaudit


@contextmanager
def _seeded(rng):
    """Seed the two global generators from which the library draws, and restore them afterwards."""
    before = random.getstate(), np.random.get_state()
    random.seed(rng.bytes(32))
    np.random.seed(rng.integers(2**32, size=8))
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])


class _Oracle(dpaudit.Mechanism):
    epsilon: float = 1.0
    values: int = dpaudit.parameter(4, minimum=2, doc="k, the number of values")

    source = "pure-LDP, pure_ldp.frequency_oracles"
    client: ClassVar[type]
    server: ClassVar[type]
    options: ClassVar[dict[str, Any]] = {}

    def sample(self, data, size, rng):
        client = self.client(self.epsilon, self.values, **self.options)
        server = self.server(self.epsilon, self.values, **self.options)
        supports = np.zeros((size, self.values))
        with _seeded(rng):
            for support in supports:
                server.aggregated_data = support  # where the server adds 1 to every value that the report supports
                server.aggregate(client.privatise(data))
        return supports.astype(np.uint8)

    def neighbours(self):
        values = range(1, self.values + 1)
        return dpaudit.Neighbouring.any_two_inputs(values, scope=f"all pairs of {self.values} values")

    def claims(self):
        statement = f"A report is {self.epsilon:g}-locally differentially private."
        return [dpaudit.PrivacyClaim(id=f"pure-ldp.{self.name}", statement=statement, epsilon=self.epsilon)]


class DirectEncoding(_Oracle):
    """The value, or any other (generalised randomised response)."""

    client, server = direct_encoding.DEClient, direct_encoding.DEServer


class OptimisedUnaryEncoding(_Oracle):
    """One bit for each value, each flipped on its own."""

    client, server = unary_encoding.UEClient, unary_encoding.UEServer
    options: ClassVar = {"use_oue": True}


class OptimisedLocalHashing(_Oracle):
    """The hash of the value, randomised, and the seed of the hash function."""

    client, server = local_hashing.LHClient, local_hashing.LHServer
    options: ClassVar = {"use_olh": True}
