"""`dpaudit.check`: equal records for equal seeds, instances, budgets, interruptions."""

import dataclasses
import json
import subprocess
import sys
import time

import pytest

import dpaudit
from dpaudit.claims.record import Partial
from dpaudit.registry import find_targets
from dpaudit.runner import Request, build_cells
from dpaudit.runner.check import run_request

pytestmark = pytest.mark.slow


def _same(record):
    return dataclasses.replace(record, environment={}, timing={}).to_json()


def test_equal_seeds_give_equal_records_on_any_number_of_workers(mixed):
    sampled = {"claims": ["mixed.box"], "set": {"broken": [False, True]}, "samples": 4000}
    others = {"claims": ["mixed.exact", "mixed.good", "mixed.lemma", "mixed.false"], "samples": 300}
    for options in (sampled, others):
        one, two = (dpaudit.check(mixed, **options, seed=7, workers=workers) for workers in (1, 2))
        assert _same(one) == _same(two)
        assert one.results == two.results
        other = dpaudit.check(mixed, **options, seed=8)
        assert _same(other) != _same(one)
        assert [result.measured for result in other.results] != [result.measured for result in one.results]


def test_a_result_does_not_depend_on_what_else_is_checked(mixed):
    options = {"samples": 1000, "confidence": 0.99}
    alone = dpaudit.check(mixed, claims=["mixed.lemma"], **options).results[0]
    beside = next(r for r in dpaudit.check(mixed, **options).results if r.claim == "mixed.lemma")
    assert alone.measured == beside.measured


def test_every_result_has_the_confidence_that_was_asked_for(mixed):
    record = dpaudit.check(mixed, samples=2000, confidence=0.99)
    assert {result.error_probability for result in record.results} == {None, 0.01}
    assert "--confidence 0.99" in record.results[0].command


def test_features_imply_samples_and_the_command_repeats_them(mixed, tmp_path):
    (tmp_path / "line.py").write_text(
        """
import dpaudit

class Line(dpaudit.Mechanism):
    '''Laplace noise that is too small, with its law.'''

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=0.5, size=size)

    def law(self, data):
        return dpaudit.LaplaceLaw(data, 0.5)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="own", pairs=[(0.0, 1.0)], complete=True, scope="two numbers")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="line.privacy", statement="It is private.", epsilon=1.0)]
""",
        encoding="utf-8",
    )
    options = {"samples": 200_000, "seed": 2}
    (exact,) = dpaudit.check("line.py", **options, stop_early=True).results
    assert (exact.method, exact.samples) == ("exact", 0)
    results = [
        dpaudit.check("line.py", **options, stop_early=early, features="float-bits").results[0]
        for early in (False, True)
    ]
    assert [result.method for result in results] == ["black-box", "black-box"]
    assert [result.verdict for result in results] == ["refuted", "refuted"]
    assert results[1].samples < results[0].samples == 400_000
    assert "--stop-early --features float-bits" in results[1].command
    assert "sampling stopped there" in results[1].note
    target = build_cells(Request(targets=["line.py"]))[0].reference.load()
    of_instance = dpaudit.check(target(), **options, stop_early=True, features="float-bits").results[0]
    # An instance may hold what no key knows of.
    assert (of_instance.key, of_instance) == ("", dataclasses.replace(results[1], key=""))
    with pytest.raises(dpaudit.ParameterError, match=r"float-bits.*not by exact"):
        dpaudit.check("line.py", method="exact", features="float-bits")


def test_a_record_reads_back_to_the_byte(mixed):
    text = dpaudit.check(mixed, set={"broken": True}, samples=2000).to_json()
    assert dpaudit.Record.from_json(text).to_json() == text


def test_an_instance_is_checked_as_it_is(mixed):
    reference = dpaudit.check(mixed, samples=2000).systems
    assert set(reference) == {"mixed"}
    target = build_cells(Request(targets=[mixed]))[0].reference.load()
    record = dpaudit.check(target(epsilon=0.5), claims=["mixed.exact"])
    (result,) = record.results
    assert result.verdict == "proved"
    assert result.parameters == {"epsilon": 0.5, "broken": False}
    assert result.measured["epsilon"].upper == pytest.approx(0.5)
    with pytest.raises(dpaudit.TargetError, match=r"did you mean 'mixed.exact'"):
        dpaudit.check(target(), claims=["mixed.exat"])
    with pytest.raises(dpaudit.ParameterError, match="parameters already"):
        dpaudit.check(target(), set={"epsilon": 2.0})


@pytest.mark.parametrize("target", [dpaudit.Mechanism, 5, None, [dpaudit.Mechanism], b"ldp-kwiksort-rr", {"a": 1}])
def test_what_is_no_target_is_told_so(target):
    with pytest.raises(
        dpaudit.ParameterError, match=r"give an instance|must be an instance of a mechanism, or one name"
    ):
        dpaudit.check(target)
    with pytest.raises(dpaudit.ParameterError, match="path must be that of a witness file"):
        dpaudit.verify(target)


def test_the_command_of_a_result_finds_the_class_of_a_script(tmp_path, monkeypatch):
    (tmp_path / "audits").mkdir()
    (tmp_path / "audits" / "counts.py").write_text(
        """import dpaudit


class NoisyCount(dpaudit.Mechanism):
    \"\"\"A count.\"\"\"

    def sample(self, data, size, rng):
        return rng.laplace(data, 1.0, size)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a count")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="count.privacy", statement="The count is 2-DP.", epsilon=2.0)]


if __name__ == "__main__":
    print(dpaudit.check(NoisyCount(), samples=2000).results[0].command)
"""
    )
    monkeypatch.chdir(tmp_path)
    command = subprocess.check_output([sys.executable, "audits/counts.py"], text=True).split()
    assert command[:3] == ["dpaudit", "check", "audits/counts.py::NoisyCount"]
    (result,) = json.loads(
        subprocess.check_output([sys.executable, "-m", "dpaudit", *command[1:], "--format", "json"], text=True)
    )["results"]
    assert (result["claim"], result["verdict"], result["command"]) == ("count.privacy", "consistent", " ".join(command))


def test_a_class_made_on_the_spot_is_checked():
    class Leak(dpaudit.Mechanism):
        """The input itself."""

        def sample(self, data, size, rng):
            return [data] * size

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs(["a", "b"], scope="two letters")

        def claims(self):
            return [dpaudit.PrivacyClaim(id="leak.privacy", statement="It is private.", epsilon=1.0)]

    (result,) = dpaudit.check(Leak(), samples=5000).results
    assert result.verdict == "refuted"
    assert result.witness is not None
    assert {result.witness.data, result.witness.neighbour} == {"a", "b"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 0}, "samples"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"seconds": 0.0}, "seconds"),
        ({"workers": 0}, "workers"),
        ({"seed": -1}, "seed"),
        ({"seed": None}, "seed must be a whole number"),
        ({"seed": "1"}, "seed must be a whole number"),
        ({"stop_early": "no"}, "stop_early must be True or False"),
        ({"claims": "mixed.exact"}, "claims must be a list of claim ids"),
        ({"method": "magic"}, "method"),
        ({"features": "magic"}, "features"),
        ({"method": "likelihood", "features": "float-bits"}, "likelihood"),
        ({"set": {"epsilo": 1.0}}, "epsilo"),
        ({"claims": ["mixed.exat"]}, "mixed.exact"),
        ({"set": {"epsilon": float("inf")}}, "epsilon"),
    ],
)
def test_options_out_of_range(mixed, options, words):
    with pytest.raises(dpaudit.DpauditError, match=words):
        dpaudit.check(mixed, **options)


def test_an_interrupt_keeps_the_results_so_far(mixed):
    seen = []

    def progress(cell, result):
        seen.extend([] if result is None else [result.claim])
        if len(seen) == 2:
            raise KeyboardInterrupt

    run = run_request(Request(targets=[mixed], samples=2000), begin=lambda prepared: progress)
    assert run.interrupted
    assert [result.claim for result in run.record.results] == seen == ["mixed.exact", "mixed.box"]
    assert run.record.partial == Partial(cells=5, results=2)
    assert run.record.status == 130


def test_a_run_that_was_interrupted_after_its_last_result_is_whole(mixed):
    seen = []

    def progress(cell, result):
        seen.extend([] if result is None else [result.claim])
        if len(seen) == 5:
            raise KeyboardInterrupt

    run = run_request(Request(targets=[mixed], samples=2000), begin=lambda prepared: progress)
    assert run.interrupted
    assert run.record.partial is None
    assert run.record.reproducible() == run_request(Request(targets=[mixed], samples=2000)).record.reproducible()


def test_a_record_of_a_part_does_not_pass_for_the_whole(mixed, monkeypatch):
    interrupted = run_request(Request(targets=[mixed], samples=2000), begin=lambda prepared: _interrupt)
    assert interrupted.interrupted
    monkeypatch.setattr(sys.modules["dpaudit.runner.check"], "run_request", lambda *_, **__: interrupted)
    with pytest.raises(KeyboardInterrupt):
        dpaudit.check(mixed, samples=2000)


def _interrupt(cell, result):
    raise KeyboardInterrupt


def test_cells_after_the_deadline_are_inconclusive(mixed):
    request = Request(targets=[mixed], samples=2000)
    for workers in (1, 2):
        run = run_request(request, seconds=1e-9, workers=workers)
        record, interrupted = run.record, run.interrupted
        assert not interrupted
        assert record.summary == {"inconclusive": 5}
        assert record.status == 3
        assert [result.kind for result in record.results] == ["privacy", "privacy", "utility", "lemma", "lemma"]


def test_seconds_leave_what_was_done(mixed, monkeypatch):
    """With the first result the time is over: this process's clock is set to the deadline."""
    request = Request(targets=[mixed], samples=2000, set={"broken": [False, True]})
    now = time.time
    started = now()

    def progress(cell, result):
        if result is not None:
            monkeypatch.setattr(time, "time", lambda: max(now(), started + 600))

    run = run_request(request, seconds=600, started=started, begin=lambda prepared: progress)
    verdicts = [result.verdict for result in run.record.results]
    assert len(verdicts) == 10
    assert verdicts[0] == "proved"
    assert set(verdicts[2:]) == {"inconclusive"}


def test_seconds_count_for_an_instance_too(mixed):
    (reference,) = find_targets(f"{mixed}::Mixed")
    record = dpaudit.check(reference.load()(), samples=2000, seconds=1e-9)
    assert record.summary == {"inconclusive": 5}


def test_progress_is_told_of_every_cell_that_begins_and_of_every_result(mixed):
    seen = []

    def progress(cell, result):
        seen.append((cell.claim, None if result is None else result.claim))

    run_request(Request(targets=[mixed], samples=2000), workers=2, begin=lambda prepared: progress)
    ends = [each for each in seen if each[1] is not None]
    assert len(ends) == 5
    assert all(cell == result for cell, result in ends)
    assert all(seen.index((cell, None)) < seen.index((cell, cell)) for cell, _ in ends)
    assert len(seen) == 10


def test_outcomes_that_cannot_be_pickled_leave_a_worker_as_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.py").write_text(
        """
import dpaudit

class Odd(dpaudit.Mechanism):
    '''Inputs that are functions.'''
    number: int = 0

    def sample(self, data, size, rng):
        return [data()] * size

    def neighbours(self):
        one, two = (lambda: 1), (lambda: 2)
        return dpaudit.Neighbouring(relation="own", pairs=[(one, two)], complete=True, scope="two functions")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="odd.privacy", statement="s", epsilon=1.0)]
""",
        encoding="utf-8",
    )
    record = dpaudit.check("odd.py", set={"number": [1, 2]}, samples=5000, workers=2)
    assert record.summary == {"refuted": 2}
    assert "lambda" in record.results[0].witness.data


def test_a_target_that_changes_during_the_run_is_audited_as_it_was(mixed, tmp_path):
    text = (tmp_path / mixed).read_text(encoding="utf-8")

    def change(prepared):
        (tmp_path / mixed).write_text(text + "\nraise ValueError('changed')\n", encoding="utf-8")

    whole = run_request(Request(targets=[mixed], samples=2000)).record
    run = run_request(Request(targets=[mixed], samples=2000), workers=2, begin=change)
    assert run.record.results == whole.results


def test_summary_counts_and_json(mixed):
    record = dpaudit.check(mixed, samples=2000, claims=["mixed.exact", "mixed.false"])
    raw = json.loads(record.to_json())
    assert raw["summary"] == {"proved": 1, "refuted": 1}
    assert raw["schema"] == "dpaudit.record/2"
    assert record.status == 1
