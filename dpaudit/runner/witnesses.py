"""Witness files: a refutation with all that is needed to check it on fresh samples. Schema ``dpaudit.witness/2``.

Files of ``dpaudit.witness/1``, which knew approximate differential privacy only, are still read.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dpaudit.auditors.sampling.budget import Budget, Features, complement
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence, Violation
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.claims.record import plain
from dpaudit.errors import WitnessError
from dpaudit.plan import Scalar
from dpaudit.reading import MEBIBYTE, json_kind, parse_json, read_text, shortened
from dpaudit.registry import suggestion
from dpaudit.runner.cells import Cell
from dpaudit.runner.loading import files_beside
from dpaudit.runner.plaindata import NotDataError, to_data
from dpaudit.runner.version import dpaudit_version
from dpaudit.writing import write_file

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

SCHEMA: Literal["dpaudit.witness/2"] = "dpaudit.witness/2"
_FIRST_SCHEMA = "dpaudit.witness/1"
FOLDER = "witnesses"
"""Folder of the witness files, below that of the report."""

_STRICT: Any = {"extra": "forbid"}
_LONGEST_NAME = 80
_LARGEST = 256 * MEBIBYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A data file and its SHA-256."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    file: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """The guarantee that was refuted: its kind and its parameters."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    guarantee: str
    parameters: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What the audit found of the event; ``hits`` and ``trials`` are null where it did not count.

    ``p``, ``hits[0]`` and ``trials[0]`` are of the input on which the event is likelier. ``forces`` holds what follows
    for the guarantee's parameters.
    """

    __pydantic_config__: ClassVar[Any] = _STRICT

    p: float
    q: float
    hits: tuple[int, int] | None
    trials: tuple[int, int] | None
    forces: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The audit that found it: with these numbers its search and its choice of an event can be repeated.

    Attributes
    ----------
    version
        Version of dpaudit.
    seed, stream
        Where its random streams begin.
    samples, confidence, stop_early
        Its budget; ``samples`` is null for the default.
    pair_samples, candidate
        Samples per input that the pair had, and which of the events chosen this is.
    """

    __pydantic_config__: ClassVar[Any] = _STRICT

    version: str
    seed: int
    stream: list[str | int]
    samples: int | None
    confidence: float
    stop_early: bool
    pair_samples: int
    candidate: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessFile:
    """A refutation as a file holds it.

    Attributes
    ----------
    target, sha256
        The TARGET argument that means the target, and the SHA-256 of its file.
    claim, view, parameters, data
        The claim's id, its view, the values given to ``--set``, and the data file if any.
    claimed
        The claim.
    method
        How it was refuted.
    inputs
        The two neighbouring inputs as data (see `dpaudit.runner.plaindata`); null where they cannot be written so.
    event
        The event as data (see `dpaudit.auditors.recheck`); null where it can only be learned again.
    reverse
        Whether the event is likelier on the second input.
    features
        Features of the outputs that the event is about.
    found, audit
        What was found, and how to find it again.
    command
        The command that repeats the audit.
    loaded
        SHA-256 of the other files that the target's file loads, but for installed ones, by their paths.
    """

    __pydantic_config__: ClassVar[Any] = _STRICT

    schema: Literal["dpaudit.witness/2"]
    target: str
    sha256: str
    claim: str
    view: str
    parameters: dict[str, Scalar]
    data: DataFile | None
    claimed: Claimed
    method: Literal["black-box", "likelihood", "exact"]
    inputs: tuple[Any, Any] | None
    event: dict[str, Any] | None
    reverse: bool
    features: Features
    found: Observation
    audit: Audit
    command: str
    loaded: dict[str, str] = field(default_factory=dict)


def make_witness(
    cell: Cell, claim: PrivacyClaim, evidence: Evidence, budget: Budget, streams: Streams, command: str
) -> WitnessFile | None:
    """Return the witness file of a refutation; None where what was found cannot be checked by sampling."""
    finding, shown = evidence.finding, evidence.witness
    if finding is None or not isinstance(shown, Violation):
        return None
    try:
        event = None if finding.event is None else to_data(dict(finding.event))
    except NotDataError:
        return None
    try:
        inputs = (to_data(finding.inputs[0]), to_data(finding.inputs[1]))
    except NotDataError:
        inputs = None
    return WitnessFile(
        schema=SCHEMA,
        target=cell.called,
        sha256=cell.reference.digest,
        claim=cell.claim,
        view=claim.view,
        parameters=dict(cell.parameters),
        data=None if cell.data is None else DataFile(file=PurePath(cell.data[0]).as_posix(), sha256=cell.data[1]),
        claimed=Claimed(guarantee=claim.guarantee.kind, parameters=dict(claim.guarantee.parameters)),
        method=evidence.method,  # type: ignore[arg-type]
        inputs=inputs,
        event=event,
        reverse=finding.reverse,
        features=budget.features,
        found=Observation(
            p=finding.p,
            q=finding.q,
            hits=finding.hits,
            trials=finding.trials,
            forces=dict(shown.forces),
        ),
        audit=Audit(
            version=dpaudit_version(),
            seed=streams.seed,
            stream=list(streams.key),
            samples=budget.samples,
            confidence=budget.confidence,
            stop_early=budget.stop_early,
            pair_samples=finding.samples,
            candidate=finding.candidate,
        ),
        command=command,
        loaded=files_beside(cell.reference),
    )


def witness_name(cell: Cell, parameters: Mapping[str, Any]) -> str:
    """File name of a cell's witness: target, claim, and a hash of what else tells cells of one run apart."""
    rest = [parameters, cell.method, cell.features, cell.stop_early]
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:12]
    words = [re.sub(r"[^A-Za-z0-9._-]+", "_", text)[:_LONGEST_NAME] for text in (cell.target, cell.claim)]
    return f"{'-'.join(words)}-{digest}.json"


def witness_text(witness: WitnessFile) -> str:
    """Return what a witness file holds."""
    return json.dumps(plain(witness), indent=1, allow_nan=False) + "\n"


def write_witness(text: str, folder: Path, name: str) -> str:
    """Write a witness into the folder of witnesses of a report; return its path. Raises OutputError."""
    path = folder / FOLDER / name
    write_file(path, text)
    return path.as_posix()


def read_witness(path: str | Path) -> WitnessFile:
    """Read and validate a witness file.

    Raises
    ------
    WitnessError
        The file cannot be read, is not JSON, has another schema number, an unknown or missing key, or a value of the
        wrong kind. The message names the file and the key.
    """
    again = "give a file that `dpaudit check --output` wrote"
    try:
        raw = parse_json(read_text(path, most=_LARGEST))
    except OSError as error:
        raise WitnessError(f"{path}: cannot read the witness ({error.strerror})") from None
    except UnicodeDecodeError:
        raise WitnessError(f"{path}: the witness is not UTF-8 text; {again}") from None
    except ValueError as error:
        raise WitnessError(f"{path}: the file is not JSON ({error}); {again}") from None
    if not isinstance(raw, dict):
        raise WitnessError(f"{path}: not a witness but {json_kind(raw)}; {again}")
    if raw.get("schema") == _FIRST_SCHEMA:
        raw = _upgraded(raw)
    if raw.get("schema", SCHEMA) != SCHEMA:
        raise WitnessError(
            f"{path}: key 'schema' is {shortened(raw['schema'])}, this version reads {SCHEMA!r}; {again}"
        )
    from pydantic import ValidationError

    try:
        witness = _adapter().validate_python(raw)
    except ValidationError as error:
        raise WitnessError(f"{path}: {_first_problem(error)}; {again}") from None
    for key, holds, words in _ranges(witness):
        if not holds:
            raise WitnessError(f"{path}: key '{key}' must be {words}; {again}")
    return witness


def _upgraded(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a file of the first schema as the present one has it; what does not fit is left for validation."""
    claimed, found = raw.get("claimed"), raw.get("found")
    if isinstance(claimed, dict):
        claimed = {"guarantee": ApproximateDP.kind, "parameters": claimed}
    if isinstance(found, dict):
        names = ("epsilon", "delta")
        forces = {name: found[name] for name in names if found.get(name) is not None}
        found = {**{name: value for name, value in found.items() if name not in names}, "forces": forces}
    return {**raw, "schema": SCHEMA, "claimed": claimed, "found": found}


def _ranges(witness: WitnessFile) -> list[tuple[str, bool, str]]:
    from dpaudit.auditors.blackbox.tasks import LEAST_SAMPLES
    from dpaudit.auditors.learning.selection import MOST_CANDIDATES

    claimed, found, audit = witness.claimed, witness.found, witness.audit
    counts = [(found.hits, found.trials)] if found.hits is not None and found.trials is not None else []
    return [
        *(
            # The order of a Renyi divergence may be infinite.
            (f"claimed.parameters.{name}", math.isfinite(x) or (name.startswith("alpha") and x > 0), "a finite number")
            for name, x in claimed.parameters.items()
        ),
        ("found.p", 0 <= found.p <= 1, "in [0, 1]"),
        ("found.q", 0 <= found.q <= 1, "in [0, 1]"),
        ("found.hits", (found.hits is None) == (found.trials is None), "null where trials is, and only there"),
        *(
            ("found.hits", all(0 <= h <= t for h, t in zip(hits, trials, strict=True)), "between 0 and the trials")
            for hits, trials in counts
        ),
        ("audit.seed", audit.seed >= 0, "at least 0"),
        ("audit.samples", audit.samples is None or audit.samples >= 1, "null or at least 1"),
        ("audit.confidence", 0 < audit.confidence < 1, "above 0 and below 1"),
        ("audit.confidence", complement(audit.confidence) < 1, "at least 1e-15"),
        ("audit.candidate", 0 <= audit.candidate < MOST_CANDIDATES, f"from 0 to {MOST_CANDIDATES - 1}"),
        ("audit.pair_samples", witness.event is not None or audit.pair_samples >= LEAST_SAMPLES, "a number of samples"),
        ("event", witness.event is not None or witness.method == "black-box", "an event with this method"),
    ]


@cache
def witness_schema() -> dict[str, Any]:
    """JSON schema of witness files."""
    from dpaudit.claims.record_schema import with_infinities

    schema: dict[str, Any] = with_infinities(_adapter().json_schema())
    return schema


def _adapter() -> TypeAdapter[WitnessFile]:
    from pydantic import TypeAdapter

    return TypeAdapter(WitnessFile)


def _first_problem(error: ValidationError) -> str:
    unknown = ("unexpected_keyword_argument", "extra_forbidden")
    # A misspelt key is also a missing one; the misspelling says more.
    problem = min(error.errors(), key=lambda item: item["type"] not in unknown)
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] in unknown:
        inner = {"claimed": Claimed, "found": Observation, "audit": Audit, "data": DataFile}
        owner: Any = inner.get(str(problem["loc"][0]), WitnessFile) if len(problem["loc"]) > 1 else WitnessFile
        known = list(owner.__dataclass_fields__)
        return f"unknown key {key!r}{suggestion(str(problem['loc'][-1]), known)}"
    if problem["type"].startswith("missing"):
        return f"key {key!r} is missing"
    return f"key {key!r}: {problem['msg']}"
