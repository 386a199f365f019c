"""The peers of `benchmarks/peers/` that return a bound, each written from its paper there."""

from collections.abc import Callable
from types import SimpleNamespace

from peers import Peer, ldp, sniper, twosample
from suite.case import Audited
from suite.given import Given

from calibration.interface import Bound, Mechanism, Tool


def _bound(peer: Peer, named: Callable[[Mechanism], str]) -> Bound:
    """The bound of a peer, which takes a row of the suite."""

    def bound(mechanism, x, y, samples, confidence, seed):
        class Wrapped(Audited):
            name = named(mechanism)

            def sample(self, data, size, rng):
                return mechanism.sample(data, size, rng)

        # No peer looks at the truth, or at the promised epsilon.
        case = SimpleNamespace(mechanism=Wrapped(delta=mechanism.delta))
        row = Given(case=case, pair=(x, y), truth=float("nan"), samples=samples, confidence=confidence)
        said = peer(row, samples, confidence, seed)
        return None if said is None else said.bound

    return bound


SNIPER = Tool(
    name="DP-Sniper",
    bound=_bound(sniper.logistic, lambda mechanism: mechanism.name),
    how="Written from its paper, with logistic regression: `benchmarks/peers/sniper.py`.",
)
LDP_AUDIT = Tool(
    name="LDP-Audit",
    bound=_bound(ldp.attacked, lambda mechanism: mechanism.protocol or mechanism.name),
    how="Written from its paper: `benchmarks/peers/ldp.py`. Applies to local protocols that its attack knows.",
)
KOLMOGOROV_SMIRNOV = Tool(
    name="Kolmogorov-Smirnov",
    bound=_bound(twosample.kolmogorov_smirnov, lambda mechanism: mechanism.name),
    how="A two-sample test whose distance bounds epsilon: `benchmarks/peers/twosample.py`.",
)
