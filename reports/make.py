"""Bring the committed reports up to date: the record of every paper, the pages, and the ledger.

Run by `make reports`. A result whose key is in the committed record is taken from there; only what changed is audited
again. What was finished is kept in ``build/reports/results.sqlite``, so that an interrupted run goes on where it was.
HTML goes to ``build/reports``. Audits on real data run where `DPAUDIT_DATA` names their folder; elsewhere their results
are kept, as long as nothing that they depend on has changed.
"""

import dataclasses
import os
from collections import Counter
from pathlib import Path

from dpaudit.claims.record import Result, read_record
from dpaudit.errors import RecordError
from dpaudit.registry import catalogue_papers
from dpaudit.reporting import write_reports
from dpaudit.runner import Request
from dpaudit.runner.check import run_request
from dpaudit.runner.outcome import Outcome
from dpaudit.runner.store import NAME, Results

REPORTS = Path(__file__).parent
BUILD = REPORTS.parent / "build" / "reports"
WORKERS = os.cpu_count() or 1


def main() -> None:
    """Audit what is outdated and write all reports, without what differs from run to run."""
    records = {}
    for key, entry in catalogue_papers().items():
        if entry.plan is None:
            continue
        path = REPORTS / f"{key}.json"
        known = Results(Outcome(result=result) for result in _results(path))
        run = run_request(
            Request(targets=[key], with_figures=True),
            workers=WORKERS,
            store=BUILD / NAME,
            known=[known],
        )
        if run.interrupted:
            raise SystemExit(130)
        record = records[key] = dataclasses.replace(run.record, environment={}, timing={})
        for why, number in Counter(run.missing).items():
            print(f"{key}: {number} audits on real data were left out: {why}", flush=True)
        print(f"{key}: {dict(record.summary)}; {len(record.results) - run.taken} audited", flush=True)
    write_reports(records, REPORTS, html=BUILD)


def _results(path: Path) -> tuple[Result, ...]:
    try:
        return read_record(path).results
    except RecordError:
        return ()


if __name__ == "__main__":
    main()
