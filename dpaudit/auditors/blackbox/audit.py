"""The black-box auditor: search for a violation of a privacy claim from samples alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from dpaudit.auditors.blackbox.choosing import planned_in_time
from dpaudit.auditors.blackbox.codes import codes
from dpaudit.auditors.blackbox.pair import PairBound, bound_pair
from dpaudit.auditors.blackbox.promises import modelled_bound, promised_bound
from dpaudit.auditors.blackbox.search import ChosenPair, find_pair
from dpaudit.auditors.blackbox.sequential import EARLY_PAIRS, EarlyTest
from dpaudit.auditors.blackbox.surrogate import Counted, Surrogate, counted
from dpaudit.auditors.blackbox.tasks import PairTask, check_samples
from dpaudit.auditors.learning.coded_score import has_codes
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.learners import MOST_PAIR_COLUMNS
from dpaudit.auditors.outputs.features import FEATURES, FeatureMap
from dpaudit.auditors.outputs.forms import alike
from dpaudit.auditors.sampling.budget import DEFAULT_SAMPLES, Budget, Features
from dpaudit.auditors.sampling.pace import OutOfTimeError, Pace, TooLongError, clock, ready_by
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.auditors.sampling.work import Recipe
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence, Finding, Interval, Remedy, Violation
from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.inputs import Pair, pair_key
from dpaudit.claims.neighbouring import MOST_LISTED, Neighbouring
from dpaudit.claims.verdicts import Verdict
from dpaudit.mechanism import Mechanism
from dpaudit.sources.commands import CommandMechanism

_PILOT_SHARE = 0.2
"""Part of the samples that searches the pairs, where all of them are looked at. Chosen by hand."""

_LONG_PILOT_SHARE = 0.4
"""The same where there may be too many pairs to look at all. Chosen by hand. It has a price: with these samples and a
fifth of the others spent, the best event of the best pair reaches 0.935 to 0.964 of the oracle's bound at 10^6 samples
(benchmarks/pair_search.md)."""

_MOST_PILOT = 4_000_000
"""Samples per input that search the pairs, at most, where outputs are numbers and memory holds as many. Measured: with
1,000,000, rows of sparse vectors at 10^7 samples fell from 0.93 to 0.74 of the oracle's bound (`git log` of
`_MOST_PILOT`)."""

_MOST_PILOT_OF_OBJECTS = 1_000_000
"""The same where outputs are no numbers: structures take more memory each. Chosen by hand."""

_FEW_PAIRS = 64
"""Pairs up to which a complete list of them is short. Chosen by hand: as many as are looked at in any search
(`_MOST_PAIRS_OF_ROWS`)."""

_MOST_PAIRS = 256
"""Most pairs at the beginning of a search. Chosen by hand; 64 or 128 did not find better ones
(benchmarks/pair_search.md)."""

_MOST_PAIRS_OF_ROWS = 64
"""The same where outputs are rows of fractions, from which scores take longer to learn. Chosen by hand for that
time."""

_MODELLED_PAIRS = 16
"""Pairs at the beginning of a search that compares them by models of codes beside numbers. Measured: the pair found had
0.971 of the best bound for sparse vector 3 and 0.961 for the numerical one, and with 32 pairs 0.929 and 0.934
(benchmarks/pair_search.md)."""

_MODELLED_ROUNDS = 3
"""Rounds, of 16 pairs with `_LEAST_MODELLED` samples each, that the pilot samples of such a search must be enough for.
Chosen by hand. The search halves 16 pairs in four rounds and spends up to an eighth of the samples on glances, so that
from 6 * 10^5 pilot samples on, and not before, its first round is compared by models too."""

_LEAST_MODELLED = 8000
"""Samples per input of a comparison from which on a model of each pair is made. Chosen by hand: with 10,000 the ranks
by a model hardly agreed with the oracle's (correlations of at most 0.15 in most cases), but 70,000 gave 0.44 and 0.56
(benchmarks/pair_search.md); the later rounds have more."""

_LOOKED_AT = 1000
"""Outputs of either input in which codes are looked for before a search. Chosen by hand: a code that is one in a
hundred of all numbers comes 20 times in them for every column."""

_SEARCH_SHARE = 0.4
"""Part of the time left, at the beginning of the search, after which no further pairs are looked at. Chosen by hand: as
`_LONG_PILOT_SHARE`."""


def audit_black_box(
    mechanism: Mechanism,
    claim: PrivacyClaim,
    neighbouring: Neighbouring,
    *,
    budget: Budget,
    streams: Streams,
) -> Evidence:
    """Look for a violation of a privacy claim by sampling.

    Where there are several pairs, a part of the samples searches them; the pair that promises the largest bound gets
    fresh samples for the rest.

    Returns
    -------
    Evidence
        ``refuted`` with a witness, ``consistent`` with the detection limit, or ``inconclusive`` where no violation
        could have been found with this budget, or its deadline passed before one was.

    Raises
    ------
    CheckError
        There is no pair, or the sampler misbehaves.
    """
    pace = budget.pace(2 * (budget.samples or DEFAULT_SAMPLES))
    try:
        with pace.told():
            search = search_pair(mechanism, claim, neighbouring, budget=budget, streams=streams, pace=pace)
            bound = search.early or bound_pair(search.sampler, *search.found.pair, search.task)
    except OutOfTimeError:
        return Evidence(
            verdict=Verdict.INCONCLUSIVE,
            scope=neighbouring.scope,
            method="black-box",
            note=f"{pace.out_of_time}, before there was an event to look at",
            samples=pace.drawn,
            remedy=Remedy.TIME,
        )
    scope = f"{neighbouring.scope}; {_searched(search.found)}"
    drawn = bound.samples if search.early else bound.samples + search.drawn
    if pace.timed:
        drawn = pace.drawn  # rounds and searches that the deadline cut short are counted too
    return _evidence(
        bound,
        claim.guarantee,
        search.found.pair,
        scope,
        search.task.samples,
        drawn,
        pace,
        is_program=isinstance(mechanism, CommandMechanism),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a search of the pairs leaves for the pair that it chose.

    Attributes
    ----------
    sampler, task
        The sampler, and what is left of the budget for one pair.
    found
        The pair.
    early
        What refutes the claim already, where sampling may stop early.
    drawn
        Outputs drawn on all inputs.
    """

    sampler: Sampler
    task: PairTask
    found: ChosenPair
    early: PairBound | None = None
    drawn: int = 0


def search_pair(
    mechanism: Mechanism,
    claim: PrivacyClaim,
    neighbouring: Neighbouring,
    *,
    budget: Budget,
    streams: Streams,
    pace: Pace | None = None,
) -> Search:
    """Choose the pair on which to spend the samples; equal streams give equal pairs.

    Where sampling may stop early, the first pairs are tested with a few outputs before the search, and the pair chosen
    after it.
    """
    check_samples(budget.samples or DEFAULT_SAMPLES)
    sampler = sampler_of(mechanism, budget, streams, pace)
    few = sum(1 for _ in islice(neighbouring, _FEW_PAIRS + 1)) <= _FEW_PAIRS and neighbouring.complete
    task = PairTask(
        guarantee=claim.guarantee,
        samples=budget.samples or DEFAULT_SAMPLES,
        alpha=budget.alpha,
        stop_early=budget.stop_early,
        timed=budget.deadline is not None,
        asked=budget.samples or DEFAULT_SAMPLES,
        at_most=budget.samples is None,
        may_fail=mechanism.may_fail,
    )

    first = list(islice(neighbouring, EARLY_PAIRS if budget.stop_early else 1))
    if first:
        # Most breaches of the contract show at once, before they have cost many samples.
        sampler.check_deterministic(first[0][0])
    if first and task.timed:
        task = planned_in_time(sampler, *first[0], task)
    early = EarlyTest(sampler, task) if budget.stop_early else None
    if early is not None:
        refuted = early.run(first)
        if refuted is not None:
            return _found_early(sampler, task, neighbouring, *refuted, searched=len(early.looked_at))
        task = early.task_after
    width = math.prod(sampler.form[1]) if first else 0
    many_numbers = width > 1 and sampler.form[0] == "f"
    most = _MOST_PAIRS_OF_ROWS if many_numbers else _MOST_PAIRS
    pilot = int(task.samples * (_PILOT_SHARE if few else _LONG_PILOT_SHARE))
    if first:
        # Their outputs are held in memory; what the search does not need goes to the pair that it finds.
        most_pilot = _MOST_PILOT if sampler.form[0] in "biufc" else _MOST_PILOT_OF_OBJECTS
        pilot = min(pilot, max(min(most_pilot, sampler.memory_limit), sampler.selection_limit))
    searching = replace(task, samples=task.samples - pilot, asked=task.asked - pilot)
    looked_at, modelled = 0, False
    if (
        many_numbers
        and width <= MOST_PAIR_COLUMNS
        and not (few or task.timed)
        and pilot >= _MODELLED_ROUNDS * _MODELLED_PAIRS * _LEAST_MODELLED
    ):
        look = _CodesLookedFor(pair=first[0], size=_LOOKED_AT, purpose=("codes",))
        (modelled,) = [look.run(sampler, b"")] if sampler.work is None else sampler.work.do(sampler, [look])
        looked_at = _LOOKED_AT
    until = clock() + _SEARCH_SHARE * sampler.pace.left

    surrogate = Surrogate(searching.test)

    def predict(pair: Pair, size: int, purpose: tuple[str | int, ...]) -> tuple[float, ...]:
        if clock() < until:
            with suppress(TooLongError), ready_by(until):
                return predict_all([pair], size, [purpose])[0]
        return math.nan, math.nan  # the time for the search is over: those that come first stay first

    def predict_all(
        pairs: Sequence[Pair], size: int, purposes: Sequence[tuple[str | int, ...]]
    ) -> list[tuple[float, ...]]:
        shared = partial(_Comparison, size=size, test=searching.test, shown=surrogate.wanted, modelled=modelled)
        tasks = [shared(pair=pair, purpose=purpose) for pair, purpose in zip(pairs, purposes, strict=True)]
        found = [task.run(sampler, b"") for task in tasks] if sampler.work is None else sampler.work.do(sampler, tasks)
        for pair, compared in zip(pairs, found, strict=True):
            if compared.outputs is not None:
                surrogate.add(pair, *compared.outputs)
        return [compared.promised for compared in found]

    found = find_pair(
        neighbouring,
        predict,
        ahead=None if sampler.work is None else predict_all,
        samples=pilot - looked_at,
        streams=streams.child("pairs"),
        most=_MODELLED_PAIRS if modelled else most,
        name=mechanism.name,
        # Under a deadline, outputs are worth more than what a model makes of them.
        guide=None if task.timed else surrogate,
        guided_to_the_end=not modelled,
        # Models leave room for few pairs; faults of a pair that nothing leads to mostly show in few outputs.
        glancing=modelled,
    )
    if found.samples:
        task = searching
    if early is not None and not any(_same(found.pair, pair) for pair in early.looked_at):
        before = early.drawn
        refuted = early.run([found.pair])
        if refuted is not None:
            bound = replace(refuted[1], samples=early.drawn + 2 * (found.samples + looked_at))
            return Search(sampler=sampler, task=task, found=found, early=bound)
        spent = (early.drawn - before) // 2
        task = replace(task, samples=task.samples - spent, asked=task.asked - spent)
    drawn = 2 * (found.samples + looked_at) + (0 if early is None else early.drawn)
    return Search(sampler=sampler, task=task, found=found, drawn=drawn)


class _Compared(NamedTuple):
    """What a pair promises, and outputs on either of its inputs where they are asked for."""

    promised: tuple[float, ...]
    outputs: tuple[Counted, Counted] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pilot:
    """A task that draws outputs on a pair of inputs for the search of pairs; they play no further part."""

    pair: Pair
    size: int
    purpose: tuple[str | int, ...]
    shared: bytes = b""

    @property
    def name(self) -> tuple[str | int, ...]:
        return (*self.purpose, self.size)

    @property
    def stage(self) -> str:
        return "pairs"

    @property
    def outputs(self) -> int:
        return 2 * self.size

    def drawn(self, sampler: Sampler) -> Sequence[np.ndarray]:
        """Outputs on either input.

        Both have one stream: what is only compared is compared under equal luck. Other pairs have their own, because
        the surrogate learns from all of them together.
        """
        of_pair = sampler.about(*self.pair)
        return alike(*(of_pair.draw(data, self.size, *self.purpose) for data in self.pair))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison(_Pilot):
    """The task of finding what a pair of inputs promises.

    ``shown`` asks for some of the outputs, and ``modelled`` for what a model of codes beside numbers promises.
    """

    test: FinalTest
    shown: bool = False
    modelled: bool = False

    def run(self, sampler: Sampler, _shared: bytes) -> _Compared:
        x, y = self.drawn(sampler)
        with sampler.pace.doing("searching the pairs of inputs"):
            promised, coded = promised_bound(x, y, self.test), codes(x, y)
            # Few samples say more of codes than of the numbers between them; but not all inputs differ in codes.
            by_codes = promised.likely if coded is None else promised_bound(*coded, self.test).likely
            found: tuple[float, ...] = (promised.likely, by_codes)
            if self.modelled:
                by_model = modelled_bound(x, y, self.test) if self.size >= _LEAST_MODELLED else -math.inf
                found = (max(by_model, promised.cautious), *found)
        return _Compared(found, (counted(x), counted(y)) if self.shown else None)


class _CodesLookedFor(_Pilot):
    """The task of finding out whether the outputs are rows of numbers with codes among them."""

    __slots__ = ()

    def run(self, sampler: Sampler, _shared: bytes) -> bool:
        return has_codes(*self.drawn(sampler))


def _found_early(
    sampler: Sampler, task: PairTask, neighbouring: Neighbouring, pair: Pair, bound: PairBound, *, searched: int
) -> Search:
    domain = neighbouring.domain
    total: int | None = sum(1 for _ in islice(neighbouring, MOST_LISTED + 1)) if domain is None else domain.count()
    if domain is None and (total or 0) > MOST_LISTED:
        total = None
    found = ChosenPair(pair=pair, searched=searched, total=total, samples=0, rounds=0)
    return Search(sampler=sampler, task=task, found=found, early=bound)


def _same(pair: Pair, other: Pair) -> bool:
    key = pair_key(pair)
    return key is not None and key == pair_key(other)


def _searched(found: ChosenPair) -> str:
    if found.total is None:
        return f"{found.searched} pairs searched, of infinitely or uncountably many"
    of_all = f"{found.searched} of " if found.searched < found.total else ""
    return f"{of_all}{found.total} pair{'s' if found.total != 1 else ''} searched"


def sampler_of(mechanism: Mechanism, budget: Budget, streams: Streams, pace: Pace | None = None) -> Sampler:
    """Sampler of a mechanism, through its own features and those that the budget asks for."""
    own = None if type(mechanism).features is Mechanism.features else mechanism.features
    named = FEATURES.get(budget.features)

    def both(outputs: Any) -> Any:
        assert own is not None
        assert named is not None
        return own(named(outputs))

    features: FeatureMap | None = both if own and named else own or named
    sampler = Sampler(
        mechanism.sample,
        mechanism.name,
        streams,
        own_randomness=mechanism.own_randomness,
        features=features,
        supports=None if type(mechanism).supports is Mechanism.supports else mechanism.supports,
        pace=pace,
    )
    sampler.asked_features = budget.features
    # Under a deadline the sizes of calls follow the time that they take, and so the streams of parts would.
    sampler.work = None if budget.deadline is not None else budget.work
    return sampler


def sampler_again(mechanism: Mechanism, recipe: Recipe) -> Sampler:
    """Sampler of a part of an audit, in a process that knows the mechanism."""
    features: Features = "float-bits" if recipe.features == "float-bits" else "none"
    sampler = sampler_of(mechanism, Budget(features=features), recipe.streams)
    sampler.restore(recipe.state)
    return sampler if recipe.pair is None else sampler.about(*recipe.pair)


def _evidence(
    bound: PairBound,
    guarantee: Guarantee,
    pair: tuple[Any, Any],
    scope: str,
    own_samples: int,
    samples: int,
    pace: Pace,
    *,
    is_program: bool,
) -> Evidence:
    violation = finding = remedy = None
    limit, name = bound.detection_limit, guarantee.forced
    measured = {name: Interval(lower=bound.value, upper=None), "detection_limit": Interval.exact(limit)}
    counts = f"{bound.hits[0]} of {bound.trials[0]} and {bound.hits[1]} of {bound.trials[1]}"
    if guarantee.exceeds(bound.value):
        p_input, q_input = reversed(pair) if bound.reverse else pair
        violation = Violation(
            data=p_input, neighbour=q_input, event=bound.event, p=bound.p, q=bound.q, forces={name: bound.value}
        )
        verdict, note = Verdict.REFUTED, f"the event occurred {counts} times, which bounds {name} from below"
        if bound.rounds:
            in_rounds = "one round, in which" if bound.rounds == 1 else f"{bound.rounds} rounds; in the last round"
            note = (
                f"bets on events that earlier outputs had chosen refute it after {samples} outputs, in {in_rounds} "
                f"the event occurred {counts} times"
            )
        if bound.hits[1] == 0:
            note += "; it never occurred on the other input, so that more samples would prove more"
        if bound.stopped_early:
            note += "; sampling stopped there"
        if bound.out_of_time:
            note += f"; {pace.out_of_time}"
        if bound.failure:
            note += f"; then it failed, and only what was drawn before counts: {bound.failure}"
        finding = Finding(
            inputs=pair,
            reverse=bound.reverse,
            event=None if bound.recipe is None else {"kind": "score", **bound.recipe},
            p=bound.p,
            q=bound.q,
            hits=bound.hits,
            trials=bound.trials,
            samples=own_samples,
            candidate=bound.candidate,
        )
    elif bound.out_of_time:
        verdict, remedy = Verdict.INCONCLUSIVE, Remedy.TIME
        note = "; ".join([pace.out_of_time, *why_no_limit_in_time(bound, name, is_program=is_program)])
        del measured["detection_limit"]
    elif math.isinf(limit):
        verdict, remedy = Verdict.INCONCLUSIVE, Remedy.FEATURES if bound.blind or bound.hidden else Remedy.SAMPLES
        if bound.unchecked and not bound.hidden:
            remedy = Remedy.TIME
        note = why_no_limit(bound, name, is_program=is_program)
    else:
        verdict = Verdict.CONSISTENT
        note = what_would_show(limit, name, bound.rarer)
        if bound.shortened:
            # As many samples as without a deadline would say more.
            note, remedy = (
                f"{note}; --seconds left time for {samples} of the {pace.asked} samples drawn without it",
                Remedy.TIME,
            )
    note = "; ".join([note, *what_was_not_used(bound)])
    return Evidence(
        verdict=verdict,
        scope=scope,
        method="black-box",
        measured=measured,
        witness=violation,
        note=note,
        samples=samples,
        remedy=remedy,
        finding=finding,
    )


def what_would_show(limit: float, parameter: str, rarer: float) -> str:
    """Return words on a detection limit.

    ``rarer`` is the probability of the event that it is about, where none as likely as the one chosen forces so much.
    """
    which = "an event about as likely as the one chosen here that"
    if rarer:
        which = (
            f"no event as likely as the one chosen here can force so much, but one of probability {rarer:.2g} on one "
            "input that"
        )
    return (
        f"{which} forces {a_value(parameter)} of {limit:.4g} or more would have been refuted with 95 % power; "
        f"{a_value(parameter)} that only rarer outputs show would not"
    )


def what_was_equal(features: int, by_text: Sequence[str]) -> str:
    """Return words on so many features that were all equal, or outputs by their texts, and what would help."""
    if by_text:
        return (
            f"all {features:,} outputs that chose the event look the same, because of values of type "
            f"{', '.join(by_text)} only the `repr` is seen, so that they could tell nothing; return a dict of what it "
            "holds in place of each"
        )
    return (
        f"all {features:,} features that chose the event were equal, so that they could tell nothing; let `features` "
        "return what varies with the outputs, or leave it out"
    )


def coarser(held: Sequence[str]) -> str:
    """Return words on outputs to give in place of those that come only once."""
    return "coarser outputs" if "numbers" in held else "numbers or coarser outputs"


def why_no_limit(bound: PairBound, parameter: str, *, is_program: bool = False) -> str:
    """Return words on why nothing is known to have been refuted, and what would help.

    ``is_program`` says that the outputs are those of a program, whose author has no class to define methods in.
    """
    if bound.hidden:
        return what_was_equal(bound.hidden, bound.by_text)
    if not bound.blind:
        return "no violation could have been found with so few samples; raise --samples"
    if bound.unchecked:
        return (
            "nothing told the inputs apart, and there was no time to find out whether anything could, because outputs "
            "like these may hide a difference, as identifiers do; raise --seconds"
        )
    planted = what_was_planted(bound.value, parameter, "the inputs", bound.identifier)
    if is_program:
        which = f"the identifying part ({bound.identifier})" if bound.identifier else "what is new in every output"
        in_order = " let it write sets of numbers in order," if "lists" in bound.held else ""
        return (
            f"{planted}; leave {which} out of what the program writes,{in_order} or audit it from Python, where "
            "`dpaudit.CommandMechanism` takes `features` and `supports`"
        )
    in_order = ", `sorted(output)` in place of a set of numbers" if "sets" in bound.held else ""
    remedy = (
        f"{planted}; return {coarser(bound.held)} without identifiers{in_order}, or define `features` or `supports`"
    )
    return remedy + what_was_read_by_text(bound.by_text)


def what_was_read_by_text(types: Sequence[str]) -> str:
    """Return words on types of whose values only the `repr` was seen, to follow others; nothing of no types."""
    if not types:
        return ""
    return (
        f"; of values of type {', '.join(types)} only the `repr` was seen, as a whole: return a dict of what it holds "
        "in place of each"
    )


def why_no_limit_in_time(bound: PairBound, parameter: str, *, is_program: bool = False) -> list[str]:
    """Return the words of `why_no_limit` where the time ran out; nothing where there is a limit."""
    if math.isfinite(bound.detection_limit):
        return []
    if (bound.blind or bound.hidden) and not bound.too_few:
        return [why_no_limit(bound, parameter, is_program=is_program)]
    if any(bound.trials):
        why = "these are too few outputs for any event to show a violation, whatever it is"
    else:
        why = "it was over before the outputs that bound the event were drawn"
    return [f"{why}; more --seconds, or a faster sampler, would give a limit"]


def what_was_not_used(bound: PairBound) -> list[str]:
    """Return words on scores that were left out, and on outputs that had no part in choosing the event."""
    notes = [what_was_left_out(bound.left_out)] if bound.left_out else []
    if bound.fitting:
        notes.append(
            f"{bound.fitting:,} outputs per input chose the event, for no more of this width are held in memory"
        )
    some, drawn = bound.learned
    if some:
        notes.append(
            f"{some:,} of {drawn:,} outputs per input chose the event, for there was no time to learn from more; more "
            "--seconds may find a better one"
        )
    return notes


def what_was_planted(bound: float, parameter: str, what: str, identifier: str) -> str:
    """Return words on outputs that may hide a violation: why they do, and whether anything told the inputs apart.

    ``identifier`` is the part of an output that is like one, where that is known.
    """
    of_them = f" (by {identifier}, as identifiers do)" if identifier else ""
    why = (
        f"most of these outputs come only once{of_them}, so that a difference planted in copies of them went unnoticed"
    )
    if bound <= 0:
        return f"{why}: nothing told {what} apart, nor would it have"
    return f"{why}: {a_value(parameter)} of {bound:.4g} was seen, but they may hide more"


def what_was_left_out(families: Sequence[str]) -> str:
    """Return words on scores that would have taken too long."""
    return f"what would have taken too long was not looked at: {', '.join(families)}"


def a_value(parameter: str) -> str:
    """Return the name of a parameter with its article."""
    return f"{'an' if parameter[0] in 'aeiou' else 'a'} {parameter}"
