"""Published numbers beside the same measured again, one row for each."""

from __future__ import annotations

import math
from html import escape

from dpaudit.claims.evidence import Role
from dpaudit.reporting.figures.drawing import LETTER, TABLE_DIGITS, Figures, Table, spanning
from dpaudit.reporting.figures.saying import furthest, quantity
from dpaudit.reporting.groups import ClaimGroup, LabelledResult
from dpaudit.reporting.numbers import format_interval, format_number
from dpaudit.reporting.reading import verdicts_in_words
from dpaudit.reporting.wording import shortened

_WIDTH, _LEFT, _RIGHT, _TOP, _ROW = 680, 16, 660, 14, 36
_MOST_ROWS = 40
_LONGEST_LABEL = 86


def published_figures(claim: ClaimGroup, *, most: int = _MOST_ROWS) -> Figures | None:
    """Return a figure of cells that measure a published number, a cross for it and a dot with its interval.

    Of more than ``most`` cells the first are drawn; all are in the table.
    """
    cells = [cell for cell in claim.cells if _is_drawn(cell)]
    if not cells:
        return None
    shown = cells[:most]
    more = f" (the first {most} of {len(cells)})" if len(cells) > most else ""
    rows = tuple(
        (
            cell.label or cell.result.claim,
            format_number(cell.result.claimed["published"], digits=TABLE_DIGITS),
            format_interval(cell.result.measured["value"], digits=TABLE_DIGITS),
            cell.result.verdict.value,
        )
        for cell in cells
    )
    return Figures(
        caption=f"Published numbers and the same measured again{more}: {verdicts_in_words(cells)}. {furthest(cells)}",
        svg=(_drawing(claim.claim, shown),),
        tables=(
            Table(caption="Published and measured", headers=("at", "published", "measured", "verdict"), rows=rows),
        ),
    )


def _is_drawn(cell: LabelledResult) -> bool:
    return "published" in cell.result.claimed and all(map(math.isfinite, _numbers(cell)))


def _numbers(cell: LabelledResult) -> list[float]:
    measured = cell.result.measured.get("value")
    sides = (None,) * 3 if measured is None else (measured.lower, measured.estimate, measured.upper)
    return [cell.result.claimed["published"], *(math.nan if side is None else side for side in sides)]


def _few_runs(cell: LabelledResult) -> tuple[float, ...]:
    """What a published mean of few runs may come to, from the least to the most; empty where it is no such mean."""
    measured = cell.result.measured.values()
    found = next((interval for interval in measured if interval.role is Role.MEAN_OF_RUNS), None)
    sides = (None, None) if found is None else (found.lower, found.upper)
    return tuple(side for side in sides if side is not None and math.isfinite(side))


def _drawing(claim: str, cells: list[LabelledResult]) -> str:
    name = f"published-{cells[0].number}"
    what = quantity(cells, otherwise="published and measured value")
    scale = [number for cell in cells for number in (*_numbers(cell), *_few_runs(cell))]
    x = spanning("", scale, _LEFT, _RIGHT, log=False)
    bottom = _TOP + _ROW * len(cells)
    height = bottom + 72
    parts = [
        f'<svg id="{name}" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" fill="none" stroke="currentColor" font-size="11">',
        f'<title id="{name}-title">{escape(claim)}: published and measured again</title>',
        f'<desc id="{name}-desc">One row for each setting: a cross at the published number, a dot at the measured one, '
        "and a line over its interval, under setting and verdict. Where the published number is a mean of few runs, a "
        "thin line over what such a mean may come to.</desc>",
        f'<path d="M{_LEFT} {bottom}H{_RIGHT}"/>',
    ]
    for at, text in x.labelled:
        parts.append(f'<path d="M{at:.1f} {bottom}v4M{at:.1f} {_TOP - 8}V{bottom}" stroke-opacity="0.2"/>')
        half = LETTER * len(text) / 2
        parts.append(_text(min(max(at, half), _WIDTH - half), bottom + 18, text, "middle"))
    parts.append(
        _text(
            (_LEFT + _RIGHT) / 2,
            bottom + 36,
            shortened(what, _LONGEST_LABEL),
            "middle",
        )
    )
    for i, cell in enumerate(cells):
        published, lower, estimate, upper = map(x.at, _numbers(cell))
        top = _TOP + _ROW * i
        middle = top + 14
        label = cell.label or cell.result.claim
        short = label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"
        parts += [
            _text(_LEFT, top, f"{cell.result.verdict} at {short}", "start"),
            f'<path d="M{lower:.1f} {middle}H{upper:.1f}" stroke-width="3"/>',
            f'<circle cx="{estimate:.1f}" cy="{middle}" r="3" fill="currentColor"/>',
            f'<path d="M{published - 5:.1f} {middle - 5}l10 10m0 -10l-10 10" stroke-width="1.5"/>',
        ]
        if len(wide := [x.at(side) for side in _few_runs(cell)]) > 1:
            parts.append(f'<path d="M{wide[0]:.1f} {middle}H{wide[1]:.1f}"/>')
    legend = bottom + 62
    parts += [
        f'<path d="M{_LEFT - 5} {legend - 9}l10 10m0 -10l-10 10" stroke-width="1.5"/>',
        _text(_LEFT + 14, legend, "published", "start"),
        f'<path d="M{_LEFT + 94} {legend - 4}h24" stroke-width="3"/>',
        f'<circle cx="{_LEFT + 106}" cy="{legend - 4}" r="3" fill="currentColor"/>',
        _text(_LEFT + 126, legend, "measured again, with its interval", "start"),
    ]
    if any(map(_few_runs, cells)):
        parts.append(f'<path d="M{_LEFT + 362} {legend - 4}h24"/>')
        parts.append(_text(_LEFT + 394, legend, "what a mean of as few runs may be", "start"))
    return "\n".join([*parts, "</svg>"])


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
