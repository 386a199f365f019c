"""Outputs of which no number and no pair of numbers says anything, and honest noise that is told from them."""

import hashlib
import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning import digits
from dpaudit.auditors.learning.planted import identifier
from dpaudit.auditors.outputs.column_words import Naming
from dpaudit.auditors.outputs.outputs import Outputs

SEED = 20261128
ROWS = 3200
"""As many as choose the event in an audit of 20,000 samples."""


def objects(values):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def hashed(numbers, data, below):
    """One number below a limit for every row."""
    words = (hashlib.sha256(row.tobytes() + bytes([data])).digest() for row in np.asarray(numbers, dtype=np.int64))
    return np.array([int.from_bytes(word[:6], "big") % below for word in words])


def coded(data, size, rng, below, width):
    """Random numbers, the last of which is a hash of the others and of the input."""
    numbers = rng.integers(0, below, (size, width - 1))
    return np.column_stack([numbers, hashed(numbers, data, below)])


def salt_and_digest(data, size, rng):
    salts = rng.integers(0, 256, (size, 8)).tolist()
    return [(salt, list(hashlib.sha256(bytes([*salt, data])).digest()[:8])) for salt in salts]


def in_a_dict(kind):
    def sample(data, size, rng):
        return objects([{"salt": kind(s), "digest": kind(d)} for s, d in salt_and_digest(data, size, rng)])

    return sample


def in_rows(data, size, rng):
    return np.array([salt + digest for salt, digest in salt_and_digest(data, size, rng)], dtype=np.uint8)


def in_bits(data, size, rng):
    return np.unpackbits(in_rows(data, size, rng), axis=1)


def image(data, size, rng):
    return np.concatenate([in_rows(data, size, rng) for _ in range(4)], axis=1).reshape(size, 8, 8)


def fractions(data, size, rng):
    return image(data, size, rng) / 255


def permutation(data, size, rng):
    """Numbers of which the order of the last two is such that the parity is the input."""
    made = np.argsort(rng.random((size, 12)), axis=1)
    inversions = sum((made[:, i] > made[:, j]).astype(int) for i in range(12) for j in range(i + 1, 12))
    made[inversions % 2 != data, 10:] = made[inversions % 2 != data, :9:-1]
    return made


def names_in_order(data, size, rng):
    return objects(np.array(list("abcdefghijkl"))[permutation(data, size, rng)].tolist())


def deck(data, size, rng):
    made = np.argsort(rng.random((size, 20)), axis=1)
    other = (made[:, 18] > made[:, 19]) != (hashed(np.sort(made[:, 18:]), data, 2) ^ hashed(made[:, :18], data, 2))
    made[other, 18:] = made[other, :17:-1]
    return made


def hand(data, size, rng):
    return np.argsort(rng.random((size, 52)), axis=1)[:, :5]


def letters(data, size, rng):
    return objects([tuple(map(chr, row)) for row in (97 + coded(data, size, rng, 26, 8)).tolist()])


def categories(data, size, rng):
    return objects([{f"q{i}": "ABCDEF"[v] for i, v in enumerate(row)} for row in coded(data, size, rng, 6, 8).tolist()])


def decimal_digits(data, size, rng):
    return objects(coded(data, size, rng, 10, 11).tolist())


def hexadecimal(data, size, rng):
    return objects([[f"{number:02x}" for number in row] for row in coded(data, size, rng, 256, 8).tolist()])


def sixty_three_bits(data, size, rng):
    return coded(data, size, rng, 2, 63)


def words(data, size, rng):
    return coded(data, size, rng, 1000, 5)


def beside_noise(data, size, rng):
    noise = rng.laplace(0.3 * data, size=size).tolist()
    made = in_a_dict(list)(data, size, rng).tolist()
    return objects([{**report, "n": number} for report, number in zip(made, noise, strict=True)])


def coins(data, size, rng):
    return rng.integers(0, 2, (size, 20))


HIDDEN = [
    in_a_dict(list),
    in_a_dict(tuple),
    in_rows,
    in_bits,
    image,
    fractions,
    permutation,
    names_in_order,
    deck,
    hand,
    letters,
    categories,
    decimal_digits,
    hexadecimal,
    sixty_three_bits,
    words,
    beside_noise,
    coins,
]


def responses(epsilon, width, below=2):
    """Randomized responses of so many attributes, of which one is the input."""

    def sample(data, size, rng):
        truth = np.eye(width, dtype=int)[0] * data
        kept = rng.random((size, width)) < math.expm1(epsilon) / (math.exp(epsilon) + below - 1)
        return np.where(kept, truth, rng.integers(0, below, (size, width)))

    return sample


def unary(data, size, rng):
    chances = np.full(24, 1 / (math.e + 1))
    chances[data] = 0.5
    return (rng.random((size, 24)) < chances).astype(int)


def geometric(data, size, rng):
    return rng.geometric(0.3, (size, 20)) - rng.geometric(0.3, (size, 20)) + np.eye(20, dtype=int)[0] * data


def counts(data, size, rng):
    return objects([{"counts": row} for row in geometric(data, size, rng).tolist()])


def shuffled(width, below):
    """Reports of users whose answers are as often one as another, in random order."""

    def sample(data, size, rng):
        truth = np.arange(width) % below
        truth[0] = (truth[0] + data) % below
        kept = rng.random((size, width)) < math.expm1(1) / (math.e + below - 1)
        return rng.permuted(np.where(kept, truth, rng.integers(0, below, (size, width))), axis=1)

    return sample


def mallows(epsilon):
    """Rankings of 12 by repeated insertion."""

    def sample(data, size, rng):
        made = np.full((size, 12), -1)
        for item in range(12):
            weights = np.exp(-epsilon * np.arange(item + 1))
            place = item - rng.choice(item + 1, size=size, p=weights / weights.sum())
            for column in range(item, 0, -1):
                moved = column > place
                made[moved, column] = made[moved, column - 1]
            made[np.arange(size), place] = 1 - item if data and item < 2 else item
        return made

    return sample


def synthetic(data, size, rng):
    """Records that are drawn with one noisy share each."""
    shares = 1 / (1 + np.exp(-rng.laplace(0.02 * data, 0.1, size)))
    return (rng.random((size, 50)) < shares[:, None]).astype(int)


def sparse_vector(data, size, rng):
    answers = np.eye(20)[0] * data + rng.laplace(0, 4, (size, 20))
    return (answers > rng.laplace(0, 2, (size, 1))).astype(int)


def noisy_ranks(data, size, rng):
    return np.argsort(np.eye(12)[0] * data + rng.laplace(0, 2, (size, 12)), axis=1)


def subsets(data, size, rng):
    """Half of 20 values, as bits: more often with the true one than without."""
    order = rng.random((size, 20))
    kept = rng.random(size) < math.e / (math.e + 1)
    order[:, data] = np.where(kept, -1, 2)
    return (np.argsort(np.argsort(order, axis=1), axis=1) < 10).astype(int)


def chain(data, size, rng):
    changes = rng.random((size, 64)) < 0.3
    changes[:, 0] = rng.random(size) < 0.5
    return np.cumsum(changes, axis=1) % 2


def hash_tables(data, size, rng):
    """Optimised local hashing with the hash function as a table: pairs of its entries and the report show the input."""
    tables = rng.integers(0, 4, (size, 10))
    kept = rng.random(size) < math.e / (math.e + 3)
    other = (tables[:, data] + rng.integers(1, 4, size)) % 4
    return np.column_stack([tables, np.where(kept, tables[:, data], other)])


def few_coins(data, size, rng):
    return rng.integers(0, 2, (size, 8))


def floats(data, size, rng):
    return rng.normal(np.eye(20)[0] * 0.3 * data, size=(size, 20))


HONEST = [
    responses(0.5, 20),
    responses(0.1, 20),
    responses(0.5, 12, below=4),
    responses(1.0, 8, below=26),
    unary,
    geometric,
    counts,
    shuffled(20, 2),
    shuffled(100, 2),
    shuffled(30, 5),
    mallows(0.1),
    mallows(0.3),
    mallows(1.0),
    synthetic,
    sparse_vector,
    noisy_ranks,
    subsets,
    chain,
    hash_tables,
    few_coins,
    floats,
]


def outputs(sample, rows=ROWS, seed=SEED):
    rng = np.random.default_rng(seed)
    return tuple(Outputs(np.asarray(sample(data, rows, rng))) for data in (0, 1))


def taken_for_digits(sample, rows, seeds):
    return sum(identifier(*outputs(sample, rows, SEED + seed)) is not None for seed in range(seeds))


@pytest.mark.slow
@pytest.mark.parametrize("sample", HIDDEN)
def test_what_hides_in_many_small_numbers_is_inconclusive(sample):
    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=SEED, claimed=1.0)
    assert found.epsilon < 0.5
    assert found.detection_limit == np.inf
    assert "which together look like random digits" in found.notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("sample", HONEST)
def test_honest_noise_in_many_small_numbers_has_a_limit(sample):
    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=SEED, claimed=1.2)
    assert found.epsilon < 1.2
    assert found.detection_limit < 3


@pytest.mark.slow
@pytest.mark.parametrize("sample", HIDDEN)
def test_random_digits_are_noticed(sample):
    assert identifier(*outputs(sample)).digits


@pytest.mark.slow
@pytest.mark.parametrize("sample", HONEST)
def test_noise_is_not_taken_for_digits(sample):
    assert identifier(*outputs(sample)) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample",
    [responses(0.05, 20), responses(0.25, 12, below=4), mallows(0.05), shuffled(30, 5), synthetic],
    ids=["bits", "attributes", "rankings", "shuffled", "synthetic"],
)
def test_noise_that_is_nearly_uniform_is_hardly_ever_taken_for_digits(sample):
    """With a probability of 1 % in the worst of them, five of 100 are taken with a probability below 5e-4."""
    assert taken_for_digits(sample, ROWS, 100) < 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample", [coins, lambda data, size, rng: np.argsort(rng.random((size, 12)), axis=1)], ids=["coins", "permutations"]
)
def test_random_digits_are_hardly_ever_taken_for_noise(sample):
    """With a probability of 4e-4 for the four tests together, five of 100 are taken with a probability below 1e-9."""
    assert taken_for_digits(sample, ROWS, 100) > 95


def test_the_same_outputs_give_the_same_answer():
    assert identifier(*outputs(coins)).found == identifier(*outputs(coins)).found == tuple(range(20))


def test_few_outputs_do_not_tell_little_noise_from_none():
    assert identifier(*outputs(coins, digits._LEAST_ROWS)) is not None
    assert identifier(*outputs(coins, digits._LEAST_ROWS - 1)) is None


def test_digits_of_which_all_outputs_together_come_again_are_counted():
    """Two to the 16 rows hardly come again among 3,200 outputs of either input, but among a million they do."""
    columns = np.random.default_rng(SEED).integers(0, 2, (16, 2 * ROWS))
    assert digits.random_digits(columns, ROWS, 2 * ROWS) == tuple(range(16))
    assert digits.random_digits(columns, ROWS, 10**6) == ()


def test_a_copy_of_digits_does_not_make_them_noise():
    columns = np.random.default_rng(SEED).integers(0, 256, (8, 2 * ROWS))
    assert digits.random_digits([*columns, *columns[:3]], ROWS, 2 * ROWS) == tuple(range(8))


def test_digits_on_one_input_alone_are_none():
    first, second = (np.random.default_rng(SEED).integers(0, 2, (20, ROWS)) for _ in range(2))
    second[3] |= np.random.default_rng(SEED + 1).random(ROWS) < 0.1
    assert digits.random_digits(np.column_stack([first, second]), ROWS, 2 * ROWS) == ()


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (lambda numbers, noise: numbers, "all their values"),
        (lambda numbers, noise: objects([{"a": row} for row in numbers.tolist()]), "all their values"),
        (
            lambda numbers, noise: np.column_stack([noise, numbers[:, :5]]),
            "output[1], output[2], output[3], output[4] and output[5]",
        ),
        (
            lambda numbers, noise: objects(
                [{"t": t, "pad": row} for t, row in zip(noise, numbers.tolist(), strict=True)]
            ),
            "output['pad']",
        ),
        (
            lambda numbers, noise: objects(
                [(row[:4], t, {"b": row[4:], "c": t}) for t, row in zip(noise, numbers.tolist(), strict=True)]
            ),
            "output[0] and output[2]['b']",
        ),
    ],
    ids=["rows", "all of a dict", "columns", "a part", "two parts"],
)
def test_the_parts_that_look_like_digits_are_named(made, named):
    rng = np.random.default_rng(SEED)
    x, y = (Outputs(made(rng.integers(0, 256, (ROWS, 8)), rng.normal(size=ROWS))) for _ in range(2))
    shape = x.shape[1:] if x.dtype.kind != "O" else None
    assert identifier(x, y).describe(Naming(shape)) == f"{named}, which together look like random digits"


@pytest.mark.slow
def test_who_says_which_input_an_output_supports_need_not_see_more():
    """With `supports`, digits are no reason to take nothing seen for nothing to be seen."""

    def supports(outputs, data):
        return hashed(outputs[:, :7], data, 256) == outputs[:, 7]

    def independent(data, size, rng):
        return rng.integers(0, 256, (size, 8))

    found = dpaudit.epsilon_lower_bound(independent, 0, 1, supports=supports, samples=10_000, seed=SEED, claimed=1.0)
    assert found.detection_limit < 3
