"""The record as a badge: the JSON that a badge service reads from an address (shields.io, ``endpoint``)."""

from __future__ import annotations

import json

from dpaudit.claims.record import Record
from dpaudit.claims.verdicts import EXIT_INCONCLUSIVE


def render_badge(record: Record) -> str:
    """Return a badge: how many results are not as expected, or else how many there are of each verdict.

    Where the run was interrupted and nothing is unexpected so far, it says how many cells have a result.
    """
    unexpected = sum(not result.ok for result in record.results)
    if record.status == 0:
        message, colour = ", ".join(f"{count} {verdict}" for verdict, count in record.summary.items()), "brightgreen"
    elif record.partial is not None and not unexpected:
        message, colour = f"interrupted: {record.partial.results} of {record.partial.cells} audited", "yellow"
    elif record.status == EXIT_INCONCLUSIVE:
        message, colour = f"{record.summary.get('inconclusive', 0)} of {len(record.results)} inconclusive", "yellow"
    else:
        message, colour = f"{unexpected} of {len(record.results)} not as expected", "red"
    badge = {"schemaVersion": 1, "label": "dpaudit", "message": message or "nothing audited", "color": colour}
    return json.dumps({**badge, "isError": record.status != 0}, ensure_ascii=False) + "\n"
