"""What a pair of inputs promises, by a few outputs that play no further part: how a search compares pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from dpaudit.auditors.learning.coded_score import learn_coded
from dpaudit.auditors.learning.contest import compete
from dpaudit.auditors.learning.counts import Choice, Counts, FinalTest, fits
from dpaudit.auditors.learning.threads import one_thread
from dpaudit.auditors.learning.transforms import Identity
from dpaudit.auditors.outputs.outputs import OutputsLike, as_outputs, joined

_CAUTION = 1.25
"""Standard errors of caution where pairs are compared by their counts. Chosen by hand (as `contest._TO_COMPARE`):
with the 3 to 4 standard errors of the band that chooses an event, pairs of weak effects would promise nothing and be
alike."""

_MORE_CAUTION = 3.0
"""The same for a second ranking by what luck hardly explains, beside that by a model. Chosen by hand."""

_LEAST_OCCURRENCES = 5
"""Outputs, at least, in an event whose bound a model extrapolates. Chosen by hand: of fewer, the largest log-ratios are
luck."""

_THRESHOLDS = 300
"""Thresholds that a model compares, evenly spread by the logarithm of the outputs beyond them. Chosen by hand:
neighbours differ by a few per cent of the outputs beyond them."""


class Promise(NamedTuple):
    """Bound that a pair promises, and one that luck hardly explains."""

    likely: float
    cautious: float


@one_thread()
def promised_bound(x: OutputsLike, y: OutputsLike, test: FinalTest) -> Promise:
    """Bound that `select_events` would expect of a pair.

    Both halves learn and judge in turn, where that is quick. Scores that take long to learn do not take part.
    """
    x, y = as_outputs(x), as_outputs(y)
    turns = [(x, y)]
    if x.dtype.kind != "f" or x.width == 1:
        half = len(x) // 2
        turns.append((joined([x[half:], x[:half]]), joined([y[half:], y[:half]])))
    with np.errstate(over="ignore", invalid="ignore"):
        tables = [compete(*sides, test, thorough=False).tables for sides in turns]
        likely = [_likely(each, test) for each in tables]
        cautious = [_largest(each, test, _MORE_CAUTION).predicted for each in tables]
    return Promise(sum(likely) / len(turns), sum(cautious) / len(turns))


@one_thread()
def modelled_bound(x: OutputsLike, y: OutputsLike, test: FinalTest) -> float:
    """Bound of the best event if a log-ratio learned from all outputs were the true one; ``-inf`` where none is.

    Of rows with codes beside numbers. Nothing is set apart for judging: the priors keep what is learned near to no
    difference, equally for all pairs that are compared by as many outputs.
    """
    x, y = as_outputs(x), as_outputs(y)
    columns = x.columns_with(y)
    score = None if columns is None else learn_coded(Identity(columns), x, y)
    if score is None:
        return float("-inf")
    with np.errstate(over="ignore", invalid="ignore"):
        log_ratio = np.sort(np.concatenate([score(x), score(y)]))
        at = np.unique(np.geomspace(_LEAST_OCCURRENCES, len(log_ratio), _THRESHOLDS).astype(int)) - 1
        found = []
        for ordered in (log_ratio[::-1], -log_ratio):
            hits = (np.cumsum(expit(sign * ordered))[at] * (test.size / len(x)) for sign in (1, -1))
            p_hits, q_hits = (np.minimum(each, test.size) for each in hits)
            found.append(float(np.max(test.guarantee.expected(p_hits, q_hits, test.size, test.alpha))))
    return max(found)


def _likely(tables: Sequence[Counts], test: FinalTest) -> float:
    """Bound that the best event promises, or by a fitted line where the counts promise more only by luck."""
    by_counts = _largest(tables, test, _CAUTION)
    fitted = [choice for table in tables if (choice := table.best_fitted(test)) is not None]
    if fitted and _is_close(by_counts, tables):
        return max(choice.predicted for choice in fitted)
    return by_counts.predicted


def _largest(tables: Sequence[Counts], test: FinalTest, caution: float) -> Choice:
    return max((table.best(test, caution) for table in tables), key=lambda choice: choice.predicted)


def _is_close(choice: Choice, tables: Sequence[Counts]) -> bool:
    """Whether the occurrences of an event on the other input are as many as the line fitted to its score has them."""
    (table,) = (table for table in tables if table.score is choice.event.score)
    line = table.line()
    if line is None:
        return False
    _, modelled = table.modelled(line, above=choice.event.above, reverse=choice.reverse)
    expected = modelled[np.searchsorted(table.thresholds, choice.event.threshold)]
    return bool(fits(expected, choice.q_hits))
