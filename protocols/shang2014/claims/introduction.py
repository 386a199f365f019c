"""Section I: what the introduction says of all rules."""

import math
from functools import partial

import dpaudit

from ..error_rate import PROFILES, errors
from ..gaussian_histogram import GaussianHistogram
from ..paper import PAPER
from .shared import error_bound, setting, unless_measurable

LITTLE_NOISE = 1e-9


@dpaudit.claim(
    "shang2014.any-rule",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="I", note="second contribution"),
    statement="For any ranking rule the error rate goes to 0 as N grows; here to 0.01 at σ / N = 1e-09.",
)
def any_rule(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    agents = math.ceil(system.noise.scale / LITTLE_NOISE)
    return error_bound(
        system,
        0.01,
        exact=None,
        measure=partial(errors, system.but(agents=agents, delta=system.failure)),
        scope=f"{setting(system)}, N = {agents}, {PROFILES[system.profiles]}",
        inapplicable=unless_measurable(system),
    )
