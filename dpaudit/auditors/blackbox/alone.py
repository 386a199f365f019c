"""Whether what refutes a claim shows in outputs that are drawn alone as well, on which no others can leave a mark."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpaudit.auditors.learning.counts import ThresholdEvent
from dpaudit.auditors.outputs.forms import concatenated
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.order import FEWEST_IN_CALL, check_independent, of_alone
from dpaudit.auditors.sampling.pace import OutOfTimeError, Pace, clock
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.claims.inputs import input_key
from dpaudit.errors import CheckError, TargetRaisedError

_MOST_ALONE = 128
"""Outputs on either input that are drawn alone. Chosen by hand: an event of probability 0.17 or more that never comes
in them is noticed."""

_SECONDS, _SHARE = 1.0, 0.05
"""Seconds that all these calls may take, or that part of what sampling has taken, if it is more; under a deadline, at
most that part of the time left. Chosen by hand: thousands of calls of most samplers take a second."""


def check_drawn_alone(
    sampler: Sampler,
    pair: tuple[object, object],
    event: ThresholdEvent,
    counted: Sequence[tuple[int, int]],
    *,
    looks: int,
) -> None:
    """Compare how often an event comes in outputs of many with how often it comes in outputs that are drawn alone.

    One value may decide how all outputs of its call are written: a fraction, or a missing value, among numbers of one
    array or data frame turns the others from 1 into 1.0. Outputs of such a call are not independent, and as long as
    all calls are large, all of them look alike.

    Parameters
    ----------
    sampler
        Sampler of the mechanism on this pair.
    pair
        The two inputs.
    event
        An event that other outputs have chosen.
    counted
        Occurrences of the event, and outputs, of either input.
    looks
        How many events, and times to stop at, there might have been.

    Raises
    ------
    CheckError
        The event comes at another rate in outputs that are drawn alone.
    """
    pace = sampler.pace
    # Fewer calls than that show nothing, and their time is better saved.
    fewest = FEWEST_IN_CALL * sum(pace.fixed(input_key(data)) for data in pair) if pace.timed else 0.0
    allowed = min(max(_SECONDS, _SHARE * pace.seconds), _SHARE * pace.left)
    if fewest > allowed:
        return
    alone, until = sampler.at(sampler.state), clock() + allowed
    alone.pace = Pace(planned=0)
    drawn: list[list[np.ndarray]] = []
    # A call that fails for one output says nothing of those that refute the claim. Those before it are not compared
    # either, because what fails may be what is in the event.
    try:
        while len(drawn) < _MOST_ALONE and clock() < until:
            streams = [sampler.generator("alone", side, len(drawn)) for side in (0, 1)]
            drawn.append([alone.call(data, 1, rng) for data, rng in zip(pair, streams, strict=True)])
        if len(drawn) < FEWEST_IN_CALL:
            return
        shown = [alone.shown(concatenated(outputs)) for outputs in zip(*drawn, strict=True)]
        hits = [int(np.count_nonzero(event.contains(Outputs(outputs)))) for outputs in shown]
    except (OutOfTimeError, CheckError, TargetRaisedError):
        return
    for data, some, others in zip(pair, hits, counted, strict=True):
        check_independent(of_alone(others, (some, len(drawn)), looks), sampler.name, data)
