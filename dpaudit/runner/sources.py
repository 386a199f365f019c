"""Which targets, with which plans and claims, a request is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dpaudit.claims.declarations import Declaration, declarations_of
from dpaudit.errors import PlanError, TargetError
from dpaudit.plan import Plan, PlannedAudit, plan_beside, plans, plans_in, plans_of, read_plan
from dpaudit.registry import (
    TargetReference,
    called,
    catalogue,
    catalogue_claims,
    catalogue_papers,
    find_targets,
    in_catalogue,
)
from dpaudit.registry.names import continued
from dpaudit.runner.request import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One target with what is planned for it.

    Attributes
    ----------
    called
        The TARGET argument that means it.
    name
        Its name, by which results are known.
    reference
        Where it is.
    plans
        Plans that audit it, with the audits of it.
    claims
        The only claims that are asked for; None for all.
    is_named
        Whether the class itself was named, and not only its file.
    """

    called: str
    name: str
    reference: TargetReference
    plans: tuple[tuple[Plan, tuple[PlannedAudit, ...]], ...] = ()
    claims: frozenset[str] | None = None
    is_named: bool = False


def sources_of(request: Request) -> list[Source]:
    """Targets that a request is about, each once for every way in which it is named.

    Raises
    ------
    DpauditError
        A target or plan is unknown or unusable, or two targets have one name.
    """
    found = _sources_of(request)
    _check_names(found)
    return found


def _check_names(sources: Iterable[Source]) -> None:
    """Raise TargetError where two targets have one name: the results of one would be taken for those of the other."""
    known: dict[str, Source] = {}
    for source in sources:
        first = known.setdefault(source.name, source)
        if first.reference != source.reference and first.reference.load() is not source.reference.load():
            raise TargetError(
                f"{first.called} and {source.called} are two targets named {source.name!r}, which results are known "
                "by; set `name` in one of the classes to another one, or audit them one by one"
            )


def _sources_of(request: Request) -> list[Source]:
    if not request.targets:
        found = plans_in(Path("audits")) or plans()
        if not found:
            raise PlanError("no plan found: no audits/*.toml here and no catalogue; name a target or a plan")
        return [source for path in found for source in _of_plan(read_plan(path))]
    sources = [source for text in request.targets for source in _named(text)]
    unique = {
        (source.reference, tuple(plan.path.resolve() for plan, _ in source.plans), source.claims): source
        for source in reversed(sources)
    }
    return [source for source in sources if source in unique.values()]


def _named(text: str) -> Iterator[Source]:
    if text.endswith(".toml"):
        yield from _of_plan(read_plan(text))
        return
    if ".py" not in text and ":" not in text and text not in catalogue():
        papers = catalogue_papers()
        if text in papers and papers[text].plan is not None:
            yield from _of_plan(read_plan(str(papers[text].plan)))
            return
        claims = catalogue_claims()
        named = [text] if text in claims else continued(text, claims)
        if named:
            for name in named:
                yield from _of_claim(claims[name])
            return
    for reference in find_targets(text):
        name = reference.load().name
        yield Source(
            called=called(reference, name),
            name=name,
            reference=reference,
            plans=_plans_of(reference, name),
            is_named=":" in text,
        )


def _plans_of(reference: TargetReference, name: str) -> tuple[tuple[Plan, tuple[PlannedAudit, ...]], ...]:
    if reference.path.endswith(".py"):
        beside = plan_beside(Path(reference.path))
        found = [] if beside is None else [beside]
    else:
        # A module of a user's own may have a target of the same name.
        found = plans_of(name) if in_catalogue(reference.path) else []
    return tuple((plan, _audits(plan, name)) for plan in found)


def _of_claim(declaration: Declaration) -> Iterator[Source]:
    """Targets that a declared claim is about."""
    for target in declaration.targets:
        reference = catalogue()[target.name]
        plans_found = _plans_of(reference, target.name)
        yield Source(
            called=target.name,
            name=target.name,
            reference=reference,
            plans=plans_found,
            claims=frozenset({declaration.id}),
        )


def _of_plan(plan: Plan) -> Iterator[Source]:
    """Targets of a plan: of a paper's, those that it audits, with the claims that the paper makes about them."""
    named = {audit.target for audit in plan.audits}
    made: list[Declaration] = []
    if plan.paper is not None:
        made = list(catalogue_papers()[plan.paper].declarations)
        named |= {target.name for declaration in made for target in declaration.targets}
    for name, reference in plan.targets.items():
        if plan.paper is None:
            planned = ((plan, _audits(plan, name)),)
            yield Source(called=called(reference, name), name=name, reference=reference, plans=planned)
        elif name in named:
            audits = _audits(plan, name)
            own = {declaration.id for declaration in made if name in {target.name for target in declaration.targets}}
            yield Source(
                called=called(reference, name),
                name=name,
                reference=reference,
                plans=((plan, audits),),
                claims=frozenset(own | {audit.claim for audit in audits}),
            )


def _audits(plan: Plan, name: str) -> tuple[PlannedAudit, ...]:
    return tuple(audit for audit in plan.audits if audit.target == name)


def declarations_by_id(reference: TargetReference) -> dict[str, Declaration]:
    """Claims declared about a target, by id, wherever they are declared."""
    if in_catalogue(reference.path):
        # A claim may be declared by another paper than the one that defines the mechanism.
        catalogue()
    return {declaration.id: declaration for declaration in declarations_of(reference.load())}
