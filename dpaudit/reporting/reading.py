"""What a reader is told first of a claim: where it holds and why, the result that says most, its witness worked out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpaudit.claims.evidence import Counterexample, Interval, Violation
from dpaudit.claims.record import Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import ClaimGroup, LabelledResult
from dpaudit.reporting.guarantees import allowed_in_words, approximate_in_words, guarantee_of
from dpaudit.reporting.numbers import format_number, telling_digits
from dpaudit.reporting.settings import Setting, regions
from dpaudit.reporting.wording import contradiction

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

SYMBOLS = {
    Verdict.PROVED: "✓",
    Verdict.CERTIFIED: "✓",
    Verdict.CONSISTENT: "≈",
    Verdict.REFUTED: "✗",
    Verdict.VACUOUS: "∅",
    Verdict.INAPPLICABLE: "–",
    Verdict.INCONCLUSIVE: "?",
    Verdict.ERROR: "!",
}
"""What stands for a verdict where there is no room for the word."""

_MOST_SETTINGS = 3
_MOST_DETAILS = 4
_EXACT = "exact"


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
    """Return at how many of the audited settings, and at which, a claim has which verdict, without a full stop."""
    counts, total = verdict_counts(claim), len(claim.cells)
    first, rest = counts[0][0], counts[1:]
    if total == 1:
        return _capital(first)
    if not rest:
        return f"{_capital(first)} at {'both' if total == 2 else f'all {total}'} settings"
    where = verdict_regions(cell.result for cell in claim.cells)
    told: list[str] = []
    for verdict, number in counts:
        share = f" of the {total} audited settings" if not told else ""
        told.append(f"{verdict} at {number}{share}" + (f" ({where[verdict]})" if verdict in where else ""))
    return _capital(", ".join(told))


def verdict_regions(results: Iterable[Result]) -> dict[Verdict, str]:
    """Return what describes the settings of each verdict among all that are given, where anything simple does."""
    settings: dict[Verdict, list[Setting]] = {}
    for result in sorted(results, key=lambda result: TELLING.index(result.verdict)):
        settings.setdefault(result.verdict, []).append(Setting.of(result))
    return regions(settings)


def verdicts_in_words(cells: Sequence[LabelledResult]) -> str:
    """Return how many of some cells have which verdict, the most telling one first."""
    counts = Counter(cell.result.verdict for cell in cells)
    told = [f"{verdict} at {counts[verdict]}" for verdict in TELLING if counts[verdict]]
    if len(told) == 1:
        return f"{next(iter(counts))} at every point" if len(cells) > 1 else str(next(iter(counts)))
    return f"{', '.join(told)} of {len(cells)} points"


def most_telling(claim: ClaimGroup) -> LabelledResult:
    """Return the cell that says most: of the most telling verdict, exact if any is, closest to the claim or past it."""
    return min(claim.cells, key=lambda cell: rank(cell.result))


def whys(claim: ClaimGroup) -> tuple[Why, ...]:
    """Return the reasons for the verdicts that are as expected, the most telling verdict first."""
    groups: dict[tuple[Verdict, str], list[LabelledResult]] = {}
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
    return "By hand" if isinstance(result.witness, Violation) else "In short"


def worked_out(result: Result) -> str:
    """Return the inequality that a witness breaks, with its numbers in place; empty where there is none."""
    witness = result.witness
    if witness is None:
        return ""
    if isinstance(witness, Counterexample):
        return f"{_compared(result, witness)}{_details(witness)}"
    guarantee = guarantee_of(result)
    if not 0 <= witness.q <= 1:
        return ""
    if guarantee is not None:
        allowed, formula = guarantee.most(witness.q), allowed_in_words(guarantee)
    elif result.claimed.get("epsilon", 0.0) < 0:
        # No guarantee has so small an epsilon, but a paper's formula may come to one.
        allowed = math.exp(result.claimed["epsilon"]) * witness.q + result.claimed.get("delta", 0.0)
        formula = approximate_in_words(result.claimed)
    else:
        return ""
    if not witness.p > allowed:
        return ""
    frequencies = "" if result.method in (_EXACT, "likelihood") else "; both are frequencies in samples"
    p, most = _told_apart(witness.p, allowed)
    return (
        f"The claim allows p ≤ {formula + ' = ' if formula else ''}{most} at q = {format_number(witness.q)}, "
        f"and p = {p}{frequencies}"
    )


def _compared(result: Result, witness: Counterexample) -> str:
    """What must be so by the claim, and what is."""
    if result.kind != "lemma":
        return f"{witness.quantity} {contradiction(result, witness)}"
    if "actual" in witness.details:
        # The scope says what the two numbers of a lemma are, some by these names.
        return f"{'actual value ' * ('(actual)' in result.scope)}{contradiction(result, witness)}"
    return f"the claim is missed by {format_number(abs(witness.measured - witness.claimed))}"


def _details(witness: Counterexample) -> str:
    """Further numbers of a counterexample, without the two that are compared."""
    further = {name: value for name, value in witness.details.items() if name not in ("actual", "claimed")}
    words = ", ".join(f"{name} {format_number(value)}" for name, value in list(further.items())[:_MOST_DETAILS])
    return f" ({words})" if words else ""


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to see which is larger."""
    digits = telling_digits(Interval.exact(one), other)
    return format_number(one, digits=digits), format_number(other, digits=digits)


def rank(result: Result) -> tuple[int, bool, bool, float]:
    """Key by which results sort, what says most first."""
    known = [result.measured[name] for name in ("tightness", "slack") if name in result.measured]
    tightness = known[0].lower if known and known[0].lower is not None else math.inf
    return TELLING.index(result.verdict), result.ok, result.method != _EXACT, tightness


def _settings(cells: list[LabelledResult]) -> str:
    labels = [cell.label for cell in cells if cell.label]
    return "; ".join(labels) if len(labels) <= _MOST_SETTINGS else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
