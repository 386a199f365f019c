"""The mean of floating-point numbers, which must not depend on the order of the records."""

import numpy as np

import dpaudit

# Releases of that time look for names that numpy 2 has dropped.
for name, kind in {"bool8": np.bool_, "float_": np.float64, "string_": np.bytes_}.items():
    if not hasattr(np, name):
        setattr(np, name, kind)

from opendp.mod import binary_search, enable_features  # noqa: E402
from opendp.trans import make_sized_bounded_mean  # noqa: E402

enable_features("contrib", "floating-point")

HIGH, SIZE = 10.0, 100


class Mean(dpaudit.Mechanism):
    """The mean of the release, on datasets of one size."""

    def claims(self):
        """Say what the relation says."""
        mean = make_sized_bounded_mean(size=SIZE, bounds=(0.0, HIGH))

        def promised(distance):
            if mean.check(int(distance), 0.0):
                return 0.0
            return binary_search(lambda each: mean.check(int(distance), each), bounds=(0.0, 1e6))

        return [
            dpaudit.StabilityClaim(
                id="mean.stability",
                statement="Means are as near to each other as the relation says.",
                transformation=mean,
                domain=dpaudit.Datasets(dpaudit.Floats(0.0, HIGH), size=SIZE),
                input_metric="symmetric",
                output_metric="absolute",
                map=promised,
                distance_type=int,
                tolerance=0.0,
            )
        ]


def target():
    """The release."""
    return Mean()
