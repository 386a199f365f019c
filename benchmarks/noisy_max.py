"""How often true zero-concentrated privacy of OpenDP's noisy max is refuted by samples.

`make_noisy_max(..., zero_concentrated_divergence(), scale=2.0)` promises rho = 0.125 at distance 1. Of the scores
(1, 0) against (0, 1), its outputs are a bit kept with odds of e^(1/2), whose rho is tanh(1/4) / 2 = 0.1225: hardly
less than promised, so that an auditor whose bounds are too large would show it. OpenDP cannot be seeded: runs differ.
"""

import argparse
import math
from collections import Counter

import numpy as np
import opendp.prelude as dp
from scipy.stats import beta

import dpaudit
from dpaudit.auditors import Budget, Streams, audit

dp.enable_features("contrib")

SCALE = 2.0
TRUE = math.tanh(1 / (2 * SCALE)) / SCALE


class NoisyMax(dpaudit.Mechanism):
    """Index of the largest of some noisy scores, by OpenDP."""

    own_randomness = True

    @property
    def measurement(self):
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
        return dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=SCALE)

    def sample(self, data, size, rng):
        release = self.measurement
        return np.array([release(list(data)) for _ in range(size)])

    def neighbours(self):
        return dpaudit.Neighbouring(
            relation="substitution", pairs=[((1.0, 0.0), (0.0, 1.0))], complete=False, scope="two scores that swap"
        )

    def claims(self):
        rho = self.measurement.map(1.0)
        return [
            dpaudit.PrivacyClaim(
                id="opendp.noisy-max",
                statement=f"It is {rho:g}-zCDP, which is OpenDP's map(1).",
                guarantee=dpaudit.ZeroConcentratedDP(rho),
            )
        ]


def audited(seed, *, samples, confidence):
    """Verdict on OpenDP's own claim, and the bound on rho."""
    target = NoisyMax()
    (claim,) = target.claims()
    found = audit(target, claim, budget=Budget(samples=samples, confidence=confidence), streams=Streams(seed))
    return found.verdict, found.measured["rho"].lower


def clopper_pearson(hits, trials, confidence=0.95):
    tail = (1 - confidence) / 2
    low = beta.ppf(tail, hits, trials - hits + 1) if hits else 0.0
    high = beta.isf(tail, hits + 1, trials - hits) if hits < trials else 1.0
    return low, high


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=1000, help="outputs of each input")
    parser.add_argument("--confidence", type=float, default=0.95)
    options = parser.parse_args()
    runs = [audited(s, samples=options.samples, confidence=options.confidence) for s in range(options.seeds)]
    verdicts = Counter(str(verdict) for verdict, _ in runs)
    for what, hits in (
        ("refuted", verdicts["refuted"]),
        (f"bound above the true rho of {TRUE:.5g}", sum(bound > TRUE for _, bound in runs)),
    ):
        low, high = clopper_pearson(hits, options.seeds)
        print(
            f"{what}: {hits} of {options.seeds} ({low:.4f} to {high:.4f} at 95 %); stated {1 - options.confidence:.3g}"
        )
    print(dict(verdicts), "mean bound", np.mean([bound for _, bound in runs]).round(4))
