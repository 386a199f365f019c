"""The index of the noisy maximum under zero-concentrated DP."""

import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")


def target():
    """The release."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    noisy = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), 1.0)
    return dpaudit.from_opendp(noisy, name="noisy-max")


twin = target
