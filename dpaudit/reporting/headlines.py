"""What matters most of a paper: each finding with the result that says most, its command, and what would mend it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.findings import Finding, findings, summary_of
from dpaudit.reporting.groups import LabelledResult
from dpaudit.reporting.papers import MEANT, PaperClaim, PaperView
from dpaudit.reporting.reading import rank, worked_out
from dpaudit.reporting.wording import headline

_MOST_FINDINGS = 6

Mending = Mapping[str, Sequence[PaperClaim]]
"""Claims by the id of what they mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A finding, and what a reader needs to see it again.

    Attributes
    ----------
    claim, telling
        The claim and the result that say most.
    mended
        The claims that say what would mend it, or that read it as it is evidently meant.
    """

    finding: Finding
    claim: PaperClaim
    telling: LabelledResult
    mended: tuple[PaperClaim, ...]

    @property
    def kind(self) -> str:
        """What `evidence` is."""
        return "Witness" if self.telling.result.verdict is Verdict.REFUTED else "Evidence"

    @property
    def evidence(self) -> str:
        """The inequality that the witness breaks, or else the number that decides; and at which parameters."""
        result = self.telling.result
        words = worked_out(result) or headline(result)
        where = f"at {self.telling.label}" if self.telling.label else result.scope
        return f"{where}: {words}" if where else words

    @property
    def command(self) -> str:
        """The command that repeats the result."""
        return " ".join(self.telling.result.command.split())


def headlines(view: PaperView, mending: Mending) -> tuple[list[Headline], str]:
    """Return what matters most of a paper, at most six findings in the paper's order, and what there is besides.

    Theorems, lemmas and the like go before what a section or a figure says, then what is refuted before what says
    nothing, and among equals what is about more claims.
    """
    notable = [finding for finding in findings(view.claims) if finding.notable]
    ranked = sorted(notable, key=lambda finding: (not finding.numbered, finding.outcome, -len(finding.claims)))[
        :_MOST_FINDINGS
    ]
    shown = [finding for finding in notable if finding in ranked]
    parts = []
    if more := len(notable) - len(shown):
        parts.append(f"{more} more such finding{'s' * (more > 1)} on its page.")
    if view.claims:
        parts.append(summary_of(view.claims))
    return [_headline(finding, mending) for finding in shown], " ".join(parts)


def mending_claims(views: Sequence[PaperView]) -> dict[str, list[PaperClaim]]:
    """Return the claims that mend others, or read them as they are evidently meant, by the ids of those."""
    found: dict[str, list[PaperClaim]] = {}
    for view in views:
        for claim in (*view.claims, *view.ours):
            mended = [*claim.entry.mends, *([claim.id.removesuffix(MEANT)] if claim.meant else [])]
            for name in dict.fromkeys(mended):
                found.setdefault(name, []).append(claim)
    return found


def _headline(finding: Finding, mending: Mending) -> Headline:
    claim = min(finding.claims, key=lambda claim: rank(claim.telling[1].result))
    mended = [each for about in finding.claims if not about.holds for each in mending.get(about.id, ())]
    return Headline(
        finding=finding,
        claim=claim,
        telling=claim.telling[1],
        mended=tuple({each.id: each for each in mended}.values()),
    )
