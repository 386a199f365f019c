"""`dpaudit bound --one-run`: what it prints, exit statuses, reports, and files that cannot be used."""

import gzip
import json

import numpy as np
import pytest

import dpaudit as package
from dpaudit.claims.record import read_record
from dpaudit.statistics import mu_of_guesses


@pytest.fixture(scope="module")
def canaries():
    rng = np.random.default_rng(4)
    included = rng.random(600) < 0.5
    return 3 * included + rng.normal(size=600), included


@pytest.fixture
def scores(folder, canaries):
    rows = [f"{score!r},{int(inside)}" for score, inside in zip(canaries[0].tolist(), canaries[1], strict=True)]
    (folder / "scores.csv").write_text("\n".join(["score,included", *rows]) + "\n", encoding="utf-8")
    return "scores.csv"


@pytest.mark.slow
def test_the_bound_is_that_of_the_function(dpaudit, scores, canaries):
    expected = package.one_run_bound(*canaries, delta=1e-6)
    told = json.loads(dpaudit("bound", "--one-run", scores, "--delta", "1e-6", "--format", "json").out)
    assert told["value"] == expected.epsilon > 1
    assert (told["guesses"], told["right"]) == (list(expected.guesses), expected.right)
    outcome = dpaudit("bound", "--one-run", scores, "--delta", "1e-6")
    assert outcome.status == 0
    assert outcome.out.startswith("epsilon is at least ")
    assert "600, of which" in outcome.out
    assert "10 times the canaries" in outcome.out
    # Rounded down.
    assert float(outcome.out.split()[4]) <= expected.epsilon < float(outcome.out.split()[4]) + 1e-3
    given = json.loads(dpaudit("bound", "--one-run", scores, "--guesses", "90", "--format", "json").out)
    assert given["guesses"] == [45, 45]


@pytest.mark.parametrize(
    ("options", "status", "word"),
    [
        (["--claim-epsilon", "1"], 1, "refuted"),
        (["--claim-epsilon", "4.2"], 0, "consistent"),
        (["--claim-epsilon", "50"], 3, "inconclusive"),
        (["--claim-mu", "0.5"], 1, "refuted"),
        (["--claim-mu", "1.2", "--guarantee", "gaussian"], 0, "consistent"),
        (["--claim-epsilon", "1", "--delta", "0.9"], 3, "inconclusive"),
    ],
    ids=str,
)
def test_exit_status(dpaudit, scores, options, status, word):
    outcome = dpaudit("bound", "--one-run", scores, *options)
    assert outcome.status == status
    assert word in outcome.out


@pytest.mark.slow
def test_a_report(dpaudit, scores, folder, canaries):
    options = ("--one-run", scores, "--claim-mu", "0.5", "--confidence", "0.99")
    assert dpaudit("bound", *options, "--output", "out").status == 1
    record = read_record(folder / "out" / "record.json")
    (result,) = record.results
    assert (result.verdict, result.guarantee, result.method) == ("refuted", "gaussian-dp", "one-run")
    assert result.error_probability == pytest.approx(0.01)
    assert result.witness.measured > result.witness.claimed
    # The number of right guesses that the claim allows gives no bound above it; one more does.
    bound = package.one_run_bound(*canaries, guarantee="gaussian", confidence=0.99)
    assert result.witness.claimed + 1 == bound.least_right(0.5)
    allowed, beyond = (
        mu_of_guesses(int(result.witness.claimed) + more, sum(bound.guesses), 600, alpha=0.01 * bound.share)
        for more in (0, 1)
    )
    assert allowed <= 0.5 < beyond
    assert {"index.html", "report.md", "junit.xml"} <= {path.name for path in (folder / "out").iterdir()}
    assert dpaudit(*record.command.split()[1:]).status == 1
    shown = dpaudit("report", "out/record.json", "--output", "again")
    assert shown.status == 0
    assert "canaries: 600\n" in shown.out


@pytest.mark.slow
def test_forms_of_files(dpaudit, scores, folder, canaries):
    expected = dpaudit("bound", "--one-run", scores).out
    rows = [f"{score!r};{inside}" for score, inside in zip(canaries[0].tolist(), canaries[1], strict=True)]
    plain = "\r\n".join(row.replace(";", ", ").replace("True", "IN").replace("False", "out") for row in rows)
    (folder / "plain.csv").write_bytes(b"\xef\xbb\xbf" + plain.encode())
    named = "\n".join(["id,Included,x,SCORE", *(f"a,{row.split(';')[1]},,{row.split(';')[0]}" for row in rows)])
    (folder / "named.csv.gz").write_bytes(gzip.compress(named.encode()))
    np.savetxt(folder / "numpy.csv", np.column_stack(canaries), delimiter=",")
    for name in ("plain.csv", "named.csv.gz", "numpy.csv"):
        assert dpaudit("bound", "--one-run", name).out == expected


BAD = {
    "empty": (b"", "no canaries"),
    "header alone": (b"score,included\n", "no canaries"),
    "one column": (b"1.5\n2.5\n", "line 1: has 1 column"),
    "three columns": (b"1,0,1\n", "line 1: has 3 columns"),
    "other header": (b"loss,included\n1,0\n", "score is missing"),
    "header twice": (b"score,score,included\n1,1,0\n", "stands more than once"),
    "NaN": (b"score,included\n1,0\nnan,1\n", "line 3, column score: 'nan' is not a number"),
    "no score": (b"1,0\n,1\n", "line 2, column score: '' is not a number"),
    "grouped digits": (b"1,0\n1_0,1\n", "line 2, column score"),
    "neither": (b"1,0\n2,maybe\n", "line 2, column included: 'maybe' says neither in nor out"),
    "no coin": (b"1,0\n2,0.5\n", "line 2, column included: '0.5' says neither in nor out; write 1 or 0"),
    "ragged": (b"1,0\n2,1,3\n", "line 2: has 3 columns, where the first line has 2"),
    "not UTF-8": (b"1,0\n2,\xff\n", "line 2: is not UTF-8"),
    "UTF-16": ("1,0\n2,1\n".encode("utf-16-le"), "line 1: has a byte of 0"),
    "gzip": (gzip.compress(b"1,0\n", mtime=0), "compressed by gzip, but its name does not end in .gz"),
    "zip": (b"PK\x03\x04rest", "a zip archive"),
    "quotes": (b'1,0\n"2,1\n', "is no CSV"),
    "not coins": (b"\n".join(b"%d,1" % i for i in range(99)), "99 of 99 canaries were in"),
}


@pytest.mark.parametrize("name", BAD)
def test_files_that_cannot_be_used(dpaudit, folder, name):
    content, words = BAD[name]
    (folder / "bad.csv").write_bytes(content)
    outcome = dpaudit("bound", "--one-run", "bad.csv", "--claim-epsilon", "1")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert "bad.csv" in outcome.err
    assert words in outcome.err


def test_files_that_are_none(dpaudit, folder):
    (folder / "plain.csv.gz").write_bytes(b"1,0\n")
    (folder / "short.csv.gz").write_bytes(gzip.compress(b"1,0\n" * 999)[:-9])
    for name, words in (
        ("missing.csv", "No such file"),
        (".", "Is a directory"),
        ("plain.csv.gz", "not compressed by gzip"),
        ("short.csv.gz", "damaged or ends too early"),
    ):
        outcome = dpaudit("bound", "--one-run", name)
        assert outcome.status == 2
        assert words in outcome.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "nothing to bound"),
        (["--claim-mu", "1", "--claim-epsilon", "1"], "--claim-mu alone"),
        (["--claim-epsilon", "1", "--guarantee", "gaussian"], "--claim-mu alone"),
        (["--claim-epsilon", "-1"], "--claim-epsilon"),
        (["--claim-mu", "nan"], "--claim-mu"),
        (["--delta", "2"], "delta"),
        (["--delta", "0.1", "--claim-mu", "1"], "no delta"),
        (["--confidence", "1"], "confidence"),
        (["--guesses", "0"], "guesses"),
        (["--seed", "-1"], "seed"),
        (["--output", "out"], "about a claim"),
    ],
    ids=str,
)
def test_calls_that_are_refused(dpaudit, scores, options, words):
    outcome = dpaudit("bound", *(["--one-run", scores] if options else []), *options)
    assert (outcome.status, outcome.out) == (2, "")
    assert words in outcome.err
