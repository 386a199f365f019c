"""What `dpaudit show` says of a system, a claim or a paper, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.claims.declarations import Declaration, declarations_of
from dpaudit.claims.record import Record, Result, plain, read_record
from dpaudit.mechanism import Mechanism
from dpaudit.plan import audit_lines, plans_of, read_plan
from dpaudit.registry import CataloguePaper, catalogue, catalogue_claims, catalogue_papers, find_targets
from dpaudit.registry.catalogue import record_of
from dpaudit.registry.listing import target_names
from dpaudit.registry.names import continued

if TYPE_CHECKING:
    from dpaudit.claims.papers import Erratum

Facts = dict[str, Any]


def facts_of(name: str) -> list[Facts]:
    """Facts of what a name means: one claim or paper, or one or several systems or claims.

    Raises
    ------
    DpauditError
        Nothing of that name, or it cannot be imported.
    """
    if name.endswith(".toml"):
        plan = read_plan(name)
        named = {audit.target for audit in plan.audits} if plan.paper else set(plan.targets)
        return [_target(reference.load()) for target, reference in plan.targets.items() if target in named]
    if ".py" not in name and ":" not in name and name not in catalogue():
        claims, papers = catalogue_claims(), catalogue_papers()
        if name in claims:
            return [_claim(claims[name])]
        if name in papers and not papers[name].problem:
            return [_paper(papers[name])]
        if several := continued(name, claims):
            return [_claim(claims[each]) for each in several]
    return [_target(reference.load()) for reference in find_targets(name)]


def _target(target: type[Mechanism]) -> Facts:
    instance = _example(target)
    claims = _claims(target, instance)
    views = {} if instance is None else instance.views()
    return {
        "object": "target",
        "target": target.name,
        "title": target.summary(),
        "source": target.cited(),
        "trust": target.trust,
        "parameters": [
            {"name": name, "type": kind, "default": default, "doc": doc}
            for name, kind, default, doc in target.parameter_table()
        ],
        "views": [
            {"name": name, "words": words, "notation": views[name].notation}
            for name, words in (_views(instance) if instance is not None else {}).items()
        ],
        "claims": None if claims is None or instance is None else [_claim_of_target(target, each) for each in claims],
        "errata": _errata(target.errata),
    }


def _claim_of_target(target: type[Mechanism], claim: Any) -> Facts:
    results = _recorded(claim) if isinstance(claim, Declaration) else ()
    return {
        "id": claim.id,
        "kind": claim.kind,
        "ours": bool(getattr(claim, "ours", False)),
        "source": claim.source,
        "statement": claim.statement,
        "verdicts": _counts(each for each in results if each.target == target.name and each.claim == claim.id),
    }


def _claim(declaration: Declaration) -> Facts:
    from dpaudit.reporting.reading import rank, verdict_regions
    from dpaudit.reporting.wording import headline

    results = [result for result in _recorded(declaration) if result.claim == declaration.id]
    told = min((each for each in results if each.witness is not None), key=rank, default=None)
    example = told or (results[0] if results else None)
    return {
        "object": "claim",
        "id": declaration.id,
        "kind": declaration.kind,
        "statement": declaration.statement,
        "bug": declaration.bug,
        "source": declaration.source,
        "ours": declaration.ours,
        "mends": list(declaration.mends),
        "mended_by": _mending(declaration),
        "targets": target_names(declaration),
        "file": None if declaration.file is None else _shown(declaration.file),
        "line": declaration.line,
        "audits": _audits(declaration),
        "verdicts": _counts(results),
        "regions": {str(verdict): words for verdict, words in verdict_regions(results).items()} if results else {},
        "results": [
            {
                "target": each.target,
                "verdict": str(each.verdict),
                "parameters": plain(each.parameters),
                "claimed": plain(each.claimed),
                "measured": plain(each.measured),
                "method": each.method,
                "finding": headline(each),
                "command": each.command,
            }
            for each in results
        ],
        "witness": None if told is None else _witness(declaration, told),
        "command": example.command if example else f"dpaudit check {declaration.id}",
    }


def _witness(declaration: Declaration, told: Result) -> Facts:
    """The parts of a witness, how they are written, and the inequality that they break, as the console has them."""
    from dpaudit.reporting.reading import by_hand, worked_out
    from dpaudit.reporting.wording import witness_lines

    systems = {name: entry for path in record_of(declaration) for name, entry in _record(path).systems.items()}
    entry = systems.get(told.target)
    notation = entry.notations.get(told.view or "", "") if entry else ""
    parts = [("notation", notation), *witness_lines(told), (by_hand(told).lower(), worked_out(told))]
    return {name: text for name, text in parts if text}


def _paper(entry: CataloguePaper) -> Facts:
    paper = entry.paper
    ordered = sorted(entry.declarations, key=lambda each: (bool(each.bug), each.ours, not each.place, each.place))
    results: dict[str, list[Result]] = {}
    for result in _recorded(ordered[0]) if ordered else ():
        results.setdefault(result.claim, []).append(result)
    return {
        "object": "paper",
        "key": entry.key,
        "title": paper.title if paper else "",
        "authors": list(paper.authors) if paper else [],
        "venue": paper.venue if paper else "",
        "year": paper.year if paper else None,
        "doi": paper.doi if paper else "",
        "url": paper.url if paper else "",
        "claims": [
            {
                "id": each.id,
                "kind": each.kind,
                "place": each.place.label if each.place else "",
                "statement": each.statement,
                "ours": each.ours,
                "bug": each.bug,
                "verdicts": _counts(results.get(each.id, ())),
            }
            for each in ordered
        ],
        "left_alone": [
            {"where": each.where.label, "says": each.says, "reason": each.reason} for each in entry.left_alone
        ],
        "errata": _errata(sorted(entry.errata, key=lambda each: (isinstance(each.where, str), each.where))),
        "plan": None if entry.plan is None else _shown(entry.plan),
    }


def _example(target: type[Mechanism]) -> Mechanism | None:
    """Return the target at its defaults, or None if a parameter has none."""
    from dpaudit.runner.instances import instantiate

    required = any(default == "required" for _, _, default, _ in target.parameter_table())
    return None if required else instantiate(target, {})


def _views(target: Mechanism) -> dict[str, str]:
    """Each view in words; those of one class with the parameters in which they differ."""
    views = target.views()
    said = {}
    for name, view in views.items():
        alike = [other for other in views.values() if type(other) is type(view)]
        own = {
            key: value
            for key, value in view.parameters().items()
            if any(other.parameters()[key] != value for other in alike)
        }
        words = type(view).summary() or view.name
        said[name] = words + (f" ({', '.join(f'{key}={value}' for key, value in own.items())})" if own else "")
    return said


def _claims(target: type[Mechanism], instance: Mechanism | None) -> list[Any] | None:
    """Claims of a target: those that are declared, or else those that it makes at its defaults."""
    from dpaudit.runner.instances import claims_of

    if target.claims is Mechanism.claims:
        return list(declarations_of(target))
    return None if instance is None else claims_of(instance)


def _errata(errata: Iterable[Erratum]) -> list[Facts]:
    return [
        {"where": str(each.where), "printed": each.printed, "meant": each.meant, "reason": each.reason}
        for each in errata
    ]


def _mending(declaration: Declaration) -> list[Facts]:
    """Claims that say what would mend one and are not refuted themselves, with the verdicts recorded."""
    found = []
    for each in catalogue_claims().values():
        if declaration.id in each.mends:
            counts = _counts(result for result in _recorded(each) if result.claim == each.id)
            found += [{"id": each.id, "verdicts": counts}] if "refuted" not in counts else []
    return found


def _audits(declaration: Declaration) -> list[Facts]:
    """Audits of a claim in the plans of the catalogue, with file and line."""
    found = []
    for target in target_names(declaration):
        for plan in plans_of(target):
            for line, audit in zip(audit_lines(plan.path), plan.audits, strict=True):
                if audit.claim == declaration.id and audit.target == target:
                    found.append(
                        {
                            "file": _shown(plan.path),
                            "line": line,
                            "set": dict(audit.set),
                            "data": audit.datasets,
                            "expect": str(audit.expect),
                            "reason": audit.reason,
                        }
                    )
    return found


def _recorded(declaration: Declaration) -> tuple[Result, ...]:
    """Results of the catalogue's record of the paper that a claim stands under; none where there is no such record."""
    return tuple(result for path in record_of(declaration) for result in _record(path).results)


@cache
def _record(path: Path) -> Record:
    return read_record(path)


def _counts(results: Iterable[Result]) -> Mapping[str, int]:
    return dict(Counter(str(result.verdict) for result in results))


def _shown(file: Path) -> str:
    here = Path.cwd().resolve()
    return str(file.resolve().relative_to(here) if file.resolve().is_relative_to(here) else file)
