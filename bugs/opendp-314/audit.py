"""The sum of three whole numbers, of which half of the distance can be replaced."""

import numpy as np

import dpaudit

# Releases of that time look for names that numpy 2 has dropped.
for name, kind in {"bool8": np.bool_, "float_": np.float64, "string_": np.bytes_}.items():
    if not hasattr(np, name):
        setattr(np, name, kind)

from opendp.mod import binary_search, enable_features  # noqa: E402
from opendp.trans import make_sized_bounded_sum  # noqa: E402

enable_features("contrib")

BOUND, SIZE = 5, 3


def promised(total, distance):
    """Smallest distance of the sums that the release's own relation grants."""
    return binary_search(lambda each: total.check(int(distance), each), bounds=(0, 2**31 - 1)) if distance else 0


class Total(dpaudit.Mechanism):
    """The sum of the release."""

    def claims(self):
        """Say what the relation says."""
        total = make_sized_bounded_sum(SIZE, bounds=(0, BOUND))
        return [
            dpaudit.StabilityClaim(
                id="total.stability",
                statement="Sums are as near to each other as the relation says.",
                transformation=total,
                domain=dpaudit.Datasets(dpaudit.Integers(0, BOUND), size=SIZE),
                input_metric="symmetric",
                output_metric="absolute",
                map=lambda distance: promised(total, distance),
                distance_type=int,
                tolerance=0.0,
            )
        ]


def target():
    """The release."""
    return Total()
