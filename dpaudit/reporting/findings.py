"""What was found of a paper, in sentences: composed from verdicts and places, in the paper's order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby

from dpaudit.claims.entries import PlaceEntry
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import LabelledResult
from dpaudit.reporting.papers import HOLDS, PaperClaim, PaperView
from dpaudit.reporting.settings import Setting, regions

_MOST_NAMES = 3
_BUT = ", but no violation was found"
"""What is known of a claim that is consistent wherever it was audited."""

_BRACKETS = re.compile(r"\([^()]*\)")


class _Outcome(IntEnum):
    """What a verdict says of a claim, what a reader has to know first coming first."""

    REFUTED = 0
    SILENT = 1
    OPEN = 2
    HOLDS = 3
    OUTSIDE = 4


_OUTCOMES = {
    **dict.fromkeys(HOLDS, _Outcome.HOLDS),
    Verdict.REFUTED: _Outcome.REFUTED,
    Verdict.VACUOUS: _Outcome.SILENT,
    Verdict.INAPPLICABLE: _Outcome.OUTSIDE,
    Verdict.CONSISTENT: _Outcome.OPEN,
    Verdict.INCONCLUSIVE: _Outcome.OPEN,
    Verdict.ERROR: _Outcome.OPEN,
}
_SHARED = ({_Outcome.HOLDS}, {_Outcome.OPEN})
"""What neighbouring places share a sentence for; what fails has a sentence for each claim."""

_ALIKE = (*_SHARED, {_Outcome.HOLDS, _Outcome.OPEN})
"""What the claims of one place share a sentence for."""

NUMBERED = ("theorem", "lemma", "corollary", "proposition", "observation", "fact")

_FAILING = (Verdict.REFUTED, Verdict.VACUOUS, Verdict.ERROR)
_VERBS = {
    _Outcome.REFUTED: ("is refuted", "are refuted"),
    _Outcome.SILENT: ("is true but says nothing", "are true but say nothing"),
    _Outcome.OPEN: ("is not decided", "are not decided"),
    _Outcome.HOLDS: ("holds", "hold"),
}


_VERDICTS = {
    _Outcome.REFUTED: Verdict.REFUTED,
    _Outcome.SILENT: Verdict.VACUOUS,
    _Outcome.OPEN: Verdict.CONSISTENT,
    _Outcome.HOLDS: Verdict.PROVED,
    _Outcome.OUTSIDE: Verdict.INAPPLICABLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One sentence, and the claims that it is about.

    ``outcome`` is the lowest that occurs: a finding says that something is refuted, says nothing, is undecided, or
    holds. ``brief`` is the sentence without the settings and without the outcomes that are no news.
    """

    text: str
    brief: str
    outcome: _Outcome
    claims: tuple[PaperClaim, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict that stands for the outcome."""
        return _VERDICTS[self.outcome]

    @property
    def leading(self) -> bool:
        """Whether a reader looks for it first: it is about a theorem or the like, or something fails."""
        return self.notable or self.numbered

    @property
    def numbered(self) -> bool:
        """Whether it is about a theorem or the like."""
        return any(place.kind in NUMBERED for claim in self.claims for place in claim.entry.places[:1])

    @property
    def quoted(self) -> str:
        """The sentence with what is claimed, where that is one statement and does not simply hold."""
        return f'{self.text.removesuffix(".")}: "{self.statement}"' if self.statement else self.text

    @property
    def statement(self) -> str:
        """What is claimed, where that is one statement and something fails; empty elsewhere."""
        statements = {claim.entry.statement for claim in self.claims}
        return statements.pop() if len(statements) == 1 and self.notable else ""

    @property
    def place(self) -> PlaceEntry:
        """The place that it is about."""
        first = self.claims[0]
        return first.entry.places[0] if first.entry.places else PlaceEntry(label=first.id)

    @property
    def notable(self) -> bool:
        """Whether something is refuted or says nothing somewhere."""
        return self.outcome <= _Outcome.SILENT

    @property
    def refuted(self) -> bool:
        """Whether something is refuted somewhere."""
        return self.outcome is _Outcome.REFUTED

    @property
    def cells(self) -> list[tuple[PaperClaim, LabelledResult]]:
        """Results of the outcome that it is about, each with its claim."""
        every = ((claim, cell) for claim in self.claims for group in claim.groups for cell in group.cells)
        return [(claim, cell) for claim, cell in every if _OUTCOMES[cell.result.verdict] is self.outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Claims with the same outcomes at one place, and what to call them."""

    subject: str
    plural: bool
    counts: Counter[_Outcome]
    claims: tuple[PaperClaim, ...]

    @property
    def settings(self) -> dict[_Outcome, list[Setting]]:
        """Settings of each outcome, the first outcome first."""
        cells = (cell for claim in self.claims for group in claim.groups for cell in group.cells)
        found: dict[_Outcome, list[Setting]] = {outcome: [] for outcome in sorted(self.counts)}
        for cell in cells:
            found[_OUTCOMES[cell.result.verdict]].append(Setting.of(cell.result))
        return found

    @property
    def shared(self) -> frozenset[_Outcome]:
        """The one outcome, where neighbouring places of that outcome share a sentence; empty elsewhere."""
        outcomes = frozenset(self.counts) - {_Outcome.OUTSIDE}
        return outcomes if outcomes in _SHARED else frozenset()


def findings(claims: Sequence[PaperClaim]) -> list[Finding]:
    """Return sentences in the given order: one for each claim that fails somewhere, one for the others of a place.

    Neighbouring places at which all holds share a sentence, and so do those at which nothing is decided.
    """
    found = []
    for shared, group in groupby(_parts(claims), key=lambda part: part.shared):
        parts = list(group)
        if shared:
            found.append(_finding(parts))
        else:
            found += [_finding([part]) for part in parts]
    return found


def summary_of(claims: Sequence[PaperClaim]) -> str:
    """Return how many claims hold, fail, and are not decided, in one sentence."""
    total, holding = len(claims), sum(claim.holds for claim in claims)
    if not total:
        return ""
    if total == 1:
        if claims[0].undecided:
            return "The one claim audited is not decided at some setting."
        return "The one claim audited holds." if holding else "The one claim audited does not hold everywhere."
    if holding == total:
        return f"{'Both' if total == 2 else f'All {total}'} claims audited hold wherever they apply."
    refuted = sum(claim.has(Verdict.REFUTED) for claim in claims)
    silent = sum(claim.has(Verdict.VACUOUS) and not claim.has(Verdict.REFUTED) for claim in claims)
    undecided = sum(claim.undecided for claim in claims)
    rest = total - holding - refuted - silent - undecided
    parts = [
        f"{holding or 'none'} hold{'s' * (holding == 1)} wherever audited",
        f"{refuted} {_is(refuted)} refuted somewhere" if refuted else "",
        f"{silent} {'says' if silent == 1 else 'say'} nothing somewhere" if silent else "",
        f"{undecided} {_is(undecided)} not decided at some setting" if undecided else "",
        f"{rest} {'applies' if rest == 1 else 'apply'} at no setting audited" if rest else "",
    ]
    return f"Of {total} claims audited, {listed(list(filter(None, parts)))}."


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def tally(view: PaperView) -> str:
    """Return how many of a paper's claims hold and how many fail, and apart from them what no paper says."""
    parts = (("claim", view.claims), ("statement of ours", view.ours), ("control", view.controls))
    return "; ".join(_tallied(noun, claims) for noun, claims in parts if claims)


def _tallied(noun: str, claims: Sequence[PaperClaim]) -> str:
    first, *rest = noun.split(" ", 1)
    named = " ".join([f"{first}s" if len(claims) > 1 else first, *rest])
    holding = sum(claim.holds for claim in claims)
    counts = [(verdict, sum(claim.has(verdict) for claim in claims)) for verdict in _FAILING]
    words = [f"{number} {verdict} somewhere" for verdict, number in counts if number]
    undecided = sum(claim.undecided and not claim.has(Verdict.ERROR) for claim in claims)
    words += [f"{undecided} not decided somewhere"] if undecided else []
    if holding:
        words = [f"{holding} hold{'s' * (holding == 1)} wherever audited", *words]
    return f"{len(claims)} {named}, {listed(words) or 'none of them applies'}"


def controls_in_words(claims: Sequence[PaperClaim]) -> str:
    """Return whether all controls were refuted, in one sentence; empty where there are none."""
    if not claims:
        return ""
    missed = [claim for claim in claims if set(claim.counts) != {Verdict.REFUTED}]
    if not missed:
        return "The control is refuted." if len(claims) == 1 else f"All {len(claims)} controls are refuted."
    verb = "is" if len(missed) == 1 else "are"
    return f"{len(missed)} of {len(claims)} controls {verb} not refuted: {listed([claim.name for claim in missed])}."


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence, with semicolons between them where one has a comma outside brackets."""
    if any("," in _BRACKETS.sub("", name) for name in names[:-1]) or (
        len(names) > 2 and "," in _BRACKETS.sub("", names[-1])
    ):
        return f"{'; '.join(names[:-1])}{';' if len(names) > 2 else ','} and {names[-1]}"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def _parts(claims: Sequence[PaperClaim]) -> list[_Part]:
    """Claims by place, each place by what was found."""
    places = {_place(claim) for claim in claims if not claim.meant}
    parts = []
    by_subject: dict[str, list[PaperClaim]] = {}
    both = {_place(claim) for claim in claims if claim.meant} & places
    for claim in claims:
        by_subject.setdefault(_subject(claim, both), []).append(claim)
    for subject, group in by_subject.items():
        plural = group[0].entry.kind != "figure" and any(place.plural for place in group[0].entry.places[:1])
        alike: dict[Hashable, list[PaperClaim]] = {}
        for claim in group:
            outcomes = frozenset(_counts(claim)) - {_Outcome.OUTSIDE}
            alike.setdefault(outcomes if outcomes in _ALIKE else claim.id, []).append(claim)
        for same in sorted(alike.values(), key=lambda same: min(_counts(same[0]))):
            text = subject
            if len(alike) > 1:
                names = [claim.name for claim in same]
                several = f"{len(same)} of its {len(group)} claims"
                text = f"{subject} ({listed(names) if len(names) <= _MOST_NAMES else several})"
            parts.append(
                _Part(subject=text, plural=plural, counts=sum(map(_counts, same), Counter()), claims=tuple(same))
            )
    return parts


def _place(claim: PaperClaim) -> str:
    label = claim.entry.place or claim.id
    return f"what is published in {label}" if claim.entry.kind == "figure" else label


def _subject(claim: PaperClaim, both: set[str]) -> str:
    place = _place(claim)
    if place not in both:
        return place
    return f"{place} as {'meant' if claim.meant else 'printed'}"


def _counts(claim: PaperClaim) -> Counter[_Outcome]:
    counts: Counter[_Outcome] = Counter()
    for verdict, count in claim.counts.items():
        counts[_OUTCOMES[verdict]] += count
    return counts


def _finding(parts: Sequence[_Part]) -> Finding:
    counts: Counter[_Outcome] = sum((part.counts for part in parts), Counter())
    subject = listed([part.subject for part in parts])
    plural = len(parts) > 1 or parts[0].plural
    last = parts[-1].subject
    if ", " in last and " (" not in last:
        # A place with something read into it: Theorem 2, as its proof has it, holds.
        subject += ","
    claims = tuple(claim for part in parts for claim in part.claims)
    where = _regions(parts[0]) if len(parts) == 1 else {}
    start = f"{subject[:1].upper()}{subject[1:]}"
    undecided = any(claim.has(Verdict.INCONCLUSIVE) or claim.has(Verdict.ERROR) for claim in claims)
    return Finding(
        text=f"{start} {_predicate(counts, where, plural=plural, undecided=undecided)}.",
        brief=f"{start} {_briefly(counts, plural=plural, undecided=undecided)}.",
        outcome=min(counts),
        claims=claims,
    )


def _more(number: int) -> str:
    return f" {number}" if number > 1 else " one"


def _briefly(counts: Counter[_Outcome], *, plural: bool, undecided: bool) -> str:
    """Return what was found, without the settings, and without what is no news beside it."""
    outcome = min(counts)
    if outcome is _Outcome.OUTSIDE:
        return f"{'do' if plural else 'does'} not apply where audited"
    total = counts.total() - counts[_Outcome.OUTSIDE]
    if outcome is _Outcome.OPEN and counts[_Outcome.HOLDS]:
        holds = f"{_VERBS[_Outcome.HOLDS][plural]} at {counts[_Outcome.HOLDS]} of {total} settings"
        return holds if undecided else f"{holds}; at the other{_more(counts[_Outcome.OPEN])} no violation was found"
    where = f" at {counts[outcome]} of {total} settings" if counts[outcome] < total else ""
    return f"{_VERBS[outcome][plural]}{where}{_BUT * (outcome is _Outcome.OPEN and not undecided)}"


def _regions(part: _Part) -> dict[_Outcome, str]:
    """What describes the settings of each outcome, among those where the assumptions hold."""
    settings = part.settings
    settings.pop(_Outcome.OUTSIDE, None)
    return regions(settings)


def _predicate(
    counts: Counter[_Outcome], where: Mapping[_Outcome, str], *, plural: bool, undecided: bool = False
) -> str:
    """Return what was found, at how many of the settings and at which.

    ``undecided`` says that at some of the settings that are not decided not even a violation was looked for in full.
    """
    outside = counts[_Outcome.OUTSIDE]
    total = counts.total() - outside
    if not total:
        every = "the setting audited" if outside == 1 else f"any of the {outside} settings audited"
        return f"{'do' if plural else 'does'} not apply at {every}"
    kind = "where the assumptions hold" if outside else "audited"
    present = [outcome for outcome in _VERBS if counts[outcome]]
    verbs = [_VERBS[outcome][plural] for outcome in present]
    if len(present) == 1:
        but = _BUT * (present == [_Outcome.OPEN] and not undecided)
        if total == 1:
            return f"{verbs[0]} at the only setting {kind}{but}"
        every = "both" if total == 2 else f"all {total}"
        if present[0] in (_Outcome.SILENT, _Outcome.OPEN):
            every = "either of the two" if total == 2 else f"any of the {total}"
        return f"{verbs[0]} at {every} settings {kind}{but}"
    settings = "audited settings where the assumptions hold" if outside else "audited settings"
    if present == [_Outcome.OPEN, _Outcome.HOLDS] and not undecided:
        region = where.get(_Outcome.OPEN, "")
        others = f"at the other{_more(counts[_Outcome.OPEN])}"
        return (
            f"{verbs[1]} at {counts[_Outcome.HOLDS]} of the {total} {settings}; {others}"
            f"{f' ({region})' if region else ''} no violation was found"
        )
    told: list[str] = []
    for verb, outcome in zip(verbs, present, strict=True):
        share = f" of the {total} {settings}" if not told else ""
        region = f" ({where[outcome]})" if outcome in where else ""
        told.append(f"{verb} at {counts[outcome]}{share}{region}")
    return listed(told)
