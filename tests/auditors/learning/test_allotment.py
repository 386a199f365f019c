"""Events chosen together: against exact probabilities of noise that the auditor is not told."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import dpaudit
from dpaudit.auditors.learning.allotment import allotted
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.scores import ColumnScore
from dpaudit.auditors.learning.selection import select_events
from dpaudit.auditors.learning.smoothing import fitted_curve

EDGES = np.concatenate([[-np.inf], np.linspace(-4, 4, 81), [np.inf]])
SCORES = np.concatenate([[-4.2], (EDGES[1:-2] + EDGES[2:-1]) / 2, [4.2]])


def chosen_from(law, shift, size, *, delta=0.0, final=4.0):
    cells = size * np.stack([np.diff(law.cdf(EDGES)), np.diff(law.cdf(EDGES - shift))])
    total = cells.sum(axis=0)
    occurrences = {True: np.cumsum(total[::-1])[::-1], False: np.cumsum(total)}
    test = FinalTest(dpaudit.ApproximateDP(0.0, delta), int(final * size), 0.1)
    return allotted(fitted_curve(cells, SCORES), occurrences, int(size), test, least=50, most=3)


def probabilities(law, shift, event):
    """Probabilities of a chosen half-line on the input where it is said to be likelier, and on the other."""
    edge = EDGES[event.place] if event.above else EDGES[event.place + 1]
    on_x, on_y = (float(law.sf(edge - at) if event.above else law.cdf(edge - at)) for at in (0.0, shift))
    return (on_y, on_x) if event.reverse else (on_x, on_y)


def expected(law, shift, above, edges, size, part=1.0):
    """Bounds to be expected of half-lines on the side where the first, or the second, input is the likelier one."""
    on_x, on_y = (law.sf(edges - at) if above else law.cdf(edges - at) for at in (0.0, shift))
    p, q = np.maximum(on_x, on_y) * size, np.minimum(on_x, on_y) * size
    return dpaudit.ApproximateDP(0.0).expected(p, q, size, 0.1 * part)


@pytest.mark.parametrize(("name", "shift"), [("laplace", 0.1), ("laplace", 0.5), ("logistic", 0.2), ("norm", 0.1)])
def test_where_the_counts_are_clear_one_event_is_as_good_as_the_best_half_line(name, shift):
    law, size = getattr(stats, name)(), 2e5
    (event,) = chosen_from(law, shift, size)
    assert event.share == 1.0
    edge = np.array([EDGES[event.place] if event.above else EDGES[event.place + 1]])
    (reached,) = expected(law, shift, event.above, edge, 4 * size)
    best = max(expected(law, shift, above, EDGES[1:-1], 4 * size).max() for above in (True, False))
    assert reached > 0.97 * best
    p, q = probabilities(law, shift, event)
    assert p > q


def test_both_directions_share_the_error_probability_where_the_counts_leave_the_direction_open():
    """An effect of less than its error in the samples that choose, but of three errors in the final ones."""
    events = chosen_from(stats.laplace(), 0.04, 500, final=40.0)
    assert len(events) > 1
    assert sum(event.share for event in events) == pytest.approx(1.0)
    assert [event.share for event in events] == sorted((event.share for event in events), reverse=True)
    likelier = [p > q for p, q in (probabilities(stats.laplace(), 0.04, event) for event in events)]
    assert likelier[0]
    assert not all(likelier)


def test_without_any_effect_a_common_event_is_chosen_that_promises_next_to_nothing():
    for event in chosen_from(stats.norm(), 0.0, 2000, final=1.0):
        assert event.expected < 0.01
        assert min(probabilities(stats.norm(), 0.0, event)) > 0.1


@pytest.mark.slow
def test_the_tail_of_normal_noise_is_found_at_every_number_of_samples():
    """The best tail is the rarer the more samples there are; the event reaches 0.9 of the best half-line's bound."""
    guarantee, law = dpaudit.ApproximateDP(0.0, 1e-5), stats.norm()
    for size in (2_000, 20_000, 200_000):
        final = 4 * size
        edges = np.linspace(0.0, 6.0, 601)
        best = guarantee.expected(law.sf(edges - 1) * final, law.sf(edges) * final, final, 0.1).max()
        for seed in range(3):
            rng = np.random.default_rng(seed)
            x, y = rng.normal(size=size), rng.normal(size=size) + 1
            found = select_events(x, y, FinalTest(guarantee, final, 0.1), blindness=False)
            reached = 0.0
            for choice, share in zip(found.choices, found.shares, strict=True):
                if choice.event.score.centre is None:
                    at, side = choice.event.threshold, law.sf if choice.event.above else law.cdf
                    p, q = (np.array([side(at - centre) * final]) for centre in ((1, 0) if choice.reverse else (0, 1)))
                    reached = max(reached, float(guarantee.expected(p, q, final, 0.1 * share)[0]))
            assert reached > 0.9 * best, (size, seed)


@pytest.mark.slow
def test_an_event_that_stands_out_by_luck_does_not_stand_alone():
    """As luck has it now and then, more samples made a bound 0 in this way, with a plain effect in the middle."""
    rng = np.random.default_rng(5)
    x, y = rng.laplace(size=100_000), rng.laplace(size=100_000) + 0.05
    # 30 outputs on one input are far out to both sides.
    y[:30] = 13.0 * np.where(np.arange(30) % 2, 1, -1)
    found = select_events(x, y, FinalTest(dpaudit.ApproximateDP(0.0), 400_000, 0.1), blindness=False)
    common = [
        share
        for choice, share in zip(found.choices, found.shares, strict=True)
        if isinstance(choice.event.score, ColumnScore) and choice.event.score.centre is None and choice.p_hits > 10_000
    ]
    assert max(common, default=0.0) > 0.3


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("above", [False, True])
def test_the_outermost_value_is_an_event_of_its_own(above, reverse):
    # Of 300 values that come equally often, the last one has a log-ratio of 3, and the others at most 0.5.
    log_ratio = np.linspace(-0.5, 0.5, 300) * (1 if above != reverse else -1)
    log_ratio[-1 if above else 0] = -3.0 if reverse else 3.0
    cells = 4000 * np.stack([expit(log_ratio), expit(-log_ratio)])
    total = cells.sum(axis=0)
    occurrences = {True: np.cumsum(total[::-1])[::-1], False: np.cumsum(total)}
    size = int(total.sum() / 2)
    test = FinalTest(dpaudit.ApproximateDP(0.0), size, 0.1)
    curve = fitted_curve(cells, log_ratio, estimates=True)
    chosen = allotted(curve, occurrences, size, test, least=50, most=3)
    assert (chosen[0].place, chosen[0].above, chosen[0].reverse) == (299 if above else 0, above, reverse)
    assert 2.5 < chosen[0].expected < 3
