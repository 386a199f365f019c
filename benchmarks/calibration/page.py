"""The tables as Markdown."""

from __future__ import annotations

import math
import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from tables import markdown, versions

from calibration.interface import KINDS, Case, Tool
from calibration.rates import Tally, interval, mark, repeated, summed

LIBRARIES = ("dpaudit", "numpy", "scipy", "scikit-learn", "jax-privacy")
WIDTH = 120
UNTRUE = ("null", "exact")
"""Classes in which every bound above what is promised is a false alarm."""

Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was run."""

    confidence: float
    samples: int
    runs: int
    power_samples: Sequence[int]
    power_runs: int
    arguments: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Tallies by tool, case and number of samples, and everything that they are of."""

    settings: Settings
    tools: Sequence[Tool]
    cases: Sequence[Case]
    tallies: dict[Key, Tally]
    absent: Sequence[Tool] = ()

    def of(self, tool: Tool, case: Case, samples: int) -> Tally:
        return self.tallies.get((tool.name, case.name, samples), Tally())

    def honest(self, tool: Tool, kind: str | None = None) -> list[Tally]:
        """Tallies of the cases where every finding is false, of one class or of both."""
        return [
            self.of(tool, case, self.settings.samples)
            for case in self.cases
            if case.kind in ((kind,) if kind else UNTRUE)
        ]

    def broken(self, tool: Tool, samples: int) -> list[Tally]:
        return [self.of(tool, case, samples) for case in self.cases if case.kind == "broken"]

    def compared(self, tool: Tool) -> int:
        """Number of rates of false alarms that are compared with what the tool states."""
        return sum(tally.applies for (name, _, _), tally in self.tallies.items() if name == tool.name)

    def marked(self, tool: Tool, case: Case, samples: int) -> str:
        """The mark of one rate among all of them."""
        tally = self.of(tool, case, samples)
        if not tally.applies:
            return ""
        return mark(tally.alarms, tally.runs, tool.stated(self.settings.confidence), self.compared(tool))

    def exceeds(self, tool: Tool) -> list[str]:
        """Cases in which the tool's rate of false alarms is above what it states, at any number of samples."""
        return [case.name for case in self.cases if any(self.marked(tool, case, size) == "!" for size in self.sizes)]

    @property
    def sizes(self) -> list[int]:
        """All numbers of samples."""
        return sorted({self.settings.samples, *self.settings.power_samples})

    def counted(self, tool: Tool) -> bool:
        """Whether there is any bound of the tool that could have been a false alarm."""
        return any(
            self.of(tool, case, size).applies
            for case in self.cases
            if math.isfinite(case.truth())
            for size in self.sizes
        )

    def gaps(self, tool: Tool) -> list[str]:
        """Cases in which some audits of the tool returned no bound, though it applies to others of them or failed."""
        return [case.name for case in self.cases if any(self.of(tool, case, size).gaps for size in self.sizes)]

    def repeated(self, tool: Tool) -> dict[str, list[str]]:
        """What shows that the tool's audits are not independent, and the cases that show it."""
        shown: dict[str, list[str]] = {}
        for size in self.sizes:
            for case in self.cases:
                reason = repeated(self.of(tool, case, size), case)
                if reason and case.name not in shown.setdefault(reason, []):
                    shown[reason].append(case.name)
        return {reason: names for reason, names in shown.items() if names}

    def overdrawn(self, tool: Tool) -> dict[str, float]:
        """By which factor the tool drew too many outputs of an input, in every case where it did."""
        found = {}
        for case in self.cases:
            factor = max(self.of(tool, case, size).drawn / size for size in self.sizes)
            if factor > 1:
                found[case.name] = factor
        return found


def summary(results: Results) -> list[tuple[str, ...]]:
    """A line for every tool."""
    settings = results.settings
    powers = [f"power at {samples:,}" for samples in settings.power_samples]
    lines = [
        ("tool", "stated", "null: false alarms", "exact: false alarms", "both", "cases above", *powers, "ms an audit")
    ]
    for tool in results.tools:
        stated = tool.stated(settings.confidence)
        rates = [_rate(summed(results.honest(tool, kind)), stated) for kind in (*UNTRUE, None)]
        every = summed(results.honest(tool))
        milliseconds = f"{1000 * every.seconds / every.audits:.1f}" if every.applies else ""
        found = [_power(results.broken(tool, samples)) for samples in settings.power_samples]
        lines.append((tool.name, f"{stated:.0%}", *rates, str(len(results.exceeds(tool))), *found, milliseconds))
    return lines


def _rate(tally: Tally, stated: float) -> str:
    if not tally.applies:
        return ""
    low, high = interval(tally.alarms, tally.runs)
    flag = mark(tally.alarms, tally.runs, stated)
    rate = f"{tally.alarms} of {tally.runs:,}: {tally.alarms / tally.runs:.2%} ({low:.2%} to {high:.2%})"
    return f"{rate} {flag}".rstrip()


def _power(tallies: Sequence[Tally]) -> str:
    """Mean share of the audits that found the bug, over the cases to which the tool applies, and their number."""
    some = [tally.power for tally in tallies if tally.applies]
    return f"{sum(some) / len(some):.2f} of {len(some)}" if some else ""


def alarms(results: Results) -> list[tuple[str, ...]]:
    """False alarms of every tool in every null and every exact case."""
    lines = [("case", *(tool.name for tool in results.tools))]
    for case in results.cases:
        if case.kind in UNTRUE:
            cells = []
            for tool in results.tools:
                tally = results.of(tool, case, results.settings.samples)
                flag = results.marked(tool, case, results.settings.samples)
                # Where some audits returned no bound, the count is of the others, and the cell has their number.
                of = f" of {tally.runs:,}" if tally.gaps else ""
                cells.append(f"{tally.alarms}{of} {flag}".rstrip() if tally.applies else _without_bounds(tally))
            lines.append((case.name, *cells))
    return lines


def _without_bounds(tally: Tally) -> str:
    """The cell of a case with no bound at all: it is blank where the tool does not apply."""
    return "fails" if tally.failures else ""


def powers(results: Results) -> list[tuple[str, ...]]:
    """Shares of audits that found the bug, at every number of samples."""
    lines = [("case", "promised", "true epsilon", *(tool.name for tool in results.tools))]
    for case in results.cases:
        if case.kind == "broken":
            cells = []
            for tool in results.tools:
                found = [results.of(tool, case, samples) for samples in results.settings.power_samples]
                if any(tally.applies for tally in found):
                    cells.append(" / ".join(f"{tally.power:.2f}" if tally.applies else "-" for tally in found))
                else:
                    cells.append(next(filter(None, map(_without_bounds, found)), ""))
            lines.append((case.name, _promised(case), _number(case.truth()), *cells))
    return lines


def wrong_on_broken(results: Results) -> list[tuple[str, ...]]:
    """Bounds above the truth in the broken cases whose true epsilon is finite."""
    lines = [("tool", *(f"{samples:,} samples" for samples in results.settings.power_samples))]
    finite = [case for case in results.cases if case.kind == "broken" and math.isfinite(case.truth())]
    for tool in results.tools:
        rates = [
            _rate(summed(results.of(tool, case, samples) for case in finite), tool.stated(results.settings.confidence))
            for samples in results.settings.power_samples
        ]
        lines.append((tool.name, *rates))
    return lines


def described(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """What the cases are."""
    lines = [("case", "class", "promised", "true epsilon", "trap or bug")]
    for kind in KINDS:
        lines += [
            (case.name, kind, _promised(case), _number(case.truth()), case.trap) for case in cases if case.kind == kind
        ]
    return lines


def _promised(case: Case) -> str:
    delta = case.mechanism.delta
    return _number(case.mechanism.epsilon) + (f", delta {delta:g}" if delta else "")


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.4g}"


def page(results: Results) -> str:
    """The whole page."""
    settings = results.settings
    command = shlex.join(["python", "benchmarks/calibration", *settings.arguments])
    parts = [
        "# Calibration of auditing tools",
        "",
        *_findings(results),
        "",
        f"`{command}` with {versions(LIBRARIES)}",
        "",
        "## Summary",
        "",
        *_wrapped(_explained(settings)),
        "",
        *markdown(summary(results)),
        "",
        "## False alarms of each case",
        "",
        *_wrapped(
            f"Of {settings.runs:,} audits with {settings.samples:,} samples per input. Marks are as above, with "
            "Bonferroni's correction. A blank says that the tool does not apply, and `fails` that no audit "
            "returned a bound."
        ),
        "",
        *markdown(alarms(results)),
        "",
        "## Power in each broken case",
        "",
        f"At {', '.join(f'{samples:,}' for samples in settings.power_samples)} samples per input.",
        "",
        *markdown(powers(results)),
        "",
        "## Bounds above the truth in the broken cases",
        "",
        *markdown(wrong_on_broken(results)),
        "",
        "## Cases",
        "",
        *markdown(described(results.cases)),
        "",
        "## Tools",
        "",
    ]
    for tool in results.tools:
        parts += _wrapped(f"- **{tool.name}.** {tool.how or 'From a file.'}")
    for tool in results.absent:
        parts += _wrapped(f"- **{tool.name}**: absent, because `{tool.requires}` is not installed.")
    gaps = [
        f"- {tool.name}, {case.name}, {size:,} samples: {results.of(tool, case, size).gaps}"
        for tool in results.tools
        for case in results.cases
        for size in results.sizes
        if results.of(tool, case, size).gaps
    ]
    if gaps:
        parts += ["", "## Audits without a bound", "", *gaps]
    return "\n".join(parts) + "\n"


def _explained(settings: Settings) -> str:
    return (
        f"Lower bounds on epsilon at {settings.confidence:.0%} confidence. False alarms are bounds above the true "
        f"epsilon, in {settings.runs:,} audits of every case, each with {settings.samples:,} samples per input; in "
        "brackets, the 95 % Clopper-Pearson interval. `!` marks an interval wholly above the stated error probability, "
        'and `-` one wholly below it, which is allowed. "Cases above" counts the cases, broken ones included, whose '
        "own interval is above it, with Bonferroni's correction for all such intervals of a tool. Power is the mean "
        "share of audits whose bound is above what a broken mechanism promises, over "
        f"{settings.power_runs:,} audits of each, and of how many broken cases: a tool applies to some only. A power "
        "that comes with false alarms is worth nothing. The last column is processor time, samples included."
    )


def _findings(results: Results) -> list[str]:
    """What the tables show, in sentences."""
    honest = [tool for tool in results.tools if not tool.control]
    unmarked = [
        tool.name
        for tool in honest
        if results.counted(tool)
        and not results.exceeds(tool)
        and not _classes_above(results, tool)
        and not results.repeated(tool)
    ]
    found = []
    if unmarked:
        found.append(f"Nowhere more false alarms than stated, as far as was seen: {'; '.join(unmarked)}.")
    if uncounted := [tool.name for tool in honest if not results.counted(tool)]:
        found.append(f"No bound that could have been a false alarm, and so nothing is known: {'; '.join(uncounted)}.")
    for tool in honest:
        if cases := results.exceeds(tool):
            found.append(f"{tool.name}: false alarms above the stated error probability in {', '.join(cases)}.")
        if classes := _classes_above(results, tool):
            found.append(f"{tool.name}: false alarms above it over all {' and all '.join(classes)} cases together.")
    for tool in results.tools:
        found += [
            f"{tool.name}: {reason}: the runs are not independent, and its rates say nothing, in {', '.join(cases)}."
            for reason, cases in results.repeated(tool).items()
        ]
        if factors := results.overdrawn(tool):
            found.append(
                f"{tool.name}: drew up to {max(factors.values()):.3g} times as many outputs of an input as allowed "
                f"(cases: {len(factors)})."
            )
    found += [
        f"{tool.name}: some audits returned no bound, and only the others are counted: {', '.join(cases)}."
        for tool in results.tools
        if (cases := results.gaps(tool))
    ]
    controls = [tool for tool in results.tools if tool.control]
    if seen := [f"{tool.name} (cases: {len(results.exceeds(tool))})" for tool in controls if results.exceeds(tool)]:
        found.append(f"Wrong on purpose, and marked: {'; '.join(seen)}.")
    if missed := [tool.name for tool in controls if not results.exceeds(tool)]:
        found.append(f"Wrong on purpose, and not marked by these cases: {'; '.join(missed)}.")
    return [line for text in found for line in ("", *_wrapped(text))][1:]


def _classes_above(results: Results, tool: Tool) -> list[str]:
    """Classes over which the tool's rate is above what it states."""
    stated = tool.stated(results.settings.confidence)
    totals = {kind: summed(results.honest(tool, kind)) for kind in UNTRUE}
    return [
        kind
        for kind, tally in totals.items()
        if tally.applies and mark(tally.alarms, tally.runs, stated, len(UNTRUE)) == "!"
    ]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        break_long_words=False,
        break_on_hyphens=False,
        subsequent_indent="  " if text.startswith("- ") else "",
    )
