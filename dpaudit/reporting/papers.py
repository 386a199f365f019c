"""The claims of several records by the paper that they stand under, in the paper's order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpaudit.claims.entries import AssertionEntry, ClaimEntry, ErratumEntry, PaperEntry
from dpaudit.claims.record import Record
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import ClaimGroup, LabelledResult, claim_order, group_results
from dpaudit.reporting.reading import TELLING, most_telling

HOLDS = frozenset({Verdict.PROVED, Verdict.CERTIFIED})
_STANDS = HOLDS | {Verdict.CONSISTENT}
_FAILS = frozenset({Verdict.REFUTED, Verdict.VACUOUS})
MEANT = "-meant"
"""Ends the id of a claim as evidently meant, where print and meaning differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperClaim:
    """One claim, about all targets that it was audited for.

    Attributes
    ----------
    id, entry
        The claim.
    page
        Key of the record, and so name of the page, that holds its results.
    groups
        Its results by target.
    """

    id: str
    entry: ClaimEntry
    page: str
    groups: tuple[ClaimGroup, ...]

    @property
    def name(self) -> str:
        """The id without the paper's key."""
        return self.id.removeprefix(f"{self.entry.paper}.")

    @property
    def anchor(self) -> str:
        """Where the claim stands on the HTML page."""
        anchors = [group.anchor for group in self.groups]
        return self.id if self.id in anchors else anchors[0]

    @property
    def meant(self) -> bool:
        """Whether this is another claim as it is evidently meant."""
        return self.id.endswith(MEANT)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the targets."""
        return tuple(group.target for group in self.groups)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How often each verdict occurs, the most telling one first."""
        counts = Counter(cell.result.verdict for group in self.groups for cell in group.cells)
        return {verdict: counts[verdict] for verdict in TELLING if counts[verdict]}

    @property
    def telling(self) -> tuple[ClaimGroup, LabelledResult]:
        """The result that says most, and its group."""
        found = [(group, most_telling(group)) for group in self.groups]
        return min(found, key=lambda both: TELLING.index(both[1].result.verdict))

    @property
    def holds(self) -> bool:
        """Whether the claim is proved or certified wherever it was audited and applies, and applies anywhere."""
        return bool(self._applying) and self._applying <= HOLDS

    @property
    def stands(self) -> bool:
        """Whether nothing speaks against the claim where it applies: no violation was found, and it says something."""
        return bool(self._applying) and self._applying <= _STANDS

    @property
    def undecided(self) -> bool:
        """Whether nothing is decided at some settings, and the claim is refuted or vacuous at none."""
        return bool(self._applying) and not self.holds and not self._applying & _FAILS

    @property
    def _applying(self) -> set[Verdict]:
        return set(self.counts) - {Verdict.INAPPLICABLE}

    def has(self, verdict: Verdict) -> bool:
        """Whether the claim has this verdict at any parameters."""
        return verdict in self.counts


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperView:
    """What is known of one paper, in the paper's order.

    Attributes
    ----------
    key, entry
        The paper; without an entry, the results of a record that stand under no paper.
    claims, ours, controls
        What the paper says; what is stated about it here and by no paper; and broken variants of its systems.
    """

    key: str
    entry: PaperEntry | None
    claims: tuple[PaperClaim, ...]
    ours: tuple[PaperClaim, ...]
    controls: tuple[PaperClaim, ...]

    @property
    def citation(self) -> str:
        """Authors and year; the key where they are not known."""
        return self.entry.citation if self.entry else self.key

    @property
    def errata(self) -> tuple[ErratumEntry, ...]:
        """Errata in the paper's order."""
        return self.entry.errata if self.entry else ()

    @property
    def left_alone(self) -> tuple[AssertionEntry, ...]:
        """Assertions that are not audited, in the paper's order."""
        return self.entry.left_alone if self.entry else ()

    @property
    def audited(self) -> int:
        """Number of the paper's assertions that are audited; one in two readings, printed and meant, counts once."""
        return len({claim.id.removesuffix(MEANT) for claim in self.claims})

    @property
    def page(self) -> str:
        """Page of the paper: its own, or the one that holds most of its claims."""
        pages = Counter(claim.page for claim in (*self.claims, *self.ours, *self.controls))
        return self.key if self.key in pages else pages.most_common(1)[0][0]

    def having(self, verdict: Verdict) -> int:
        """Return the number of the paper's claims that have this verdict at some parameters."""
        return sum(claim.has(verdict) for claim in self.claims)

    @property
    def holding(self) -> int:
        """Number of the paper's claims that hold wherever they were audited and apply."""
        return sum(claim.holds for claim in self.claims)

    @property
    def undecided(self) -> int:
        """Number of the paper's claims that are refuted or vacuous nowhere, but not decided at some setting."""
        return sum(claim.undecided for claim in self.claims)


def papers_of(records: Mapping[str, Record]) -> list[PaperView]:
    """Return the papers of several records: those that have a record of their own first, by the number of claims.

    Parameters
    ----------
    records
        Records by key: that of a paper, or any name of a record that stands under no paper.
    """
    found: dict[str, dict[tuple[str, str], list[ClaimGroup]]] = {}
    entries: dict[str, PaperEntry] = {}
    for page, record in records.items():
        entries |= {key: entry for key, entry in record.papers.items() if key not in entries or key == page}
        for target in group_results(record):
            for group in target.claims:
                found.setdefault(group.entry.paper or page, {}).setdefault((group.claim, page), []).append(group)
    views = [_view(key, entries.get(key), claims) for key, claims in found.items()]
    return sorted(views, key=lambda view: (view.key not in records, -len(view.claims), view.key))


def _view(key: str, entry: PaperEntry | None, found: Mapping[tuple[str, str], Sequence[ClaimGroup]]) -> PaperView:
    claims = [
        PaperClaim(id=name, entry=groups[0].entry, page=page, groups=tuple(groups))
        for (name, page), groups in found.items()
    ]
    claims.sort(key=lambda claim: claim_order(claim.entry))
    return PaperView(
        key=key,
        entry=entry,
        claims=tuple(claim for claim in claims if not claim.entry.ours and not claim.entry.bug),
        ours=tuple(claim for claim in claims if claim.entry.ours and not claim.entry.bug),
        controls=tuple(claim for claim in claims if claim.entry.bug),
    )


def places_in_words(claim: PaperClaim) -> str:
    """Return all places of a claim."""
    return "; ".join(filter(None, (place.label for place in claim.entry.places))) or claim.entry.source
