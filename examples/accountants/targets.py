"""Accountants as targets: the epsilon that each states for a training, audited like any privacy claim.

    dpaudit check examples/accountants/targets.py --set steps=100,1000

needs an environment with dpaudit and the library of each target; name one (``targets.py::OpacusGdp``) where the others
are not installed. ``table.py`` asks every library in its own environment.
"""

import sys
from pathlib import Path

import dpaudit

sys.path.insert(0, str(Path(__file__).parent))
from ask import ACCOUNTANTS  # beside this file


class _Accountant(dpaudit.NoisySteps):
    """The steps, with the epsilon that an accountant states for them."""

    delta: float = 1e-6

    accountant = ""

    def claims(self):
        ask, library = ACCOUNTANTS[self.accountant]
        epsilon = ask(rate=self.rate, noise=self.noise_multiplier, steps=self.steps, delta=self.delta)
        guarantee = dpaudit.ApproximateDP(epsilon, self.delta)
        statement = f"{self.accountant} ({library}) states {guarantee} for these steps."
        return [dpaudit.PrivacyClaim(id=f"{self.name}.epsilon", statement=statement, guarantee=guarantee)]


class DpAccountingPld(_Accountant):
    """Google's dp-accounting, privacy-loss distributions."""

    accountant = "dp-accounting PLD"


class DpAccountingRdp(_Accountant):
    """Google's dp-accounting, Renyi divergences."""

    accountant = "dp-accounting RDP"


class OpacusRdp(_Accountant):
    """Opacus, Renyi divergences."""

    accountant = "Opacus RDP"


class OpacusPrv(_Accountant):
    """Opacus, privacy random variables."""

    accountant = "Opacus PRV"


class OpacusGdp(_Accountant):
    """Opacus, central limit theorem."""

    accountant = "Opacus GDP"


class PrvAccountant(_Accountant):
    """Microsoft's prv-accountant."""

    accountant = "prv-accountant"


class OpendpZcdp(_Accountant):
    """OpenDP's composition under zCDP and conversion; without sampling."""

    rate: float = _Accountant.redeclared("rate", 1.0)

    accountant = "OpenDP zCDP"
