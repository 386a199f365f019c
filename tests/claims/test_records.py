"""The record: round trip, what JSON cannot hold, and the published schema."""

import dataclasses
import json
import math
from importlib import resources

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.claims.claims import Erratum
from dpaudit.claims.evidence import Curves, Growth, Interval, Witness
from dpaudit.claims.record import Record, Result, SystemEntry, plain, read_record, record_schema, summarise
from dpaudit.claims.verdicts import Verdict, status_of
from dpaudit.errors import RecordError

SCHEMA = json.loads(resources.files("dpaudit.claims").joinpath("record.schema.json").read_text(encoding="utf-8"))

numbers = st.floats(allow_nan=False)
texts = st.text(st.characters(codec="utf-8"), max_size=20)
sides = st.none() | numbers
intervals = st.builds(Interval, lower=sides, upper=sides, estimate=sides)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
witnesses = st.builds(
    Witness,
    data=json_values,
    neighbour=json_values,
    event=json_values,
    p=numbers,
    q=numbers,
    epsilon=sides,
    delta=sides,
)
curves = st.builds(Curves, **dict.fromkeys(Curves.__dataclass_fields__, st.lists(numbers, max_size=3).map(tuple)))
floats = st.lists(numbers, max_size=3).map(tuple)
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
    witness=st.none() | witnesses,
    curves=st.none() | curves,
    growth=st.none() | growths,
    timed=st.booleans(),
    samples=st.integers(0, 10**12),
    seed=st.integers(0, 2**64),
)
errata = st.builds(Erratum, where=texts, printed=texts, meant=texts, reason=texts)
systems = st.builds(
    SystemEntry, title=texts, description=texts, source=texts, errata=st.lists(errata, max_size=2).map(tuple)
)


def _record(found=(), entries=None):
    return Record(
        version="1",
        seed=3,
        confidence=0.999,
        systems=entries or {},
        results=tuple(found),
        summary=summarise(tuple(found)),
    )


@settings(max_examples=50, deadline=None)
@given(st.lists(results, max_size=3), st.dictionaries(texts, systems, max_size=2))
def test_a_record_survives_json(found, entries):
    record = _record(found, entries)
    text = record.to_json()
    again = Record.from_json(text)
    assert again == record
    assert again.to_json() == text
    jsonschema.validate(json.loads(text), SCHEMA)


def test_what_was_timed_is_written_apart():
    witness = Witness(data=1, event=[1], p=2.5, q=1.0)
    numbers = {"value": Interval(lower=0.1, upper=0.2, estimate=0.15)}
    plainly, timed = _result(measured=numbers), _result(measured=numbers, witness=witness, timed=True)
    record = dataclasses.replace(_record([plainly, timed]), timing={"seconds": 2.0})
    slower = dataclasses.replace(timed, measured={"value": Interval(lower=1.0, upper=2.0)}, witness=None)
    other = dataclasses.replace(_record([plainly, slower]), timing={"seconds": 3.0})
    one, two = json.loads(record.to_json()), json.loads(other.to_json())
    assert one["timing"]["measured"]["1"]["measured"]["value"] == {"lower": 0.1, "estimate": 0.15, "upper": 0.2}
    assert one["timing"]["measured"]["1"]["witness"]["p"] == 2.5
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


def test_the_published_schema_is_up_to_date():
    assert record_schema() == SCHEMA, (
        "write it again: python -c 'import json; from dpaudit.claims.record import record_schema as s; "
        "print(json.dumps(s(), indent=1))' > dpaudit/claims/record.schema.json"
    )


@pytest.mark.parametrize("since", ["curves", "growth", "timed"])
def test_a_record_from_before_there_was_a_key_is_read(since):
    raw = json.loads(_record([_result()]).to_json())
    assert not raw["results"][0].pop(since)
    jsonschema.validate(raw, SCHEMA)
    assert Record.from_json(json.dumps(raw)) == _record([_result()])


def test_the_schema_itself_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("word", ["inf", "1.0", "", "infinity"])
def test_the_schema_knows_which_words_are_numbers(word):
    raw = json.loads(_record([_result(claimed={"epsilon": 1.0})]).to_json())
    raw["results"][0]["claimed"]["epsilon"] = word
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(raw, SCHEMA)


@pytest.mark.parametrize("path", [[], ["results", 0], ["results", 0, "witness"], ["systems", "x"]])
def test_an_unknown_key_is_refused(path):
    witness = Witness(data=1, event=[1], p=0.5, q=0.1)
    record = _record([_result(witness=witness)], {"x": SystemEntry(title="t", description="d", source="s")})
    raw = json.loads(record.to_json())
    place = raw
    for key in path:
        place = place[key]
    place["surprise"] = 1
    with pytest.raises(RecordError, match="surprise"):
        Record.from_json(json.dumps(raw), name="r.json")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(raw, SCHEMA)


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
