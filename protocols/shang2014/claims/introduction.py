"""Section I: what the introduction says of all rules."""

import math
from functools import partial

import dpaudit

from ..bounds import rule_of
from ..error_rate import PROFILES, errors, is_integrable
from ..exact_errors import three_way_error
from ..gaussian_histogram import GaussianHistogram
from ..paper import PAPER
from .shared import error_bound, setting, unless_measurable

LITTLE_NOISE = 1e-9

NOISES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Multiples of the noise of Equation 5 at which privacy and error rates are compared."""


@dpaudit.claim(
    "shang2014.noise-privacy",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="I", note="on noise and privacy"),
    statement="The stronger the noise, the smaller is δ at each ϵ.",
)
def noise_privacy(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    def delta(times: float, epsilon: float) -> float:
        scale = times * system.noise.scale
        found = dpaudit.compare(dpaudit.GaussianLaw(1.0, scale), dpaudit.GaussianLaw(0.0, scale)).delta(epsilon).upper
        assert found is not None
        return found

    return dpaudit.LemmaClaim(
        margin=lambda times, epsilon: delta(times, epsilon) - delta(2 * times, epsilon),
        instances=[{"times": times, "epsilon": system.epsilon} for times in NOISES],
        variables={"times": dpaudit.Reals(0.1, 10.0), "epsilon": dpaudit.Reals(0.0, 10.0)},
        explain=lambda times, epsilon: {"δ": delta(times, epsilon), "δ at twice the noise": delta(2 * times, epsilon)},
        scope="multiples of Equation 5's noise, sensitivity 1",
    )


@dpaudit.claim(
    "shang2014.noise-utility",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="I", note="on noise and utility"),
    statement="The stronger the noise, the larger is the error rate.",
)
def noise_utility(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    def error(times: float) -> float:
        return three_way_error(rule_of(system), times * system.share_noise)[0]

    return dpaudit.LemmaClaim(
        margin=lambda times: error(2 * times) - error(times),
        instances=[{"times": times} for times in NOISES],
        explain=lambda times: {"error rate": error(times), "error rate at twice the noise": error(2 * times)},
        scope=f"{setting(system)}, multiples of σ / N = {system.share_noise:.6g}, integrated",
        inapplicable="" if is_integrable(system) else "integrated for 3 alternatives on the simplex",
    )


@dpaudit.claim(
    "shang2014.any-rule",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="I", note="second contribution"),
    statement=(
        "For any ranking rule and fixed M the error rate goes to 0 as N grows; here to at most 0.01 where σ / N is "
        "1e-9 (constants chosen here)."
    ),
)
def any_rule(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return _with_little_noise(system, unless_measurable(system))


@dpaudit.claim(
    "shang2014.any-rule-mended",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="I", note="second contribution, for rules that hardly ever tie"),
    statement="The error rate goes to 0, as there, for any rule whose ties have volume 0 in the simplex of shares.",
    ours=True,
)
def any_rule_mended(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    ties = "Copeland's rule has ties on a part of the simplex that has a volume" if system.rule == "copeland" else ""
    return _with_little_noise(system, ties or unless_measurable(system))


def _with_little_noise(system: GaussianHistogram, inapplicable: str) -> dpaudit.UtilityClaim:
    agents = math.ceil(system.noise.scale / LITTLE_NOISE)
    return error_bound(
        system,
        0.01,
        exact=None,
        measure=partial(errors, system.but(agents=agents, delta=system.failure)),
        scope=f"{setting(system)}, N = {agents}, {PROFILES[system.profiles]}",
        inapplicable=inapplicable,
    )
