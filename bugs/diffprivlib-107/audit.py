"""The median of whole numbers with many ties, at the size from which on it raises; an exception is an output too."""

import numpy as np
from diffprivlib.tools import quantile

import dpaudit

EPSILON = 5.0
TIE = 65.0
BOUNDS = (0.0, 500.0)


def outcome(data, state):
    """Release a median, or say that there is none."""
    try:
        return float(quantile(data, 0.5, epsilon=EPSILON, bounds=BOUNDS, random_state=state))
    except RuntimeError:
        return -1.0


def raises(size):
    """Whether the tool raises where all records are alike."""
    return outcome(np.full(size, TIE), np.random.RandomState(0)) == -1.0


class Median(dpaudit.Mechanism):
    """The median that the tool releases; -1 where it raises."""

    def release(self, data, state):
        """Release a median."""
        return outcome(data, state)

    def sample(self, data, size, rng):
        """Draw releases."""
        state, array = np.random.RandomState(rng.bit_generator), np.array(data)
        return np.array([self.release(array, state) for _ in range(size)])

    def neighbours(self):
        """Search the size at which ties begin to raise; replace one record there."""
        low, high = 1, 1 << 14
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if raises(middle) else (middle, high)
        ties = (TIE,) * (high - 1)
        return dpaudit.Neighbouring(
            relation="substitution", pairs=[((*ties, TIE), (*ties, 0.0))], complete=False, scope=f"{high} records"
        )

    def claims(self):
        """Say what the tool says."""
        return [dpaudit.PrivacyClaim(id="median.privacy", statement="It is private.", epsilon=EPSILON)]


class Shifted(Median):
    """The same by the exponential mechanism with utilities counted from the best."""

    def release(self, data, state):
        """Draw an interval, and a place in it."""
        edges = np.sort(np.clip(np.concatenate([BOUNDS, data]), *BOUNDS))
        places = np.arange(len(edges) - 1)
        utility = -np.abs(places - 0.5 * len(data))
        width = np.diff(edges)
        with np.errstate(divide="ignore"):
            score = np.log(width) + EPSILON / 2 * utility
        weights = np.exp(score - score.max())
        place = state.choice(len(weights), p=weights / weights.sum())
        return float(state.uniform(edges[place], edges[place + 1]))


def target():
    """The release."""
    return Median()


def twin():
    """The patched twin."""
    return Shifted()
