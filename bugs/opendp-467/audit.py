"""The sum of whole numbers of 32 bits, which must not depend on the order of the records."""

import numpy as np

import dpaudit

# Releases of that time look for names that numpy 2 has dropped.
for name, kind in {"bool8": np.bool_, "float_": np.float64, "string_": np.bytes_}.items():
    if not hasattr(np, name):
        setattr(np, name, kind)

from opendp.mod import binary_search, enable_features  # noqa: E402
from opendp.trans import make_bounded_sum  # noqa: E402

enable_features("contrib")

BOUND = 2**30


def promised(total, distance):
    """Smallest distance of the sums that the release's own relation grants; infinity where it grants none."""
    if distance == 0:
        return 0
    try:
        return binary_search(lambda each: total.check(int(distance), each), bounds=(0, 2**31 - 1))
    except Exception:
        return float("inf")


class Total(dpaudit.Mechanism):
    """The sum of the release."""

    def claims(self):
        """Say what the relation says."""
        total = make_bounded_sum(bounds=(-BOUND, BOUND))
        return [
            dpaudit.StabilityClaim(
                id="total.stability",
                statement="Sums are as near to each other as the relation says.",
                transformation=total,
                domain=dpaudit.Datasets(dpaudit.Integers(-BOUND, BOUND)),
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
