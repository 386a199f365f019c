"""The sentences that all formats share: the main number of a result, why it is not ok, the counts."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from urllib.parse import quote

from dpaudit.claims.evidence import Counterexample, Interval, Remedy, Violation
from dpaudit.claims.guarantees import (
    ABSOLUTE_ROUNDING,
    ROUNDING,
    PrivacyProfile,
    RenyiCurve,
    TradeOff,
    ZeroConcentratedDP,
)
from dpaudit.claims.record import METHOD_ENDED, METHOD_UNUSABLE, Record, Result, plain
from dpaudit.claims.verdicts import Verdict
from dpaudit.escapes import visible
from dpaudit.reporting.differences import difference
from dpaudit.reporting.numbers import DIGITS, format_interval, format_number, relation, telling_digits

_MEASURED_AS = {"bound": "value", "published": "value"}
_LIBRARY = re.compile(r"^[a-z][a-z0-9_-]+:")
"""What stands before the file or module of an object of a library; the letter of a drive is too short for one."""

ADDRESS = re.compile(r"https?://[!-;=?-~]+", re.ASCII)
"""An address that a page may link to."""

EXPONENTS = ("exponent", "exponent_at_most")
"""Names of a claimed exponent: of growth that is just so, and of growth that is no faster."""

_EXPONENT_IN_THE_LIMIT = "exponent_in_the_limit"
_OF_PAIRS = re.compile(r"\d+ (of \d+ pairs searched|pairs searched, of .+)")
"""What a scope says where not all pairs of inputs were searched."""

_LIMIT = "detection_limit"
_CONTEXT = ("tightness", "slack", _LIMIT, "trivial")
"""Quantities that say how to read the decisive one."""

_COMPARED = {"tightness": "claimed over measured", "slack": "above 1 the bound is kept"}
"""What the context compares, where it stands."""

_ACTUAL, _CLAIMED = "actual", "claimed"
_LABELS = {
    "tightness": "tightness (claimed over measured)",
    "detectable_shift": "detectable shift (error of one probability in `sample` that would have been seen)",
    "detectable_variation": "detectable variation (total variation distance of `sample` that would have been seen)",
    "slack": "slack (above 1: room between value and bound)",
    "trivial": "trivial (what needs no input)",
}
_FORCED_LABELS = {
    PrivacyProfile.kind: "shift (what must be added to every epsilon of the profile)",
    RenyiCurve.kind: "scale (by what every epsilon of the curve must be multiplied)",
    TradeOff.kind: "shift (what must be subtracted from the normal quantile of every type II error)",
}
"""What a forced parameter means whose name does not say it, by the kind of the guarantee."""

_REMEDIES = {
    Remedy.SAMPLES: "repeat it with more --samples",
    Remedy.TIME: "allow more time: raise --seconds",
    Remedy.FEATURES: (
        "say what to look at in the outputs: define `features`, or `supports` where a report speaks for some inputs; "
        "or return coarser outputs; of a program, leave what is new in every output out of what it writes, or give "
        "`dpaudit.CommandMechanism` such functions"
    ),
    Remedy.EXACT: "no number of samples helps: give an exact law, or a finer enclosure of it",
    Remedy.POINTS: "give other points, over a wider range",
    Remedy.SAMPLING: "audit it by sampling, as a PrivacyClaim, or name the functions that add noise",
}
_SIDES = {"at-most": "at most ", "at-least": "at least ", "equal": ""}
_UNPLANNED = "expected any verdict but refuted"
_NO_PASS = (Verdict.INCONCLUSIVE, Verdict.ERROR)
_LARGEST_WHOLE = 2**53
_LONGEST_WITNESS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One quantity of a result as text; ``claimed`` or ``measured`` is empty where there is none."""

    name: str
    label: str
    claimed: str
    measured: str


def quantities(result: Result) -> tuple[Quantity, ...]:
    """Return what is claimed and what was measured, the claimed quantities first."""
    claimed = {_measured_as(result, name): value for name, value in result.claimed.items()}
    if result.guarantee == ZeroConcentratedDP.kind and not claimed.get("delta"):
        # The pure form has no delta.
        claimed.pop("delta", None)
    names = dict.fromkeys([*claimed, *result.measured])
    rows = []
    for name in names:
        if _is_limit(name) and result.verdict is Verdict.REFUTED:
            # What would have been found says nothing where something was.
            continue
        measured, claim = result.measured.get(name), claimed.get(name)
        digits = _digits(result, name, measured, claim)
        rows.append(
            Quantity(
                name=name,
                label=_label(result, name),
                claimed="" if claim is None else format_number(claim, digits=digits),
                measured="" if measured is None else format_interval(measured, digits=digits),
            )
        )
    return tuple(rows)


def headline(result: Result) -> str:
    """Return the number that decides a result, compared with the claimed one, and how tight the claim is.

    Without a number: what the note says.
    """
    if result.verdict is Verdict.ERROR:
        unusable = result.method == METHOD_UNUSABLE
        if result.method == METHOD_ENDED:
            return "the process of the target ended"
        return "the target cannot be judged as it is" if unusable else "the target or its check raised"
    name = _main_quantity(result)
    rows = {row.name: row for row in quantities(result)}
    if name is None or name not in rows or (result.verdict is Verdict.VACUOUS and result.note):
        return result.note or "nothing measured"
    parts = [_comparison(result, rows[name])]
    if isinstance(result.witness, Counterexample):
        parts = [contradiction(result, result.witness)]
    elif name in (_ACTUAL, _CLAIMED) and _ACTUAL in rows and _CLAIMED in rows:
        # A lemma's own numbers, which say nothing about which of the two has to be larger.
        parts = [f"{_ACTUAL} {rows[_ACTUAL].measured}, {_CLAIMED} {rows[_CLAIMED].measured}"]
    shown = sorted((other for other in result.measured if other in rows and _is_context(other)), key=_context_order)
    parts += [_context(other, rows[other].measured) for other in shown]
    return "; ".join(parts)


def contradiction(result: Result, found: Counterexample) -> str:
    """Return what a counterexample's number must be by the claim, and what it is."""
    digits = max(DIGITS, telling_digits(Interval.exact(found.measured), found.claimed))
    name = _main_quantity(result)
    interval = None if name is None else result.measured[name]
    exact = result.kind in ("lemma", "stability", "noise") or interval is None or interval.lower == interval.upper
    above = found.direction == "at-most" or (found.direction == "equal" and found.measured > found.claimed)
    side = "" if exact else _SIDES["at-least" if above else "at-most"]
    claimed = format_number(found.claimed, digits=digits)
    return f"must be {_SIDES[found.direction]}{claimed}; is {side}{format_number(found.measured, digits=digits)}"


def also_measured(result: Result) -> str:
    """Return what a result reports besides the audited quantity and its context; empty where there is nothing."""
    if result.kind == "privacy" or result.verdict is Verdict.ERROR:
        return ""
    others = {*_MEASURED_AS.values(), "worst", _ACTUAL, _CLAIMED, "margin", _main_quantity(result)}
    rows = (row for row in quantities(result) if row.name not in others and not _is_context(row.name))
    return "; ".join(f"{row.label} {row.measured}" for row in rows)


def pairs_searched(result: Result) -> str:
    """Return which part of the pairs of inputs a claim that seems to hold was held against; empty where that is all."""
    found = _OF_PAIRS.search(result.scope) if result.verdict is Verdict.CONSISTENT else None
    return "" if found is None else found[0]


def numbers_line(result: Result) -> str:
    """Return all numbers of a result on one line."""
    parts = []
    for row in quantities(result):
        claimed = f"claimed {row.claimed}" if row.claimed else ""
        measured = f"measured {row.measured}" if row.measured and row.claimed else row.measured
        parts.append(f"{row.name.replace('_', ' ')} " + ", ".join(part for part in (measured, claimed) if part))
    return "; ".join(parts) or "none"


def standing(result: Result) -> str:
    """Return how the verdict stands to the expected one, in a few words."""
    if result.ok:
        return f"expected {result.expected}" if result.expected else "no expectation"
    if result.verdict in _NO_PASS:
        return f"expected {result.expected}, no pass" if result.expected else "no pass"
    return f"expected {result.expected}, not as expected" if result.expected else _UNPLANNED


def reason(result: Result) -> str:
    """Return why a result is not ok; empty where it is."""
    if result.ok:
        return ""
    if result.expected is not None:
        text = f"expected {result.expected}, got {result.verdict}"
    elif result.verdict is Verdict.REFUTED:
        text = f"refuted; {_UNPLANNED}"
    else:
        text = f"got {result.verdict}"
    if result.verdict is Verdict.INCONCLUSIVE:
        text += ", which is never a pass"
    if result.verdict is Verdict.ERROR:
        text += f": {headline(result)}"
    return text


def next_step(result: Result) -> str:
    """Return what to do about a result that is not ok; empty where it is."""
    if result.ok:
        return ""
    if result.verdict is Verdict.ERROR:
        if result.method == METHOD_UNUSABLE:
            return "mend what the note names"
        if result.method == METHOD_ENDED:
            return "look for what ends the process: `os._exit`, a crash of a compiled library, too little memory"
        if "; the request was {" in result.note:
            return "give the program the request in the note, as a line on its standard input"
        if " --command " in result.command:
            return "mend what the note names"
        return "repeat it with --debug, which shows the traceback"
    if result.verdict is Verdict.INCONCLUSIVE:
        if result.remedy is Remedy.SAMPLES and result.samples:
            return f"repeat it with --samples {10 * result.samples}"
        # Without a remedy the note says what there is to say.
        return _REMEDIES[result.remedy] if result.remedy else "" if result.note else _REMEDIES[Remedy.SAMPLES]
    if result.expected is None:
        return "check the witness; then mend the mechanism or the claim, or expect it in a plan, with the reason"
    better = result.verdict in (Verdict.PROVED, Verdict.CERTIFIED, Verdict.CONSISTENT)
    if result.expected is Verdict.REFUTED and better:
        understand = "find out whether the claim has come true or the audit has become weaker"
    elif result.verdict is Verdict.REFUTED:
        understand = "check the witness, and mend the mechanism or the claim"
    else:
        understand = "find out what has changed"
    return f'{understand}; where the new verdict is right, let the plan expect "{result.verdict}", with the reason'


def witness_lines(result: Result) -> tuple[tuple[str, str], ...]:
    """Return the parts of a witness by name, with all digits, so that a reader can recompute it."""
    witness = result.witness
    if witness is None:
        return ()
    if isinstance(witness, Violation):
        parts = [
            ("data", witness.data),
            ("neighbour", witness.neighbour),
            ("differ in", difference(witness.data, witness.neighbour) or None),
            ("event", witness.event),
            ("p (probability of the event on data)", witness.p),
            ("q (probability of the event on neighbour)", witness.q),
            *((f"{name} that follows", value) for name, value in witness.forces.items()),
        ]
    else:
        parts = [
            # A setting in words says again what the scope says.
            ("instance", None if witness.instance in (result.scope, {}) else witness.instance),
            ("quantity", witness.quantity),
            ("measured", _whole(witness.measured)),
            (
                f"claimed{_SIDES[witness.direction] and ', ' + _SIDES[witness.direction].strip()}",
                _whole(witness.claimed),
            ),
            *((name, _whole(value)) for name, value in witness.details.items()),
        ]
    texts = (
        (name, part if name in ("quantity", "differ in") else json.dumps(plain(part), ensure_ascii=False))
        for name, part in parts
        if part is not None
    )
    return tuple((name, _shortened(text)) for name, text in texts)


def _whole(value: float) -> float:
    """Return a number as it is, without a decimal point where it is whole."""
    return int(value) if float(value).is_integer() and abs(value) < _LARGEST_WHOLE else value


def _shortened(text: str) -> str:
    more = len(text) - _LONGEST_WITNESS
    return text if more <= 0 else f"{text[:_LONGEST_WITNESS]} … ({more} more characters: see the record)"


def verify_command(result: Result) -> str:
    """Return the command that checks the witness on fresh samples; empty where there is no file to check."""
    if not result.witness_file:
        return ""
    words = shlex.split(result.command)
    # A command, and code outside of the current folder, run only where the user names them.
    named = []
    if "--command" in words[:-1]:
        named = ["--target", words[words.index("--command") + 1]]
    elif words[1:2] == ["check"] and _may_be_elsewhere(*words[2:3]):
        named = ["--target", words[2]]
    return shlex.join(["dpaudit", "verify", result.witness_file, *named])


def _may_be_elsewhere(target: str = "") -> bool:
    """Whether a TARGET argument, as records hold it, may mean code outside of the folder where the audit ran.

    A record does not say where a module is; those of users' own packages mostly are installed.
    """
    place = target.partition("::")[0]
    if place.endswith(".py"):
        file = _LIBRARY.sub("", place)
        return PurePosixPath(file).is_absolute() or PureWindowsPath(file).is_absolute() or ".." in PurePath(file).parts
    return ":" in place and not _LIBRARY.sub("", place).startswith("dpaudit.")


def witness_link(result: Result) -> str:
    """Return where the witness file lies as seen from the report; empty where there is none."""
    return f"witnesses/{PurePosixPath(result.witness_file).name}" if result.witness_file else ""


def counts(record: Record) -> dict[Verdict, int]:
    """Count the verdicts that occur, in the order of the vocabulary."""
    verdicts = [result.verdict for result in record.results]
    return {verdict: verdicts.count(verdict) for verdict in Verdict if verdict in verdicts}


def conclusion(record: Record) -> str:
    """Return how many results are not as expected, and whether any are missing, in a sentence without its full stop."""
    words = _expectations(record)
    partial = record.partial
    return words if partial is None else f"{words}; interrupted with {partial.results} of {partial.cells} cells audited"


def _expectations(record: Record) -> str:
    total, failed, without = len(record.results), 0, 0
    for result in record.results:
        without += not result.ok and result.verdict in _NO_PASS
        failed += not result.ok and result.verdict not in _NO_PASS
    if not total:
        return "nothing was checked"
    if not failed + without:
        return "all as expected" if all(result.expected for result in record.results) else "nothing unexpected"
    parts = [f"{failed} not as expected"] if failed else []
    parts += [f"{without} no pass (inconclusive or error)"] if without else []
    return ", ".join(parts)


def interruption(record: Record) -> str:
    """Return what a reader of a record has to know first if its run was interrupted; empty if it was not."""
    partial = record.partial
    if partial is None:
        return ""
    have = "has" if partial.results == 1 else "have"
    return (
        f"Interrupted: {partial.results} of {partial.cells} cells {have} a result, and nothing is said of the others. "
        "If it had --output, the same command goes on from there."
    )


def summary_line(record: Record) -> str:
    """Return the counts per verdict and how many results are not as expected."""
    total = len(record.results)
    apart = _refuted_apart(record)
    words = ", ".join(
        f"{count} {verdict}" + (f" ({apart})" if apart and verdict is Verdict.REFUTED else "")
        for verdict, count in counts(record).items()
    )
    start = f"{total} result{'' if total == 1 else 's'}"
    return f"{start}: {words}; {conclusion(record)}" if words else f"{start}; {conclusion(record)}"


def _refuted_apart(record: Record) -> str:
    """How many of the refuted results are about no claim of a paper."""
    entries = [record.claims[result.claim] for result in record.results if result.verdict is Verdict.REFUTED]
    controls = sum(bool(entry.bug) for entry in entries)
    ours = sum(entry.ours and not entry.bug for entry in entries)
    parts = [f"{ours} of statements of ours"] * bool(ours) + [f"{controls} of controls"] * bool(controls)
    return " and ".join(parts)


def provenance(record: Record) -> str:
    """Return what a reader needs to run the audit again."""
    run = f"dpaudit {record.version}, seed {record.seed}"
    sampled = sum(result.error_probability is not None for result in record.results)
    if not sampled:
        return f"{run}; no result is subject to sampling error"
    results = f"{sampled} result{'' if sampled == 1 else 's'} that sampled"
    return f"{run}; error probability {format_number(record.error_probability)}, summed over the {results}"


def shortened(text: str, longest: int) -> str:
    """Return a text, cut where it is longer than a page should hold."""
    return text if len(text) <= longest else f"{text[:longest].rstrip()} …"


def clean(text: str) -> str:
    """Make visible what no output can hold, would steer a terminal or turn the direction of reading."""
    return visible(text.replace("\r\n", "\n"))


def quoted(text: str) -> str:
    """Return text as part of an address, lone surrogates included."""
    return quote(text.encode("utf-8", "surrogatepass"))


def _main_quantity(result: Result) -> str | None:
    names = [_measured_as(result, name) for name in result.claimed]
    if result.kind == "privacy":
        # The last parameter of a guarantee is decisive, unless nothing is granted there.
        names = [*(name for name in reversed(names) if result.claimed[name]), *names]
    return next((name for name in [*names, *result.measured] if name in result.measured), None)


def _comparison(result: Result, row: Quantity) -> str:
    start = f"{row.name.replace('_', ' ')} {row.measured}"
    if not row.claimed:
        return start
    measured, claim = result.measured[row.name], _claimed(result, row.name)
    claimed = "published" if "published" in result.claimed else "claimed"
    if "exponent_at_most" in result.claimed:
        return f"{start}, claimed at most {row.claimed}"
    if _equal_but_for_rounding(result, row.name, measured, claim):
        return f"{start} = {claimed} {row.claimed}, up to rounding"
    # Of exponents neither is the better side: the verdict weighs three of them.
    sign = "" if result.kind == "rate" else relation(measured, claim)
    return f"{start} {sign} {claimed} {row.claimed}" if sign else f"{start}, {claimed} {row.claimed}"


def _claimed(result: Result, name: str) -> float:
    return next(value for key, value in result.claimed.items() if _measured_as(result, key) == name)


def _measured_as(result: Result, claimed: str) -> str:
    """Name of the quantity that is held against a claimed one."""
    if claimed in EXPONENTS:
        # All three exponents are beyond a claim that is refuted; others are decided by what growth tends to.
        limit = _EXPONENT_IN_THE_LIMIT
        return limit if result.verdict is not Verdict.REFUTED and limit in result.measured else EXPONENTS[0]
    return _MEASURED_AS.get(claimed, claimed)


def _digits(result: Result, name: str, measured: Interval | None, claim: float | None) -> int:
    if measured is None or claim is None or result.kind == "rate":
        return DIGITS
    if _equal_but_for_rounding(result, name, measured, claim):
        return DIGITS
    return telling_digits(measured, claim)


def _equal_but_for_rounding(result: Result, name: str, measured: Interval, claim: float) -> bool:
    """Whether floating point alone tells the two apart; never so where the verdict says that they differ."""
    if result.verdict is Verdict.REFUTED or measured.lower is None or measured.upper is None:
        return False
    if measured.lower == measured.upper == claim:
        return False
    allowed = ROUNDING * (abs(claim) or 1.0)
    if result.kind == "privacy" and name != "delta" and measured.upper > claim:
        # What the verdict takes to be equal.
        allowed = ROUNDING * abs(claim) + ABSOLUTE_ROUNDING
    return max(abs(measured.lower - claim), abs(measured.upper - claim)) <= allowed


def _context(name: str, measured: str) -> str:
    """A quantity that says how to read the decisive one, with what it compares."""
    meaning = f" ({_COMPARED[name]})" if name in _COMPARED else ""
    return f"{name.replace('_', ' ')} {measured}{meaning}"


def _is_limit(name: str) -> bool:
    """Whether a quantity is a detection limit; of a parameter other than the guarantee's own, that follows the name."""
    return name == _LIMIT or name.startswith(f"{_LIMIT}_")


def _is_context(name: str) -> bool:
    return name in _CONTEXT or _is_limit(name)


def _context_order(name: str) -> tuple[int, str]:
    return _CONTEXT.index(_LIMIT if _is_limit(name) else name), name


def _label(result: Result, name: str) -> str:
    if name in ("shift", "scale") and result.guarantee in _FORCED_LABELS:
        return _FORCED_LABELS[result.guarantee]
    if _is_limit(name) and name != _LIMIT:
        return f"detection limit ({name.removeprefix(_LIMIT)[1:].replace('_', ' ')})"
    return _LABELS.get(name, name.replace("_", " "))
