"""The benchmark that calibrates auditing tools: its truths, what it says of tools wrong on purpose, and of ours."""

import json
import math
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest
from calibration import interface, rates
from calibration.cases import cases
from calibration.page import Results, Settings, page
from calibration.tools import TOOLS, ours, recorder, statdp, wrong
from scipy.stats import binom, binomtest, fisher_exact, ks_2samp, logistic, norm

FALSE_ALARM = 1e-6
E = math.e
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "calibration"

# Worked out by hand from the definition of each mechanism: the ratio at the output that tells the inputs apart best.
BY_HAND = {
    "randomized-response": 1.0,
    "fifty-values": 2.0,
    "unary-encoding": 2 * 0.5,
    "geometric": 1.0,
    "needle": 1.0,
    "laplace": 1.0,
    "clipped-laplace": 1.0,
    # Its tails are as thin as Laplace's: the ratio of densities is e in the limit.
    "logistic": float(logistic.logpdf(49) - logistic.logpdf(50)),
    "one-of-20-columns": 1.0,
    "five-columns": 5 * 0.2,
    "leak-within-delta": 1.0,
    "own-values-within-delta": 1.0,
    "only-a-leak-within-delta": 0.0,
    "scale-halved": 2.0,
    "budget-spent-twice": 2.0,
    "forgotten-clamp": 3.0,
    "biased-coin": math.log(0.8 / 0.2),
    "one-value-too-few": math.log(E / (E + 2) / (2 / (E + 2) / 3)),
    "whole-budget-in-each-bit": 2 * 1.0,
    "no-noise-for-0": math.inf,
    "rare-leak": math.inf,
    "leak-above-delta": math.inf,
    "half-noise-in-one-of-20": 2.0,
    "one-draw-for-two-counts": math.inf,
}


def gaussian_profile(epsilon, distance=1.0):
    """Hockey-stick divergence of two normal laws, on a grid."""
    t, step = np.linspace(-12, 12 + distance, 2_000_001, retstep=True)
    return float(np.maximum(norm.pdf(t - distance) - math.exp(epsilon) * norm.pdf(t), 0).sum() * step)


def test_every_class_has_at_least_eight_cases():
    kinds = [case.kind for case in cases().values()]
    assert all(kinds.count(kind) >= 8 for kind in interface.KINDS)
    assert {case.name for case in cases().values() if case.kind != "null"} == {
        *BY_HAND,
        "gaussian-delta",
        "wrong-delta",
    }


@pytest.mark.parametrize("name", BY_HAND)
def test_truths_are_those_worked_out_by_hand(name):
    assert cases()[name].truth() == pytest.approx(BY_HAND[name], rel=1e-9, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian-delta", "wrong-delta"])
def test_truths_of_gaussian_noise_are_those_of_the_integral(name):
    case = cases()[name]
    assert gaussian_profile(case.truth()) == pytest.approx(case.mechanism.delta, abs=1e-8)


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: case.name)
def test_classes_are_what_they_say(case):
    truth, promised = case.truth(), case.mechanism.epsilon
    if case.kind == "null":
        assert truth == promised == 0
    elif case.kind == "exact":
        assert truth == pytest.approx(promised, rel=1e-12)
    else:
        assert truth > promised * 1.1


def drawn(case, size):
    return [
        np.asarray(case.mechanism.sample(data, size, np.random.default_rng([5, side]))).reshape(size, -1)
        for side, data in enumerate(case.pair)
    ]


# The event that shows all of the truth, and the input on which it is likelier.
EVENTS = {
    "randomized-response": (lambda r: r[:, 0] == 0, 0),
    "fifty-values": (lambda r: r[:, 0] == 1, 1),
    "unary-encoding": (lambda r: (r[:, 0] == 1) & (r[:, 1] == 0), 0),
    "geometric": (lambda r: r[:, 0] >= 4, 1),
    "needle": (lambda r: r[:, 0] == 0, 0),
    "laplace": (lambda r: r[:, 0] >= 1, 1),
    "clipped-laplace": (lambda r: r[:, 0] == 0, 0),
    "one-of-20-columns": (lambda r: r[:, 7] >= 1, 1),
    "five-columns": (lambda r: (r >= 0.2).all(axis=1), 1),
    # Where the density is e^epsilon times the other one.
    "gaussian-delta": (lambda r: r[:, 0] >= cases()["gaussian-delta"].truth() + 0.5, 1),
    "wrong-delta": (lambda r: r[:, 0] >= cases()["wrong-delta"].truth() + 0.5, 1),
    "leak-within-delta": (lambda r: np.isin(r[:, 0], (0, 2)), 0),
    "own-values-within-delta": (lambda r: (r[:, 0] < 1000) | (r[:, 0] == 2000), 0),
    "only-a-leak-within-delta": (lambda r: r[:, 0] != 1, 0),
    "scale-halved": (lambda r: r[:, 0] >= 1, 1),
    "budget-spent-twice": (lambda r: (r == 1).all(axis=1), 1),
    "forgotten-clamp": (lambda r: r[:, 0] >= 3, 1),
    "biased-coin": (lambda r: r[:, 0] == 1, 1),
    "one-value-too-few": (lambda r: r[:, 0] == 0, 0),
    "whole-budget-in-each-bit": (lambda r: (r[:, 0] == 0) & (r[:, 1] == 1), 1),
    "no-noise-for-0": (lambda r: r[:, 0] > 0, 1),
    "rare-leak": (lambda r: r[:, 0] == 1, 1),
    "leak-above-delta": (lambda r: r[:, 0] == 0, 0),
    "half-noise-in-one-of-20": (lambda r: r[:, 7] >= 1, 1),
    "one-draw-for-two-counts": (lambda r: r[:, 0] != r[:, 1], 1),
}


@pytest.mark.slow
def test_samplers_show_the_truth_by_their_best_event():
    for name, (event, side) in EVENTS.items():
        case, size = cases()[name], 100_000
        rows = drawn(case, size)
        p, q = (int(np.count_nonzero(event(rows[at]))) for at in (side, 1 - side))
        truth, delta = case.truth(), case.mechanism.delta
        if math.isinf(truth):
            assert q == 0, name
            assert p / size > delta, name
            continue
        # p - delta = e^epsilon q; six standard errors of the difference.
        spread = math.sqrt(p * (1 - p / size) + math.exp(2 * truth) * q * (1 - q / size)) / size
        assert (p / size - delta) == pytest.approx(math.exp(truth) * q / size, abs=6 * spread), name


def test_logistic_noise_has_the_law_that_its_truth_is_of():
    case = cases()["logistic"]
    for data in case.pair:
        drawn_ = case.mechanism.sample(data, 20_000, np.random.default_rng(7))
        assert ks_2samp(drawn_, logistic.rvs(loc=data, size=20_000, random_state=8)).pvalue > FALSE_ALARM


@pytest.mark.slow
def test_null_samplers_have_the_same_law_on_both_inputs():
    for case in cases().values():
        if case.kind == "null":
            x, y = drawn(case, 5000)
            smallest = min(ks_2samp(x[:, i], y[:, i], method="asymp").pvalue for i in range(x.shape[1]))
            assert smallest > FALSE_ALARM / x.shape[1], case.name


def results(tools, names, runs, samples=1000, confidence=0.95):
    chosen = [cases()[name] for name in names]
    settings = Settings(confidence=confidence, samples=samples, runs=runs, power_samples=[samples], power_runs=runs)
    tallies = {
        (tool.name, case.name, samples): rates.tallied(tool, case, samples, confidence, runs)
        for tool in tools
        for case in chosen
    }
    return Results(settings=settings, tools=tools, cases=chosen, tallies=tallies)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "name", "runs"),
    [
        (wrong.PLUG_IN, "null-laplace", 30),
        (wrong.SAME_SAMPLES, "null-20-columns", 30),
        (wrong.PEEKING, "laplace", 150),
    ],
)
def test_tools_that_are_wrong_on_purpose_are_flagged(tool, name, runs):
    found = results([tool], [name], runs)
    assert found.exceeds(tool) == [name]
    assert f"Wrong on purpose, and marked: {tool.name} (cases: 1)." in page(found)


@pytest.mark.slow
def test_our_own_tool_is_within_its_rate_and_finds_what_is_broken():
    names = ["null-atoms", "null-rare-values", "randomized-response", "needle", "leak-within-delta"]
    found = results([ours.FIXED], [*names, "scale-halved"], 25)
    for name in names:
        tally = found.tallies[ours.FIXED.name, name, 1000]
        assert tally.runs == 25
        assert tally.alarms <= binom.isf(FALSE_ALARM, 25, 0.05)
    assert found.exceeds(ours.FIXED) == []
    assert found.tallies[ours.FIXED.name, "scale-halved", 1000].found == 25


def test_marks_say_on_which_side_the_stated_probability_is():
    assert rates.mark(40, 400, 0.05) == "!"
    assert rates.mark(22, 400, 0.05) == ""
    assert rates.mark(2, 400, 0.05) == "-"
    # Among twenty comparisons an interval is wider.
    assert rates.mark(31, 400, 0.05) == "!"
    assert rates.mark(31, 400, 0.05, 20) == ""
    low, high = rates.interval(31, 400, 20)
    expected = binomtest(31, 400).proportion_ci(1 - 0.05 / 20)
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_a_bound_is_above_only_by_more_than_rounding():
    assert not rates.above(1 + 1e-12, 1.0)
    assert rates.above(1.001, 1.0)
    assert rates.above(0.001, 0.0)
    assert not rates.above(1e6, math.inf)


def test_a_tool_that_raises_or_does_not_apply_has_no_runs():
    def broken(*_):
        raise ValueError("no such thing")

    case = cases()["laplace"]
    raised = rates.tallied(interface.Tool(name="a", bound=broken), case, 100, 0.95, 5)
    assert (raised.runs, raised.failures, raised.failure) == (0, 5, "ValueError: no such thing")
    nothing = rates.tallied(interface.Tool(name="b", bound=lambda *_: None), case, 100, 0.95, 5)
    assert (nothing.applies, nothing.nothing, nothing.gaps) == (False, 5, "")


def sometimes(returned, at):
    """A tool that is wrong about every case, but for one audit of each in which it returns something else."""
    seeds = {rates.seed_of(case, 100, at) for case in cases().values()}

    def bound(mechanism, x, y, samples, confidence, seed):
        if seed not in seeds:
            return mechanism.epsilon + 0.5 + seed * 1e-12
        return returned() if callable(returned) else returned

    return interface.Tool(name="mostly wrong", bound=bound)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "None in 1 of 40 audits"),
        (math.nan, "no bound in 1 of 40 audits, the first time: returned NaN"),
        (lambda: 1 / 0, "no bound in 1 of 40 audits, the first time: ZeroDivisionError: division by zero"),
    ],
)
@pytest.mark.parametrize("at", [0, 20])
def test_one_audit_without_a_bound_hides_none_of_the_others(returned, said, at):
    tool = sometimes(returned, at)
    found = results([tool], ["laplace", "biased-coin"], 40, samples=100)
    tally = found.tallies[tool.name, "laplace", 100]
    assert (tally.runs, tally.alarms, tally.gaps) == (39, 39, said)
    assert found.exceeds(tool) == ["laplace", "biased-coin"]
    text = page(found)
    assert "Nowhere more false alarms than stated" not in text
    assert "some audits returned no bound, and only the others are counted: laplace, biased-coin." in " ".join(
        text.split()
    )
    assert f"- mostly wrong, laplace, 100 samples: {said}" in text
    assert "| laplace | 39 of 39 ! |" in text
    # An audit without a bound found nothing: 39 of 40.
    assert found.tallies[tool.name, "biased-coin", 100].power == 39 / 40


@pytest.mark.parametrize("returned", [None, math.nan])
def test_a_tool_without_any_bound_is_not_praised(returned):
    tool = interface.Tool(name="silent", bound=lambda *_: returned)
    text = page(results([tool], ["laplace", "rare-leak"], 3, samples=100))
    assert "Nowhere more false alarms than stated" not in text
    assert "No bound that could have been a false alarm, and so nothing is known: silent." in text


def test_bounds_where_the_truth_is_infinite_are_no_ground_for_praise():
    tool = interface.Tool(name="only leaks", bound=lambda mechanism, *_: 9.0 if mechanism.name == "rare-leak" else None)
    assert "so nothing is known: only leaks." in page(results([tool], ["laplace", "rare-leak"], 3, samples=100))


def median(samples_drawn=lambda samples: samples, seeded=lambda seed: seed, least=-math.inf):
    """A tool that returns the difference of two medians, drawn as it is told to."""

    def bound(mechanism, x, y, samples, confidence, seed):
        rng = np.random.default_rng(seeded(seed))
        a, b = (mechanism.sample(data, samples_drawn(samples), rng) for data in (x, y))
        return max(least, abs(np.median(a) - np.median(b)) / 10)

    return interface.Tool(name="medians", bound=bound)


def test_a_tool_that_ignores_its_seed_is_named_and_not_praised():
    tool = median(seeded=lambda _: 7)
    text = " ".join(page(results([tool], ["laplace", "scale-halved", "randomized-response"], 12)).split())
    assert "Nowhere more false alarms than stated" not in text
    assert (
        "medians: all 12 bounds are equal: the runs are not independent, and its rates say nothing, "
        "in laplace, scale-halved." in text
    )


def test_a_tool_that_ignores_its_seed_and_returns_0_is_named_by_what_it_draws():
    tool = interface.Tool(name="none", bound=lambda *given: median(seeded=lambda _: 7).bound(*given) * 0)
    text = " ".join(page(results([tool], ["null-laplace"], 12)).split())
    assert "Nowhere" not in text
    assert "none: all 12 audits drew the same outputs: the runs are not independent" in text


@pytest.mark.parametrize(
    ("tool", "names", "runs"),
    [
        (median(), ["laplace", "null-laplace", "scale-halved"], 12),
        # A bound of 0 is a cautious tool's; equal bounds are the truth's where it is infinite, and may be a coincidence
        # where there are few audits.
        (median(least=0.0), ["null-laplace"], 12),
        (interface.Tool(name="0", bound=lambda *_: 0.0), ["laplace"], 12),
        (interface.Tool(name="5", bound=lambda *_: 5.0), ["one-draw-for-two-counts"], 12),
        (median(seeded=lambda _: 7), ["null-constant"], 12),
        (median(seeded=lambda _: 7), ["laplace"], 4),
    ],
)
def test_independent_runs_are_not_called_otherwise(tool, names, runs):
    found = results([tool], names, runs, samples=100)
    assert found.repeated(tool) == {}
    assert "not independent" not in page(found)


def test_equal_bounds_are_seen_over_an_interruption(tmp_path):
    path, case = str(tmp_path / "kept.jsonl"), cases()["laplace"]
    for runs in (4, 8):
        tally = rates.Kept(path).tallied(median(seeded=lambda _: 7), case, 100, 0.95, runs)
    assert rates.repeated(tally, case) == "all 8 bounds are equal"
    tally = rates.Kept(path).tallied(median(), case, 100, 0.95, 9)
    assert rates.repeated(tally, case) == ""


def test_a_tool_that_draws_too_much_is_named():
    tool = median(samples_drawn=lambda samples: 100 * samples)
    found = results([tool], ["laplace", "null-constant"], 2, samples=100)
    assert "medians: drew up to 100 times as many outputs of an input as allowed (cases: 2)." in page(found)
    assert results([median()], ["laplace"], 2).overdrawn(median()) == {}


def left():
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda: (each for each in ()), "returned generator; a bound is a float, or None"),
        ("0.3", "returned str; a bound is a float, or None"),
        ((0.1, 0.2), "returned tuple; a bound is a float, or None"),
        (1j, "returned complex; a bound is a float, or None"),
        (np.array([0.1, 0.2]), "returned ndarray; a bound is a float, or None"),
        (True, "returned bool; a bound is a float, or None"),
        (10**400, "OverflowError: int too large to convert to float"),
        (left, "SystemExit: 0"),
    ],
)
def test_what_is_no_number_is_an_error_of_the_tool(returned, said):
    tally = rates.tallied(sometimes(returned, 2), cases()["laplace"], 100, 0.95, 5)
    assert (tally.runs, tally.failures, tally.failure) == (4, 1, said)


@pytest.mark.parametrize("returned", [1, np.float32(1.5), np.int64(2), math.inf])
def test_numbers_of_other_types_are_bounds(returned):
    tool = interface.Tool(name="typed", bound=lambda *_: returned)
    assert rates.tallied(tool, cases()["laplace"], 100, 0.95, 3).runs == 3


def test_audits_without_a_bound_are_kept_and_not_run_again(tmp_path):
    path, case = str(tmp_path / "kept.jsonl"), cases()["laplace"]
    first = rates.Kept(path).tallied(sometimes(None, 1), case, 100, 0.95, 5)
    never = interface.Tool(name="mostly wrong", bound=lambda *_: 1 / 0)
    assert rates.Kept(path).tallied(never, case, 100, 0.95, 5) == first
    more = rates.Kept(path).tallied(sometimes(None, 7), case, 100, 0.95, 10)
    assert (more.runs, more.nothing, more.alarms) == (8, 2, 8)


@pytest.mark.parametrize(("more", "fewer", "trials"), [(40, 25, 200), (7, 0, 100), (3, 3, 50)])
def test_statdps_p_value_at_epsilon_0_is_fishers(more, fewer, trials):
    table = [[more, trials - more], [fewer, trials - fewer]]
    assert statdp.p_value(more, fewer, trials, 0.0) == pytest.approx(fisher_exact(table, "greater").pvalue)


def test_statdps_bound_is_where_its_p_value_is_the_error_probability():
    bound = statdp._largest_refuted(400, 100, 1000, 0.05)
    assert 0.9 < bound < math.log(4)
    assert statdp.p_value(400, 100, 1000, bound - 0.01) <= 0.05 < statdp.p_value(400, 100, 1000, bound + 0.01)


def test_dp_recorders_threshold_has_the_largest_sum_of_true_rates():
    rng = np.random.default_rng(2)
    first, second = np.round(rng.normal(size=300), 1), np.round(rng.normal(size=300) + 1, 1)
    found = recorder._threshold(first, second)
    best = max(np.mean(first < t) + np.mean(second >= t) for t in np.r_[first, second])
    assert np.mean(first < found) + np.mean(second >= found) == pytest.approx(best)


MINE = """
from calibration.interface import Tool


def bound(mechanism, x, y, samples, confidence, seed):
    return mechanism.epsilon + 0.5


TOOL = Tool(name="half too much", bound=bound, error=0.01)
"""


def run(*arguments):
    return runpy.run_path(str(BENCHMARK), run_name="calibrated")["main"]([str(each) for each in arguments])


def test_a_tool_of_ones_own_is_one_file(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(MINE)
    arguments = [
        "--tools",
        tmp_path / "mine.py",
        "--only",
        "laplace",
        "scale-halved",
        "--runs",
        "50",
        "--power-runs",
        "5",
    ]
    arguments += ["--write", tmp_path / "table.md", "--keep", tmp_path / "kept.jsonl"]
    assert run(*arguments) == 0
    said = capsys.readouterr()
    assert "half too much" in said.out
    assert "all 50 bounds are equal: the runs are not independent" in said.err
    table = (tmp_path / "table.md").read_text()
    assert "half too much: false alarms above the stated error probability in laplace." in table
    assert str(tmp_path / "table.md") not in table
    assert "| scale-halved | 1 | 2 | 1.00 / 1.00 / 1.00 |" in table
    # What was kept is not run again: the same page with a tool that would say otherwise.
    kept = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert len(kept) == 4
    (tmp_path / "mine.py").write_text(MINE.replace("+ 0.5", "- 0.5"))
    assert run(*arguments) == 0
    assert (tmp_path / "table.md").read_text() == table


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--write", "nowhere/table.md"], "there is no folder nowhere to write table.md to"),
        (["--keep", __file__], "line 1: no counts of this benchmark"),
        (["--tools", "nobody"], "no tool named 'nobody'"),
        (["--tools", "nothing.py"], "there is no file nothing.py"),
        (["--only", "nothing"], "no case named nothing"),
        (["--write", Path(__file__).parent], "is a folder: give the name of a file"),
        (["--keep", Path(__file__).parent], "is a folder: give the name of a file"),
        (["--write", "a" * 300], "cannot be written: File name too long; give another file"),
        (["--keep", "both", "--write", "./both"], "--write and --keep are the same file, ./both: give each its own"),
    ],
)
def test_what_is_not_there_or_cannot_be_written_is_named_before_anything_runs(
    arguments, says, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rates, "tallied", lambda *_: pytest.fail("an audit ran"))
    assert run(*arguments) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_two_tools_of_one_name_are_refused(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "other.py").write_text(MINE)
    assert run("--tools", tmp_path / "mine.py", tmp_path / "other.py") == 2
    assert "more than one tool is named half too much: rename all but one" in capsys.readouterr().err


def test_names_given_twice_count_once_and_the_command_leaves_out_files(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    arguments = ["--tools", tmp_path / "mine.py", tmp_path / "mine.py", "--only", "laplace", "laplace", "--runs", "10"]
    assert run(*arguments, f"--write={tmp_path / 'a.md'}", f"--keep={tmp_path / 'a.jsonl'}") == 0
    assert run(*arguments, "--write", tmp_path / "b.md", "--keep", tmp_path / "a.jsonl") == 0
    text = (tmp_path / "a.md").read_text()
    assert text == (tmp_path / "b.md").read_text()
    assert "10 of 10: 100.00%" in text
    command = shlex.split(next(line for line in text.splitlines() if line.startswith("`python")).split("`")[1])
    assert command == ["python", "benchmarks/calibration", *map(str, arguments)]


def test_a_file_without_a_tool_says_what_it_must_define(tmp_path, capsys):
    (tmp_path / "empty.py").write_text("")
    assert run("--tools", tmp_path / "empty.py") == 2
    assert "must define TOOL" in capsys.readouterr().err
    (tmp_path / "faulty.py").write_text("1 / 0")
    assert run("--tools", tmp_path / "faulty.py") == 2
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("error", ["5%", 5, 1.0, -0.1, math.nan, True])
def test_a_stated_error_that_is_no_probability_is_refused_when_the_tool_is_read(error, tmp_path, capsys):
    text = MINE.replace("error=0.01", f"error={error!r}".replace("nan", "float('nan')"))
    (tmp_path / "mine.py").write_text(text)
    assert run("--tools", tmp_path / "mine.py") == 2
    assert (
        f"error of the tool 'half too much' must be a probability below 1, such as 0.05, or None; got {error!r}"
        in capsys.readouterr().err
    )


def test_a_file_that_exits_and_a_tool_without_a_function_are_refused(tmp_path, capsys):
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit()")
    assert run("--tools", tmp_path / "leaves.py") == 2
    assert "leaves.py cannot be imported: SystemExit" in capsys.readouterr().err
    (tmp_path / "mine.py").write_text(MINE.replace("bound=bound", "bound=0.5"))
    assert run("--tools", tmp_path / "mine.py") == 2
    assert "bound of the tool 'half too much' must be a function, got 0.5" in capsys.readouterr().err


def test_tools_that_are_not_installed_are_left_out_and_named():
    absent = interface.Tool(name="far away", bound=lambda *_: 0.0, requires="no_such_package_anywhere")
    assert not absent.installed
    found = results([TOOLS["wrong: peeking"]], ["null-constant"], 1)
    with_absent = Results(
        settings=found.settings, tools=found.tools, cases=found.cases, tallies=found.tallies, absent=[absent]
    )
    assert "**far away**: absent, because `no_such_package_anywhere` is not installed." in page(with_absent)


@pytest.mark.slow
def test_the_tool_of_the_documentation_runs_and_is_honest(tmp_path):
    text = (BENCHMARK.parents[1] / "docs" / "calibrate-a-tool.md").read_text(encoding="utf-8")
    (tmp_path / "my_tool.py").write_text(text.split("<!-- file: my_tool.py -->\n```python\n")[1].split("```")[0])
    tool = interface.loaded(str(tmp_path / "my_tool.py"))
    found = results([tool], ["null-atoms", "randomized-response", "gaussian-delta", "forgotten-clamp"], 30)
    assert found.exceeds(tool) == []
    assert found.tallies["median", "forgotten-clamp", 1000].found == 30


def test_a_rate_that_only_many_cases_show_together_is_named():
    tool = interface.Tool(name="somewhat wrong", bound=lambda *_: 0.0)
    chosen = [case for case in cases().values() if case.kind == "null"]
    settings = Settings(confidence=0.95, samples=1000, runs=200, power_samples=[1000], power_runs=1)
    tallies = {(tool.name, case.name, 1000): rates.Tally(runs=200, alarms=15) for case in chosen}
    found = Results(settings=settings, tools=[tool], cases=chosen, tallies=tallies)
    assert found.exceeds(tool) == []
    assert "somewhat wrong: false alarms above it over all null cases together." in page(found)
