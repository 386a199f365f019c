"""The neighbour search finds the pair that a noisy prediction is largest for, within its budget."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import strategies

import dpaudit
from dpaudit.auditors import Streams
from dpaudit.auditors.blackbox.search import ChosenPair, find_pair
from dpaudit.claims.inputs import pair_key

pytestmark = pytest.mark.slow

SEEDS = range(12)


class Predictions:
    """A prediction with the noise of so many samples, and what was asked of it."""

    def __init__(self, value, seed=0, noise=0.5):
        self.value, self.seed, self.noise = value, seed, noise
        self.calls = []

    def __call__(self, pair, samples, purpose):
        self.calls.append((pair, samples, purpose))
        rng = Streams(self.seed, ("predictions",)).generator(*purpose)
        return self.value(pair) + self.noise * rng.normal() * math.sqrt(100 / samples)

    @property
    def spent(self):
        return sum(samples for _, samples, _ in self.calls)


def within(domain):
    return dpaudit.Neighbouring.within(domain)


def listed(pairs):
    return dpaudit.Neighbouring(relation="own", pairs=pairs, complete=True, scope="")


def values_found(neighbouring, value, samples, **options):
    return [
        value(find_pair(neighbouring, Predictions(value, seed, **options), samples=samples, streams=Streams(seed)).pair)
        for seed in SEEDS
    ]


SIGNS = np.array([1, 1, -1, 1, -1, -1, -1, 1, -1, -1])
TEN = dpaudit.Vectors(length=10, low=0, high=10)


def seventh(pair):
    """Largest (1) when coordinate 6 changes and no other does."""
    change = np.abs(pair[1] - pair[0])
    return change[6] - 0.1 * (change.sum() - change[6])


def signs(pair):
    """Share of the coordinates that change as a pattern of signs wants them to; at most 1."""
    return abs(float((pair[1] - pair[0]) @ SIGNS)) / 10


def place(pair):
    """Largest (1) when coordinate 6 changes, between 3 and 4."""
    return abs(pair[1][6] - pair[0][6]) * (1 - abs(min(pair[0][6], pair[1][6]) - 3) / 10)


@pytest.mark.parametrize(
    "neighbouring", [listed(list(itertools.combinations(range(15), 2))), within(dpaudit.AnyTwo(values=range(15)))]
)
def test_few_pairs_are_searched_exhaustively(neighbouring):
    def value(pair):
        return float(pair == (4, 11))

    for seed in SEEDS:
        predict = Predictions(value, seed)
        found = find_pair(neighbouring, predict, samples=200_000, streams=Streams(seed))
        assert found.pair == (4, 11)
        assert (found.searched, found.total) == (105, 105)
        assert {pair_key(pair) for pair, _, _ in predict.calls} == {pair_key(pair) for pair in neighbouring}


def test_rounds_halve_the_pairs_and_double_their_samples():
    predict = Predictions(lambda pair: pair[1])
    found = find_pair(listed([(-1, i) for i in range(64)]), predict, samples=640_000, streams=Streams(1))
    assert found.pair == (-1, 63)
    counts = [[samples for _, samples, (_, number, _) in predict.calls if number == r] for r in range(found.rounds)]
    assert [len(count) for count in counts] == [64, 32, 16, 8, 4, 2]
    assert all(len(set(count)) == 1 for count in counts)
    assert [count[0] for count in counts] == [640_000 // 6 // 2**k for k in range(6, 0, -1)]


def test_the_better_half_goes_on():
    predict = Predictions(lambda pair: -abs(pair[1] - 40), noise=0)
    find_pair(listed([(-1, i) for i in range(64)]), predict, samples=640_000, streams=Streams(1))
    second = {pair[1] for pair, _, (_, number, _) in predict.calls if number == 1}
    assert second == set(range(24, 56)) or second == set(range(25, 57))


def test_the_best_by_each_of_two_predictions_stay_and_the_first_decides():
    pairs = [(number, -1) for number in range(64)]

    def late(pair, samples):
        """Says of few samples that the lowest number is best, and of many that the highest is."""
        return float(pair[0] if samples >= 16_000 else -pair[0])

    def found(*predictions):
        def predict(pair, samples, purpose):
            return tuple(prediction(pair, samples) for prediction in predictions)

        return find_pair(listed(pairs), predict, samples=192_000, streams=Streams(0)).pair[0]

    def steady(pair, samples):
        return float(pair[0])

    assert found(late) == 1
    assert found(late, late) == 1
    assert found(late, steady) == 63
    # Whatever is best by the second alone, the first decides between the last two.
    assert found(late, lambda pair, samples: -abs(pair[0] - 40)) == 40
    assert found(steady, late) == 63


@pytest.mark.parametrize("listing", [False, True])
def test_a_pair_hidden_among_thousands(listing):
    """Of 19,900 pairs, those with inputs near to 77 and to 150 have large values; the best one has 2."""

    def near(x, centre):
        return max(0.0, 1 - abs(x - centre) / 20)

    def value(pair):
        return near(pair[0], 77) + near(pair[1], 150)

    domain = dpaudit.AnyTwo(values=range(200))
    found = values_found(listed(list(domain.pairs())) if listing else within(domain), value, 250_000)
    # What the same number of pairs drawn at random would find with predictions free of noise.
    blind = [max(value(domain.draw(rng)) for _ in range(129)) for rng in map(np.random.default_rng, SEEDS)]
    assert np.mean(found) > np.mean(blind) + 0.2
    # In a list nothing says that 77 is near to 78; inputs in common are all that there is to go by.
    assert np.median(found) > (1.4 if listing else 1.75)


@pytest.mark.parametrize("value", [seventh, signs, place])
def test_the_search_climbs_in_a_box_of_ten_dimensions(value):
    climbed = values_found(within(TEN), value, 500_000)
    patterns = max(value(pair) for pair in TEN.patterns())
    assert np.median(climbed) >= {seventh: 1.0, signs: 0.8, place: 0.95}[value]
    if value is not place:
        assert np.median(climbed) > patterns


@pytest.mark.slow
def test_more_samples_find_better_pairs():
    few, many = (np.mean(values_found(within(TEN), signs, samples)) for samples in (20_000, 2_000_000))
    assert many > few + 0.2
    assert many > 0.85


@pytest.mark.slow
def test_records_and_profiles_are_climbed():
    records = dpaudit.Records(values=range(5), size=8)
    assert np.median(values_found(within(records), lambda pair: pair[0].count(2) / 8, 250_000)) >= 7 / 8
    profiles = dpaudit.Profiles(agents=6, alternatives=5)

    def agreement(pair):
        return float((pair[1] == [0, 2, 1, 4, 3]).mean())

    start = max(agreement(pair) for pair in profiles.patterns())
    assert np.median(values_found(within(profiles), agreement, 500_000)) > start + 0.1


@pytest.mark.parametrize("samples", [0, 1, 99, 250, 999, 5000, 33_333, 1_000_000])
@pytest.mark.parametrize("most", [1, 2, 10, 256])
@pytest.mark.parametrize(
    "neighbouring",
    [
        within(TEN),
        within(dpaudit.AnyTwo(values=range(8))),
        listed(list(itertools.combinations(range(30), 2))),
        within(dpaudit.Vectors(length=1, low=0, high=1)),
        listed([(0, 1)]),
    ],
    ids=["vectors", "any two", "listed", "hardly any", "one"],
)
def test_the_budget_is_kept_and_no_stream_used_twice(neighbouring, samples, most):
    predict = Predictions(lambda pair: 0.0)
    found = find_pair(neighbouring, predict, samples=samples, streams=Streams(1), most=most)
    assert found.samples == predict.spent <= samples
    assert found.rounds == len({number for _, _, (_, number, _) in predict.calls})
    purposes = [purpose for _, _, purpose in predict.calls]
    assert len(set(purposes)) == len(purposes)
    assert all(isinstance(part, str | int) for purpose in purposes for part in purpose)
    assert all(given >= min(500, max(100, samples // 8)) for _, given, _ in predict.calls)
    assert max([0, *(sum(purpose[1] == r for purpose in purposes) for r in range(found.rounds))]) <= most
    assert found.searched == max(1, len({pair_key(pair) for pair, _, _ in predict.calls}))
    if samples >= 5000 and most >= 10:
        assert found.samples > 0.9 * samples or found.searched == 1 or "length=1," in repr(neighbouring)


def test_equal_streams_search_alike():
    def once(seed):
        predict = Predictions(signs, noise=1.0)
        found = find_pair(within(TEN), predict, samples=100_000, streams=Streams(seed))
        return found.searched, found.rounds, [(pair_key(pair), n, purpose) for pair, n, purpose in predict.calls]

    assert once(1) == once(1)
    assert once(1) != once(2)


def test_of_equal_pairs_the_first_is_taken():
    for value in (0.0, -3.0, math.nan, -math.inf):
        found = find_pair(within(TEN), lambda pair, n, purpose, value=value: value, samples=10**6, streams=Streams(1))
        assert pair_key(found.pair) == pair_key(next(TEN.patterns()))
    found = find_pair(
        listed([(0, i) for i in range(1, 50)]),
        lambda pair, n, purpose: math.nan if pair[1] < 20 else -5.0,
        samples=10**6,
        streams=Streams(1),
    )
    assert found.pair == (0, 20)


def test_one_pair_needs_no_pilot():
    def never(pair, samples, purpose):
        raise AssertionError

    expected = ChosenPair(pair=(0, 1), searched=1, total=1, samples=0, rounds=0)
    for neighbouring in (listed([(0, 1)]), listed([(0, 1), (1, 0), (0, 1)]), within(dpaudit.AnyTwo(values=(0, 1)))):
        assert find_pair(neighbouring, never, samples=10**6, streams=Streams(1)) == expected


def test_totals():
    def total(neighbouring):
        return find_pair(neighbouring, Predictions(lambda pair: 0.0), samples=50_000, streams=Streams(1)).total

    assert total(within(TEN)) is None
    assert total(within(dpaudit.AnyTwo(values=range(1000)))) == math.comb(1000, 2)
    assert total(listed(lambda: ((0, i) for i in range(1, 700)))) == 699
    assert total(within(dpaudit.Profiles(agents=3, alternatives=12))) > 10**20


def test_pairs_that_a_mechanism_lists_beside_its_domain_are_tried():
    planted = (np.full(10, 2.5), np.full(10, 2.75))
    neighbouring = dpaudit.Neighbouring(relation="r", pairs=[planted], complete=False, scope="", domain=TEN)
    predict = Predictions(lambda pair: float(pair_key(pair) == pair_key(planted)), noise=0.1)
    found = find_pair(neighbouring, predict, samples=100_000, streams=Streams(1))
    assert pair_key(found.pair) == pair_key(planted)
    assert found.searched > 1


def test_pairs_that_a_strategy_draws():
    domain = dpaudit.DrawnPairs(
        strategy=strategies.tuples(strategies.integers(0, 100), strategies.integers(0, 100)), relation="r", scope="s"
    )
    found = find_pair(
        within(domain), Predictions(lambda pair: abs(pair[0] - pair[1]) / 50), samples=20_000, streams=Streams(1)
    )
    assert abs(found.pair[0] - found.pair[1]) > 50


def test_inputs_that_cannot_be_told_apart_are_searched_too():
    users = [{"value": i} for i in range(40)]
    predict = Predictions(lambda pair: abs(pair[0]["value"] - pair[1]["value"]) / 20)
    found = find_pair(
        dpaudit.Neighbouring.any_two_inputs(users, scope=""), predict, samples=200_000, streams=Streams(1), most=50
    )
    assert abs(found.pair[0]["value"] - found.pair[1]["value"]) >= 35


def test_bad_arguments():
    with pytest.raises(dpaudit.CheckError, match="mine: `neighbours` lists no pair"):
        find_pair(listed([]), Predictions(lambda pair: 0.0), samples=1000, streams=Streams(1), name="mine")
    with pytest.raises(dpaudit.ParameterError, match="at least 0, got -1"):
        find_pair(listed([(0, 1)]), Predictions(lambda pair: 0.0), samples=-1, streams=Streams(1))
    with pytest.raises(dpaudit.ParameterError, match="at least 1, got 0"):
        find_pair(listed([(0, 1)]), Predictions(lambda pair: 0.0), samples=1000, streams=Streams(1), most=0)
