"""From what was asked to cells: one claim of one target at one set of parameters each."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from typing import Any

from dpaudit.auditors.sampling.budget import Features, Method, complement, sees_features
from dpaudit.claims.claims import Claim, FigureClaim
from dpaudit.claims.declarations import Declaration
from dpaudit.claims.record import plain
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import DataError, ParameterError, PlanError, TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.plan import Plan, PlannedAudit, Scalar, grid, grid_size
from dpaudit.registry import TargetReference, in_catalogue, suggestion, unclaimed
from dpaudit.registry.names import continued
from dpaudit.runner.figures import figure_titles, named_figures
from dpaudit.runner.instances import (
    claims_of,
    described_parameters,
    digest_of,
    found_data,
    instantiate,
    load_dataset,
    located,
    sizes_decided,
    without_effect,
)
from dpaudit.runner.request import DEFAULT_ERROR_PROBABILITY, Request, setting
from dpaudit.runner.sources import Source, declarations_by_id, sources_of

_SCALARS = (bool, int, float, str, type(None))

Audit = tuple[PlannedAudit, Plan]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One claim of one target at one set of parameters.

    Attributes
    ----------
    reference
        Where the target is.
    called
        The TARGET argument that means it.
    target, claim, kind
        The target's name, the claim's id and its kind.
    declared
        Whether the claim is declared about the target; if not, the target's ``claims`` makes it.
    source, statement
        The claim's words.
    parameters
        Parameter values given; the others have their defaults.
    described
        All parameters as the record holds them.
    expected, reason
        What the plan expects, and why.
    method, samples, stop_early, features
        How it is audited.
    planned
        Samples that the plan spends; None for the usual number.
    quick
        Spend a tenth of the samples.
    timed
        Whether a time limit may end it.
    error_probability
        Probability, at most, with which a statistical statement of its result is wrong.
    confidence
        Its complement, where the command that audits the cell has to say so; None where that finds it in the plan.
    data
        Data file whose content the target gets, and its SHA-256.
    file
        Where that file is, if not where its name says: for data that a plan names.
    missing
        Why the cell cannot be audited here: the data that it names are not at hand. A result under its key, made where
        they were, stays valid.
    plan
        The plan's file; empty where there is none.
    published
        The published number and its tolerance, for a claim about a figure; None where there is none.
    """

    reference: TargetReference
    called: str
    target: str
    claim: str
    kind: str = ""
    declared: bool = False
    source: str = ""
    statement: str = ""
    parameters: Mapping[str, Scalar]
    described: Mapping[str, Any] = field(default_factory=dict)
    expected: Verdict | None = None
    reason: str = ""
    method: Method = "auto"
    samples: int | None = None
    stop_early: bool = False
    features: Features = "none"
    planned: int | None = None
    quick: bool = False
    timed: bool = False
    error_probability: float = DEFAULT_ERROR_PROBABILITY
    confidence: float | None = None
    data: tuple[str, str] | None = None
    file: str = ""
    missing: str = ""
    plan: str = ""
    published: tuple[float, float] | None = None

    def instance(self) -> Mechanism:
        """Make the target with its parameters; without its data where these are missing.

        Raises
        ------
        ParameterError
            A parameter is unknown or has a value that it cannot take.
        """
        if self.missing:
            return instantiate(self.reference.load(), self.parameters)
        data = (self.file, self.data[1]) if self.data and self.file else self.data
        return instantiate(self.reference.load(), self.parameters, data)

    def declaration(self) -> Declaration | None:
        """Return the claim as it is declared; None where the target's ``claims`` makes it."""
        return declarations_by_id(self.reference)[self.claim] if self.declared else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClaimFacts:
    """What choosing cells needs to know of a claim; claims themselves may hold more than is worth keeping."""

    id: str
    kind: str
    source: str
    statement: str
    on_data: bool
    reproduces: str

    @classmethod
    def of(cls, claim: Claim | Declaration) -> _ClaimFacts:
        return cls(
            id=claim.id,
            kind=claim.kind,
            source=claim.source,
            statement=claim.statement,
            on_data=claim.on_data,
            reproduces=claim.reproduces,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a request comes to.

    Attributes
    ----------
    cells
        Its cells, in a fixed order; of a shard, those of the whole.
    figures_left_out
        How many published figures it leaves out.
    places
        Places of the cells that are to be audited: all of them, or those of the shard.
    without_claims
        Mechanisms of the files that make no claim, so that nothing of them is audited.
    """

    cells: tuple[Cell, ...]
    figures_left_out: int = 0
    places: tuple[int, ...] = ()
    without_claims: tuple[str, ...] = ()


def build_cells(request: Request) -> list[Cell]:
    """Cells of a request; see `choose`."""
    choice = choose(request)
    return [choice.cells[place] for place in choice.places]


def choose(request: Request) -> Choice:
    """Choose the cells of a request.

    No claim that is declared is made for it; what a target's own ``claims`` returns is asked for once for every set of
    parameters.

    Raises
    ------
    DpauditError
        A target, claim, parameter, value, plan or data file is unknown or unusable.
    """
    asked, sources = request, sources_of(request)
    if request.figures is not None:
        sources, wanted = _figure_sources(sources, request)
        request = replace(request, claims=wanted)
    chosen = [_Chooser(source, request) for source in sources]
    _check_names(chosen, request)
    _check_number(chosen, request)
    cells: dict[tuple[str, ...], Cell] = {}
    without: list[str] = []
    for each in chosen:
        own = each.cells()
        for cell in own:
            cells.setdefault(_identity(cell), cell)
        if not own and not (request.claims or each.source.claims) and request.data is None:
            without.append(each.source.called)
            if each.source.is_named:
                raise TargetError(
                    f"nothing to check of {each.source.called}: it makes no claim; define `claims`, or leave it out"
                )
    unknown = set(request.claims) - {cell.claim for cell in cells.values()}
    if unknown and request.figures is None:
        known = {name for each in chosen for name in each.claim_names()}
        meant = {name: continued(name, sorted(known)) for name in unknown - known}
        if any(meant.values()):
            named = [each for name in request.claims for each in (meant.get(name) or [name])]
            return choose(replace(asked, claims=tuple(dict.fromkeys(named))))
        name = min(unknown)
        others = f"known: {', '.join(sorted(known))}" if known else "these targets make none at these parameters"
        raise TargetError(f"unknown claim {name!r}{suggestion(name, known)}; {others}")
    found = [replace(cell, quick=request.quick) for cell in cells.values()]
    if not request.claims:
        without += [name for text in request.targets for name in unclaimed(text)]
    if request.claims or request.with_figures:
        return Choice(cells=tuple(found), places=_places(found, request.shard), without_claims=tuple(without))
    kept = [cell for cell in found if cell.kind != FigureClaim.kind or _is_named(cell.claim, request.targets)]
    left_out = 0 if request.data is not None else len(found) - len(kept)
    return Choice(
        cells=tuple(kept),
        figures_left_out=left_out,
        places=_places(kept, request.shard),
        without_claims=tuple(without),
    )


def _places(cells: Sequence[Cell], shard: tuple[int, int] | None) -> tuple[int, ...]:
    """Places of the cells of a shard: every cell is in one, their sizes differ by one at most, and costs are mixed."""
    if shard is None:
        return tuple(range(len(cells)))
    number, of = shard
    mixed = sorted(range(len(cells)), key=lambda place: hashlib.sha256(repr(_identity(cells[place])).encode()).digest())
    return tuple(sorted(mixed[number - 1 :: of]))


def _is_named(claim: str, targets: Sequence[str]) -> bool:
    return any(name == claim or continued(name, [claim]) for name in targets)


def _check_names(chosen: Sequence[_Chooser], request: Request) -> None:
    """Raise ParameterError where ``--set`` names a parameter that no target has."""
    names = {name for each in chosen for name in each.target.parameter_names()}
    if unknown := set(request.set) - names:
        name = min(unknown)
        raise ParameterError(
            f"--set {name}: unknown parameter{suggestion(name, names)}; known: {', '.join(sorted(names))}"
        )


def _check_number(chosen: Sequence[_Chooser], request: Request) -> None:
    """Raise ParameterError where a request comes to more cells than it may, before any is made."""
    asked = sum(each.size() for each in chosen)
    if asked > request.max_cells:
        raise ParameterError(
            f"this asks for {asked:,} cells, one for every combination of values and every claim, and the limit is "
            f"{request.max_cells:,}; give fewer values, or allow them with --max-cells {asked}"
        )


def read_data(target: type[Mechanism], path: str) -> tuple[str, str]:
    """Return a data file that can be read by what a target's dataset is loaded with, and its SHA-256.

    Raises
    ------
    DataError
        The target takes no data, or the file cannot be used.
    """
    taken = target.dataset_parameter()
    if taken is None:
        raise DataError(f"{target.name} takes no --data; leave it out, or choose a target that measures on data")
    path = found_data(path)
    load_dataset(taken[1], path)
    return path, digest_of(path)


class _Chooser:
    """Chooses the cells of one target."""

    def __init__(self, source: Source, request: Request) -> None:
        self.source, self.request = source, request
        self.target = source.reference.load()
        self.audits: list[Audit] = [(audit, plan) for plan, audits in source.plans for audit in audits]
        self.data = None if request.data is None else read_data(self.target, request.data)
        self.override = {name: values for name, values in request.set.items() if name in self.target.parameter_names()}
        # A mechanism's own `claims` comes before what is declared about its class.
        own = self.target.claims is not Mechanism.claims
        if own and "claims" in vars(self.target) and vars(self.target).get("declared"):
            raise TargetError(
                f"{self.target.name}: its class has a method `claims`, and claims are declared about it "
                f"({self.target.declared[0].id}); make all of them in one of the two ways"
            )
        self.declared = {} if own else declarations_by_id(source.reference)
        decided = [name for name in sizes_decided(self.target) if name in self.override] if self.data else []
        if decided:
            raise ParameterError(f"--set {decided[0]}: the data say how many {decided[0]} there are; leave it out")
        made_up = [name for name in self.target.synthetic if name in self.override] if self.data else []
        if made_up:
            raise ParameterError(
                f"--set {made_up[0]}: without effect on {self.target.name}, whose inputs are the data; leave it out"
            )

    def claim_names(self) -> set[str]:
        """Ids of the claims that can be asked for."""
        names = {audit.claim for audit, _ in self.audits} | set(self.declared)
        if not self.declared:
            names |= {claim.id for claim in self._claims(next(grid(dict(self.override))))}
        return names if self.source.claims is None else names & self.source.claims

    def size(self) -> int:
        """How many cells there are at most, counted without making one; a target's own claims count as one."""
        planned = [(audit, self._changed(audit)) for audit, _ in self._planned() if self._is_asked_for(audit.claim)]
        covered = {audit.claim for audit, _ in planned}
        left = [name for name in self.declared if name not in covered and self._is_asked_for(name)]
        others = grid_size(self.override) * (len(left) if self.declared or covered else 1)
        # What a plan expects is looked up in all of its cells, also where few are asked for.
        return others + max(sum(audit.size for audit, _ in planned), sum(changed.size for _, changed in planned))

    def _changed(self, audit: PlannedAudit) -> PlannedAudit:
        return replace(audit, set={**audit.set, **self.override})

    def cells(self) -> list[Cell]:
        """The cells, those of the plan first."""
        planned = self._planned()
        expectations = self._expectations() if self.data is None else {}
        cells: dict[tuple[str, ...], Cell] = {}
        if self.override:
            # A plan may audit one cell in several ways; who sets parameters gets each cell once: as asked for, or else
            # by the strongest method.
            wanted = (self.request.method or "auto", self.request.features, self.request.stop_early)
            planned = sorted(planned, key=lambda audit: _differences(audit[0], wanted))
        for audit, plan in planned:
            # What is set need not suit the other claims.
            if self._is_asked_for(audit.claim):
                for cell in self._of_audit(self._changed(audit), plan):
                    cells.setdefault(_identity(cell, in_any_way=bool(self.override)), cell)
        for cell in self._not_planned({audit.claim for audit, _ in planned}):
            cells.setdefault(_identity(cell), cell)
        if self.data is not None:
            # What a plan expects is about synthetic inputs.
            kept = [cell for cell in cells.values() if self._is_on_data(cell)]
            return [replace(cell, expected=None, reason="", published=None, planned=None) for cell in kept]
        audits = [audit for audit, _ in planned]
        return [self._in_full(_with_expectation(cell, expectations), audits) for cell in cells.values()]

    def _is_asked_for(self, claim: str) -> bool:
        return (not self.request.claims or claim in self.request.claims) and (
            self.source.claims is None or claim in self.source.claims
        )

    def _planned(self) -> list[Audit]:
        """Audits of the plan; on data those of figures, at their settings but for what the data decide.

        Other settings of a plan are synthetic, and on data only what was asked for counts. What is set without data is
        about synthetic inputs.
        """
        if self.data is None:
            return [both for both in self.audits if not (self.override and both[0].datasets)]
        if self.request.figures is None:
            return []
        without = {*sizes_decided(self.target), *self.target.synthetic}
        return [
            (replace(audit, set={name: audit.set[name] for name in audit.set if name not in without}, data=None), plan)
            for audit, plan in self.audits
            if audit.claim in self.request.claims
        ]

    def _expectations(self) -> dict[tuple[str, ...], Cell]:
        """Cells of the plan as it stands, by identity.

        Raises
        ------
        PlanError
            The plan cannot be used, or expects two things of one cell.
        """
        found: dict[tuple[str, ...], Cell] = {}
        for audit, plan in self.audits:
            if self.request.claims and audit.claim not in self.request.claims and self.declared:
                continue
            try:
                for cell in self._of_audit(audit, plan, as_planned=True):
                    if found.setdefault(_identity(cell), cell).expected is not cell.expected:
                        raise PlanError(
                            f"claim {cell.claim} at {dict(cell.parameters)} is expected to be both "
                            f"{found[_identity(cell)].expected} and {cell.expected}; keep one"
                        )
            except (ParameterError, PlanError) as error:
                raise PlanError(f"{plan.path}: {error}") from error
        return found

    def _of_audit(self, audit: PlannedAudit, plan: Plan, *, as_planned: bool = False) -> list[Cell]:
        way = {"method": audit.method, "stop_early": audit.stop_early, "features": audit.features}
        if not as_planned:
            way = self._way(audit)
        cells = []
        data: list[str | None] = [*audit.datasets] or [None]
        for name, values in itertools.product(data, audit.cells()):
            facts = self._fact(audit.claim, values)
            cell = self._cell(
                facts,
                values,
                plan=plan,
                samples=audit.samples if as_planned else self.request.samples or audit.samples,
                **way,
            )
            self._check_effects(cell, audit.set if as_planned else self.override, as_planned=as_planned)
            published = None if audit.published is None else (audit.published, audit.tolerance)
            cell = replace(cell, expected=audit.expect, reason=audit.reason, planned=audit.samples, published=published)
            cells.append(cell if name is None else self._on_data_of(plan, name, cell))
        return cells

    def _on_data_of(self, plan: Plan, name: str, cell: Cell) -> Cell:
        """Return the cell on data that its plan names, which need not be at hand."""
        if not self._fact(cell.claim, cell.parameters).on_data:
            raise PlanError(f"claim {cell.claim} is not measured on data; leave the key 'data' of its audit out")
        planned = plan.data[name]
        data = planned.file, planned.sha256
        # The sizes stand in the plan, so that what the cell depends on is known without the data.
        instance = instantiate(self.target, {**cell.parameters, **planned.sizes})
        file, missing = located(planned)
        described = described_parameters(instance, data)
        return replace(cell, data=data, file=file, missing=missing, described=described)

    def _not_planned(self, covered: set[str]) -> list[Cell]:
        """Cells of claims that no audit is about, at the parameters that are set."""
        plan = self.source.plans[0][0] if self.source.plans else None
        cells = []
        lacking: dict[str, Mapping[str, Scalar]] = {}
        made: set[str] = set()
        for values in grid(dict(self.override)):
            left = [name for name in self.declared if name not in covered and self._is_asked_for(name)]
            facts = [self._fact(name, values) for name in left]
            if not self.declared:
                own = self._claims(values)
                if self.override and not own:
                    raise ParameterError(
                        f"nothing to check: {self.target.name} makes no claim at {_in_words(values)}; leave these "
                        "values out"
                    )
                facts = [claim for claim in own if claim.id not in covered and self._is_asked_for(claim.id)]
                made |= {claim.id for claim in own}
                lacking |= dict.fromkeys(set(self.request.claims) - {claim.id for claim in own}, values)
            way = self._way(None)
            cells += [self._cell(fact, values, plan=plan, samples=self.request.samples, **way) for fact in facts]
        for name in sorted(made & set(lacking)):
            raise ParameterError(
                f"{self.target.name} makes no claim {name!r} at {_in_words(lacking[name])}; leave these values out"
            )
        for cell in cells:
            self._check_effects(cell, self.override)
        return cells

    def _check_effects(self, cell: Cell, names: Iterable[str], *, as_planned: bool = False) -> None:
        """Raise ParameterError where a parameter that was set has no effect on a cell."""
        option = "" if as_planned else "--set "
        for name in names:
            others = without_effect(self.target, name, cell.parameters, cell.described, self._described)
            if others is None:
                continue
            where = f"{option}{name}={setting(cell.parameters[name])}: without effect on {cell.claim} of {cell.target}"
            found = f"where {name} is {cell.described.get(name)}"
            if not others:
                raise ParameterError(f"{where}, {found} whatever is set; leave it out")
            decisive = " and ".join(f"{other}={setting(cell.parameters[other])}" for other in others)
            mend = "leave one of them out"
            if not as_planned and not set(others) & set(self.override):
                mend = f"leave it out, or take that back: --set {others[0]}={setting(self._defaults()[others[0]])}"
            raise ParameterError(f"{where}, {found} because of {decisive}; {mend}")

    def _defaults(self) -> dict[str, Any]:
        return {each.name: each.default for each in fields(self.target)}  # type: ignore[arg-type]

    def _described(self, values: Mapping[str, Scalar]) -> dict[str, Any]:
        """All parameters as the record holds them, where these are given."""
        return _described(self.source.reference, json.dumps(values), self.data)

    def _cell(
        self, claim: _ClaimFacts, values: Mapping[str, Scalar], *, plan: Plan | None, samples: int | None, **way: Any
    ) -> Cell:
        return Cell(
            reference=self.source.reference,
            called=self.source.called,
            target=self.target.name,
            claim=claim.id,
            kind=claim.kind,
            declared=claim.id in self.declared,
            source=claim.source,
            statement=claim.statement,
            parameters=values,
            described=self._described(values),
            samples=samples,
            error_probability=(error := self._error_probability(plan)),
            confidence=self._told(error),
            data=self.data,
            plan="" if plan is None else str(plan.path.resolve()),
            **way,
        )

    def _error_probability(self, plan: Plan | None) -> float:
        if self.request.confidence is not None:
            return complement(self.request.confidence)
        if plan is not None and plan.error_probability is not None:
            return plan.error_probability
        return DEFAULT_ERROR_PROBABILITY

    def _told(self, error: float) -> float | None:
        """Confidence that a command has to say: a target of the catalogue has that of its plan by itself."""
        if self.request.confidence is not None:
            return self.request.confidence
        by_itself = in_catalogue(self.source.reference.path) or error == DEFAULT_ERROR_PROBABILITY
        return None if by_itself else complement(error)

    def _way(self, audit: PlannedAudit | None) -> dict[str, Any]:
        """How a cell is audited: as the request says, or else the plan; no features where the method sees none."""
        method = self.request.method or (audit.method if audit else "auto")
        features = self.request.features if self.request.features != "none" or audit is None else audit.features
        return {
            "method": method,
            "stop_early": self.request.stop_early or bool(audit and audit.stop_early),
            "features": features if sees_features(method) else "none",
        }

    def _fact(self, claim: str, values: Mapping[str, Scalar]) -> _ClaimFacts:
        if claim in self.declared:
            return _ClaimFacts.of(self.declared[claim])
        made = {} if self.declared else {each.id: each for each in self._claims(values)}
        if claim not in made:
            names = list(self.declared or made)
            where = "" if self.declared else f"at {dict(values)} "
            raise PlanError(
                f"key 'claim' names {claim!r}{suggestion(claim, names)}; "
                f"{where}{self.target.name} makes: {', '.join(names)}"
            )
        return made[claim]

    def _claims(self, values: Mapping[str, Scalar]) -> tuple[_ClaimFacts, ...]:
        return _facts(self.source.reference, json.dumps(values), self.data)

    def _is_on_data(self, cell: Cell) -> bool:
        fact = self._fact(cell.claim, cell.parameters)
        if not fact.on_data and cell.claim in self.request.claims:
            raise DataError(f"claim {cell.claim} is not measured on rankings; leave --data out")
        return fact.on_data

    def _in_full(self, cell: Cell, planned: Sequence[PlannedAudit]) -> Cell:
        """Return the cell with every parameter that any audit of its claim sets, so that its command means it alone."""
        names = {name for audit in planned if audit.claim == cell.claim for name in audit.set}
        if cell.data is not None:
            names -= {*sizes_decided(self.target), *self.target.synthetic}
        defaults = self._defaults()
        more: dict[str, Scalar] = {
            name: defaults[name] if cell.described[name] == plain(defaults[name]) else cell.described[name]
            for name in sorted(names - set(cell.parameters))
            if isinstance(defaults[name], _SCALARS) and isinstance(cell.described[name], _SCALARS)
        }
        return replace(cell, parameters={**cell.parameters, **more})

    def figures(self) -> dict[str, _ClaimFacts]:
        """Claims that measure a published figure again, by id."""
        claims: dict[str, _ClaimFacts] = {
            name: self._fact(name, {}) for name in self.declared if self._is_asked_for(name)
        }
        if not self.declared:
            made = {audit.claim: next(audit.cells()) for audit, _ in self.audits}
            claims = {name: self._fact(name, values) for name, values in made.items() if self._is_asked_for(name)}
        return {name: each for name, each in claims.items() if each.kind == FigureClaim.kind or each.reproduces}


def _figure_sources(sources: Sequence[Source], request: Request) -> tuple[list[Source], list[str]]:
    """Targets that measure a figure again that is wanted, and the claims that do; no other has to take ``--set``.

    With data these are the figures that can be measured on them.
    """
    plain_request = replace(request, set={}, data=None)
    found = [_Chooser(source, plain_request).figures() for source in sources]
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


def figures_not_on_data(request: Request) -> list[str]:
    """Figures and tables that were asked for and have no part that is measured on data, where there are data."""
    if request.figures is None or request.data is None:
        return []
    plain_request = replace(request, set={}, data=None)
    found = [_Chooser(source, plain_request).figures() for source in sources_of(request)]
    every = {name: claim for claims in found for name, claim in claims.items()}
    reproduced = {name: claim.reproduces for name, claim in every.items()}
    wanted = named_figures(reproduced, request.figures)
    titles = {
        on_data: figure_titles({name: reproduced[name] for name in wanted if every[name].on_data is on_data})
        for on_data in (True, False)
    }
    return [title for title in titles[False] if title not in titles[True]]


def _differences(audit: PlannedAudit, wanted: tuple[Method, Features, bool]) -> list[bool]:
    return [one != other for one, other in zip((audit.method, audit.features, audit.stop_early), wanted, strict=True)]


def _with_expectation(cell: Cell, expectations: Mapping[tuple[str, ...], Cell]) -> Cell:
    """Return the cell with what the plan expects of it by this method; what ``auto`` finds, ``exact`` finds too."""
    known = expectations.get(_identity(cell))
    if known is None and cell.method == "exact":
        known = expectations.get(_identity(replace(cell, method="auto")))
    if known is None:
        return replace(cell, expected=None, reason="", published=None, planned=None)
    return replace(cell, expected=known.expected, reason=known.reason, published=known.published, planned=known.samples)


def _in_words(values: Mapping[str, Scalar]) -> str:
    return ", ".join(f"{name}={setting(value)}" for name, value in values.items())


def _identity(cell: Cell, *, in_any_way: bool = False) -> tuple[str, ...]:
    way = () if in_any_way else (cell.method, cell.features, "early" if cell.stop_early else "")
    return (cell.target, cell.claim, json.dumps(cell.described, sort_keys=True), *way)


@cache
def _facts(reference: TargetReference, parameters: str, data: tuple[str, str] | None) -> tuple[_ClaimFacts, ...]:
    """Claims that a target's own ``claims`` makes at these parameters."""
    return tuple(map(_ClaimFacts.of, claims_of(_instance(reference, parameters, data))))


@cache
def _described(reference: TargetReference, parameters: str, data: tuple[str, str] | None) -> dict[str, Any]:
    return described_parameters(_instance(reference, parameters, data), data)


@lru_cache(maxsize=1)
def _instance(reference: TargetReference, parameters: str, data: tuple[str, str] | None) -> Mechanism:
    return instantiate(reference.load(), json.loads(parameters), data)
