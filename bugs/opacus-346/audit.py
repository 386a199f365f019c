"""The search for the noise of one step, at an epsilon that the looseness of Renyi accounting does not make up for."""

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
from opacus.accountants.utils import get_noise_multiplier  # noqa: E402

TARGET, DELTA, RATE = 120.0, 1e-5, 1.0


class Steps(dpaudit.NoisySteps):
    """One step with the noise that is found."""

    def claims(self):
        """Say what the target says."""
        guarantee = dpaudit.ApproximateDP(TARGET, DELTA)
        return [dpaudit.PrivacyClaim(id="steps.privacy", statement="Training keeps to it.", guarantee=guarantee)]


def target():
    """The release."""
    noise = get_noise_multiplier(
        target_epsilon=TARGET, target_delta=DELTA, sample_rate=RATE, epochs=1, accountant="rdp"
    )
    return Steps(noise_multiplier=noise, rate=RATE, steps=1)
