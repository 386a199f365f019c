"""The record of a run: the only thing that reports are made from.

Schema ``dpaudit.record/1``, published as ``dpaudit/claims/record.schema.json``. Numbers that JSON cannot hold are
written as the strings ``"Infinity"``, ``"-Infinity"`` and ``"NaN"``.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from dpaudit.claims.evidence import Counterexample, Curves, Growth, Interval, Violation
from dpaudit.claims.papers import Erratum
from dpaudit.claims.verdicts import EXIT_UNUSABLE, Verdict, status_of, worst_status
from dpaudit.errors import RecordError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA: Literal["dpaudit.record/1"] = "dpaudit.record/1"
METHOD_UNUSABLE, METHOD_RAISED = "unusable", "raised"
"""Instead of a method, with the verdict ``error``: the target breaks its contract, or its code raised."""

_FORBID_UNKNOWN = {"extra": "forbid"}

_MOST_BITS = 4096
"""Larger integers are written in hexadecimal, because Python refuses to write and to read them in decimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEntry:
    """What a report says of a target besides its results.

    ``model`` is its trust model, drawn where it is known; ``notations`` says by view how inputs and outputs are
    written.
    """

    title: str
    description: str
    source: str
    errata: tuple[Erratum, ...] = ()
    model: str = ""
    notations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One cell: one claim at one set of parameters.

    ``witness_file`` names the file by which `dpaudit verify` checks the witness, where one was written. What was
    measured of a ``timed`` result are times, which differ from run to run.
    """

    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    target: str
    claim: str
    kind: str
    source: str
    statement: str
    parameters: Mapping[str, Any]
    view: str | None
    relation: str | None
    scope: str
    method: str
    verdict: Verdict
    expected: Verdict | None
    reason: str
    ok: bool
    claimed: Mapping[str, float]
    measured: Mapping[str, Interval]
    witness: Violation | Counterexample | None
    note: str
    samples: int
    seed: int
    command: str
    curves: Curves | None = None
    growth: Growth | None = None
    witness_file: str | None = None
    timed: bool = False

    @property
    def status(self) -> int:
        """Exit status that this result stands for."""
        if self.verdict is Verdict.ERROR and self.method == METHOD_UNUSABLE:
            return EXIT_UNUSABLE
        return status_of(self.verdict, self.expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """What a timed result measured: as JSON holds it, apart from the result, because it differs from run to run."""

    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    measured: Mapping[str, Interval]
    witness: Violation | Counterexample | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """All results of one run, with what is needed to run it again.

    ``command`` makes the whole record again; ``sources`` holds the SHA-256 of the files that the results were made
    from, and of the toolkit's code. ``timing`` holds seconds; in JSON also, as ``measured``, what the timed results
    measured, by their place among the results, which are then written without it.
    """

    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    schema: Literal["dpaudit.record/1"] = SCHEMA
    version: str
    seed: int
    confidence: float
    systems: Mapping[str, SystemEntry] = field(default_factory=dict)
    results: tuple[Result, ...]
    summary: Mapping[str, int]
    command: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    timing: Mapping[str, float | Mapping[str, Times]] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """Exit status of the run."""
        return worst_status([result.status for result in self.results])

    def reproducible(self) -> Record:
        """Return the record without what differs between two runs with the same seed: environment and times."""
        results = tuple(
            dataclasses.replace(result, measured={}, witness=None) if result.timed else result
            for result in self.results
        )
        return dataclasses.replace(self, results=results, environment={}, timing={})

    def to_json(self) -> str:
        """Return the record as JSON text, the same to the byte for equal records."""
        raw = plain(self)
        times = {}
        for place, (result, item) in enumerate(zip(self.results, raw["results"], strict=True)):
            if result.timed:
                times[str(place)] = {"measured": item["measured"], "witness": item["witness"]}
                item.update(measured={}, witness=None)
        if any(part["measured"] or part["witness"] for part in times.values()):
            raw["timing"]["measured"] = times
        return json.dumps(raw, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, *, name: str = "record") -> Record:
        """Read a record.

        Raises
        ------
        RecordError
            The text is not JSON, not a record, or a record of another schema number.
        """
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"{name}: not JSON ({error}); give the record.json that `dpaudit check` wrote") from None
        schema = raw.get("schema") if isinstance(raw, dict) else None
        if schema != SCHEMA:
            raise RecordError(f"{name}: key 'schema' is {schema!r}, this version reads {SCHEMA!r}")
        from pydantic import ValidationError

        try:
            return _with_times(_adapter().validate_python(raw))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise RecordError(f"{name}: key '{where}': {first['msg']}; write the record again") from None


def _with_times(record: Record) -> Record:
    """Return a record as read, with what its timed results measured in its place."""
    timing = dict(record.timing)
    times = timing.pop("measured", None)
    if not isinstance(times, Mapping):
        return record
    results = tuple(
        dataclasses.replace(result, measured=times[str(place)].measured, witness=times[str(place)].witness)
        if result.timed and str(place) in times
        else result
        for place, result in enumerate(record.results)
    )
    return dataclasses.replace(record, results=results, timing=timing)


def joined(first: Record, second: Record) -> Record:
    """Return the results of two runs as one record, for a page that shows both; seed and confidence are the first's."""
    results = (*first.results, *second.results)
    return dataclasses.replace(
        first,
        systems={**first.systems, **second.systems},
        results=results,
        summary=summarise(results),
        command=" && ".join(command for command in (first.command, second.command) if command),
        sources={**first.sources, **second.sources},
    )


def summarise(results: tuple[Result, ...]) -> dict[str, int]:
    """Count the verdicts, in the order of the vocabulary."""
    counts = Counter(result.verdict for result in results)
    return {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}


def read_record(path: str | Path) -> Record:
    """Read a record file.

    Raises
    ------
    RecordError
        The file cannot be read or is not a record.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise RecordError(f"{path}: cannot read the record ({reason})") from None
    return Record.from_json(text, name=str(path))


def record_schema() -> dict[str, Any]:
    """JSON schema of the record."""
    schema: dict[str, Any] = _with_infinities(_adapter().json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _with_infinities(schema: Any) -> Any:
    """Let every number of a schema be one of the words that stand for what JSON cannot hold."""
    if isinstance(schema, list):
        return [_with_infinities(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "number":
        others = {key: item for key, item in schema.items() if key != "type"}
        return {**others, "anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity", "NaN"]}]}
    return {key: _with_infinities(item) for key, item in schema.items()}


@cache
def _adapter() -> TypeAdapter[Record]:
    from pydantic import TypeAdapter

    return TypeAdapter(Record)


def plain(value: Any) -> Any:
    """Turn arrays, dataclasses, enums and odd numbers into what JSON holds."""
    if isinstance(value, Interval):
        items = {"lower": plain(value.lower), "estimate": plain(value.estimate), "upper": plain(value.upper)}
        return {key: item for key, item in items.items() if key != "estimate" or item is not None}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Verdict):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        item = value.item()
        # A number of extended precision has no plain form but its digits.
        return str(item) if isinstance(item, np.generic) else plain(item)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    # An address differs from run to run.
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
