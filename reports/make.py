"""Regenerate the reports: the ledger, and a page, a record and a few figures for each paper.

Run by `make reports` and, with ``--reproduce``, by `make reproduce`, which also measures the published figures again;
that takes longer. What is up to date is only rendered again, unless ``--all`` is given. The same reports as HTML go to
another folder, which is not committed.
"""

import argparse
import dataclasses
import os
from pathlib import Path

from dpaudit.claims.record import Record, joined, read_record
from dpaudit.plan import plans, read_plan
from dpaudit.reporting import write_reports
from dpaudit.runner import Request
from dpaudit.runner.check import run_request
from dpaudit.runner.freshness import is_up_to_date

REPORTS = Path(__file__).parent
HTML = REPORTS.parent / ".audit" / "reports"
WORKERS = os.cpu_count() or 1


def main() -> None:
    """Audit every plan whose record is outdated, and write all reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reproduce", action="store_true", help="measure the published figures again too")
    parser.add_argument("--all", action="store_true", help="audit what is up to date as well")
    parser.add_argument("--html", type=Path, default=HTML, help="folder for the reports as HTML")
    options = parser.parse_args()
    records = {}
    for plan in plans():
        path = REPORTS / f"{plan.stem}.json"
        old = read_record(path) if path.is_file() else None
        if old is None or options.all or options.reproduce or not is_up_to_date(path):
            records[plan.stem] = audited(plan, old, reproduce=options.reproduce)
            print(f"{path.name}: {dict(records[plan.stem].summary)}", flush=True)
        else:
            records[plan.stem] = old
    write_reports(records, REPORTS, html=options.html)


def audited(plan: Path, old: Record | None, *, reproduce: bool) -> Record:
    """Return the record of a plan, with the published figures measured again, or as they were measured before."""
    record, _ = run_request(Request(targets=[str(plan.relative_to(Path.cwd()))]), workers=WORKERS)
    figures = sorted({audit.claim for audit in read_plan(plan).audits} - {result.claim for result in record.results})
    if reproduce and figures:
        again, _ = run_request(Request(figures=figures), workers=WORKERS)
        record = joined(record, again)
    elif old is not None:
        kept = tuple(result for result in old.results if result.claim in figures)
        record = joined(record, dataclasses.replace(old, results=kept, command=""))
    return record


if __name__ == "__main__":
    main()
