"""Region maps as drawings: a square for each setting of two parameters, shaded by its verdict."""

from __future__ import annotations

from html import escape

from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.figures.drawing import LETTER
from dpaudit.reporting.reading import SYMBOLS
from dpaudit.reporting.regions import RegionMap

_LEFT, _TOP, _SIDE = 84, 24, 30
_LEGEND = 18
_SHADES = {Verdict.REFUTED: 0.4, Verdict.VACUOUS: 0.15}


def region_figure(name: str, title: str, found: RegionMap) -> str:
    """Return a region map as a complete SVG element; ``name`` is its id."""
    cells = [cell for _, row in found.rows for cell in row if cell]
    verdicts = [verdict for verdict in Verdict if any(cell.result.verdict is verdict for cell in cells)]
    left = max(_LEFT, 24 + LETTER * max(len(value) for value, _ in found.rows))
    side = max(_SIDE, LETTER * max(map(len, found.columns)) + 6)
    bottom = _TOP + _SIDE * len(found.rows)
    width = max(left + side * len(found.columns) + 8, left + 120)
    height = bottom + 46 + _LEGEND * len(verdicts)
    parts = [
        f'<svg id="{name}" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" fill="none" stroke="currentColor" font-size="11">',
        f'<title id="{name}-title">{escape(title)}</title>',
        f'<desc id="{name}-desc">A square for each setting: {escape(found.down)} down, {escape(found.across)} across. '
        "Empty where the claim was not audited.</desc>",
    ]
    for i, (value, row) in enumerate(found.rows):
        y = _TOP + _SIDE * i
        parts.append(_text(left - 6, y + _SIDE / 2 + 4, value, "end"))
        for j, cell in enumerate(row):
            if cell:
                parts.append(_square(left + side * j, y, side, cell.result.verdict))
    for j, value in enumerate(found.columns):
        parts.append(_text(left + side * (j + 0.5), bottom + 14, value, "middle"))
    parts.append(_text(left + side * len(found.columns) / 2, bottom + 30, found.across, "middle"))
    parts.append(_text(4, _TOP - 10, found.down, "start"))
    for i, verdict in enumerate(verdicts):
        y = bottom + 42 + _LEGEND * i
        parts += [_square(left, y, 14, verdict, height=14), _text(left + 22, y + 11, verdict.value, "start")]
    return "\n".join([*parts, "</svg>"])


def _square(x: float, y: float, width: float, verdict: Verdict, *, height: float = _SIDE) -> str:
    shade = f' fill="currentColor" fill-opacity="{_SHADES[verdict]}"' if verdict in _SHADES else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:g}" stroke-opacity="0.3"{shade}/>'
        f"{_text(x + width / 2, y + height / 2 + 4, SYMBOLS[verdict], 'middle')}"
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
