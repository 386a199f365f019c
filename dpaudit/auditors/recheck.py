"""Checking a violation again: its event from data, or learned again, counted in fresh samples.

An event as data is a dictionary whose ``kind`` is ``score`` (a score of the outputs and a threshold), ``outcomes`` (a
list of outcomes) or ``loss`` (outputs whose log-likelihoods differ by more than ``above``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpaudit.auditors.blackbox.audit import sampler_of
from dpaudit.auditors.blackbox.choosing import choose_for_pair
from dpaudit.auditors.blackbox.pair import EventBound, bound_event
from dpaudit.auditors.blackbox.sequential import alpha_after
from dpaudit.auditors.blackbox.tasks import PairTask
from dpaudit.auditors.learning.counts import Choice, ThresholdEvent
from dpaudit.auditors.learning.scores import OutcomeScore
from dpaudit.auditors.likelihood.losses import LossScore
from dpaudit.auditors.misfit import outcome_keyer
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.forms import concatenated
from dpaudit.auditors.outputs.outputs import Coder, OutputsLike, raw_of
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.inputs import Pair
from dpaudit.errors import CheckError
from dpaudit.floating_point import our_settings
from dpaudit.mechanism import Mechanism
from dpaudit.statistics import bound_from_counts

_LEAST, _MOST = 10_000, 4_000_000
_AGAIN = 4
"""Times the samples of the audit that a check takes at most, unless it is told to."""

_SHOWN = 100
"""Outputs on either input by which outcomes are shown that an event knows by their hashes. Chosen by hand, for time."""

_CAUTION = 2.0
_UNCOUNTED = 1_000_000_000


@dataclass(frozen=True, slots=True)
class OutcomesScore:
    """1 for the outcomes listed, 0 for all others."""

    cost: ClassVar[int] = 1
    log_ratio: ClassVar[bool] = False

    outcomes: Sequence[Any]

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        """Score of every output, shape (size,)."""
        keyed = outcome_keyer(raw_of(outputs))
        inside = set(map(keyed, self.outcomes))
        coder = Coder(outputs)
        scores = np.array([float(keyed(outcome) in inside) for outcome in coder.outcomes])
        return np.asarray(scores[coder.codes])

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """List the outcomes."""
        return self.outcomes[0] if len(self.outcomes) == 1 else {"any of": list(self.outcomes)}

    def to_json(self) -> None:
        """Return nothing: it comes from a law."""


def event_from_data(raw: Mapping[str, Any], mechanism: Mechanism, inputs: Pair) -> ThresholdEvent:
    """Make an event from data.

    Raises
    ------
    KeyError, TypeError, ValueError, IndexError, AttributeError
        It is no event.
    """
    kind = raw["kind"]
    if kind == "score":
        return ThresholdEvent.from_json({name: raw[name] for name in ("score", "threshold", "above")})
    if kind == "outcomes":
        if not isinstance(raw["outcomes"], list) or not raw["outcomes"]:
            raise ValueError("'outcomes' must be a list of at least one outcome")
        return ThresholdEvent(OutcomesScore(raw["outcomes"]), 0.5, True)
    if kind == "loss":
        return ThresholdEvent(LossScore(mechanism, *inputs, float(raw["above"])), math.ulp(0.0), True)
    raise ValueError(f"kind {kind!r} is none of score, outcomes, loss")


@our_settings()
def learn_event(
    mechanism: Mechanism,
    guarantee: Guarantee,
    inputs: Pair,
    *,
    budget: Budget,
    streams: Streams,
    samples: int,
    candidate: int,
) -> tuple[ThresholdEvent, bool]:
    """Choose the event of a pair of inputs again, from the samples from which an audit chose it.

    Parameters
    ----------
    budget, streams
        Those of the audit.
    samples
        Samples per input that the pair had.
    candidate
        Which of the events chosen to return; the first where there are fewer now.

    Returns
    -------
    event : ThresholdEvent
    reverse : bool
        Whether it is likelier on the second input.
    """
    sampler = sampler_of(mechanism, budget, streams)
    for data in inputs:
        sampler.check_deterministic(data)
    alpha = alpha_after(budget.alpha) if budget.stop_early else budget.alpha
    task = PairTask(guarantee=guarantee, samples=samples, alpha=alpha)
    chosen = choose_for_pair(sampler, *inputs, replace(task, most_selected=sampler.selection_limit)).choices
    choice = chosen[min(candidate, len(chosen) - 1)]
    return choice.event, choice.reverse


@our_settings()
def recheck(
    mechanism: Mechanism,
    guarantee: Guarantee,
    inputs: Pair,
    event: ThresholdEvent,
    *,
    reverse: bool,
    known: EventBound,
    budget: Budget,
    streams: Streams,
    raw_outputs: bool,
) -> tuple[EventBound, ThresholdEvent]:
    """Bound the forced parameter by a given event on fresh samples; return the event too, with outcomes that it lists.

    Parameters
    ----------
    inputs, event, reverse
        The pair, the event, and whether it is likelier on the second input.
    known
        What the audit found of the event, which decides how the error probability is shared, not what is concluded.
    budget
        Samples per input, confidence, and the features that the event is about.
    streams
        Streams of which the audit used none.
    raw_outputs
        Whether the event is about the outputs themselves, not about the mechanism's features.

    Raises
    ------
    CheckError
        The sampler misbehaves.
    TargetRaisedError
        The target raised.

    Notes
    -----
    **Guarantee.** As `epsilon_lower_bound`, all of whose samples go to one event.
    **Checked against** closed forms.
    """
    if budget.samples is None:
        raise CheckError(f"{mechanism.name}: a check of an event needs a number of samples")
    if raw_outputs:
        sampler = Sampler(mechanism.sample, mechanism.name, streams, own_randomness=mechanism.own_randomness)
    else:
        sampler = sampler_of(mechanism, budget, streams)
    choice = Choice(
        event=event,
        reverse=reverse,
        predicted=known.value,
        p_hits=known.hits[0],
        q_hits=known.hits[1],
        rows=max(known.trials),
    )
    bound = bound_event(
        sampler, *inputs, choice=choice, guarantee=guarantee, samples=budget.samples, alpha=budget.alpha
    )
    if not isinstance(event.score, OutcomeScore):
        return bound, event
    pair = sampler.about(*inputs)
    outputs = concatenated([pair.draw(data, _SHOWN, "shown", side) for side, data in enumerate(inputs)])
    return bound, replace(event, score=event.score.shown_by(outputs))


def enough_samples(known: EventBound, guarantee: Guarantee, *, alpha: float) -> int:
    """Samples per input with which an event that violates the guarantee as seen will most likely show it again.

    The smallest power of two times 10,000 at which counts that are two standard errors worse than those seen, and two
    more for chance, bound the forced parameter above the claim; at most four times the samples of the audit, or 10,000
    where that is more, and 4,000,000.
    """
    most = min(max(_AGAIN * max(known.trials), _LEAST), _MOST)
    p, q = (
        max(hits + sign * _CAUTION * math.sqrt(hits + lean), lean) / max(trials, 1)
        for hits, trials, sign, lean in zip(known.hits, known.trials, (-1, 1), (0, 1), strict=True)
    )
    samples = min(_LEAST, most)
    while samples < most:
        hits_p = math.floor(max(samples * p - _CAUTION * math.sqrt(samples * p), 0.0))
        hits_q = min(math.ceil(samples * q + _CAUTION * math.sqrt(samples * q)), samples)
        if guarantee.exceeds(bound_from_counts(guarantee, (hits_p, hits_q), (samples, samples), alpha=alpha)):
            break
        samples = min(2 * samples, most)
    return max(samples, 1)


def counted(p: float, q: float) -> EventBound:
    """Probabilities that are known as counts, where an audit did not count."""
    hits = (round(p * _UNCOUNTED), round(q * _UNCOUNTED))
    return EventBound(hits=hits, trials=(_UNCOUNTED, _UNCOUNTED), value=0.0)
