"""A record of many results, of which few are in memory at a time: what is known of all, and parts of it as records."""

from __future__ import annotations

import hashlib
import weakref
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dpaudit.claims import kept
from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import ABSENT, Labels, TargetGroup, claim_order, format_value, group_results
from dpaudit.reporting.reading import TELLING, rank

MOST_SHOWN: Final = 100
"""Of what needs attention a summary shows so much; of more than this, the pages of the report show all."""

PER_PAGE: Final = 1000
"""Results on a page of a report of several pages."""

_MOST_KINDS = 20


def is_large(record: Record) -> bool:
    """Return whether a record has so many results that reports summarise it, and HTML has several pages."""
    return len(record.results) > kept.MOST_AT_ONCE


@dataclass(slots=True, kw_only=True)
class Alike:
    """Results of a claim with one verdict by one method: the place of the first one, and how many there are."""

    place: int
    count: int = 0


@dataclass(slots=True, kw_only=True)
class ClaimOverview:
    """The results of one claim about one target.

    Attributes
    ----------
    places
        Places of the results in the record.
    kinds
        Those alike, by verdict, method and whether they are as expected.
    telling
        Place of the result that says most.
    """

    target: str
    claim: str
    places: array[int] = field(default_factory=lambda: array("Q"))
    kinds: dict[tuple[Verdict, str, bool], Alike] = field(default_factory=dict)
    telling: int = 0
    _rank: tuple[int, bool, bool, float] | None = None
    _values: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _varying: dict[str, None] = field(default_factory=dict)
    _rows: set[bytes] = field(default_factory=set)
    _ways: set[bytes] = field(default_factory=set)

    def add(self, place: int, result: Result) -> None:
        """Take note of a result."""
        self.places.append(place)
        kind = (result.verdict, result.method, result.ok)
        if kind not in self.kinds and len(self.kinds) >= _MOST_KINDS:
            kind = (result.verdict, "", result.ok)
        self.kinds.setdefault(kind, Alike(place=place)).count += 1
        found = rank(result)
        if self._rank is None or found < self._rank:
            self._rank, self.telling = found, place
        row = {name: format_value(value) for name, value in result.parameters.items()}
        for name, value in row.items():
            self._counts[name] = self._counts.get(name, 0) + 1
            if self._values.setdefault(name, value) != value:
                self._varying[name] = None
        text = repr(sorted(item for item in row.items() if item[1] != ABSENT))
        self._rows.add(_digest(text))
        self._ways.add(_digest(f"{text} {result.method}"))

    @property
    def labels(self) -> Labels:
        """What tells these results apart."""
        total = len(self.places)
        names = [name for name in self._counts if name in self._varying or self._counts[name] < total]
        return Labels(varying=tuple(names), distinct=len(self._rows) == total, by_method=len(self._ways) == total)

    @property
    def counts(self) -> tuple[tuple[Verdict, int], ...]:
        """The verdicts with their counts, the most telling one first."""
        found = {
            verdict: sum(alike.count for kind, alike in self.kinds.items() if kind[0] is verdict) for verdict in TELLING
        }
        return tuple((verdict, count) for verdict, count in found.items() if count)


class Overview:
    """What is known of all results of a record.

    Attributes
    ----------
    claims
        The claims, by target and claim, in the order in which they first occur.
    bad
        Places of the results that are not ok.
    """

    def __init__(self, results: Sequence[Result]) -> None:
        self.claims: dict[tuple[str, str], ClaimOverview] = {}
        self.bad = array("Q")
        stand_ins: dict[tuple[object, ...], Result] = {}
        light = []
        for place, result in enumerate(results):
            key = (result.target, result.claim)
            claim = self.claims.get(key)
            if claim is None:
                claim = self.claims[key] = ClaimOverview(target=result.target, claim=result.claim)
            claim.add(place, result)
            if not result.ok:
                self.bad.append(place)
            alike = (*key, result.kind, result.verdict, result.expected, result.ok, result.error_probability)
            if alike not in stand_ins:
                stand_ins[alike] = replace(
                    result, parameters={}, measured={}, witness=None, curves=None, growth=None, note="", command=""
                )
            light.append(stand_ins[alike])
        self._light = tuple(light)

    def light(self, record: Record) -> Record:
        """Return the record, in whose results only verdicts, expectations and error probabilities count.

        Equal ones are one object, so that it takes little memory.
        """
        return replace(record, results=self._light)

    def ordered(self, record: Record) -> list[ClaimOverview]:
        """Claims in the order of a report: by their places in papers, and equal ones as they first occur."""
        by_target: dict[str, list[ClaimOverview]] = {}
        for claim in self.claims.values():
            by_target.setdefault(claim.target, []).append(claim)

        def order(claim: ClaimOverview) -> tuple[object, ...]:
            return claim_order(record.claims[claim.claim])

        targets = [sorted(claims, key=order) for claims in by_target.values()]
        return [claim for claims in sorted(targets, key=lambda claims: order(claims[0])) for claim in claims]

    def part(self, record: Record, places: Sequence[int]) -> tuple[TargetGroup, ...]:
        """Return some results in groups, with the numbers and labels that they have in the whole record."""
        part = replace(record, results=tuple(record.results[place] for place in places))
        labels = {key: self.claims[key].labels for key in {(each.target, each.claim) for each in part.results}}
        return group_results(part, numbers=[place + 1 for place in places], labels=labels)

    def pages(self, record: Record) -> Iterator[array[int]]:
        """Return the places of the results of each page: all, in the order of a report."""
        page = array("Q")
        for claim in self.ordered(record):
            for place in claim.places:
                page.append(place)
                if len(page) == PER_PAGE:
                    yield page
                    page = array("Q")
        if page:
            yield page


_last: tuple[weakref.ref[kept.ResultFile], Overview] | None = None


def overview_of(record: Record) -> Overview:
    """Return what is known of all results of a record; the last one is kept as long as its results are."""
    global _last
    results = record.results
    if _last is not None and _last[0]() is results:
        return _last[1]
    found = Overview(results)
    if isinstance(results, kept.ResultFile):
        _last = weakref.ref(results), found
    return found


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
