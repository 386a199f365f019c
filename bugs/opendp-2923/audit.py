"""The sum of squared deviations, whose map claims to take rounding into account."""

from fractions import Fraction

import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")

LOW, SIZE = 2.0**50, 1024


def make_deviations():
    """Sum of squared deviations of records in an interval of length 1, far from 0."""
    domain = dp.vector_domain(dp.atom_domain(bounds=(LOW, LOW + 1), nan=False), size=SIZE)
    return dp.t.make_sum_of_squared_deviations(domain, dp.symmetric_distance())


def target():
    """The release."""
    return dpaudit.from_opendp(make_deviations(), name="deviations")


class ExactDeviations(dpaudit.Mechanism):
    """The same sum in exact arithmetic."""

    def claims(self):
        """Say what the release says."""
        promised = make_deviations().map

        def deviations(records):
            exact = [Fraction(each) - Fraction(LOW) for each in records]
            return float(sum(each * each for each in exact) - sum(exact) ** 2 / len(exact))

        return [
            dpaudit.StabilityClaim(
                id="exact-deviations.stability",
                statement="The sum is as stable as the release says.",
                transformation=deviations,
                domain=dpaudit.Datasets(dpaudit.Floats(LOW, LOW + 1), size=SIZE),
                input_metric="symmetric",
                output_metric="absolute",
                map=promised,
                tolerance=0.0,
            )
        ]


def twin():
    """The patched twin."""
    return ExactDeviations()
