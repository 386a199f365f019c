"""The trust model of a system, drawn: who sees what, and where the randomness is added."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 640, 150
_BOX_TOP, _BOX_HEIGHT = 40, 44


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flow:
    """Parties from the agents to the output, what each hands on, and the first hand-over that the adversary sees."""

    parties: tuple[str, ...]
    handed: tuple[str, ...]
    seen_from: int
    reading: str


_FLOWS = {
    "local": _Flow(
        parties=("agents", "curator", "public"),
        handed=("randomized reports", "output"),
        seen_from=0,
        reading="Every agent randomizes its own report. The adversary may be the curator: it sees every report.",
    ),
    "shuffle": _Flow(
        parties=("agents", "shuffler", "analyzer", "public"),
        handed=("randomized reports", "shuffled reports", "output"),
        seen_from=1,
        reading=(
            "Every agent randomizes its own report, and a trusted shuffler hides whose it is. The adversary sees the "
            "shuffled reports."
        ),
    ),
    "central": _Flow(
        parties=("agents", "curator", "public"),
        handed=("true rankings", "randomized output"),
        seen_from=1,
        reading="A trusted curator sees the true rankings and randomizes. The adversary sees what is released.",
    ),
    "none": _Flow(
        parties=("agents", "curator", "public"),
        handed=("true rankings", "output"),
        seen_from=1,
        reading="Nothing is randomized for privacy. The curator sees the true rankings.",
    ),
}


def trust_figure(model: str, number: int) -> str:
    """Return a drawing of the trust model as SVG; empty where the model is not one of those that are known."""
    flow = _FLOWS.get(model)
    if flow is None:
        return ""
    name = f"trust-{number}"
    count = len(flow.parties)
    width = 96
    step = (_WIDTH - width - 8) / (count - 1)
    lefts = [4 + i * step for i in range(count)]
    middle = _BOX_TOP + _BOX_HEIGHT / 2
    parts = [
        f'<svg id="{name}" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="currentColor" font-size="12">',
        f'<title id="{name}-title">Trust model: {escape(model)}</title>',
        f'<desc id="{name}-desc">{escape(flow.reading)}</desc>',
    ]
    for left, party in zip(lefts, flow.parties, strict=True):
        parts.append(f'<rect x="{left:.1f}" y="{_BOX_TOP}" width="{width}" height="{_BOX_HEIGHT}" rx="4"/>')
        parts.append(_text(left + width / 2, middle + 4, party))
    for i, handed in enumerate(flow.handed):
        start, end = lefts[i] + width, lefts[i + 1]
        seen = i >= flow.seen_from
        dashes = "" if seen else ' stroke-dasharray="3 3"'
        parts.append(f'<path d="M{start:.1f} {middle}H{end - 2:.1f}" stroke-width="{2 if seen else 1}"{dashes}/>')
        parts.append(f'<path d="M{end - 8:.1f} {middle - 5}L{end - 1:.1f} {middle}L{end - 8:.1f} {middle + 5}"/>')
        for line, word in enumerate(handed.split(" ", 1)):
            parts.append(_text((start + end) / 2, middle - 22 + 14 * line, word))
    left = (lefts[flow.seen_from] + width + lefts[flow.seen_from + 1]) / 2
    bottom = _BOX_TOP + _BOX_HEIGHT + 24
    if model != "none":
        parts.append(f'<path d="M{left:.1f} {bottom - 6}V{middle + 8}" stroke-dasharray="1.5 4"/>')
        parts.append(f'<path d="M{left:.1f} {bottom}H{_WIDTH - 4}" stroke-width="2"/>')
        parts.append(_text(left + 4, bottom + 18, "the adversary sees this", anchor="start"))
    return "\n".join([*parts, "</svg>"])


def _text(x: float, y: float, text: str, *, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
