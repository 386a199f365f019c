"""The families of scores: which of them suit outputs of a form, what they cost, and how each learns a score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpaudit.auditors.learning import learners
from dpaudit.auditors.learning.bits import BitsScore
from dpaudit.auditors.learning.coded_score import learn_coded
from dpaudit.auditors.learning.directions import directions_transform
from dpaudit.auditors.learning.groups import learn_groups
from dpaudit.auditors.learning.likeness import MOST_COLUMNS, MOST_SUMMED, alike_transform, others_transform
from dpaudit.auditors.learning.members import learn_members
from dpaudit.auditors.learning.packed import MOST_PACKED, learn_bits, unpacked_transform
from dpaudit.auditors.learning.parities import learn_parities
from dpaudit.auditors.learning.periods import MOST_PERIODIC, phases_transform
from dpaudit.auditors.learning.residues import ResidueScore
from dpaudit.auditors.learning.scores import ColumnScore, OutcomeScore, Score
from dpaudit.auditors.learning.transforms import Identity, Transform
from dpaudit.auditors.learning.wholes import (
    learn_coordinate,
    learn_successions,
    learn_totals,
    learn_totals_of_parts,
)
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.flat import is_table
from dpaudit.auditors.outputs.outputs import Outputs, OutputsLike, coding_of, joined, outcome_keys
from dpaudit.auditors.sampling.pace import TooLongError, clock, ready_by

_FEW_NUMBERS = 16
"""Distinct outputs, at most, for which counting them is all that there is to do, where they are single numbers. Chosen
by hand: of more numbers, half-lines may tell more than each value alone."""

_FEWEST_ORDERED = 8
"""Distinct numbers from which on half-lines are looked at besides counts of these few. Chosen by hand: of fewer, each
is common enough for its counts to be no luck."""

_FEW_OUTCOMES = 64
"""The same where they are anything else. Chosen by hand: 2,000 outputs leave some 30 of each."""

_FIRST = 2000
"""Outputs of either input in which the distinct ones are counted. Chosen by hand."""

_WIDE = 256
"""Columns up to which they are also looked at in other coordinates, and by trees. Chosen by hand, for time: with 1,000
columns, an audit of 50,000 outputs took 39 s of a processor before there was such a limit, and 14 s with it, at equal
bounds (`git log -S _WIDE`)."""

_TIMES_SAMPLING = 10
"""What learning and judging may cost without a deadline, as a multiple of drawing all outputs, where drawing a number
is a unit of work. Chosen by hand: a limit for rows that are wide or slow to learn from, not a share that audits are
meant to take."""

_LEAST_WORK = 1 << 30
"""What learning and judging may cost anyway, in units of work: some 10 seconds. Chosen by hand."""

_UNIT = 1e-8
"""Seconds that a unit of work takes, about, until this machine has shown how long it takes here. Measured roughly:
numpy draws a number in 4 to 20 ns (benchmarks/speed.md)."""


@dataclass(slots=True)
class Form:
    """What outputs look like, as far as that decides which scores suit them.

    Attributes
    ----------
    kind, flat
        Kind of their dtype, and whether they are single values instead of rows.
    columns
        How they become rows of numbers; None where they do not, or counting the few there are is all there is to do.
    width
        Numbers in a row, 1 where there are no rows.
    few, few_numbers
        Whether there are few distinct outputs, and whether these are numbers: half-lines are looked at then besides.
    thorough
        Whether scores take part that take long to learn.
    records
        Whether each output is a table of a few columns, whose rows may be records in any order.
    """

    kind: str
    flat: bool
    columns: Columns | None
    width: int
    thorough: bool
    few: bool = False
    few_numbers: bool = False
    records: bool = False
    _transforms: dict[tuple[learners.MakeTransform, int], Transform | None] = field(default_factory=dict)

    @classmethod
    def of(cls, x: Outputs, y: Outputs, *, thorough: bool) -> Self:
        """Look at samples of both inputs."""
        kind, flat = x.dtype.kind, x.ndim == 1
        one_number = kind in "biuf" and x.width == 1
        few = _few_outcomes(x, y, _FEW_NUMBERS if one_number else _FEW_OUTCOMES)
        columns = None if few else x.columns_with(y)
        width = 1 if columns is None else x[:1].rows(columns).shape[1]
        ordered = few >= _FEWEST_ORDERED and one_number and kind in "iuf"
        return cls(kind, flat, columns, width, thorough, few=few > 0, few_numbers=ordered, records=is_table(x.shape))

    @property
    def identity(self) -> Identity:
        """The columns as they are."""
        assert self.columns is not None
        return Identity(self.columns)

    @property
    def column(self) -> ColumnScore:
        """The one column there is."""
        if self.columns is None or self.columns.numeric:
            return ColumnScore(None if self.flat else 0)
        return ColumnScore(0, columns=self.columns)

    def once(self, make: learners.MakeTransform) -> learners.MakeTransform:
        """Work out a change of coordinates once for the same samples, whose number tells them apart."""

        def made(columns: Columns, x: OutputsLike, y: OutputsLike) -> Transform | None:
            key = (make, len(x))
            if key not in self._transforms:
                self._transforms[key] = make(columns, x, y)
            return self._transforms[key]

        return made


def _few_outcomes(x: Outputs, y: Outputs, most: int) -> int:
    """How many distinct outputs there are first; 0 where counting them is not all that there is to do.

    There may be more than ``most``. Or one outcome is far commoner than all others, such as a refusal beside numbers:
    then most of those that were seen came once, whether among the first outputs or among all.
    """
    first = _counts_of_outcomes(x[:_FIRST], y[:_FIRST])
    if len(first) > most or _mostly_new(first) or _mostly_new(_counts_of_outcomes(x, y)):
        return 0
    return len(first)


def _counts_of_outcomes(x: Outputs, y: Outputs) -> np.ndarray:
    both = joined([x, y])
    return np.unique(outcome_keys(both, coding_of(both)), return_counts=True)[1]


def _mostly_new(counts: np.ndarray) -> bool:
    """Whether more than half of the outcomes came once."""
    return 2 * int(np.count_nonzero(counts == 1)) > len(counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of scores; the scores themselves evaluate outputs, describe events and are written as JSON.

    Attributes
    ----------
    name
        What it looks at, in words.
    suits
        Whether it can say anything about outputs of a form.
    fit
        ``fit(form, x, y)`` learns a score from samples of both inputs; None where it has nothing to say.
    passes
        Units of work for every number of the outputs that it learns from and is judged on, in rows of that width. What
        the linear score takes for narrow rows is one unit.
    rare
        Whether it looks for what is rare, so that its worth shows on all samples only.
    always
        Whether it sees what no simpler family does, and what few rows may not show: it competes on all rows, however
        well others do on a part of them.
    learns
        Whether samples decide what the score is; one that they do not decide may be judged on all of them.
    again
        Whether a score that was chosen is learned again from all samples.
    combines
        Whether it learns from the best of the other scores too: ``fit(form, x, y, others, probe=True)`` makes the quick
        attempt that shows whether it sees more.
    """

    name: str
    suits: Callable[[Form], bool]
    fit: Callable[..., Score | None]
    passes: Callable[[int], float]
    rare: bool = False
    always: bool = False
    learns: Callable[[Form], bool] = field(default=lambda form: True)
    again: bool = False
    combines: bool = False

    def work(self, form: Form, rows: int) -> float:
        """Units of work for so many outputs altogether, to learn from and to be judged on."""
        return rows * form.width * self.passes(form.width)


def _number(form: Form) -> bool:
    return form.columns is not None and form.width == 1


def _rows(form: Form) -> bool:
    return form.columns is not None and form.width > 1


def _thorough(form: Form) -> bool:
    return _rows(form) and form.thorough


def _structured(form: Form) -> bool:
    """Whether outputs may have lists, sets and records in them."""
    return form.thorough and form.columns is not None and (not form.columns.numeric or form.records)


def _narrow(form: Form) -> bool:
    return _thorough(form) and form.width <= _WIDE


def _summed(form: Form) -> bool:
    """Whether one column may be the sum of the others."""
    return _thorough(form) and 2 < form.width <= MOST_SUMMED


def _wide(form: Form) -> bool:
    """Whether there are more columns than all pairs are looked at in another way, and not too many for it."""
    return _thorough(form) and learners.MOST_PAIR_COLUMNS < form.width <= MOST_COLUMNS


def _few(form: Form) -> bool:
    return _number(form) or (_thorough(form) and form.width <= MOST_PERIODIC)


def _mixed(form: Form) -> bool:
    """Whether there may be fractions of few decimals among others."""
    return form.kind not in "biuc" and (_number(form) or _narrow(form))


def _fractions(form: Form) -> bool:
    """Whether there may be floating-point numbers."""
    return form.kind not in "biuc" and (_number(form) or _thorough(form))


def _packed(form: Form) -> bool:
    return _number(form) or (_thorough(form) and form.width <= MOST_PACKED)


def _within_groups(form: Form, make: learners.MakeTransform, x: OutputsLike, y: OutputsLike) -> Score | None:
    """Columns within groups, in changed coordinates."""
    assert form.columns is not None
    transform = form.once(make)(form.columns, x, y)
    return None if transform is None else learn_groups(transform, x, y)


def _passes(number: float, by_width: float = 0.0) -> Callable[[int], float]:
    return lambda width: number + by_width * width


def _sum_of_steps(
    what: str,
    make: learners.MakeTransform,
    suits: Callable[[Form], bool],
    passes: float,
    by_width: float = 0.0,
    *,
    always: bool = False,
) -> Family:
    """Make the sum of a function of each column in changed coordinates."""

    def additive(form: Form, x: OutputsLike, y: OutputsLike) -> Score | None:
        assert form.columns is not None
        return learners.learn_additive(form.once(make), form.columns, x, y)

    return Family(
        name=f"step functions of {what}", suits=suits, fit=additive, passes=_passes(passes, by_width), always=always
    )


def _coordinates(
    what: str, make: learners.MakeTransform, suits: Callable[[Form], bool], alone: float, together: float
) -> tuple[Family, Family]:
    """Make the sum of a function of each column, and of one function of all, in changed coordinates."""

    def pooled(form: Form, x: OutputsLike, y: OutputsLike) -> Score | None:
        assert form.columns is not None
        return learners.learn_pooled(form.once(make), form.columns, x, y)

    by_width = 0.004 if make is learners.innovations_transform else 0.0
    return (
        _sum_of_steps(what, make, suits, alone, by_width),
        Family(
            name=f"one function for all {what}",
            suits=lambda form: suits(form) and form.thorough,
            fit=pooled,
            passes=_passes(together, by_width),
        ),
    )


FAMILIES: tuple[Family, ...] = (
    Family(
        name="counts of outcomes",
        suits=lambda form: True,
        fit=lambda form, x, y: OutcomeScore.fit(x, y),
        passes=_passes(1.0),
        rare=True,
    ),
    Family(
        name="half-lines",
        suits=lambda form: _number(form) or form.few_numbers,
        fit=lambda form, x, y: form.column,
        passes=_passes(0.5),
        rare=True,
        # Which categories there are is learned, too.
        learns=lambda form: form.columns is not None and not form.columns.numeric,
    ),
    Family(
        name="the distance from the middle",
        suits=_number,
        fit=lambda form, x, y: learners.learn_distance(form.column, x, y),
        passes=_passes(0.6),
    ),
    Family(
        name="a step function",
        suits=_number,
        fit=lambda form, x, y: learners.learn_whole_table(form.identity, x, y),
        passes=_passes(4.0),
    ),
    Family(
        name="numbers that repeat",
        suits=lambda form: form.thorough and form.kind not in "biu" and (_number(form) or _rows(form)),
        fit=lambda form, x, y: learners.learn_repeats(form.identity, x, y),
        passes=_passes(1.3),
        rare=True,
    ),
    Family(
        name="the largest deviation",
        suits=_thorough,
        fit=lambda form, x, y: learners.learn_extreme(form.identity, x, y),
        passes=_passes(0.5),
        rare=True,
    ),
    Family(
        name="the largest change",
        suits=_narrow,
        fit=lambda form, x, y: learners.learn_extreme(learners.differences_transform(form.columns, x, y), x, y),
        passes=_passes(0.6),
        rare=True,
    ),
    Family(
        name="differences that repeat",
        suits=lambda form: _narrow(form) and form.kind not in "biu",
        fit=lambda form, x, y: learners.learn_repeats(learners.differences_transform(form.columns, x, y), x, y),
        passes=_passes(1.4),
        rare=True,
    ),
    Family(
        name="the best column",
        suits=lambda form: _thorough(form) and (form.kind in "biuf" or not form.identity.columns.numeric),
        fit=lambda form, x, y: learners.learn_best_half_line(form.identity.columns, x, y),
        passes=_passes(0.4),
    ),
    Family(
        name="values in lists and sets",
        suits=_structured,
        fit=lambda form, x, y: learn_members(form.columns, x, y),
        passes=_passes(4.0),
        rare=True,
    ),
    *_coordinates("numbers", learners.identity_transform, _rows, 1.3, 1.7),
    *_coordinates("differences", learners.differences_transform, _narrow, 1.4, 1.8),
    *_coordinates("numbers in order", learners.ordered_transform, _narrow, 3.0, 4.0),
    *_coordinates("innovations", learners.innovations_transform, _narrow, 2.5, 3.0),
    Family(
        name="one number in order, or one total",
        suits=_narrow,
        fit=lambda form, x, y: learn_coordinate(form.columns, x, y),
        passes=_passes(1.0),
        rare=True,
    ),
    Family(
        name="totals of rows",
        suits=_narrow,
        fit=lambda form, x, y: learn_totals(form.columns, x, y),
        passes=_passes(4.0),
    ),
    Family(
        name="totals of parts",
        suits=lambda form: _narrow(form) and _structured(form),
        fit=lambda form, x, y: learn_totals_of_parts(form.columns, x, y),
        passes=_passes(4.0),
    ),
    Family(
        name="successions of numbers",
        suits=_narrow,
        fit=lambda form, x, y: learn_successions(form.columns, x, y),
        passes=_passes(1.0),
        always=True,
    ),
    _sum_of_steps("weighted sums of different variance", directions_transform, _narrow, 1.0, 0.02),
    Family(
        name="squares of weighted sums of different variance",
        suits=_narrow,
        fit=lambda form, x, y: learners.learn_quadratic(form.once(directions_transform), form.columns, x, y),
        passes=_passes(0.3),
    ),
    _sum_of_steps("numbers less the sum of the others", others_transform, _summed, 1.0, 0.02),
    _sum_of_steps("differences of columns that are alike", alike_transform, _wide, 1.0, 0.02, always=True),
    _sum_of_steps("places of numbers", learners.places_transform, _narrow, 1.0, always=True),
    _sum_of_steps("decimals", learners.decimals_transform, _mixed, 1.0, always=True),
    Family(
        name="residues",
        suits=lambda form: _number(form) or _thorough(form),
        fit=lambda form, x, y: ResidueScore.fit(form.identity.columns, x, y),
        passes=_passes(1.0),
        always=True,
    ),
    _sum_of_steps("phases", phases_transform, _few, 3.0, always=True),
    Family(
        name="a weighted sum",
        suits=_rows,
        fit=lambda form, x, y: learners.learn_linear(form.identity, x, y),
        passes=_passes(1.0, 0.004),
    ),
    Family(
        name="pairs of columns",
        suits=lambda form: _thorough(form) and form.width <= learners.MOST_PAIR_COLUMNS,
        fit=lambda form, x, y: learners.learn_pairs(form.identity, x, y),
        passes=_passes(1.0, 0.1),
        always=True,
    ),
    Family(
        name="columns within groups",
        suits=_narrow,
        fit=lambda form, x, y: learn_groups(form.identity, x, y),
        passes=_passes(1.5),
        always=True,
    ),
    Family(
        name="bits within groups",
        suits=lambda form: _thorough(form) and form.width <= MOST_PACKED,
        fit=lambda form, x, y: _within_groups(form, unpacked_transform, x, y),
        passes=_passes(12.0),
        always=True,
    ),
    Family(
        name="codes beside numbers",
        suits=lambda form: _thorough(form) and form.width <= learners.MOST_PAIR_COLUMNS,
        fit=lambda form, x, y: learn_coded(form.identity, x, y),
        passes=_passes(8.0),
        rare=True,
        again=True,
    ),
    Family(
        name="hidden classes",
        suits=lambda form: _thorough(form) and form.width <= learners.MOST_PAIR_COLUMNS,
        fit=lambda form, x, y: learners.learn_mixture(form.identity, x, y),
        passes=_passes(7.0),
        always=True,
    ),
    Family(
        name="lowest bits",
        suits=_fractions,
        fit=lambda form, x, y: BitsScore.fit(form.identity.columns, x, y),
        passes=_passes(0.5),
        always=True,
    ),
    Family(
        name="parities of bits",
        suits=lambda form: _number(form) or _narrow(form),
        fit=lambda form, x, y: learn_parities(form.identity, x, y),
        passes=_passes(0.5),
        always=True,
    ),
    Family(
        name="bits of whole numbers",
        suits=_packed,
        fit=lambda form, x, y: learn_bits(form.once(unpacked_transform), form.columns, x, y),
        passes=_passes(12.0),
        always=True,
    ),
    Family(
        name="boosted trees",
        suits=_narrow,
        fit=lambda form, x, y, others, *, probe: learners.boosted_score(x, y, others, probe=probe),
        passes=_passes(8.0),
        combines=True,
    ),
)
"""All families. They are tried in the order of what they cost. Of events that promise as much, that of the score which
is evaluated at the least cost is taken, and among equal ones that of the earlier family here."""


@dataclass(slots=True)
class Allowance:
    """What learning and judging may cost: units of work, or seconds where there is a deadline.

    Equal seeds give equal results, so that without a deadline no clock is looked at.

    Attributes
    ----------
    work
        Units of work that are left; infinite where there is a deadline.
    until
        Time in seconds since the epoch by which to be ready; None without a deadline.
    left_out
        Names of the families that did not fit, or were ended because they took longer.
    """

    work: float
    until: float | None = None
    left_out: list[str] = field(default_factory=list)
    _spent: float = 0.0
    _seconds: float = 0.0

    @classmethod
    def of(cls, outputs: int, width: int, until: float | None) -> Self:
        """For an audit of so many outputs of this width."""
        if until is not None:
            return cls(float("inf"), until)
        return cls(max(_TIMES_SAMPLING * outputs * width, _LEAST_WORK))

    def fits(self, family: Family, work: float) -> bool:
        """Whether there is enough left; takes note of a family that does not fit."""
        fitting = work <= self.work
        if self.until is not None:
            # This machine may be slower than others, and numbers of some outputs take longer.
            unit = max(_UNIT, self._seconds / self._spent if self._spent else 0.0)
            fitting = clock() + work * unit <= self.until
        if not fitting:
            self.left_out.append(family.name)
        return fitting

    def spend(self, family: Family, work: float, do: Callable[[], Any]) -> Any:
        """Do what takes a family so much work, and return what it gives; None where the time is over before."""
        if self.until is None:
            self.work -= work
            return do()
        begun, made = clock(), None
        try:
            with ready_by(self.until):
                made = do()
        except TooLongError:
            self.left_out.append(family.name)
        self._spent += work
        self._seconds += max(0.0, clock() - begun)
        return made
