"""Other ways of auditing from samples, made from their papers, on the cases of the suites with one pair of inputs.

Each peer is a function of a case, a number of samples per input, a confidence and a seed. It draws all of its samples
itself, and returns what it can say, or None where it does not apply.
"""

from collections.abc import Callable

from suite.given import Given

from peers import ldp, sniper, twosample
from peers.common import Said

Peer = Callable[[Given, int, float, int], Said | None]

PEERS: dict[str, Peer] = {
    "DP-Sniper, logistic": sniper.logistic,
    "DP-Sniper, network": sniper.network,
    "LDP-Audit": ldp.attacked,
    "Kolmogorov-Smirnov": twosample.kolmogorov_smirnov,
    "kernel test": twosample.kernel,
}
