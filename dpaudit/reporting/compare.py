"""Two records compared: which verdicts and which numbers changed between them."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from typing import TypeVar

from dpaudit.claims.evidence import Interval
from dpaudit.claims.record import Partial, Record, Result, plain
from dpaudit.reporting.groups import format_value
from dpaudit.reporting.markdown import escape
from dpaudit.reporting.numbers import format_interval, format_number
from dpaudit.reporting.wording import clean

_RELATIVE = 1e-9
"""Numbers that differ by less are equal: another processor may round the last digits differently."""

LARGEST_COMMENT = 60_000
"""Characters of a comparison in Markdown, about; a comment on GitHub holds 65,536."""

_KINDS = {
    "verdict": "other verdict",
    "removed": "removed",
    "added": "added",
    "expectation": "other expectation",
    "numbers": "other numbers only",
}

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One cell that is not the same in both records.

    Attributes
    ----------
    target, claim, parameters
        The cell.
    kind
        ``verdict``, ``removed``, ``added``, ``expectation`` (another verdict is expected), or ``numbers``.
    old, new
        Verdicts; None on the side that lacks the cell.
    details
        What differs besides, each as text: (name, old, new).
    ok
        Whether a cell that is new is as expected; True for all others.
    unexpected
        Whether the new verdict is not as expected.
    """

    target: str
    claim: str
    parameters: str
    kind: str
    old: str | None
    new: str | None
    details: tuple[tuple[str, str, str], ...] = ()
    ok: bool = True
    unexpected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordComparison:
    """What changed between two records, what matters most first, and how many cells did not.

    ``runs`` says in what the runs differ, of what decides numbers: (name, old, new). ``partial`` says of both records,
    by ``old`` and ``new``, how much of its run one has that was interrupted.
    """

    changes: tuple[Change, ...]
    unchanged: int
    runs: tuple[tuple[str, str, str], ...] = ()
    partial: Mapping[str, Partial | None] = field(default_factory=dict)

    @property
    def same_verdicts(self) -> bool:
        """Whether the new record has every cell of the old one with its verdict, and what is added is as expected."""
        return not any(change.kind in ("verdict", "removed") or not change.ok for change in self.changes)


def compare_records(old: Record, new: Record) -> RecordComparison:
    """Compare two records cell by cell: target, claim and parameters say which belong together.

    Numbers are equal up to a relative 1e-9; samples, environments and times, also measured ones, are not looked at, and
    seeds are only told. Of large records few results are in memory at a time.
    """
    first, second = _Contents(old), _Contents(new)
    several = first.several | second.several
    before, after = first.places(several), second.places(several)
    changes = []
    for key in dict.fromkeys([*before, *after]):
        one, other = before.get(key), after.get(key)
        change = _change(
            None if one is None else old.results[one], None if other is None else new.results[other], method=key[1]
        )
        if change is not None:
            changes.append(change)
    unchanged = len({*before, *after}) - len(changes)
    changes.sort(key=lambda change: (not change.unexpected, list(_KINDS).index(change.kind)))
    return RecordComparison(
        changes=tuple(changes),
        unchanged=unchanged,
        runs=tuple(_runs(first, second)),
        partial={"old": old.partial, "new": new.partial},
    )


class _Contents:
    """What is known of all results of a record, which may be too many to be in memory at once."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.error_probabilities: set[float] = set()
        self._cells: list[bytes] = []
        self._methods: list[str] = []
        for result in record.results:
            self._cells.append(_cell(result))
            self._methods.append(sys.intern(result.method))
            if result.error_probability is not None:
                self.error_probabilities.add(result.error_probability)

    @property
    def several(self) -> set[bytes]:
        """Cells that are audited in several ways."""
        return {cell for cell, count in Counter(self._cells).items() if count > 1}

    def places(self, several: Set[bytes]) -> dict[tuple[bytes, str, int], int]:
        """Return places by cell; results of one in several ways are told apart by the method, and then counted."""
        found: dict[tuple[bytes, str, int], int] = {}
        before: Counter[tuple[bytes, str]] = Counter()
        for place, (cell, method) in enumerate(zip(self._cells, self._methods, strict=True)):
            if cell in several:
                found[cell, method, before[cell, method]] = place
                before[cell, method] += 1
            else:
                found[cell, "", 0] = place
        return found


def _cell(result: Result) -> bytes:
    """Digest of what says which cell a result is of."""
    text = json.dumps([result.target, result.claim, plain(result.parameters)], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _runs(old: _Contents, new: _Contents) -> Iterator[tuple[str, str, str]]:
    for name in ("version", "seed"):
        one, other = getattr(old.record, name), getattr(new.record, name)
        if one != other:
            yield name, format_value(one), format_value(other)
    before, after = (
        ", ".join(format_number(value) for value in sorted(each.error_probabilities)) for each in (old, new)
    )
    if before and after and before != after:
        yield "error probability of a result", before, after


def _change(old: Result | None, new: Result | None, *, method: str) -> Change | None:
    present = new or old
    assert present is not None
    details = tuple(_details(old, new)) if old and new else ()
    if old is None or new is None:
        kind = "added" if old is None else "removed"
    elif old.verdict is not new.verdict:
        kind = "verdict"
    elif old.expected is not new.expected:
        kind = "expectation"
    elif details:
        kind = "numbers"
    else:
        return None
    return Change(
        target=present.target,
        claim=present.claim,
        parameters=", ".join(
            [
                *(f"{name}={format_value(value)}" for name, value in present.parameters.items()),
                *([method] * bool(method)),
            ]
        ),
        kind=kind,
        old=old.verdict.value if old else None,
        new=new.verdict.value if new else None,
        details=details,
        ok=old is not None or present.ok,
        unexpected=new is not None and not new.ok and kind != "numbers",
    )


def _details(old: Result, new: Result) -> Iterator[tuple[str, str, str]]:
    for name in ("method", "expected"):
        one, other = getattr(old, name), getattr(new, name)
        if one != other:
            yield name, str(one or "none"), str(other or "none")
    if old.expected is not new.expected and old.reason != new.reason:
        yield "because", old.reason or "none", new.reason or "none"
    yield from _differing("claimed ", old.claimed, new.claimed, _equal_numbers, format_number)
    if not (old.timed or new.timed):
        yield from _differing("", old.measured, new.measured, _equal_intervals, format_interval)


def _differing(
    prefix: str,
    old: Mapping[str, Value],
    new: Mapping[str, Value],
    equal: Callable[[Value, Value], bool],
    show: Callable[[Value], str],
) -> Iterator[tuple[str, str, str]]:
    for name in dict.fromkeys([*old, *new]):
        if name not in old or name not in new:
            before, after = (show(side[name]) if name in side else "none" for side in (old, new))
            yield prefix + name, before, after
        elif not equal(old[name], new[name]):
            before, after = show(old[name]), show(new[name])
            if before == after:
                # The difference is beyond the printed digits.
                before, after = json.dumps(plain(old[name])), json.dumps(plain(new[name]))
            yield prefix + name, before, after


def _equal_numbers(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=_RELATIVE)


def _equal_intervals(a: Interval, b: Interval) -> bool:
    sides = ((a.lower, b.lower), (a.upper, b.upper), (a.estimate, b.estimate))
    return all(_equal_numbers(one, other) for one, other in sides)


def render_comparison(comparison: RecordComparison, form: str) -> str:
    """Return a comparison as ``text``, ``markdown`` or ``json``."""
    if form == "json":
        content = {
            "changes": [asdict(change) for change in comparison.changes],
            "unchanged": comparison.unchanged,
            "runs": comparison.runs,
            "partial": {side: None if each is None else asdict(each) for side, each in comparison.partial.items()},
        }
        return clean(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    if form == "markdown":
        lines = [f"**{escape(_summary(comparison))}**", ""]
        if comparison.runs:
            lines += [f"{escape(_run_line(comparison))}.", ""]
        lines += [line for text in _interruptions(comparison) for line in (f"{escape(text)}.", "")]
        numbers = [change for change in comparison.changes if change.kind == "numbers"]
        lines += _table([change for change in comparison.changes if change.kind != "numbers"], LARGEST_COMMENT // 2)
        if numbers:
            summary = f"{len(numbers)} with other numbers only"
            table = _table(numbers, LARGEST_COMMENT // 3)
            lines += ["<details>", f"<summary>{summary}</summary>", "", *table, "</details>"]
    else:
        lines = [_summary(comparison), *([_run_line(comparison)] if comparison.runs else [])]
        lines += _interruptions(comparison)
        for change in comparison.changes:
            where = f" at {change.parameters}" if change.parameters else ""
            lines.append(f"{_headline(change)}: {change.target}, {change.claim}{where}")
            lines += [f"    {name}: {before} -> {after}" for name, before, after in change.details]
    return clean("\n".join(lines).rstrip() + "\n")


def _table(changes: Sequence[Change], largest: int) -> list[str]:
    """Rows of a table, as many as take no more characters than the largest number."""
    if not changes:
        return []
    lines = ["| Claim | Parameters | Change | What differs |", "| --- | --- | --- | --- |"]
    for done, change in enumerate(changes):
        columns = (f"{change.target}, {change.claim}", change.parameters, _headline(change), _differences(change))
        row = "| " + " | ".join(escape(column) or "-" for column in columns) + " |"
        largest -= len(row) + 1
        if largest < 0:
            return [*lines, "", f"{len(changes) - done} more: see them with `--format text`.", ""]
        lines.append(row)
    return [*lines, ""]


def _headline(change: Change) -> str:
    words = {
        "verdict": f"{change.old} -> {change.new}",
        "numbers": f"{change.new}, other numbers",
        "expectation": f"{change.new}, other expectation",
    }
    text = words.get(change.kind, f"{change.kind} ({change.new or change.old})")
    return f"{text}, not as expected" if change.unexpected else text


def _differences(change: Change) -> str:
    return "; ".join(f"{name}: {before} -> {after}" for name, before, after in change.details)


def _run_line(comparison: RecordComparison) -> str:
    differing = ", ".join(f"{name} {before} -> {after}" for name, before, after in comparison.runs)
    return f"the runs differ in {differing}; sampled numbers change with that"


def _interruptions(comparison: RecordComparison) -> Iterator[str]:
    for side, kind, other in (("old", "added", "new"), ("new", "removed", "old")):
        partial = comparison.partial.get(side)
        if partial is not None:
            have = "has" if partial.results == 1 else "have"
            yield (
                f"the run of the {side} record was interrupted: {partial.results} of {partial.cells} cells {have} a "
                f"result; a cell without one counts as {kind} if the {other} record has a result of it"
            )


def _summary(comparison: RecordComparison) -> str:
    counts = {words: sum(change.kind == kind for change in comparison.changes) for kind, words in _KINDS.items()}
    parts = [f"{count} {words}" for words, count in counts.items() if count]
    unexpected = sum(change.unexpected for change in comparison.changes)
    parts += [f"{comparison.unchanged} unchanged"]
    return ", ".join(parts) + (f"; {unexpected} of the changes not as expected" if unexpected else "")
