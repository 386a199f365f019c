"""The accountant of Gaussian differential privacy, which works by the central limit theorem."""

import importlib.util
from pathlib import Path

import dpaudit

# The package itself needs PyTorch; the files with the formulas do not.
HOME = Path(importlib.util.find_spec("opacus").origin).parent / "accountants" / "analysis"
NOISE, RATE, STEPS, DELTA = 1.0, 0.01, 1000, 1e-6


def formulas(name):
    """Load a file of formulas."""
    spec = importlib.util.spec_from_file_location(name, HOME / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Accounted(dpaudit.NoisySteps):
    """A thousand steps on random batches."""

    def accountant(self):
        """Ask the accountant of the release."""
        return formulas("gdp").compute_eps_poisson(steps=STEPS, noise_multiplier=NOISE, sample_rate=RATE, delta=DELTA)

    def claims(self):
        """Say what the accountant says."""
        guarantee = dpaudit.ApproximateDP(self.accountant(), DELTA)
        return [dpaudit.PrivacyClaim(id="steps.privacy", statement="Training is private.", guarantee=guarantee)]


class Renyi(Accounted):
    """The same by the Renyi accountant of the same release."""

    def accountant(self):
        """Ask the other accountant of the release."""
        rdp = formulas("rdp")
        orders = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))
        curve = rdp.compute_rdp(q=RATE, noise_multiplier=NOISE, steps=STEPS, orders=orders)
        return float(rdp.get_privacy_spent(orders=orders, rdp=curve, delta=DELTA)[0])


def target():
    """The release."""
    return Accounted(noise_multiplier=NOISE, rate=RATE, steps=STEPS)


def twin():
    """The accountant to use in its place."""
    return Renyi(noise_multiplier=NOISE, rate=RATE, steps=STEPS)
