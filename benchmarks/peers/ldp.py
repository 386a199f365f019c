"""LDP-Auditor: the attack that guesses a user's value from the report, and a bound from how often it is right.

Arcolezi and Gambs, "Revealing the true cost of locally differentially private protocols: an auditing perspective",
PoPETs 2024, written from the paper. The attack knows the protocol: it guesses the reported value, a random member of
the reported subset, a random bit that is set, or a random value whose hash is the reported one; where there is none,
any value. It trains nothing, so that all samples go to the bound on how often the first value is guessed on either
input.

Not as published: each of the two Clopper-Pearson bounds has half of the error probability. The library takes two-sided
intervals at that level, of which it uses one end.
"""

import numpy as np
from suite.given import Given

from peers.common import Said, Source, bound_of


def _reported(outputs, mechanism, rng):
    return outputs


def _any_set(outputs, mechanism, rng):
    """A random member of the bits that are set."""
    rank = np.where(outputs == 1, rng.random(outputs.shape), -1.0)
    guess = rank.argmax(axis=1)
    return np.where(rank.max(axis=1) < 0, rng.integers(0, outputs.shape[1], len(outputs)), guess)


def _any_with_that_hash(outputs, mechanism, rng):
    """A random value with the reported hash; the report holds the hash function as a table."""
    return _any_set((outputs[:, :-1] == outputs[:, -1:]).astype(np.int8), mechanism, rng)


ATTACKS = {
    "randomized-response": _reported,
    "symmetric-unary-encoding": _any_set,
    "optimized-unary-encoding": _any_set,
    "subset-selection": _any_set,
    "optimized-local-hashing": _any_with_that_hash,
    # Its features are what the attack works out: which of the ten values a report supports.
    "seeded-local-hashing-features": _any_set,
}


def attacked(row: Given, samples: int, confidence: float, seed: int) -> Said | None:
    """Bound from the guesses of the first value; None for what is no protocol that the attack knows."""
    attack = ATTACKS.get(row.mechanism.name)
    if attack is None:
        return None
    rng = np.random.default_rng([seed, 22])
    hits = [
        int(np.count_nonzero(attack(side.raw, row.mechanism, rng) == row.pair[0]))
        for side in Source(row, seed).both(samples, "final")
    ]
    return Said(samples=samples, bound=bound_of(*hits, samples, confidence, row.mechanism.delta))
