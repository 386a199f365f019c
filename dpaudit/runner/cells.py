"""From what was asked to cells: one claim of one target at one set of parameters each."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from dpaudit.auditors.budget import DEFAULT_CONFIDENCE, DEFAULT_SAMPLES, Features, Method, sees_features
from dpaudit.auditors.lemma import DEFAULT_DRAWS
from dpaudit.auditors.pair import LEAST_SAMPLES
from dpaudit.registry import TargetReference, called, find_targets, suggestion
from dpaudit.claims.claims import FigureClaim, LemmaClaim, PrivacyClaim
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import DataError, ParameterError, PlanError, TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.plan import Plan, PlannedAudit, Scalar, grid, plan_for, plans, plans_in, read_plan
from dpaudit.rankings import read_profile
from dpaudit.runner.figures import figure_titles, named_figures
from dpaudit.runner.instances import DATA_PARAMETER, DATA_SIZES, claims_of, described_parameters, instantiate

_SCALARS = (bool, int, float, str, type(None))

NULL = "null"
"""What ``--set`` calls the value None."""


def setting(value: Scalar) -> str:
    """Return a value as ``--set`` takes it."""
    return NULL if value is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a user asks to be checked; the options of ``dpaudit check``.

    Attributes
    ----------
    targets
        TARGET arguments; none means every plan found.
    claims
        Claim ids to keep; none means all.
    set
        Parameter values that replace the plan's, each a list.
    data
        PrefLib file.
    samples, confidence, method, stop_early, features
        As in the budget; ``confidence`` is that of the whole run. Of ``method``, ``stop_early`` and ``features`` a plan
        says what the request leaves open.
    seed
        Seed of the run, >= 0.
    quick
        Spend a tenth of the samples.
    figures
        Published figures and tables to measure again: ids of claims, how they begin, or what they reproduce; empty for
        all of them. None: all claims but those of kind ``figure``, which are audited only where they are named.
    """

    targets: Sequence[str] = ()
    claims: Sequence[str] = ()
    set: Mapping[str, list[Scalar]] = field(default_factory=dict)
    data: str | None = None
    samples: int | None = None
    confidence: float = DEFAULT_CONFIDENCE
    method: Method | None = None
    stop_early: bool = False
    features: Features = "none"
    seed: int = 0
    quick: bool = False
    figures: Sequence[str] | None = None

    @property
    def command(self) -> str:
        """The command that asks for the same."""
        words = ["dpaudit", *(["check", *self.targets] if self.figures is None else ["reproduce", *self.figures])]
        for claim in self.claims:
            words += ["--claim", claim]
        for name, values in self.set.items():
            words += ["--set", f"{name}={','.join(map(setting, values))}"]
        options = {"--data": self.data, "--samples": self.samples, "--method": self.method}
        for option, value in options.items():
            words += [] if value is None else [option, str(value)]
        words += ["--stop-early"] if self.stop_early else []
        words += [] if self.features == "none" else ["--features", self.features]
        words += ["--quick"] if self.quick else []
        return shlex.join([*words, "--confidence", repr(self.confidence), "--seed", str(self.seed)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One claim of one target at one set of parameters.

    Attributes
    ----------
    reference
        Where the target is.
    called
        The TARGET argument that means it.
    parameters
        Parameter values given; the others have their defaults.
    data
        PrefLib file whose profile the target gets, and its SHA-256.
    plan
        The plan's file; empty where there is none.
    published
        The published number and its tolerance, for a claim about a figure; None where there is none.
    planned
        Samples that the expected verdict is about, where they are more than ``samples``; None where they are not.
    """

    reference: TargetReference
    called: str
    target: str
    claim: str
    parameters: Mapping[str, Scalar]
    expected: Verdict | None = None
    reason: str = ""
    method: Method = "auto"
    samples: int | None = None
    stop_early: bool = False
    features: Features = "none"
    data: tuple[str, str] | None = None
    plan: str = ""
    published: tuple[float, float] | None = None
    planned: int | None = None

    def instance(self) -> Mechanism:
        """Make the target with its parameters.

        Raises
        ------
        ParameterError
            A parameter is unknown or has a value that it cannot take.
        """
        return instantiate(self.reference.load(), self.parameters, self.data)


def build_cells(request: Request) -> list[Cell]:
    """Cells of a request, in a fixed order.

    Raises
    ------
    DpauditError
        A target, claim, parameter, value, plan or data file is unknown or unusable.
    """
    data = None if request.data is None else read_data(request.data)
    sources = _sources(request)
    cells: list[Cell] = []
    unknown_parameters = set(request.set)
    unknown_claims = set(request.claims)
    claim_names: set[str] = set()
    parameter_names: set[str] = set()
    if request.figures is not None:
        sources, wanted = _figure_sources(sources, request)
        request = replace(request, claims=wanted)
    for text, reference, plan in sources:
        target = reference.load()
        parameter_names.update(target.parameter_names())
        unknown_parameters -= set(target.parameter_names())
        found = _cells_of(text, reference, plan, request, data)
        claim_names.update(cell.claim for cell in found)
        if plan:
            claim_names.update(audit.claim for audit in plan.audits if audit.target == target.name)
        kept = [cell for cell in found if not request.claims or cell.claim in request.claims]
        unknown_claims -= {cell.claim for cell in kept}
        cells.extend(kept)
    if unknown_claims and request.figures is None:
        name = min(unknown_claims)
        raise TargetError(
            f"unknown claim {name!r}{suggestion(name, claim_names)}; known: {', '.join(sorted(claim_names))}"
        )
    if unknown_parameters:
        name = min(unknown_parameters)
        raise ParameterError(
            f"--set {name}: unknown parameter{suggestion(name, parameter_names)}; "
            f"known: {', '.join(sorted(parameter_names))}"
        )
    if not request.claims:
        cells = [cell for cell in cells if _claim_of(cell).kind != FigureClaim.kind]
    if request.quick:
        cells = [replace(cell, samples=_quick_samples(cell)) for cell in cells]
    return [_with_planned_samples(cell) for cell in cells]


def _figure_sources(
    sources: Sequence[tuple[str, TargetReference, Plan | None]], request: Request
) -> tuple[list[tuple[str, TargetReference, Plan | None]], list[str]]:
    """Targets that measure a figure again that is wanted, and the claims that do; no other has to take ``--set``.

    With data these are the figures that can be measured on rankings.
    """
    found = _figure_claims(sources, request)
    every = {name: claim for claims in found for name, claim in claims.items()}
    kept = named_figures({name: claim.reproduces for name, claim in every.items()}, request.figures or ())
    if request.data is not None:
        on_data = {name: claim.reproduces for name, claim in every.items() if claim.on_data}
        if not kept & set(on_data):
            raise DataError(
                f"{', '.join(request.figures or ())}: not measured on rankings; leave --data out, or choose of "
                f"{', '.join(figure_titles(on_data))}"
            )
        kept &= set(on_data)
    return [source for source, claims in zip(sources, found, strict=True) if kept & set(claims)], sorted(kept)


def _figure_claims(
    sources: Sequence[tuple[str, TargetReference, Plan | None]], request: Request
) -> list[dict[str, _ClaimFacts]]:
    """Claims of each target that measure a figure again, by id."""
    plain_request = replace(request, set={}, data=None)
    found = []
    for text, reference, plan in sources:
        claims = {cell.claim: _claim_of(cell) for cell in _cells_of(text, reference, plan, plain_request, None)}
        found.append({name: each for name, each in claims.items() if each.kind == FigureClaim.kind or each.reproduces})
    return found


def figures_not_on_data(request: Request) -> list[str]:
    """Figures and tables that were asked for and have no part that is measured on rankings, where there are data."""
    if request.figures is None or request.data is None:
        return []
    every = {name: claim for claims in _figure_claims(_sources(request), request) for name, claim in claims.items()}
    reproduced = {name: claim.reproduces for name, claim in every.items()}
    wanted = named_figures(reproduced, request.figures)
    titles = {
        on_data: figure_titles({name: reproduced[name] for name in wanted if every[name].on_data is on_data})
        for on_data in (True, False)
    }
    return [title for title in titles[False] if title not in titles[True]]


def figures_left_out(request: Request) -> int:
    """Number of planned audits of published figures that a request does not ask for."""
    if request.claims or request.figures is not None or request.data is not None:
        return 0
    return sum(
        len(list(audit.cells()))
        for text, reference, plan in _sources(request)
        if plan
        for audit in plan.audits
        if audit.target == reference.load().name and _is_figure(text, reference, audit)
    )


def _is_figure(text: str, reference: TargetReference, audit: PlannedAudit) -> bool:
    cell = Cell(
        reference=reference, called=text, target=audit.target, claim=audit.claim, parameters=next(audit.cells())
    )
    return audit.published is not None or _claim_of(cell).kind == FigureClaim.kind


def read_data(path: str) -> tuple[str, str]:
    """Return a PrefLib file that can be read, and its SHA-256."""
    read_profile(path)
    return path, hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _sources(request: Request) -> list[tuple[str, TargetReference, Plan | None]]:
    if not request.targets:
        found = plans_in(Path("audits")) or plans()
        if not found:
            raise PlanError("no plan found: no audits/*.toml here and no catalogue; name a target or a plan")
        return [source for path in found for source in _plan_sources(read_plan(path))]
    sources: list[tuple[str, TargetReference, Plan | None]] = []
    for text in request.targets:
        if text.endswith(".toml"):
            sources.extend(_plan_sources(read_plan(text)))
        else:
            references = find_targets(text)
            for reference in references:
                name = reference.load().name
                sources.append((called(reference, name), reference, plan_for(reference)))
    # A target named twice is audited once.
    return list(
        {
            (reference, plan.path.resolve() if plan else None): (text, reference, plan)
            for text, reference, plan in sources
        }.values()
    )


def _plan_sources(plan: Plan) -> list[tuple[str, TargetReference, Plan | None]]:
    named = {audit.target for audit in plan.audits} if plan.paper else set(plan.targets)
    return [(called(reference, name), reference, plan) for name, reference in plan.targets.items() if name in named]


def _cells_of(
    text: str, reference: TargetReference, plan: Plan | None, request: Request, data: tuple[str, str] | None
) -> list[Cell]:
    target = reference.load()
    if data is not None and DATA_PARAMETER not in target.parameter_names():
        raise DataError(f"{target.name} takes no --data; leave it out, or choose a target that measures on rankings")
    planned = _planned(target, plan, request, on_data=data is not None)
    blank = Cell(
        reference=reference,
        called=text,
        target=target.name,
        claim="",
        parameters={},
        data=data,
        plan=str(plan.path.resolve()) if plan else "",
    )
    override = {name: values for name, values in request.set.items() if name in target.parameter_names()}
    if data is not None and (fixed := [name for name in DATA_SIZES if name in override]):
        raise ParameterError(f"--set {fixed[0]}: the data say how many {fixed[0]} there are; leave it out")
    try:
        expectations: dict[tuple[str, ...], Cell] = {}
        for cell in (cell for audit in planned if data is None for cell in _planned_cells(blank, audit)):
            if expectations.setdefault(_identity(cell), cell).expected is not cell.expected:
                raise PlanError(
                    f"claim {cell.claim} at {dict(cell.parameters)} is expected to be both "
                    f"{expectations[_identity(cell)].expected} and {cell.expected}; keep one"
                )
    except (ParameterError, PlanError) as error:
        raise PlanError(f"{plan.path if plan else text}: {error}") from error
    cells: dict[tuple[str, ...], Cell] = {}
    if override:
        # A plan may audit one cell in several ways; who sets parameters gets each cell once: as asked for, or else by
        # the strongest method.
        wanted = (request.method or "auto", request.features, request.stop_early)
        planned = sorted(planned, key=lambda audit: _differences(audit, wanted))
    for audit in planned:
        # What is set need not suit the other claims.
        if request.claims and audit.claim not in request.claims:
            continue
        changed = replace(
            audit, set={**audit.set, **override}, samples=request.samples or audit.samples, **_way(request, audit)
        )
        for cell in _planned_cells(blank, changed):
            cells.setdefault(_identity(cell, in_any_way=bool(override)), cell)
    covered = {audit.claim for audit in planned}
    for values in grid(dict(override)):
        cell = replace(blank, parameters=values, samples=request.samples, **_way(request, None))
        for claim in _claims(cell):
            # On data no audit of a plan counts, so that nothing is covered.
            if claim.id not in covered and (data is not None or not (plan and plan.paper)):
                own = replace(cell, claim=claim.id)
                cells.setdefault(_identity(own), own)
    if data is not None:
        # What a plan expects is about synthetic rankings.
        kept = [cell for cell in cells.values() if _is_on_data(cell, request)]
        return [replace(cell, expected=None, reason="", published=None, planned=None) for cell in kept]
    return [_in_full(_with_expectation(cell, expectations), planned) for cell in cells.values()]


def _in_full(cell: Cell, planned: Sequence[PlannedAudit]) -> Cell:
    """Return the cell with every parameter that any audit of its claim sets, so that its command means it alone."""
    names = {name for audit in planned if audit.claim == cell.claim for name in audit.set}
    target: Any = cell.reference.load()
    defaults: dict[str, Any] = {parameter.name: parameter.default for parameter in fields(target)}
    more: dict[str, Scalar] = {
        name: defaults[name] for name in sorted(names - set(cell.parameters)) if isinstance(defaults[name], _SCALARS)
    }
    return replace(cell, parameters={**cell.parameters, **more})


def _planned(target: type[Mechanism], plan: Plan | None, request: Request, *, on_data: bool) -> list[PlannedAudit]:
    """Audits of a target in its plan; on data those of figures, at their settings but for what the data decide.

    Other settings of a plan are synthetic, and on data only what was asked for counts.
    """
    planned = [audit for audit in plan.audits if audit.target == target.name] if plan else []
    if not on_data:
        return planned
    if request.figures is None:
        return []
    without = {*DATA_SIZES, *target.synthetic}
    return [
        replace(audit, set={name: values for name, values in audit.set.items() if name not in without})
        for audit in planned
        if audit.claim in request.claims
    ]


def _differences(audit: PlannedAudit, wanted: tuple[Method, Features, bool]) -> list[bool]:
    return [one != other for one, other in zip((audit.method, audit.features, audit.stop_early), wanted, strict=True)]


def _way(request: Request, audit: PlannedAudit | None) -> dict[str, Any]:
    """How a cell is audited: as the request says, or else the plan; no features where a method is asked for without."""
    method = request.method or (audit.method if audit else "auto")
    features = request.features if request.features != "none" or audit is None else audit.features
    return {
        "method": method,
        "stop_early": request.stop_early or bool(audit and audit.stop_early),
        "features": features if sees_features(method) else "none",
    }


def _with_expectation(cell: Cell, expectations: Mapping[tuple[str, ...], Cell]) -> Cell:
    """Return the cell with what the plan expects of it by this method; what ``auto`` finds, ``exact`` finds too."""
    known = expectations.get(_identity(cell))
    if known is None and cell.method == "exact":
        known = expectations.get(_identity(replace(cell, method="auto")))
    if known is None:
        return replace(cell, expected=None, reason="", published=None)
    return replace(cell, expected=known.expected, reason=known.reason, published=known.published, planned=known.samples)


def _planned_cells(blank: Cell, audit: PlannedAudit) -> list[Cell]:
    made = replace(
        blank,
        claim=audit.claim,
        expected=audit.expect,
        reason=audit.reason,
        method=audit.method,
        samples=audit.samples,
        stop_early=audit.stop_early,
        features=audit.features,
        published=None if audit.published is None else (audit.published, audit.tolerance),
    )
    cells = [replace(made, parameters=values) for values in audit.cells()]
    for cell in cells:
        names = [claim.id for claim in _claims(cell)]
        if cell.claim not in names:
            raise PlanError(
                f"key 'claim' names {cell.claim!r}{suggestion(cell.claim, names)}; "
                f"at {dict(cell.parameters)} {cell.target} makes: {', '.join(names)}"
            )
    return cells


def _identity(cell: Cell, *, in_any_way: bool = False) -> tuple[str, ...]:
    described = json.dumps(described_parameters(cell.instance(), cell.data), sort_keys=True)
    way = () if in_any_way else (cell.method, cell.features, "early" if cell.stop_early else "")
    return (cell.target, cell.claim, described, *way)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClaimFacts:
    """What choosing cells needs to know of a claim; claims themselves may hold more than is worth keeping."""

    id: str
    kind: str
    on_data: bool
    reproduces: str
    runs: int


def _claims(cell: Cell) -> tuple[_ClaimFacts, ...]:
    return _facts(cell.reference, json.dumps(cell.parameters), cell.data)


@cache
def _facts(reference: TargetReference, parameters: str, data: tuple[str, str] | None) -> tuple[_ClaimFacts, ...]:
    """Claims at these parameters: asked for several times for every cell, and some targets take long to make them."""
    return tuple(
        _ClaimFacts(
            id=claim.id,
            kind=claim.kind,
            on_data=claim.on_data,
            reproduces=claim.reproduces,
            runs=getattr(claim, "runs", 1),
        )
        for claim in claims_of(instantiate(reference.load(), json.loads(parameters), data))
    )


def _claim_of(cell: Cell) -> _ClaimFacts:
    return next(claim for claim in _claims(cell) if claim.id == cell.claim)


def _quick_samples(cell: Cell) -> int:
    """A tenth of what the cell would spend, but not so little that nothing can come of it."""
    usual, fewest = _usual_samples(cell)
    spent = cell.samples or usual
    return max(min(fewest, spent), spent // 10)


def _usual_samples(cell: Cell) -> tuple[int, int]:
    """What is spent where nobody asks for a number, and the least that can lead to anything."""
    claim = _claim_of(cell)
    if claim.kind == PrivacyClaim.kind:
        return DEFAULT_SAMPLES, LEAST_SAMPLES
    if claim.kind == LemmaClaim.kind:
        return DEFAULT_DRAWS, 1
    # Fewer runs than 40 cannot tell at the confidence of a long run whether most of them are won.
    return claim.runs, 40


def _with_planned_samples(cell: Cell) -> Cell:
    """Return the cell with what its expectation is about, where that is more than it may spend."""
    if cell.samples is None or cell.expected is None:
        return replace(cell, planned=None)
    planned = cell.planned or _usual_samples(cell)[0]
    return replace(cell, planned=planned if planned > cell.samples else None)


def _is_on_data(cell: Cell, request: Request) -> bool:
    claim = _claim_of(cell)
    if not claim.on_data and cell.claim in request.claims:
        raise DataError(f"claim {cell.claim} is not measured on rankings; leave --data out")
    return claim.on_data
