"""Mechanisms made of mechanisms: released together, repeated, or run on a random part of the records.

Each is a mechanism like any other: it samples, knows its law where its parts know theirs, and is audited by
`dpaudit.check`. Where parts claim guarantees of one kind, the whole inherits what follows from them.

Examples
--------
>>> import numpy as np
>>> from dpaudit import ApproximateDP, FiniteLaw, Mechanism, Neighbouring, PrivacyClaim, Repeated
>>> class Answer(Mechanism):
...     '''The bit itself with probability 0.6.'''
...     def sample(self, data, size, rng):
...         return np.where(rng.random(size) < 0.6, data, 1 - data)
...     def law(self, data):
...         return FiniteLaw.from_probabilities([data, 1 - data], [0.6, 0.4])
...     def neighbours(self):
...         return Neighbouring.any_two_inputs([0, 1], scope="two inputs")
...     def claims(self):
...         return [PrivacyClaim(id="answer.privacy", statement="0.41-DP", guarantee=ApproximateDP(0.41))]
>>> ten = Repeated(Answer(), 10)
>>> [claim.guarantee.epsilon for claim in ten.claims()]
[4.1]
>>> from dpaudit import compare
>>> round(compare(ten.law(0), ten.law(1)).epsilon(1e-3).upper, 4)
3.8739
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit.claims.claims import Claim, PrivacyClaim
from dpaudit.claims.guarantees import ApproximateDP, GaussianDP, Guarantee, RenyiDP, ZeroConcentratedDP
from dpaudit.claims.inputs import Pair, input_key, pair_key
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.errors import CheckError, ParameterError, TargetError
from dpaudit.laws import ComposedLaw, FiniteLaw, GaussianLaw, GaussianMixtureLaw, Law, ProductLaw
from dpaudit.laws.finite import outcome_key
from dpaudit.laws.joint import flattened
from dpaudit.mechanism import Mechanism, parameter

_MOST_DATASETS = 1 << 14
"""Most random parts of the records over which a law is mixed."""

_MOST_OUTCOMES = 1 << 12
"""Most outcomes of parts released together that are listed, so that a witness can name them."""


class _Combinator(Mechanism):
    """A mechanism made of others, whose parameters may be given by position; a subclass may give them defaults."""

    def __init_subclass__(cls, **options: Any) -> None:
        own = "__init__" in cls.__dict__
        types = inspect.get_annotations(cls)
        for name in cls.parameter_names() if dataclasses.is_dataclass(cls) else ():
            # `count = 3` and `count: int = 3` give the inherited parameter a default, and nothing else.
            if name in cls.__dict__ and not isinstance(cls.__dict__[name], dataclasses.Field):
                types.setdefault(name, cls.parameter_hints()[name])
                setattr(cls, name, cls.redeclared(name, cls.__dict__[name]))
        cls.__annotations__ = types
        super().__init_subclass__(**options)
        if not own:
            cls.__init__ = _by_position(cls.__init__)  # type: ignore[method-assign]

    @property
    def own_randomness(self) -> bool:  # type: ignore[override]
        """Whether one of the parts has a source of randomness of its own."""
        return any(part.own_randomness for part in self._of())

    def _of(self) -> Sequence[Mechanism]:
        """Return the mechanisms of which this one is made."""
        raise NotImplementedError


def _by_position(init: Callable[..., None]) -> Callable[..., None]:
    """Let a function that takes parameters by name alone take them by position too, in their order."""

    @functools.wraps(init)
    def made(self: Mechanism, *values: Any, **named: Any) -> None:
        names = self.parameter_names()
        if len(values) > len(names):
            raise TypeError(
                f"{type(self).__name__} takes {len(names)} arguments at most ({', '.join(names)}), got {len(values)}"
            )
        given = dict(zip(names, values, strict=False))
        if twice := sorted(given.keys() & named.keys()):
            raise TypeError(f"{type(self).__name__} got two values of {twice[0]!r}, by position and by name")
        init(self, **given, **named)

    return made


class Composed(_Combinator):
    """Mechanisms run independently on the same data, all outputs released.

    Parameters
    ----------
    mechanisms
        At least one; all have the same neighbouring inputs.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> class Bit(dpaudit.Mechanism):
    ...     epsilon: float = 1.0
    ...     def sample(self, data, size, rng):
    ...         return np.where(rng.random(size) < 1 / (1 + np.exp(-self.epsilon)), data, 1 - data)
    ...     def law(self, data):
    ...         keep = 1 / (1 + np.exp(-self.epsilon))
    ...         return dpaudit.FiniteLaw.from_probabilities([data, 1 - data], [keep, 1 - keep])
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")
    ...     def claims(self):
    ...         return [dpaudit.PrivacyClaim(id="bit.privacy", statement="The bit is ε-LDP.", epsilon=self.epsilon)]
    >>> both = dpaudit.Composed([Bit(epsilon=1.0), Bit(epsilon=0.5)])
    >>> [made.guarantee.epsilon for made in both.claims()]
    [1.5]
    """

    mechanisms: tuple[Mechanism, ...] = parameter(doc="what is released together")

    name = "composed"

    def __init__(self, mechanisms: Iterable[Mechanism]) -> None:
        object.__setattr__(self, "mechanisms", mechanisms)
        self.__post_init__()

    def validate(self) -> None:
        """Refuse an empty list."""
        if not self.mechanisms:
            raise ParameterError(f"{self.name}: give at least one mechanism to compose")

    def _of(self) -> Sequence[Mechanism]:
        return self.mechanisms

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw from every mechanism; one output is a row of a table, or a tuple where parts are no numbers."""
        return _side_by_side([_drawn(part, data, size, rng) for part in self.mechanisms])

    def law(self, data: Any) -> Law | None:
        """Law of all outputs together, where all laws are known."""
        return _together([(part.law(data), 1) for part in self.mechanisms])

    def neighbours(self) -> Neighbouring | None:
        """Neighbouring inputs of the mechanisms, which must be the same for all."""
        return _shared_neighbours(self.name, self.mechanisms)

    def claims(self) -> Sequence[Claim]:
        """Return what guarantees of the first kind that all parts claim add up to; see `composed`."""
        return _composed_claims(self.name, [(part, 1) for part in self.mechanisms], "what the parts claim, composed")


class Repeated(_Combinator):
    """A mechanism run so many times on the same data, independently, all outputs released.

    Parameters
    ----------
    mechanism
        What is repeated.
    count
        How often, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> class Bit(dpaudit.Mechanism):
    ...     epsilon: float = 1.0
    ...     def sample(self, data, size, rng):
    ...         return np.where(rng.random(size) < 1 / (1 + np.exp(-self.epsilon)), data, 1 - data)
    ...     def law(self, data):
    ...         keep = 1 / (1 + np.exp(-self.epsilon))
    ...         return dpaudit.FiniteLaw.from_probabilities([data, 1 - data], [keep, 1 - keep])
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")
    ...     def claims(self):
    ...         return [dpaudit.PrivacyClaim(id="bit.privacy", statement="The bit is ε-LDP.", epsilon=self.epsilon)]
    >>> ten = dpaudit.Repeated(Bit(epsilon=0.1), 10)
    >>> [round(made.guarantee.epsilon, 6) for made in ten.claims()]
    [1.0]
    """

    mechanism: Mechanism = parameter(doc="what is repeated")
    count: int = parameter(minimum=1, doc="how often")

    name = "repeated"

    def __init__(self, mechanism: Mechanism, count: int) -> None:
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "count", count)
        self.__post_init__()

    def _of(self) -> Sequence[Mechanism]:
        return [self.mechanism]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw ``count`` times ``size`` outputs; one output is a row of a table, or a tuple."""
        return _side_by_side([_drawn(self.mechanism, data, size, rng) for _ in range(self.count)])

    def law(self, data: Any) -> Law | None:
        """Law of all outputs together, where that of one is known."""
        return _together([(self.mechanism.law(data), self.count)])

    def neighbours(self) -> Neighbouring | None:
        """Neighbouring inputs of the mechanism."""
        return self.mechanism.neighbours()

    def claims(self) -> Sequence[Claim]:
        """Return what the guarantee that the mechanism claims adds up to in ``count`` runs; see `composed`."""
        return _composed_claims(self.name, [(self.mechanism, self.count)], f"{self.count} runs of what one run claims")


class _OnParts(_Combinator):
    """A mechanism run on random parts of the records."""

    mechanism: Mechanism = parameter(doc="what is run on the part that is drawn")

    def _of(self) -> Sequence[Mechanism]:
        return [self.mechanism]

    def _parts(self, data: Any) -> Iterator[tuple[float, Any]]:
        """Log-probability of every part that can be drawn, as what the law is made from."""
        raise NotImplementedError

    def _count(self, records: int) -> int:
        """Return the number of parts that can be drawn."""
        raise NotImplementedError

    def _law_of(self, part: Any) -> Law | None:
        return self.mechanism.law(part)

    def law(self, data: Any) -> Law | None:
        """Mix the laws of the mechanism on all parts, where they are finite or Gaussian and not too many."""
        records = _records(self.name, data)
        if self._count(len(records)) > _MOST_DATASETS:
            return None
        weights: dict[Any, float] = {}
        parts: dict[Any, Any] = {}
        for log_weight, part in self._parts(records):
            key = input_key(part)
            key = repr(part) if key is None else key
            weights[key] = float(np.logaddexp(weights.get(key, -math.inf), log_weight))
            parts.setdefault(key, part)
        laws = [self._law_of(part) for part in parts.values()]
        return _mixed(list(weights.values()), laws)

    def neighbours(self) -> Neighbouring | None:
        """Neighbouring inputs of the mechanism, which here are what parts are drawn from."""
        return self.mechanism.neighbours()


class PoissonSubsampled(_OnParts):
    """A mechanism run on a part of the records that each of them joins with one probability, independently.

    The mechanism must take any tuple of records, the empty one included.

    Parameters
    ----------
    mechanism
        A mechanism on tuples of records.
    rate
        Probability that a record takes part, above 0 and at most 1.

    Examples
    --------
    >>> import dpaudit
    >>> class NoisySum(dpaudit.Mechanism):
    ...     def sample(self, data, size, rng):
    ...         return sum(data) + rng.laplace(size=size)
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.within(dpaudit.Records(values=(0, 1), size=4, relation="add-remove"))
    ...     def claims(self):
    ...         return [dpaudit.PrivacyClaim(id="sum.privacy", statement="The sum is 1-DP.", epsilon=1.0)]
    >>> [round(made.guarantee.epsilon, 4) for made in dpaudit.PoissonSubsampled(NoisySum(), 0.1).claims()]
    [0.1586]
    """

    rate: float = parameter(above=0, maximum=1, doc="probability that a record takes part")

    name = "poisson-subsampled"

    def __init__(self, mechanism: Mechanism, rate: float) -> None:
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "rate", rate)
        self.__post_init__()

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw a part for every output, and an output for the part."""
        records = _records(self.name, data)
        return _on_drawn(self.mechanism, records, rng.random((size, len(records))) < self.rate, rng)

    def _count(self, records: int) -> int:
        return 1 << min(records, 60)

    def _parts(self, data: Any) -> Iterator[tuple[float, Any]]:
        for chosen in itertools.product((False, True), repeat=len(data)):
            joined = sum(chosen)
            if self.rate == 1 and joined < len(data):
                continue
            out = (len(data) - joined) * math.log1p(-self.rate) if self.rate < 1 else 0.0
            yield joined * math.log(self.rate) + out, tuple(itertools.compress(data, chosen))

    def claims(self) -> Sequence[Claim]:
        """Amplification: log(1 + rate (e^epsilon - 1)) and rate times delta, where records are added or removed."""
        neighbouring = self.mechanism.neighbours()
        if neighbouring is None or neighbouring.relation != "add-remove":
            return []
        reason = f"what one run claims, amplified by Poisson sampling at the rate {self.rate:g}"
        return _amplified(self.name, self.mechanism, self.rate, reason)


class SampledWithoutReplacement(_OnParts):
    """A mechanism run on so many of the records, drawn without replacement and kept in their order.

    Parameters
    ----------
    mechanism
        A mechanism on tuples of records.
    batch
        Number of records drawn, at least 1; of a smaller dataset all are.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> class NoisySum(dpaudit.Mechanism):
    ...     def sample(self, data, size, rng):
    ...         return sum(data) + rng.laplace(size=size)
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.within(dpaudit.Records(values=(0, 1), size=4, relation="add-remove"))
    ...     def claims(self):
    ...         return [dpaudit.PrivacyClaim(id="sum.privacy", statement="The sum is 1-DP.", epsilon=1.0)]
    >>> part = dpaudit.SampledWithoutReplacement(NoisySum(), 2)
    >>> part.sample((1, 1, 0, 0), 3, np.random.default_rng(1)).shape
    (3,)
    """

    batch: int = parameter(minimum=1, doc="number of records drawn")

    name = "sampled-without-replacement"

    def __init__(self, mechanism: Mechanism, batch: int) -> None:
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "batch", batch)
        self.__post_init__()

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw a part for every output, and an output for the part."""
        records = _records(self.name, data)
        order = np.argsort(rng.random((size, len(records))), axis=1)
        chosen = np.zeros((size, len(records)), dtype=bool)
        np.put_along_axis(chosen, order[:, : self.batch], True, axis=1)
        return _on_drawn(self.mechanism, records, chosen, rng)

    def _count(self, records: int) -> int:
        return math.comb(records, min(self.batch, records))

    def _parts(self, data: Any) -> Iterator[tuple[float, Any]]:
        weight = -math.log(self._count(len(data)))
        for part in itertools.combinations(data, min(self.batch, len(data))):
            yield weight, part

    def claims(self) -> Sequence[Claim]:
        """Amplification under substitution: log(1 + b/n (e^epsilon - 1)) and b/n times delta, of n records.

        References
        ----------
        Balle, Barthe, Gaboardi, "Privacy amplification by subsampling", NeurIPS 2018, Theorem 9.
        """
        neighbouring = self.mechanism.neighbours()
        if neighbouring is None or neighbouring.relation != "substitution":
            return []
        sizes = {len(data) for pair in neighbouring for data in pair}
        if len(sizes) != 1:
            return []
        rate = min(1.0, self.batch / sizes.pop())
        reason = f"what one run claims, amplified by drawing {self.batch} of the records without replacement"
        return _amplified(self.name, self.mechanism, rate, reason)


class ShuffledBatches(_OnParts):
    """A mechanism run on every one of so many batches, each record in one of them at random ("balls and bins").

    All outputs are released, in the order of the batches. Its exact law is for few records and batches.

    Parameters
    ----------
    mechanism
        A mechanism on tuples of records.
    batches
        Number of batches, at least 1.

    References
    ----------
    Chua, Ghazi, Harrison, Leeman, Kamath, Kumar, Manurangsi, Sinha, Zhang, "Balls-and-bins sampling for DP-SGD", 2024.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> class NoisySum(dpaudit.Mechanism):
    ...     def sample(self, data, size, rng):
    ...         return sum(data) + rng.laplace(size=size)
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.within(dpaudit.Records(values=(0, 1), size=4, relation="add-remove"))
    ...     def claims(self):
    ...         return [dpaudit.PrivacyClaim(id="sum.privacy", statement="The sum is 1-DP.", epsilon=1.0)]
    >>> batches = dpaudit.ShuffledBatches(NoisySum(), 2)
    >>> batches.sample((1, 1, 0, 0), 3, np.random.default_rng(1)).shape
    (3, 2)
    """

    batches: int = parameter(minimum=1, doc="number of batches")

    name = "shuffled-batches"

    def __init__(self, mechanism: Mechanism, batches: int) -> None:
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "batches", batches)
        self.__post_init__()

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw a batch for every record, and an output for every batch."""
        records = _records(self.name, data)
        places = rng.integers(self.batches, size=(size, len(records)))
        return _side_by_side(
            [_on_drawn(self.mechanism, records, places == batch, rng) for batch in range(self.batches)]
        )

    def _count(self, records: int) -> int:
        return int(min(self.batches**records, 1 << 60))

    def _parts(self, data: Any) -> Iterator[tuple[float, Any]]:
        weight = -len(data) * math.log(self.batches)
        for places in itertools.product(range(self.batches), repeat=len(data)):
            batches = (
                tuple(record for record, place in zip(data, places, strict=True) if place == batch)
                for batch in range(self.batches)
            )
            yield weight, tuple(batches)

    def _law_of(self, part: Any) -> Law | None:
        laws = [self.mechanism.law(batch) for batch in part]
        if not all(isinstance(law, FiniteLaw) for law in laws):
            return None
        return flattened(ProductLaw([law for law in laws if law is not None]))


def _records(name: str, data: Any) -> tuple[Any, ...]:
    if isinstance(data, str | bytes) or not isinstance(data, Sequence | np.ndarray):
        raise CheckError(f"{name}: data must be a sequence of records, got {data!r}")
    return tuple(data)


def _on_drawn(
    mechanism: Mechanism, records: tuple[Any, ...], chosen: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """One output for every row of ``chosen``, on the records that it chooses; equal rows share a call."""
    kinds, places = np.unique(chosen, axis=0, return_inverse=True)
    places = places.reshape(-1)
    outputs: np.ndarray | None = None
    for i, kind in enumerate(kinds):
        rows = np.flatnonzero(places == i)
        drawn = _drawn(mechanism, tuple(itertools.compress(records, kind)), len(rows), rng)
        if outputs is None:
            outputs = np.empty((len(chosen), *drawn.shape[1:]), dtype=drawn.dtype)
        if drawn.shape[1:] != outputs.shape[1:]:
            raise CheckError(f"{mechanism.name}: outputs on different parts of the records have different shapes")
        if drawn.dtype != outputs.dtype:
            outputs = outputs.astype(_common_type(mechanism.name, outputs.dtype, drawn.dtype))
        outputs[rows] = drawn
    return outputs if outputs is not None else np.empty(0)


def _common_type(name: str, first: np.dtype[Any], second: np.dtype[Any]) -> np.dtype[Any]:
    """Type that holds outputs of two, as they are.

    Raises
    ------
    CheckError
        None does: whole numbers would become texts, or truth values numbers.
    """
    if first.kind != second.kind and not {first.kind, second.kind} <= set("iuf"):
        raise CheckError(
            f"{name}: outputs on different parts of the records have different types, {first} and {second}; return "
            "one type for every part, or lists or arrays of dtype object for all of them"
        )
    return np.result_type(first, second)


def _drawn(mechanism: Mechanism, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Outputs of a part as an array along axis 0.

    Raises
    ------
    CheckError
        They are in something else than an array or a sequence, of which a table has columns along its first axis.
    """
    made = mechanism.sample(data, size, rng)
    if isinstance(made, np.ma.MaskedArray):
        raise CheckError(
            f"{mechanism.name}: `sample` returned a masked array, whose mask would go unseen; return its "
            "`.filled(value)`, or an array of dtype object with None for what is masked"
        )
    if isinstance(made, np.ndarray):
        outputs = made
    elif isinstance(made, str | bytes | Mapping) or not isinstance(made, Iterable) or _is_table(made):
        raise CheckError(
            f"{mechanism.name}: `sample` returned an object of type {type(made).__name__}; a part of another mechanism "
            f"must return an array or a list of {size} outputs"
        )
    else:
        # One more than asked for is enough to see that they are too many, even if they never end.
        outputs = _objects(list(itertools.islice(made, size + 1)))
    if outputs.ndim == 0 or len(outputs) != size:
        found = f"outputs of shape {outputs.shape}" if isinstance(made, np.ndarray) else f"{len(outputs)} outputs"
        raise CheckError(f"{mechanism.name}: `sample` returned {found}; return {size} along axis 0")
    return outputs


def _is_table(made: Any) -> bool:
    """Whether an object is a frame, a table or a matrix of a library, which iterates over columns or not at all."""
    return any(hasattr(type(made), name) for name in ("columns", "column_names", "tocsr", "tocoo"))


def _objects(values: Sequence[Any]) -> np.ndarray:
    outputs = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        outputs[i] = value
    return outputs


def _side_by_side(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Outputs of several parts as rows of a table where they are numbers, otherwise as tuples."""
    if all(array.dtype.kind in "biuf" and array.ndim <= 2 for array in arrays):
        return np.column_stack(arrays)
    return _objects(list(zip(*arrays, strict=True)))


def _together(parts: Sequence[tuple[Law | None, int]]) -> Law | None:
    """Law of independent outputs, with its outcomes listed where they are few."""
    known = [(law, count) for law, count in parts if law is not None]
    if len(known) < len(parts):
        return None
    size = math.prod(len(law.outcomes) ** min(count, 64) for law, count in known if isinstance(law, FiniteLaw))
    if size <= _MOST_OUTCOMES and all(isinstance(law, FiniteLaw) for law, _ in known):
        return ProductLaw([law for law, count in known for _ in range(count)])
    return ComposedLaw(known)


def _mixed(log_weights: Sequence[float], laws: Sequence[Law | None]) -> Law | None:
    """Mixture of laws, which does not show which of them was drawn."""
    if all(isinstance(law, GaussianLaw) for law in laws):
        normal = [law for law in laws if isinstance(law, GaussianLaw)]
        if len({law.scale for law in normal}) == 1:
            return GaussianMixtureLaw(
                np.array([law.location for law in normal]), np.array(log_weights), normal[0].scale
            )
        return None
    finite = [law if isinstance(law, FiniteLaw) else None if law is None else flattened(law) for law in laws]
    masses: dict[Any, float] = {}
    outcomes: dict[Any, Any] = {}
    for weight, law in zip(log_weights, finite, strict=True):
        if law is None:
            return None
        for outcome, log_p in zip(law.outcomes, law.log_probabilities.tolist(), strict=True):
            key = outcome_key(outcome)
            outcomes.setdefault(key, outcome)
            masses[key] = float(np.logaddexp(masses.get(key, -math.inf), weight + log_p))
    return FiniteLaw(list(outcomes.values()), np.minimum(list(masses.values()), 0.0))


def _shared_neighbours(name: str, mechanisms: Sequence[Mechanism]) -> Neighbouring | None:
    found = [part.neighbours() for part in mechanisms]
    first = found[0]
    if first is None or any(other is None for other in found):
        return None
    keys = [Counter(map(_key, other)) for other in found if other is not None]
    if any(key != keys[0] for key in keys) or any(o is not None and o.relation != first.relation for o in found):
        raise TargetError(
            f"{name}: the mechanisms have different neighbouring inputs; derive a class and define `neighbours` there"
        )
    return first


def _key(pair: Pair) -> Hashable:
    """Return what two pairs have in common only where they are equal; a text where nothing better is known."""
    key = pair_key(pair)
    return repr(pair) if key is None else key


def composed(guarantees: Sequence[tuple[Guarantee, int]]) -> Guarantee | None:
    """Guarantee of independent parts released together, from the parts' own.

    Parameters
    ----------
    guarantees
        (guarantee, count) of each part.

    Returns
    -------
    Guarantee or None
        Of approximate DP epsilon and delta add up; of zero-concentrated DP rho and delta; of Renyi DP of one order the
        epsilons; of Gaussian DP the squares of mu. None where the kinds or the orders differ, or where nothing is
        promised any more.

    References
    ----------
    Dwork, Roth 2014, Theorem 3.16; Bun, Steinke 2016, Lemmas 2.3 and 8.2; Mironov 2017, Proposition 1; Dong, Roth, Su
    2022, Corollary 3.3.

    Examples
    --------
    >>> print(composed([(ZeroConcentratedDP(0.1), 10)]))
    1-zCDP
    """
    first = guarantees[0][0]
    if any(type(each) is not type(first) for each, _ in guarantees):
        return None

    def total(value: Callable[[Any], float]) -> float:
        try:
            return math.fsum(count * value(each) for each, count in guarantees)
        except OverflowError:
            return math.inf

    delta = total(lambda each: getattr(each, "delta", 0.0))
    if delta > 1:
        return None
    if isinstance(first, ApproximateDP):
        return ApproximateDP(total(lambda each: each.epsilon), delta)
    if isinstance(first, ZeroConcentratedDP):
        return ZeroConcentratedDP(total(lambda each: each.rho), delta)
    if isinstance(first, GaussianDP):
        return GaussianDP(math.sqrt(total(lambda each: each.mu * each.mu)))
    if isinstance(first, RenyiDP) and len({each.parameters["alpha"] for each, _ in guarantees}) == 1:
        return RenyiDP(first.alpha, total(lambda each: each.epsilon))
    return None


def _composed_claims(name: str, parts: Sequence[tuple[Mechanism, int]], reason: str) -> list[Claim]:
    """Claim what the first kind of guarantee adds up to that all parts claim."""
    claimed = [(_claimed(part), count) for part, count in parts]
    for kind in claimed[0][0]:
        known = [(each[kind], count) for each, count in claimed if kind in each]
        guarantee = composed(known) if len(known) == len(parts) else None
        if guarantee is not None:
            return _inherited(name, guarantee, reason)
    return []


def _claimed(mechanism: Mechanism) -> dict[type[Guarantee], Guarantee]:
    """First guarantee of every kind that a mechanism claims of its output, in the order of its claims."""
    found: dict[type[Guarantee], Guarantee] = {}
    for claim in mechanism.claims():
        if isinstance(claim, PrivacyClaim) and claim.view == "output" and not claim.inapplicable:
            found.setdefault(type(claim.guarantee), claim.guarantee)
    return found


def _amplified(name: str, mechanism: Mechanism, rate: float, reason: str) -> list[Claim]:
    """Claim log(1 + rate (e^epsilon - 1)) and rate times delta, where approximate DP is claimed."""
    claimed = next((each for each in _claimed(mechanism).values() if isinstance(each, ApproximateDP)), None)
    if claimed is None:
        return []
    # e^epsilon may be too large to be written; the logarithm of the sum is not.
    epsilon = float(np.logaddexp(math.log1p(-rate), math.log(rate) + claimed.epsilon)) if rate < 1 else claimed.epsilon
    return _inherited(name, ApproximateDP(epsilon, rate * claimed.delta), reason)


def _inherited(name: str, guarantee: Guarantee, reason: str) -> list[Claim]:
    statement = f"The outputs together are {guarantee}: {reason}."
    return [PrivacyClaim(id=f"{name}.inherited", statement=statement, guarantee=guarantee)]
