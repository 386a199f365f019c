"""Places sort as a reader of the paper expects."""

import pytest

from dpaudit import Paper


def sorted_labels(paper):
    numbered = [("theorem", 11), ("lemma", 10), ("algorithm", 3), ("corollary", 9), ("theorem", 8)]
    places = [paper.at(section="Local Model", **{kind: number}) for kind, number in numbered]
    places += [paper.at(section="Notation"), paper.at(section="Local Model", lemma=10, part="proof")]
    return [place.label for place in sorted(places)]


@pytest.mark.parametrize(
    ("one_counter", "expected"),
    [
        (False, ["Lemma 10", "proof of Lemma 10", "Theorem 8", "Theorem 11", "Corollary 9"]),
        (True, ["Theorem 8", "Corollary 9", "Lemma 10", "proof of Lemma 10", "Theorem 11"]),
    ],
)
def test_one_counter_puts_lemmas_among_theorems(one_counter, expected):
    paper = Paper(
        key="p", title="", authors=("A",), year=2000, sections=("Notation", "Local Model"), one_counter=one_counter
    )
    assert sorted_labels(paper) == ["Notation", "Algorithm 3", *expected]
