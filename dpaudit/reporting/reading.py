"""What a reader is told first of a claim: where it holds and why, the result that says most, its witness worked out."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from dpaudit.claims.evidence import Interval, Violation
from dpaudit.claims.record import Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import Cell, ClaimGroup
from dpaudit.reporting.numbers import format_number, telling_digits

TELLING = (
    Verdict.ERROR,
    Verdict.REFUTED,
    Verdict.INCONCLUSIVE,
    Verdict.VACUOUS,
    Verdict.PROVED,
    Verdict.CERTIFIED,
    Verdict.CONSISTENT,
    Verdict.INAPPLICABLE,
)
"""The verdicts, the one first that a reader has to know of a claim before all others."""

_MOST_SETTINGS = 3
_EXACT = "exact"
_OVERFLOW = 700.0
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Cells of one verdict for one reason.

    Attributes
    ----------
    count
        How many cells there are.
    where
        Their settings, if they are few and not all of the claim's; empty otherwise.
    reason
        The plan's reason; empty where no plan expected the verdict.
    """

    verdict: Verdict
    count: int
    where: str
    reason: str


def verdict_counts(claim: ClaimGroup) -> tuple[tuple[Verdict, int], ...]:
    """Count the verdicts of a claim, the most telling one first."""
    counts = Counter(cell.result.verdict for cell in claim.cells)
    return tuple((verdict, counts[verdict]) for verdict in TELLING if counts[verdict])


def verdict_sentence(claim: ClaimGroup) -> str:
    """Return at how many settings a claim has which verdict, without a full stop."""
    counts, total = verdict_counts(claim), len(claim.cells)
    (first, count), rest = counts[0], counts[1:]
    if total == 1:
        return _capital(first)
    if not rest:
        return f"{_capital(first)} at {'both' if total == 2 else f'all {total}'} settings"
    others = [f"{verdict} at {number}" for verdict, number in rest]
    return f"{_capital(first)} at {count} of {total} settings, " + ", ".join(others)


def most_telling(claim: ClaimGroup) -> Cell:
    """Return the cell that says most: of the most telling verdict, exact if any is, closest to the claim or past it."""
    return min(claim.cells, key=lambda cell: _rank(cell.result))


def whys(claim: ClaimGroup) -> tuple[Why, ...]:
    """Return the reasons for the verdicts that are as expected, the most telling verdict first."""
    groups: dict[tuple[Verdict, str], list[Cell]] = {}
    for cell in sorted(claim.cells, key=lambda cell: TELLING.index(cell.result.verdict)):
        if cell.result.reason and cell.result.ok:
            groups.setdefault((cell.result.verdict, cell.result.reason), []).append(cell)
    return tuple(
        Why(
            verdict=verdict,
            count=len(cells),
            where=_settings(cells) if len(cells) < len(claim.cells) else "",
            reason=reason,
        )
        for (verdict, reason), cells in groups.items()
    )


def by_hand(result: Result) -> str:
    """Return what introduces `worked_out`: only where a reader can follow it is it worked out by hand."""
    return "By hand" if result.kind == "privacy" else "In short"


def worked_out(result: Result) -> str:
    """Return the inequality that a witness breaks, with its numbers in place; empty where there is none.

    A privacy claim says p <= e^epsilon q + delta of every event; any other witness says itself what p and q are.
    """
    witness = result.witness
    if witness is None:
        return ""
    if not isinstance(witness, Violation):
        p, q = _told_apart(witness.measured, witness.claimed)
        side = "" if witness.direction == "equal" else f"{witness.direction.replace('-', ' ')} "
        return f"measured {p}, claimed {side}{q}"
    epsilon, delta = result.claimed.get("epsilon"), result.claimed.get("delta", 0.0)
    if epsilon is None or epsilon > _OVERFLOW:
        return ""
    allowed = math.exp(epsilon) * witness.q + delta
    if not witness.p > allowed:
        return ""
    frequencies = "" if result.method in (_EXACT, "likelihood") else "; both are frequencies in samples"
    plus = f" + {_number(delta)}" if delta else ""
    p, most = _told_apart(witness.p, allowed)
    return (
        f"The claim allows p ≤ e^{_number(epsilon)} × q{plus} = {most} at q = {_number(witness.q)}, "
        f"and p = {p}{frequencies}"
    )


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to see which is larger."""
    digits = max(_DIGITS, telling_digits(Interval.exact(one), other))
    return format_number(one, digits=digits), format_number(other, digits=digits)


def _rank(result: Result) -> tuple[int, bool, bool, float]:
    known = [result.measured[name] for name in ("tightness", "slack") if name in result.measured]
    tightness = known[0].lower if known and known[0].lower is not None else math.inf
    return TELLING.index(result.verdict), result.ok, result.method != _EXACT, tightness


def _settings(cells: list[Cell]) -> str:
    labels = [cell.label for cell in cells if cell.label]
    return "; ".join(labels) if len(labels) <= _MOST_SETTINGS else ""


def _number(value: float) -> str:
    return format_number(value, digits=_DIGITS)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
