"""The Renyi accountant, asked for a sum of vectors of norm 1 of which one is replaced."""

import dp_accounting
from dp_accounting.rdp import RdpAccountant

import dpaudit

NOISE, DELTA = 1.0, 1e-5


class Accounted(dpaudit.NoisySteps):
    """One sum with Gaussian noise."""

    multiplier = NOISE

    def claims(self):
        """Say what the accountant says."""
        accountant = RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE)
        accountant.compose(dp_accounting.GaussianDpEvent(self.multiplier))
        guarantee = dpaudit.ApproximateDP(float(accountant.get_epsilon(DELTA)), DELTA)
        return [dpaudit.PrivacyClaim(id="sum.privacy", statement="The sum is private.", guarantee=guarantee)]


class Halved(Accounted):
    """The same with half the noise multiplier, because a replacement changes the sum by 2."""

    multiplier = NOISE / 2


def target():
    """The release."""
    return Accounted(noise_multiplier=NOISE, rate=1.0, steps=1, relation="substitution")


def twin():
    """The patched twin."""
    return Halved(noise_multiplier=NOISE, rate=1.0, steps=1, relation="substitution")
