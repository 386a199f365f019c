"""How far samples are from a declared law, and how far a sampler would have to be from it for that to be seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.auditors.outputs.outputs import Coder
from dpaudit.laws import FiniteLaw, GaussianLaw, LaplaceLaw, Law, ProductLaw, PublicMixtureLaw
from dpaudit.laws.finite import outcome_key
from dpaudit.laws.joint import flattened
from dpaudit.statistics import cdf_distance, cdf_shift, detectable_shifts, goodness_of_fit

POWER = 0.9
"""Probability with which the shifts that are stated would have been seen."""

_GROUPS = 16
_EXACT_INTEGERS = 1 << 53
_LARGEST_SHIFT = 1.0

_MOST_CHOICES = 256
"""Public choices, at most, whose samples are told apart to be held against the law of what follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Samples held against a law.

    Attributes
    ----------
    p_value
        Probability, at most, of samples that fit as badly, if they follow the law.
    shift
        What the probability of one outcome, or of one half-line of numbers, would have to be off by to be seen with
        probability ``POWER``, wherever it is.
    variation
        Total variation distance from which on that is so; None where the law is not finite, for which no samples show
        every difference.
    """

    p_value: float
    shift: float
    variation: float | None = None


def held_against(law: Law, outputs: np.ndarray, *, alpha: float, other: Law | None = None) -> Fit | None:
    """Hold outputs against the law that they should follow.

    Outcomes of finite laws are tested one by one and grouped by the ratio to another law; numbers of Laplace and
    Gaussian laws by their distribution function; parts of products, and what follows each public choice, one by one.
    How parts depend on each other is looked at only where the whole law is finite.

    Parameters
    ----------
    law
        The law.
    outputs
        Samples along axis 0.
    alpha
        Level of the test that the shifts are stated for.
    other
        The law on another input, whose likelihood ratio groups outcomes.

    Returns
    -------
    Fit or None
        None where the outputs do not have the form of the law's outcomes, or the law is of another kind.

    Notes
    -----
    **Guarantee.** Samples of the law have a p-value of at most a with probability at most a. A sampler that is off by
    more than what is stated has one of at most ``alpha`` with a probability of at least ``POWER``.
    **Checked against** simulated size and power.
    """
    flat = flattened(law)
    if flat is not None:
        return _finite(flat, outputs, alpha, None if other is None else flattened(other))
    width = width_of(law)
    if width is None or outputs.dtype.kind not in "biuf" or math.prod(outputs.shape[1:]) != width:
        return None
    return _held(law, outputs.reshape(len(outputs), width), alpha)


def width_of(law: Law) -> int | None:
    """How many numbers an output of a law consists of; None where they are none, differ, or follow too many choices."""
    if isinstance(law, LaplaceLaw | GaussianLaw):
        return 1
    if isinstance(law, FiniteLaw):
        return _numbers_in(law.outcomes)
    if isinstance(law, ProductLaw):
        widths = [width_of(part) for part in law.parts]
        return None if None in widths else sum(width or 0 for width in widths)
    if isinstance(law, PublicMixtureLaw) and len(law.labels) <= _MOST_CHOICES:
        label, rest = _numbers_in(law.labels), {width_of(part) for part in law.parts}
        return None if label is None or len(rest) > 1 or None in rest else label + (rest.pop() or 0)
    return None


def outcome_keyer(outputs: np.ndarray) -> Callable[[Any], Any]:
    """Return the function under which outputs like these and the outcomes of a law have equal keys where they agree."""
    # Rows of an array may stand for nested outcomes, such as a choice and what follows: compare their values in order.
    return _flat_key if outputs.ndim > 1 else outcome_key


def _held(law: Law, rows: np.ndarray, alpha: float) -> Fit:
    """Hold rows of numbers against a law that has as many."""
    if isinstance(law, LaplaceLaw | GaussianLaw):
        values = np.sort(rows[:, 0])
        p_value = cdf_distance(values, _cdf(law, values))
        return Fit(p_value=p_value, shift=cdf_shift(len(rows), alpha=alpha, power=POWER))
    if isinstance(law, ProductLaw):
        return _parts(law.parts, rows, alpha)
    if isinstance(law, PublicMixtureLaw):
        return _mixture(law, rows, alpha)
    assert isinstance(law, FiniteLaw)
    return _finite(law, rows if rows.shape[1] > 1 else rows[:, 0], alpha, None)


def _cdf(law: LaplaceLaw | GaussianLaw, values: np.ndarray) -> np.ndarray:
    """Distribution function of a law of numbers."""
    z = (values - law.location) / law.scale
    if isinstance(law, GaussianLaw):
        from scipy.special import ndtr

        return np.asarray(ndtr(z))
    tail = np.exp(-np.abs(z)) / 2
    return np.where(z < 0, tail, 1 - tail)


def _parts(parts: Sequence[Law], rows: np.ndarray, alpha: float) -> Fit:
    ends = np.cumsum([0, *(width_of(part) or 0 for part in parts)])
    share = alpha / len(parts)
    return _worst(
        (_held(part, rows[:, start:end], share) for part, (start, end) in zip(parts, pairwise(ends), strict=True)),
        len(parts),
    )


def _mixture(law: PublicMixtureLaw, rows: np.ndarray, alpha: float) -> Fit:
    """Hold the choices against their weights, and what follows each of them against its law."""
    choices = FiniteLaw(law.labels, law.log_weights)
    width = _numbers_in(law.labels)
    assert width is not None
    chosen, rest = rows[:, :width], rows[:, width:]
    number = {_flat_key(label): i for i, label in enumerate(law.labels)}
    values, inverse = np.unique(chosen, axis=0, return_inverse=True)
    labels = np.array([number.get(_flat_key(value), -1) for value in values])[inverse.ravel()]
    tests = 1 + len(law.labels)
    share = alpha / tests
    fits = [_finite(choices, chosen, share, None)]
    for i, part in enumerate(law.parts):
        group = rest[labels == i]
        if len(group):
            fits.append(_held(part, group, share))
    return _worst(fits, tests)


def _worst(fits: Iterable[Fit], tests: int) -> Fit:
    """Join so many tests: their least p-value, corrected, and the largest of their shifts."""
    made = list(fits)
    return Fit(
        p_value=min(1.0, tests * min(fit.p_value for fit in made)),
        shift=max(fit.shift for fit in made),
    )


def _finite(law: FiniteLaw, outputs: np.ndarray, alpha: float, other: FiniteLaw | None) -> Fit:
    """Test outcome by outcome, and by groups of similar likelihood ratio; return the smaller p-value doubled."""
    keyed = outcome_keyer(outputs)
    index = {keyed(outcome): i for i, outcome in enumerate(law.outcomes)}
    coder = Coder(outputs)
    codes = np.array([index.get(keyed(outcome), len(index)) for outcome in coder.outcomes])
    counts = np.bincount(codes[coder(outputs)], minlength=len(index) + 1)
    probabilities = np.append(np.exp(law.log_probabilities), 0.0)
    p_value = goodness_of_fit(counts, probabilities)
    if other is not None:
        grouped = _grouped(law, _ratios(law, other), counts, probabilities)
        p_value = min(p_value, goodness_of_fit(*grouped))
    up, down = detectable_shifts(probabilities, len(outputs), alpha=alpha / 2, power=POWER)
    return Fit(
        p_value=min(1.0, 2 * p_value),
        shift=float(max(up.max(), down.max())),
        variation=_variation(up[:-1], down[:-1], unlisted=float(up[-1])),
    )


def _variation(up: np.ndarray, down: np.ndarray, *, unlisted: float) -> float:
    """Total variation distance of which one probability's share is always seen, from what is seen of each.

    Half of all differences are upwards and add up to the distance, half downwards; neither are of all listed outcomes.
    """
    upwards = float(up.sum() - up.min()) + unlisted
    downwards = max(float(down.sum() - down.min()), unlisted)
    return min(_LARGEST_SHIFT, upwards, downwards)


def _grouped(
    law: FiniteLaw, ratios: dict[Any, float], counts: np.ndarray, probabilities: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Counts and probabilities of groups of outcomes with similar likelihood ratios, the last of unlisted outcomes."""
    by_ratio = np.array([ratios.get(outcome_key(outcome), -np.inf) for outcome in law.outcomes])
    order = np.argsort(by_ratio, kind="stable")
    reached = np.cumsum(probabilities[:-1][order]) - probabilities[:-1][order] / 2
    groups = np.empty(len(counts), dtype=int)
    groups[order] = np.minimum((reached * _GROUPS).astype(int), _GROUPS - 1)
    groups[-1] = _GROUPS
    grouped = [np.bincount(groups, weights=values, minlength=_GROUPS + 1) for values in (counts, probabilities)]
    return grouped[0].astype(int), grouped[1]


def _ratios(p: FiniteLaw, q: FiniteLaw) -> dict[Any, float]:
    """Log-ratio of the two laws by outcome."""
    other = dict(zip(map(outcome_key, q.outcomes), q.log_probabilities.tolist(), strict=True))
    keys = map(outcome_key, p.outcomes)
    with np.errstate(invalid="ignore"):
        return {
            key: float(np.nan_to_num(value - other.get(key, -np.inf)))
            for key, value in zip(keys, p.log_probabilities.tolist(), strict=True)
        }


def _numbers_in(outcomes: Sequence[Any] | np.ndarray) -> int | None:
    """How many numbers each of the outcomes consists of; None where that differs, or they are no numbers."""
    keys = [_flat_key(outcome) for outcome in outcomes]
    widths = {len(key) for key in keys}
    if len(widths) != 1 or not all(isinstance(value, int | float) for key in keys for value in key):
        return None
    return widths.pop()


def _flat_key(outcome: Any) -> Any:
    """Key under which a sampled row and a nested outcome of the law are the same: their values in order."""
    flat: list[Any] = []

    def visit(item: Any) -> None:
        if isinstance(item, tuple):
            for part in item:
                visit(part)
        else:
            small = isinstance(item, bool | float) or (isinstance(item, int) and abs(item) <= _EXACT_INTEGERS)
            flat.append(float(item) if small else item)

    visit(outcome_key(outcome))
    return tuple(flat)
