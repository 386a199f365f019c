"""Keys of results: what a cell's result depends on, and nothing else.

The key of a result is a hash of the code that decides it (of the catalogue's, that of the target and of the claim, as
far as names reach; of a user's, all that importing it loads; and the revisions of the auditors), of the claim and its
parameters, of how it was audited (method, samples, seed, error probability), of its data, and of the versions of the
libraries that matter. Two cells with equal keys have equal results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from dpaudit.auditors.revisions import LIBRARIES, auditors_of, possible_auditors, revisions
from dpaudit.claims.evidence import Remedy
from dpaudit.claims.record import Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.registry.references import import_target
from dpaudit.runner.cells import Cell
from dpaudit.runner.code import VOCABULARY, Codebase, Fingerprint
from dpaudit.runner.loading import Loading

_FORM = 1
"""Number of the form of keys; another form makes all results outdated."""

_LENGTH = 16
"""Hexadecimal digits of a key."""


Candidates = Mapping[tuple[str, tuple[str, ...]], str]
"""Keys that a result may have, by its kind and the auditors that decide it; empty where nothing fixes the result."""


def key_of(candidates: Candidates, result: Result) -> str:
    """Key of a result; empty where nothing fixes it: an error, what ran out of time, code that cannot be read."""
    if result.verdict is Verdict.ERROR or result.remedy is Remedy.TIME or not candidates:
        return ""
    used = auditors_of(result.kind, result.method, sampled=bool(result.samples))
    return candidates.get((result.kind, tuple(used)), "")


class Keys:
    """Keys of the cells of one run: reads every source file once.

    Parameters
    ----------
    seed
        The run's seed.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._codebase = Codebase()
        self._loading = Loading(self._codebase)
        self._known: dict[tuple[object, ...], Fingerprint] = {}

    def code(self, cell: Cell) -> Fingerprint:
        """Fingerprint of the target's and the claim's code."""
        reference = cell.reference
        command = reference.command
        if command is not None:
            # What decides it is the program: its words with these parameters, and the files that they name.
            digest = command.digest(dict(cell.described))
            return Fingerprint(digest=digest, units=(), packages=frozenset(), complete=bool(digest))
        home = (reference, cell.claim if cell.declared else None)
        if home not in self._known:
            declaration = cell.declaration()
            # The class as it is, with all that it derives from, wherever its name was imported from.
            classes = [each for each in reference.load().__mro__ if each.__module__ not in VOCABULARY]
            roots: list[tuple[str, str | int]] = [(import_target(reference.home)[0].__name__, reference.attribute)]
            roots += [(each.__module__, each.__qualname__) for each in classes if each.__module__ != "builtins"]
            if declaration is not None:
                roots.append((declaration.module, declaration.line))
            found = self._fingerprint(roots, [roots[0][0], *([declaration.module] if declaration else [])])
            if reference.pairs and found.digest:
                digest = hashlib.sha256(f"{found.digest}\n{reference.pairs}".encode()).hexdigest()
                found = replace(found, digest=digest)
            self._known[home] = found
        return self._known[home]

    def _fingerprint(self, roots: Sequence[tuple[str, str | int]], homes: Sequence[str]) -> Fingerprint:
        """Fingerprint of definitions; where they are a user's, with all that their modules load."""
        users = [home for home in homes if home.partition(".")[0] != "dpaudit"]
        if not users:
            return self._codebase.fingerprint(roots)
        loaded = self._loading.of(users)
        if not loaded.complete:
            return Fingerprint(digest="", units=(), packages=frozenset(), complete=False)
        found = self._codebase.fingerprint(roots, full=loaded.modules)
        text = "\n".join([found.digest, *sorted(loaded.others)])
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return replace(found, digest=digest, packages=found.packages | loaded.packages)

    def by_target(self, cells: Iterable[Cell]) -> dict[str, str]:
        """Digest of the code and the data of each target; empty where nothing fixes what its code does."""
        found: dict[str, set[tuple[str, str]]] = {}
        for cell in cells:
            found.setdefault(cell.target, set()).add(
                (self.code(cell).digest, "" if cell.data is None else cell.data[1])
            )
        return {
            target: hashlib.sha256(json.dumps(sorted(parts)).encode()).hexdigest()[:_LENGTH]
            if all(code for code, _ in parts)
            else ""
            for target, parts in found.items()
        }

    def candidates(self, cell: Cell) -> list[str]:
        """Keys that the result of a cell may have, before it is known which auditors decide it."""
        return list(dict.fromkeys(self.by_auditors(cell).values()))

    def by_auditors(self, cell: Cell) -> Candidates:
        """Keys that the result of a cell may have, with the auditors that would decide it."""
        if not self.code(cell).complete:
            return {}
        kinds = [cell.kind] if cell.kind else ["privacy", "utility", "rate", "lemma", "figure", "stability", "noise"]
        return {(kind, tuple(each)): self._key(cell, kind, each) for kind in kinds for each in possible_auditors(kind)}

    def key(self, cell: Cell, result: Result) -> str:
        """Key of a result; see `key_of`."""
        return key_of(self.by_auditors(cell), result)

    def _key(self, cell: Cell, kind: str, auditors: Sequence[str]) -> str:
        code = self.code(cell)
        libraries = {_distribution(name) for name in code.packages} | {
            name for auditor in auditors for name in LIBRARIES[auditor]
        }
        parts = {
            "form": _FORM,
            "code": code.digest,
            "auditors": {name: revisions()[name].revision for name in auditors},
            "libraries": {name: _series(name) for name in sorted(libraries)},
            "target": cell.target,
            "claim": cell.claim,
            "kind": kind,
            "parameters": cell.described,
            "data": None if cell.data is None else cell.data[1],
            "method": cell.method,
            "features": cell.features,
            "stop_early": cell.stop_early,
            "samples": cell.samples,
            "quick": cell.quick,
            # With fewer samples than planned the expectation decides between `consistent` and `inconclusive`.
            "expected": [cell.expected, cell.planned] if cell.quick or cell.samples != cell.planned else None,
            "published": cell.published,
            "error_probability": cell.error_probability,
            "timed": cell.timed,
            "seed": self._seed,
        }
        declaration = cell.declaration()
        if declaration is not None:
            target = cell.reference.load()
            outside = declaration.outside(target, cell.described, on_data=cell.data is not None)
            parts |= {"outside": outside} if outside else {}
        text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


_BY_SERIES = ("numpy", "scipy", "scikit-learn", "statsmodels")
"""Libraries whose patch releases move no numbers; of all others, which may be under audit, every version counts."""


@cache
def _series(name: str) -> str:
    """Version of a library as far as numbers may depend on it."""
    try:
        found = version(name)
    except PackageNotFoundError:
        return ""
    return ".".join(found.split(".")[:2]) if name in _BY_SERIES else found


@cache
def _distribution(package: str) -> str:
    """Name of the distribution that a package comes with."""
    known = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn", "statsmodels": "statsmodels"}
    if package in known:
        return known[package]
    return (packages_distributions().get(package) or [package])[0]
