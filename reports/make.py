"""Regenerate the reports: one folder per plan, and the ledger of all claims. Run by `make reports`."""

import dataclasses
import os
from pathlib import Path

import dpaudit
from dpaudit.plan import plans
from dpaudit.reporting import FORMATS
from dpaudit.reporting.ledger import render_ledger, render_ledger_html

REPORTS = Path(__file__).parent
FILES = {"record.json": "json", "README.md": "markdown", "index.html": "html"}


def main() -> None:
    """Audit every plan and write its report; what differs from run to run is left out."""
    entries = {}
    root = plans()[0].parent
    for plan in plans():
        record = dpaudit.check(str(plan.relative_to(Path.cwd())), workers=os.cpu_count() or 1)
        record = dataclasses.replace(record, environment={}, timing={})
        folder = plan.relative_to(root).with_suffix("")
        (REPORTS / folder).mkdir(parents=True, exist_ok=True)
        for name, form in FILES.items():
            (REPORTS / folder / name).write_text(FORMATS[form](record), encoding="utf-8")
        entries[folder.as_posix()] = record
        print(f"reports/{folder.as_posix()}: {dict(record.summary)}")
    (REPORTS / "README.md").write_text(render_ledger(entries), encoding="utf-8")
    (REPORTS / "index.html").write_text(render_ledger_html(entries), encoding="utf-8")


if __name__ == "__main__":
    main()
