"""The record as text for a terminal or a pipe."""

from __future__ import annotations

import io
import re
import textwrap
from typing import TYPE_CHECKING

from dpaudit.claims.record import METHOD_NONE, Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.findings import tally
from dpaudit.reporting.groups import ClaimGroup, LabelledResult, group_results
from dpaudit.reporting.overview import MOST_SHOWN, is_large, overview_of
from dpaudit.reporting.papers import papers_of
from dpaudit.reporting.reading import by_hand, most_telling, worked_out
from dpaudit.reporting.wording import (
    also_measured,
    clean,
    headline,
    interruption,
    next_step,
    numbers_line,
    pairs_searched,
    reason,
    standing,
    summary_line,
    verify_command,
    witness_lines,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment

_STYLES = {
    Verdict.PROVED: "green",
    Verdict.CERTIFIED: "green",
    Verdict.CONSISTENT: "cyan",
    Verdict.REFUTED: "bold red",
    Verdict.VACUOUS: "yellow",
    Verdict.INAPPLICABLE: "dim",
    Verdict.INCONCLUSIVE: "bold yellow",
    Verdict.ERROR: "bold magenta",
}
_VERDICT_WIDTH = max(len(verdict) for verdict in Verdict)
_DEFAULT_WIDTH = 100
_NARROWEST = 40
_MOST_CELLS = 6
"""A claim with more cells than this gets a line per verdict; the other formats list every cell."""

_MOST_CLAIMS = 1000
"""Claims that are listed of a large record."""

_LONGEST_WITNESS = 400
_NOT_SINGLE_SPACES = re.compile(r"[\t\n\x0b\x0c\r]|  |^ ")


def render_console(record: Record, *, width: int | None = None, color: bool | None = None) -> str:
    """Return what `print_console` prints.

    Parameters
    ----------
    width
        Columns; 100 by default.
    color
        Whether to colour with terminal codes; not by default.
    """
    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=width or _DEFAULT_WIDTH,
        force_terminal=bool(color),
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
    )
    print_console(record, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def print_console(record: Record, console: Console, *, only_unexpected: bool = False) -> None:
    """Print a line per result (unless ``only_unexpected``), what to know of each that is not ok, and the counts.

    Lines are wrapped at the console's width; commands are not, so that they can be copied.
    """
    page = _Page(console)
    if record.partial is not None:
        page.line(interruption(record), style="bold red")
        page.blank()
    if is_large(record):
        _print_summary(page, record, only_unexpected=only_unexpected)
        page.print()
        return
    for target in () if only_unexpected else group_results(record):
        page.line(target.title, style="bold")
        for claim in target.claims:
            _print_claim(page, claim)
            if claim.entry.kind == "figure":
                page.line(claim.shared("statement"), indent=4)
            for cells in _lines(claim):
                page.verdict(cells[0].result, _cell_text(cells[0]), more=len(cells) - 1)
                page.field("also measured", also_measured(cells[0].result), indent=16)
                page.field("only", pairs_searched(cells[0].result), indent=16)
        page.blank()
    bad = [
        (target, claim, cell) for target in group_results(record) for claim, cell in target.cells if not cell.result.ok
    ]
    if not bad:
        _print_witness(page, record)
    if bad:
        page.line(f"Needs attention: {len(bad)} of {len(record.results)}", style="bold")
    for target, claim, cell in bad:
        _print_details(page, claim, cell, target.notation(claim))
    _print_counts(page, record)
    page.print()


def _print_summary(page: _Page, record: Record, *, only_unexpected: bool) -> None:
    """Print what many results have in common: of each claim a result of every verdict, and few that are not ok."""
    overview = overview_of(record)
    light = overview.light(record)
    titled, ordered = "", overview.ordered(record)
    for claim in [] if only_unexpected else ordered[:_MOST_CLAIMS]:
        for first, alike in enumerate(claim.kinds.values()):
            (target,) = overview.part(record, [alike.place])
            (group,) = target.claims
            if target.name != titled:
                page.line(target.title, style="bold")
                titled = target.name
            if not first:
                _print_claim(page, group)
            page.verdict(group.cells[0].result, _cell_text(group.cells[0]), more=alike.count - 1)
    if len(ordered) > _MOST_CLAIMS and not only_unexpected:
        page.line(f"{len(ordered) - _MOST_CLAIMS} more claims are not listed here")
    page.blank()
    if overview.bad:
        page.line(f"Needs attention: {len(overview.bad)} of {len(record.results)}", style="bold")
    shown = overview.bad[:MOST_SHOWN]
    for target in overview.part(record, shown):
        for group, cell in target.cells:
            _print_details(page, group, cell, target.notation(group))
    if len(overview.bad) > len(shown):
        more = len(overview.bad) - len(shown)
        page.line(f"{more} more are not listed here: --output DIR writes pages that show all of them")
    _print_counts(page, light)


def _print_claim(page: _Page, claim: ClaimGroup) -> None:
    nature = f" ({claim.nature})" if claim.nature else ""
    page.line(f"{claim.claim}{nature}" + (f", {claim.constant}" if claim.constant else ""), indent=2)


def _print_counts(page: _Page, record: Record) -> None:
    for view in papers_of({"": record}):
        if view.entry and len(view.claims) + len(view.ours) > 1:
            page.line(f"{view.citation}: {tally(view)}")
    page.line(summary_line(record), style="bold")


def _lines(claim: ClaimGroup) -> list[list[LabelledResult]]:
    """Cells that share a line: those of one verdict, as expected, where a claim has many cells."""
    if len(claim.cells) <= _MOST_CELLS:
        return [[cell] for cell in claim.cells]
    shared: dict[tuple[str, str | int], list[LabelledResult]] = {}
    for cell in claim.cells:
        key = (cell.result.verdict, cell.result.method) if cell.result.ok else ("not ok", cell.number)
        shared.setdefault(key, []).append(cell)
    return list(shared.values())


def _cell_text(cell: LabelledResult) -> str:
    result = cell.result
    untold = result.verdict is Verdict.ERROR or result.method == METHOD_NONE or cell.label.endswith(result.method)
    method = "" if untold else f"; {result.method}"
    numbers = headline(result) + method
    return f"{cell.label}: {numbers}; {standing(result)}" if cell.label else f"{numbers}; {standing(result)}"


def _print_details(page: _Page, claim: ClaimGroup, cell: LabelledResult, notation: str) -> None:
    result = cell.result
    where = f" at {cell.label}" if cell.label else ""
    page.verdict(result, f"{claim.target}, {claim.claim}{where}", indent=0)
    page.field("reason", reason(result))
    page.field("expected because", result.reason)
    page.field("note", result.note)
    page.field("next step", next_step(result))
    page.field("claim", f"{result.statement} ({result.source})" if result.source else result.statement)
    page.field("numbers", numbers_line(result))
    page.field("scope", result.scope)
    _print_witness_of(page, result, notation)
    page.field("repeat", result.command, wrap=False)
    page.field("verify the witness", verify_command(result), wrap=False)
    page.blank()


def _print_witness(page: _Page, record: Record) -> None:
    """Print a witness where one claim was asked for: of its only result, or else of the one that says most."""
    targets = group_results(record)
    if len(targets) != 1 or len(targets[0].claims) != 1:
        return
    (target,), (claim,) = targets, targets[0].claims
    cell = most_telling(claim)
    result = cell.result
    if result.witness is None:
        return
    page.line(f"Witness at {cell.label}" if cell.label else "Witness", style="bold")
    page.field("claim", f"{result.statement} ({result.source})" if result.source else result.statement)
    _print_witness_of(page, result, target.notation(claim))
    if len(record.results) > 1:
        page.field("repeat", result.command, wrap=False)
    page.blank()


def _print_witness_of(page: _Page, result: Result, notation: str) -> None:
    page.field("notation", notation if result.witness else "")
    for name, text in witness_lines(result):
        more = len(text) - _LONGEST_WITNESS
        if more > 0 and name == "event":
            # What an event looks at comes first.
            text = f"{text[:_LONGEST_WITNESS]}… ({more} more characters, see the record)"
        elif more > 0:
            text = "too long to print here, see the record"
        page.field(name, text)
    if worked_out(result):
        page.field(by_hand(result).lower(), worked_out(result))


class _Page:
    """Lines with a hanging indent for a console, which are printed all at once: a console takes long for each print."""

    def __init__(self, console: Console) -> None:
        self.console = console
        # Asking for it is a look at the terminal each time.
        self.width = console.width
        self._segments: list[Segment] = []

    def print(self) -> None:
        """Print what was written."""
        from rich.segment import Segments

        self.console.print(Segments(self._segments), soft_wrap=True, end="")

    def blank(self) -> None:
        self._print("")

    def line(self, text: str, *, indent: int = 0, style: str = "") -> None:
        for part in self._wrapped(text, " " * indent, " " * (indent + 2)):
            self._print(part, style=style)

    def verdict(self, result: Result, text: str, *, indent: int = 4, more: int = 0) -> None:
        """Print a verdict with its text, and how many ``more`` results it stands for."""
        start = " " * indent + result.verdict.ljust(_VERDICT_WIDTH) + "  "
        text += f"; and {more} more like it" if more else ""
        hanging = len(start) if self.width >= _NARROWEST else indent + 2
        first, *rest = self._wrapped(text, start, " " * hanging)
        self._print(first, style=_STYLES[result.verdict], end=len(start))
        for part in rest:
            self._print(part)

    def field(self, name: str, text: str, *, wrap: bool = True, indent: int = 4) -> None:
        if not text:
            return
        if not wrap:
            self._print(f"    {name}: {' '.join(text.split())}")
            return
        for i, part in enumerate(text.splitlines()):
            first = " " * indent + f"{name}: "
            for line in self._wrapped(part, " " * (indent + 2) if i else first, " " * (indent + 2)):
                self._print(line)

    def _wrapped(self, text: str, first: str, rest: str) -> list[str]:
        return wrapped(text, max(self.width, 20), first, rest)

    def _print(self, line: str, *, style: str = "", end: int | None = None) -> None:
        from rich.segment import Segment
        from rich.style import Style

        text = clean(line).replace("\t", " ")
        end = len(text) if end is None else end
        self._segments += [Segment(text[:end], Style.parse(style) if style else None), Segment(f"{text[end:]}\n")]


def wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """Return what `textwrap.wrap` does without breaking words, and one line at least.

    Notes are long and many, and `textwrap` takes a text apart into words that it puts together again.
    """
    text = text.rstrip(" ")
    if not text or _NOT_SINGLE_SPACES.search(text):
        return textwrap.wrap(
            text,
            width=width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [first.rstrip()]
    lines, start, indent = [], 0, first
    while len(text) - start > (room := max(width - len(indent), 0)):
        end = text.rfind(" ", start, start + room + 1)
        if end < 0:
            end = text.find(" ", start + room)
        if end < 0:
            break
        lines.append(indent + text[start:end])
        start, indent = end + 1, rest
    return [*lines, indent + text[start:]]
