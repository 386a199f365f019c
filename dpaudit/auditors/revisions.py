"""Revisions of the auditors: which numbers a change of their code may have moved.

Every auditor has a revision number, which goes into the key of each result that it makes. The file ``revisions.json``
holds the numbers, each with the fingerprint of the code that it stands for. A test fails where the code of an auditor
has changed and the file has not. Then either its numbers may have moved, and it gets a new revision, so that all
results that rest on it are outdated; or a re-run of recorded results shows equal numbers, and the file says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from dpaudit.writing import write_file

FILE: Final = Path(__file__).with_name("revisions.json")

_APPROXIMATE: Final = ("dpaudit.claims.guarantees.approximate", "ApproximateDP")

ENTRIES: Final = {
    "exact": (("dpaudit.auditors.exact", "audit_exact"), ("dpaudit.laws.decisions", "LawDecisions"), _APPROXIMATE),
    "agreement": (
        ("dpaudit.auditors.agreement", "find_disagreement"),
        ("dpaudit.auditors.agreement", "find_violation"),
    ),
    "likelihood": (
        ("dpaudit.auditors.likelihood.audit", "audit_likelihood"),
        ("dpaudit.auditors.likelihood.bounds", "audit_by_likelihood_bounds"),
        _APPROXIMATE,
    ),
    "black-box": (("dpaudit.auditors.blackbox.audit", "audit_black_box"), _APPROXIMATE),
    "messages": (
        ("dpaudit.auditors.recorded", "find_deviation"),
        ("dpaudit.auditors.recorded", "find_view_deviation"),
    ),
    "utility": (("dpaudit.auditors.measures.utility", "audit_utility"),),
    "measurement": (("dpaudit.auditors.measures.measurement", "measured_intervals"),),
    "figure": (("dpaudit.auditors.measures.figures", "audit_figure"),),
    "rate": (("dpaudit.auditors.measures.rates", "audit_rate"),),
    "lemma": (("dpaudit.auditors.counterexamples.lemma", "audit_lemma"),),
    "stability": (("dpaudit.auditors.counterexamples.stability", "audit_stability"),),
    "noise": (
        ("dpaudit.auditors.noise.audit", "audit_noise"),
        ("dpaudit.laws.decisions", "LawDecisions"),
        _APPROXIMATE,
    ),
}
"""Where each auditor begins, by module and name."""

LIBRARIES: Final = {
    "exact": ("numpy", "scipy"),
    "agreement": ("numpy", "scipy"),
    "likelihood": ("numpy", "scipy"),
    "black-box": ("numpy", "scipy", "scikit-learn"),
    "messages": ("numpy",),
    "utility": ("numpy",),
    "measurement": ("numpy", "scipy"),
    "figure": ("numpy", "scipy"),
    "rate": ("numpy", "scipy", "statsmodels"),
    "lemma": ("numpy",),
    "stability": ("numpy",),
    "noise": ("numpy", "scipy"),
}
"""Libraries that an auditor's numbers depend on, by the names of their distributions."""

_PRIVACY: Final = {
    "exact": ("exact", "agreement", "messages"),
    "likelihood": ("likelihood", "agreement", "messages"),
    "black-box": ("black-box", "messages"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """State of one auditor.

    Attributes
    ----------
    revision
        Its number.
    code
        Fingerprint of the code that gives this revision's numbers.
    equal
        How many recorded results a re-run has shown to be equal, where the code changed within this revision.
    """

    revision: int
    code: str
    equal: int = 0


def auditors_of(kind: str, method: str, *, sampled: bool) -> tuple[str, ...]:
    """Auditors whose code decided a result.

    Parameters
    ----------
    kind, method
        Kind of the claim and method of the result.
    sampled
        Whether anything was sampled for it.
    """
    if method == "assumptions":
        return ()
    if kind == "privacy":
        return _PRIVACY.get(method, ())
    if kind == "utility":
        return ("utility", "measurement") if sampled else ("utility",)
    return ("figure", "measurement") if kind == "figure" else (kind,)


def possible_auditors(kind: str) -> list[tuple[str, ...]]:
    """Sets of auditors that may decide a claim of a kind, before it is known which will."""
    if kind == "privacy":
        return [(), *_PRIVACY.values()]
    return [(), *dict.fromkeys(auditors_of(kind, "", sampled=sampled) for sampled in (False, True))]


@cache
def revisions() -> dict[str, Revision]:
    """Revisions by auditor, as the file holds them."""
    return {name: Revision(**entry) for name, entry in json.loads(FILE.read_text(encoding="utf-8")).items()}


def write_revisions(changed: dict[str, Revision], file: Path = FILE) -> None:
    """Write the file."""
    raw = {
        name: {"revision": each.revision, "code": each.code, **({"equal": each.equal} if each.equal else {})}
        for name, each in sorted(changed.items())
    }
    write_file(file, json.dumps(raw, indent=1) + "\n")
    revisions.cache_clear()
