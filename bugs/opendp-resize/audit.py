"""Datasets made to have three records, by taking the first ones or putting zeros behind them."""

import numpy as np

import dpaudit

# Releases of that time look for names that numpy 2 has dropped.
for name, kind in {"bool8": np.bool_, "float_": np.float64, "string_": np.bytes_}.items():
    if not hasattr(np, name):
        setattr(np, name, kind)

from opendp.mod import binary_search, enable_features  # noqa: E402
from opendp.trans import make_bounded_resize  # noqa: E402

enable_features("contrib")

SIZE = 3


def claim(transformation, promised):
    """Return the claim about a function that resizes."""
    return dpaudit.StabilityClaim(
        id="resized.stability",
        statement="Datasets that are resized are as near to each other as the relation says.",
        transformation=transformation,
        domain=dpaudit.Datasets(dpaudit.Integers(0, 9)),
        input_metric="symmetric",
        output_metric="symmetric",
        map=promised,
        distance_type=int,
    )


class Resized(dpaudit.Mechanism):
    """The transformation of the release, on records in order, because symmetric distance knows no order."""

    def claims(self):
        """Say what the relation says."""
        resize = make_bounded_resize(size=SIZE, bounds=(0, 9), constant=0)

        def promised(distance):
            if resize.check(int(distance), 0):
                return 0
            return binary_search(lambda each: resize.check(int(distance), each), bounds=(0, 1000))

        return [claim(lambda records: resize(sorted(records)), promised)]


def target():
    """The release."""
    return Resized()
