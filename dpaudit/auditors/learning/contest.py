"""The contest of families of scores: each learns a score on one part of the samples and is judged on another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, cast

import numpy as np

from dpaudit.auditors.learning.counts import Counts, FinalTest, Sides, caution_for, caution_of
from dpaudit.auditors.learning.score_families import FAMILIES, Allowance, Family, Form
from dpaudit.auditors.learning.scores import CombinedScore, OutcomeScore, Score, scores_of
from dpaudit.auditors.outputs.outputs import Outputs

_FINALISTS = 3
"""Families that learn from all rows where there are many, of those that did best on few: so many by their bound, and so
many by how far they tell the inputs apart; and scores that trees build on. Chosen by hand, for time; it was 2 until
weak effects were looked for in common events."""

_SCREENED = 8
"""One over the part of the rows on which families compete first. Chosen by hand, for time."""

_CLEAR_FINALISTS = 2
"""As `_FINALISTS`, where an event stands out on these rows already."""

_FAR_MORE = 2.0
"""How many times the work of another finalist one must take, to be left out where the other does about as well: as far
apart but for one standard error, and with a promise less by no more than `_ABOUT_AS_MUCH`. Chosen by hand, for time."""

_ABOUT_AS_MUCH = 0.05
"""Part of a promise by which two finalists differ by luck there. Chosen by hand."""

_CELLS = 4_000_000
"""Numbers, per input, that a score is fitted and judged on in the end. Chosen by hand, for time."""

_FEW_CELLS = 1_000_000
"""Numbers, per input, that a score is fitted and judged on to compete with others. Measured: with 200,000, weak effects
were lost; with a fifth of the rows, one of three bounds for Laplace noise shifted in 5 of 20 columns fell from 0.116 to
0.047 (benchmarks/speed.md)."""

_LEAST_ROWS = 10_000
"""Outputs that these numbers make, at least, however wide they are. Chosen by hand; it was 20,000 before."""

_MOST_ROWS = 200_000
"""Outputs that they make, at most. What looks for rare outputs has no limit. Chosen by hand, for time."""

_TO_COMPARE = 1.25
"""Standard errors of caution by which families of scores are ranked that have learned from few rows. Chosen by hand:
the band of all events would leave nothing to rank where effects are weak."""

CHEAP_ENOUGH = 0.01
"""Part of the largest promise by which another may fall short of it and count as equal, so that the score that costs
less is taken. Chosen by hand. With 0.005 or 0.02, the mean in benchmarks/sensitivity.md stays, and one row changes by
up to 0.005 of the oracle's bound."""


@dataclass(frozen=True, slots=True)
class Competition:
    """Scores that have competed, in the order of their families.

    Attributes
    ----------
    tables
        Counts of their events.
    form, families
        What the outputs look like, and the family of every score.
    left_out
        Names of families that took too long.
    """

    tables: list[Counts]
    form: Form
    families: tuple[Family, ...] = ()
    left_out: tuple[str, ...] = ()


def compete(x: Outputs, y: Outputs, test: FinalTest, *, thorough: bool, until: float | None = None) -> Competition:
    """Scores learned on one half, with counts of their events on the other; quick ones only unless ``thorough``."""
    contest = Contest(x, y, test, thorough=thorough, until=until)
    tried = sorted(contest.tables(), key=lambda item: item[0])
    tables = [table for _, table in tried] or [Counts.of(_anything(), contest.judge)]
    families = tuple(contest.families[place] for place, _ in tried)
    return Competition(tables, contest.form, families, tuple(contest.allowance.left_out))


class Contest:
    """Families of scores that are tried in the order of what they cost, as long as the allowance lasts."""

    def __init__(self, x: Outputs, y: Outputs, test: FinalTest, *, thorough: bool, until: float | None) -> None:
        half = len(x) // 2
        self.test = test
        self.both = x, y
        self.learn, self.judge = (x[:half], y[:half]), (x[half:], y[half:])
        self.form = Form.of(*self.learn, thorough=thorough)
        self.families = [family for family in FAMILIES if family.suits(self.form)]
        self.allowance = Allowance.of(2 * (test.size + len(x)), self.form.width, until)
        self._rows = min(_MOST_ROWS, max(_LEAST_ROWS, _CELLS // self.form.width))
        few = max(_LEAST_ROWS, _FEW_CELLS // self.form.width)
        self._few, self._quick = (_first(_first(sides, self._rows), few) for sides in (self.learn, self.judge))

    def tables(self) -> Iterator[tuple[int, Counts]]:
        """Yield the place of every family that has learned a score, and counts of its events."""
        made: list[tuple[int, Counts]] = []
        for family in sorted(self._entrants(), key=lambda family: (family.combines, self._work(family))):
            work = self._work(family)
            if not self.allowance.fits(family, work):
                continue
            table = self.allowance.spend(family, work, partial(self._table, family, made))
            if table is not None:
                made.append((self.families.index(family), table))
                yield made[-1]

    def _entrants(self) -> list[Family]:
        """Families that compete: of those for which few outputs do, the best there, where there are many outputs."""
        whole = [family for family in self.families if family.rare or family.always or family.combines]
        others = [family for family in self.families if family not in whole]
        rows = min(self._rows, len(self.learn[0]))
        if rows >= _SCREENED * _LEAST_ROWS and len(others) > _FINALISTS:
            marks = _marks(self.form, others, self.learn, self.judge, rows // _SCREENED, self.test)
            # What an event promises is hardly luck here, so that it is told with the caution of all that compete.
            clear = {family: mark._replace(promised=mark.clear) for family, mark in marks.items() if mark.clear > 0}
            if clear:
                return whole + _worth_their_cost(_finalists(clear, _CLEAR_FINALISTS), clear, self._work)
        if rows > 2 * len(self._few[0]) and len(others) > _FINALISTS:
            marks = _marks(self.form, others, self._few, self._quick, len(self._few[0]), self.test)
            others = _finalists(marks, _FINALISTS)
        return whole + others

    def _work(self, family: Family) -> float:
        """Units of work of a family."""
        rows = len(self.learn[0]) if family.rare else min(self._rows, len(self.learn[0]))
        return family.work(self.form, 2 * (rows + len(self.judge[0])))

    def _table(self, family: Family, made: list[tuple[int, Counts]]) -> Counts | None:
        """Counts of the events of a score that a family learns; None where it has nothing to say."""
        if family.combines:
            return self._combined(family, [table for _, table in sorted(made, key=lambda item: item[0])])
        score = family.fit(self.form, *(self.learn if family.rare else _first(self.learn, self._rows)))
        if score is None:
            return None
        # What is not learned may be judged on all samples.
        return Counts.of(score, self.judge if family.learns(self.form) else self.both)

    def _combined(self, family: Family, tables: list[Counts]) -> Counts | None:
        """As :meth:`_table`, where a quick attempt shows that the family sees more than the scores tried so far."""
        if not tables:
            return None
        caution = caution_of(tables)
        best = sorted(tables, key=lambda table: -table.best(self.test, caution).predicted)[:_FINALISTS]
        others = tuple(table.score for table in best)
        probe = cast("CombinedScore | None", family.fit(self.form, *self.learn, others, probe=True))
        if probe is None:
            return None
        found = [
            probe.of_features(side, [self._quick_scores(table, place) for table in best])
            for place, side in enumerate(self._quick)
        ]
        promised = Counts.counted(probe, (found[0], found[1])).best(self.test, caution).predicted
        reached = max(table.of_first(len(self._quick[0])).best(self.test, caution).predicted for table in best)
        if promised <= max(reached, 0.0) * (1 + 2 * CHEAP_ENOUGH) + CHEAP_ENOUGH:
            return None
        score = family.fit(self.form, *self.learn, others, probe=False)
        return None if score is None else Counts.of(score, self.judge)

    def _quick_scores(self, table: Counts, side: int) -> np.ndarray:
        """Scores of the first outputs of a side that judge; what is not learned was judged on those before them too."""
        scores = table.scores[side]
        begin = len(scores) - len(self.judge[side])
        return scores[begin : begin + len(self._quick[side])]


def _first(sides: Sides, rows: int) -> Sides:
    return sides[0][:rows], sides[1][:rows]


class _Mark(NamedTuple):
    """How a family does that was fitted and judged on a few samples.

    Attributes
    ----------
    promised
        Bound that it promises, with little caution.
    apart
        Standard errors by which the means of its score differ.
    clear
        Bound that it promises with the caution of all families that compete; above 0 where an event stands out.
    """

    promised: float
    apart: float
    clear: float


def _marks(
    form: Form, families: list[Family], learn: Sides, judge: Sides, rows: int, test: FinalTest
) -> dict[Family, _Mark]:
    """Fit families to so many of the samples that learn, and judge them on as many others."""
    found: dict[Family, _Mark] = {}
    caution = caution_for([rows] * len(families))
    for family in families:
        score = family.fit(form, *_first(learn, rows))
        if score is not None:
            sides = [scores_of(score, side) for side in _first(judge, rows)]
            # Some scores do not say which input is likelier.
            shift = abs(sides[0].mean() - sides[1].mean())
            spread = np.sqrt((sides[0].var() + sides[1].var()) / rows)
            counts = Counts.counted(score, (sides[0], sides[1]))
            found[family] = _Mark(
                promised=counts.best(test, _TO_COMPARE).predicted,
                apart=shift / spread if spread > 0 else 0.0,
                clear=counts.best(test, caution).predicted,
            )
    return found


def _finalists(marks: dict[Family, _Mark], number: int) -> list[Family]:
    """So many families by the bound that they promise, and so many by how far they tell the inputs apart."""
    kept = set(sorted(marks, key=lambda family: marks[family].promised, reverse=True)[:number])
    kept |= set(sorted(marks, key=lambda family: marks[family].apart, reverse=True)[:number])
    return [family for family in marks if family in kept]


def _worth_their_cost(
    finalists: list[Family], marks: dict[Family, _Mark], work: Callable[[Family], float]
) -> list[Family]:
    """Finalists but those that cost far more than another one which does about as well."""

    def as_good(other: Family, family: Family) -> bool:
        clear, apart = marks[family].clear * (1 - _ABOUT_AS_MUCH), marks[family].apart - 1
        return marks[other].clear >= clear and marks[other].apart >= apart

    return [
        family
        for family in finalists
        if not any(work(family) >= _FAR_MORE * work(other) and as_good(other, family) for other in finalists)
    ]


def _anything() -> Score:
    """Score under which all outputs are alike, where nothing can be learned."""
    nothing = np.empty(0)
    return OutcomeScore("text", nothing.astype(str), nothing, nothing)
