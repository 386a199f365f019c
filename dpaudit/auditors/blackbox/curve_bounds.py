"""Lower confidence bounds on a whole privacy profile, and on all that follows from it, from one run of samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpaudit.auditors.blackbox.samples import split_samples
from dpaudit.auditors.blackbox.tasks import PairTask, check_samples
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.event_families import FamilyEvent, choose_family
from dpaudit.auditors.learning.scores import Score, scores_of
from dpaudit.auditors.outputs.column_words import Naming
from dpaudit.auditors.outputs.features import FeatureMap, feature_map
from dpaudit.auditors.outputs.forms import alike
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.arguments import check_guarantee, check_seed
from dpaudit.auditors.sampling.budget import DEFAULT_CONFIDENCE, DEFAULT_SAMPLES, Budget, complement
from dpaudit.auditors.sampling.sampler import SampleFunction, Sampler, check_function
from dpaudit.auditors.sampling.streams import CHUNK, Streams
from dpaudit.claims.evidence import Curves
from dpaudit.claims.guarantees import ApproximateDP, GaussianDP, Guarantee, RenyiDP, ZeroConcentratedDP
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError
from dpaudit.floating_point import our_settings
from dpaudit.laws.lower_profile import LowerProfile
from dpaudit.statistics.corners import Corners, joint_corners

_SHOWN = 33
_TYPE_ONE = np.r_[0.0, 0.001, 0.005, 0.01, 0.02, np.arange(1, 21) / 20]
_LARGEST_EPSILON = 500.0
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedEvent:
    """An event of a family, with how often it occurred.

    Attributes
    ----------
    event
        The event, in a form that can be recomputed.
    reverse
        Whether it is likelier on the second input.
    hits
        Occurrences on the likelier and on the other input.
    alpha
        Error probability of the region that bounds its two probabilities.
    """

    event: Any
    reverse: bool
    hits: tuple[int, int]
    alpha: float


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivacyBounds:
    """Bounds on the privacy of one pair of inputs, all of them true at once with the stated confidence.

    Each is for the worse of both directions: no smaller parameter holds for the pair.

    Attributes
    ----------
    confidence
        Probability, at least, with which all bounds are true.
    trials
        Outputs of each input that were counted, or of that with fewer; further ones chose the events.
    samples
        Outputs drawn from both inputs altogether.
    events
        The events that were counted.

    Examples
    --------
    >>> import dpaudit
    >>> bounds = dpaudit.privacy_bounds(lambda x, size, rng: rng.normal(x, 1.0, size), 0, 1, samples=20_000)
    >>> bounds.samples
    40000
    >>> bounds.epsilon(0.1) < 1
    True
    """

    confidence: float
    trials: int
    samples: int
    events: tuple[BoundedEvent, ...]
    _forward: Corners = field(repr=False)
    """Corners of the events' regions, as likelier on the first input; of the complement where an event is reversed."""

    @cached_property
    def _directions(self) -> tuple[Corners, Corners]:
        return self._forward, self._forward.reverse

    @cached_property
    def _profile(self) -> LowerProfile:
        forward, backward = self._directions
        return LowerProfile.from_corners((forward.p, forward.q), (backward.p, backward.q))

    def delta(self, epsilon: float) -> float:
        """Lower bound on delta at an epsilon >= 0.

        Raises
        ------
        ParameterError
            Epsilon is negative or no number.
        """
        if not in_range(epsilon, 0, infinite=True):
            raise ParameterError(f"epsilon must be at least 0, got {epsilon}")
        z = math.exp(min(epsilon, _LARGEST_EPSILON))
        found = max(float((each.p - z * each.q).min(axis=1).max()) for each in self._directions)
        return max(0.0, found)

    def epsilon(self, delta: float = 0.0) -> float:
        """Lower bound on epsilon at a delta in [0, 1].

        Raises
        ------
        ParameterError
            Delta is out of range.
        """
        if not in_range(delta, 0, 1):
            raise ParameterError(f"delta must be in [0, 1], got {delta}")
        return self.forces(ApproximateDP(0.0, float(delta)))

    @cached_property
    def mu(self) -> float:
        """Lower bound on mu of Gaussian differential privacy."""
        return self.forces(GaussianDP(0.0))

    @cached_property
    def rho(self) -> float:
        """Lower bound on rho of zero-concentrated differential privacy."""
        return max(self._profile.concentration(), self.forces(ZeroConcentratedDP(0.0)))

    def renyi(self, alpha: float) -> float:
        """Lower bound on the Renyi divergence of an order >= 1; of order 1 Kullback and Leibler's, infinity allowed.

        Raises
        ------
        ParameterError
            The order is below 1 or no number.
        """
        if not in_range(alpha, 1, infinite=True):
            raise ParameterError(f"alpha must be at least 1, got {alpha}")
        if math.isinf(alpha):
            return self.epsilon(0.0)
        found = float(self._profile.renyi(np.array([float(alpha)]))[0])
        return found if alpha == 1 else max(found, self.forces(RenyiDP(float(alpha), 0.0)))

    def forces(self, guarantee: Guarantee) -> float:
        """Lower bound on the forced parameter of any guarantee, the others being as claimed, from one event alone.

        `epsilon`, `mu` and `delta` are of this kind; `rho` and `renyi` may be larger, because they look at all events.

        Raises
        ------
        ParameterError
            It is no guarantee.
        """
        check_guarantee(guarantee)
        found = (np.asarray(guarantee.forces(each.p, each.q)).min(axis=1).max() for each in self._directions)
        return max(0.0, float(max(found))) * (1 - _ROUNDING)

    def trade_off(self, type_one: float) -> float:
        """Upper bound on the least type II error of a test with a type I error in [0, 1].

        Raises
        ------
        ParameterError
            The type I error is out of range.
        """
        if not in_range(type_one, 0, 1):
            raise ParameterError(f"type_one must be in [0, 1], got {type_one}")
        return float(self._profile.trade_off(np.array([float(type_one)]))[0])

    def curves(self) -> Curves:
        """Return both curves as data: nothing is known of delta from above, nor of type II errors from below."""
        end = self.epsilon(0.0) or 1.0
        epsilons = np.linspace(0.0, end, _SHOWN)
        return Curves(
            epsilon=tuple(epsilons.tolist()),
            delta_lower=tuple(self.delta(epsilon) for epsilon in epsilons.tolist()),
            delta_upper=(1.0,) * _SHOWN,
            type_one=tuple(_TYPE_ONE.tolist()),
            type_two_lower=(0.0,) * len(_TYPE_ONE),
            type_two_upper=tuple(self._profile.trade_off(_TYPE_ONE).tolist()),
        )

    def in_words(self) -> str:
        """Return the bounds that are asked for most, rounded down."""
        return (
            f"epsilon >= {_down(self.epsilon(0.0))} at delta 0, {_down(self.epsilon(1e-5))} at 1e-05; "
            f"mu >= {_down(self.mu)}; rho >= {_down(self.rho)}"
        )

    def __repr__(self) -> str:
        """The bounds that are asked for most, with the confidence and the numbers of events and of outputs."""
        return (
            f"<PrivacyBounds {self.in_words()}; confidence {self.confidence:g}, "
            f"{len(self.events)} {'event' if len(self.events) == 1 else 'events'}, {self.trials:,} outputs per input>"
        )


def _down(value: float) -> str:
    """A number in four digits, rounded down."""
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.floor(value / unit) * unit:.4g}"


@our_settings()
def privacy_bounds(
    sample: SampleFunction,
    x: Any,
    y: Any,
    *,
    samples: int = DEFAULT_SAMPLES,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 0,
    features: FeatureMap | str | None = None,
    name: str = "the mechanism",
    own_randomness: bool = False,
) -> PrivacyBounds:
    """Bound a pair's privacy profile, trade-off function, Renyi divergences, rho and mu at once, from samples alone.

    A fifth of the samples (a smaller part of more than a million) chooses a few dozen events; the others, which played
    no part in that, bound their probabilities on both inputs.

    Parameters
    ----------
    sample
        ``sample(data, size, rng)`` returns ``size`` independent outputs along axis 0, as for `epsilon_lower_bound`.
    x, y
        The two inputs; both directions are considered.
    samples
        Samples per input, at least 1000.
    confidence
        In (0, 1).
    seed
        Equal seeds give equal results.
    features
        Function of an array of outputs that returns an array of what to look at, one row per output; or
        ``"float-bits"``, as for `epsilon_lower_bound`.
    name
        Name of the mechanism in messages.
    own_randomness
        Whether ``sample`` draws from a source that ``rng`` does not seed; equal seeds then give different results.

    Returns
    -------
    PrivacyBounds

    Raises
    ------
    ParameterError
        ``sample`` is no function, or a number is out of range.
    CheckError
        The sampler raises, returns the wrong shape or NaN, changes its input, or takes randomness from elsewhere.

    Notes
    -----
    **Guarantee.** With probability at least ``confidence`` every number that the result gives is on the right side of
    the truth: every event's two probabilities are in their region (`joint_corners`), whose error probabilities sum to
    1 - ``confidence``, and all else follows from these without further error.
    **Checked against** exact coverage of the regions, closed forms, and the rate of errors over many runs.

    Examples
    --------
    >>> import dpaudit
    >>> bounds = dpaudit.privacy_bounds(lambda data, size, rng: rng.normal(data, 1.0, size), 0, 1, samples=50_000)
    >>> bounds.epsilon(1e-5) < 4.38 and 0.9 < bounds.mu < 1 and 0.4 < bounds.rho < 0.5
    True
    """
    check_function(sample)
    Budget(samples=samples, confidence=confidence)
    check_samples(samples)
    check_seed(seed)
    sampler = Sampler(
        sample,
        name,
        Streams(seed, ("privacy_bounds",)),
        own_randomness=own_randomness,
        features=feature_map(features),
    )
    for data in (x, y):
        sampler.check_deterministic(data)
    pure = ApproximateDP(0.0)
    task = PairTask(
        guarantee=pure, samples=samples, alpha=complement(confidence), most_selected=sampler.selection_limit
    )
    drawn = (sampler.draw(data, task.selection, "selection", side) for side, data in enumerate((x, y)))
    of_x, of_y = map(Outputs, alike(*drawn))
    sampler.keep_form()
    family = choose_family(of_x, of_y, FinalTest(pure, task.final, task.alpha))
    del of_x, of_y
    counts = [_count(family, _drawn(sampler, data, task.final, side)) for side, data in enumerate((x, y))]
    trials = (task.final, task.final)
    return _bounds(family, counts, trials, confidence=confidence, samples=2 * samples, naming=sampler.naming)


@our_settings()
def privacy_bounds_from_samples(
    a: Any,
    b: Any,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 0,
    features: FeatureMap | str | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> PrivacyBounds:
    """Bound all that `privacy_bounds` does, by outputs that were drawn already on each of two neighbouring inputs.

    The rows are split once at random under the seed: a part chooses the events, and the others bound their
    probabilities.

    Parameters
    ----------
    a, b
        Outputs on either input, as for `bound_from_samples`: at least 20 rows each, not necessarily equally many.
    confidence
        In (0, 1).
    seed
        Equal seeds give equal results.
    features
        As for `privacy_bounds`.
    names
        What messages call the two sides.

    Returns
    -------
    PrivacyBounds

    Raises
    ------
    ParameterError
        A number is out of range.
    DataError
        There are too few rows, NaN, or columns of different types, or of times without a common unit, on the two sides.
    CheckError
        The rows are resamples of a few; or ``features`` returns the wrong shape or NaN, or does not look at every
        output on its own.
    TargetRaisedError
        ``features`` raises.

    Notes
    -----
    **Guarantee.** As for `privacy_bounds`, where the rows were drawn independently of each other.
    **Checked against** closed forms, and the rate of errors over many runs.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> rng = np.random.default_rng(1)
    >>> bounds = dpaudit.privacy_bounds_from_samples(rng.normal(0, 1, 40_000), rng.normal(1, 1, 50_000))
    >>> 0.9 < bounds.mu < 1 and 0.4 < bounds.rho < 0.5
    True
    """
    split = split_samples(
        a, b, "privacy_bounds_from_samples", confidence=confidence, seed=seed, features=features, names=names
    )
    pure, alpha = ApproximateDP(0.0), complement(float(confidence))
    x, y = split.choosing(PairTask(guarantee=pure, samples=min(split.rows), alpha=alpha))
    family = choose_family(x, y, FinalTest(pure, min(split.judging), alpha))
    counts = [_count(family, split.judged(side)) for side in (0, 1)]
    confidence, naming = float(confidence), split.naming(x)
    return _bounds(family, counts, split.judging, confidence=confidence, samples=sum(split.rows), naming=naming)


def _bounds(
    family: list[FamilyEvent],
    counts: list[np.ndarray],
    trials: tuple[int, int],
    *,
    confidence: float,
    samples: int,
    naming: Naming,
) -> PrivacyBounds:
    """Bound everything by how often the events of a family occurred on either input, in so many outputs."""
    # A reversed event is likelier on the second input, so that its complement is likelier on the first.
    forward = [
        np.where([each.reverse for each in family], total - hits, hits)
        for hits, total in zip(counts, trials, strict=True)
    ]
    alphas = np.array([each.alpha for each in family])
    return PrivacyBounds(
        confidence=confidence,
        trials=min(trials),
        samples=samples,
        events=tuple(
            BoundedEvent(
                event=each.event.describe(naming),
                reverse=each.reverse,
                hits=(int(hits[int(each.reverse)]), int(hits[int(not each.reverse)])),
                alpha=each.alpha,
            )
            for each, hits in zip(family, np.stack(counts).T, strict=True)
        ),
        _forward=joint_corners(forward[0], trials[0], forward[1], trials[1], alphas),
    )


def _drawn(sampler: Sampler, data: Any, size: int, side: int) -> Iterator[Outputs]:
    """Fresh outputs, each drawn once."""
    for number, start in enumerate(range(0, size, CHUNK)):
        yield Outputs(sampler.draw_once(data, min(CHUNK, size - start), "final", side, number))


def _count(family: list[FamilyEvent], chunks: Iterable[Outputs]) -> np.ndarray:
    """Occurrences of every event in outputs, each of which is scored once."""
    scores: list[Score] = []
    members: list[list[int]] = []
    for i, each in enumerate(family):
        known = [j for j, score in enumerate(scores) if score is each.event.score]
        if not known:
            scores.append(each.event.score)
            members.append([])
        members[known[0] if known else -1].append(i)
    counts = np.zeros(len(family), dtype=np.int64)
    for outputs in chunks:
        for score, chosen in zip(scores, members, strict=True):
            ordered = np.sort(scores_of(score, outputs))
            thresholds = np.array([family[i].event.threshold for i in chosen])
            above = np.array([family[i].event.above for i in chosen])
            at_least = len(ordered) - np.searchsorted(ordered, thresholds, side="left")
            counts[chosen] += np.where(above, at_least, np.searchsorted(ordered, thresholds, side="right"))
    return counts
