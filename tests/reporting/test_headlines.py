"""Headline findings: which come first, what is printed of a witness, and what would mend a claim."""

import itertools
import re
from collections.abc import Callable

import pytest

from dpaudit.claims.entries import PlaceEntry
from dpaudit.claims.evidence import Counterexample
from dpaudit.claims.papers import Paper
from dpaudit.claims.record import Record
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import render_html
from dpaudit.reporting.headlines import headlines, mending_claims
from dpaudit.reporting.page import render_paper
from dpaudit.reporting.papers import papers_of

P, C, R, V, N, U = (
    Verdict.PROVED,
    Verdict.CONSISTENT,
    Verdict.REFUTED,
    Verdict.VACUOUS,
    Verdict.INAPPLICABLE,
    Verdict.INCONCLUSIVE,
)
LEMMA = {"kind": "lemma"}
Make = Callable[..., Record]


def told(record: Record) -> tuple[list[str], str]:
    """Headings of the places shown, and what is said of the rest."""
    views = papers_of({"ames2020": record})
    shown, rest = headlines(views[0], mending_claims(views))
    return [each.heading for each in shown], rest


def lines_of(record: Record) -> list[str]:
    """The headline findings of the page."""
    page = render_paper(record, "ames2020")["ames2020.md"]
    section = page[page.index("## Headline findings") :].split("\n## ")[0]
    return section.splitlines()[4:]


PLACES = {
    "theorem1": {"theorem": 1},
    "lemma1": {"lemma": 1},
    "corollary1": {"corollary": 1},
    "observation1": {"observation": 1},
    "proposition1": {"proposition": 1},
    "algorithm1": {"algorithm": 1},
    "figure1": {"section": "1", "figure": 1},
    "table1": {"section": "1", "table": 1},
    "equation1": {"equation": 1},
    "section1": {"section": "1"},
    "proof1": {"theorem": 1, "part": "proof"},
}
LABELS = {
    **{name: f"{name[:-1].capitalize()} 1" for name in PLACES},
    "figure1": "Section 1, Figure 1",
    "table1": "Section 1, Table 1",
    "proof1": "proof of Theorem 1",
}


def test_places_are_ordered_by_importance(make_paper: Make) -> None:
    record = make_paper(**{name: (PLACES[name], [R], LEMMA) for name in reversed(PLACES)})
    shown, rest = told(record)
    assert shown == [LABELS[name] for name in PLACES][:8]
    assert rest.startswith("Also refuted somewhere: Equation 1; Section 1; proof of Theorem 1. ")


@pytest.mark.parametrize("least", ["equation1", "section1", "proof1", "figure1", "algorithm1"])
@pytest.mark.parametrize("numbered", ["theorem1", "lemma1", "proposition1"])
def test_a_numbered_statement_that_says_nothing_goes_before_what_is_none(
    numbered: str, least: str, make_paper: Make
) -> None:
    others = {f"{least}__{i}": (PLACES[least] | {"section": str(i)}, [R], LEMMA) for i in range(12)}
    shown, rest = told(make_paper(**others, **{numbered: (PLACES[numbered], [V, P], LEMMA)}))
    assert shown[0] == LABELS[numbered]
    assert LABELS[numbered] not in rest.replace("proof of Theorem 1", "")


def test_of_one_group_what_is_refuted_goes_first_and_what_is_dropped_is_named(make_paper: Make) -> None:
    claims = {f"theorem{i}": ({"theorem": i}, [V if i < 5 else R], LEMMA) for i in range(1, 11)}
    shown, rest = told(make_paper(**claims))
    assert shown == [f"Theorem {i}" for i in (5, 6, 7, 8, 9, 10, 1, 2)]
    assert rest.startswith("Also saying nothing somewhere: Theorem 3; Theorem 4. ")


def test_privacy_that_is_refuted_is_never_dropped_for_a_figure(make_paper: Make) -> None:
    figures = {f"figure{i}": ({"section": "1", "figure": i}, [R], LEMMA) for i in range(1, 12)}
    shown, _ = told(make_paper(**figures, mechanism=({"section": "2"}, [P, R]), theorem1=({"theorem": 1}, [V], LEMMA)))
    assert shown[:2] == ["Section 2", "Theorem 1"]


@pytest.mark.slow
def test_claims_of_one_place_are_one_headline_with_a_region_and_a_statement_for_each(make_paper: Make) -> None:
    place = {"section": "1", "theorem": 1}
    record = make_paper(
        theorem1__local=(place, [P, P, R], {"statement": "Local."}),
        theorem1__central=(place, [R, R, P, P], {"statement": "Central."}),
        theorem1__holds=(place, [P, P]),
        theorem1__note=(place | {"note": "the remark"}, [V], {"statement": "Remark.", "kind": "lemma"}),
    )
    lines = lines_of(record)
    assert [line for line in lines if re.match(r"(  )?- ", line) and "mend" not in line] == [
        "- Theorem 1:",
        "  - Theorem 1 (theorem1-local) is refuted at 1 of the 3 audited settings (that with epsilon = 3) and holds "
        'at 2: "Local."',
        "  - Theorem 1 (theorem1-central) is refuted at 2 of the 4 audited settings (those with epsilon ≤ 2) and holds "
        'at 2: "Central."',
        '  - Theorem 1, the remark, is true but says nothing at the only setting audited: "Remark."',
    ]
    assert lines.count("- Theorem 1:") == 1
    assert "  - What would mend theorem1-local, theorem1-central and theorem1-note is not known here." in lines
    html = render_html(record, paper="ames2020")
    assert "What would mend theorem1-local, theorem1-central and theorem1-note is not known here." in html
    assert html.count("<li>Theorem 1:") == 1


def counterexample(instance: object, **changes: object) -> dict:
    found = {"quantity": "actual value", "measured": 0.5, "claimed": 1.0, "direction": "at-least"} | changes
    details = found.pop("details", {"actual": 0.5, "claimed": 1.0})
    return {"witness": Counterexample(instance=instance, details=details, **found), "measured": {}, "claimed": {}}


def test_the_instance_of_a_counterexample_is_printed(make_paper: Make) -> None:
    profile = {"profile": [[0, 1], [1, 0]], "tau": 0.25, "epsilon": 1.0}
    lemma = counterexample(profile, details={"actual": 0.5, "claimed": 1.0, "n K": 10.0}) | {"scope": "share of pairs"}
    record = make_paper(lemma1=({"lemma": 1}, [R, P], LEMMA, [lemma, {}]))
    assert lines_of(record)[1] == (
        "  - Witness: at epsilon=1; profile = \\[\\[0, 1\\], \\[1, 0\\]\\], tau = 0.25; share of pairs: must be "
        "at least 1; is 0.5 (n K 10)"
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"scope": "mean (claimed), median (actual)"},
            "mean (claimed), median (actual): actual value must be at least 1; is 0.5",
        ),
        (counterexample({}, details={"left": 3.0}), "all 6 pairs of inputs: the claim is missed by 0.5 (left 3)"),
    ],
)
def test_numbers_of_a_lemma_say_what_they_are_of(changes: dict, words: str, make_paper: Make) -> None:
    record = make_paper(lemma1=({"lemma": 1}, [R], LEMMA, [counterexample({}) | changes]))
    assert lines_of(record)[1] == f"  - Witness: at epsilon=1; {words}"


def test_of_any_other_claim_the_quantity_is_named_once(make_paper: Make) -> None:
    scope = "error rate; n = 100, m = 3"
    found = counterexample(scope, quantity="error rate", details={}) | {"scope": scope}
    record = make_paper(theorem1=({"theorem": 1}, [R], {"kind": "utility"}, [found]))
    assert lines_of(record)[1] == ("  - Witness: at epsilon=1; n = 100, m = 3: error rate must be at least 1; is 0.5")


def test_a_witness_is_sought_where_the_mend_was_audited(make_paper: Make) -> None:
    place = {"theorem": 1}
    settings = [{"parameters": {"epsilon": e, "agents": n}} for e, n in ((1.0, 5), (2.0, 7), (3.0, 9))]
    mend = [{"parameters": {"epsilon": 2.0, "agents": 7, "other": 1}}]
    record = make_paper(
        theorem1=(place, [R, R, R], LEMMA, settings),
        theorem1__mended=(place, [P], {"ours": True, "kind": "lemma", "mends": ("ames2020.theorem1",)}, mend),
    )
    assert lines_of(record)[1].startswith("  - Witness: at epsilon=2, agents=7")
    page = render_paper(record, "ames2020")["ames2020.md"]
    assert "- At epsilon=2, agents=7: " in page
    # Without a mend, and with one that is refuted there, the first is as good as any.
    alone = make_paper(theorem1=(place, [R, R, R], LEMMA, settings))
    assert lines_of(alone)[1].startswith("  - Witness: at epsilon=1, agents=5")


@pytest.mark.parametrize("ours", [True, False])
@pytest.mark.parametrize(
    ("verdicts", "start"),
    [
        ([P, P], "What would mend it: It is nearly so. [other]"),
        ([P, C, N], "What would mend it: It is nearly so. [other]"),
        ([C], "What would mend it: It is nearly so. [other]"),
        ([P, R], "What would mend it is not known here."),
        ([P, V], "What would mend it, but says nothing at some settings: It is nearly so. [other]"),
        ([U], "What would mend it, but is not shown at some settings: It is nearly so. [other]"),
        ([N], "What would mend it, but is not shown at some settings: It is nearly so. [other]"),
    ],
)
def test_a_mend_is_called_one_only_where_nothing_speaks_against_it(
    verdicts: list[Verdict], start: str, ours: bool, make_paper: Make
) -> None:
    entry = {"kind": "lemma", "statement": "It is nearly so.", "mends": ("ames2020.theorem1",), "ours": ours}
    lines = lines_of(make_paper(theorem1=({"theorem": 1}, [R], LEMMA), other=({"section": "2"}, verdicts, entry)))
    (mend,) = [line for line in lines[:4] if "mend it" in line]
    assert mend.startswith(f"  - {start}")
    assert R in verdicts or all(f"**{verdict}**" in mend for verdict in verdicts)


def test_of_several_mends_those_that_stand_are_shown(make_paper: Make) -> None:
    entry = {"kind": "lemma", "mends": ("ames2020.theorem1",), "ours": True}
    claims = {f"mend__{v}": ({"section": "2"}, [v], entry) for v in (P, R, C)}
    lines = lines_of(make_paper(theorem1=({"theorem": 1}, [R], LEMMA), **claims))
    assert [re.findall(r"\[(mend-\w+)\]", line) for line in lines[3:]] == [["mend-proved"], ["mend-consistent"]]


def test_a_mend_of_several_claims_is_said_once(make_paper: Make) -> None:
    entry = {"kind": "lemma", "statement": "It is nearly so.", "ours": True}
    entry["mends"] = ("ames2020.theorem1-a", "ames2020.theorem1-b", "ames2020.lemma2")
    record = make_paper(
        theorem1__a=({"theorem": 1}, [R], LEMMA),
        theorem1__b=({"theorem": 1}, [R], LEMMA),
        theorem1__c=({"theorem": 1}, [R], LEMMA),
        lemma2=({"lemma": 2}, [R], LEMMA),
        mend=({"section": "2"}, [P], entry),
    )
    lines = [line.strip() for line in lines_of(record) if "mend" in line and "Command" not in line]
    link = "[mend](ames2020.md#mend): **proved**"
    assert [line for line in lines if line.startswith("- What")] == [
        f"- What would mend theorem1-a and theorem1-b: It is nearly so. {link}",
        "- What would mend theorem1-c is not known here.",
        f"- What would mend it: as above, {link}",
    ]
    # Among the refutations, which have a section for each claim, too.
    page = render_paper(record, "ames2020")["ames2020.md"]
    refutations = page[page.index("## Refutations") :]
    assert refutations.count("It is nearly so.") == 1
    assert refutations.count(link) == 3


def test_a_reading_that_fails_too_is_shown_as_what_it_is(make_paper: Make) -> None:
    place = {"section": "1", "theorem": 1}
    lines = lines_of(make_paper(theorem1=(place, [R], LEMMA), theorem1__meant=(place, [V], LEMMA)))
    assert lines[0] == "- Theorem 1:"
    assert sum("theorem1-meant" in line for line in lines if "Command" not in line) == 1
    assert "  - What would mend theorem1 and theorem1-meant is not known here." in lines
    lines = lines_of(make_paper(theorem1=(place, [R], LEMMA), theorem1__meant=(place, [U], LEMMA)))
    assert lines[-2].startswith("  - As evidently meant: ")
    assert "**inconclusive**" in lines[-2]
    assert lines[-1] == "  - What would mend it is not known here."


def test_a_mend_counts_in_the_record_of_the_claim_alone(make_paper: Make) -> None:
    claim = make_paper(theorem1=({"theorem": 1}, [R], LEMMA))
    entry = {"kind": "lemma", "ours": True, "mends": ("ames2020.theorem1",)}
    other = make_paper(mend=({"section": "2"}, [P], entry))
    views = papers_of({"ames2020": claim, "other": other})
    view = next(view for view in views if view.claims)
    (place,), _ = headlines(view, mending_claims(views))
    assert place.unknown == "What would mend it is not known here."


def test_what_a_place_is_told_by() -> None:
    paper = Paper(key="a", title="A", authors=("B",), year=2020)
    cases = {
        ("theorem", ""): {"theorem": 2, "note": "as its proof has it"},
        ("proof", "proof of Theorem 2"): {"theorem": 2, "part": "proof", "note": "the last line"},
        ("text", "after Theorem 2"): {"theorem": 2, "part": "after", "note": "on the error"},
        ("figure", "Section 5, Figure 3"): {"section": "5", "figure": 3, "note": "on real data"},
        ("text", "Section 5"): {"section": "5", "note": "before it"},
    }
    for (kind, heading), at in cases.items():
        entry = PlaceEntry.of(paper.at(**at))
        assert (entry.kind, entry.heading) == (kind, heading or "Theorem 2")
        bare = PlaceEntry.of(paper.at(**{name: value for name, value in at.items() if name != "note"}))
        assert (bare.kind, bare.heading) == (kind, "")
        assert bare.label == entry.heading


@pytest.mark.parametrize("verdicts", list(itertools.combinations([P, C, R, V, U], 2)))
def test_what_is_consistent_is_never_said_to_hold(verdicts: tuple[Verdict, ...], make_paper: Make) -> None:
    record = make_paper(theorem1=({"theorem": 1}, list(verdicts)))
    sentence = render_paper(record, "ames2020")["ames2020.md"].splitlines()[2]
    assert ("holds at" in sentence) == (P in verdicts)
    assert ("is not decided at" in sentence) == bool({C, U} & set(verdicts) and set(verdicts) != {P, C})
    assert ("no violation was found" in sentence) == (set(verdicts) == {P, C})
