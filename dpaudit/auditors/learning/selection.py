"""Choosing the event: scores compete on one part of the samples, and thresholds on another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import expit

from dpaudit.auditors.learning.contest import CHEAP_ENOUGH, Competition, Contest, compete
from dpaudit.auditors.learning.counts import (
    SIDES,
    Advice,
    Choice,
    Counts,
    FinalTest,
    Sides,
    caution_for,
    caution_of,
    expected_of,
)
from dpaudit.auditors.learning.planted import (
    Identifier,
    are_alike,
    identifier,
    planted,
    types_read_by_text,
    what_is_held,
)
from dpaudit.auditors.learning.scores import ColumnScore, OutcomeScore, Score, scores_of
from dpaudit.auditors.learning.threads import one_thread
from dpaudit.auditors.learning.trees import BoostedScore
from dpaudit.auditors.outputs.outputs import Outputs, OutputsLike, as_outputs
from dpaudit.auditors.sampling.pace import TooLongError, ready_by
from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.statistics import bound_from_counts

_AS_LIKELY = 0.01
"""Part of the evidence by which the counts may be likelier by another score than by one column alone, whose events
anybody can read. Chosen by hand: the likeliest of several scores is ahead by as much through luck, and a hundredth of
the evidence is half a hundredth of an effect."""

_OFTEN_SEEN = 20
"""Occurrences on the other input from which on the error of a log-ratio is known. Chosen by hand."""

_RARE = 0.7
"""Standard errors of caution for a rare event, which is tested beside the main one. Chosen by hand, far below those of
the band: it takes no more than a share of the error probability. With 0.35 or 1.4, the mean in
benchmarks/sensitivity.md changes by 0.004 of the oracle's bound at most, one row by up to 0.133."""

_READABLE = 0.05
"""Part of a promise by which an event of trees has to exceed that of another score, whose events can be read. Chosen by
hand, for readers; of 70 bounds of the second and the held-out suite at 2 * 10^5, one changed by 0.01 of the oracle's or
more, from 0.906 to 0.987."""

_LITTLE_CAUTION = 1.0
"""Standard errors of caution where no event stands out, and no smooth log-ratio says which is best. Chosen by hand.
With 0.5 or 2, the mean in benchmarks/sensitivity.md changes by 0.003 of the oracle's bound at most, one row by up to
0.098."""

_COMMON_SHARE = 0.2
"""Least part of the outputs that an event and its complement have there. Chosen by hand: a weak effect shows in common
events. With 0.1 or 0.4, the mean in benchmarks/sensitivity.md changes by 0.003 of the oracle's bound at most, one row
by up to 0.098."""

_LEAST_COMMON = 0.1
"""Least part of the outputs that are in an event which a smooth log-ratio advises, where no event stands out. Measured:
with 0.25, Laplace and geometric noise gained up to 0.02 of the oracle's bound, and Gaussian noise lost 0.1
(benchmarks/weak_effects.md). With 0.05 or 0.2, the mean in benchmarks/sensitivity.md changes by 0.004 of the oracle's
bound at most, one row by up to 0.066."""

_AGAINST_LEARNED = 4.0
"""Where no event stands out: how many times likelier the counts must be by a learned score than by one that is not, for
both to get as much of the error probability. Chosen by hand; it was 5 before. Neither 2 nor 8 changes a bound of
benchmarks/sensitivity.md by 0.1 %."""

_LEAST_SHARE = 0.15
"""Share of the error probability below which an event gets none there. Chosen by hand: it would cost the other event
more than it may gain. Neither 0.075 nor 0.3 changes a bound of benchmarks/sensitivity.md by 0.1 %."""

_MORE_CAUTION = 1.0
"""Standard errors by which an event must stand out more for no common one to be tested beside it. Chosen by hand. With
0.5 or 2, the mean in benchmarks/sensitivity.md stays, and one row changes by up to 0.011 of the oracle's bound."""

_MUCH_COMMONER = 2.0
"""How many times commoner that one must be, where it is of the same score. Chosen by hand: events that differ by less
say nearly the same. Neither 1 nor 4 changes a bound of benchmarks/sensitivity.md by 0.1 %."""

_FAR_COMMONER = 100.0
"""The same where the event that stands out is chosen by a smooth log-ratio, which is trusted further than its counts.
Chosen by hand: with 2 or 20, events of Gaussian noise lost up to 0.07 of the oracle's bound."""

_LITTLE_ABOVE = 0.1
"""Part by which an event that stands out must promise more, with that caution, than the counts of the luckiest common
event do, so that no smooth log-ratio is worked out for common ones. Chosen by hand, for time: a smooth log-ratio
promises less than the luckiest counts."""

_WORTH_ITS_COST = 3.0
"""What another event must promise above the main one, times what testing it takes from the bound of the main one.
Chosen by hand: of several promises the largest is too large by luck. With 1.5 or 6, the mean in
benchmarks/sensitivity.md changes by 0.003 of the oracle's bound at most, one row by up to 0.097."""

_WORTH_TESTING = 0.02
"""The same as a part of the bound of the main one. Chosen by hand. With 0.01 or 0.04, the mean in
benchmarks/sensitivity.md stays, and one row changes by up to 0.002 of the oracle's bound."""

_LEAST_SEEN = 3
"""Occurrences from which on another event is tested; and, on the other input, from which on a smooth log-ratio may take
the place of the counts. Chosen by hand. With 2 or 4, the mean in benchmarks/sensitivity.md stays, and one row changes
by up to 0.002 of the oracle's bound."""

_LEAST_DECISIVE = 6
"""Occurrences from which on luck hardly explains that an event never occurred on the other input: of an event as likely
on both, none of six is there with probability 1/64. Neither 5 nor 7 changes a bound of benchmarks/sensitivity.md by 0.1
%."""

_LEAST_PLANTED = 1.0
"""Epsilon of a planted difference, at least. Chosen by hand, so that a few thousand outputs show it."""

_MOST_PLANTED = 3.0
"""Epsilon of a planted difference, at most: as claimed between these. Chosen by hand: a larger one would show where the
claimed one is hidden."""

_FEWEST_COPIES = 4
"""Copies of outputs on either side without which a planted difference goes unnoticed anyhow: scores learn from half of
them, and none learns from one. Chosen by hand."""

_SHARE_OF_COUNTS = 0.25
"""Part of the error probability of an event that stands out by its counts, beside a rarer one by a smooth log-ratio.
Chosen by hand: the best of several smooth log-ratios promises too much by luck, which commoner events hardly do."""

SHARE_OF_OTHERS = 0.12
"""Part of the error probability of each event that is tested because it promises more than the main one. Chosen by
hand; it was 0.15 while there were two such events in place of three. With 0.06 or 0.24, the mean in
benchmarks/sensitivity.md changes by 0.004 of the oracle's bound at most, one row by up to 0.133."""

_SHARE_OF_LUCK = 0.03
"""The same where no event stands out, so that luck explains what it promises. Chosen by hand. With 0.015 or 0.06, the
mean in benchmarks/sensitivity.md stays, and one row changes by up to 0.009 of the oracle's bound."""

_SHARE_OF_COMMON = 0.5
"""Part of a common event beside one that stands out by little. Chosen by hand: either may be the better one. With 0.25
or 0.9, the mean in benchmarks/sensitivity.md changes by 0.005 of the oracle's bound at most, one row by up to 0.062."""

MOST_CANDIDATES = 5
"""Events, at most, that are tested: the main one, those beside it, and three others at most. Witness files name
candidates up to this number. With 4 or 6, the mean in benchmarks/sensitivity.md stays, and one row changes by up to
0.002 of the oracle's bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The events that go to the final sample.

    Attributes
    ----------
    main
        The event that promises most.
    beside
        Events that share the error probability with it, because the counts leave open which of them is better: others
        of its score, and a common event of another score.
    others
        Events that may prove more: one that a line fitted to its score has found, a rare one, and one that was never
        seen on the other input.
    parts_beside, share_of_others
        Parts of the error probability that the events beside the main one have of what the others leave, and that of
        each of these.
    blind
        Whether a difference planted in copies of the outputs went unnoticed (see `planted`): asked where nothing told
        the inputs apart, and where a part of the outputs identifies, which may hide more than what was seen.
    repeated
        Whether these are few outputs that come again and again, so that only more of them would tell more.
    identified
        What in the outputs identifies them; None where nothing does.
    left_out
        Names of the families of scores that would have taken too long.
    by_text
        Names of the types of which only the ``repr`` was seen, where a difference went unnoticed, or all look the same.
    held
        What the outputs are or hold there, of which advice depends: ``numbers``, ``sets`` and ``lists``.
    unchecked
        Whether the time was over before it was known if one would; of arrays of fractions, which describe, only where
        nothing but equal outputs was looked at.
    alike
        Whether all outputs of both inputs are equal, so that no event says anything.
    learned
        Outputs per input that chose the events where there was no time for thousands; else 0.
    """

    main: Choice
    beside: tuple[Choice, ...] = ()
    others: tuple[Choice, ...] = ()
    parts_beside: tuple[float, ...] = ()
    share_of_others: float = SHARE_OF_OTHERS
    blind: bool = False
    repeated: bool = False
    identified: Identifier | None = None
    left_out: tuple[str, ...] = ()
    by_text: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    unchecked: bool = False
    alike: bool = False
    learned: int = 0

    def overlooks(self, bound: float, guarantee: Guarantee) -> bool:
        """Whether a violation may be hidden from all scores, after this bound on the forced parameter.

        Where a part of the outputs identifies, it may hide one unless the claim is refuted; otherwise only where
        nothing was told apart. Where there was no time to find out, it may be as well.
        """
        if self.unchecked:
            return bound <= 0
        return self.blind and (bound <= 0 if self.identified is None else not guarantee.exceeds(bound))

    @property
    def choices(self) -> list[Choice]:
        """All of them, the main one first."""
        return [self.main, *self.beside, *self.others]

    @property
    def shares(self) -> list[float]:
        """Parts of the error probability, in this order."""
        rest = 1 - self.share_of_others * len(self.others)
        parts = [1 - sum(self.parts_beside), *self.parts_beside]
        return [*(rest * part for part in parts), *(self.share_of_others for _ in self.others)]


@one_thread()
def select_events(
    x: OutputsLike, y: OutputsLike, test: FinalTest, *, blindness: bool = True, until: float | None = None
) -> Selection:
    """Learn scores on one half of the samples; choose among them and their thresholds on the other half.

    Parameters
    ----------
    x, y
        Samples of the two inputs, equally many.
    test
        The test that the events are for.
    blindness
        Whether to find out whether the outputs may hide a difference from all scores.
    until
        Time in seconds since the epoch by which to be ready: families of scores that take longer are left out, and
        whether the outputs may hide a difference is not found out after it. None for what any audit of this size may
        cost (see `Allowance`).

    Notes
    -----
    The main event is that whose bound in the final sample would be largest if the truth were at the lower end of a
    simultaneous confidence band over all events looked at (`caution_of`): events that are rare, and look best by luck,
    have wide bands. Its threshold, and those of events that share the error probability with it, are chosen by a smooth
    log-ratio where that fits the counts (`fitted_curve`, `allotted`). Where no event stands out of the band, common
    ones are chosen in the same way; one is also tested beside an event that stands out by little.

    Others are tested beside it with parts of the error probability, where they promise more than these parts cost the
    main one: the best event of a score that a line relates to the log-ratio, for which counts need not be compared
    threshold by threshold, a rare one, and one that never occurred on the other input.
    """
    x, y = as_outputs(x), as_outputs(y)
    with np.errstate(over="ignore", invalid="ignore"):  # outputs may be infinite
        competition = compete(x, y, test, thorough=True, until=until)
        selection = choose_from(competition.tables, test)
        if until is None and not test.provisional:
            selection = _learned_again(selection, competition, (x, y))
    alike = selection.blind and are_alike(x, y)
    selection = replace(selection, left_out=competition.left_out, alike=alike)
    if not blindness:
        return replace(selection, blind=False)
    identified: Identifier | None = None
    blind: bool | None = None
    with suppress(TooLongError), ready_by(until):
        identified = None if test.supported else identifier(x, y)
        blind = False
        if selection.blind or identified is not None:
            blind = None
            blind = _is_blind(x, y, test, until, selection.left_out, identified)
    by_text = types_read_by_text(x, y) if blind or alike else ()
    held = what_is_held(x, y) if blind else ()
    unchecked = (blind is None and x.dtype.kind not in "fc") or _nothing_looked(competition)
    repeated = bool(blind) and identified is None and competition.form.few
    return replace(
        selection,
        blind=bool(blind),
        repeated=repeated,
        identified=identified,
        by_text=by_text,
        held=held,
        unchecked=unchecked,
    )


def _nothing_looked(competition: Competition) -> bool:
    """Whether no family looked at what outputs are, and some that would have took too long: equal ones were counted."""
    return bool(competition.left_out) and all(isinstance(each.score, OutcomeScore) for each in competition.tables)


def choose_from(tables: Sequence[Counts], test: FinalTest) -> Selection:
    """As :func:`select_events`, of scores that have competed; ``blind`` where no event stands out."""
    caution = caution_of(tables)
    found = [table.best(test, caution) for table in tables]
    stands_out = max(choice.predicted for choice in found) > 0
    if stands_out:
        advice, share = _standing_out(_cheapest(found), tables, test, caution), SHARE_OF_OTHERS
    else:
        advice, share = _of_weak_effect(tables, test), _SHARE_OF_LUCK
    main = advice.choices[0]
    return Selection(
        main=main,
        beside=advice.choices[1:],
        parts_beside=advice.parts[1:],
        others=_others(main, tables, test, share)[: MOST_CANDIDATES - len(advice.choices)],
        share_of_others=share,
        blind=not stands_out,
    )


def _standing_out(choice: Choice, tables: Sequence[Counts], test: FinalTest, caution: float) -> Advice:
    """Return the events to be tested where one stands out of the band.

    A smooth log-ratio advises the thresholds where it promises as much. Of an event that hardly occurs on the other
    input, the counts there do not say how large the log-ratio is. Now and then luck alone makes an event stand out: so
    a common event is tested too where the one that stands out promises less, at one more standard error, than that.
    """
    (table,) = (table for table in tables if table.score is choice.event.score)
    alone = None if test.provisional else _column_that_says_as_much(choice, tables, test, caution)
    if alone is not None:
        table, choice = alone, alone.best(test, caution)
    # That of trees jumps between few values, where a smooth one runs on.
    smooth = None if isinstance(table.score, BoostedScore) else table.advised(test, clear=True)
    others = tables if alone is None else ()
    ahead = [each for each in others if each.score.log_ratio and _is_readable_or_better(each, choice, test, caution)]
    estimates = [smooth if each is table else each.advised(test, clear=True) for each in ahead]
    by_counts = smooth is None or choice.q_hits < _LEAST_SEEN or smooth.promised < choice.predicted
    advice = Advice(0.0, (choice,)) if by_counts or smooth is None else smooth
    estimate = _of_estimates(estimates)
    if estimate is not None and estimate.promised > advice.promised * (1 + CHEAP_ENOUGH):
        by_counts = False
        if advice.choices[0].occurrences > estimate.choices[0].occurrences:
            # The best of several estimates promises too much by luck, which commoner events do hardly.
            advice = estimate.alone().beside(advice.alone(), _SHARE_OF_COUNTS)
        else:
            advice = estimate
    sure = table.best(test, caution + _MORE_CAUTION).predicted
    luckiest = max(each.best(test, 0.0, least=_LEAST_COMMON).predicted for each in tables)
    if sure > luckiest * (1 + _LITTLE_ABOVE):
        return advice
    common = _of_weak_effect(tables, test).alone()
    (event,) = common.choices
    main = advice.choices[0]
    commoner = event.occurrences / max(main.occurrences, 1)
    if sure <= common.promised and (
        event.event.score is not main.event.score or commoner > (_MUCH_COMMONER if by_counts else _FAR_COMMONER)
    ):
        return advice.alone().beside(common, _SHARE_OF_COMMON)
    return advice


def _column_that_says_as_much(
    choice: Choice, tables: Sequence[Counts], test: FinalTest, caution: float
) -> Counts | None:
    """Return the counts of a column, where its events promise as much as any, and no score is likelier by much.

    That of several scores which promises most, or is likeliest, is ahead by luck; where a number has a label beside it
    that says nothing, what combines both says no more than the number, and nobody can read it.
    """
    columns = [(table.best(test, caution), table) for table in tables if isinstance(table.score, ColumnScore)]
    if not columns:
        return None
    best, column = max(columns, key=lambda each: each[0].predicted)
    error = _error_of(choice)
    if choice.q_hits >= _OFTEN_SEEN:
        error = math.hypot(error, 1 / math.sqrt(choice.q_hits))
    if best.predicted < choice.predicted - error:
        return None
    # The score that promises most is the likeliest to be likelier.
    ordered = sorted(tables, key=lambda table: table.score is not choice.event.score)
    likely = _evidence(column, test, caution)
    likelier = any(likely < (1 - _AS_LIKELY) * _evidence(table, test, caution) for table in ordered)
    return None if likelier else column


def _evidence(table: Counts, test: FinalTest, caution: float) -> float:
    advised = table.evidence(test, clear=True)
    return _evidence_of_counts(table.best(test, caution)) if advised is None else advised


def _is_readable_or_better(table: Counts, choice: Choice, test: FinalTest, caution: float) -> bool:
    """Whether events of a score can be read, or its counts promise clearly more than those of the choice."""
    if not isinstance(table.score, BoostedScore):
        return True
    return not _is_nearly_as_good(choice.predicted, table.best(test, caution))


def _of_estimates(found: Sequence[Advice | None]) -> Advice | None:
    """Return events of the score that promises most of those that estimate the log-ratio, by a smooth log-ratio.

    Of those that promise as much, that of the score of least cost is taken, and among these the first. Counts at each
    threshold alone hardly favour a score that tells rare outputs apart. An event that never occurred on the other input
    does not say how large its log-ratio is.
    """
    suited = [advice for advice in found if advice is not None and advice.choices[0].q_hits]
    if not suited:
        return None
    most = max(advice.promised for advice in suited)
    enough = most - CHEAP_ENOUGH * abs(most)
    return min(
        (advice for advice in suited if advice.promised >= enough),
        key=lambda advice: advice.choices[0].event.score.cost,
    )


def _of_weak_effect(tables: Sequence[Counts], test: FinalTest) -> Advice:
    """Return common events, with the parts of the error probability of each.

    Common events say most of an effect that is as small as its standard error. That of the score by which the counts
    are likeliest is tested. Learned scores are judged on fewer samples, and the best of several looks good by luck; so
    where some are learned and others are not, the best of either kind share the error probability by how likely the
    counts are by each.
    """
    most = max(table.rows for table in tables)
    given: list[Advice] = []
    learned: list[Advice] = []
    for table in tables:
        found = table.advised(test, least=_LEAST_COMMON)
        if found is None:
            choice = table.best(test, _LITTLE_CAUTION, least=_COMMON_SHARE)
            found = Advice(_evidence_of_counts(choice), (choice,))
        if math.isfinite(found.promised):
            (given if table.rows == most else learned).append(found)
    if not (given or learned):
        return Advice(0.0, (_least_likely(tables, test),))
    if not (given and learned):
        return _likeliest(given + learned)
    main, other = _likeliest(given), _likeliest(learned)
    share = float(expit(other.evidence - main.evidence - math.log(_AGAINST_LEARNED)))
    if share > 1 - _LEAST_SHARE:
        return other
    return main if share < _LEAST_SHARE else main.beside(other.alone(), share)


def _least_likely(tables: Sequence[Counts], test: FinalTest) -> Choice:
    """Return the event whose counts differ by the most standard errors.

    What events promise says little where all are rare, or nearly always occur: all outputs together, which never force
    anything, promise to fall short of something by the least.
    """
    caution = caution_of(tables)
    errors, choice = max((table.least_likely() for table in tables), key=lambda each: each[0])
    if errors <= 0:
        return _cheapest([table.best(test, caution) for table in tables])
    return replace(choice, predicted=expected_of(choice, test, caution))


def _evidence_of_counts(choice: Choice) -> float:
    """Logarithm of how many times likelier the counts are than without a difference, less that of the events tried."""
    likelier = sum(hits * math.log(2 * hits / choice.occurrences) for hits in (choice.p_hits, choice.q_hits) if hits)
    return max(likelier - math.log(SIDES * math.log2(2 * choice.rows)), 0.0)


def _likeliest(found: Sequence[Advice]) -> Advice:
    """Return the events of the score by which the counts are likeliest; of one column, if they are about as likely."""
    enough = (1 - _AS_LIKELY) * max(advice.evidence for advice in found)
    columns = [advice for advice in found if isinstance(advice.choices[0].event.score, ColumnScore)]
    about = [advice for advice in columns if enough > 0 and advice.evidence >= enough]
    return max(about or found, key=lambda advice: (advice.evidence, advice.promised))


def _cheapest(found: Sequence[Choice]) -> Choice:
    """Event that promises most, or as much at less cost; one that can be read, if it promises nearly as much."""
    best = max(found, key=lambda choice: choice.predicted)
    readable = [choice for choice in found if not isinstance(choice.event.score, BoostedScore)]
    if any(_is_nearly_as_good(choice.predicted, best) for choice in readable):
        found = readable
    most = max(choice.predicted for choice in found)
    enough = most - CHEAP_ENOUGH * abs(most)
    return min((c for c in found if c.predicted >= enough), key=lambda c: c.event.score.cost)


def _is_nearly_as_good(promised: float, best: Choice) -> bool:
    """Whether a promise falls short of the best one by a small part, or by the standard error of its count."""
    return promised >= best.predicted - max(_READABLE * abs(best.predicted), _error_of(best))


def _error_of(choice: Choice) -> float:
    """Standard error of the count of an event, as a part of it."""
    return 1 / math.sqrt(choice.p_hits) if choice.p_hits else 0.0


def _simplest(found: Sequence[Choice]) -> Choice:
    """Event that promises most; or as much but for the standard error of its count, by a score of less cost."""
    best = max(found, key=lambda choice: choice.predicted)
    if not best.p_hits:
        return best
    enough = best.predicted - 1 / math.sqrt(best.p_hits)
    return min(
        (choice for choice in found if choice.predicted >= enough),
        key=lambda choice: (choice.event.score.cost, -choice.predicted),
    )


def _others(main: Choice, tables: Sequence[Counts], test: FinalTest, share: float) -> tuple[Choice, ...]:
    """Events whose promise is worth the share of the error probability that testing each takes from the main one."""
    part = replace(test, alpha=test.alpha * share)
    rare = _cheapest([table.best(part, _RARE) for table in tables])
    fitted = [choice for table in tables if (choice := table.best_fitted(part)) is not None]
    line = _cheapest(fitted) if fitted else None
    unseen = _simplest([table.best_unseen(part) for table in tables])
    found: list[Choice] = []
    for choice, caution in ((line, 0.0), (rare, _RARE), (unseen, 0.0)):
        if choice is None or choice.p_hits < _LEAST_SEEN:
            continue
        expected = expected_of(main, test, caution)
        cost = expected - expected_of(main, replace(test, alpha=test.alpha * (1 - share)), caution)
        if any(choice.event.is_same(each.event) for each in found):
            continue
        # What is found already is not promised again. Where luck explains all of it, each may be the one that is real.
        known = [] if share == _SHARE_OF_LUCK else [each.predicted for each in found]
        reached = max([expected, 0.0, *known])
        gained = choice.predicted - reached
        if choice is unseen and choice.q_hits == 0 and choice.p_hits >= _LEAST_DECISIVE:
            # What the other input never gives is as likely as what it seldom gives.
            gained = (max(gained, 0.0) + max(_never_elsewhere(choice, part) - reached, 0.0)) / 2
        if gained > _WORTH_ITS_COST * cost and gained > _WORTH_TESTING * reached:
            found.append(choice)
    return tuple(found)


def _never_elsewhere(choice: Choice, test: FinalTest) -> float:
    """Bound to be expected where an event never occurs on the other input."""
    hits = min(round(choice.p_hits * test.size / choice.rows), test.size)
    return bound_from_counts(test.guarantee, (hits, 0), (test.size, test.size), alpha=test.alpha)


def _is_blind(
    x: Outputs,
    y: Outputs,
    test: FinalTest,
    until: float | None,
    left_out: Sequence[str],
    identified: Identifier | None,
) -> bool | None:
    """Whether a planted difference, about as large as the claim allows, is not told from none.

    None where there was no time for families that might notice it; where a part of the outputs identifies, only if
    these did look at the outputs themselves.
    """
    allowed = test.guarantee.claimed if test.guarantee.by_ratio else _LEAST_PLANTED
    digits = identified is not None and identified.digits
    with np.errstate(over="ignore", invalid="ignore"):  # outputs may be as large as numbers can be
        copies = planted(x, y, min(max(allowed, _LEAST_PLANTED), _MOST_PLANTED), digits=digits)
    if copies is None:
        return False
    if len(copies[0]) < _FEWEST_COPIES:
        return True
    pure = FinalTest(ApproximateDP(0.0), test.size, test.alpha)
    with np.errstate(over="ignore", invalid="ignore"):
        contest = Contest(*copies, pure, thorough=True, until=until)
        # All families count as looked at, although the first that notices the difference is enough.
        caution = caution_for([len(copies[0])] * len(contest.families))
        unnoticed = all(table.best(pure, caution).predicted <= 0 for _, table in contest.tables())
    late = set() if until is None else set(contest.allowance.left_out)
    if unnoticed and (late if identified is None else late - set(left_out)):
        return None
    return unnoticed


def _learned_again(selection: Selection, competition: Competition, sides: Sides) -> Selection:
    """Let scores whose families gain by it learn from all samples, also from those by which they were chosen.

    Their events keep their parts of the samples that judged.
    """
    for family, table in zip(competition.families, competition.tables, strict=False):
        if family.again and any(choice.event.score is table.score for choice in selection.choices):
            score = family.fit(competition.form, *sides)
            if score is not None:
                judge = (side[len(side) - table.rows :] for side in sides)
                ordered = np.sort(np.concatenate([scores_of(score, side) for side in judge]))
                moved = partial(_moved, table=table, score=score, ordered=ordered)
                selection = replace(
                    selection,
                    main=moved(selection.main),
                    beside=tuple(map(moved, selection.beside)),
                    others=tuple(map(moved, selection.others)),
                )
    return selection


def _moved(choice: Choice, table: Counts, score: Score, ordered: np.ndarray) -> Choice:
    """Event of another score in place of that of a table, with as many of its samples inside."""
    if choice.event.score is not table.score:
        return choice
    inside = sum(int(np.count_nonzero(choice.event.contains_scores(side))) for side in table.scores)
    at = len(ordered) - inside if choice.event.above else inside - 1
    return replace(choice, event=replace(choice.event, score=score, threshold=float(ordered[at])), judged=False)
