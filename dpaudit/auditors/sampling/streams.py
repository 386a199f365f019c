"""Random streams keyed by what they are for, so that equal seeds give equal records on any number of workers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Self

import numpy as np

CHUNK = 1 << 16
"""Samples drawn in one call; fixed, because it decides which random numbers go into which sample. Chosen by hand: what
a call takes is then little beside what its outputs take, and these fit into memory."""


@dataclass(frozen=True, slots=True)
class Streams:
    """A tree of independent random streams below one seed.

    Parameters
    ----------
    seed
        The run's seed, >= 0.
    key
        Where in the tree this is: names and numbers.
    """

    seed: int
    key: tuple[str | int, ...] = ()

    def child(self, *key: str | int) -> Self:
        """Return the subtree for a purpose."""
        return type(self)(self.seed, (*self.key, *key))

    def generator(self, *key: str | int) -> np.random.Generator:
        """Return the generator for a purpose; the same one for the same key."""
        digest = hashlib.sha256(json.dumps([*self.key, *key]).encode()).digest()
        words = tuple(int(word) for word in np.frombuffer(digest, dtype="<u4"))
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=words)))
