"""The record as JSON."""

from __future__ import annotations

from dpaudit.claims.record import Record


def render_json(record: Record) -> str:
    """Return the record as JSON text."""
    return record.to_json()
