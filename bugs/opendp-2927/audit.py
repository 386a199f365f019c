"""Lists made to have seven records, in order: what is done afterwards may depend on the order.

The promise is about the distribution of lists: after any function of them that moves by at most c for each record
inserted or deleted, Laplace noise of scale c * map(1) is 1-DP.
"""

import numpy as np
import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")

SIZE, LEAST = 7, 0
REFERENCE = tuple(range(SIZE))


def make_resized():
    """Resize lists, by insert-delete distance on both sides."""
    domain = dp.vector_domain(dp.atom_domain(T=int))
    return dp.t.make_resize(domain, dp.insert_delete_distance(), size=SIZE, constant=LEAST, MO="InsertDeleteDistance")


def edits(records):
    """Records to insert and delete on the way to the reference: moves by 1 for each record inserted or deleted."""
    lengths = [0] * (len(REFERENCE) + 1)
    for record in records:
        diagonal = 0
        for place, other in enumerate(REFERENCE, 1):
            diagonal, lengths[place] = (
                lengths[place],
                (diagonal + 1 if record == other else max(lengths[place], lengths[place - 1])),
            )
    return len(records) + len(REFERENCE) - 2 * lengths[-1]


class Edits(dpaudit.Mechanism):
    """The noisy number of edits from a list that is resized."""

    own_randomness = True
    resized = staticmethod(make_resized())

    def sample(self, data, size, rng):
        """Draw noisy numbers."""
        scale = make_resized().map(1)
        return np.array([edits(self.resized(list(data))) for _ in range(size)]) + rng.laplace(0, scale, size)

    def neighbours(self):
        """Derive lists that differ in one record."""
        lists = dpaudit.Datasets(dpaudit.Choices(tuple(range(SIZE + 1))))
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=lists, relation="add-remove"))

    def claims(self):
        """Say what the map says."""
        return [dpaudit.PrivacyClaim(id="edits.privacy", statement="The number of edits is private.", epsilon=1.0)]


def first_records(records):
    """Take the first records, and put zeros behind them."""
    return (records + [LEAST] * SIZE)[:SIZE]


class Kept(Edits):
    """The same with lists that stay in order."""

    resized = staticmethod(first_records)


def target():
    """The release."""
    return Edits()


def twin():
    """The patched twin."""
    return Kept()
