"""A lower confidence bound from outputs that were drawn already: two finite samples, split once at random."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.auditors.blackbox.counting import rarer_than
from dpaudit.auditors.blackbox.tasks import LEAST_SAMPLES, PairTask
from dpaudit.auditors.learning.counts import Choice, FinalTest
from dpaudit.auditors.learning.selection import select_events
from dpaudit.auditors.outputs.checked_outputs import COMPARED, as_numbers, check_alone, features_of
from dpaudit.auditors.outputs.column_words import Naming
from dpaudit.auditors.outputs.features import FeatureMap, feature_map, may_hide
from dpaudit.auditors.outputs.forms import Forms, alike
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.again import ONLY_THESE, are_texts, copied, drawn_again
from dpaudit.auditors.sampling.arguments import check_claimed, check_delta, check_guarantee, check_seed
from dpaudit.auditors.sampling.budget import DEFAULT_CONFIDENCE, check_confidence, complement
from dpaudit.auditors.sampling.drawn import in_type, tables_of, type_of_both
from dpaudit.auditors.sampling.order import apart_notes, order_notes, row_numbers
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.claims.inputs import is_pair, short_repr
from dpaudit.errors import CheckError, DataError, ParameterError
from dpaudit.floating_point import our_settings
from dpaudit.sources.tables import Table
from dpaudit.statistics import BY_RATIO, detection_limit, forced_lower
from dpaudit.statistics.finite import (
    SPILL,
    CoinTrials,
    bound_by_coins,
    share_of_fixed,
    tosses_for,
    trials_by_coins,
)

FEWEST_ROWS, _MOST_ROWS = 20, 10**9
"""Rows of each side without which nothing can be learned and judged, and from which on they are not split."""

MORE_ROWS = 10
"""How many times the rows the outlook of a bound is for."""

_FEWEST_VALUES, _MOST_TIMES = 200, 50
"""Values, at least, and how often each comes at most among the rows that choose, for rows that were drawn again."""

_MOST_VALUES = 1 << 25
"""Values, about, of the rows of one side that choose the event, which are held in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesBound:
    """Lower confidence bound on the forced parameter of a guarantee, from two finite samples.

    Attributes
    ----------
    parameter, value
        The parameter, such as ``epsilon``, and the bound: with the stated confidence no smaller value holds, the other
        parameters being as in ``guarantee``; 0 where nothing can be said.
    guarantee
        The guarantee, with the claimed value.
    confidence
        Probability, at least, with which the bound is not above the truth.
    detection_limit
        Smallest value that would have been refuted with 95 % power, if an event about as likely as this one forced it;
        ``inf`` if none. What other events show, such as rarer ones, may be larger and be missed.
    event
        The event, in a form that can be recomputed.
    reverse
        Whether the event is likelier in the second sample.
    hits, trials
        Occurrences and trials in the sample where it is likelier, and in the other.
    p, q
        Observed frequencies there.
    rows, learned
        Rows of the first and of the second sample, and how many of each chose the event.
    outlook
        The bound that `MORE_ROWS` times the rows would give with the same event and the same frequencies.
    blind
        Whether the claim was not refuted, and a planted difference went unnoticed too, other than for lack of rows.
    identifier
        The part of an output that is like an identifier, in words; empty where none is known.
    left_out
        Names of the families of scores that were not learned, because they would have taken too long.
    notes
        What speaks against the rows being independent outputs, in words.
    rarer
        Probability of the event that the limit is about, where none as likely as this one can force so much; else 0.
    hidden
        How many features, or outputs of which only the `repr` is seen, chose the event, where all were equal and the
        claim was not refuted; the limit is ``inf`` then. 0 where they were not.
    held
        What the outputs are or hold, where a planted difference went unnoticed (`Selection.held`).
    by_text
        Types of which only the `repr` was seen, where that left a difference unnoticed (`Selection.by_text`).

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> rng = np.random.default_rng(1)
    >>> bound = dpaudit.bound_from_samples(rng.laplace(size=20_000), 1 + rng.laplace(size=20_000))
    >>> bound.parameter, bound.rows
    ('epsilon', (20000, 20000))
    """

    parameter: str
    value: float
    guarantee: Guarantee
    confidence: float
    detection_limit: float
    event: Any
    reverse: bool
    hits: tuple[int, int]
    trials: tuple[int, int]
    p: float
    q: float
    rows: tuple[int, int]
    learned: int
    outlook: float
    blind: bool = False
    identifier: str = ""
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rarer: float = 0.0
    hidden: int = 0
    held: tuple[str, ...] = ()
    by_text: tuple[str, ...] = ()

    @property
    def too_few(self) -> bool:
        """Whether fewer rows chose the event than any audit by sampling has for that."""
        return self.learned < LEAST_SAMPLES // 5

    @property
    def epsilon(self) -> float | None:
        """The bound on epsilon; None where another parameter was bounded."""
        return self.value if self.parameter == "epsilon" else None


@our_settings()
def bound_from_samples(
    a: Any,
    b: Any,
    *,
    delta: float = 0.0,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 0,
    claimed: float = 0.0,
    guarantee: Guarantee | None = None,
    features: FeatureMap | str | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> SamplesBound:
    """Bound epsilon from below by outputs that were drawn already, on each of two neighbouring inputs.

    The rows are split once at random under the seed: a part chooses an event, and the others bound its probabilities.

    Parameters
    ----------
    a, b
        Outputs on either input, each drawn independently of all others: arrays, lists or frames with an output a row,
        or tables of `dpaudit.sources`. At least 20 rows each, not necessarily equally many.
    delta
        In [0, 1); leave it at 0 with ``guarantee``.
    confidence
        In (0, 1).
    seed
        Equal seeds give equal results.
    claimed
        Epsilon that the detection limit refers to; leave it at 0 with ``guarantee``.
    guarantee
        Another guarantee, whose forced parameter is bounded.
    features
        As of `dpaudit.epsilon_lower_bound`.
    names
        What messages call the two.

    Returns
    -------
    SamplesBound

    Raises
    ------
    ParameterError
        A number is out of range, ``guarantee`` is none or comes with ``delta`` or ``claimed``, ``features`` has no such
        name, or ``names`` are not two.
    DataError
        There are too few rows, the columns differ, their units of time have none in common, or there is a NaN.
    CheckError
        Rows come again as if they had been drawn from a smaller array; or ``features`` returns something else than a
        row for each output, returns NaN, or does not look at every output on its own.
    TargetRaisedError
        ``features`` raises.

    Notes
    -----
    Datetimes and durations are taken as whole numbers of their unit, the finer of the two sides' where these differ.

    **Guarantee.** With probability at least ``confidence`` the bound is not above the true value, provided that the
    rows are independent outputs. Where the guarantee is decided by the ratio of two probabilities, coins decide how
    many of the rows to use, which makes the split of the event's occurrences binomial; should they ask for more rows
    than there are, and for other guarantees, two Clopper-Pearson bounds share the error probability. Which way is taken
    depends on the rows that choose the event and on the coins alone.
    **Checked against** closed forms, exact coverage by enumeration, and `dpaudit.epsilon_lower_bound`.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.laplace(size=20_000), 1 + rng.laplace(size=30_000)  # epsilon is 1
    >>> 0.8 < dpaudit.bound_from_samples(a, b).epsilon <= 1
    True
    """
    if guarantee is None:
        check_claimed(claimed)
        check_delta(delta)
        guarantee = ApproximateDP(float(claimed), float(delta))
    else:
        check_guarantee(guarantee)
        if delta or claimed:
            raise ParameterError("a guarantee has its own delta and claimed value; leave delta and claimed out with it")
    split = split_samples(a, b, "bound_from_samples", confidence=confidence, seed=seed, features=features, names=names)
    return _bound(split, guarantee, complement(float(confidence)))


def split_samples(
    a: Any,
    b: Any,
    purpose: str,
    *,
    confidence: float,
    seed: int,
    features: FeatureMap | str | None,
    names: tuple[str, str],
) -> SplitSamples:
    """Return outputs that were drawn already, ready to be split at random for a purpose; see `bound_from_samples`."""
    check_confidence(confidence)
    check_seed(seed)
    look = feature_map(features)
    if not is_pair(names):
        raise ParameterError(f"names must be two texts, what messages call the two, got {short_repr(names)}")
    names = str(names[0]), str(names[1])
    tables = tables_of(a, b, names)
    for table in tables:
        if table.rows < FEWEST_ROWS:
            raise DataError(
                f"{table.name} has {table.rows} row{'s' if table.rows != 1 else ''}; a bound takes at least "
                f"{FEWEST_ROWS} outputs of either input, and thousands to say much"
            )
        if table.rows >= _MOST_ROWS:
            raise DataError(f"{table.name} has {table.rows} rows; give fewer than 10^9 of them, chosen at random")
    return SplitSamples(tables=tables, features=look, streams=Streams(int(seed), (purpose,)))


@dataclass(slots=True)
class SplitSamples:
    """Two tables, split into rows that choose and rows that judge."""

    tables: tuple[Table, Table]
    features: FeatureMap | None
    streams: Streams
    learned: int = 0
    again: str = ""
    _type: np.dtype[Any] | None = None
    _forms: Forms = field(default_factory=Forms)

    @property
    def rows(self) -> tuple[int, int]:
        """Rows of either side."""
        return self.tables[0].rows, self.tables[1].rows

    @property
    def judging(self) -> tuple[int, int]:
        """Rows of either side that judge."""
        return self.rows[0] - self.learned, self.rows[1] - self.learned

    def learning(self) -> tuple[Outputs, Outputs]:
        """Rows of either side that choose events, in random order: they are split again, by their place.

        Raises
        ------
        CheckError
            The sides are copies of each other, or the feature map does not look at every output on its own.
        """
        self._check_independent()
        sides = []
        for side in (0, 1):
            rows = np.concatenate([chunk[chosen == 0] for chunk, chosen in self.chunks(side, (self.learned, 0))])
            rows = rows[self.streams.generator("order", side).permutation(len(rows))]
            if self.features is None:
                sides.append(rows)
                continue
            some = rows[:COMPARED].copy()
            sides.append(self.mapped(rows))
            check_alone(self.mapped, some, sides[-1][:COMPARED])
        x, y = alike(*sides)
        # An event knows features of one form, and those of rows that judge come in it.
        self._forms.keep()
        return Outputs(x), Outputs(y)

    def _check_independent(self) -> None:
        """Raise CheckError where rows are copies of the other side's, or numbered.

        A copy would choose events and judge them too. A row number that chose an event does not come again among the
        rows that judge it, but for the other side's.
        """
        chunks = [self.checked(next(iter(table.chunks())), table.name) for table in self.tables]
        complete = all(len(chunk) == table.rows for chunk, table in zip(chunks, self.tables, strict=True))
        found = copied(*map(Outputs, chunks), complete=complete)
        if found:
            first, second = (table.name for table in self.tables)
            raise CheckError(
                f"{first} and {second} {found}; a bound takes outputs on either input that were drawn independently, "
                "with other random numbers: draw one of them anew"
            )
        for chunk, table in zip(chunks, self.tables, strict=True):
            # Features may leave it out.
            for label in row_numbers(chunk) if self.features is None else ():
                mend = "leave it out of both" if label else "give what the mechanism puts out on either input"
                raise CheckError(
                    f"{label or 'the output'} of {table.name} grows by the same step from row to row, as a row number "
                    f"does, so that rows are not independent outputs; {mend}"
                )

    def choosing(self, task: PairTask) -> tuple[Outputs, Outputs]:
        """Decide how many rows choose events, and return them.

        Raises
        ------
        CheckError
            The rows are resamples of a few.
        """
        width = max(next(iter(table.chunks()))[:1].nbytes // 8 for table in self.tables)
        self.learned = min(task.selection, max(_MOST_VALUES // max(width, 1), 1000))
        x, y = self.learning()
        again = drawn_again(x, y)
        # Fewer values that come more often are a discrete law.
        if again is not None and again >= _FEWEST_VALUES and self.learned < _MOST_TIMES * again:
            first, second = (table.name for table in self.tables)
            found = (
                f"the rows of {first} and of {second} come again, as if about {again} had been drawn again and again"
            )
            if not are_texts(x.raw):
                raise CheckError(f"{found}; a bound takes outputs that are new each time: give every output once")
            self.again = f"{found}; {ONLY_THESE}"
        return x, y

    def chunks(self, side: int, sizes: tuple[int, int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Chunks of a side with what each row is for: 0 to choose, 1 among the first to judge, 2 for the rest.

        Which rows choose is the same whatever the number of those among the first.
        """
        table = self.tables[side]
        rng, order = (self.streams.generator(purpose, side) for purpose in ("learning", "judging"))
        left = [sizes[0], sizes[1], table.rows - sum(sizes)]
        for chunk in table.chunks():
            chosen = np.full(len(chunk), 2, dtype=np.int8)
            learning = int(rng.hypergeometric(left[0], left[1] + left[2], len(chunk))) if left[0] else 0
            places = rng.permutation(len(chunk))
            first = int(order.hypergeometric(left[1], left[2], len(chunk) - learning)) if left[1] else 0
            chosen[places[:learning]] = 0
            chosen[order.permutation(places[learning:])[:first]] = 1
            left = [left[0] - learning, left[1] - first, left[2] - (len(chunk) - learning - first)]
            yield self.checked(chunk, table.name), chosen

    def judged(self, side: int) -> Iterator[Outputs]:
        """Chunks of all rows of a side that judge."""
        for chunk, chosen in self.chunks(side, (self.learned, 0)):
            rows = chunk[chosen > 0]
            if len(rows):
                yield Outputs(self.mapped(rows))

    def checked(self, chunk: np.ndarray, name: str) -> np.ndarray:
        """Return the chunk in the type that both sides share.

        Raises
        ------
        DataError
            The sides differ in form, there is a NaN, or the type does not hold the values.
        """
        if self._type is None:
            self._type = type_of_both(self.tables)
        return in_type(chunk, self._type, name)

    def naming(self, outputs: Outputs) -> Naming:
        """What the numbers of outputs, as features show them, are called in words."""
        base = "output" if self.features is None else "features"
        return Naming(outputs.shape[1:], outputs.dtype.kind == "c", base=base)

    def mapped(self, outputs: np.ndarray) -> np.ndarray:
        """Outputs as features show them."""
        if self.features is None:
            return outputs
        return self._forms.as_kept(features_of(self.features, outputs, "`features`", self._forms), as_numbers)


def _bound(samples: SplitSamples, guarantee: Guarantee, alpha: float) -> SamplesBound:
    x, y = samples.choosing(PairTask(guarantee=guarantee, samples=min(samples.rows), alpha=alpha))
    judging = samples.judging
    selection = select_events(x, y, FinalTest(guarantee, min(judging), alpha))
    coins = trials_by_coins(judging, samples.streams.generator("coins")) if guarantee.by_ratio else None
    if coins is not None and not coins.fits(judging):
        coins = None
    # Coins that ask for too much leave the error probability of two bounds on top; both together have alpha.
    spent = alpha / (1.0 + SPILL) if guarantee.by_ratio else alpha
    counts = [
        _Count(choice, guarantee, spent * share, judging, coins)
        for choice, share in zip(selection.choices, selection.shares, strict=True)
    ]
    sizes = (0, 0) if coins is None else coins.trials
    for side in (0, 1):
        for chunk, chosen in samples.chunks(side, (samples.learned, sizes[side])):
            judged = chosen > 0
            if not judged.any():
                continue
            outputs = Outputs(samples.mapped(chunk[judged]))
            for count in counts:
                count.add(side, count.choice.event.contains(outputs), chosen[judged] == 1)
    bounds = [count.bound() for count in counts]
    best = counts[bounds.index(max(bounds))]
    hits, trials = best.counted()
    rate, other = best.choice.rates
    limit = detection_limit(
        guarantee,
        rate,
        min(judging),
        complement=other,
        alpha=best.alpha,
        share=BY_RATIO if best.by_coins else best.share,
    )
    blind = selection.overlooks(max(bounds), guarantee)
    hidden = (
        selection.alike and bool(may_hide(samples.features) or selection.by_text) and not guarantee.exceeds(max(bounds))
    )
    return SamplesBound(
        parameter=guarantee.forced,
        value=max(bounds),
        guarantee=guarantee,
        confidence=complement(alpha),
        detection_limit=math.inf if blind or hidden else limit,
        event=best.choice.event.describe(samples.naming(x)),
        reverse=best.choice.reverse,
        hits=hits,
        trials=trials,
        p=hits[0] / max(trials[0], 1),
        q=hits[1] / max(trials[1], 1),
        rows=samples.rows,
        learned=samples.learned,
        outlook=max(max(bounds), best.outlook()),
        blind=blind and not selection.repeated,
        identifier="" if selection.identified is None else selection.identified.describe(samples.naming(x)),
        left_out=selection.left_out,
        notes=(*_notes(samples.tables), *filter(None, [samples.again])),
        rarer=rarer_than(best.choice, guarantee, limit),
        hidden=len(x) + len(y) if hidden else 0,
        held=selection.held,
        by_text=selection.by_text,
    )


def _notes(tables: tuple[Table, Table]) -> tuple[str, ...]:
    """What the order of the first rows of either side says."""
    first, second = (next(iter(table.chunks())) for table in tables)
    guessed = dict.fromkeys(note for table in tables for note in getattr(table, "notes", ()))
    names = tables[0].name, tables[1].name
    notes = [*guessed, *order_notes(first, names[0]), *order_notes(second, names[1])]
    return (*notes, *apart_notes((first, second), names))


class _Count:
    """Occurrences of one event among the judging rows: of all, and of those that coins asked for."""

    def __init__(
        self, choice: Choice, guarantee: Guarantee, alpha: float, rows: tuple[int, int], coins: CoinTrials | None
    ) -> None:
        self.choice, self.guarantee, self.alpha = choice, guarantee, alpha
        self._coins = coins
        # Of the likelier side and of the other, from here on.
        self._rows = self._turned(rows)
        rates = (choice.p_hits + 0.5) / (choice.rows + 1), (choice.q_hits + 0.5) / (choice.rows + 1)
        self.share = share_of_fixed(guarantee, rates, self._rows, alpha=alpha)
        self.by_coins = False
        if coins is not None:
            tosses, coin = tosses_for(rows)
            split = self._turned((round(tosses * coin), tosses - round(tosses * coin)))
            self.by_coins = self._by_coins(rates, split) >= self._by_rows(rates, self._rows)
        self._hits, self._asked = [0, 0], [0, 0]

    def add(self, side: int, inside: np.ndarray, asked: np.ndarray) -> None:
        """Count in rows of the first (0) or of the second side."""
        place = 1 - side if self.choice.reverse else side
        self._hits[place] += int(np.count_nonzero(inside))
        self._asked[place] += int(np.count_nonzero(inside & asked))

    def counted(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Occurrences and trials that the bound is from."""
        if self.by_coins and self._coins is not None:
            return (self._asked[0], self._asked[1]), self._turned(self._coins.trials)
        return (self._hits[0], self._hits[1]), self._rows

    def bound(self) -> float:
        """Lower bound on the forced parameter."""
        return self._of(*self.counted())

    def outlook(self) -> float:
        """Bound that more rows with the same frequencies would give."""
        hits, trials = self.counted()
        return self._of(*((MORE_ROWS * first, MORE_ROWS * second) for first, second in (hits, trials)))

    def _of(self, hits: tuple[int, int], trials: tuple[int, int]) -> float:
        if self.by_coins:
            return bound_by_coins(self.guarantee, hits, trials, coin=self._coin, alpha=self.alpha)
        args = hits[0], trials[0], hits[1], trials[1]
        return float(forced_lower(self.guarantee, *args, alpha=self.alpha, share=self.share))

    @property
    def _coin(self) -> float:
        assert self._coins is not None
        return 1 - self._coins.coin if self.choice.reverse else self._coins.coin

    def _by_coins(self, rates: tuple[float, float], trials: tuple[int, int]) -> float:
        hits = round(rates[0] * trials[0]), round(rates[1] * trials[1])
        return bound_by_coins(self.guarantee, hits, trials, coin=self._coin, alpha=self.alpha)

    def _by_rows(self, rates: tuple[float, float], rows: tuple[int, int]) -> float:
        args = rates[0] * rows[0], rows[0], rates[1] * rows[1], rows[1]
        return float(forced_lower(self.guarantee, *args, alpha=self.alpha, share=self.share))

    def _turned(self, sides: tuple[int, int]) -> tuple[int, int]:
        return (sides[1], sides[0]) if self.choice.reverse else sides
