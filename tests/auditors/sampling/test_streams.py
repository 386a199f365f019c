"""Every purpose has its own stream; equal keys give equal streams."""

import itertools

from dpaudit.auditors.sampling.streams import Streams


def test_keys_seeds_and_types_give_different_streams():
    keys = [(), ("a",), ("b",), ("a", 1), ("a", "1"), ("a", 1, 0), ("a", 10), ("a1",), (1, "a")]
    states = [Streams(seed).generator(*key).bit_generator.state["state"]["state"] for seed in (0, 1) for key in keys]
    assert len(set(states)) == len(states)


def test_a_child_is_the_longer_key_and_draws_are_repeatable():
    streams = Streams(5, ("target",))
    for key in itertools.product(("x", "y"), (0, 1)):
        child = streams.child(key[0]).generator(key[1])
        assert child.random() == Streams(5, ("target", *key)).generator().random() == streams.generator(*key).random()
