"""What several claims share: where they apply, the bound on the error rate, and numbers that take long to compute."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import dpaudit

from ..bounds import lemma3_corrected, rule_of, union
from ..error_rate import PROFILES, error_probabilities, errors, exact_error, is_integrable
from ..exact_errors import pair_distance_density
from ..gaussian_histogram import GaussianHistogram
from ..positional import LARGEST_HISTOGRAM


class LazyNumbers(Mapping[str, float]):
    """Numbers by name, of which those given as functions are computed when they are read.

    A claim is bound whenever its cell is looked at, which must not take as long as the audit.
    """

    def __init__(self, numbers: Mapping[str, float | Callable[[], float]]) -> None:
        self._numbers = dict(numbers)

    def __getitem__(self, name: str) -> float:
        number = self._numbers[name]
        return number() if callable(number) else number

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def unless_measurable(system: GaussianHistogram) -> str:
    """Why claims about error rates are not audited at these parameters; empty where they are."""
    if system.alternatives <= LARGEST_HISTOGRAM:
        return ""
    return f"error rates are measured up to {LARGEST_HISTOGRAM} alternatives"


def unless_positional(system: GaussianHistogram) -> str:
    """Why claims about positional rules do not apply; empty where they do."""
    return unless_measurable(system) if system.positional is not None else "it is about positional rules"


def unless_bounded(system: GaussianHistogram) -> str:
    """Why the bounds on error rates do not apply; empty where they do."""
    if system.profiles == "independent":
        return "Section III-A takes the shares of the rankings to be uniform on the simplex"
    return unless_positional(system)


def setting(system: GaussianHistogram) -> str:
    """Rule and number of alternatives in words."""
    return f"{system.rule} with M = {system.alternatives}"


def error_bound(system: GaussianHistogram, bound: float, **given: Any) -> dpaudit.UtilityClaim:
    """Return the claim that the error rate of a positional rule is at most a bound.

    Parameters
    ----------
    system, bound
        The system and the bound.
    given
        Fields of the claim that differ from those of most bounds.
    """
    rankings = math.factorial(system.alternatives)
    common: dict[str, Any] = {
        "exact": partial(exact_error, system) if is_integrable(system) else None,
        "measure": partial(error_probabilities, system),
        "runs": 20_000,
        "trivial": 1 - 1 / rankings,
        "trivial_reason": f"a ranking drawn at random errs with probability 1 - 1/{rankings}",
        "quantity": "error rate",
        "scope": f"{setting(system)}, N = {system.agents}, σ / N = {system.share_noise:.6g}, "
        + PROFILES[system.profiles],
        "inapplicable": unless_bounded(system),
    }
    return dpaudit.UtilityClaim(bound=bound, **(common | given))


def falling_error(
    system: GaussianHistogram, exponent: float, *, shape: Callable[[float], float] | None = None
) -> dpaudit.RateClaim:
    """Return the claim that the error rate of a positional rule falls as a power of N, at the system's ϵ and δ."""

    def at(agents: float) -> GaussianHistogram:
        return system.but(agents=int(agents), delta=system.failure)

    quantity: dict[str, Any] = {"quantity": "error rate"}
    if system.profiles != "simplex":
        quantity["measure"] = lambda agents, runs, rng: errors(at(agents), runs, rng).astype(float)
    elif system.alternatives == 3:
        quantity["exact"] = lambda agents: exact_error(at(agents))
    else:
        quantity["exact"] = lambda agents: union(at(agents))
        quantity["quantity"] = "sum of the pairs' probabilities to be reversed, which the error rate cannot exceed"
    # From where the bound of the corrected Lemma 3 is 0.2, over two decades.
    density = float(pair_distance_density(rule_of(system), 0.0))
    first = max(10.0, system.agents * lemma3_corrected(system, density) / 0.2)
    return dpaudit.RateClaim(
        variable="agents",
        points=[math.ceil(first * 10 ** (i / 3)) for i in range(7)],
        exponent=exponent,
        shape=shape,
        runs=20_000,
        scope=f"{setting(system)}, ϵ = {system.epsilon:g}, δ = {system.failure:g}, " + PROFILES[system.profiles],
        inapplicable=unless_bounded(system),
        **quantity,
    )


def relative(claimed: float, actual: float) -> float:
    """How far the actual value stays below the claimed one, as a share of the larger; 0 where both have vanished."""
    return (claimed - actual) / max(claimed, actual) if max(claimed, actual) > 0 else 0.0
