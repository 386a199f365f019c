"""The accountant by privacy random variables, at a delta below the rounding of a sum of probabilities."""

from prv_accountant import Accountant

import dpaudit

NOISE, RATE, STEPS, DELTA = 4.0, 0.00033, 10000, 1.1e-18


class Accounted(dpaudit.NoisySteps):
    """Ten thousand steps on small random batches."""

    def claims(self):
        """Say what the accountant says is an upper bound."""
        accountant = Accountant(
            noise_multiplier=NOISE, sampling_probability=RATE, delta=DELTA, max_compositions=STEPS, eps_error=0.1
        )
        _, _, epsilon = accountant.compute_epsilon(num_compositions=STEPS)
        guarantee = dpaudit.ApproximateDP(float(epsilon), DELTA)
        return [dpaudit.PrivacyClaim(id="steps.privacy", statement="Training is private.", guarantee=guarantee)]


def target():
    """The release."""
    return Accounted(noise_multiplier=NOISE, rate=RATE, steps=STEPS)


twin = target
