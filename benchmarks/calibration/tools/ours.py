"""dpaudit's own bound on one pair of inputs, by its public function."""

from functools import partial

import dpaudit
from calibration.interface import Mechanism, Tool


def _bound(mechanism: Mechanism, x, y, samples, confidence, seed, *, stop_early) -> float:
    return dpaudit.epsilon_lower_bound(
        mechanism.sample,
        x,
        y,
        delta=mechanism.delta,
        samples=samples,
        confidence=confidence,
        seed=seed,
        claimed=mechanism.epsilon,
        stop_early=stop_early,
    ).epsilon


FIXED = Tool(
    name="dpaudit",
    bound=partial(_bound, stop_early=False),
    how="`dpaudit.epsilon_lower_bound`, all samples drawn. A few hundred outputs more only check the sampler, and "
    "chance decides how the inputs share the others.",
)
EARLY = Tool(
    name="dpaudit, stopping early",
    bound=partial(_bound, stop_early=True),
    how="`dpaudit.epsilon_lower_bound(..., stop_early=True)` against what is promised. It draws as the one above.",
)
