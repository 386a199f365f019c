"""Laplace noise on whole numbers."""

import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")


def target():
    """The release."""
    made = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=3.0)
    return dpaudit.from_opendp(made, name="noise")
