"""A lower confidence bound on epsilon for one function and one pair of inputs, without a mechanism or a claim."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpaudit.auditors.blackbox.audit import what_was_not_used, why_no_limit, why_no_limit_in_time
from dpaudit.auditors.blackbox.choosing import planned_in_time
from dpaudit.auditors.blackbox.pair import PairBound, bound_pair
from dpaudit.auditors.blackbox.sequential import EarlyTest
from dpaudit.auditors.blackbox.tasks import PairTask, check_samples
from dpaudit.auditors.outputs.features import FeatureMap, feature_map
from dpaudit.auditors.outputs.forms import alike, concatenated
from dpaudit.auditors.sampling.again import ONLY_THESE, are_texts, drawn_again, most_looked_at
from dpaudit.auditors.sampling.arguments import check_claimed, check_delta, check_seed, check_true_or_false
from dpaudit.auditors.sampling.budget import DEFAULT_CONFIDENCE, DEFAULT_SAMPLES, Budget, deadline_in
from dpaudit.auditors.sampling.pace import OutOfTimeError, Pace, clock
from dpaudit.auditors.sampling.sampler import SampleFunction, Sampler, check_function
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.auditors.sampling.supports import SupportFunction
from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.claims.inputs import input_key, is_twice_the_same, short_repr
from dpaudit.claims.record import plain
from dpaudit.errors import CheckError, ParameterError
from dpaudit.floating_point import our_settings
from dpaudit.sources.programs import answering_by

_FEWEST_SEEN = 100
"""Outputs of a call from which on it is looked at."""

_FEWEST_COMPARED, _COMPARING = 500, 0.03
"""Outputs of either input that are compared whatever that takes, and part of the time so far that comparing more
after a deadline may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """Lower confidence bound on epsilon for one pair of inputs.

    Attributes
    ----------
    epsilon
        The bound: with the stated confidence no smaller epsilon holds at ``delta``; 0 where nothing can be said.
    delta, confidence
        Delta at which epsilon is bounded, and the probability, at least, with which the bound is not above the truth.
    detection_limit
        Smallest epsilon that would have been refuted with 95 % power, if an event about as likely as this one forced
        it, or a rarer one where none as likely can; ``inf`` if none, and where the outputs or their features may hide
        any. What other events show, such as rarer ones, may be larger and be missed.
    event
        The event, in a form that can be recomputed; None where the time was over before there was one.
    reverse
        Whether the event is likelier on the second input.
    hits, trials
        Occurrences and trials on the likelier and on the other input, in the final sample.
    p, q
        Observed frequencies of the event on the likelier and on the other input; 0 where there were no trials.
    samples
        Samples drawn from both inputs altogether.
    stopped_early
        Whether sampling ended before the budget, because a bound above ``claimed`` had been reached.
    out_of_time
        Whether sampling ended before ``samples``, because the ``seconds`` allowed were over; the bound and the
        detection limit are those of the outputs there were.
    recipe
        The event as data, from which `dpaudit verify` makes it again; None where it can only be learned again. It may
        be long and is left out of the ``repr``.
    candidate
        Which of the events chosen this one is: 0 for the main one, others beside it.
    left_out
        Names of the families of scores that were not learned, because they would have taken too long.
    notes
        What the note of an audit says: why the detection limit is infinite and what helps, such as `features` or
        `supports` where every output is new and hides what it depends on; what was left out; and outputs that were too
        many to choose the event.

    Examples
    --------
    >>> import dpaudit
    >>> bound = dpaudit.epsilon_lower_bound(lambda x, size, rng: rng.laplace(x, 0.5, size), 0, 1, samples=50_000)
    >>> 1.7 < bound.epsilon <= 2  # epsilon is 2
    True
    >>> bound.confidence, bound.stopped_early
    (0.999, False)
    """

    epsilon: float
    delta: float
    confidence: float
    detection_limit: float
    event: Any
    reverse: bool
    hits: tuple[int, int]
    trials: tuple[int, int]
    p: float
    q: float
    samples: int
    stopped_early: bool = False
    out_of_time: bool = False
    recipe: dict[str, Any] | None = field(default=None, repr=False)
    candidate: int = 0
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@our_settings()
def epsilon_lower_bound(
    sample: SampleFunction,
    x: Any,
    y: Any,
    *,
    delta: float = 0.0,
    samples: int = DEFAULT_SAMPLES,
    seconds: float | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 0,
    claimed: float = 0.0,
    stop_early: bool = False,
    features: FeatureMap | str | None = None,
    supports: SupportFunction | None = None,
    name: str = "the mechanism",
    own_randomness: bool = False,
) -> LowerBound:
    """Bound epsilon from below for one pair of inputs, from samples alone.

    A fifth of the samples (a smaller part of more than a million) chooses an event; the others, which played no part in
    that, bound its probabilities.

    Parameters
    ----------
    sample
        ``sample(data, size, rng)`` returns ``size`` independent outputs along axis 0: numbers, rows of numbers,
        strings, or structures of these (see the page on sampling for values of other types).
    x, y
        The two inputs; both directions are considered.
    delta
        In [0, 1).
    samples
        Samples per input, at least 1000; 1,000,000 by default.
    seconds
        This long after the call was made sampling ends with what it has, once the call of ``sample`` under way returns;
        samples and calls are planned by how fast ``sample`` is. (Python imports the function before it is called: the
        first use of its name takes about a second more.) A fifth of the error probability goes to a bound that holds at
        all times.
        If the time is over before there is an event, the bound is 0, ``event`` is None and the detection limit is
        ``inf``. What is known by then depends on the clock, so that equal seeds may give different results.
    confidence
        In (0, 1).
    seed
        Equal seeds give equal results, unless ``seconds`` is given.
    claimed
        Epsilon that the detection limit refers to, and that ``stop_early`` tries to refute; >= 0.
    stop_early
        Whether to stop as soon as a bound above ``claimed`` is reached. Half of the error probability goes to bets
        on a few hundred outputs, which find gross violations, and half of the rest to a bound that holds at all times.
    features
        Function of an array of outputs that returns an array of what to look at, one row per output; or
        ``"float-bits"`` for the bit patterns of floating-point outputs. As long as it looks at every output on its
        own, it cannot make a bound invalid.
    supports
        ``supports(outputs, data)`` returns whether each output speaks for the input ``data``, an array of bool of shape
        (size,), or None where that is not known (see `Mechanism.supports`). What the outputs support is looked at
        besides the outputs, or their features, themselves. It is asked about ``x`` and about ``y``, for all outputs of
        a call at once and for some of them again. Of rows of numbers, the answers are the last two columns.
    name
        Name of the mechanism in messages.
    own_randomness
        Whether ``sample`` draws from a source that ``rng`` does not seed; equal seeds then give different results.

    Returns
    -------
    LowerBound

    Raises
    ------
    ParameterError
        ``sample`` is no function, ``x`` and ``y`` are equal, a number is out of range, ``features`` has no such name,
        or ``supports`` is not a function.
    CheckError
        The sampler raises, returns the wrong shape or NaN, changes its input, or takes randomness from elsewhere; or
        ``supports`` returns something else than one bool per output, or says something else of an output among others;
        or outputs depend on each other beyond chance, which independent ones do with probability 1e-6 at most;
        or the sampler seems to draw rows of a fixed array again and again, which would tell the arrays apart and not
        the inputs: give such rows to `bound_from_samples`.

    Notes
    -----
    **Guarantee.** With probability at least ``confidence`` the bound is not above the true epsilon at ``delta``.
    With delta = 0 the final trials are assigned to the inputs by fair coins, so that the split of the hits is
    binomial and the whole error probability goes into one Clopper-Pearson bound; with delta > 0 two bounds share it.
    Where more than one event goes to the final sample, the main one and up to four others, they share it too.
    **Checked against** closed forms and the rate of false refutations on mechanisms that meet their claim exactly.

    Examples
    --------
    >>> import dpaudit
    >>> def noisy_count(count, size, rng):
    ...     return rng.laplace(count, 0.5, size)
    >>> bound = dpaudit.epsilon_lower_bound(noisy_count, 0, 1, samples=50_000, seed=1)
    >>> 1.7 < bound.epsilon <= 2  # epsilon is 2
    True
    """
    check_function(sample)
    deadline = deadline_in(seconds)
    budget = Budget(samples=samples, confidence=confidence, deadline=deadline)
    check_samples(samples)
    check_delta(delta)
    check_seed(seed)
    check_claimed(claimed)
    check_true_or_false(stop_early=stop_early, own_randomness=own_randomness)
    look = feature_map(features)
    if supports is not None and not callable(supports):
        raise ParameterError(f"supports must be a function of outputs and an input, got {short_repr(supports)}")
    if is_twice_the_same((x, y)):
        raise ParameterError(f"x and y are equal: {short_repr(x)}; give two inputs that differ")
    sampler = _Watched(
        sample,
        name,
        Streams(seed, ("epsilon_lower_bound",)),
        inputs=(x, y),
        own_randomness=own_randomness,
        features=look,
        supports=supports,
        pace=budget.pace(2 * samples),
    )
    task = PairTask(
        guarantee=ApproximateDP(float(claimed), float(delta)),
        samples=samples,
        alpha=budget.alpha,
        stop_early=stop_early,
        timed=deadline is not None,
        asked=samples,
    )
    try:
        with answering_by(deadline):
            bound = _bound(sampler, x, y, task)
        notes = _notes(bound, task.guarantee, sampler.pace)
    except OutOfTimeError:
        bound = _NOTHING
        notes = (f"{sampler.pace.out_of_time}, before there was an event to look at",)
    if task.timed:
        bound = replace(bound, samples=sampler.pace.drawn)
    notes += sampler.check_new()
    return LowerBound(
        epsilon=bound.value,
        delta=delta,
        confidence=confidence,
        detection_limit=bound.detection_limit,
        event=_written(bound.event),
        reverse=bound.reverse,
        hits=bound.hits,
        trials=bound.trials,
        p=bound.p,
        q=bound.q,
        samples=bound.samples,
        stopped_early=bound.stopped_early,
        out_of_time=bound.out_of_time,
        recipe=bound.recipe,
        candidate=bound.candidate,
        left_out=bound.left_out,
        # Notes are worded for the command line.
        notes=tuple(note.replace("--samples", "`samples`").replace("--seconds", "`seconds`") for note in notes),
    )


def _written(event: Any) -> Any:
    """Return an event; as plain data, where Python does not write a number with so many digits."""
    try:
        repr(event)
    except ValueError:
        return plain(event)
    return event


_NOTHING = PairBound(
    value=0.0,
    detection_limit=math.inf,
    event=None,
    reverse=False,
    hits=(0, 0),
    trials=(0, 0),
    p=0.0,
    q=0.0,
    samples=0,
    out_of_time=True,
)
"""What is known where the time was over before there was an event."""


def _bound(sampler: Sampler, x: Any, y: Any, task: PairTask) -> PairBound:
    if task.timed:
        task = planned_in_time(sampler, x, y, task)
    drawn = 0
    if task.stop_early:
        early = EarlyTest(sampler, task)
        refuted = early.run([(x, y)])
        if refuted is not None:
            return refuted[1]
        task, drawn = early.task_after, early.drawn
    bound = bound_pair(sampler, x, y, task)
    return replace(bound, samples=bound.samples + drawn)


def _notes(bound: PairBound, guarantee: Guarantee, pace: Pace) -> tuple[str, ...]:
    notes = []
    if bound.out_of_time:
        notes.append(pace.out_of_time)
        if not guarantee.exceeds(bound.value):
            notes += why_no_limit_in_time(bound, guarantee.forced)
    elif math.isinf(bound.detection_limit) and not guarantee.exceeds(bound.value):
        notes.append(why_no_limit(bound, guarantee.forced))
    return (*notes, *what_was_not_used(bound))


class _Watched(Sampler):
    """A sampler of which the first outputs on either input are kept, to see whether they come again."""

    def __init__(self, *arguments: Any, inputs: tuple[Any, Any], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._keys = input_key(inputs[0]), input_key(inputs[1])
        self._seen: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self._notes: tuple[str, ...] | None = None
        self._begun = clock()

    def call(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        """Return the outputs of one call, checked."""
        outputs = super().call(data, size, rng)
        key = input_key(data)
        # Calls for a few outputs look at whether the sampler repeats itself, from one stream.
        if size >= _FEWEST_SEEN and outputs.dtype.kind in "fcOV":
            most = most_looked_at(outputs)
            for kept, other in zip(self._seen, self._keys, strict=True):
                missing = most - sum(map(len, kept))
                if key == other and missing > 0:
                    kept.append(outputs[:missing].copy())
                    break
            if self._notes is None and min(sum(map(len, kept)) for kept in self._seen) >= most:
                # As early as possible: after the last call, a deadline is over.
                self._notes = self._compared(most)
        return outputs

    def check_new(self) -> tuple[str, ...]:
        """Return a note where outputs of both inputs that are texts seem to be drawn from a fixed few.

        Raises
        ------
        CheckError
            Other outputs seem to be drawn from a fixed few, such as rows of an array.
        """
        if self._notes is not None or not all(self._seen):
            return self._notes or ()
        most = max(sum(map(len, kept)) for kept in self._seen)
        if self.pace.timed and most > _FEWEST_COMPARED:
            begun = clock()
            notes = self._compared(_FEWEST_COMPARED)
            if (clock() - begun) * most / _FEWEST_COMPARED > _COMPARING * (begun - self._begun):
                return notes
        return self._compared(most)

    def _compared(self, most: int) -> tuple[str, ...]:
        """As `check_new`, of so many outputs of either input, at most."""
        if self._keys[0] == self._keys[1]:
            return ()
        x, y = (side[:most] for side in alike(*map(concatenated, self._seen)))
        again = drawn_again(x, y)
        if again is None:
            return ()
        if are_texts(x):
            return (f"`sample` seems to draw some {again} outputs again and again; {ONLY_THESE}",)
        raise CheckError(
            f"{self.name}: `sample` seems to draw some {again} outputs again and again, as from a fixed array or "
            "a random generator of few states. Give fixed arrays to `dpaudit.bound_from_samples`, because this "
            "would tell the arrays apart and not the inputs. If there are no other outputs, return them as texts"
        )
