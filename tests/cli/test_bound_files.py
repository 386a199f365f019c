"""`dpaudit bound A B`: bounds from files, labels and folders, exit statuses, reports, calls that are refused."""

import gzip
import json

import numpy as np
import pytest

import dpaudit as package
from dpaudit.claims.record import read_record


@pytest.fixture(scope="module")
def outputs():
    rng = np.random.default_rng(8)
    return rng.laplace(size=3000), 1 + rng.laplace(size=4000)


@pytest.fixture
def files(folder, outputs):
    np.save(folder / "a.npy", outputs[0])
    (folder / "b.csv").write_text("".join(f"{value!r}\n" for value in outputs[1].tolist()), encoding="utf-8")
    return "a.npy", "b.csv"


@pytest.mark.slow
def test_the_bound_is_that_of_the_function(dpaudit, files, outputs):
    expected = package.bound_from_samples(*outputs, seed=3, delta=1e-4)
    told = json.loads(dpaudit("bound", *files, "--seed", "3", "--delta", "1e-4", "--format", "json").out)
    assert told["value"] == expected.epsilon > 0.4
    assert (told["rows"], told["hits"], told["inputs"]) == ([3000, 4000], list(expected.hits), ["a.npy", "b.csv"])
    outcome = dpaudit("bound", *files)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("epsilon is at least 0.")
    assert "with 10 times the rows" in outcome.out


@pytest.mark.slow
def test_a_curve_is_told_and_drawn(dpaudit, files, folder, outputs):
    words = ["bound", *files, "--curve", "--seed", "3", "--confidence", "0.99"]
    told = json.loads(dpaudit(*words, "--format", "json").out)
    expected = package.privacy_bounds_from_samples(*outputs, confidence=0.995, seed=3)
    assert told["curve"]["mu"] == expected.mu
    assert told["curve"]["delta_lower"] == list(expected.curves().delta_lower)
    # Half of the error probability is the curve's.
    assert told["value"] == package.bound_from_samples(*outputs, confidence=0.995, seed=3).epsilon
    outcome = dpaudit(*words, "--claim-epsilon", "0.2", "--delta", "0.01", "--output", "out")
    assert outcome.status == 1
    assert "all true at once, and the bound above, with confidence 0.99\n" in outcome.out
    (result,) = read_record(folder / "out" / "record.json").results
    assert result.curves.type_two_upper == expected.curves().type_two_upper
    assert "--curve" in result.command
    assert result.error_probability == pytest.approx(0.01)
    page = (folder / "out" / "index.html").read_text(encoding="utf-8")
    assert "privacy profile and trade-off function against the claim" in page
    assert "its profile passes above the marked point" in page
    assert dpaudit("bound", "--one-run", "scores.csv", "--curve").status == 2


@pytest.mark.slow
def test_labels(dpaudit, folder, files, outputs):
    rows = [f"{label},{value!r}" for label, side in zip("xy", outputs, strict=True) for value in side.tolist()]
    (folder / "both.csv").write_text("\n".join(["who,out", *rows]), encoding="utf-8")
    told = json.loads(dpaudit("bound", "both.csv", "--label", "who", "--format", "json").out)
    assert told["value"] == json.loads(dpaudit("bound", *files, "--format", "json").out)["value"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "status", "word"),
    [
        (["--claim-epsilon", "0.3"], 1, "refuted"),
        (["--claim-epsilon", "1"], 0, "consistent"),
        (["--claim-epsilon", "1", "--delta", "0.999"], 3, "inconclusive"),
    ],
    ids=str,
)
def test_exit_status(dpaudit, files, options, status, word):
    outcome = dpaudit("bound", *files, *options)
    assert outcome.status == status
    assert word in outcome.out


@pytest.mark.slow
def test_a_folder_is_a_plan(dpaudit, folder, outputs):
    (folder / "pairs" / "deep").mkdir(parents=True)
    for name, (first, second) in {"wide": outputs, "same": (outputs[0][:1500], outputs[0][1500:])}.items():
        np.save(folder / "pairs" / f"{name}-a.npy", first)
        np.save(folder / "pairs" / f"{name}-b.npy", second)
    for name, side in zip(("first", "second"), outputs, strict=True):
        np.save(folder / "pairs" / "deep" / f"{name}.npy", side)
    outcome = dpaudit("bound", "pairs", "--claim-epsilon", "0.3", "--output", "out")
    assert outcome.status == 1
    assert "wide: epsilon is at least" in outcome.out
    assert "same: nothing is shown of epsilon" in outcome.out
    record = read_record(folder / "out" / "record.json")
    assert {result.target: str(result.verdict) for result in record.results} == {
        "deep": "refuted",
        "same": "consistent",
        "wide": "refuted",
    }
    assert record.error_probability == pytest.approx(0.003)
    (result,) = (result for result in record.results if result.target == "wide")
    assert result.witness.forces["epsilon"] > 0.3
    assert dpaudit(*result.command.split()[1:]).status == 1
    assert dpaudit("report", "out/record.json", "--output", "again").status == 0
    assert outcome.out.endswith(
        "3 pairs: 2 refuted, 1 consistent; the probability that any of these bounds is wrong is at most 0.003\n"
    )


@pytest.mark.slow
def test_a_damaged_pair_is_an_error_of_its_own(dpaudit, folder, outputs):
    (folder / "pairs").mkdir()
    for name in ("bad", "good"):
        np.save(folder / "pairs" / f"{name}-a.npy", outputs[0])
        np.save(folder / "pairs" / f"{name}-b.npy", outputs[1])
    whole = (folder / "pairs" / "bad-b.npy").read_bytes()
    (folder / "pairs" / "bad-b.npy").write_bytes(whole[:200])
    outcome = dpaudit("bound", "pairs", "--claim-epsilon", "2", "--output", "out")
    assert outcome.status == 2
    assert len(outcome.err.splitlines()) == 2  # and where the report is
    assert "bad: pairs/bad-b.npy: it is damaged" in outcome.err
    assert "2 pairs: 1 error, 1 consistent;" in outcome.out
    assert outcome.out.endswith("at most 0.001\n")
    record = read_record(folder / "out" / "record.json")
    assert [(result.target, str(result.verdict), result.status) for result in record.results] == [
        ("bad", "error", 2),
        ("good", "consistent", 0),
    ]
    assert record.status == 2
    assert record.error_probability == pytest.approx(0.001)
    # A refutation counts more than an error, as in `check`; without a claim the bounds that there are, are told.
    assert dpaudit("bound", "pairs", "--claim-epsilon", "0.1", "--seed", "0").status == 1
    outcome = dpaudit("bound", "pairs", "--format", "json")
    bad, good = json.loads(outcome.out)
    assert (outcome.status, set(bad)) == (2, {"name", "inputs", "error"})
    assert good["value"] > 0.4
    # One pair alone is no plan.
    outcome = dpaudit("bound", "pairs/bad-a.npy", "pairs/bad-b.npy")
    assert (outcome.status, outcome.out) == (2, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "guarantee", "kind", "again"),
    [
        (["--claim-mu", "0.05"], package.GaussianDP(0.05), "gaussian-dp", "--claim-mu 0.05"),
        (["--claim-rho", "0.01"], package.ZeroConcentratedDP(0.01), "zero-concentrated-dp", "--claim-rho 0.01"),
        (
            ["--order", "2", "--claim-epsilon", "0.01"],
            package.RenyiDP(2.0, 0.01),
            "renyi-dp",
            "--order 2.0 --claim-epsilon 0.01",
        ),
    ],
    ids=["gaussian", "zero-concentrated", "renyi"],
)
def test_other_guarantees(dpaudit, folder, files, outputs, options, guarantee, kind, again):
    expected = package.bound_from_samples(*outputs, guarantee=guarantee)
    outcome = dpaudit("bound", *files, *options, "--output", "out")
    assert outcome.status == 1
    (result,) = read_record(folder / "out" / "record.json").results
    assert (result.guarantee, result.claimed) == (kind, dict(guarantee.parameters))
    assert result.measured[guarantee.forced].lower == pytest.approx(expected.value)
    assert again in result.command
    assert dpaudit(*result.command.split()[1:]).status == 1
    # The truth is 1-DP, which implies at most rho = tanh(1 / 2), as much at order 2, and mu = 2 Phi^-1(e / (1 + e)).
    most = {"mu": 1.25, "rho": 0.463, "epsilon": 0.7}
    assert guarantee.claimed < expected.value < most[guarantee.forced]


@pytest.mark.slow
def test_bounds_on_other_guarantees_without_a_claim(dpaudit, files):
    told = dpaudit("bound", *files, "--guarantee", "renyi", "--order", "2")
    assert told.status == 0
    assert told.out.startswith("epsilon is at least 0.")
    assert " at order 2, with confidence" in told.out
    assert dpaudit("bound", *files, "--guarantee", "zero-concentrated").out.startswith("rho is at least 0.")
    assert dpaudit("bound", *files, "--guarantee", "gaussian").out.startswith("mu is at least 0.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.npy"], "1 file given"),
        (["a.npy", "b.csv", "a.npy"], "3 files given"),
        (["a.npy", "a.npy"], "are one file"),
        (["a.npy", "b.csv", "--label", "x"], "one file"),
        (["a.npy", "missing.csv"], "missing.csv: cannot be read"),
        (["a.npy", "one.csv"], "one.csv has 1 row;"),
        (["a.npy", "empty.csv"], "empty.csv has 0 rows"),
        (["a.npy", "two.csv"], "give the same columns"),
        (["x.csv", "y.csv"], "x.csv has the columns x, and y.csv has y"),
        (["a.npy", "mixed.csv"], "mixed.csv, line 2, column 1: 'a' is not a number, where line 1 has one"),
        (["latin.csv", "b.csv"], "latin.csv, line 2: is not UTF-8 text; save the file as UTF-8"),
        (["packed.csv", "b.csv"], "compressed by gzip, but its name does not end in .gz; rename it"),
        (["packed.csv.xz", "b.csv"], "its ending does not say what it is"),
        (["huge.npy", "b.csv"], "huge.npy has 1000000000 rows; give fewer than 10^9 of them"),
        (["two.csv", "x.csv", "--claim-epsilon", "1"], "two.csv has numbers in rows of shape (2,) and x.csv"),
        (["a.npy", "b.csv", "--claim-mu", "1", "--claim-epsilon", "1"], "--claim-epsilon is no claim of Gaussian DP"),
        (["a.npy", "b.csv", "--claim-mu", "1", "--delta", "0.1"], "leave --delta out"),
        (["a.npy", "b.csv", "--claim-rho", "-1"], "--claim-rho must be a finite number"),
        (["a.npy", "b.csv", "--claim-rho", "1", "--guarantee", "gaussian"], "--claim-rho is no claim of Gaussian DP"),
        (["a.npy", "b.csv", "--claim-epsilon", "1", "--order", "1"], "alpha"),
        (["a.npy", "b.csv", "--guarantee", "renyi"], "claimed at an order"),
        (["a.npy", "b.csv", "--guarantee", "zero-concentrated", "--output", "out"], "give --claim-rho"),
        (["a.npy", "b.csv", "--guesses", "10"], "for --one-run"),
        (["a.npy", "b.csv", "--one-run", "b.csv"], "canaries alone"),
        (["a.npy", "b.csv", "--output", "out"], "about a claim"),
        (["a.npy", "b.csv", "--delta", "1"], "delta"),
    ],
    ids=str,
)
def test_calls_that_are_refused(dpaudit, files, folder, arguments, words):
    for name, content in {
        "one.csv": "1\n",
        "empty.csv": "",
        "mixed.csv": "1\na\n" * 50,
        "two.csv": "1,2\n" * 50,
        "x.csv": "x\n" + "1\n" * 50,
        "y.csv": "y\n" + "1\n" * 50,
    }.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "latin.csv").write_bytes("naïve\ncafé\n".encode("latin-1").replace(b"na\xefve", b"naive") * 50)
    (folder / "packed.csv").write_bytes(gzip.compress(b"1\n" * 50))
    (folder / "packed.csv.xz").write_bytes(b"\xfd7zXZ\x00")
    with (folder / "huge.npy").open("wb") as made:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**9,)}
        np.lib.format.write_array_header_1_0(made, header)
        made.truncate(made.tell() + 8 * 10**9)  # of which the disk holds the header
    outcome = dpaudit("bound", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert words in outcome.err


@pytest.mark.slow
def test_a_handful_of_small_numbers_is_said_to_be_too_few(dpaudit, folder):
    """Of 30 rows, eight distinct ones came only once by chance, which was blamed on identifiers in 3 of 12 pairs."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        for name in "ab":
            (folder / f"{name}.csv").write_text("\n".join(map(str, rng.geometric(0.3, 30).tolist())), encoding="utf-8")
        told = dpaudit("bound", "a.csv", "b.csv", "--no-header", "--claim-epsilon", "1").out
        assert "inconclusive; no violation could have been found with so few rows; give more" in told


def test_other_columns_may_be_a_line_that_was_taken_for_a_header(refused, folder):
    for name in "ab":
        lines = [f"user={name}{i} at noon" for i in range(30)]
        (folder / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    assert "give --no-header if it is an output" in refused("bound", "a.csv", "b.csv")


def test_files_with_a_row_number_are_refused(refused, folder):
    """Both files have one law, and an event of row numbers, of which each comes once, was said to force 4.2."""
    rng = np.random.default_rng(1)
    for name in "ab":
        rows = [f"{i},{value}" for i, value in enumerate(rng.geometric(0.6, size=5000).tolist())]
        (folder / f"{name}.csv").write_text("\n".join(["id,x", *rows]), encoding="utf-8")
    message = refused("bound", "a.csv", "b.csv", "--claim-epsilon", "1")
    assert "column id of a.csv grows by the same step from row to row" in message
    assert "leave it out of both" in message


@pytest.mark.slow
def test_a_note_is_told_once(dpaudit, folder):
    rng = np.random.default_rng(1)
    for name in "ab":
        rows = map(repr, np.repeat(rng.laplace(size=100), 2).tolist())
        (folder / f"{name}.csv").write_text("\n".join(["x", *rows]), encoding="utf-8")
    call = ["bound", "a.csv", "b.csv", "--claim-epsilon", "1"]
    told = dpaudit(*call, "--output", "out").out
    assert "\n  note        rows of a.csv seem to depend on those before them" in told
    assert "\n  claim       epsilon 1, delta 0: inconclusive; " in told
    assert told.count("rows of a.csv seem to depend on those before them") == 1
    # Records, and JSON for programs, have the notes with the verdict too.
    (result,) = read_record(folder / "out" / "record.json").results
    content = json.loads(dpaudit(*call, "--format", "json").out)
    assert len(content["notes"]) == 2
    for note in (result.note, content["note"]):
        assert all(each in note for each in content["notes"])


@pytest.mark.slow
def test_advice_on_outputs_that_hide_a_difference_fits_the_file(dpaudit, folder):
    rng = np.random.default_rng(1)

    def note(name, rows):
        for side in "ab":
            (folder / f"{side}.{name}").write_text("\n".join(rows()) + "\n", encoding="utf-8")
        return json.loads(dpaudit("bound", f"a.{name}", f"b.{name}", "--claim-epsilon", "1", "--format", "json").out)[
            "note"
        ]

    identifiers = rng.permutation(2**40 * np.arange(1, 20_001) // 20_000).tolist()
    told = note("csv", lambda: ["id,x", *(f"{identifiers.pop()},{rng.laplace()!r}" for _ in range(5000))])
    assert "(by output['id'], as identifiers do)" in told
    assert told.endswith("; leave that column (in JSON Lines, that key) out of both files")
    told = note(
        "jsonl", lambda: [json.dumps(rng.integers(2**50, size=rng.integers(3, 6)).tolist()) for _ in range(3000)]
    )
    assert ", or give lists in ascending order in place of sets" in told


@pytest.mark.slow
def test_a_header_is_said_or_guessed_aloud(dpaudit, folder):
    rng = np.random.default_rng(1)
    for name in "ab":
        texts = [f"u{value}" for value in rng.integers(9, size=300)]
        (folder / f"{name}.csv").write_text("\n".join([f"only-{name}", *texts]) + "\n", encoding="utf-8")

    def told(*options):
        return json.loads(dpaudit("bound", "a.csv", "b.csv", "--format", "json", *options).out)

    plain = told("--no-header")
    assert plain["rows"] == [301, 301]
    assert plain["notes"] == []
    (folder / "b.csv").write_text((folder / "b.csv").read_text().replace("only-b", "only-a"), encoding="utf-8")
    assert told("--header")["rows"] == [300, 300]
    assert told("--header")["notes"] == []
    guessed = told()
    assert guessed["rows"] == [300, 300]
    assert guessed["notes"][0].startswith("the first line of a.csv, 'only-a', was taken for the names of the columns")


def test_numbers_that_are_rounded_otherwise_are_refused(refused, dpaudit, folder):
    """0.1 of 32 bits and 0.1 of 64 bits are two numbers: equal laws were refuted at 5.7."""
    rng = np.random.default_rng(3)
    x, y = (rng.integers(0, 3, 4000) for _ in range(2))
    np.save(folder / "x.npy", (x / 10).astype(np.float32))
    np.save(folder / "y.npy", y / 10)
    assert "float64, which float32" in refused("bound", "x.npy", "y.npy", "--claim-epsilon", "1")
    np.save(folder / "x.npy", x.astype(np.float32))
    np.save(folder / "y.npy", y.astype(float))
    assert dpaudit("bound", "x.npy", "y.npy", "--claim-epsilon", "1").status == 0


def test_whole_numbers_of_structures_may_be_written_with_a_point(dpaudit, folder):
    rng = np.random.default_rng(4)
    for name, kind in (("x", int), ("y", float)):
        rows = [[kind(value)] * length for value, length in rng.integers(1, 4, (4000, 2))]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = dpaudit("bound", "x.jsonl", "y.jsonl", "--claim-epsilon", "1")
    assert found.status == 0, found.out
