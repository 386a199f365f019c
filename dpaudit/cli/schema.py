"""``dpaudit schema``."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import typer

from dpaudit.cli.output import write_out

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(
    file: Annotated[Literal["plan", "record", "witness", "settings"], typer.Argument(help="Which file it is about.")],
) -> None:
    """Print the JSON schema of a file: a plan, a record, a witness, or the table `tool.dpaudit` of pyproject.toml.

    An editor completes and checks a plan whose first line is `#:schema plan.schema.json`.
    """
    write_out(json.dumps(schema_of(file), indent=1, ensure_ascii=False) + "\n")


def schema_of(file: str) -> dict[str, Any]:
    """JSON schema of a kind of file."""
    return {"$schema": DIALECT, **_schema(file)}


def _schema(file: str) -> dict[str, Any]:
    if file == "plan":
        from dpaudit.plan import plan_schema

        return plan_schema()
    if file == "record":
        from dpaudit.claims.record_schema import record_schema

        return record_schema()
    if file == "settings":
        from dpaudit.cli.project import settings_schema

        return settings_schema()
    from dpaudit.runner.witnesses import witness_schema

    return witness_schema()
