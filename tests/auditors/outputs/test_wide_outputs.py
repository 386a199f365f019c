"""Outputs of many numbers: memory holds so many numbers, and a result says where that is fewer outputs than wanted."""

import pytest

import dpaudit
from dpaudit.auditors import Streams
from dpaudit.auditors.blackbox import audit as blackbox
from dpaudit.auditors.blackbox import choosing
from dpaudit.auditors.sampling import sampler
from dpaudit.auditors.sampling.sampler import Sampler


class Wide(dpaudit.Mechanism):
    """A vector with Gaussian noise, whose first entry holds the bit."""

    claimed: float = 0.5

    def sample(self, data, size, rng):
        found = rng.standard_normal((size, 4))
        found[:, 0] += data / 2
        return found

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="one bit")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="wide.p", statement="It is private.", epsilon=self.claimed, delta=1e-3)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "limit"),
    [
        (1, 4_000_000),
        (4, 2_000_000),
        (100, 200_000),
        (167, 200_000),
        # Of wider outputs 2^25 numbers, 256 MiB.
        (168, 199_728),
        (1000, 33_554),
        (100_000, 10_000),
    ],
)
def test_as_many_outputs_choose_the_event_as_memory_holds(width, limit):
    drawn = Sampler(lambda data, size, rng: rng.random((size, width)), "wide", Streams(1))
    drawn.check_deterministic(0)
    assert drawn.selection_limit == limit
    assert limit * width * 8 <= 2**28 or limit == 10_000


@pytest.mark.slow
@pytest.mark.parametrize("claimed", [0.5, 4.0])
def test_an_audit_keeps_what_fits_and_says_so(monkeypatch, claimed):
    held = []
    select_events = choosing.select_events

    def noted(x, y, *rest, **options):
        held.append((len(x), len(y)))
        return select_events(x, y, *rest, **options)

    monkeypatch.setattr(choosing, "select_events", noted)
    (whole,) = dpaudit.check(Wide(claimed=claimed), samples=200_000, method="black-box").results
    assert "held in memory" not in whole.note
    assert held[0][0] > 10_000
    monkeypatch.setattr(sampler, "_MOST_HELD_VALUES", 1000)
    held.clear()
    (fitting,) = dpaudit.check(Wide(claimed=claimed), samples=200_000, method="black-box").results
    assert held == [(10_000, 10_000)]
    assert fitting.verdict == whole.verdict == ("refuted" if claimed < 1 else "consistent")
    assert fitting.samples == whole.samples
    told = "10,000 outputs per input chose the event, for no more of this width are held in memory"
    assert fitting.note.endswith(told)


@pytest.mark.slow
def test_the_search_of_a_pair_holds_no_more_than_fits(monkeypatch):
    spent = []
    find_pair = blackbox.find_pair

    def noted(*given, samples, **options):
        spent.append(samples)
        return find_pair(*given, samples=samples, **options)

    monkeypatch.setattr(blackbox, "find_pair", noted)
    for held in (2**25, 1000):
        monkeypatch.setattr(sampler, "_MOST_HELD_VALUES", held)
        dpaudit.check(Wide(claimed=4.0), samples=200_000, method="black-box")
    assert spent[0] > spent[1] == 10_000
