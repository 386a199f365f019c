"""What the black-box auditor must find: rare decisive events, and events of every shape, at modest budgets.

Every row names what a right auditor finds with a wide margin; the truth is the reader's to compute.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

import dpaudit


def structured(items):
    outputs = np.empty(len(items), dtype=object)
    outputs[:] = items
    return outputs


# Rare events: probability 1e-4 on the first input, none on the second.

RARE = 1e-4


def rarely(data, size, rng):
    """Where the leak shows."""
    return rng.random(size) < RARE * data


def atom(data, size, rng):
    return np.where(rarely(data, size, rng), 0.25, rng.laplace(size=size))


def far_tail(data, size, rng):
    return rng.laplace(size=size) + 1000 * rarely(data, size, rng)


def needle(data, size, rng):
    return np.where(rarely(data, size, rng), 3 + 1e-6 * rng.random(size), rng.laplace(size=size))


def outcome(data, size, rng):
    return np.where(rarely(data, size, rng), 444, rng.integers(0, 1000, size) ** 2)


def string(data, size, rng):
    names = np.array([f"user {i}" for i in range(1000)] + ["user 444a"])
    return names[np.where(rarely(data, size, rng), 1000, rng.integers(0, 1000, size))]


def coordinate(data, size, rng):
    rows = rng.normal(size=(size, 5))
    rows[rarely(data, size, rng), 3] = 1.0
    return rows


def far_coordinate(data, size, rng):
    rows = rng.normal(size=(size, 5))
    rows[:, 3] += 30 * rarely(data, size, rng)
    return rows


# At delta = 0 with about 80 hits against none: log(80 / 7) - 0.3 at confidence 0.999.
RARE_EVENTS = [atom, far_tail, needle, outcome, string, coordinate, far_coordinate]
