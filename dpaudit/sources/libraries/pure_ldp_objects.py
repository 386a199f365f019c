"""pure-LDP's clients as mechanisms: the report of one user is epsilon-locally private for any two of d values."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.claims.inputs import Pair, short_repr
from dpaudit.errors import CheckError, ParameterError
from dpaudit.sources.libraries.objects import Inputs, LibraryMechanism, checked_pairs, made_class, maker_of

_MOST_VALUES = 8


class PureLdpMechanism(LibraryMechanism):
    """A client of pure-LDP; with a server, the support vector that the server makes of its report."""

    source = "pure-LDP"
    notation = "an input is a user's value; an output is the report, or with a server the values that it counts it for"
    server: ClassVar[Any] = None
    inputs_given: ClassVar[tuple[Any, ...]] = ()

    def check_object(self, made: Any) -> None:
        """Raise ParameterError where it is no client with epsilon and d."""
        if not recognises(made):
            raise ParameterError(
                f"{self.name}: needs a pure-LDP client with privatise, epsilon and d, got {type(made).__name__}"
            )

    def draws(self, data: Any, rng: np.random.Generator) -> Callable[[], Any]:
        """Return `privatise`, and with a server what it adds for the report."""
        client, server = self.held, self.server
        if server is None:
            return lambda: client.privatise(data)

        def support() -> Any:
            server.aggregated_data = np.zeros(int(client.d))
            server.aggregate(client.privatise(data))
            return tuple(float(each) for each in server.aggregated_data)

        return support

    def seeded(self, rng: np.random.Generator) -> AbstractContextManager[None]:
        """Seed the two global generators from which the library draws, and restore them afterwards."""
        return _seeded(rng)

    def supports(self, outputs: np.ndarray, data: Any) -> np.ndarray | None:
        """Whether a report of local hashing, (value, seed), is the hash of an input; None for other reports."""
        client = self.held
        if self.server is not None or not hasattr(client, "g") or outputs.ndim != 2 or outputs.shape[1] != 2:
            return None
        from xxhash import xxh32

        # The library hashes the decimal text of the value's index.
        text = str(client.index_mapper(data))
        hashed = (xxh32(text, seed=int(seed)).intdigest() % client.g for _, seed in outputs)
        return np.asarray(np.fromiter(hashed, dtype=np.int64, count=len(outputs)) == outputs[:, 0])

    def guarantee(self) -> Guarantee:
        """Return epsilon."""
        return ApproximateDP(float(self.held.epsilon))

    def inputs(self) -> Inputs:
        """All pairs of the d values, or of their ends where they are many."""
        size = int(self.held.d)
        values = list(self.inputs_given) or list(range(1, size + 1))
        for value in self.inputs_given:
            self.check_pair((value, value))
        if len(values) > _MOST_VALUES:
            values = [*values[: _MOST_VALUES // 2], *values[-(_MOST_VALUES // 2) :]]
        pairs = list(combinations(values, 2))
        return Inputs(relation="any-two-inputs", pairs=pairs, scope=f"{len(pairs)} pairs of {size} values")

    def check_pair(self, pair: Pair) -> None:
        """Raise CheckError where the client's index of an input is none of its d values."""
        client, size = self.held, int(self.held.d)
        for data in pair if hasattr(client, "index_mapper") else ():
            index = client.index_mapper(data)
            if not 0 <= index < size:
                raise CheckError(
                    f"{self.name}: the input {short_repr(data)} of a pair that was given is none of the client's "
                    f"{size} values, which are 1 to {size} unless it has an index mapper of its own; give others"
                )

    def statement(self, guarantee: Guarantee) -> str:
        """Return the claim in one sentence."""
        return f"A report of `{self.name}`, pure-LDP's {type(self.held).__name__}, is locally {guarantee}."


@contextmanager
def _seeded(rng: np.random.Generator) -> Iterator[None]:
    # The library draws from the global generators, of Python and of numpy.
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(rng.bytes(32))
    np.random.seed(rng.integers(2**32, size=8))  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


def recognises(value: Any) -> bool:
    """Whether a value is a client with epsilon and d."""
    return not isinstance(value, type) and all(hasattr(value, each) for each in ("privatise", "epsilon", "d"))


def from_pure_ldp(
    client: Any,
    *,
    server: Any = None,
    inputs: Iterable[Any] = (),
    pairs: Iterable[Pair] | None = None,
    name: str = "pure-ldp",
) -> PureLdpMechanism:
    """Return a client of pure-LDP as a mechanism, with the claim that it carries.

    Parameters
    ----------
    client
        The client, with ``privatise``, ``epsilon`` and ``d``, or a function that makes it.
    server
        Its server. Then what is audited is the values for which the server counts a report: of hashed reports, which
        hardly ever come twice, nothing else says anything. Needs a server that adds to ``aggregated_data``.
    inputs
        Values of a user; by default 1 to d, as the library's own index mapper takes them.
    pairs
        Neighbouring inputs in place of all pairs of these.
    name
        Name of the target.

    Returns
    -------
    Mechanism
        Its draws come from the library's own code, seeded.

    Raises
    ------
    ParameterError
        It is no such client.

    Examples
    --------
    >>> import dpaudit
    >>> from pure_ldp.frequency_oracles.direct_encoding import DEClient
    >>> print(dpaudit.check(dpaudit.from_pure_ldp(DEClient(1.0, 4)), samples=2_000).results[0].verdict)
    consistent
    """
    given, values = None if pairs is None else checked_pairs(pairs), tuple(inputs)
    options = {"server": server, "inputs": values, "pairs": given, "name": name}
    more = {"server": server, "inputs_given": values, "recipe": (from_pure_ldp, client, options)}
    made = made_class(PureLdpMechanism, maker_of(client), name=name, pairs=given, more=more)()
    assert isinstance(made, PureLdpMechanism)
    made.held  # noqa: B018 - made, and checked, at once
    return made


MECHANISM = PureLdpMechanism
