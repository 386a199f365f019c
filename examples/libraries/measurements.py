"""Measurements of OpenDP, as a user has them: `dpaudit check opendp:examples/libraries/measurements.py::count`."""

import opendp.prelude as dp

dp.enable_features("contrib")

count = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)

ages = dp.vector_domain(dp.atom_domain(bounds=(18, 90)))
total = (ages, dp.symmetric_distance()) >> dp.t.then_sum() >> dp.m.then_laplace(scale=90.0)


def coordinates(scale: float = 2.0) -> dp.Measurement:
    """Two coordinates with Gaussian noise; `--set scale=4` sets the argument."""
    space = dp.vector_domain(dp.atom_domain(T=int), size=2)
    return dp.m.make_gaussian(space, dp.l2_distance(T=float), scale=scale)
