"""Keeping the revisions of the auditors: what changed, and whether numbers moved.

``python -m dpaudit.runner.revisions`` says which auditors' code differs from what ``revisions.json`` says.
``--new NAME`` gives an auditor a new revision number: its results are outdated. ``--rerun NAME`` runs recorded results
of the auditor again; where all numbers are equal, the revision stays and the file takes the new fingerprint.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from dpaudit.auditors.revisions import ENTRIES, Revision, auditors_of, revisions, write_revisions
from dpaudit.catalog import ROOT
from dpaudit.claims.record import Record, Result, read_record
from dpaudit.errors import DpauditError, ParameterError
from dpaudit.runner.code import VOCABULARY, Codebase, Reader
from dpaudit.runner.outcome import Settings, run_cell
from dpaudit.runner.request import Request

_ROUNDING = 1e-12
_RERUN = 12
"""Recorded results that a re-run takes, of different claims as far as there are so many."""


@cache
def code_of_auditor(name: str) -> str:
    """Fingerprint of an auditor's code with all that it calls, without the other auditors.

    Parameters
    ----------
    name
        One of `dpaudit.auditors.revisions.ENTRIES`.
    """
    others = [entry for other, entries in ENTRIES.items() if other != name for entry in entries]
    cut = [entry for entry in others if entry not in ENTRIES[name]]
    codebase = Codebase(left_out=VOCABULARY, cut=cut, reader=_reader())
    return codebase.fingerprint(ENTRIES[name]).digest


@cache
def _reader() -> Reader:
    """Reads the modules for all auditors, most of whose code is the same."""
    return Reader()


def changed_auditors() -> list[str]:
    """Auditors whose code is not that of their recorded revision."""
    known = revisions()
    return [name for name in ENTRIES if name not in known or known[name].code != code_of_auditor(name)]


def rerun(name: str, records: Sequence[Record]) -> tuple[int, list[str]]:
    """Run recorded results of an auditor again.

    Parameters
    ----------
    name
        The auditor.
    records
        Records of the catalogue.

    Returns
    -------
    equal : int
        How many results are equal.
    moved : list of str
        Commands of those that are not.

    Raises
    ------
    ParameterError
        No recorded result is the auditor's.
    """
    from dpaudit.runner.cells import build_cells

    chosen: dict[str, tuple[Record, Result]] = {}
    for record in records:
        for result in record.results:
            used = auditors_of(result.kind, result.method, sampled=bool(result.samples))
            if name in used and not result.timed:
                known = chosen.get(result.claim)
                if known is None or result.samples < known[1].samples:
                    chosen[result.claim] = (record, result)
    if not chosen:
        raise ParameterError(f"no recorded result is by the auditor {name!r}; give it a new revision")
    equal, moved = 0, []
    cheapest = sorted(chosen.values(), key=lambda pair: (pair[1].samples, pair[1].claim))
    for record, result in cheapest[:_RERUN]:
        cells = build_cells(Request.from_command(result.command))
        again = run_cell(cells[0], Settings(seed=record.seed)).result
        same = _is_same(again, result)
        equal += same
        moved += [] if same else [result.command]
    return equal, moved


def _is_same(result: Result, other: Result) -> bool:
    """Whether two results say the same, but for the last digits, in which processors may differ."""
    if (result.verdict, result.samples, set(result.measured)) != (other.verdict, other.samples, set(other.measured)):
        return False
    ends = ((result.measured[name], other.measured[name]) for name in result.measured)
    return all(
        a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=_ROUNDING))
        for one, two in ends
        for a, b in ((one.lower, two.lower), (one.estimate, two.estimate), (one.upper, two.upper))
    )


def main() -> int:
    """Say what changed, or record a new revision or an equal re-run."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option, words in (("--new", "give a new revision number"), ("--rerun", "show that numbers are equal")):
        parser.add_argument(option, action="append", default=[], choices=list(ENTRIES), help=words)
    options = parser.parse_args()
    known = dict(revisions())
    status = 0
    for name in options.new:
        number = known[name].revision + 1 if name in known else 1
        known[name] = Revision(revision=number, code=code_of_auditor(name))
        print(f"{name}: revision {number}; its results are outdated")
    for name in options.rerun:
        equal, moved = rerun(name, _records())
        if moved:
            status = 1
            print(f"{name}: {len(moved)} of {equal + len(moved)} results moved; give it a new revision:")
            print("\n".join(f"  {command}" for command in moved))
        else:
            known[name] = replace(known[name], code=code_of_auditor(name), equal=equal)
            print(f"{name}: {equal} results are equal; revision {known[name].revision} stays")
    write_revisions(known)
    left = changed_auditors()
    for name in left:
        print(f"{name}: its code has changed; --rerun {name} or --new {name}")
    return 1 if left else status


def _records() -> list[Record]:
    folder = Path(ROOT) / "reports"
    return [read_record(path) for path in sorted(folder.glob("*.json"))]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DpauditError as error:
        sys.exit(f"dpaudit: {error}")
