"""Ask one library's accountant for epsilon, in that library's own environment.

    python ask.py NAME < settings.json > answers.json

Settings are a list of objects with ``rate``, ``noise``, ``steps`` and ``delta``; the answers are a list of numbers,
each the epsilon that the library states as an upper bound, or an object with ``error`` where it raised. This file
needs nothing but the library.
Settings are a list of objects with ``rate``, ``noise``, ``steps`` and ``delta``. Answers are a list of numbers, each
the epsilon that the library states as an upper bound, or an object with ``error`` where it raised. This file needs only
the library.
"""

import json
import math
import sys
import warnings
from importlib.metadata import version


def dp_accounting_pld(rate, noise, steps, delta):
    """dp-accounting's pessimistic privacy-loss distributions."""
    from dp_accounting import pld

    return _dp_accounting(pld.PLDAccountant(), rate, noise, steps, delta)


def dp_accounting_rdp(rate, noise, steps, delta):
    """dp-accounting's Renyi accountant."""
    from dp_accounting import rdp

    return _dp_accounting(rdp.RdpAccountant(), rate, noise, steps, delta)


def _dp_accounting(accountant, rate, noise, steps, delta):
    import dp_accounting

    event = dp_accounting.GaussianDpEvent(noise)
    if rate < 1:
        event = dp_accounting.PoissonSampledDpEvent(rate, event)
    accountant.compose(event, steps)
    return accountant.get_epsilon(delta)


def opacus_rdp(rate, noise, steps, delta):
    """Opacus's Renyi accountant."""
    return _opacus("rdp", rate, noise, steps, delta)


def opacus_prv(rate, noise, steps, delta):
    """Opacus's accountant by privacy random variables, with its default errors."""
    return _opacus("prv", rate, noise, steps, delta)


def opacus_gdp(rate, noise, steps, delta):
    """Opacus's accountant by the central limit theorem."""
    return _opacus("gdp", rate, noise, steps, delta)


def _opacus(kind, rate, noise, steps, delta):
    from opacus.accountants import create_accountant

    accountant = create_accountant(kind)
    accountant.history = [(noise, rate, steps)]
    return accountant.get_epsilon(delta)


def prv_accountant_upper(rate, noise, steps, delta):
    """The upper bound of prv-accountant, at errors of 0.1 in epsilon and delta / 1000, as its documentation advises."""
    return _prv(rate, noise, steps, delta, eps_error=0.1, delta_error=delta / 1000)[2]


def prv_accountant_command(rate, noise, steps, delta):
    """The upper bound of prv-accountant as its command computes it: errors of 0.1 and 1e-9."""
    return _prv(rate, noise, steps, delta, eps_error=0.1, delta_error=1e-9)[2]


def _prv(rate, noise, steps, delta, **errors):
    from prv_accountant.dpsgd import DPSGDAccountant

    accountant = DPSGDAccountant(noise_multiplier=noise, sampling_probability=rate, max_steps=steps, **errors)
    return accountant.compute_epsilon(delta=delta, num_steps=steps)


def opendp_zcdp(rate, noise, steps, delta):
    """OpenDP's composition of Gaussian noise under zCDP, converted to (epsilon, delta); without sampling only."""
    import opendp.prelude as dp

    if rate < 1:
        raise NotImplementedError("OpenDP accounts for no subsampling")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    noisy = dp.m.make_gaussian(*space, scale=noise)
    composed = dp.c.make_composition([noisy] * steps)
    return dp.c.make_zCDP_to_approxDP(composed).map(1.0).epsilon(delta)


ACCOUNTANTS = {
    "dp-accounting PLD": (dp_accounting_pld, "dp-accounting"),
    "dp-accounting RDP": (dp_accounting_rdp, "dp-accounting"),
    "Opacus RDP": (opacus_rdp, "opacus"),
    "Opacus PRV": (opacus_prv, "opacus"),
    "Opacus GDP": (opacus_gdp, "opacus"),
    "prv-accountant": (prv_accountant_upper, "prv-accountant"),
    "prv-accountant, errors 0.1 and 1e-9": (prv_accountant_command, "prv-accountant"),
    "OpenDP zCDP": (opendp_zcdp, "opendp"),
}
"""Name, function, and distribution of every accountant."""


def ask(name, settings):
    """Return one answer for every setting: a number, or an object with the error."""
    answers = []
    for setting in settings:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                epsilon = float(ACCOUNTANTS[name][0](**setting))
            except Exception as error:
                answers.append({"error": f"{type(error).__name__}: {error}"})
                continue
        answers.append(epsilon if math.isfinite(epsilon) else {"value": str(epsilon)})
    return answers


if __name__ == "__main__":
    chosen = sys.argv[1]
    json.dump({"version": version(ACCOUNTANTS[chosen][1]), "answers": ask(chosen, json.load(sys.stdin))}, sys.stdout)
