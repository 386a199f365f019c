"""A report of RAPPOR with two hash functions, whose epsilon the client itself computes from f."""

import random

from pure_ldp.frequency_oracles.rappor import RAPPORClient

import dpaudit

BITS = 8
HASHES = [[lambda text: int(text) % BITS, lambda text: (3 * int(text) + 5) % BITS]]


class Rappor(dpaudit.Mechanism):
    """The client of the release; its bits that are set are the cohort's Bloom filter."""

    f: float = 0.5

    def client(self):
        """Make the client."""
        return RAPPORClient(self.f, BITS, HASHES, num_of_cohorts=1, index_mapper=int)

    def sample(self, data, size, rng):
        """Draw reports."""
        client, before = self.client(), random.getstate()
        random.seed(rng.bytes(16))
        reports = [tuple(client.privatise(data)[0]) for _ in range(size)]
        random.setstate(before)
        return reports

    def neighbours(self):
        """Take any two of four values."""
        return dpaudit.Neighbouring.any_two_inputs((0, 1, 2, 3), scope="any two of four values")

    def claims(self):
        """Take the epsilon that the client computes."""
        epsilon = self.client().convert_f_to_eps(self.f, len(HASHES[0]))
        return [dpaudit.PrivacyClaim(id="rappor.privacy", statement="A report is private.", epsilon=epsilon)]


class Flipping(RAPPORClient):
    """A client whose true bits can be cleared."""

    def _perturb(self, data):
        return [int(random.random() < (1 - self.f / 2 if bit else self.f / 2)) for bit in data]


class Mended(Rappor):
    """The same with such a client."""

    def client(self):
        """Make the client."""
        return Flipping(self.f, BITS, HASHES, num_of_cohorts=1, index_mapper=int)


def target():
    """The release."""
    return Rappor()


def twin():
    """The patched twin."""
    return Mended()
