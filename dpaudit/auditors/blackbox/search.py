"""The neighbour search: which pair of neighbouring inputs to spend the samples on."""

from __future__ import annotations

import math
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np

from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.inputs import Pair, input_key, is_pair, pair_key, short_repr
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.errors import CheckError, ParameterError

Ahead = Callable[[Sequence[Pair], int, Sequence[tuple[str | int, ...]]], Sequence[tuple[float, ...]]]
Predict = Callable[[Pair, int, tuple[str | int, ...]], float | tuple[float, ...]]


class Guide(Protocol):
    """A model of what has been seen in a search so far."""

    def begin(self) -> None:
        """Take note of what is compared from now on."""
        ...

    @property
    def fitted(self) -> bool:
        """Whether there is anything that it says."""
        ...

    def values(self, pairs: Sequence[Pair]) -> Sequence[float] | np.ndarray:
        """What each pair promises."""
        ...

    def climbed(self, pair: Pair, vary: Callable[[Pair], Pair]) -> Pair:
        """Return a pair that promises at least as much, reached by variations."""
        ...


_LEAST = 500
"""Fewest pilot samples of a pair in a round where the budget allows them. Chosen by hand: fewer say next to nothing
about a bound."""

_LEAST_OF_ALL = 100
"""Fewest pilot samples of a pair in a round with any budget. Chosen by hand."""

_FEW_PAIRS = 8
"""Pairs that a small budget is spread over before their samples fall below ``_LEAST``. Chosen by hand: with 4000 pilot
samples or more, a pair gets 500."""

_PATTERN_SHARE = 0.75
"""Share of the places of the first round for patterns; random pairs have the others, in case no pattern shows the
fault. Chosen by hand."""

_FIRST_SHARE = 0.6
"""Share of the places for patterns and random pairs in the first round of a search that varies the best ones; the
others are for variations. Chosen by hand."""

_KEPT_SHARE = 0.4
"""Share of the places of later rounds for pairs of the round before; the others are for variations. Chosen by hand."""

_PROPOSED_SHARE = 0.5
"""Share of the places for variations that a model proposes. Chosen by hand: the model and the samples lead to half of
them each."""

_MOST_PROPOSED = 12
"""Variations that a model proposes in a round, at most. Chosen by hand: each takes `_BATCH` times `_STEPS` valuations
of the model (surrogate.py)."""

_MORE_CLIMBS = 4
"""Climbs of a model in a round beyond the pairs asked for, because some end at pairs that were compared before. Chosen
by hand."""

_GLANCES = 256
"""Pairs that are glanced at before a search that compares few, at most. Chosen by hand: as many as a search without
models compares (`blackbox._MOST_PAIRS`)."""

_GLANCE_SHARE = 0.125
"""Part of the pilot samples for these glances, at most. Chosen by hand; glances themselves are measured: a fault of one
input in 71 was missed by 5 of 12 audits without them and by none with them, at 10^6 samples
(benchmarks/pair_search.md)."""

_STANDING_OUT = 2.0
"""How many times as much as the sixteenth pair (`_COMPARED_WITH`) one has to promise at a glance to come into the
search. Chosen by hand; variants of the glances made no difference beyond luck in sparse vectors
(benchmarks/pair_search.md)."""

_COMPARED_WITH = 16
"""Rank of the pair that others are compared with at a glance. Chosen by hand: up to 15 faulty pairs do not hide one
another."""

_OUTSTANDING_SHARE = 0.25
"""Part of the places of the first round for pairs that stood out at a glance, at most, so that luck in few samples
leaves the others their places. Chosen by hand."""

_UNCERTAIN = 0.25
"""Part of the largest promise by which another pair may fall short of it, and still be as good, but for luck, so that
the model may decide between them. Chosen by hand."""

_TRUST = 8.0
"""Weight of what a model of all outputs promises of a pair, relative to what the pair's own samples promise, at most.
Measured: chosen on seeds 30 to 37 of sparse vectors 1 and 2; with 4, the second had 0.920 of the oracle's bound in
place of 0.959 (benchmarks/pair_search.md)."""

_LEAST_PROMISE = -1e6
"""Promise of a model below which all count alike, so that minus infinity can be added up. Any number below all promises
would do."""

_BEFORE_ALL = -1
"""Number, in the names of random streams, of the round in which pairs are glanced at: the one before round 0."""

_TRIES = 20
"""Variations and random pairs that are drawn for a place before it is left free, as all were seen before. Chosen by
hand."""

_MOST_REPEATS = 100_000
"""Pairs in a row that have been seen before, after which no others are expected: domains whose pairs go on and on end.
Chosen by hand."""

_MOST_LISTED = 200_000
"""Most pairs of a list, which need not end, that a search chooses from: they are held in memory. Chosen by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPair:
    """The pair that a neighbour search chose.

    Attributes
    ----------
    pair
        The pair; samples that the search drew must not be used for a statement about it.
    searched
        Number of distinct pairs looked at.
    total
        Number of pairs that there are; None where they are infinitely many or not counted.
    samples
        Pilot samples spent per side.
    rounds
        Rounds of the search; 0 where there was nothing to choose.
    """

    pair: Pair
    searched: int
    total: int | None
    samples: int
    rounds: int


def find_pair(
    neighbouring: Neighbouring,
    predict: Predict,
    *,
    samples: int,
    streams: Streams,
    most: int = 256,
    name: str = "the mechanism",
    ahead: Ahead | None = None,
    guide: Guide | None = None,
    guided_to_the_end: bool = True,
    glancing: bool = False,
) -> ChosenPair:
    """Choose the pair of neighbouring inputs with the largest predicted bound, by successive halving.

    Where all pairs are at most ``most`` and the budget gives each of them 500 samples, all of them are candidates;
    otherwise the domain's patterns and random pairs are. Rounds share the budget evenly, and each has half the places
    of the one before with twice the samples. Where pairs were left out, variations of the best so far compete for the
    places too, one after the other, so that the search climbs; in the last round only pairs that have come through.

    Parameters
    ----------
    neighbouring
        The pairs, and the domain that further ones are drawn from.
    predict
        ``predict(pair, samples, purpose)`` draws so many samples from each side with the streams of that purpose (a
        different one for every call), and returns the bound that it expects in the end. The order of the numbers is
        all that counts: they may be negative; NaN counts as lowest, and of equals the one tried first. Where it
        returns several numbers, always equally many, each ranks the pairs: the best by each of them stay, and the first
        decides in the end.
    samples
        Pilot samples per side for the whole search, at least 0. With fewer than 4000, a pair gets fewer than 500.
    streams
        Random streams of the search; equal ones give equal results.
    most
        Most pairs in the first round, at least 1.
    name
        Name of the mechanism in messages.
    ahead
        ``ahead(pairs, samples, purposes)`` predicts for several pairs at once what ``predict`` does for each; asked at
        the beginning of a round for all pairs that are known by then.
    guide
        A model of what has been seen so far, where pairs were left out. It proposes pairs for some of the places of
        variations, those that it ranks best stay, too, and in the end it has a part in the decision between those
        whose first prediction is not far below the largest.
    guided_to_the_end
        Whether it has that part in the decision.
    glancing
        Whether, where pairs were left out, more of them are predicted with few samples before the first round. Those
        whose first prediction is far above that of most of the others come into it.

    Returns
    -------
    ChosenPair

    Raises
    ------
    CheckError
        There is no pair.
    ParameterError
        A number is out of range.

    Notes
    -----
    **Guarantee.** None about the pair: a search may miss the worst one. It never spends more than ``samples``.
    **Checked against** predictions whose best pair is known.
    Successive halving: Karnin, Koren, Somekh 2013, "Almost optimal exploration in multi-armed bandits".
    """
    if samples < 0:
        raise ParameterError(f"samples of a neighbour search must be at least 0, got {samples}")
    if most < 1:
        raise ParameterError(f"most pairs of a neighbour search must be at least 1, got {most}")
    least = min(_LEAST, max(_LEAST_OF_ALL, samples // _FEW_PAIRS))
    affordable = max(1, min(most, samples // least))
    candidates = list(islice(_without_repeats(neighbouring, set()), affordable + 1))
    if not candidates:
        raise CheckError(f"{name}: `neighbours` lists no pair; list at least one")
    if len(candidates) <= affordable and (neighbouring.domain is None or neighbouring.complete):
        places = len(candidates)
        rounds = max(1, min(math.ceil(math.log2(places)), samples // (least * places)))
        return _halve(
            candidates, None, predict, samples=samples, rounds=rounds, places=places, total=places, ahead=ahead
        )
    supply = _Supply(neighbouring, streams.generator("neighbour-search"))
    glanced_at: list[Pair] = []
    outstanding: list[Pair] = []
    spent = 0
    if glancing:
        glances = _Supply(neighbouring, streams.generator("glances"))
        glanced_at = glances.first(min(_GLANCES, int(_GLANCE_SHARE * samples) // least))
        ranked = _Ranking()
        _Comparisons(predict, ahead, least, _BEFORE_ALL, ranked)(glanced_at)
        spent = least * len(glanced_at)
        samples -= spent
        outstanding = ranked.outstanding()
    if guide is not None:
        guide.begin()
    rounds = 1
    while 2 ** (rounds + 1) <= min(most, samples // (least * (rounds + 1))):
        rounds += 1
    places = max(1, min(most, samples // (least * rounds)))
    outstanding = outstanding[: int(_OUTSTANDING_SHARE * places)]
    candidates = supply.first(places if rounds == 1 else math.ceil(_FIRST_SHARE * places), outstanding)
    found = _halve(
        candidates,
        supply,
        predict,
        samples=samples,
        rounds=rounds,
        places=places,
        total=supply.total,
        ahead=ahead,
        guide=guide,
        guided_to_the_end=guided_to_the_end,
    )
    return replace(found, searched=found.searched + supply.not_given(glanced_at), samples=found.samples + spent)


def _halve(
    candidates: Sequence[Pair],
    supply: _Supply | None,
    predict: Predict,
    *,
    samples: int,
    rounds: int,
    places: int,
    total: int | None,
    ahead: Ahead | None = None,
    guide: Guide | None = None,
    guided_to_the_end: bool = True,
) -> ChosenPair:
    """Let pairs compete for half as many places in each round; variations of the best take those that are free."""
    if len(candidates) == 1:
        return ChosenPair(pair=candidates[0], searched=1, total=total, samples=0, rounds=0)
    searched, spent = len(candidates), 0
    for current in range(rounds):
        count = math.ceil(places / 2**current)
        each = samples // rounds // count
        # The last round decides among pairs that have stood a test before.
        varied = supply if current < rounds - 1 else None
        if current:
            candidates = candidates[: count if varied is None else math.ceil(_KEPT_SHARE * count)]
        ranked = _Ranking()
        compare = _Comparisons(predict, ahead, each, current, ranked)
        compare(candidates[:count])
        if varied is not None and guide is not None and guide.fitted:
            proposed = min(_MOST_PROPOSED, int(_PROPOSED_SHARE * (count - len(ranked))))
            compare(varied.propose(ranked.pairs(guide), proposed, guide))
        while varied is not None and len(ranked) < count:
            new = varied.vary(ranked.pairs()[: count // 2 + 1])
            if new is None:
                break
            compare([new])
        searched += len(ranked) - min(count, len(candidates))
        spent += each * len(ranked)
        candidates = ranked.pairs(None if supply is None else guide)
    if supply is None or guide is None or not (guided_to_the_end and guide.fitted):
        chosen = ranked.pairs()[0]
    else:
        chosen = ranked.decided(guide)
    return ChosenPair(pair=chosen, searched=searched, total=total, samples=spent, rounds=rounds)


@dataclass(frozen=True, slots=True)
class _Comparisons:
    """Comparisons of one round, which fill its ranking; each has a purpose of its own."""

    predict: Predict
    ahead: Ahead | None
    samples: int
    current: int
    ranked: _Ranking

    def __call__(self, pairs: Sequence[Pair]) -> None:
        first = len(self.ranked)
        purposes: list[tuple[str | int, ...]] = [("pilot", self.current, first + i) for i in range(len(pairs))]
        known = self.ahead(pairs, self.samples, purposes) if self.ahead else ()
        for i, (pair, purpose) in enumerate(zip(pairs, purposes, strict=True)):
            predicted = known[i] if i < len(known) else self.predict(pair, self.samples, purpose)
            self.ranked.add(pair, predicted if isinstance(predicted, tuple) else (predicted,))


class _Ranking:
    """Pairs by one or several predictions."""

    def __init__(self) -> None:
        self._pairs: list[Pair] = []
        self._by: list[list[tuple[float, int]]] = []

    def add(self, pair: Pair, predicted: tuple[float, ...]) -> None:
        """Add a pair."""
        self._by = self._by or [[] for _ in predicted]
        for ranked, value in zip(self._by, predicted, strict=True):
            # After its equals, so that of equal pairs the one tried first stays in front.
            place = (-math.inf if math.isnan(value) else value, len(self._pairs))
            insort(ranked, place, key=lambda item: -item[0])
        self._pairs.append(pair)

    def __len__(self) -> int:
        return len(self._pairs)

    def pairs(self, guide: Guide | None = None) -> list[Pair]:
        """Return the best by each prediction in turn, then the second best by each, and so on.

        A guide adds two rankings: in front, that by the first prediction and the guide together, and that by the guide.
        """
        by = [[number for _, number in ranked] for ranked in self._by]
        if guide is not None and guide.fitted:
            promised = np.asarray(guide.values(self._pairs))
            both = self._together(promised)
            by = [np.argsort(-both, kind="stable").tolist(), *by, np.argsort(-promised, kind="stable").tolist()]
        numbers = dict.fromkeys(number for tier in zip(*by, strict=True) for number in tier)
        return [self._pairs[number] for number in numbers]

    def outstanding(self) -> list[Pair]:
        """Return the pairs whose first prediction is above 0 and above that of most of the others, the best first."""
        first = self._by[0] if self._by else []
        others = first[_COMPARED_WITH - 1][0] if len(first) >= _COMPARED_WITH else 0.0
        return [self._pairs[number] for value, number in first if value > max(_STANDING_OUT * others, 0.0)]

    def decided(self, guide: Guide) -> Pair:
        """Return the pair best by its first prediction and a guide, if the first is not far below the largest."""
        most = float(np.max(self._first))
        near = np.flatnonzero(self._first >= most - _UNCERTAIN * abs(most)).tolist()
        if not near:
            return self.pairs()[0]
        promised = np.asarray(guide.values(self._pairs))
        both = self._together(promised)
        return self._pairs[near[int(np.argmax(both[near]))]]

    def _together(self, promised: np.ndarray) -> np.ndarray:
        """First predictions plus a guide's, which count little where they explain a small part of the first."""
        clear = self._first > 0
        explained = float(np.median(promised[clear] / self._first[clear])) if clear.any() else 1.0
        trust = _TRUST * min(max(explained, 0.0), 1.0) ** 2
        return np.asarray(self._first + trust * np.maximum(promised, _LEAST_PROMISE))

    @property
    def _first(self) -> np.ndarray:
        """First prediction of every pair, in the order in which they were added."""
        return np.array([value for value, _ in sorted(self._by[0], key=lambda item: item[1])])


class _Supply:
    """Candidates of a search that cannot look at all pairs, each given once."""

    def __init__(self, neighbouring: Neighbouring, rng: np.random.Generator) -> None:
        self._rng = rng
        self._seen: set[Any] = set()
        domain = neighbouring.domain
        self._source = _Listed(neighbouring) if domain is None else domain
        self._patterns: Iterable[Pair] = ()
        if domain is not None:
            # Pairs that a mechanism lists beside its domain are those that it wants tried first.
            self._patterns = domain.patterns() if neighbouring.complete else chain(neighbouring, domain.patterns())
        self.total = self._source.count()

    def first(self, count: int, outstanding: Sequence[Pair] = ()) -> list[Pair]:
        """Pairs that stand out, then patterns, and random pairs for at least a quarter of the other places."""
        pairs = list(_without_repeats(outstanding, self._seen))
        patterns = math.ceil(_PATTERN_SHARE * (count - len(pairs)))
        pairs += islice(_without_repeats(self._patterns, self._seen), patterns)
        drawn = (self._source.draw(self._rng) for _ in range(_TRIES * count))
        return pairs + list(islice(_without_repeats(drawn, self._seen), count - len(pairs)))

    def not_given(self, pairs: Sequence[Pair]) -> int:
        """How many of these distinct pairs were not given."""
        return sum(1 for pair in pairs if (key := pair_key(pair)) is None or key not in self._seen)

    def vary(self, parents: Sequence[Pair]) -> Pair | None:
        """Return a variation of one of the pairs, sooner of one in front, or else a random pair; None if not new."""
        parent = int(len(parents) * self._rng.random() ** 2)
        varied = (self._source.vary(parents[parent], self._rng) for _ in range(_TRIES))
        drawn = (self._source.draw(self._rng) for _ in range(_TRIES))
        return next(_without_repeats(chain(varied, drawn), self._seen), None)

    def propose(self, parents: Sequence[Pair], count: int, guide: Guide) -> list[Pair]:
        """Pairs that a model prefers to the best so far, or to random ones, each reached from another."""

        def climbed() -> Iterator[Pair]:
            for number in range(count + _MORE_CLIMBS):
                again = number % 2 or number // 2 >= len(parents)
                start = self._source.draw(self._rng) if again else parents[number // 2]
                yield guide.climbed(start, lambda pair: self._source.vary(pair, self._rng))

        return list(islice(_without_repeats(climbed(), self._seen), count))


class _Listed:
    """Pairs of a list, as a domain in which pairs with an input in common are near to each other."""

    def __init__(self, neighbouring: Neighbouring) -> None:
        self._pairs = list(islice(neighbouring, _MOST_LISTED + 1))
        self._with: defaultdict[Any, list[int]] = defaultdict(list)
        for i, pair in enumerate(self._pairs):
            for key in {input_key(data) for data in pair}:
                self._with[key].append(i)

    def count(self) -> int | None:
        return len(self._pairs) if len(self._pairs) <= _MOST_LISTED else None

    def draw(self, rng: np.random.Generator) -> Pair:
        return self._pairs[rng.integers(len(self._pairs))]

    def vary(self, pair: Pair, rng: np.random.Generator) -> Pair:
        shared = self._with[input_key(pair[rng.integers(2)])]
        return self._pairs[shared[rng.integers(len(shared))]]


def _without_repeats(pairs: Iterable[Pair], seen: set[Any]) -> Iterator[Pair]:
    """Leave out pairs seen before, and remember the others; pairs that cannot be told apart count as new.

    Pairs that go on and on, but only repeat themselves, end.
    """
    repeats = 0
    for pair in pairs:
        if not is_pair(pair):
            raise CheckError(f"a domain gave {short_repr(pair)}; it must give tuples (x, y) of two inputs to compare")
        key = pair_key(pair)
        if key is not None and key in seen:
            repeats += 1
            if repeats == _MOST_REPEATS:
                return
            continue
        repeats = 0
        if key is not None:
            seen.add(key)
        yield pair
