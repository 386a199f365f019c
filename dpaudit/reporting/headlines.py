"""What matters most of a paper: each finding with the result that says most, its command, and what would mend it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dpaudit.claims.evidence import Counterexample, Violation
from dpaudit.claims.record import Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.findings import Finding, findings, listed, summary_of
from dpaudit.reporting.groups import LabelledResult, format_value
from dpaudit.reporting.papers import MEANT, PaperClaim, PaperView
from dpaudit.reporting.reading import rank, worked_out
from dpaudit.reporting.wording import headline, shortened

_MOST_PLACES = 8
_LONGEST_INSTANCE = 200
_LONGEST_VALUE = 120
_MOST_PARAMETERS = 6
"""Of a claim that was audited at one setting, the parameters that tell what that is."""

_KINDS = (
    ("theorem", "lemma", "corollary", "observation", "proposition", "fact", "definition", "remark"),
    ("algorithm", "line", "figure", "table"),
    ("equation", "text"),
    ("proof",),
)
"""What a finding is about, the most important first; within a group what is refuted goes before what says nothing."""

Mending = Mapping[str, Sequence[PaperClaim]]
"""Claims by the id of what they mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A finding about one claim, and what a reader needs to see it again."""

    finding: Finding
    claim: PaperClaim
    telling: LabelledResult

    @property
    def kind(self) -> str:
        """What `evidence` is."""
        return "Witness" if self.telling.result.verdict is Verdict.REFUTED else "Evidence"

    @property
    def evidence(self) -> str:
        """At which instance a witness breaks which inequality, or else the number that decides."""
        return evidence_in_words(self.claim, self.telling)

    @property
    def command(self) -> str:
        """The command that repeats the result."""
        return " ".join(self.telling.result.command.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Mend:
    """A claim that says what would mend others, or how one is evidently meant.

    Attributes
    ----------
    claim
        It, with its verdicts.
    about
        Names of the claims that it mends; empty where that goes without saying.
    again
        Whether it stands further up already.
    """

    claim: PaperClaim
    about: tuple[str, ...]
    again: bool = False

    @property
    def start(self) -> str:
        """What introduces it."""
        what = listed(self.about)
        if self.claim.meant:
            return f"{what} as evidently meant" if what else "As evidently meant"
        if self.claim.has(Verdict.VACUOUS):
            return f"What would mend {what or 'it'}, but says nothing at some settings"
        if not self.claim.stands:
            return f"What would mend {what or 'it'}, but is not shown at some settings"
        return f"What would mend {what or 'it'}"

    @property
    def statement(self) -> str:
        """What it says, once."""
        return "as above," if self.again else self.claim.entry.statement


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlinePlace:
    """The findings about one place of a paper, and what would mend them.

    ``unmended`` are the names of the claims of which nothing is known that would mend them.
    """

    heading: str
    parts: tuple[Headline, ...]
    mends: tuple[Mend, ...]
    unmended: tuple[str, ...]

    @property
    def unknown(self) -> str:
        """A sentence on what is not known to be mended; empty where all is."""
        if not self.unmended:
            return ""
        what = "it" if len(self.parts) == 1 else listed(self.unmended)
        return f"What would mend {what} is not known here."


def headlines(view: PaperView, mending: Mending) -> tuple[list[HeadlinePlace], str]:
    """Return what matters most of a paper, by at most eight places, and in words what there is besides.

    Theorems, lemmas and the like, and refuted privacy wherever it is claimed, go before algorithms, figures and tables,
    these before equations and the text, and proof steps come last. In each of the four groups what is refuted goes
    before what says nothing.
    """
    by_place: dict[str, list[Finding]] = {}
    for finding in findings(view.claims):
        if finding.notable:
            by_place.setdefault(finding.place.heading or finding.place.label, []).append(finding)
    ranked = sorted(by_place.items(), key=lambda place: min(map(_importance, place[1])))
    said: set[str] = set()
    shown = [_place(heading, found, mending, said) for heading, found in ranked[:_MOST_PLACES]]
    rest = ranked[_MOST_PLACES:]
    kinds = (
        ("Also refuted somewhere", [heading for heading, found in rest if any(each.refuted for each in found)]),
        ("Also saying nothing somewhere", [heading for heading, found in rest if not any(e.refuted for e in found)]),
    )
    parts = [f"{words}: {'; '.join(names)}." for words, names in kinds if names]
    if view.claims:
        parts.append(summary_of(view.claims))
    return shown, " ".join(parts)


def mending_claims(views: Sequence[PaperView]) -> dict[str, list[PaperClaim]]:
    """Return the claims that mend others, or read them as they are evidently meant, by the ids of those."""
    found: dict[str, list[PaperClaim]] = {}
    for view in views:
        for claim in (*view.claims, *view.ours):
            mended = [*claim.entry.mends, *([claim.id.removesuffix(MEANT)] if claim.meant else [])]
            for name in dict.fromkeys(mended):
                found.setdefault(name, []).append(claim)
    return found


def mends_of(claims: Sequence[PaperClaim], mending: Mending, said: set[str]) -> tuple[Mend, ...]:
    """Return what mends claims, by the same record, each once: what is shown, or else what is not refuted itself.

    ``said`` are the ids that a reader has seen already; what is returned is added.
    """
    found: dict[str, tuple[PaperClaim, list[str]]] = {}
    for claim in claims:
        known = [each for each in mending.get(claim.id, ()) if each.page == claim.page]
        known = [each for each in known if each.meant or not each.has(Verdict.REFUTED)]
        if any(each.stands for each in known):
            known = [each for each in known if each.stands or each.meant]
        own = {each.id for each in claims}
        for each in (each for each in known if each.id not in own):
            found.setdefault(each.id, (each, []))[1].append(claim.name)
    mends = [
        Mend(claim=each, about=tuple(names) if len(claims) > 1 else (), again=each.id in said)
        for each, names in found.values()
    ]
    said.update(found)
    return tuple(mends)


def witness_of(claim: PaperClaim, cells: Sequence[LabelledResult], mending: Mending) -> LabelledResult:
    """Return the result that says most: if possible at a setting at which what mends the claim was audited too."""
    settings = [
        cell.result.parameters
        for each in mending.get(claim.id, ())
        if each.page == claim.page and each.stands
        for group in each.groups
        for cell in group.cells
        if cell.result.verdict is not Verdict.INAPPLICABLE
    ]
    return min(cells, key=lambda cell: (-_nearness(cell.result.parameters, settings), rank(cell.result)))


def evidence_in_words(claim: PaperClaim, telling: LabelledResult) -> str:
    """Return the parameters and the instance of a result, and the inequality that it breaks or the number it has."""
    result = telling.result
    where = [f"at {told}" if (told := telling.label or _parameters(claim, result)) else "", _instance(result)]
    words = worked_out(result) or headline(result)
    return ": ".join(filter(None, ["; ".join(filter(None, where)), words]))


def _importance(finding: Finding) -> tuple[int, int, int]:
    place, claim = finding.place, finding.claims[0]
    kind = place.kind or ("theorem" if place.numbered else "text")
    found = next(((i, group.index(kind)) for i, group in enumerate(_KINDS) if kind in group), (2, 1))
    group, within = found
    if finding.refuted and claim.entry.kind == "privacy" and group < len(_KINDS) - 1:
        # That data leak is no detail, wherever a paper says that they do not.
        group, within = 0, group * len(_KINDS[0]) + within
    return group, not finding.refuted, within


def _place(heading: str, found: Sequence[Finding], mending: Mending, said: set[str]) -> HeadlinePlace:
    parts = tuple(_headline(finding, mending) for finding in sorted(found, key=_importance))
    claims = [part.claim for part in parts]
    mends = mends_of(claims, mending, said)
    mended = {name for mend in mends if mend.claim.stands or not mend.claim.meant for name in mend.about}
    alone = len(claims) == 1 and any(mend.claim.stands or not mend.claim.meant for mend in mends)
    unmended = tuple(each.name for each in claims if each.name not in mended and not alone)
    return HeadlinePlace(heading=heading, parts=parts, mends=mends, unmended=unmended)


def _headline(finding: Finding, mending: Mending) -> Headline:
    by_claim: dict[str, tuple[PaperClaim, list[LabelledResult]]] = {}
    for claim, cell in finding.cells:
        by_claim.setdefault(claim.id, (claim, []))[1].append(cell)
    found = [(claim, witness_of(claim, cells, mending)) for claim, cells in by_claim.values()]
    claim, telling = min(found, key=lambda each: rank(each[1].result))
    return Headline(finding=finding, claim=claim, telling=telling)


def _nearness(values: Mapping[str, object], settings: Collection[Mapping[str, object]]) -> float:
    """The largest share of the parameters that a setting has in common with these that are equal in both."""
    shares = [0.0]
    for other in settings:
        names = [name for name in values if name in other]
        shares.append(sum(values[name] == other[name] for name in names) / len(names) if names else 0.0)
    return max(shares)


def _parameters(claim: PaperClaim, result: Result) -> str:
    """Parameters of the only setting at which a claim was audited, as its command says them."""
    if sum(claim.counts.values()) > 1:
        return ""
    said = {each.partition("=")[0] for each in result.command.split() if "=" in each}
    names = [name for name in result.parameters if name in said][:_MOST_PARAMETERS]
    return ", ".join(f"{name}={format_value(result.parameters[name])}" for name in names)


def _instance(result: Result) -> str:
    """The instance of a witness in words, with what its numbers are of; the scope where there is no witness."""
    witness = result.witness
    if isinstance(witness, Violation):
        told = [f"{name} {_value(each)}" for name, each in (("data", witness.data), ("neighbour", witness.neighbour))]
        told.append(f"event {_value(witness.event)}")
        return shortened(", ".join(told), 2 * _LONGEST_VALUE)
    if not isinstance(witness, Counterexample):
        return shortened(result.scope, _LONGEST_INSTANCE)
    scope = result.scope.removeprefix(witness.quantity).removeprefix("; ")
    if result.kind not in ("lemma", "stability", "noise") or not isinstance(witness.instance, Mapping):
        return shortened(scope, _LONGEST_INSTANCE)
    own = {name: value for name, value in witness.instance.items() if result.parameters.get(name) != value}
    told = [f"{name} = {_value(value)}" for name, value in own.items()]
    return "; ".join(filter(None, [shortened(", ".join(told), _LONGEST_INSTANCE), shortened(scope, _LONGEST_INSTANCE)]))


def _value(value: object) -> str:
    return shortened(format_value(value), _LONGEST_VALUE)
