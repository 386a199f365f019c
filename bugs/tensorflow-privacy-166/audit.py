"""The Renyi accountant, asked with an order next to 1, where it says that epsilon is 0."""

import importlib.util
from pathlib import Path

import dpaudit

# The package itself needs TensorFlow; the file with the accountant does not.
HOME = Path(importlib.util.find_spec("tensorflow_privacy").origin).parent / "privacy" / "analysis"
SPEC = importlib.util.spec_from_file_location("rdp_accountant", HOME / "rdp_accountant.py")
MODULE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MODULE)

NOISE, RATE, DELTA = 1.0, 105 / 100000, 1e-3


class Accounted(dpaudit.NoisySteps):
    """One step on a random batch."""

    def claims(self):
        """Say what the accountant says."""
        orders = [1 + 1e-8] + [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))
        curve = MODULE.compute_rdp(q=RATE, noise_multiplier=NOISE, steps=1, orders=orders)
        epsilon, _, _ = MODULE.get_privacy_spent(orders, curve, target_delta=DELTA)
        guarantee = dpaudit.ApproximateDP(float(epsilon), DELTA)
        return [dpaudit.PrivacyClaim(id="step.privacy", statement="The step is private.", guarantee=guarantee)]


def target():
    """The release."""
    return Accounted(noise_multiplier=NOISE, rate=RATE, steps=1)


twin = target
