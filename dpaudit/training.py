"""Many steps of Gaussian noise on random batches, as in training by noisy gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from dpaudit.claims.evidence import Interval
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.ranges import in_range
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import ParameterError
from dpaudit.floating_point import our_settings
from dpaudit.laws import (
    BoundedComparison,
    ChainedComparison,
    Comparison,
    ComposedComparison,
    GaussianComparison,
    GaussianLoss,
    Law,
    PairedLaw,
    SplicedLoss,
    SubsampledGaussianSteps,
    SubstitutedGaussianLoss,
    subsampled,
)
from dpaudit.mechanism import Mechanism, parameter

Relation = Literal["add-remove", "substitution"]
Sampling = Literal["poisson", "without-replacement"]

_FINER = 50.0
"""How many times narrower the enclosure becomes where a claim lies inside it."""

WITH, WITHOUT = "with the record", "without it"
BEFORE, AFTER = "the record", "its replacement"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountantVerdict:
    """What an accountant's epsilon is worth.

    Attributes
    ----------
    verdict
        ``proved`` (no less than the truth), ``refuted`` (less), or ``inconclusive`` (within the enclosure).
    claimed
        The accountant's epsilon.
    epsilon
        Enclosure of the true one.
    tightness
        Claimed over true epsilon; enclosed.

    Examples
    --------
    >>> import dpaudit
    >>> steps = dpaudit.NoisySteps(noise_multiplier=1.0, rate=0.01, steps=1000)
    >>> answer = steps.judge(epsilon=2.0, delta=1e-6)
    >>> str(answer.verdict), round(answer.epsilon.lower, 2)
    ('refuted', 2.12)
    """

    verdict: Verdict
    claimed: float
    epsilon: Interval
    tightness: Interval


class NoisySteps(Mechanism):
    """Sums of clipped vectors with Gaussian noise, on a random batch in every step: what accountants account for.

    In every step each record contributes a vector of norm 1 at most, which may depend on all earlier outputs. Claims
    come from a subclass that asks an accountant, such as those in ``examples/accountants``; `epsilon` and `judge`
    answer without one.

    Parameters
    ----------
    noise_multiplier
        Standard deviation of the noise in parts of the clipping norm, above 0.
    rate
        Share of the records in the batch of a step, in (0, 1].
    steps
        Number of steps, at least 1.
    relation
        ``add-remove`` or ``substitution``.
    sampling
        ``poisson`` or ``without-replacement``.

    Notes
    -----
    Known by dominating pairs of laws, which take the place of all pairs of datasets:

    - Poisson sampling, add-remove: (1 - q) N(0) + q N(1) against N(0), and the reverse. Attained, so that the
      enclosure is as narrow as the grid (Zhu, Dong, Wang, AISTATS 2022, Theorem 11).
    - Poisson sampling, substitution: no tight pair is proved. Below: a record +1 replaced by -1 among records 0.
      Above: the record removed, then the other one added.
    - Sampling without replacement, substitution: below, the same record among records that are all -1, or all +1.
      Above, the pair whose divergences are the larger of both at every epsilon (Zhu, Dong, Wang, on sampling without
      replacement), which no dataset attains in general (Lebeda, Regehr, Kamath, Steinke, "Avoiding pitfalls for
      privacy accounting of subsampled mechanisms under composition", 2024).

    **Checked against** closed forms without sampling, and dp-accounting's distributions.

    Examples
    --------
    >>> steps = NoisySteps(noise_multiplier=1.0, rate=0.01, steps=1000)
    >>> enclosure = steps.epsilon(1e-6)
    >>> round(enclosure.lower, 2), round(enclosure.upper, 2)
    (2.12, 2.12)
    """

    noise_multiplier: float = parameter(1.0, above=0, doc="standard deviation of the noise, over the clipping norm")
    rate: float = parameter(0.01, above=0, maximum=1, doc="probability that a record is in a batch")
    steps: int = parameter(1000, minimum=1, doc="number of batches")
    relation: Relation = parameter("add-remove", doc="neighbouring relation")
    sampling: Sampling = parameter("poisson", doc="how batches are drawn")

    name = "noisy-steps"
    model = "central"

    def validate(self) -> None:
        """Refuse what has no known pair."""
        if self.sampling == "without-replacement" and self.relation == "add-remove" and self.rate < 1:
            raise ParameterError(
                f"{self.name}: batches drawn without replacement have a known pair under substitution only; "
                "set relation to substitution"
            )

    def neighbours(self) -> Neighbouring:
        """Return the pair that stands for all."""
        return Neighbouring(
            relation=self.relation,
            pairs=[(WITH, WITHOUT) if self.relation == "add-remove" else (BEFORE, AFTER)],
            complete=True,
            scope="any two datasets that differ in one record, by a pair of laws that dominates them",
        )

    def law(self, data: Any) -> Law:
        """Law of all outputs together on the dataset of the pair."""
        forward, backward = _comparisons(
            self.noise_multiplier, self.rate, self.steps, self.relation, self.sampling, 1.0
        )
        return PairedLaw(data in (WITH, BEFORE), forward, backward)

    @our_settings()
    def epsilon(self, delta: float) -> Interval:
        """Enclose the smallest epsilon at this delta, over both directions.

        Parameters
        ----------
        delta
            In [0, 1).

        Raises
        ------
        ParameterError
            delta is out of range.
        """
        if not in_range(delta, 0, 1, without=(1.0,)):
            raise ParameterError(f"delta must be at least 0 and below 1, got {delta}")
        return _larger([side.epsilon(delta) for side in self._sides()])

    @our_settings()
    def delta(self, epsilon: float) -> Interval:
        """Enclose delta at this epsilon >= 0, over both directions."""
        if not in_range(epsilon, 0):
            raise ParameterError(f"epsilon must be a finite number of at least 0, got {epsilon}")
        return _larger([side.delta(epsilon) for side in self._sides()])

    @our_settings()
    def judge(self, epsilon: float, delta: float) -> AccountantVerdict:
        """Say whether an accountant that claims (epsilon, delta) for these steps is right, and how loose it is.

        Parameters
        ----------
        epsilon
            What it claims; infinity is always right.
        delta
            For which delta.
        """
        if not in_range(epsilon, infinite=True):
            raise ParameterError(f"an accountant's epsilon must be a number, got {epsilon}")
        verdict = Verdict.INCONCLUSIVE
        truth = self.epsilon(delta)
        for finer in (1.0, _FINER):
            if finer > 1:
                truth = _larger([side.epsilon(delta) for side in self._sides(finer)])
            lower, upper = truth.lower or 0.0, math.inf if truth.upper is None else truth.upper
            if not lower <= epsilon < upper:
                verdict = Verdict.PROVED if epsilon >= upper else Verdict.REFUTED
                break
        tightness = Interval(
            lower=epsilon / upper if upper > 0 else math.inf, upper=epsilon / lower if lower > 0 else math.inf
        )
        return AccountantVerdict(verdict=verdict, claimed=epsilon, epsilon=truth, tightness=tightness)

    def _sides(self, finer: float = 1.0) -> list[Comparison]:
        """Both directions, or one that is the same in both."""
        setting = self.noise_multiplier, self.rate, self.steps, self.relation, self.sampling
        forward, backward = _comparisons(*setting, finer)
        return [forward] if forward is backward else [forward, backward]


def _larger(sides: Sequence[Interval]) -> Interval:
    upper = max(math.inf if side.upper is None else side.upper for side in sides)
    return Interval(lower=max(side.lower or 0.0 for side in sides), upper=upper)


@lru_cache(maxsize=8)
def _comparisons(
    noise: float, rate: float, steps: int, relation: Relation, sampling: Sampling, finer: float
) -> tuple[Comparison, Comparison]:
    """Compare both laws of the pair, in both directions."""
    # A record that is replaced moves the sum by twice its norm.
    distance = (1.0 if relation == "add-remove" else 2.0) / noise
    if rate == 1:
        plain = GaussianComparison(math.sqrt(steps) * distance, 0.0, 1.0)
        return plain, plain
    loss = subsampled(GaussianLoss(distance if sampling == "without-replacement" else 1 / noise), rate)
    if relation == "add-remove":
        mixed, unmixed = (
            SubsampledGaussianSteps(
                above=[(side, steps)], fineness=finer, ratio=distance, rate=rate, steps=steps, removed=removed
            )
            for side, removed in ((loss, True), (loss.reversed(), False))
        )
        return mixed, unmixed
    removed, added = (ComposedComparison([(side, steps)], fineness=finer) for side in (loss, loss.reversed()))
    if sampling == "poisson":
        below = ComposedComparison([(SubstitutedGaussianLoss(1 / noise, rate), steps)], fineness=finer)
        replaced = BoundedComparison([below], [ChainedComparison(removed, added), ChainedComparison(added, removed)])
        return replaced, replaced
    above = ComposedComparison([(SplicedLoss(loss, loss.reversed()), steps)], fineness=finer)
    replaced = BoundedComparison([removed, added], [above])
    return replaced, replaced
