"""Regenerate the reports: one folder per plan, and the ledger of all claims.

Run by `make reports` and, with ``--reproduce``, by `make reproduce`, which also measures the published figures again;
that takes longer. What is up to date is only rendered again, unless ``--all`` is given.
"""

import argparse
import dataclasses
import os
from pathlib import Path

from dpaudit.claims.record import Record
from dpaudit.plan import plans, read_plan
from dpaudit.reporting import FORMATS
from dpaudit.reporting.ledger import render_ledger, render_ledger_html
from dpaudit.runner import Request, build_cells
from dpaudit.runner.check import run_request
from dpaudit.runner.freshness import RECORD, REPRODUCED, is_up_to_date, read_records

REPORTS = Path(__file__).parent
FILES = {"README.md": "markdown", "index.html": "html"}
WORKERS = os.cpu_count() or 1


def main() -> None:
    """Audit every plan whose report is outdated, and write all reports; what differs from run to run is left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reproduce", action="store_true", help="measure the published figures again too")
    parser.add_argument("--all", action="store_true", help="audit what is up to date as well")
    options = parser.parse_args()
    root = plans()[0].parent
    for plan in plans():
        folder = REPORTS / plan.relative_to(root).with_suffix("")
        folder.mkdir(parents=True, exist_ok=True)
        requests = {RECORD: Request(targets=[str(plan.relative_to(Path.cwd()))])}
        if options.reproduce and (figures := published(plan)):
            requests[REPRODUCED] = Request(figures=figures)
        for name, request in requests.items():
            if options.all or not is_up_to_date(folder / name):
                record, _ = run_request(request, workers=WORKERS)
                record = dataclasses.replace(record, environment={}, timing={})
                (folder / name).write_text(record.to_json(), encoding="utf-8")
                print(f"{folder.relative_to(REPORTS.parent)}/{name}: {dict(record.summary)}", flush=True)
    render()


def published(plan: Path) -> list[str]:
    """Return the claims of a plan that are about published figures, which `dpaudit check` leaves out."""
    audited = {cell.claim for cell in build_cells(Request(targets=[str(plan)]))}
    return sorted({audit.claim for audit in read_plan(plan).audits} - audited)


def render() -> None:
    """Write the pages of all records, and the ledger."""
    records: dict[str, Record] = {}
    for path in sorted(REPORTS.rglob(RECORD)):
        record = records[path.parent.relative_to(REPORTS).as_posix()] = read_records(path)
        for name, form in FILES.items():
            path.with_name(name).write_text(FORMATS[form](record), encoding="utf-8")
    (REPORTS / "README.md").write_text(render_ledger(records), encoding="utf-8")
    (REPORTS / "index.html").write_text(render_ledger_html(records), encoding="utf-8")


if __name__ == "__main__":
    main()
