"""Entries of a record: what it says once of a paper, a place, an erratum, an assertion and a claim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpaudit.claims.papers import STATEMENTS, Assertion, Erratum, Paper, Place

if TYPE_CHECKING:
    from dpaudit.claims.declarations import Declaration


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceEntry:
    """A place in a paper.

    Attributes
    ----------
    label
        The place without the paper.
    sort
        Key by which places sort.
    plural
        Whether the label names several things: ``Sections 4.2 and 5.7``.
    numbered
        Whether it is a theorem, a lemma or the like, and not a section, a figure or a table.
    kind
        What it is: ``theorem``, ``lemma``, ``figure`` and so on; ``text`` of a section, and before or after something
        else; ``proof`` for what is in a proof.
    heading
        The label without what is read into the place: ``Lemma 10`` of ``Lemma 10, the text after it``; empty where that
        is the label.
    """

    label: str
    sort: tuple[Any, ...] = ()
    plural: bool = False
    numbered: bool = False
    kind: str = ""
    heading: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sort", _nested(self.sort))

    @classmethod
    def of(cls, place: Place) -> PlaceEntry:
        """Entry of a place."""
        # The last step is what the others lead to.
        several = bool(place.steps) and not place.part and len(place.steps[-1][1]) > 1
        numbered = any(kind in STATEMENTS for kind, _ in place.steps)
        heading = replace(place, note="").label
        return cls(
            label=place.label,
            sort=place.sort_key,
            plural=several,
            numbered=numbered,
            kind=_kind_of(place),
            heading=heading if heading != place.label else "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ErratumEntry:
    """An erratum: where it is, what is printed and meant, how we know, and the systems that it concerns."""

    where: str
    printed: str
    meant: str
    reason: str
    sort: tuple[Any, ...] = ()
    systems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sort", _nested(self.sort))

    @classmethod
    def of(cls, erratum: Erratum, systems: Iterable[str] = ()) -> ErratumEntry:
        """Entry of an erratum; its place without the paper, under which it stands."""
        placed = isinstance(erratum.where, Place)
        return cls(
            where=erratum.where.label if isinstance(erratum.where, Place) else erratum.where,
            printed=erratum.printed,
            meant=erratum.meant,
            reason=erratum.reason,
            sort=erratum.where.sort_key if isinstance(erratum.where, Place) else (),
            systems=tuple(systems) if placed else (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionEntry:
    """Something that a paper asserts and that is not audited: where, what, and why it is left alone."""

    where: str
    says: str
    reason: str
    sort: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sort", _nested(self.sort))

    @classmethod
    def of(cls, assertion: Assertion) -> AssertionEntry:
        """Entry of an assertion; its place without the paper, under which it stands."""
        return cls(
            where=assertion.where.label,
            says=assertion.says,
            reason=assertion.reason,
            sort=assertion.where.sort_key,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperEntry:
    """What a report says of a paper: bibliographic data, errata, and the assertions that are not audited."""

    title: str
    authors: tuple[str, ...]
    year: int
    venue: str = ""
    doi: str = ""
    url: str = ""
    errata: tuple[ErratumEntry, ...] = ()
    left_alone: tuple[AssertionEntry, ...] = ()

    @property
    def citation(self) -> str:
        """Authors and year."""
        return Paper(key="", title=self.title, authors=self.authors, year=self.year).citation


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEntry:
    """What is the same for all results of a claim.

    Attributes
    ----------
    kind, statement, source
        The claim, and where it is made, in words.
    paper
        Key of the paper that the claim stands under; empty for a claim of a user's own.
    places
        Where in the paper; it is listed under the first.
    ours
        Whether no paper says so: such a claim never counts as a paper's.
    bug
        What is broken, for a control; empty for any other claim.
    definition
        File and line of the declaration, ``protocols/yan2020/claims.py:42``; empty where it is not known.
    reproduces
        The published figure or table that is measured again; empty for none.
    mends
        Ids of the claims that this one corrects.
    """

    kind: str
    statement: str = ""
    source: str = ""
    paper: str = ""
    places: tuple[PlaceEntry, ...] = ()
    ours: bool = False
    bug: str = ""
    definition: str = ""
    reproduces: str = ""
    mends: tuple[str, ...] = ()

    @classmethod
    def of(cls, declaration: Declaration, definition: str = "") -> ClaimEntry:
        """Entry of a declared claim."""
        return cls(
            kind=declaration.kind,
            statement=declaration.statement,
            source=declaration.source,
            paper=declaration.paper.key if declaration.paper else "",
            places=tuple(map(PlaceEntry.of, declaration.places)),
            ours=declaration.ours,
            bug=declaration.bug,
            definition=definition,
            reproduces=declaration.reproduces,
            mends=declaration.mends,
        )

    @property
    def place(self) -> str:
        """Label of the place under which the claim is listed; empty where there is none."""
        return self.places[0].label if self.places else ""

    @property
    def sort(self) -> tuple[Any, ...]:
        """Key by which claims sort: by place, claims without one last."""
        return (not self.places, comparable(self.places[0].sort if self.places else ()))


def paper_entries(
    papers: Iterable[Paper], errata: Iterable[tuple[Erratum, str]] = (), left_alone: Iterable[Assertion] = ()
) -> dict[str, PaperEntry]:
    """Return entries of papers by key, each with its errata, and what is not audited of it, in the paper's order.

    Parameters
    ----------
    papers
        The papers that claims stand under; those that errata are about need not be among them.
    errata
        Errata, each with the system that it concerns, or with an empty name. One that concerns several systems is
        listed once. What names no place in a paper is left out.
    left_alone
        Assertions that are not audited.
    """
    alone = [(each.where.paper.key, AssertionEntry.of(each)) for each in dict.fromkeys(left_alone)]
    found = {paper.key: paper for paper in papers}
    concerned: dict[Erratum, list[str]] = {}
    for erratum, system in errata:
        if isinstance(erratum.where, Place):
            found.setdefault(erratum.where.paper.key, erratum.where.paper)
            names = concerned.setdefault(erratum, [])
            names += [system] if system and system not in names else []
    entries = {}
    for key, paper in sorted(found.items()):
        own = [
            ErratumEntry.of(erratum, systems)
            for erratum, systems in concerned.items()
            if isinstance(erratum.where, Place) and erratum.where.paper.key == key
        ]
        entries[key] = PaperEntry(
            title=paper.title,
            authors=tuple(paper.authors),
            year=paper.year,
            venue=paper.venue,
            doi=paper.doi,
            url=paper.url,
            errata=tuple(sorted(own, key=lambda erratum: comparable(erratum.sort))),
            left_alone=tuple(
                sorted((each for about, each in alone if about == key), key=lambda each: comparable(each.sort))
            ),
        )
    return entries


def comparable(value: Any) -> Any:
    """Return a sort key in the same order that compares with any other one, as damaged records hold them too."""
    if isinstance(value, tuple):
        return 2, tuple(map(comparable, value))
    if isinstance(value, int | float):
        return 0, value
    return 1, value if isinstance(value, str) else repr(value)


def _kind_of(place: Place) -> str:
    if place.part:
        return "proof" if place.part.startswith("proof") else "text"
    return next((kind for kind, _ in place.steps if kind != "section"), "text")


def _nested(value: Any) -> Any:
    """Lists at any depth as tuples, so that what was read compares with what was made."""
    return tuple(map(_nested, value)) if isinstance(value, list | tuple) else value
