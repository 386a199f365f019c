"""``--seconds`` counts from the start and holds, whatever a target does."""

import time

import pytest

import dpaudit
from dpaudit.runner import Request, outcome
from dpaudit.runner.check import run_request

ENDLESS = '''\
import time

import dpaudit

{top}

class Slow(dpaudit.Mechanism):
    """A mechanism that takes its time."""

    number: int = 0

    def sample(self, data, size, rng):
        if self.number:
            while True:
                pass
        return rng.integers(0, 2, size)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="own", pairs=[(0, 1)], complete=True, scope="the bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="slow.privacy", statement="It is private.", epsilon=1.0)]
'''

MARGIN = 25.0
"""What a loaded machine takes to end processes and write a record."""

GRACE = 1.0
"""What is left to audits to end with what they have, in place of 5 seconds."""


@pytest.fixture
def slow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(top=""):
        (tmp_path / "slow.py").write_text(ENDLESS.format(top=top), encoding="utf-8")
        return "slow.py"

    return write


@pytest.fixture
def grace(monkeypatch):
    assert outcome.GRACE > GRACE
    monkeypatch.setattr(outcome, "GRACE", GRACE)


@pytest.mark.slow
@pytest.mark.usefixtures("grace")
def test_an_import_that_never_ends_is_ended(slow):
    started = time.monotonic()
    with pytest.raises(dpaudit.DpauditError, match="before the targets were loaded") as raised:
        run_request(Request(targets=[slow("while True: pass")]), seconds=0.5)
    assert type(raised.value).__name__ == "TimeLimitError"
    assert time.monotonic() - started < 0.5 + GRACE + MARGIN


@pytest.mark.slow
@pytest.mark.usefixtures("grace")
def test_a_call_that_never_ends_is_ended_and_the_other_results_stand(slow):
    started = time.monotonic()
    request = Request(targets=[slow()], set={"number": [0, 1]}, samples=2000)
    record = run_request(request, seconds=6.0, workers=2).record
    assert time.monotonic() - started < 6.0 + GRACE + MARGIN
    assert [result.verdict for result in record.results] == ["consistent", "inconclusive"]
    assert "after the time that --seconds allows" in record.results[1].note
    assert record.status == 3


@pytest.mark.slow
def test_the_time_counts_from_the_start(slow):
    request = Request(targets=[slow("time.sleep(1.2)")], samples=2000)
    record = run_request(request, seconds=1.0).record
    assert record.summary == {"inconclusive": 1}
