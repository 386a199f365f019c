"""Audit plans: what is checked, and what we expect. Schema ``dpaudit.plan/1``."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from dpaudit.catalog import ROOT
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import ParameterError, PlanError
from dpaudit.reading import MEBIBYTE, digits_told, read_text, shortened
from dpaudit.registry import TargetReference, catalogue, catalogue_papers, catalogue_plans, suggestion, targets_in
from dpaudit.sources.declarations import KEYS, declared

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

    from dpaudit.mechanism import Mechanism

SCHEMA = "dpaudit.plan/1"
_VERDICTS = [verdict.value for verdict in Verdict if verdict is not Verdict.ERROR]
MOST_SAMPLES = 10**15
"""Samples that can be asked for; so many already take years."""

_MOST_BITS = 4096
_LARGEST = 16 * MEBIBYTE
_CONFIG = {"extra": "forbid", "allow_inf_nan": False}

Scalar = bool | int | float | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedData:
    """A data file that a plan names and does not carry.

    Attributes
    ----------
    file
        Its name; it is looked up in the folder that the environment variable ``DPAUDIT_DATA`` names.
    sha256
        SHA-256 of its content, in hexadecimal digits. A file with another one is not used.
    sizes
        What the data decide, by the name of the parameter: ``{ agents = 795, alternatives = 4 }``.
    """

    __pydantic_config__ = _CONFIG

    file: Annotated[str, Field(pattern=r"^[^/\\\\]+$")]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    sizes: dict[str, Annotated[int, Field(strict=True)]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAudit:
    """A grid of cells of one claim, with the verdict expected in every one of them.

    Attributes
    ----------
    target, claim
        What is audited.
    set
        Parameter values; a list makes a grid.
    expect, reason
        Expected verdict, and why.
    method, samples, stop_early, features
        As the options of ``dpaudit check``.
    published, tolerance
        For a claim about a figure: the published number, or another bound of an inequality, and how far from it the
        measured number may be.
    data
        Data on which it is audited in place of synthetic inputs, by the names of the plan's table ``data``.
    """

    __pydantic_config__ = _CONFIG

    target: str
    claim: str
    expect: Verdict
    reason: str
    set: dict[str, Scalar | list[Scalar]]
    method: Literal["auto", "exact", "likelihood", "black-box"] = "auto"
    samples: Annotated[int, Field(strict=True)] | None = None
    stop_early: Annotated[bool, Field(strict=True)] = False
    features: Literal["none", "float-bits"] = "none"
    published: Annotated[float, Field(strict=True)] | None = None
    tolerance: Annotated[float, Field(strict=True)] = 0.0
    data: str | list[str] | None = None

    @property
    def datasets(self) -> list[str]:
        """Names of its data; none for synthetic inputs."""
        return [] if self.data is None else _listed(self.data)

    def cells(self) -> Iterator[dict[str, Scalar]]:
        """Every combination of the parameter values, in the order written."""
        return grid(self.set)

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return grid_size(self.set) * max(1, len(self.datasets))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanFile:
    __pydantic_config__ = _CONFIG

    schema: Literal["dpaudit.plan/1"]
    protocol: str | None = None
    paper: str | None = None
    command: str | list[str] | None = None
    name: str | None = None
    parameters: dict[str, Any] | None = None
    pairs: Any = None
    inputs: Any = None
    relation: str | None = None
    timeout: Annotated[float, Field(gt=0)] | None = None
    guarantee: str | None = None
    error_probability: Annotated[float, Field(ge=1e-15, lt=1, strict=True)] | None = None
    audit: list[PlannedAudit]
    data: dict[str, PlannedData] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan with the targets that it is about.

    Attributes
    ----------
    path
        The plan's file.
    protocol, paper
        What it is about: a Python file, or the key of a paper of the catalogue; neither where it declares a command.
    targets
        Targets that it may audit, by name.
    audits
        The audits, in the order written.
    error_probability
        Error probability of every result that it asks for; None where it does not say.
    data
        Data files that its audits name.
    """

    path: Path
    protocol: Path | None
    paper: str | None
    targets: dict[str, TargetReference]
    audits: tuple[PlannedAudit, ...]
    error_probability: float | None = None
    data: Mapping[str, PlannedData] = field(default_factory=dict)


def grid(values: dict[str, Any]) -> Iterator[dict[str, Scalar]]:
    """Every combination of values, each a scalar or a list of scalars."""
    for combination in itertools.product(*map(_listed, values.values())):
        yield dict(zip(values, combination, strict=True))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def grid_size(values: Mapping[str, Any]) -> int:
    """Return how many combinations `grid` would make."""
    return math.prod(len(value) for value in values.values() if isinstance(value, list))


def read_plan(path: str | Path) -> Plan:
    """Read and validate a plan.

    Raises
    ------
    PlanError
        The file cannot be read, is not TOML, has an unknown or missing key or a value of the wrong kind, or names an
        unknown target. The message names the file and the line or key.
    TargetError
        The protocol file cannot be imported.
    """
    path = Path(path)
    try:
        raw = tomllib.loads(read_text(path, most=_LARGEST))
    except OSError as error:
        raise PlanError(f"{path}: cannot read the plan ({error.strerror})") from None
    except UnicodeDecodeError:
        raise PlanError(f"{path}: the plan is not UTF-8 text") from None
    except ValueError as error:
        raise PlanError(f"{path}: not TOML: {digits_told(error)}") from None
    except RecursionError:
        raise PlanError(
            f"{path}: lists or tables stand too deep in each other; a value is a scalar or a list"
        ) from None
    from pydantic import ValidationError

    try:
        file = _adapter().validate_python(raw)
    except ValidationError as error:
        raise PlanError(f"{path}: {_first_problem(error)}") from None
    protocol, targets = _targets(path, file, raw)
    for number, audit in enumerate(file.audit, 1):
        where = f"{path}: audit {number} ({audit.claim})"
        if audit.target not in targets:
            raise PlanError(
                f"{where}: key 'target' names {shortened(audit.target)}{suggestion(audit.target, targets)}; "
                f"{file.protocol or file.paper or 'the command'} has {', '.join(targets)}"
            )
        if audit.expect is Verdict.ERROR:
            raise PlanError(f"{where}: key 'expect': 'error' is not a verdict; the verdicts are {', '.join(_VERDICTS)}")
        if not audit.reason.strip():
            raise PlanError(f"{where}: key 'reason' is empty; say why this verdict is expected")
        if audit.samples is not None and not 1 <= audit.samples <= MOST_SAMPLES:
            raise PlanError(
                f"{where}: key 'samples' must be at least 1 and at most 10^15, got {shortened(audit.samples)}"
            )
        if audit.features != "none" and audit.method not in ("auto", "black-box"):
            raise PlanError(
                f"{where}: key 'features': the method {audit.method!r} does not look at features of samples; leave "
                "one of the keys 'features' and 'method' out"
            )
        if audit.tolerance < 0 or (audit.tolerance and audit.published is None):
            raise PlanError(f"{where}: key 'tolerance' must be at least 0 and stand beside 'published'; mend it")
        if any(isinstance(value, list) and not value for value in audit.set.values()):
            raise PlanError(f"{where}: key 'set' has an empty list; give at least one value")
        for name, value in audit.set.items():
            if any(isinstance(item, int) and item.bit_length() > _MOST_BITS for item in _listed(value)):
                raise PlanError(
                    f"{where}: key 'set.{name}' has an integer of more than {_MOST_BITS} bits; give another"
                )
        target = targets[audit.target].load()
        names = target.parameter_names()
        for name in audit.set:
            if name not in names:
                raise PlanError(
                    f"{where}: key 'set' has an unknown parameter {name!r}{suggestion(name, names)}; "
                    f"{audit.target} has {', '.join(names)}"
                )
        _check_data(where, audit, target, file.data)
    return Plan(
        path=path,
        protocol=protocol,
        paper=file.paper,
        targets=targets,
        audits=tuple(file.audit),
        error_probability=file.error_probability,
        data=file.data,
    )


def _check_data(where: str, audit: PlannedAudit, target: type[Mechanism], data: Mapping[str, PlannedData]) -> None:
    """Raise PlanError where the data of an audit are unknown, or do not suit its target."""
    for name in audit.datasets:
        if name not in data:
            raise PlanError(
                f"{where}: key 'data' names {shortened(name)}{suggestion(name, data)}; the plan's table 'data' has "
                f"{', '.join(data) or 'no entry'}"
            )
        if target.dataset_parameter() is None:
            raise PlanError(f"{where}: key 'data': {audit.target} takes no data; leave the key out")
        decided = {*data[name].sizes, *target.synthetic}
        if both := decided & set(audit.set):
            raise PlanError(f"{where}: key 'set' has {min(both)!r}, which the data decide; leave it out")
        if unknown := set(data[name].sizes) - set(target.parameter_names()):
            raise PlanError(f"{where}: key 'data': {audit.target} has no parameter {min(unknown)!r}; mend 'sizes'")


def _targets(path: Path, file: _PlanFile, raw: Mapping[str, Any]) -> tuple[Path | None, dict[str, TargetReference]]:
    """Python file that a plan is about, if any, and the targets that it may name."""
    if [file.protocol, file.paper, file.command].count(None) != 2:
        raise PlanError(
            f"{path}: give one of the keys 'protocol' (a Python file) and 'paper' (a key of the catalogue), or a "
            "'command' (its words)"
        )
    said = {key: getattr(file, key) for key in KEYS}
    if file.command is not None:
        here = path.resolve()
        shown = here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here
        try:
            declaration = declared(raw, shown.as_posix())
        except ParameterError as error:
            raise PlanError(f"{path}: {error}") from None
        return None, {declaration.name: TargetReference.to_command(declaration)}
    if given := [key for key, value in said.items() if value is not None]:
        raise PlanError(f"{path}: key {given[0]!r} is about a 'command', which the plan does not have; leave it out")
    if file.paper is not None:
        papers = catalogue_papers()
        if file.paper not in papers:
            raise PlanError(
                f"{path}: key 'paper': there is no paper {shortened(file.paper)}{suggestion(file.paper, papers)} in "
                f"the catalogue; it has {', '.join(papers)}"
            )
        if papers[file.paper].problem:
            raise PlanError(f"{path}: {papers[file.paper].problem}")
        return None, catalogue()
    try:
        protocol = (path.parent / str(file.protocol)).resolve()
        there = protocol.suffix == ".py" and protocol.is_file()
    except (OSError, ValueError, RuntimeError):
        there = False
    if not there:
        raise PlanError(
            f"{path}: key 'protocol': there is no Python file {shortened(file.protocol)} beside this plan; mend it"
        )
    targets: dict[str, TargetReference] = {}
    for reference in targets_in(str(protocol)):
        name = reference.load().name
        if name in targets:
            raise PlanError(f"{path}: {file.protocol} defines two targets named {name!r}; rename one")
        targets[name] = reference
    return protocol, targets


def audit_lines(path: Path) -> list[int]:
    """Line at which each audit of a plan begins."""
    lines = read_text(path, most=_LARGEST).split("\n")
    return [number for number, line in enumerate(lines, 1) if line.strip() == "[[audit]]"]


def plans_in(folder: Path) -> list[Path]:
    """Plan files in a folder and below it, those deeper down last."""
    return sorted(folder.glob("**/*.toml"), key=lambda path: (len(path.parts), path))


def plans() -> list[Path]:
    """Plan files of the catalogue."""
    return plans_in(ROOT / "audits")


def plans_of(target: str) -> list[Plan]:
    """Plans of the catalogue that audit a target."""
    # Reading a plan takes long compared with a search for the name, which stands in it verbatim.
    named = [path for path in catalogue_plans() if f'"{target}"' in read_text(path, most=_LARGEST)]
    found = [read_plan(path) for path in named]
    return [plan for plan in found if any(audit.target == target for audit in plan.audits)]


def plan_beside(file: Path) -> Plan | None:
    """Plan beside a protocol file, of the same stem, if it is about that file."""
    path = file.resolve().with_suffix(".toml")
    if not path.is_file():
        return None
    plan = read_plan(path)
    return plan if plan.protocol == file.resolve() else None


def _adapter() -> TypeAdapter[_PlanFile]:
    from pydantic import TypeAdapter

    return TypeAdapter(_PlanFile)


def plan_schema() -> dict[str, Any]:
    """JSON schema of plans, by which editors complete and check them."""
    return {"title": SCHEMA, **_adapter().json_schema()}


def _first_problem(error: ValidationError) -> str:
    unknown = ("unexpected_keyword_argument", "extra_forbidden")
    # A misspelt key is also a missing one; the misspelling says more.
    problem = min(error.errors(), key=lambda item: item["type"] not in unknown)
    location = [part for part in problem["loc"] if not (isinstance(part, str) and part[:4] in ("list", "bool"))]
    where = ""
    if len(location) >= 2 and location[0] == "audit" and isinstance(location[1], int):
        where = f"audit {location[1] + 1}: "
        location = location[2:]
    key = ".".join(str(part) for part in location)
    known = list(PlannedAudit.__dataclass_fields__) if where else list(_PlanFile.__dataclass_fields__)
    if problem["type"] in unknown:
        return f"{where}unknown key {key!r}{suggestion(key, known)}; known keys are {', '.join(known)}"
    if problem["type"].startswith("missing"):
        return f"{where}key {key!r} is missing; add it"
    given = problem["input"]
    if key == "set" or key.startswith("set."):
        return (
            f"{where}key {key!r} takes finite numbers, texts, true and false, and lists of them, got {shortened(given)}"
        )
    if key == "expect":
        near = suggestion(given, _VERDICTS) if isinstance(given, str) else ""
        return (
            f"{where}key 'expect': {shortened(given)} is not a verdict{near}; the verdicts are {', '.join(_VERDICTS)}"
        )
    return f"{where}key {key!r}: {problem['msg']}, got {shortened(given)}"
