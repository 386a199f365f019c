"""Outputs of a sampler that depend on each other are refused; independent ones never are, whatever their law."""

import math
import re
from itertools import combinations

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import binom, hypergeom

import dpaudit
from dpaudit.auditors.outputs.column_words import Naming
from dpaudit.auditors.outputs.flat import value_count
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling import order
from dpaudit.auditors.sampling.order import (
    ALARM,
    Oddity,
    _tails,
    check_independent,
    oddest,
    of_alone,
    of_calls,
    of_copies,
    of_counts,
    of_event,
    of_later_call,
    of_neighbours,
)

NEIGHBOURS, CALLS = "depend on those next to them", "depend on the call that they come from"
COPIES = "come again at one distance within a call"


def objects(values):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def structured(rng, size):
    parts = zip(rng.normal(size=size).tolist(), rng.random(size) < 0.2, strict=True)
    return objects([{"count": number, "kind": "ab"[int(kind)]} for number, kind in parts])


LAWS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "heavy tails": lambda rng, size: np.exp(np.abs(rng.standard_cauchy(size)) % 700),
    "ties": lambda rng, size: np.round(rng.laplace(size=size)),
    "numbers that come twice": lambda rng, size: rng.integers(400, size=size),
    "coins": lambda rng, size: rng.random(size) < 0.5,
    "rare events": lambda rng, size: rng.random(size) < 0.01,
    "two rare values": lambda rng, size: rng.choice(3, size=size, p=[0.98, 0.01, 0.01]),
    "infinities": lambda rng, size: rng.choice([-np.inf, np.inf, 0.5, 1.5], size=size),
    "one value": lambda rng, size: np.zeros(size),
    "rows": lambda rng, size: rng.normal(size=(size, 1)) + rng.normal(size=(size, 3)),
    "complex": lambda rng, size: rng.normal(size=size) + 1j * rng.normal(size=size),
    "texts": lambda rng, size: objects(["abc"[i] for i in rng.integers(3, size=size)]),
    "structures": structured,
}

SIZES = {"one call": [400], "few": [64, 40], "many calls": [50] * 8}


def not_too_often(chances, level):
    """Whether so many fall below a level by chance, with probability above 1e-6 were they uniform."""
    return binom.sf(np.count_nonzero(np.array(chances) <= level) - 1, len(chances), level) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=list(SIZES))
@pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))
def test_independent_outputs_look_no_odder_than_chance_has_it(law, sizes):
    first, later = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        oddity, middles = of_calls([law(rng, size) for size in sizes])
        first.append(oddity.corrected)
        later.append(of_later_call(Outputs(law(rng, 200)), middles).corrected)
    for level in (0.001, 0.01, 0.05, 0.2):
        assert not_too_often(first, level)
        assert not_too_often(later, level)


def worst(chances):
    """The largest factor by which values fall below a level more often than the level says; all are equally likely."""
    return max(np.mean(np.array(chances) <= chance) / chance for chance in chances)


@pytest.mark.parametrize("ones", [1, 2, 5, 9, 10])
def test_chances_of_runs_are_right_over_all_orders(ones):
    chances = []
    for chosen in combinations(range(11), ones):
        kinds = np.zeros(11, dtype=bool)
        kinds[list(chosen)] = True
        chances.append(of_neighbours(kinds).corrected)
    assert worst(chances) <= 1 + 1e-9


@pytest.mark.parametrize("hits", [1, 7, 20, 39])
def test_chances_of_calls_are_right_over_all_orders(hits):
    law = hypergeom(40, hits, 18)
    counts = range(max(0, hits - 22), min(hits, 18) + 1)
    chances = np.array([of_counts([(hits - count, 22), (count, 18)]).corrected for count in counts])
    for chance in chances:
        assert law.pmf(counts)[chances <= chance].sum() <= chance * (1 + 1e-9)


@pytest.mark.parametrize("looks", [1, 3])
def test_chances_of_outputs_drawn_alone_are_right(looks):
    law = hypergeom(60, 21, 20)
    counts = range(21)
    chances = np.array([of_alone((21 - count, 40), (count, 20), looks).corrected for count in counts])
    for chance in chances[chances < 1]:
        assert looks * law.pmf(counts)[chances <= chance].sum() <= chance * (1 + 1e-9)


@pytest.mark.slow
def test_tails_bound_those_of_the_hypergeometric_law():
    for total, good, drawn in [(40, 13, 20), (4000, 2000, 2000), (100_000, 70, 30_000)]:
        for count in range(max(0, good + drawn - total), min(good, drawn) + 1, max(1, good // 50)):
            lower, upper = _tails(count, total, good, drawn)
            law = hypergeom(total, good, drawn)
            for bound, exact in ((lower, law.cdf(count)), (upper, law.sf(count - 1))):
                assert bound >= exact * (1 - 1e-6)
                # Where anything is refused, the bound is hardly above the tail.
                assert exact == 0 or exact > 1e-7 or bound < 1.5 * exact


def test_the_oddest_is_the_same_however_measures_are_grouped():
    found = [Oddity(0.5, 2), Oddity(0.01, 1, "calls"), Oddity(), Oddity(0.2, 4)]
    whole = oddest(found)
    assert whole == oddest([oddest(found[:2]), oddest(found[2:])]) == Oddity(0.01, 7, "calls")
    assert whole.corrected == pytest.approx(0.07)
    assert oddest([]).corrected == Oddity().corrected == 1


@pytest.mark.slow
@pytest.mark.parametrize("copies", [2, 3, 7])
def test_numbers_that_come_again_in_random_order_are_no_odder_than_chance_has_it(copies):
    values = np.repeat(np.arange(60), copies)
    found = [of_copies(np.random.default_rng(seed).permutation(values)).corrected for seed in range(2000)]
    assert all(not_too_often(found, level) for level in (0.01, 0.05, 0.2))


@pytest.mark.parametrize("copies", [2, 3, 7])
def test_numbers_that_come_again_at_one_distance(copies):
    values = np.random.default_rng(0).normal(size=5000)
    assert of_copies(np.tile(values, copies)).corrected < ALARM
    assert of_copies(values).corrected == 1.0
    # Forty pairs among numbers that come once.
    assert of_copies(np.concatenate([values, values[:40]])).corrected < ALARM


def test_calls_that_differ():
    assert of_counts([(500, 1000), (520, 1000), (480, 1000)]).corrected > 0.1
    assert of_counts([(500, 1000), (700, 1000), (500, 1000)]).corrected < ALARM
    assert of_counts([(0, 10), (10, 10)]) == Oddity()


def alternating(rng, size):
    return np.where(np.arange(size) % 2, 1, -1) * np.abs(rng.normal(size=size))


def half_sorted(rng, size):
    values = np.round(10 * rng.normal(size=size))
    values[size // 2 :].sort()
    return values


def slow_drift(rng, size):
    steps = np.repeat(rng.normal(size=-(-size // 500)), 500)[:size]
    return rng.normal(size=size) + 0.7 * steps


def bursts(rng, size):
    """Rare large values that come ten at a time, of which no middle knows."""
    return rng.normal(size=size) + 100 * np.repeat(rng.random(-(-size // 10)) < 0.03, 10)[:size]


def in_structures(rng, size):
    return [{"count": count, "kind": "a"} for count in lfilter([0.1], [1, -0.995], rng.normal(size=size)).tolist()]


DEPENDENT = {
    "chain": (lambda rng, size: lfilter([0.1], [1, -0.995], rng.normal(size=size)), NEIGHBOURS),
    "blocks": (lambda rng, size: np.repeat(rng.laplace(size=-(-size // 10)), 10)[:size], NEIGHBOURS),
    "blocks of coins": (lambda rng, size: np.repeat(rng.random(-(-size // 10)) < 0.5, 10)[:size], NEIGHBOURS),
    "written twice": (lambda rng, size: np.repeat(rng.laplace(size=-(-size // 2)), 2)[:size], COPIES),
    "alternating": (alternating, NEIGHBOURS),
    "sorted whole numbers": (lambda rng, size: np.sort(rng.integers(0, 50, size)), NEIGHBOURS),
    "half sorted": (half_sorted, NEIGHBOURS),
    "slow drift": (slow_drift, NEIGHBOURS),
    "rare values in bursts": (bursts, NEIGHBOURS),
    "a column": (lambda rng, size: np.column_stack([rng.laplace(size=size), alternating(rng, size)]), NEIGHBOURS),
    "structures": (in_structures, NEIGHBOURS),
    "a constant of the call, in structures": (
        lambda rng, size: [(v, "a") for v in (3 * rng.laplace() + rng.normal(size=size)).tolist()],
        CALLS,
    ),
    "noise used twice": (lambda rng, size: np.tile(rng.laplace(size=-(-size // 2)), 2)[:size], COPIES),
    "a column used twice": (
        lambda rng, size: np.column_stack([rng.laplace(size=size), np.tile(rng.laplace(size=-(-size // 2)), 2)[:size]]),
        COPIES,
    ),
    "a pool used twenty times": (lambda rng, size: np.tile(rng.laplace(size=-(-size // 20)), 20)[:size], COPIES),
    "a constant of the call": (lambda rng, size: 3 * rng.laplace() + rng.normal(size=size), CALLS),
    "a probability of the call": (lambda rng, size: rng.integers(4, size=size) * 2 + rng.random() * 5 // 1, CALLS),
}


@pytest.mark.slow
@pytest.mark.parametrize(("sample", "seen"), DEPENDENT.values(), ids=list(DEPENDENT))
def test_outputs_that_depend_on_each_other_are_refused(sample, seen):
    with pytest.raises(dpaudit.CheckError, match=rf"chained: outputs of `sample` on the input [01] {seen}"):
        dpaudit.epsilon_lower_bound(
            lambda data, size, rng: sample(rng, size), 0, 1, samples=20_000, seed=1, name="chained"
        )


def complex_numbers(rng, size):
    made = rng.normal(size=(size, 3)) + 1j * rng.normal(size=(size, 3))
    return made.real + 1j * np.where(np.arange(3) == 2, np.sort(made.imag, axis=0), made.imag)


def a_grid(rng, size):
    made = rng.normal(size=(size, 2, 3))
    made[:, 1, 0] = np.repeat(made[: -(-size // 10), 1, 0], 10)[:size]
    return made


@pytest.mark.parametrize(
    ("sample", "part"),
    [
        (a_grid, "output[1][0]"),
        (complex_numbers, "output[2].imag"),
        (lambda rng, size: [{"id": i, "x": x} for i, x in enumerate(rng.normal(size=size).tolist())], "output['id']"),
    ],
    ids=["grid", "complex", "records"],
)
def test_the_part_that_shows_it_is_named(sample, part):
    rng = np.random.default_rng(5)
    made = np.array(sample(rng, 3000))
    oddity, middles = of_calls([made], naming=Naming(made.shape[1:], made.dtype.kind == "c"))
    assert oddity.part == part
    assert oddity.corrected < ALARM
    assert len(middles.names) == len(middles.middles)
    with pytest.raises(dpaudit.CheckError, match=re.escape(f"drawn in pairs; it shows in {part};")):
        check_independent(oddity, "chained", 0)


def test_the_part_that_a_later_call_is_odd_in_is_named():
    rng = np.random.default_rng(6)
    _, middles = of_calls([rng.normal(size=(3000, 3))])
    later = of_later_call(Outputs(rng.normal([0, 2, 0], size=(1000, 3))), middles)
    assert (later.what, later.part) == ("calls", "output[1]")
    _, middles = of_calls([rng.normal(size=3000)])
    assert of_later_call(Outputs(rng.normal(size=1000) + 2), middles).part == ""


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"stop_early": True}, {"seconds": 20}], ids=["early", "deadline"])
def test_outputs_are_looked_at_whatever_ends_sampling(options):
    def chain(data, size, rng):
        return 5 * data + lfilter([0.1], [1, -0.9], rng.normal(size=size))

    with pytest.raises(dpaudit.CheckError, match=NEIGHBOURS):
        dpaudit.epsilon_lower_bound(chain, 0, 1, samples=20_000, **options)


@pytest.mark.slow
def test_calls_of_the_final_sample_are_compared_where_columns_say_nothing():
    """An event of texts is rarer in some calls than in others; one call on each input has chosen it."""

    def sample(data, size, rng):
        share = 0.3 * rng.random()
        return ["b" if inside else "a" for inside in (rng.random(size) < share).tolist()]

    with pytest.raises(dpaudit.CheckError, match=CALLS):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=200_000, seed=3)


def scale_of_the_call(rng, size):
    return rng.normal(size=size) * math.exp(0.5 * rng.normal())


def key_of_the_call(rng, size):
    share = rng.integers(0, 256, size)
    return np.column_stack([share, share ^ rng.integers(0, 256)])


def correlation_of_the_call(rng, size):
    first, second, weight = rng.normal(size=size), rng.normal(size=size), rng.uniform(-0.9, 0.9)
    return np.column_stack([first, weight * first + math.sqrt(1 - weight**2) * second])


def name_of_the_call(rng, size):
    name = f"{rng.integers(10**6)}"
    return [{"noisy": number, "call": name} for number in rng.normal(size=size).tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("sample", [scale_of_the_call, key_of_the_call, correlation_of_the_call, name_of_the_call])
def test_what_a_call_decides_is_noticed_although_no_middle_moves(sample):
    found = []
    for seed in range(5):
        try:
            bound = dpaudit.epsilon_lower_bound(
                lambda data, size, rng: sample(rng, size), 0, 1, samples=20_000, confidence=0.99, seed=seed
            )
            found.append(bound.epsilon)
        except dpaudit.CheckError as error:
            found.append(str(error))
    assert all(each == 0 or CALLS in str(each) for each in found)


def test_an_event_that_was_chosen_may_come_somewhat_more_often_later():
    assert of_event((0, 2000), (20, 16_000)).corrected == 1.0
    assert of_event((300, 2000), (2900, 16_000)).corrected == 1.0
    assert of_event((300, 2000), (4800, 16_000)).corrected < ALARM
    assert of_event((0, 2000), (400, 16_000)).corrected < ALARM


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))
def test_equal_streams_for_both_inputs_are_no_dependence(law):
    """One vectorised draw serves both inputs, as with common random numbers, and no audit refuses it."""

    def sample(data, size, rng):
        drawn = law(rng, size)
        return drawn if drawn.dtype.kind in "Ob" else drawn + data * 0.1

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000)
    assert math.isfinite(bound.epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrap",
    [list, set, frozenset, lambda row: {"n": 1, "members": set(row)}, lambda row: (0, frozenset(row), 1)],
    ids=["lists", "sets", "frozensets", "dicts", "tuples"],
)
def test_of_large_structures_fewer_are_looked_at(wrap):
    """4,000 sets of 500 numbers took three seconds on each input, also under a deadline of five."""
    rows = np.random.default_rng(1).integers(0, 1000, (2000, 500)).tolist()
    calls = [np.empty(1000, dtype=object) for _ in range(2)]
    for place, row in enumerate(rows):
        calls[place // 1000][place % 1000] = wrap(row)
    _, middles = of_calls(calls, value_count(calls[0][0]))
    assert middles.middles
    # Distinct ones among 500 numbers below 1,000 are 394 in the mean.
    assert max(middle.outputs for middle in middles.middles) <= 200_000 / 350 / 2


@pytest.mark.parametrize(("seconds", "looked_at"), [(0.0, 0), (0.3, 100), (2.0, 400), (math.inf, 2000)])
def test_no_more_structures_are_looked_at_than_there_is_time_for(monkeypatch, seconds, looked_at):
    """A look at 100 sets takes half a second."""
    monkeypatch.setattr(order, "_seconds_each", lambda outputs: 0.005)
    rows = np.random.default_rng(1).integers(0, 5, (2000, 3)).tolist()
    outputs = np.empty(2000, dtype=object)
    outputs[:] = [frozenset(row) for row in rows]
    _, middles = of_calls([outputs], seconds=seconds)
    assert {middle.outputs for middle in middles.middles} == ({looked_at // 2} if looked_at else set())


def test_the_part_that_comes_again_is_named_in_rows_of_complex_numbers():
    def sample(data, size, rng):
        rows = rng.normal(size=(size, 6)) + 1j * rng.normal(size=(size, 6))
        rows.imag[size // 2 : 2 * (size // 2), 2] = rows.imag[: size // 2, 2]
        return rows

    with pytest.raises(dpaudit.CheckError, match=r"come again at one distance .* it shows in output\[2\]\.imag;"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000)


def frame(values):
    return pytest.importorskip("pandas").DataFrame({"count": values})


WRITTEN = {
    "records of a frame": lambda values: frame(values).to_dict("records"),
    "tuples of a frame": lambda values: list(frame(values).itertuples(index=False, name=None)),
    "texts of an array": lambda values: [f"count={value}" for value in np.array(values)],
    "dicts of an array": lambda values: [{"count": value} for value in np.array(values)],
    "a series": lambda values: frame(values)["count"].tolist(),
}


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("written", WRITTEN.values(), ids=list(WRITTEN))
def test_a_value_that_decides_how_all_outputs_of_its_call_are_written(written, early):
    def sample(data, size, rng):
        counts = rng.geometric(0.4, size).tolist()
        rare = rng.random(size) < (0.001 if data else 0)
        return written([0.5 if is_rare else count for is_rare, count in zip(rare.tolist(), counts, strict=True)])

    with pytest.raises(dpaudit.CheckError, match=r"depend on|Write each output on its own"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, delta=0.002, claimed=1.0, samples=20_000, stop_early=early)


def test_what_outputs_drawn_alone_show_is_named():
    def sample(data, size, rng):
        return np.full(size, size > 1 and data > 0) | (rng.random(size) < 0.3)

    with pytest.raises(dpaudit.CheckError, match=r"how many of them a call draws.*Write each output on its own"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=4000)


def squeezed(data, size, rng):
    return np.squeeze(data + rng.laplace(size=size))


def failing(data, size, rng):
    if size == 1:
        raise ValueError("too few")
    return data + rng.laplace(size=size)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("sample", [squeezed, failing])
def test_a_target_that_fails_where_it_draws_one_output_is_judged_by_the_others(sample, early):
    assert dpaudit.epsilon_lower_bound(sample, 0, 3, samples=4000, stop_early=early).epsilon > 0.5


def test_a_slow_sampler_is_called_for_single_outputs_only_for_a_second(monkeypatch):
    now, sizes = [0.0], []

    def sample(data, size, rng):
        now[0] += 0.3
        sizes.append(size)
        return data + rng.laplace(size=size)

    monkeypatch.setattr("dpaudit.auditors.blackbox.alone.clock", lambda: now[0])
    assert dpaudit.epsilon_lower_bound(sample, 0, 3, samples=4000).epsilon > 2
    assert sizes.count(1) == 4
