"""The Renyi accountant, asked with whole and half orders up to 100."""

import dp_accounting
from dp_accounting.rdp import RdpAccountant

import dpaudit

NOISE, RATE, STEPS, DELTA = 20.0, 0.5, 100, 1e-5
ORDERS = [1 + half / 2 for half in range(1, 199)]


class Accounted(dpaudit.NoisySteps):
    """A hundred steps on random halves of the data."""

    def claims(self):
        """Say what the accountant says."""
        accountant = RdpAccountant(orders=ORDERS)
        step = dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(NOISE))
        accountant.compose(step, STEPS)
        guarantee = dpaudit.ApproximateDP(float(accountant.get_epsilon(DELTA)), DELTA)
        return [dpaudit.PrivacyClaim(id="steps.privacy", statement="Training is private.", guarantee=guarantee)]


def target():
    """The release."""
    return Accounted(noise_multiplier=NOISE, rate=RATE, steps=STEPS)
