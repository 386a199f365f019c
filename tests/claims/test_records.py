"""The record: round trip, what JSON cannot hold, the published schema, and version 1."""

import dataclasses
import json
import math
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.claims.entries import AssertionEntry, ClaimEntry, ErratumEntry, PaperEntry, PlaceEntry, paper_entries
from dpaudit.claims.evidence import Counterexample, Curves, Growth, Interval, Remedy, Role, Violation
from dpaudit.claims.papers import Assertion, Erratum, Paper
from dpaudit.claims.record import Record, Result, SystemEntry, joined, plain, read_record, summarise, summed_errors
from dpaudit.claims.record_schema import record_schema
from dpaudit.claims.verdicts import Verdict, status_of
from dpaudit.errors import RecordError

SCHEMA = json.loads(resources.files("dpaudit.claims").joinpath("record.schema.json").read_text(encoding="utf-8"))
# Made once: to check the schema itself takes longer than all records.
VALIDATOR = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)

numbers = st.floats(allow_nan=False)
texts = st.text(st.characters(codec="utf-8"), max_size=20)
sides = st.none() | numbers
intervals = st.builds(Interval, lower=sides, upper=sides, estimate=sides, role=st.sampled_from(Role))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
forced = st.dictionaries(texts, numbers, max_size=2)
violations = st.builds(
    Violation, data=json_values, neighbour=json_values, event=json_values, p=numbers, q=numbers, forces=forced
)
counterexamples = st.builds(
    Counterexample,
    instance=json_values,
    quantity=texts,
    measured=numbers,
    claimed=numbers,
    direction=st.sampled_from(["at-most", "at-least", "equal"]),
    details=forced,
)
# As many values as points, so that they can be drawn.
floats = st.tuples(numbers, numbers)
curves = st.builds(Curves, **dict.fromkeys(Curves.__dataclass_fields__, floats))
growths = st.builds(Growth, variable=texts, points=floats, values=floats, shape=floats)
results = st.builds(
    Result,
    **dict.fromkeys(("target", "claim", "kind", "source", "statement", "scope", "method", "reason", "note"), texts),
    command=texts,
    view=st.none() | texts,
    relation=st.none() | texts,
    parameters=st.dictionaries(texts, json_values, max_size=3),
    verdict=st.sampled_from(Verdict),
    expected=st.none() | st.sampled_from(Verdict),
    ok=st.booleans(),
    claimed=st.dictionaries(texts, numbers, max_size=2),
    measured=st.dictionaries(texts, intervals, max_size=2),
    witness=st.none() | violations | counterexamples,
    guarantee=st.none() | texts,
    remedy=st.none() | st.sampled_from(Remedy),
    error_probability=st.none() | numbers,
    key=texts,
    curves=st.none() | curves,
    growth=st.none() | growths,
    timed=st.booleans(),
    samples=st.integers(0, 10**12),
    seed=st.integers(0, 2**64),
)
sorts = st.recursive(texts | st.integers(), lambda inner: st.lists(inner, max_size=2), max_leaves=4)
sort_keys = st.lists(sorts, max_size=3).map(tuple)
errata = st.builds(
    ErratumEntry,
    **dict.fromkeys(("where", "printed", "meant", "reason"), texts),
    sort=sort_keys,
    systems=st.lists(texts, max_size=2).map(tuple),
)
assertions = st.builds(AssertionEntry, **dict.fromkeys(("where", "says", "reason"), texts), sort=sort_keys)
places = st.builds(PlaceEntry, label=texts, sort=sort_keys, plural=st.booleans())
papers = st.builds(
    PaperEntry,
    **dict.fromkeys(("title", "venue", "doi", "url"), texts),
    authors=st.lists(texts, max_size=2).map(tuple),
    year=st.integers(1900, 2100),
    errata=st.lists(errata, max_size=2).map(tuple),
    left_alone=st.lists(assertions, max_size=2).map(tuple),
)
claims = st.builds(
    ClaimEntry,
    **dict.fromkeys(("kind", "statement", "source", "paper", "bug", "definition", "reproduces"), texts),
    places=st.lists(places, max_size=2).map(tuple),
    ours=st.booleans(),
    mends=st.lists(texts, max_size=2).map(tuple),
)
systems = st.builds(
    SystemEntry, title=texts, description=texts, source=texts, errata=st.lists(errata, max_size=2).map(tuple)
)


def _record(found=(), entries=None, **tables):
    return Record(
        version="1",
        seed=3,
        error_probability=summed_errors(found),
        systems=entries or {},
        **tables,
        results=tuple(found),
        summary=summarise(tuple(found)),
    )


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    st.lists(results, max_size=3),
    st.dictionaries(texts, systems, max_size=2),
    st.dictionaries(texts, papers, max_size=2),
    st.data(),
)
def test_a_record_survives_json(found, entries, written, data):
    ids = texts | st.sampled_from([result.claim for result in found] or ["x"])
    record = _record(found, entries, papers=written, claims=data.draw(st.dictionaries(ids, claims, max_size=2)))
    text = record.to_json()
    again = Record.from_json(text)
    assert again == record
    assert again.to_json() == text
    VALIDATOR.validate(json.loads(text))


@pytest.mark.parametrize(("stated", "total"), [([1e308, 1e308], math.inf), ([math.inf, -math.inf], math.nan)])
def test_numbers_that_are_no_probabilities_add_up_to_something(stated, total):
    results = [_result(claim=str(each), error_probability=each) for each in stated]
    assert summed_errors(results) == pytest.approx(total, nan_ok=True)


def test_what_was_timed_is_written_apart():
    witness = Counterexample(instance=1, quantity="time", measured=2.5, claimed=1.0, direction="at-most")
    numbers = {"value": Interval(lower=0.1, upper=0.2, estimate=0.15)}
    plainly, timed = _result(measured=numbers), _result(measured=numbers, witness=witness, timed=True)
    record = dataclasses.replace(_record([plainly, timed]), timing={"seconds": 2.0})
    slower = dataclasses.replace(timed, measured={"value": Interval(lower=1.0, upper=2.0)}, witness=None)
    other = dataclasses.replace(_record([plainly, slower]), timing={"seconds": 3.0})
    one, two = json.loads(record.to_json()), json.loads(other.to_json())
    assert one["timing"]["measured"]["1"]["measured"]["value"] == {"lower": 0.1, "estimate": 0.15, "upper": 0.2}
    assert one["timing"]["measured"]["1"]["witness"]["measured"] == 2.5
    assert one.pop("timing") != two.pop("timing")
    assert one == two
    assert one["results"][0]["measured"]
    assert Record.from_json(record.to_json()) == record
    assert record.reproducible().to_json() == other.reproducible().to_json()
    assert "0.15" in record.reproducible().to_json()
    assert not record.reproducible().timing


def test_infinities_are_words():
    result = _result(measured={"epsilon": Interval(lower=0.5, upper=math.inf)}, claimed={"bound": -math.inf})
    raw = json.loads(_record([result]).to_json())["results"][0]
    assert raw["measured"]["epsilon"] == {"lower": 0.5, "upper": "Infinity"}
    assert raw["claimed"]["bound"] == "-Infinity"
    assert Record.from_json(_record([result]).to_json()).results[0] == result


def _result(**changes):
    values = {
        **dict.fromkeys(
            ("target", "claim", "source", "statement", "scope", "method", "reason", "note", "command"), "x"
        ),
        "kind": "privacy",
        "parameters": {},
        "view": None,
        "relation": None,
        "verdict": Verdict.PROVED,
        "expected": None,
        "ok": True,
        "claimed": {},
        "measured": {},
        "witness": None,
        "samples": 0,
        "seed": 0,
    }
    return Result(**{**values, **changes})


@pytest.mark.skipif(
    tuple(map(int, pydantic.VERSION.split(".")[:2])) < (2, 14),
    reason="pydantic before 2.14 writes schemas of data classes without their descriptions",
)
def test_the_published_schema_is_up_to_date():
    assert record_schema() == SCHEMA, (
        "write it again: python -c 'import json; from dpaudit.claims.record_schema import record_schema as s; "
        "print(json.dumps(s(), indent=1))' > dpaudit/claims/record.schema.json"
    )


@pytest.mark.slow
def test_the_schema_itself_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("word", ["inf", "1.0", "", "infinity"])
def test_the_schema_knows_which_words_are_numbers(word):
    raw = json.loads(_record([_result(claimed={"epsilon": 1.0})]).to_json())
    raw["results"][0]["claimed"]["epsilon"] = word
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(raw)


@pytest.mark.parametrize(
    "path", [[], ["results", 0], ["results", 0, "witness"], ["systems", "x"], ["claims", "x"], ["papers", "p"]]
)
def test_an_unknown_key_is_refused(path):
    witness = Violation(data=1, neighbour=0, event=[1], p=0.5, q=0.1, forces={})
    paper = PaperEntry(title="t", authors=("A",), year=2020)
    record = _record(
        [_result(witness=witness)], {"x": SystemEntry(title="t", description="d", source="s")}, papers={"p": paper}
    )
    raw = json.loads(record.to_json())
    place = raw
    for key in path:
        place = place[key]
    place["surprise"] = 1
    with pytest.raises(RecordError, match="surprise"):
        Record.from_json(json.dumps(raw), name="r.json")
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(raw)


def test_read_record(tmp_path):
    path = tmp_path / "record.json"
    path.write_text(_record([_result(note="ϵ")]).to_json(), encoding="utf-8")
    assert read_record(path).results[0].note == "ϵ"
    assert read_record(str(path)) == read_record(path)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.float64(0.5), 0.5),
        (np.int8(3), 3),
        (np.bool_(True), True),
        ((1, (2, None)), [1, [2, None]]),
        ({3, 1, 2}, [1, 2, 3]),
        ({1: "a"}, {"1": "a"}),
        (math.nan, "NaN"),
        (np.array([math.inf]), ["Infinity"]),
        (Verdict.REFUTED, "refuted"),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_plain(value, expected):
    found = plain(value)
    assert found == expected
    assert json.dumps(found)


@pytest.mark.parametrize(
    ("verdict", "expected", "status"),
    [
        *((verdict, None, 0) for verdict in ("proved", "certified", "consistent", "vacuous", "inapplicable")),
        *((verdict, verdict, 0) for verdict in ("proved", "certified", "consistent", "vacuous", "inapplicable")),
        ("refuted", None, 1),
        ("refuted", "refuted", 0),
        ("refuted", "proved", 1),
        ("proved", "refuted", 1),
        ("proved", "consistent", 1),
        ("vacuous", "certified", 1),
        ("inconclusive", None, 3),
        ("inconclusive", "inconclusive", 3),
        ("inconclusive", "proved", 3),
        ("error", None, 4),
        ("error", "refuted", 4),
    ],
)
def test_status_of_a_verdict(verdict, expected, status):
    assert status_of(Verdict(verdict), Verdict(expected) if expected else None) == status


def test_status_of_a_run():
    statuses = {
        0: _result(),
        1: _result(verdict=Verdict.REFUTED),
        2: _result(verdict=Verdict.ERROR, method="unusable"),
        3: _result(verdict=Verdict.INCONCLUSIVE),
        4: _result(verdict=Verdict.ERROR, method="raised"),
    }
    for status, result in statuses.items():
        assert result.status == status
    worst_first = [1, 2, 4, 3, 0]
    for i in range(5):
        assert _record([statuses[status] for status in reversed(worst_first[i:])]).status == worst_first[i]
    assert _record([]).status == 0


def test_every_verdict_has_a_meaning():
    assert len({verdict.meaning for verdict in Verdict}) == len(Verdict) == 8


def test_what_is_the_same_stands_once():
    curves = Curves(
        epsilon=(0.0, 1.0),
        delta_lower=(0.5, 0.1),
        delta_upper=(0.5, 0.1),
        type_one=(0.0, 1.0),
        type_two_lower=(1.0, 0.0),
        type_two_upper=(1.0, 0.1),
    )
    steeper = dataclasses.replace(curves, delta_lower=(0.6, 0.1))
    shown = [curves, steeper, dataclasses.replace(curves), None]
    found = [_result(parameters={"n": n}, curves=each, reason="because", seed=3) for n, each in enumerate(shown)]
    record = _record(found)
    raw = json.loads(record.to_json())
    assert [line.get("curves") for line in raw["results"]] == [0, 1, 0, None]
    assert [line["reason"] for line in raw["results"]] == [0] * 4
    assert raw["reasons"] == ["because"]
    assert raw["claims"] == {"x": {"kind": "privacy", "statement": "x", "source": "x"}}
    assert not {"kind", "statement", "source", "witness", "seed", "timed"} & set(raw["results"][0])
    assert "delta_upper" not in raw["curves"][0]
    assert "type_one" not in raw["curves"][1]
    assert raw["curves"][1]["delta_upper"] == [0.5, 0.1]
    lines = record.to_json().splitlines()
    assert [sum(f'"n":{n}' in line for line in lines) for n in range(4)] == [1] * 4
    assert Record.from_json(record.to_json()) == record


def test_a_result_says_what_differs_from_its_claim():
    entry = ClaimEntry(kind="utility", statement="for all", source="Theorem 1")
    record = _record([_result(kind="utility", statement="here", source="Theorem 1")], claims={"x": entry})
    (line,) = json.loads(record.to_json())["results"]
    assert "kind" not in line
    assert line["statement"] == "here"
    assert Record.from_json(record.to_json()) == record


@pytest.mark.parametrize(("key", "number"), [("curves", 0), ("curves", -1), ("reason", 3)])
def test_an_entry_that_no_table_has_is_refused(key, number):
    raw = json.loads(_record([_result()]).to_json())
    raw["results"][0][key] = number
    with pytest.raises(RecordError, match=f"results.0.{key}"):
        Record.from_json(json.dumps(raw))


def test_a_claim_that_raised_gets_its_words_from_another_result():
    raised = _result(kind="unknown", statement="", source="", verdict=Verdict.ERROR, ok=False)
    assert _record([raised, _result()]).claims["x"] == ClaimEntry(kind="privacy", statement="x", source="x")


def test_two_records_are_joined():
    one = _record([_result(samples=9, error_probability=0.25)])
    other = _record([_result(claim="y", samples=9, error_probability=0.5), _result(claim="z")])
    both = joined(one, other)
    assert both.error_probability == 0.75
    assert list(both.claims) == ["x", "y", "z"]
    assert both.summary == {"proved": 3}


def test_errata_stand_under_their_papers_in_order():
    paper = Paper(key="a2020", title="A", authors=("Ames",), year=2020)
    late, early = (Erratum(where=paper.at(theorem=number), printed="x", meant="y", reason="z") for number in (10, 2))
    loose = Erratum(where="somewhere", printed="x", meant="y", reason="z")
    found = paper_entries([], [(late, "coin"), (early, "coin"), (late, "dice"), (loose, "coin"), (early, "")])
    assert list(found) == ["a2020"]
    assert [(entry.where, entry.systems) for entry in found["a2020"].errata] == [
        ("Theorem 2", ("coin",)),
        ("Theorem 10", ("coin", "dice")),
    ]
    assert ErratumEntry.of(loose).where == "somewhere"


def test_what_is_left_alone_stands_under_its_paper_in_order():
    paper, other = (Paper(key=key, title=key, authors=("Ames",), year=2020) for key in ("a2020", "b2020"))
    alone = [Assertion(where=paper.at(theorem=number), says="x", reason="y") for number in (10, 2)]
    elsewhere = Assertion(where=other.at(theorem=1), says="x", reason="y")
    found = paper_entries([paper], left_alone=[*alone, elsewhere, alone[0]])
    assert list(found) == ["a2020"]
    assert [(entry.where, entry.says) for entry in found["a2020"].left_alone] == [
        ("Theorem 2", "x"),
        ("Theorem 10", "x"),
    ]


def test_a_record_without_assertions_left_alone_and_mended_claims_is_read():
    entry = PaperEntry(title="A", authors=("Ames",), year=2020)
    record = dataclasses.replace(
        _record([]), papers={"a2020": entry}, claims={"a2020.theorem1": ClaimEntry(kind="privacy")}
    )
    text = record.to_json()
    assert "left_alone" not in text
    assert "mends" not in text
    assert Record.from_json(text) == record


def test_a_record_of_version_1_is_read():
    record = read_record(Path(__file__).with_name("record_v1.json"))
    assert record.schema == "dpaudit.record/2"
    assert Record.from_json(record.to_json()) == record
    violated, proved, bounded, lemma, figure, timed, rate, utility = record.results
    assert isinstance(violated.witness, Violation)
    assert set(violated.witness.forces) == {"epsilon"}
    assert violated.guarantee == proved.guarantee == "approximate-dp"
    assert lemma.guarantee is None
    roles = {name: interval.role for name, interval in bounded.measured.items()}
    assert {role for name, role in roles.items() if name.startswith("bound")} == {Role.BOUND}
    assert roles["value"] is Role.VALUE
    assert figure.measured["mean of 30 runs"].role is Role.MEAN_OF_RUNS
    assert (figure.witness.direction, figure.witness.claimed) == ("equal", figure.claimed["published"])
    assert lemma.witness.direction == "at-most"
    assert lemma.witness.measured > lemma.witness.claimed
    assert utility.witness.claimed == utility.claimed["bound"]
    assert timed.measured["value"].estimate == -0.06
    assert "measured" not in record.timing
    assert rate.growth is not None
    # Version 1 shared the error probability of a run out among its results.
    sampled = [result for result in record.results if result.samples]
    assert {result.error_probability for result in sampled} == {0.001 / 8}
    assert violated.error_probability is None
    assert record.error_probability == pytest.approx(len(sampled) * 0.001 / 8)
    # Nothing in it says what paper a claim stands in.
    assert not record.papers
    assert {entry.paper for entry in record.claims.values()} == {""}


@pytest.mark.parametrize("change", [{"confidence": "high"}, {"surprise": 1}, {"results": [{}]}])
def test_a_broken_record_of_version_1_is_refused(change):
    raw = json.loads(Path(__file__).with_name("record_v1.json").read_text(encoding="utf-8"))
    with pytest.raises(RecordError, match=next(iter(change))):
        Record.from_json(json.dumps(raw | change))


def test_what_inconclusive_means_names_both_of_its_causes_and_what_helps():
    meaning = Verdict.INCONCLUSIVE.meaning
    assert "budget was too small" in meaning
    assert "every output is new" in meaning
    assert "`features` or `supports`" in meaning
    assert meaning.endswith("not a pass")


def test_what_consistent_means_ties_the_detection_limit_to_the_event_chosen():
    assert "the event chosen would have shown" in Verdict.CONSISTENT.meaning
    assert "others may show more" in Verdict.CONSISTENT.meaning
