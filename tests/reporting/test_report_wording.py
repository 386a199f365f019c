import dataclasses
import math
import shlex
from collections.abc import Callable

import pytest

from dpaudit.claims.evidence import Counterexample, Interval, Remedy
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.console import render_console
from dpaudit.reporting.groups import group_results
from dpaudit.reporting.reading import worked_out
from dpaudit.reporting.wording import (
    also_measured,
    clean,
    headline,
    next_step,
    numbers_line,
    pairs_searched,
    provenance,
    quantities,
    reason,
    summary_line,
    verify_command,
    witness_lines,
)


def test_parameters_that_vary_are_told_from_the_others(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    cells = [make_result(parameters={"epsilon": 1.0, "agents": n, "base": "two"}) for n in (3, 4)]
    other = make_result(target="dice", parameters={"epsilon": 0.25})
    coin, dice = group_results(make_record(cells[0], other, cells[1]))
    (claim,) = coin.claims
    assert claim.varying == ("agents",)
    assert claim.constant == "epsilon=1, base=two"
    assert [(cell.number, cell.label) for cell in claim.cells] == [(1, "agents=3"), (3, "agents=4")]
    assert [(cell.label, group.constant) for group, cell in dice.cells] == [("", "epsilon=0.25")]


def test_cells_with_equal_parameters_keep_apart(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    (target,) = group_results(make_record(make_result(), make_result(method="black-box")))
    assert [cell.label for _, cell in target.cells] == ["exact", "black-box"]
    (target,) = group_results(make_record(make_result(), make_result()))
    assert [cell.label for _, cell in target.cells] == ["cell 1", "cell 2"]


def test_a_parameter_that_some_cells_lack_varies(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    (target,) = group_results(make_record(make_result(parameters={"n": 1}), make_result(parameters={})))
    assert [cell.label for _, cell in target.cells] == ["n=1", "n=-"]


@pytest.mark.parametrize(
    ("verdict", "measured", "text"),
    [
        (Verdict.REFUTED, Interval.exact(2.1754206556), "epsilon 2.175 > claimed 1"),
        (Verdict.REFUTED, Interval.exact(1.0000004), "epsilon 1.0000004 > claimed 1"),
        (Verdict.REFUTED, Interval.exact(math.inf), "epsilon infinite > claimed 1"),
        (Verdict.REFUTED, Interval(lower=1.2, upper=None), "epsilon at least 1.2 > claimed 1"),
        (Verdict.PROVED, Interval.exact(1.0), "epsilon 1 = claimed 1"),
        (Verdict.PROVED, Interval.exact(1.0000000000000002), "epsilon 1 = claimed 1, up to rounding"),
        (Verdict.CONSISTENT, Interval(lower=0.98, upper=None), "epsilon at least 0.98, claimed 1"),
    ],
)
def test_headline(make_result: Callable[..., Result], verdict: Verdict, measured: Interval, text: str) -> None:
    assert headline(make_result(verdict, measured={"epsilon": measured})) == text


def test_a_detection_limit_is_not_shown_where_something_was_found(make_result: Callable[..., Result]) -> None:
    measured = {
        "epsilon": Interval(lower=1.2, upper=None),
        "detection_limit": Interval.exact(1.4),
        "detection_limit_delta": Interval.exact(1e-4),
    }
    found, nothing = (make_result(verdict, measured=measured) for verdict in (Verdict.REFUTED, Verdict.CONSISTENT))
    assert numbers_line(found) == "epsilon measured at least 1.2, claimed 1; delta claimed 0"
    assert headline(found) == "epsilon at least 1.2 > claimed 1"
    assert "detection limit 1.4; detection limit delta 0.0001" in numbers_line(nothing)
    assert headline(nothing).endswith("; detection limit 1.4; detection limit delta 0.0001")
    assert (
        headline(make_result(Verdict.REFUTED, measured={"detection_limit": Interval.exact(1.4)}, note="why")) == "why"
    )


@pytest.mark.parametrize(
    ("measured", "claimed", "text"),
    [
        (1.5e-13, 1e-13, "epsilon 1.5e-13 = claimed 1e-13, up to rounding"),
        (0.5e-13, 1e-13, "epsilon 5e-14 < claimed 1e-13"),
        (1e-10 * (1 + 5e-10), 1e-10, "epsilon 1e-10 = claimed 1e-10, up to rounding"),
        (5e-14, 0.0, "epsilon 5e-14 = claimed 0, up to rounding"),
    ],
)
def test_what_the_verdict_takes_for_rounding_is_called_so(make_result, measured, claimed, text):
    assert not ApproximateDP(claimed).exceeds(measured)
    values = {"claimed": {"epsilon": claimed}, "measured": {"epsilon": Interval.exact(measured)}}
    assert headline(make_result(Verdict.PROVED, **values)) == text


def test_headline_is_delta_where_delta_decides(make_result: Callable[..., Result]) -> None:
    measured = {"epsilon": Interval.exact(1.2), "delta": Interval.exact(0.02), "tightness": Interval.exact(0.8)}
    result = make_result(Verdict.REFUTED, claimed={"epsilon": 1.0, "delta": 0.01}, measured=measured)
    assert headline(result) == "delta 0.02 > claimed 0.01; tightness 0.8 (claimed over measured)"


def test_a_claimed_quantity_that_was_not_measured_is_kept(make_result: Callable[..., Result]) -> None:
    rows = quantities(make_result(measured={"epsilon": Interval.exact(0.5)}))
    assert [(row.name, row.claimed, row.measured) for row in rows] == [("epsilon", "1", "0.5"), ("delta", "0", "")]


@pytest.mark.parametrize(
    ("verdict", "expected", "text"),
    [
        (Verdict.PROVED, None, ""),
        (Verdict.REFUTED, Verdict.REFUTED, ""),
        (Verdict.REFUTED, None, "refuted; expected any verdict but refuted"),
        (Verdict.PROVED, Verdict.REFUTED, "expected refuted, got proved"),
        (Verdict.INCONCLUSIVE, None, "got inconclusive, which is never a pass"),
        (Verdict.ERROR, Verdict.PROVED, "expected proved, got error: the target or its check raised"),
    ],
)
def test_reason(make_result: Callable[..., Result], verdict: Verdict, expected: Verdict | None, text: str) -> None:
    assert reason(make_result(verdict, expected)) == text


def test_summary_line(make_record: Callable[..., Record], make_result: Callable[..., Result]) -> None:
    results = [make_result(Verdict.PROVED), make_result(Verdict.REFUTED), make_result(Verdict.ERROR)]
    text = "3 results: 1 proved, 1 refuted, 1 error; 1 not as expected, 1 no pass (inconclusive or error)"
    assert summary_line(make_record(*results)) == text
    assert summary_line(make_record(results[0])) == "1 result: 1 proved; nothing unexpected"
    expected = make_record(make_result(Verdict.REFUTED, Verdict.REFUTED))
    assert summary_line(expected) == "1 result: 1 refuted; all as expected"
    assert summary_line(make_record()) == "0 results; nothing was checked"


def test_clean_keeps_text_and_drops_what_steers() -> None:
    assert clean("a ϵ\tb\r\nc") == "a ϵ\tb\nc"
    assert clean("\x1b[31m\x00\udc80\u202e") == r"\u001b[31m\u0000\udc80\u202e"


def test_a_lemmas_two_numbers_stand_together(make_result):
    measured = {"claimed": Interval.exact(4.0), "actual": Interval.exact(5.0), "margin": Interval.exact(-1.0)}
    result = make_result(kind="lemma", claimed={}, measured={**measured, "witnesses": Interval.exact(2.0)})
    assert headline(result) == "actual 5, claimed 4"
    assert also_measured(result) == "witnesses 2"


def test_what_a_rate_found_besides_is_said(make_result):
    measured = {"exponent": Interval.exact(2.0), "exponent_in_the_limit": Interval.exact(1.9)}
    result = make_result(kind="rate", claimed={"exponent": 2.0}, measured=measured)
    assert headline(result) == "exponent in the limit 1.9, claimed 2"
    assert also_measured(result) == "exponent 2"


def test_a_rate_that_may_be_slower_is_claimed_at_most(make_result):
    measured = {
        "exponent": Interval(lower=4.07, estimate=4.21, upper=4.36),
        "exponent_in_the_limit": Interval(lower=2.94, estimate=3.64, upper=4.33),
    }
    fields = {"kind": "rate", "claimed": {"exponent_at_most": 4.0}, "measured": measured}
    assert headline(make_result(**fields)) == "exponent in the limit 3.64 (2.94 to 4.33), claimed at most 4"
    # What refutes is all three exponents; that over all points is held against the claim.
    rows = {row.name: row.claimed for row in quantities(make_result(Verdict.REFUTED, **fields))}
    assert rows == {"exponent": "4", "exponent_in_the_limit": ""}


def test_what_is_not_ok_has_a_next_step(full_record: Record, make_result: Callable[..., Result]) -> None:
    for result in full_record.results:
        assert bool(next_step(result)) <= (not result.ok)
        assert result.ok or next_step(result) or result.note
    undecided = {"verdict": Verdict.INCONCLUSIVE, "samples": 500}
    assert "--samples 5000" in next_step(make_result(**undecided, note="--anything", remedy=Remedy.SAMPLES))
    assert "--seconds" in next_step(make_result(**undecided, remedy=Remedy.TIME))
    for word in ("`features`", "`supports`", "of a program"):
        assert word in next_step(make_result(**undecided, remedy=Remedy.FEATURES))
    assert "exact law" in next_step(make_result(**undecided, remedy=Remedy.EXACT))
    assert next_step(make_result(**undecided, note="take other points")) == ""
    assert "--samples" in next_step(make_result(**undecided))
    assert "--debug" in next_step(make_result(Verdict.ERROR, method="raised"))
    assert "weaker" in next_step(make_result(Verdict.CONSISTENT, Verdict.REFUTED))
    assert 'expect "refuted"' in next_step(make_result(Verdict.REFUTED, Verdict.PROVED))
    assert 'expect "vacuous"' in next_step(make_result(Verdict.VACUOUS, Verdict.PROVED))
    assert "in a plan" in next_step(make_result(Verdict.REFUTED))


@pytest.mark.parametrize(
    ("direction", "measured", "interval", "text"),
    [
        ("at-most", 0.6, Interval.exact(0.6), "must be at most 0.5; is 0.6"),
        ("at-most", 0.6, Interval(lower=0.6, upper=0.8), "must be at most 0.5; is at least 0.6"),
        ("at-least", 0.287, Interval(lower=0.0, upper=0.287), "must be at least 0.5; is at most 0.287"),
        ("equal", 0.7, Interval(lower=0.7, upper=0.8), "must be 0.5; is at least 0.7"),
        ("equal", 0.3, Interval(lower=0.2, upper=0.3), "must be 0.5; is at most 0.3"),
        ("at-most", 0.500000001, Interval.exact(0.500000001), "must be at most 0.5; is 0.500000001"),
    ],
)
def test_a_refuted_line_says_what_must_be_and_what_is(
    make_result: Callable[..., Result], direction: str, measured: float, interval: Interval, text: str
) -> None:
    witness = Counterexample(
        instance="anywhere", quantity="error rate", measured=measured, claimed=0.5, direction=direction
    )
    result = make_result(
        Verdict.REFUTED, kind="utility", claimed={"bound": 0.5}, measured={"value": interval}, witness=witness
    )
    assert headline(result) == text
    assert worked_out(result) == f"error rate {text}"
    assert dict(witness_lines(result))["quantity"] == "error rate"


@pytest.mark.parametrize(
    ("claimed", "decisive"),
    [
        ({"epsilon": 1.0, "delta": 0.0}, "epsilon"),
        ({"epsilon": 1.0, "delta": 0.1}, "delta"),
        ({"rho": 0.5}, "rho"),
        ({"alpha": 2.0, "epsilon": 0.5}, "epsilon"),
    ],
)
def test_the_decisive_number_of_any_guarantee(
    make_result: Callable[..., Result], claimed: dict[str, float], decisive: str
) -> None:
    measured = {name: Interval.exact(value / 2) for name, value in claimed.items() if name != "alpha"}
    assert headline(make_result(claimed=claimed, measured=measured, guarantee="any")).startswith(f"{decisive} ")


def test_the_run_says_how_probable_an_error_is(make_record, make_result):
    sampled = make_result(samples=100, error_probability=1e-6)
    text = provenance(make_record(make_result(), sampled, error_probability=1e-6))
    assert text == "dpaudit 0.1.0, seed 0; error probability 1e-6, summed over the 1 result that sampled"
    assert provenance(make_record(make_result())).endswith("no result is subject to sampling error")


def test_a_pure_guarantee_has_no_delta_and_a_shift_says_what_it_is(make_result: Callable[..., Result]) -> None:
    enclosed = {"rho": Interval(lower=0.5 - 1e-11, upper=0.5 + 1e-11)}
    pure = make_result(guarantee="zero-concentrated-dp", claimed={"rho": 0.5, "delta": 0.0}, measured=enclosed)
    assert [(row.name, row.claimed, row.measured) for row in quantities(pure)] == [("rho", "0.5", "0.5")]
    assert headline(pure) == "rho 0.5 = claimed 0.5, up to rounding"
    approximate = make_result(guarantee="zero-concentrated-dp", claimed={"rho": 0.5, "delta": 1e-6}, measured=enclosed)
    assert {row.name: row.claimed for row in quantities(approximate)} == {"rho": "0.5", "delta": "1e-6"}
    profile = make_result(
        guarantee="privacy-profile",
        claimed={"shift": 0.0, "delta_at_1": 0.1},
        measured={"shift": Interval.exact(0.25)},
    )
    assert [row.label for row in quantities(profile)] == [
        "shift (what must be added to every epsilon of the profile)",
        "delta at 1",
    ]


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("half-noise", False),
        ("audits/mine.py::Count", False),
        ("/srv/code/mine.py::Count", True),
        ("../mine.py::Count", True),
        ("C:/code/mine.py::Count", True),
        ("opendp:mine.py::made", False),
        ("opendp:../mine.py::made", True),
        ("my_package.noise:Count", True),
        ("dpaudit.controls:HalfNoise", False),
        ("opendp:dpaudit.sources.libraries.sweeps.opendp_objects:laplace", False),
    ],
)
def test_the_command_that_verifies_a_witness_names_code_that_may_be_elsewhere(
    make_result: Callable[..., Result], target: str, named: bool
) -> None:
    result = make_result(command=f"dpaudit check {target} --claim x", witness_file="out/witnesses/x.json")
    words = ["dpaudit", "verify", "out/witnesses/x.json", *(["--target", target] if named else [])]
    assert verify_command(result) == shlex.join(words)


@pytest.mark.parametrize(
    ("verdict", "scope", "words"),
    [
        (
            Verdict.CONSISTENT,
            "all vectors; 4 pairs searched, of infinitely or uncountably many",
            "4 pairs searched, of",
        ),
        (Verdict.CONSISTENT, "bits; 30 of 120 pairs searched", "30 of 120 pairs searched"),
        (Verdict.CONSISTENT, "bits; 120 pairs searched", ""),
        (Verdict.CONSISTENT, "the output", ""),
        (Verdict.REFUTED, "all vectors; 4 pairs searched, of infinitely or uncountably many", ""),
    ],
)
def test_what_holds_for_some_pairs_alone_says_for_which(
    make_record: Callable[..., Record], make_result: Callable[..., Result], verdict: Verdict, scope: str, words: str
) -> None:
    result = make_result(verdict=verdict, scope=scope, method="black-box")
    assert pairs_searched(result).startswith(words)
    assert bool(pairs_searched(result)) == bool(words)
    assert ("only: " in render_console(make_record(result))) == bool(words)


def test_a_program_has_no_traceback(make_result: Callable[..., Result]) -> None:
    result = make_result(verdict=Verdict.ERROR, ok=False, note="the program wrote nothing", method="black-box")
    assert next_step(result) == "repeat it with --debug, which shows the traceback"
    result = dataclasses.replace(result, command="dpaudit check --command ./sampler --claim-epsilon 1")
    assert next_step(result) == "mend what the note names"
