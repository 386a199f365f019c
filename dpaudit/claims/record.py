"""The record of a run: the only thing that reports are made from.

How it is written as JSON is in `dpaudit.claims.record_json`, and how that is read in `dpaudit.claims.record_reading`;
the schema ``dpaudit.record/2`` is published as ``dpaudit/claims/record.schema.json``.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from dpaudit.claims.entries import ClaimEntry, ErratumEntry, PaperEntry
from dpaudit.claims.evidence import Counterexample, Curves, Growth, Interval, Remedy, Role, Violation
from dpaudit.claims.kept import kept
from dpaudit.claims.verdicts import EXIT_INTERRUPTED, EXIT_UNUSABLE, Verdict, status_of, worst_status
from dpaudit.errors import RecordError
from dpaudit.reading import MEBIBYTE, read_text

SCHEMA: Literal["dpaudit.record/2"] = "dpaudit.record/2"
METHOD_UNUSABLE, METHOD_RAISED, METHOD_ENDED, METHOD_NONE = "unusable", "raised", "ended", "none"
"""Instead of a method, with the verdict ``error``: the target breaks its contract, or its code raised."""

UNKNOWN_KIND = "unknown"
"""Instead of the kind of a claim that could not be made."""

_FORBID_UNKNOWN = {"extra": "forbid"}

LARGEST = 512 * MEBIBYTE
"""Bytes that a record may have that is read at once."""

_STREAMED = 8 * MEBIBYTE
"""A larger file is read a line at a time, if it is laid out as a record is written; it may have any size."""

_MOST_BITS = 4096
"""Larger integers are written in hexadecimal, because Python refuses to write and to read them in decimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEntry:
    """What a report says of a target besides its results.

    ``model`` is its trust model, drawn where it is known; ``notations`` says by view how inputs and outputs are
    written. ``errata`` are those that name no place in a paper; the others stand under their papers.
    """

    title: str
    description: str
    source: str
    errata: tuple[ErratumEntry, ...] = ()
    model: str = ""
    notations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One cell: one claim at one set of parameters.

    Attributes
    ----------
    target, claim
        What was audited.
    kind, source, statement
        The claim. In JSON they stand once for all results of a claim, and again only where a result differs.
    parameters
        Values of the parameters.
    view, relation, guarantee
        Of a privacy claim: the view, the neighbouring relation, and the kind of guarantee, such as ``approximate-dp``.
    scope, method, verdict
        What the verdict is about, how it was found, and the verdict.
    expected, reason, ok
        The expected verdict, why it is expected, and whether the verdict is as expected.
    claimed, measured
        Numbers by name.
    witness
        What refutes the claim.
    note
        What else is to be known.
    remedy
        What can be done to learn more.
    samples, error_probability
        Samples drawn, and the probability with which what is stated of them may be wrong; None where nothing was
        sampled.
    seed, command
        Seed, and the command that repeats the result.
    key
        Hash of everything that the result depends on; empty where it is not known.
    curves, growth
        What is drawn.
    witness_file
        The file by which `dpaudit verify` checks the witness, where one was written.
    timed
        Whether what was measured are times, which differ from run to run.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> class Bit(dpaudit.Mechanism):
    ...     epsilon: float = 1.0
    ...     def sample(self, data, size, rng):
    ...         return np.where(rng.random(size) < 1 / (1 + np.exp(-self.epsilon)), data, 1 - data)
    ...     def law(self, data):
    ...         keep = 1 / (1 + np.exp(-self.epsilon))
    ...         return dpaudit.FiniteLaw.from_probabilities([data, 1 - data], [keep, 1 - keep])
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")
    ...     def claims(self):
    ...         return [dpaudit.PrivacyClaim(id="bit.privacy", statement="The bit is ε-LDP.", epsilon=self.epsilon)]
    >>> result = dpaudit.check(Bit(epsilon=1.0)).results[0]
    >>> result.claim, str(result.verdict), result.claimed["epsilon"]
    ('bit.privacy', 'proved', 1.0)
    """

    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    target: str
    claim: str
    kind: str
    source: str
    statement: str
    parameters: Mapping[str, Any]
    view: str | None = None
    relation: str | None = None
    scope: str
    method: str
    verdict: Verdict
    expected: Verdict | None
    reason: str = ""
    ok: bool
    claimed: Mapping[str, float]
    measured: Mapping[str, Interval]
    witness: Violation | Counterexample | None = None
    note: str = ""
    samples: int = 0
    seed: int
    command: str
    guarantee: str | None = None
    remedy: Remedy | None = None
    error_probability: float | None = None
    key: str = ""
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
class Shard:
    """Which part of a run a record is.

    Attributes
    ----------
    number, of
        Which part, from 1, and of how many.
    cells
        Cells of this part that were to be audited here; fewer results mean that it was interrupted.
    places
        Place of each result among the cells of the whole run.
    code
        Digest of the code and the data of each target of the whole run; empty where it cannot be told.
    """

    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    number: int
    of: int
    cells: int
    places: tuple[int, ...]
    code: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """How much of a run its record holds, where the run was interrupted.

    Attributes
    ----------
    cells
        Cells that were to be audited.
    results
        How many of them have a result.
    """

    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    cells: int
    results: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Record:
    """All results of one run, with what is needed to run it again.

    Attributes
    ----------
    schema
        Name and number of the format.
    version, seed, command
        Of the toolkit; the run's seed; and the command that makes the whole record again.
    error_probability
        Sum over the results that sampled: the probability that anything stated of samples in the record is wrong.
    papers, systems, claims
        Papers by key, targets by name and claims by id. A claim that is not listed gets its entry from its results.
    results, summary
        The results, and how many have each verdict.
    environment, timing
        What may differ between two runs with the same seed. ``timing`` holds seconds; in JSON also, as ``measured``,
        what the timed results measured, by their place among the results, which are then written without it.
    shard
        Which part of a run it is; None for a whole one.
    partial
        How many cells were to be audited and how many have a result, where the run was interrupted before all had one;
        None where all have, and in JSON not there.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> class Bit(dpaudit.Mechanism):
    ...     epsilon: float = 1.0
    ...     def sample(self, data, size, rng):
    ...         return np.where(rng.random(size) < 1 / (1 + np.exp(-self.epsilon)), data, 1 - data)
    ...     def law(self, data):
    ...         keep = 1 / (1 + np.exp(-self.epsilon))
    ...         return dpaudit.FiniteLaw.from_probabilities([data, 1 - data], [keep, 1 - keep])
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")
    ...     def claims(self):
    ...         return [dpaudit.PrivacyClaim(id="bit.privacy", statement="The bit is ε-LDP.", epsilon=self.epsilon)]
    >>> record = dpaudit.check(Bit(epsilon=1.0), seed=1)
    >>> [str(result.verdict) for result in record.results]
    ['proved']
    """

    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    schema: Literal["dpaudit.record/2"] = SCHEMA
    version: str
    seed: int
    error_probability: float = 0.0
    command: str = ""
    papers: Mapping[str, PaperEntry] = field(default_factory=dict)
    systems: Mapping[str, SystemEntry] = field(default_factory=dict)
    claims: Mapping[str, ClaimEntry] = field(default_factory=dict)
    # A tuple; of more than 5,000 results a sequence that reads them from a temporary file.
    results: Sequence[Result]
    summary: Mapping[str, int]
    environment: Mapping[str, Any] = field(default_factory=dict)
    timing: Mapping[str, float | Mapping[str, Times]] = field(default_factory=dict)
    shard: Shard | None = None
    partial: Partial | None = None

    def __post_init__(self) -> None:
        more: dict[str, ClaimEntry] = {}
        for result in self.results:
            if result.claim in self.claims:
                continue
            entry = more.get(result.claim)
            # A result that raised may not know its claim; another one of it may.
            if entry is None or entry.kind == UNKNOWN_KIND != result.kind:
                more[result.claim] = ClaimEntry(kind=result.kind, statement=result.statement, source=result.source)
        if more:
            object.__setattr__(self, "claims", {**self.claims, **more})

    @property
    def status(self) -> int:
        """Exit status of the run."""
        if self.partial is not None:
            return EXIT_INTERRUPTED
        return worst_status(list({result.status for result in self.results}))

    def reproducible(self) -> Record:
        """Return the record without what differs between two runs with the same seed: environment and times."""
        results = (
            dataclasses.replace(result, measured={}, witness=None) if result.timed else result
            for result in self.results
        )
        return dataclasses.replace(self, results=kept(results), environment={}, timing={})

    def to_json(self) -> str:
        """Return the record as JSON text, the same to the byte for equal records: a line per result and per curve."""
        from dpaudit.claims.record_json import write_json

        return write_json(self)

    def json_parts(self) -> Iterator[str]:
        """Return the text of `to_json` in parts, of which there need not be more than one in memory."""
        from dpaudit.claims.record_json import json_parts

        return json_parts(self)

    def to_frame(self) -> Any:
        """Return a frame of pandas, or of polars where pandas is not installed, with a row for each result.

        Columns are ``target``, ``claim``, ``kind``, ``verdict``, ``expected``, ``ok``, ``method`` and ``samples``; then
        ``parameter.<name>``, ``claimed.<name>``, and ``measured.<name>.lower``, ``.estimate`` and ``.upper`` for every
        name that any result has.

        Raises
        ------
        ParameterError
            Neither library is installed.
        """
        from dpaudit.claims.notebook import frame_of

        return frame_of(self)

    def plot(self, claim: str | None = None, *, ax: Any = None) -> Any:
        """Draw what was measured of a claim, with its interval, beside what it says.

        Parameters
        ----------
        claim
            Id of the claim; may be left out where the record has one.
        ax
            Axes of matplotlib to draw into; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ParameterError
            There is no such claim, it has no number, or matplotlib is not installed.
        """
        from dpaudit.claims.notebook import plot_of

        return plot_of(self, claim, ax)

    def __repr__(self) -> str:
        from dpaudit.claims.notebook import short_repr

        return short_repr(self)

    def _repr_html_(self) -> str:
        from dpaudit.claims.notebook import html_of

        return html_of(self)

    @classmethod
    def from_json(cls, text: str, *, name: str = "record") -> Record:
        """Read a record; one of schema version 1 becomes one of version 2.

        Raises
        ------
        RecordError
            The text is not JSON, not a record, or a record of another schema number.
        """
        from dpaudit.claims.record_reading import read_json

        return read_json(text, name)


def joined(first: Record, second: Record) -> Record:
    """Return the results of two runs as one record; version and seed are the first's."""
    results = kept(itertools.chain(first.results, second.results))
    return dataclasses.replace(
        first,
        error_probability=summed_errors(results),
        papers={**first.papers, **second.papers},
        systems={**first.systems, **second.systems},
        claims={**first.claims, **second.claims},
        results=results,
        summary=summarise(results),
        command=" && ".join(command for command in (first.command, second.command) if command),
        partial=_joined_partial(first, second),
    )


def _joined_partial(first: Record, second: Record) -> Partial | None:
    if first.partial is None and second.partial is None:
        return None
    cells = sum(len(each.results) if each.partial is None else each.partial.cells for each in (first, second))
    return Partial(cells=cells, results=len(first.results) + len(second.results))


def summarise(results: Iterable[Result]) -> dict[str, int]:
    """Count the verdicts, in the order of the vocabulary."""
    counts = Counter(result.verdict for result in results)
    return {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}


def summed_errors(results: Iterable[Result]) -> float:
    """Sum of the error probabilities of the results that sampled."""
    stated = [result.error_probability for result in results if result.error_probability is not None]
    try:
        return math.fsum(stated)
    except (OverflowError, ValueError):
        # What a damaged record states need not be probabilities.
        return sum(stated)


def read_record(path: str | Path) -> Record:
    """Read a record file.

    Parameters
    ----------
    path
        A file that ``dpaudit check --format json`` or ``--output`` wrote.

    Returns
    -------
    Record
        The record.

    Raises
    ------
    RecordError
        The file cannot be read or is not a record.

    Examples
    --------
    >>> import dpaudit
    >>> from pathlib import Path
    >>> dpaudit.read_record(Path("missing.json"))
    Traceback (most recent call last):
        ...
    dpaudit.errors.RecordError: missing.json: cannot read the record (No such file or directory)
    """
    if _size(path) > _STREAMED:
        from dpaudit.claims.record_reading import read_streamed

        found = read_streamed(path)
        if found is not None:
            return found
    try:
        text = read_text(path, most=LARGEST)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise RecordError(f"{path}: cannot read the record ({reason})") from None
    return Record.from_json(text, name=str(path))


def _size(path: str | Path) -> int:
    """Bytes that a file has; 0 where that is not known."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def _key(key: Any) -> str:
    """Text of a key; Python writes no decimal text of very long integers."""
    try:
        return str(key)
    except ValueError:
        return str(plain(key))


def plain(value: Any) -> Any:
    """Turn arrays, dataclasses, enums and odd numbers into what JSON holds."""
    kind = type(value)
    # What most of a record consists of, first.
    if kind is str or kind is bool or value is None or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [plain(item) for item in value]
    if isinstance(value, Interval):
        items = {"lower": plain(value.lower), "upper": plain(value.upper)}
        if value.estimate is not None:
            items = {"lower": items["lower"], "estimate": plain(value.estimate), "upper": items["upper"]}
        return items if value.role is Role.VALUE else {**items, "role": value.role.value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
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
