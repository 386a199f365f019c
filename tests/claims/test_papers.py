"""Papers and places: labels, and the order in which a reader expects them."""

import random

import pytest

import dpaudit

PAPER = dpaudit.Paper(
    key="p",
    title="A title",
    authors=("A", "B"),
    year=2020,
    sections=("1", "2", "2.1", "3", "5.4", "5.10", "Lower Bounds"),
)


@pytest.mark.parametrize(
    ("place", "label"),
    [
        ({"theorem": 2}, "Theorem 2"),
        ({"section": "2.1", "theorem": 2}, "Theorem 2"),
        ({"section": "5.4", "figure": 6}, "Section 5.4, Figure 6"),
        ({"section": "5.4"}, "Section 5.4"),
        ({"section": "III-B"}, "Section III-B"),
        ({"section": "Lower Bounds"}, "Lower Bounds"),
        ({"section": ("4.2", "5.7")}, "Sections 4.2 and 5.7"),
        ({"algorithm": 1, "line": 4}, "Algorithm 1, line 4"),
        ({"theorem": 8, "part": "proof"}, "proof of Theorem 8"),
        ({"theorem": 8, "part": "after"}, "after Theorem 8"),
        ({"section": "3", "lemma": 1, "equation": 13, "part": "proof"}, "Equation 13 in the proof of Lemma 1"),
        ({"theorem": 13, "note": "with the best constant"}, "Theorem 13, with the best constant"),
        ({"note": "technical report"}, "technical report"),
        ({"corollary": (3, 4)}, "Corollaries 3 and 4"),
        ({}, ""),
    ],
)
def test_labels(place, label):
    assert PAPER.at(**place).label == label
    assert str(PAPER.at(**place)) == (f"A, B 2020, {label}" if label else "A, B 2020")


def test_places_sort_as_a_reader_expects():
    ordered = [
        PAPER.at(section="1"),
        PAPER.at(section="2", equation=3),
        PAPER.at(section="2.1", lemma=1),
        PAPER.at(section="3", theorem=2),
        PAPER.at(section="3", theorem=2, part="proof"),
        PAPER.at(section="3", theorem=10),
        PAPER.at(section="3", figure=1),
        PAPER.at(section="5.4", figure=6),
        PAPER.at(section="5.10"),
        PAPER.at(section="Lower Bounds", observation=15),
        PAPER.at(section="Lower Bounds", observation=16),
        PAPER.at(theorem=1),
    ]
    mixed = ordered[:]
    random.Random(0).shuffle(mixed)
    assert sorted(mixed) == ordered
    older = dpaudit.Paper(key="o", title="", authors=("C",), year=1999).at(theorem=9)
    assert min([*mixed, older]) == older


def test_sections_by_roman_numbers_sort_by_their_size():
    paper = dpaudit.Paper(key="r", title="", authors=("A",), year=2014)
    places = [paper.at(section=name) for name in ("I", "II-B", "II-C", "IV", "IX", "X")]
    shuffled = [places[3], places[0], places[5], places[1], places[4], places[2]]
    assert sorted(shuffled) == places


def test_an_unknown_kind_of_place_is_refused():
    with pytest.raises(dpaudit.ParameterError, match="a place has no 'chapter'"):
        PAPER.at(chapter=1)
