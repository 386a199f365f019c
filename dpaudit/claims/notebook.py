"""A record in a notebook: as a table, as a data frame, as a figure."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from dpaudit.claims.evidence import Interval, Role
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import ParameterError
from dpaudit.escapes import visible

if TYPE_CHECKING:
    from dpaudit.claims.record import Record, Result

_MOST_ROWS = 50
_COLOURS = {
    Verdict.PROVED: "#1a7f37",
    Verdict.CERTIFIED: "#1a7f37",
    Verdict.CONSISTENT: "#0969a2",
    Verdict.REFUTED: "#c4122f",
    Verdict.VACUOUS: "#8a6100",
    Verdict.INAPPLICABLE: "#6b6b6b",
    Verdict.INCONCLUSIVE: "#8a6100",
    Verdict.ERROR: "#8250df",
}


def short_repr(record: Record) -> str:
    """Return how many results a record has, with which verdicts, and how many are not as expected."""
    number = len(record.results)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in record.summary.items())
    unexpected = sum(not result.ok for result in record.results)
    standing = f"{unexpected} not as expected" if unexpected else "all as expected"
    partial = record.partial
    cut = f", interrupted with {partial.results} of {partial.cells} cells audited" if partial is not None else ""
    return (
        f"<dpaudit.Record: {number} result{'' if number == 1 else 's'}"
        f"{f' ({counts})' if counts else ''}, {standing}{cut}>"
    )


def rows_of(record: Record) -> list[dict[str, Any]]:
    """Return a row for each result, all with the same columns in the same order."""
    fixed = [
        {
            "target": result.target,
            "claim": result.claim,
            "kind": result.kind,
            "verdict": result.verdict.value,
            "expected": None if result.expected is None else result.expected.value,
            "ok": result.ok,
            "method": result.method,
            "samples": result.samples,
        }
        for result in record.results
    ]
    more = [_numbers(result) for result in record.results]
    names = sorted({name for row in more for name in row}, key=_column_order)
    return [{**row, **{name: numbers.get(name) for name in names}} for row, numbers in zip(fixed, more, strict=True)]


def _numbers(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = {f"parameter.{name}": value for name, value in result.parameters.items()}
    found |= {f"claimed.{name}": value for name, value in result.claimed.items()}
    for name, interval in result.measured.items():
        for end in ("lower", "estimate", "upper"):
            found[f"measured.{name}.{end}"] = getattr(interval, end)
    return found


def _column_order(name: str) -> int:
    return ("parameter", "claimed", "measured").index(name.partition(".")[0])


def frame_of(record: Record) -> Any:
    """Return the rows as a frame of pandas, or else of polars.

    Raises
    ------
    ParameterError
        Neither is installed.
    """
    rows = rows_of(record)
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        return pd.DataFrame(rows)
    try:
        import polars as pl
    except ImportError:
        raise ParameterError(
            "to_frame needs pandas or polars, and neither is installed; `pip install pandas`, or read `record.results`"
        ) from None
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def html_of(record: Record) -> str:
    """Return the record as a table, without style sheets or scripts, that notebooks show."""
    head = "".join(f"<th>{name}</th>" for name in ("target", "claim", "parameters", "verdict", "claimed", "measured"))
    shown = record.results[:_MOST_ROWS]
    body = "".join(f"<tr>{_cells(result)}</tr>" for result in shown)
    more = len(record.results) - len(shown)
    rest = f"<p>and {more} more; <code>record.to_frame()</code> has all of them</p>" if more else ""
    return (
        f"<div><p>{escape(visible(short_repr(record)))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}</div>"
    )


def _cells(result: Result) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in result.parameters.items())
    claimed = ", ".join(f"{name} {_number(value)}" for name, value in result.claimed.items())
    measured = ", ".join(f"{name} {_interval(interval)}" for name, interval in result.measured.items())
    expected = "" if result.ok else " (unexpected)"
    verdict = (
        f'<td style="color:{_COLOURS[result.verdict]};font-weight:bold">{escape(result.verdict.value)}{expected}</td>'
    )
    first, last = (
        "".join(f"<td>{escape(visible(str(text)))}</td>" for text in texts)
        for texts in ((result.target, result.claim, parameters), (claimed, measured))
    )
    return f"{first}{verdict}{last}"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.4g}"


def _interval(interval: Interval) -> str:
    if interval.lower == interval.upper:
        return _number(interval.lower)
    estimate = "" if interval.estimate is None else f"{_number(interval.estimate)} "
    return f"{estimate}[{_number(interval.lower)}, {_number(interval.upper)}]"


def plot_of(record: Record, claim: str | None = None, ax: Any = None) -> Any:
    """Draw what was measured of one claim against what it says; see `Record.plot`."""
    names = list(dict.fromkeys(result.claim for result in record.results))
    if claim is None and len(names) == 1:
        claim = names[0]
    if claim not in names:
        raise ParameterError(f"plot draws one claim, got claim={claim!r}; the record has {', '.join(names) or 'none'}")
    results = [result for result in record.results if result.claim == claim]
    quantity = next((name for result in results for name in _drawn(result)), None)
    if quantity is None:
        raise ParameterError(f"claim {claim!r} has no number to draw; `record.to_frame()` has what there is")
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ParameterError(
                "plot needs matplotlib, which is not installed; `pip install 'dpaudit[plot]'`"
            ) from None
        _, ax = plt.subplots(layout="constrained")
    name, places, labels = _axis(results)
    for verdict in dict.fromkeys(result.verdict for result in results):
        these = [i for i, result in enumerate(results) if result.verdict is verdict and quantity in result.measured]
        middles = [_middle(results[i].measured[quantity]) for i in these]
        ends = [_ends(results[i].measured[quantity], middle) for i, middle in zip(these, middles, strict=True)]
        below, above = [low for low, _ in ends], [high for _, high in ends]
        ax.errorbar(
            [places[i] for i in these],
            middles,
            yerr=[below, above],
            fmt="o",
            capsize=3,
            color=_COLOURS[verdict],
            label=verdict.value,
        )
    claims = [(places[i], _claimed(result, quantity)) for i, result in enumerate(results)]
    known = [(place, value) for place, value in claims if value is not None and math.isfinite(value)]
    if known:
        ax.plot([place for place, _ in known], [value for _, value in known], "k_", markersize=14, label="claimed")
    if labels is not None:
        ax.set_xticks(places, labels, rotation=45, ha="right")
    ax.set_xlabel(name)
    ax.set_ylabel(quantity.replace("_", " "))
    ax.set_title(claim)
    ax.legend()
    return ax


def _drawn(result: Result) -> list[str]:
    """Quantities that can be drawn, those with a claimed number first."""
    known = [
        name
        for name, interval in result.measured.items()
        if interval.role is Role.VALUE and any(_is_number(end) for end in (interval.lower, interval.upper))
    ]
    return sorted(known, key=lambda name: not _claimed(result, name))


def _claimed(result: Result, quantity: str) -> float | None:
    for name in (quantity, *(("bound", "published") if quantity == "value" else ())):
        if name in result.claimed:
            return result.claimed[name]
    return None


def _axis(results: list[Result]) -> tuple[str, list[float], list[str] | None]:
    """Name of the axis, and where on it each result stands: by the one number that varies, or else one by one."""
    names = dict.fromkeys(name for result in results for name in result.parameters)
    values = {name: [result.parameters.get(name) for result in results] for name in names}
    varying = [name for name, found in values.items() if len({repr(value) for value in found}) > 1]
    if len(varying) == 1 and all(_is_number(value) for value in values[varying[0]]):
        return varying[0], [float(value) for value in values[varying[0]]], None  # type: ignore[arg-type]
    labels = [", ".join(f"{name}={values[name][i]}" for name in varying) for i in range(len(results))]
    return "setting", [float(i) for i in range(len(results))], labels


def _middle(interval: Interval) -> float:
    ends = [end for end in (interval.estimate, interval.lower, interval.upper) if _is_number(end)]
    return float(ends[0]) if ends else math.nan  # type: ignore[arg-type]


def _ends(interval: Interval, middle: float) -> tuple[float, float]:
    lower, upper = (end if _is_number(end) else middle for end in (interval.lower, interval.upper))
    return max(middle - lower, 0.0), max(upper - middle, 0.0)  # type: ignore[operator]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
