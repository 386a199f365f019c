"""A private eigendecomposition of rows in a ball whose centre is not 0."""

import numpy as np
import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib", "idealized-numerics")

SIZE = 6
ORIGIN = np.array([10.0, 0.0])


def make_release(origin):
    """Eigendecomposition of rows at most 1 from an origin."""
    domain = dp.numpy.array2_domain(norm=1.0, p=2, origin=origin, num_columns=2, size=SIZE, nan=False, T=float)
    then = dp.sklearn.decomposition.then_private_np_eigendecomposition(eigvals_epsilon=1.0, eigvecs_epsilons=[1.0])
    return (domain, dp.symmetric_distance()) >> then


class Eigenvalue(dpaudit.Mechanism):
    """The largest eigenvalue that is released."""

    own_randomness = True
    moved = 0.0
    """What is subtracted from the rows first."""
    centre = ORIGIN

    def sample(self, data, size, rng):
        """Draw releases."""
        release = make_release(self.centre)
        rows = np.array(data) - self.moved
        return np.array([float(max(release(rows)[0])) for _ in range(size)])

    def neighbours(self):
        """Derive datasets of rows in the ball of which one is replaced."""
        columns = dpaudit.Rows(tuple(dpaudit.Floats(each - 1, each + 1) for each in ORIGIN.tolist()))
        domain = dpaudit.DerivedPairs(
            space=dpaudit.Datasets(columns, size=SIZE),
            relation="substitution",
            member=lambda rows: np.linalg.norm(np.array(rows) - ORIGIN, axis=1).max() <= 1,
        )
        return dpaudit.Neighbouring.within(domain)

    def claims(self):
        """Take epsilon from the map."""
        epsilon = make_release(self.centre).map(2)
        return [dpaudit.PrivacyClaim(id="eigen.privacy", statement="The eigenvalue is private.", epsilon=epsilon)]


class Centred(Eigenvalue):
    """The same, on rows that are moved to 0 first."""

    moved = ORIGIN
    centre = np.zeros(2)


def target():
    """The release."""
    return Eigenvalue()


def twin():
    """The patched twin."""
    return Centred()
