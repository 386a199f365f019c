"""What is consistent, and what is inconclusive, where nothing told the inputs apart."""

import hashlib
import re
from dataclasses import dataclass

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning import planted as planted_module
from dpaudit.auditors.learning.planted import identifier, planted
from dpaudit.auditors.outputs.column_words import Naming
from dpaudit.auditors.outputs.outputs import Outputs

SEED = 20261122
LARGEST = np.finfo(float).max


@dataclass(frozen=True)
class Report:
    identifier: int
    value: int


def objects(values):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def pad(data, size, rng):
    """A key, and a hash of it and of the input: together they tell all, and each is random."""
    key = rng.integers(0, 1 << 62, size)
    mixed = (key + data).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.column_stack([key, (mixed >> np.uint64(2)).astype(np.int64)])


def signed_text(data, size, rng):
    words = rng.integers(0, 1 << 60, size)
    return [f"{word:x}{hashlib.sha256(f'{word}{data}'.encode()).hexdigest()[0]}" for word in words.tolist()]


def hash_report(data, size, rng):
    seeds = rng.integers(0, 1 << 40, size)
    return [Report(s, hashlib.sha256(f"{s} {data}".encode()).digest()[0] % 4) for s in seeds.tolist()]


def laplace(data, size, rng):
    return rng.laplace(0.002 * data, size=size)


def counts(data, size, rng):
    return rng.geometric(1e-7, size) + data


def coins(data, size, rng):
    return rng.integers(0, 2, size)


def rows(data, size, rng):
    return rng.normal(size=(size, 5))


def constant(data, size, rng):
    return np.zeros(size)


@pytest.mark.slow
@pytest.mark.parametrize("sample", [pad, signed_text, hash_report])
def test_what_hides_its_input_from_every_score_is_inconclusive(sample):
    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=SEED, claimed=1.0)
    assert (found.epsilon < 0.2, found.detection_limit) == (True, np.inf)


@pytest.mark.slow
@pytest.mark.parametrize("sample", [laplace, counts, coins, rows])
def test_what_would_have_been_told_apart_has_a_limit(sample):
    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=SEED, claimed=1.0)
    assert found.epsilon < 0.2
    assert 1.0 < found.detection_limit < 2.0


def bucket(seeds, data):
    mixed = (seeds + np.uint64(data + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(40)) % np.uint64(4)


def seeded(data, size, rng):
    seeds = rng.integers(0, 1 << 40, size, dtype=np.uint64)
    return seeds, bucket(seeds, data)


def float_hash(data, size, rng):
    return np.column_stack(seeded(data, size, rng)).astype(float)


def float_hash_with_noise(data, size, rng):
    seeds, value = seeded(data, size, rng)
    return np.column_stack([seeds.astype(float), value + rng.laplace(size=size)])


def fraction_hash(data, size, rng):
    u = rng.random(size)
    return np.column_stack([u, bucket(u.view(np.uint64), data) % 2])


def hash_with_a_leak(data, size, rng):
    leak = (rng.random(size) < 1 / (1 + np.exp(-0.2))) ^ bool(data)
    return np.column_stack([*seeded(data, size, rng), leak]).astype(np.int64)


def hash_in_a_dict(data, size, rng):
    noise = rng.laplace(size=size).tolist()
    seeds, value = (part.tolist() for part in seeded(data, size, rng))
    return objects([{"seed": f"{s:x}", "v": v, "t": t} for s, v, t in zip(seeds, value, noise, strict=True)])


HASHES = [float_hash, float_hash_with_noise, fraction_hash, hash_with_a_leak, hash_in_a_dict]


@pytest.mark.slow
@pytest.mark.parametrize("sample", HASHES)
def test_hash_reports_in_whatever_form_are_inconclusive(sample):
    """Every bucket is a function of the seed and the input: what is not refuted is no evidence of privacy."""
    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=10_000, seed=SEED, claimed=1.0)
    assert found.epsilon < 0.25
    assert found.detection_limit == np.inf


def uniform(data, size, rng):
    return rng.random(size)


def laplace_rows(data, size, rng):
    return rng.laplace(size=(size, 4))


def rounded(data, size, rng):
    return np.rint(rng.laplace(0, 1e8, (size, 2)))


def sphere(data, size, rng):
    """Coordinates of points on a sphere are uniform each."""
    points = rng.normal(size=(size, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def infinite(data, size, rng):
    made = rng.random((size, 2)) * 2**50
    made[::7] = np.inf
    return made


def largest(data, size, rng):
    """The difference of two of them is too large for double precision."""
    return np.clip(rng.laplace(0, 1e308, (size, 2)), -LARGEST, LARGEST)


def noise_and_coins(data, size, rng):
    return np.column_stack([rng.normal(size=size), rng.integers(0, 2, size)])


def noise_in_a_dict(data, size, rng):
    kinds = np.array(["yes", "no"])[rng.integers(0, 2, size)].tolist()
    return objects([{"kind": kind, "t": t} for kind, t in zip(kinds, rng.laplace(size=size).tolist(), strict=True)])


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        *((sample, True) for sample in HASHES),
        *((s, False) for s in (uniform, laplace_rows, rounded, sphere, infinite, noise_and_coins, noise_in_a_dict)),
        *((sample, False) for sample in (laplace, rows, coins, counts, constant, largest)),
    ],
)
def test_identifiers_are_told_from_noise(sample, expected):
    rng = np.random.default_rng(SEED)
    x, y = (Outputs(np.asarray(sample(data, 2000, rng))) for data in (0, 1))
    assert (identifier(x, y) is not None) is expected


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("sample", [coins, laplace, rows])
def test_a_planted_difference_has_its_size(sample, epsilon):
    rng = np.random.default_rng(SEED)
    copies = planted(*(Outputs(np.asarray(sample(0, 20_000, rng))) for _ in range(2)), epsilon)
    first, second = (np.asarray(side.raw).reshape(len(side), -1) for side in copies)
    share = max(np.mean(first[:, i] > np.median(second[:, i])) for i in range(first.shape[1]))
    if sample is coins:
        share = max(first.mean(), 1 - first.mean())
        assert share == pytest.approx(np.exp(epsilon) / (1 + np.exp(epsilon)), abs=0.02)
    assert share > 0.55


def test_nothing_can_be_planted_where_all_outputs_are_alike():
    same = Outputs(np.zeros(1000))
    assert planted(same, same, 1.0) is None


@pytest.mark.slow
def test_the_note_says_what_would_help():
    class Pad(dpaudit.Mechanism):
        name = "pad"
        epsilon: float = 1.0

        def sample(self, data, size, rng):
            return pad(data, size, rng)

        def neighbours(self):
            return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="two words")

        def claims(self):
            return [dpaudit.PrivacyClaim(id="pad.privacy", statement="", epsilon=self.epsilon)]

    (result,) = dpaudit.check(Pad(), samples=20_000).results
    assert result.verdict == "inconclusive"
    assert result.note.startswith("most of these outputs come only once")
    assert "nothing told the inputs apart" in result.note
    assert "`supports`" in result.note
    assert result.remedy == "features"


def disjoint(data, size, rng):
    """Texts that no other output shares and whose characters say nothing: digests, of numbers that say the input."""
    return objects([{"v": hashlib.sha256(f"{x + 2 * data:.9f}".encode()).hexdigest()[:12]} for x in rng.random(size)])


def four_counts(data, size, rng):
    shape = (size, 4)
    noisy = rng.geometric(0.05, shape) - rng.geometric(0.05, shape)
    return objects([{"a": a, "b": b, "c": c, "d": d} for a, b, c, d in noisy.tolist()])


@pytest.mark.slow
def test_texts_whose_characters_say_the_input_are_seen_beside_others():
    def sample(data, size, rng):
        return objects([{"v": f"{x + 2 * data:.9f}"} for x in rng.random(size)])

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=SEED).epsilon > 5


@pytest.mark.slow
def test_texts_that_never_come_again_are_no_categories():
    found = dpaudit.epsilon_lower_bound(disjoint, 0, 1, samples=20_000, seed=SEED, claimed=0.9)
    assert (found.epsilon, found.detection_limit) == (0.0, np.inf)


@pytest.mark.slow
def test_counts_in_a_dict_are_counts():
    found = dpaudit.epsilon_lower_bound(four_counts, 0, 1, samples=20_000, seed=SEED, claimed=1.0)
    assert 1.0 < found.detection_limit < 2.0


@pytest.mark.parametrize(
    "features",
    [
        lambda outputs: np.full(len(outputs), outputs.mean() > 0.5).astype(int),
        lambda outputs: outputs - round(float(outputs.mean())),
    ],
    ids=["mean", "less the mean"],
)
def test_features_of_a_whole_batch_are_refused(features):
    def response(data, size, rng):
        return np.where(rng.random(size) < 0.731, data, 1 - data)

    with pytest.raises(dpaudit.CheckError, match="on its own"):
        dpaudit.epsilon_lower_bound(response, 0, 1, samples=5000, seed=SEED, features=features)


@pytest.mark.parametrize(
    ("width", "rows", "glance"), [(3, 20_000, 1000), (1000, 20_000, 1000), (8000, 2500, 500), (10**6, 1000, 100)]
)
def test_the_wider_outputs_are_the_fewer_are_looked_at(width, rows, glance):
    outputs = Outputs(np.broadcast_to(0.5, (30_000, width)))
    assert [len(side) for side in planted_module._first(outputs, outputs)] == [rows, rows]
    seen = []

    class Rows:
        shape = (30_000, width)

        def __getitem__(self, which):
            if isinstance(which, slice):
                seen.append(which.stop)
                return np.zeros((1, 4))
            return None

    planted_module._candidates(Rows())
    assert seen == [glance]


@pytest.mark.slow
def test_identifiers_in_wide_outputs_are_noticed():
    """One column in 5,000 holds random identifiers, and the others noise."""
    rng = np.random.default_rng(SEED)
    x, y = (rng.normal(size=(600, 5000)) for _ in range(2))
    assert identifier(Outputs(x), Outputs(y)) is None
    for side in (x, y):
        side[:, 4321] = rng.integers(0, 2**40, 600)
    assert identifier(Outputs(x), Outputs(y)) is not None


class Opaque:
    """Of which only the text is seen."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return Opaque, (self.value,)

    def __repr__(self):
        return f"Opaque({self.value})"


OPAQUE = {
    "an exception": ValueError,
    "a pattern": lambda value: re.compile(str(value)),
    "a slice": lambda value: slice(0, value),
    "of one's own": Opaque,
    "a random key": lambda value: {f"{value:x}": 1.0},
    "a random number as a key": lambda value: {int(value): 1.0},
    "a key of 2,000 in a list": lambda value: [{f"run-{value % 2000}": {"noisy": 1.0, "n": 5}}],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", OPAQUE)
def test_values_seen_as_texts_and_random_keys_identify_whatever_stands_beside_them(kind):
    rng = np.random.default_rng(SEED)
    sides = [
        Outputs(
            objects(
                [
                    {"part": OPAQUE[kind](new), "baseline": noise}
                    for new, noise in zip(rng.integers(0, 2**60, 2000).tolist(), rng.normal(size=2000), strict=True)
                ]
            )
        )
        for _ in range(2)
    ]
    assert identifier(*sides).describe(Naming(None)).startswith("output['part']")


@pytest.mark.slow
@pytest.mark.parametrize(
    "describing",
    [
        lambda rng: {"abcdefgh"[rng.integers(8)]: rng.normal()},
        lambda rng: {f"u{rng.integers(200)}": rng.normal()},
        lambda rng: {key: 1 for key in "abcdefgh" if rng.random() < 0.5},
        lambda rng: rng.normal(size=rng.integers(1, 500)).tolist(),
        lambda rng: [rng.integers(0, 30, many).tolist() for many in rng.integers(0, 12, 12)],
        lambda rng: slice(0, int(rng.integers(5))),
    ],
    ids=["a key of eight", "a key of 200", "some keys of eight", "lists of many lengths", "a graph", "few slices"],
)
def test_keys_and_lists_that_describe_do_not_identify(describing):
    rng = np.random.default_rng(SEED)
    sides = [Outputs(objects([{"part": describing(rng), "noise": rng.normal()} for _ in range(1000)])) for _ in "xy"]
    assert identifier(*sides) is None


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda new, noise: objects([{"id": int(i), "n": n} for i, n in zip(new, noise, strict=True)]), "output['id']"),
        (lambda new, noise: objects([{"id": str(i), "n": n} for i, n in zip(new, noise, strict=True)]), "output['id']"),
        (lambda new, noise: objects([(n, [int(i >> 20)]) for i, n in zip(new, noise, strict=True)]), "output[1][0]"),
        (lambda new, noise: np.column_stack([noise, new >> 20]), "output[1]"),
        (lambda new, noise: np.column_stack([noise, new / 2**60, -new / 2**60]), "output[1] and output[2]"),
        (lambda new, noise: new >> 20, ""),
    ],
    ids=["long numbers", "texts", "inside of a list", "a column", "two columns", "all of it"],
)
def test_the_part_that_identifies_is_named(made, words):
    rng = np.random.default_rng(SEED)
    x, y = (Outputs(made(rng.integers(0, 2**60, 2000), rng.normal(size=2000))) for _ in range(2))
    shape = x.shape[1:] if x.dtype.kind != "O" else None
    assert identifier(x, y).describe(Naming(shape)) == words
