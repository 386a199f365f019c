"""The filter of model updates by the sparse vector technique, on three parameters of which one is shared."""

import logging

import numpy as np

import dpaudit

# Releases of that time use a name that numpy 2 has dropped.
np.__dict__.setdefault("float", float)

from nvflare.apis.dxo import DXO, DataKind  # noqa: E402
from nvflare.apis.fl_context import FLContext  # noqa: E402
from nvflare.apis.shareable import Shareable  # noqa: E402
from nvflare.app_common.filters.svt_privacy import SVTPrivacy  # noqa: E402

logging.disable(logging.CRITICAL)

SIZE, CLIP, EPSILON, NOISE = 3, 1.0, 1.0, 1.0


class Update(dpaudit.Mechanism):
    """The update that the filter lets through."""

    own_randomness = True

    def sample(self, data, size, rng):
        """Draw updates."""
        np.random.seed(rng.integers(2**32, size=8))
        chosen = SVTPrivacy(fraction=1 / SIZE, epsilon=EPSILON, noise_var=NOISE, gamma=CLIP, tau=0.5)
        found = []
        for _ in range(size):
            update = {"w": np.array(data, dtype=float)}
            shareable = DXO(data_kind=DataKind.WEIGHT_DIFF, data=update).update_shareable(Shareable())
            found.append(chosen.process(shareable, FLContext())["DXO"]["data"]["w"])
        return np.array(found)

    def neighbours(self):
        """Derive any two updates."""
        updates = dpaudit.Datasets(dpaudit.Floats(-CLIP, CLIP), size=SIZE)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=updates, relation="any-two-inputs"))

    def claims(self):
        """Take the three parts of the budget together: threshold, queries, and noise of the one that is shared."""
        epsilon = EPSILON + EPSILON * 2 ** (2 / 3) + NOISE
        return [dpaudit.PrivacyClaim(id="update.privacy", statement="The update is private.", epsilon=epsilon)]


def target():
    """The release."""
    return Update()
