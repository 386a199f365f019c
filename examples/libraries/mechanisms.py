"""Mechanisms and a tool of diffprivlib: `dpaudit check diffprivlib:examples/libraries/mechanisms.py` audits all."""

from functools import partial

from diffprivlib import mechanisms, tools

votes = mechanisms.Geometric(epsilon=1.0, sensitivity=2)

best = mechanisms.PermuteAndFlip(epsilon=1.0, sensitivity=1, utility=[0.0, 1.0, 2.0])

mean = partial(tools.mean, epsilon=1.0, bounds=(0, 1))
