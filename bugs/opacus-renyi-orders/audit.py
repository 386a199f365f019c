"""The Renyi accountant, asked with whole and half orders up to 100."""

import importlib.util
import sys
import types
from pathlib import Path

import dpaudit

# The package itself needs PyTorch; accountants do not, except for the name of one class.
HOME = Path(importlib.util.find_spec("opacus").origin).parent
for name, home in {"opacus": [str(HOME)], "opacus.optimizers": []}.items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = home
sys.modules["opacus.optimizers"].DPOptimizer = object
from opacus.accountants import RDPAccountant  # noqa: E402

NOISE, RATE, STEPS, DELTA = 20.0, 0.5, 100, 1e-5


class Accounted(dpaudit.NoisySteps):
    """A hundred steps on random halves of the data."""

    orders = tuple(1 + half / 2 for half in range(1, 199))

    def claims(self):
        """Say what the accountant says; an epsilon below 0 as 0."""
        accountant = RDPAccountant()
        for _ in range(STEPS):
            accountant.step(noise_multiplier=NOISE, sample_rate=RATE)
        epsilon = max(0.0, float(accountant.get_epsilon(delta=DELTA, alphas=list(self.orders))))
        guarantee = dpaudit.ApproximateDP(epsilon, DELTA)
        return [dpaudit.PrivacyClaim(id="steps.privacy", statement="Training is private.", guarantee=guarantee)]


class Whole(Accounted):
    """The same with whole orders alone, which the accountant computes by a finite sum."""

    orders = tuple(range(2, 101))


def target():
    """The release."""
    return Accounted(noise_multiplier=NOISE, rate=RATE, steps=STEPS)


def twin():
    """The same accountant without half orders."""
    return Whole(noise_multiplier=NOISE, rate=RATE, steps=STEPS)
