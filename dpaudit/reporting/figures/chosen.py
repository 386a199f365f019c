"""The few figures of a paper that say most, as SVG files that stand by themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice

from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.figures.drawing import LETTER, Figures
from dpaudit.reporting.figures.privacy import privacy_figures
from dpaudit.reporting.figures.published import published_figures
from dpaudit.reporting.figures.rates import rate_figures
from dpaudit.reporting.figures.regions import region_figure
from dpaudit.reporting.figures.values import comparison_figures, value_figures
from dpaudit.reporting.groups import ClaimGroup
from dpaudit.reporting.papers import PaperClaim
from dpaudit.reporting.regions import region_maps

_MOST_OF_A_KIND = 3
_MOST_PANELS = 2
_MOST_ROWS = 16
_HEADING, _GAP = 20, 16
_SIZE = re.compile(r' width="([0-9.]+)" height="([0-9.]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """One figure: what its file is called after, what it is about, a caption, and the file's text."""

    name: str
    subject: str
    caption: str
    svg: str


def chosen_figures(claims: Sequence[PaperClaim]) -> list[Chosen]:
    """Return figures, first one of each kind, the most telling kind first, of the claim where it has most to show.

    A claim that is refuted somewhere goes before one that says nothing somewhere, and among equals that of the most
    results.
    """
    ranked = sorted(
        ((claim, group) for claim in claims for group in claim.groups),
        key=lambda both: (not both[0].has(Verdict.REFUTED), not both[0].has(Verdict.VACUOUS), -len(both[1].cells)),
    )
    drawings = {
        draw: list(
            islice((chosen for claim, group in ranked if (chosen := _drawn(draw, claim, group))), _MOST_OF_A_KIND)
        )
        for draw in _DRAWINGS
    }
    firsts = [chosen[0] for chosen in drawings.values() if chosen]
    return [*firsts, *(more for chosen in drawings.values() for more in chosen[1:])]


def _drawn(draw: Callable[[ClaimGroup], Figures | None], claim: PaperClaim, group: ClaimGroup) -> Chosen | None:
    try:
        figures = draw(group)
    except (ArithmeticError, ValueError):
        # Its numbers are beyond what floating point can scale to a page.
        return None
    if figures is None:
        return None
    where = claim.entry.place or claim.id
    return Chosen(
        name=_file_name(claim.name),
        subject=f"{where} ({claim.name}, {group.target})",
        caption=figures.caption[:1].lower() + figures.caption[1:],
        svg=_standing_alone(figures),
    )


def _file_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "figure"


def _regions(group: ClaimGroup) -> Figures | None:
    maps = sorted(region_maps(group), key=lambda found: -len(found.verdicts))
    if not maps or len(maps[0].verdicts) < 2:
        return None
    more = f" (the first {_MOST_PANELS} of {len(maps)} maps)" if len(maps) > _MOST_PANELS else ""
    return Figures(
        caption=f"Verdicts by {maps[0].down} and {maps[0].across}{more}",
        svg=tuple(
            region_figure(f"region-{group.cells[0].number}-{i}", f"Verdicts of {group.claim}", found)
            for i, found in enumerate(maps[:_MOST_PANELS])
        ),
        tables=(),
        headings=tuple(found.setting for found in maps[:_MOST_PANELS]),
    )


def _published(group: ClaimGroup) -> Figures | None:
    return published_figures(group, most=_MOST_ROWS)


def _values(group: ClaimGroup) -> Figures | None:
    return value_figures(group, most=_MOST_PANELS)


def _comparisons(group: ClaimGroup) -> Figures | None:
    return comparison_figures(group, most=_MOST_PANELS)


def _refuted_privacy(group: ClaimGroup) -> Figures | None:
    return privacy_figures(group) if any(cell.result.verdict is Verdict.REFUTED for cell in group.cells) else None


def _standing_alone(figures: Figures) -> str:
    """Panels side by side in one SVG document, readable on any ground."""
    panels = figures.svg[:_MOST_PANELS]
    headings = figures.headings or ("",) * len(panels)
    top = _HEADING if any(headings) else 0
    body, left, height = [], 0.0, 0.0
    for panel, heading, (width, tall) in zip(panels, headings, _sizes(panels), strict=False):
        if heading:
            body.append(f'<text x="{left + 4:g}" y="14">{escape(heading)}</text>')
            width = max(width, LETTER * len(heading))
        body.append(panel.replace("<svg ", f'<svg x="{left:g}" y="{top}" ', 1))
        left, height = left + width + _GAP, max(height, tall)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left:g} {top + height:g}" width="{left:g}" '
        f'height="{top + height:g}" color="#1b1b1b" font-family="system-ui, sans-serif" font-size="11">\n'
        "<style>text { fill: currentColor; stroke: none }</style>\n"
        '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _sizes(panels: Sequence[str]) -> Iterator[tuple[float, float]]:
    for panel in panels:
        width, height = _SIZE.search(panel).groups()  # type: ignore[union-attr]  # every drawing says its size
        yield float(width), float(height)


_DRAWINGS: tuple[Callable[[ClaimGroup], Figures | None], ...] = (
    _regions,
    _values,
    _published,
    rate_figures,
    _comparisons,
    _refuted_privacy,
)
