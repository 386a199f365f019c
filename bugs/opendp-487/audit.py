"""Counts of keys, at a distance in the L2 norm."""

import numpy as np

import dpaudit

# Releases of that time look for names that numpy 2 has dropped.
for name, kind in {"bool8": np.bool_, "float_": np.float64, "string_": np.bytes_}.items():
    if not hasattr(np, name):
        setattr(np, name, kind)

from opendp.mod import binary_search, enable_features  # noqa: E402
from opendp.trans import make_count_by  # noqa: E402

enable_features("contrib")


class Counts(dpaudit.Mechanism):
    """The counts of the release."""

    def claims(self):
        """Say what the relation says."""
        counts = make_count_by(MO="L2Distance<f64>", TK=str, TV=float)

        def promised(distance):
            if counts.check(int(distance), 0.0):
                return 0.0
            return binary_search(lambda each: counts.check(int(distance), each), bounds=(0.0, 1e6))

        return [
            dpaudit.StabilityClaim(
                id="counts.stability",
                statement="Counts are as near to each other as the relation says.",
                transformation=counts,
                domain=dpaudit.Datasets(dpaudit.Choices(("a", "b", "", "c"), complete=False)),
                input_metric="symmetric",
                output_metric="l2",
                map=promised,
                distance_type=int,
            )
        ]


def target():
    """The release."""
    return Counts()
