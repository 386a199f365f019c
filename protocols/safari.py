"""SAFARI: rankings under local differential privacy by the riffle independent model.

Source: Yang, Cheng, Su, Chen, Ren, Liu, "Collecting preference rankings under local differential privacy", 2018. The
structure comes from Huang and Guestrin, "Learning hierarchical riffle independent groupings from rankings", ICML 2010.

Symbols: epsilon is ε, items d, thin K, agents n, positions σ^-1 (0-based), a chain the K-thin chain T. Rule I has an
attribute (place of x, order of y and z) for each triplet; Rule II one for each leaf's order and each interleaving.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

PAPER = "Yang, Cheng, Su, Chen, Ren, Liu 2018"
FLAT = ("ranking-grr", "ranking-rappor", "ranking-sh", "ranking-olh")
RANDOM_CHAIN, FIXED_CHAIN = "random chain", "fixed chain"
LISTED_ITEMS = 4
CLOSE = 0.05
"""What "close" and "agree" are taken to mean: a variation distance of at most this."""


def rule_one(positions: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Value 2 (place of x) + [z before y] of the triplet that each user is asked about, shape (n,)."""
    x, y, z = rankings.triplets(positions.shape[1])[asked].T
    users = np.arange(len(positions))
    return np.asarray(2 * positions[users, x] + (positions[users, y] > positions[users, z]))


def rule_one_sizes(items: int) -> np.ndarray:
    """Domain sizes of Rule I: 2 d for each triplet."""
    return np.full(len(rankings.triplets(items)), 2 * items)


class SafariReport(dpaudit.Mechanism):
    """What one user sends in both phases, and the chain that the collector broadcasts in between.

    The collector may make the chain from the first report in any way. Here it is drawn uniformly, so that every chain
    occurs together with every first report, and the largest ratio is that of the worst collector. With more than four
    items it is the chain in the order of the labels; all chains are alike up to them.
    """

    notation = (
        "an input is the user's ranking, best first; an output is the triplet asked for and the value "
        "reported, the chain broadcast, and the split asked for and the value reported"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ε, the budget of both phases")
    items: int = dpaudit.parameter(3, minimum=3, maximum=10, doc="d")
    thin: int = dpaudit.parameter(1, minimum=1, maximum=6, doc="K")
    learned: bool = dpaudit.parameter(True, doc="whether there is a first phase, with half of the budget")

    @property
    def chains(self) -> list[rankings.Chain]:
        return _chains(self.items, self.thin) if self.items <= LISTED_ITEMS else [_label_order(self.items, self.thin)]

    def first(self) -> randomizers.SampledResponse:
        """SAFA on Rule I, at ε/2."""
        return randomizers.SampledResponse(rule_one_sizes(self.items), self.epsilon / 2)

    def second(self, chain: rankings.Chain) -> randomizers.SampledResponse:
        """SAFA on Rule II, at ε/2, or at ε where there is no first phase."""
        return randomizers.SampledResponse(chain.sizes(), self.epsilon / 2 if self.learned else self.epsilon)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        positions = np.broadcast_to(rankings.positions(data), (size, self.items))
        columns = []
        if self.learned:
            safa = self.first()
            asked = safa.assign(size, rng)
            columns += [asked, safa.randomize(asked, rule_one(positions, asked), rng)]
        drawn = rng.integers(0, len(self.chains), size)
        second = np.empty((size, 2), dtype=np.int64)
        for number, chain in enumerate(self.chains):
            rows = np.flatnonzero(drawn == number)
            safa = self.second(chain)
            asked = safa.assign(len(rows), rng)
            second[rows, 0] = asked
            second[rows, 1] = safa.randomize(asked, chain.values(positions[rows], asked), rng)
        return np.stack([*columns, drawn, *second.T], axis=1)

    def law(self, data: Any) -> dpaudit.ProductLaw:
        place = rankings.positions(data)[None, :]
        chains = self.chains
        second = dpaudit.PublicMixtureLaw(
            list(range(len(chains))),
            np.full(len(chains), -math.log(len(chains))),
            [self.second(chain).law(_all_values(chain, place)) for chain in chains],
        )
        if not self.learned:
            return dpaudit.ProductLaw([second])
        safa = self.first()
        asked = np.arange(safa.attributes)
        truths = rule_one(np.repeat(place, safa.attributes, axis=0), asked)
        return dpaudit.ProductLaw([safa.law(truths), second])

    def neighbours(self) -> dpaudit.Neighbouring:
        listed = self.items <= LISTED_ITEMS
        words = (
            "the identity against every other, which stand for all under new labels"
            if listed
            else "two rankings that differ do so in an attribute of Rule I and in one of Rule II, and every attribute "
            "that differs makes the same loss, so one pair is as another"
        )
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=self._pairs,
            complete=True,
            scope=f"any two rankings of {self.items} items ({words}); any way to make the chain from the first report",
        )

    def _pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        identity = np.arange(self.items)
        if self.items <= LISTED_ITEMS:
            yield from ((identity, other) for other in rankings.all_rankings(self.items)[1:])
        else:
            yield identity, np.array([*identity[:-2], self.items - 1, self.items - 2])
            yield identity, identity[::-1]


class _Synthesis(dpaudit.Mechanism):
    """The collector: learn a chain, then its laws, then draw n rankings from them."""

    epsilon: float = dpaudit.parameter(1.0, doc="ε, the budget of a user for both phases")
    items: int = dpaudit.parameter(5, minimum=3, maximum=10, doc="d")
    thin: int = dpaudit.parameter(1, minimum=1, maximum=6, doc="K, the largest leaf")
    agents: int = dpaudit.parameter(5000, minimum=1, doc="n")
    chain: Literal["learned", "fixed", "random"] = dpaudit.parameter(
        "learned", doc="learned at ε/2; or in the order of the labels, or at random, with all of ε for the rest"
    )
    split: Literal["anchors", "exhaustive"] = dpaudit.parameter("anchors", doc="how the best split of a set is found")
    ranks: Literal["absolute", "relative"] = dpaudit.parameter(
        "absolute", doc="places within a subset: those among all items (one round), or within it (users for each split)"
    )
    postprocess: Literal["none", "clip", "norm-sub"] = dpaudit.parameter(
        "norm-sub", doc="negative estimates: left; to 0, then scaled (also `none` where one must sample); norm-sub"
    )
    users: Literal["mallows", "plackett-luce", "mixture"] = dpaudit.parameter(
        "mallows",
        doc="whose rankings: Mallows (riffle independent), Plackett-Luce, or two Mallows models mixed",
    )
    dispersion: float = dpaudit.parameter(0.5, above=0, maximum=1, doc="phi of Mallows, ratio of Plackett-Luce weights")
    profile: rankings.Profile | None = dpaudit.parameter(None, doc="real rankings (--data), not a model")

    source = PAPER
    synthetic = ("users", "dispersion")

    def validate(self) -> None:
        if self.profile is not None and self.profile.alternatives != self.items:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'items' is {self.items}, but the data rank {self.profile.alternatives}; "
                "leave it out"
            )

    # The five phases.

    def synthesise(self, orders: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """As many synthetic rankings as there are users, shape (n, d), from theirs."""
        positions = rankings.positions(orders)
        chain = self.structure(positions, rng)
        return chain.sample(self.laws(chain, positions, rng), len(orders), rng)

    def structure(self, positions: np.ndarray, rng: np.random.Generator) -> rankings.Chain:
        """Phases 1 and 2: a K-thin chain."""
        if self.chain == "fixed":
            return _label_order(self.items, self.thin)
        if self.chain == "random":
            return rankings.random_chain(self.items, self.thin, rng)
        exhaustive = self.split == "exhaustive"
        if self.ranks == "absolute":
            return rankings.learn_chain(self.information(positions, rng), self.thin, exhaustive=exhaustive)
        rest, leaves = tuple(range(self.items)), []
        sizes = rankings.thin_leaf_sizes(self.items, self.thin)[:-1]
        for size, group in zip(sizes, self.groups(len(positions), sizes, rng), strict=True):
            places = rankings.relative_positions(positions[group], rest)
            information = self.information(places, rng)
            leaf, left = rankings.best_split(information, range(len(rest)), size, exhaustive=exhaustive)
            leaves.append(tuple(rest[item] for item in leaf))
            rest = tuple(rest[item] for item in left)
        return rankings.Chain((*leaves, rest))

    def information(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Tripletwise mutual information of all triplets, from estimates of the distributions S3."""
        items = positions.shape[1]
        if items < 3 or not len(positions):
            return np.zeros((items,) * 3)
        joint = self.probabilities(self.triplet_frequencies(positions, rng))
        return rankings.information_cube(items, rankings.triplet_information(joint.reshape(-1, items, 2)))

    def laws(self, chain: rankings.Chain, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Phases 3 and 4: probabilities of the orders of the leaves and of the interleavings."""
        frequencies = self.chain_frequencies(chain, positions, rng)
        found = np.zeros_like(frequencies)
        for attribute, size in enumerate(chain.sizes()):
            found[attribute, :size] = self.probabilities(frequencies[attribute, :size])
        return found

    def probabilities(self, estimates: np.ndarray) -> np.ndarray:
        return randomizers.norm_sub(estimates) if self.postprocess == "norm-sub" else randomizers.clipped(estimates)

    def triplet_frequencies(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Frequencies of Rule I's attributes, shape (attributes, 2 d)."""
        raise NotImplementedError

    def chain_frequencies(self, chain: rankings.Chain, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Frequencies of Rule II's attributes, shape (attributes, largest domain)."""
        raise NotImplementedError

    def groups(self, users: int, sizes: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
        """Users who are asked about each split, where every split has a round of its own."""
        raise NotImplementedError

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Synthetic rankings (size, n, d) for users' rankings of shape (n, d), or of a ``Profile``."""
        orders = data.rankings() if isinstance(data, rankings.Profile) else np.asarray(data)
        return np.array([self.synthesise(orders, rng) for _ in range(size)])

    # Its users.

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Rankings of n users, shape (n, d), about centres drawn at random; or those of the data."""
        if self.profile is not None:
            return self.profile.rankings()
        centre = rng.permutation(self.items)
        if self.users == "plackett-luce":
            scores = np.log(self.dispersion) * rankings.positions(centre) + rng.gumbel(size=(self.agents, self.items))
            return np.argsort(-scores, axis=1)
        if self.users == "mallows":
            return rankings.Mallows(centre, self.dispersion).sample(self.agents, rng)
        half = self.agents // 2
        parts = [(centre, half), (rng.permutation(self.items), self.agents - half)]
        return np.concatenate([rankings.Mallows(at, self.dispersion).sample(count, rng) for at, count in parts])

    # Its claims.

    def _setting(self) -> str:
        whose = "the data" if self.profile is not None else f"{self.users} users, phi = {self.dispersion:g}"
        return (
            f"{whose}, n = {self.agents}, d = {self.items}, K = {self.thin}, ε = {self.epsilon:g}, "
            f"negative estimates: {self.postprocess}"
        )

    def _runs(self, once: Callable[[np.ndarray, np.random.Generator], Mapping[str, Any]]) -> Callable[..., Any]:
        """A measurement that repeats one run."""

        def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
            found = [once(self.draw(rng), rng) for _ in range(runs)]
            return {name: np.array([run[name] for run in found]) for name in found[0]}

        return measure

    def _wins(
        self,
        name: str,
        source: str,
        statement: str,
        won: Callable[[Mapping[str, float]], bool],
        systems: Sequence[str],
        *,
        reproduces: str = "",
        inapplicable: str = "",
    ) -> dpaudit.UtilityClaim:
        """P(won) >= 1/2 over runs, beside every system's error."""

        def once(orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
            errors = self.errors(orders, systems, rng)
            return {"value": bool(won(errors)), **errors}

        return dpaudit.UtilityClaim(
            id=f"yang2018.{name}",
            source=f"{PAPER}, {source}",
            statement=statement,
            bound=0.5,
            direction="at-least",
            measure=self._runs(once),
            runs=100,
            quantity="share of the runs; beside it the average variation distances of second-order marginals, cut at 1",
            scope=self._setting(),
            reproduces=reproduces,
            inapplicable=inapplicable,
            on_data=True,
        )

    def errors(self, orders: np.ndarray, systems: Sequence[str], rng: np.random.Generator) -> dict[str, float]:
        """Average variation distance, cut at 1, of systems by name, all on the same users."""
        truth = rankings.second_order_marginals(orders)
        counts = np.bincount(rankings.ranking_index(orders), minlength=math.factorial(self.items))
        found = {}
        for name in systems:
            if name in FLAT:
                flat = _system(name)(epsilon=self.epsilon, items=self.items, postprocess=self.postprocess)
                marginals = flat.marginals(counts, rng)
            else:
                marginals = rankings.second_order_marginals(self.kin(name).synthesise(orders, rng))
            found[name] = min(1.0, float(rankings.variation_distances(marginals, truth, 2).mean()))
        return found

    def kin(self, name: str) -> "_Synthesis":
        """A system of this file at the same parameters."""
        if name in (RANDOM_CHAIN, FIXED_CHAIN):
            return Safari(**{**self.parameters(), "chain": name.partition(" ")[0]})
        kinds: dict[str, type[_Synthesis]] = {each.name: each for each in (Safari, SafariNoPrivacy, Uniform)}
        return kinds[name](**self.parameters())


class SafariNoPrivacy(_Synthesis):
    """SAFARI without noise: what the model and the synthetic sample cost on their own."""

    name = "safari-noprivacy"
    trust = "The collector sees every ranking."

    def triplet_frequencies(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rankings.triplet_distributions(positions).reshape(-1, 2 * positions.shape[1])

    def chain_frequencies(self, chain: rankings.Chain, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        sizes = chain.sizes()
        found = np.zeros((len(sizes), sizes.max()))
        for attribute in range(len(sizes)):
            values = chain.values(positions, np.full(len(positions), attribute))
            found[attribute] = np.bincount(values, minlength=sizes.max()) / len(positions)
        return found

    def groups(self, users: int, sizes: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
        return [np.arange(users)] * len(sizes)

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            self._wins(
                "noprivacy-model",
                "Section II-B",
                f"The riffle independent model is near: without noise the error is below {CLOSE} in most runs.",
                lambda errors: errors["safari-noprivacy"] < CLOSE,
                ("safari-noprivacy", "uniform"),
            )
        ]


class Uniform(_Synthesis):
    """Rankings drawn uniformly: what no data at all give."""

    name = "uniform"
    trust = "Nobody sends anything."

    def synthesise(self, orders: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.permuted(np.tile(np.arange(orders.shape[1]), (len(orders), 1)), axis=1)

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            self._wins(
                "uniform-beats-flat",
                "Figure 1: what the figure leaves out",
                "Every flat baseline has a larger error than rankings drawn without any data, in most runs.",
                lambda errors: errors["uniform"] < min(errors[name] for name in FLAT),
                ("uniform", *FLAT),
            )
        ]


class Safari(_Synthesis):
    """SAFARI: triplets at ε/2, a K-thin chain, its laws at ε/2, synthetic rankings."""

    name = "safari"
    trust = "Nobody is trusted: the collector draws the attributes, every user randomizes their values."
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Section II-B",
            printed="the chain optimises an objective function of tripletwise mutual information (the Anchors method)",
            meant=(
                "least sum of I(x; y, z) with x on one side and y, z on the other; Anchors tries, for every two items "
                "kept behind, the K others whose places tell least about their order; `split`: it or all subsets"
            ),
            reason="neither objective nor search is stated; one fixed anchor, as in ICML 2010, is never split off",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Definition 1 and Section III-A",
            printed="φ is the rank of x under σ, at every split of the chain",
            meant="left open: `ranks` takes the rank among all items, or among those of the set that is split",
            reason=(
                "S3 has ranks among all items only; the model needs them within the set, and items split off earlier "
                "make the others dependent; with `relative` the users are dealt out to a round for each split"
            ),
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Section III-D",
            printed="estimates go into logarithms and samplers, whether negative or not",
            meant="left open: `postprocess`",
            reason="a negative frequency has no logarithm, cannot be sampled from, and its treatment decides Figure 1",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Section IV-A",
            printed="the second-order marginals of [2]",
            meant="for each two items i < j the law of (place of i, place of j); error: mean of half the L1 distances",
            reason="no formula is given",
        ),
    )

    @property
    def report(self) -> SafariReport:
        return SafariReport(epsilon=self.epsilon, items=self.items, thin=self.thin, learned=self.chain == "learned")

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def triplet_frequencies(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        safa = randomizers.SampledResponse(rule_one_sizes(positions.shape[1]), self.epsilon / 2)
        asked = safa.assign(len(positions), rng)
        return safa.estimate(safa.tally(asked, safa.randomize(asked, rule_one(positions, asked), rng)), len(positions))

    def harmony_frequencies(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """As ``triplet_frequencies``, by Harmony."""
        sizes = rule_one_sizes(positions.shape[1])
        harmony = randomizers.SampledProjection(len(sizes), int(sizes[0]), self.epsilon / 2)
        asked = harmony.assign(len(positions), rng)
        reports = harmony.randomize(harmony.orthogonal(), asked, rule_one(positions, asked), rng)
        return harmony.estimate(harmony.orthogonal(), asked, reports)

    def chain_frequencies(self, chain: rankings.Chain, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        safa = self.report.second(chain)
        asked = safa.assign(len(positions), rng)
        return safa.estimate(
            safa.tally(asked, safa.randomize(asked, chain.values(positions, asked), rng)), len(positions)
        )

    def groups(self, users: int, sizes: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
        """In proportion to the triplets of the set that is split."""
        left = self.items - np.concatenate([[0], np.cumsum(sizes)[:-1]])
        weights = np.array([max(1, len(rankings.triplets(int(items)))) for items in left], dtype=float)
        cuts = np.rint(users * np.cumsum(weights / weights.sum())[:-1]).astype(int)
        return np.split(rng.permutation(users), cuts)

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id="yang2018.safari-ldp",
                source=f"{PAPER}, Section III-A",
                statement="What a user sends in both phases together is ε-locally differentially private.",
                epsilon=self.epsilon,
                view="report",
            ),
            *self._rule_claims(),
            *self._figure_claims(),
        ]

    def _rule_claims(self) -> list[dpaudit.Claim]:
        return [
            dpaudit.LemmaClaim(
                id="yang2018.rule1-size",
                source=f"{PAPER}, Section III-B",
                statement="Rule I makes d C(d-1, 2) attributes with 2 d values each, all of which occur.",
                margin=lambda items: (
                    -float(np.abs(_rule_one_size(items) - [items * math.comb(items - 1, 2), 2 * items]).max())
                ),
                instances=[{"items": items} for items in range(3, 9)],
                complete=True,
                scope="d from 3 to 8; all rankings",
            ),
            dpaudit.LemmaClaim(
                id="yang2018.rule1-consistency",
                source=f"{PAPER}, Section III-B",
                statement="S1 and S2 follow from S3: every attribute gives the same Pr[φ] and Pr[λ].",
                margin=lambda profile: -_disagreement(profile),
                variables={"profile": dpaudit.RankingProfiles(agents=6, alternatives=6)},
                tolerance=1e-9,
                scope="distributions S3 of the rankings themselves, up to six items",
            ),
            dpaudit.LemmaClaim(
                id="yang2018.rule1-sufficient",
                source=f"{PAPER}, Sections II-B and III-B",
                statement="S3 determines the distributions that the splits after the first need: ranks within the set.",
                margin=lambda items: float(_rank_gap(items)),
                instances=[{"items": items} for items in (4, 5)],
                complete=True,
                explain=lambda items: {"actual": -float(_rank_gap(items)), "claimed": 0.0},
                scope="d = 4 and 5, sets of d - 1 items; linear functions of the distribution of rankings",
            ),
            dpaudit.UtilityClaim(
                id="yang2018.rule1-consistency-estimates",
                source=f"{PAPER}, Section III-B",
                statement=f"The estimates of two attributes agree on Pr[φ] within {CLOSE}.",
                bound=CLOSE,
                measure=self._runs(lambda orders, rng: {"value": self._estimated_disagreement(orders, rng)}),
                runs=400,
                quantity="variation distance between two attributes' estimates of one Pr[φ], cut at 1, averaged",
                scope=self._setting(),
                on_data=True,
            ),
        ]

    def _figure_claims(self) -> list[dpaudit.Claim]:
        return [
            self._wins(
                "figure1a",
                "Figure 1(a) and Section IV-B",
                "SAFARI's error is below that of every flat baseline in most runs.",
                lambda errors: errors["safari"] < min(errors[name] for name in FLAT),
                ("safari", "safari-noprivacy", "uniform", *FLAT),
                reproduces="Figure 1(a)",
            ),
            self._wins(
                "figure1a-uniform",
                "Figure 1(a): what the figure leaves out",
                "SAFARI's error is below that of uniformly random rankings in most runs.",
                lambda errors: errors["safari"] < errors["uniform"],
                ("safari", "uniform"),
                reproduces="Figure 1(a)",
            ),
            self._wins(
                "figure1a-small",
                "Section IV-B",
                "With fewer than four items the best flat baseline errs at most 0.05 more than SAFARI in most runs.",
                lambda errors: min(errors[name] for name in FLAT) < errors["safari"] + CLOSE,
                ("safari", "safari-noprivacy", "uniform", *FLAT),
                reproduces="Figure 1(a)",
                inapplicable="" if self.items < 4 else "it is about fewer than four items",
            ),
            self._wins(
                "figure1b-nopriv",
                "Figure 1(b) and Section IV-B",
                f"SAFARI's error is at most {CLOSE} above that without privacy in most runs.",
                lambda errors: errors["safari"] < errors["safari-noprivacy"] + CLOSE,
                ("safari", "safari-noprivacy", "uniform"),
                reproduces="Figure 1(b)",
            ),
            dpaudit.UtilityClaim(
                id="yang2018.figure1b-degrades",
                source=f"{PAPER}, Figure 1(b) and Section IV-B",
                reproduces="Figure 1(b)",
                statement=f"SAFARI's error at ε/2 is at most {CLOSE} above that at ε in most runs.",
                bound=0.5,
                direction="at-least",
                measure=self._runs(self._errors_over_epsilon),
                runs=100,
                quantity="share of the runs; beside it the average variation distances, cut at 1",
                scope=self._setting(),
                on_data=True,
            ),
            dpaudit.UtilityClaim(
                id="yang2018.figure1b-advantage",
                reproduces="Figure 1(b)",
                source=f"{PAPER}, Figure 1(b) and Section IV-B",
                statement="SAFARI's lead over the best flat baseline is larger at ε/2 than at ε in most runs.",
                bound=0.5,
                direction="at-least",
                measure=self._runs(self._leads_over_epsilon),
                runs=100,
                beside_support=(-1.0, 1.0),
                quantity="share of the runs; beside it the leads",
                scope=self._setting(),
                on_data=True,
            ),
            dpaudit.UtilityClaim(
                id="yang2018.figure1a-growth",
                reproduces="Figure 1(a)",
                source=f"{PAPER}, Figure 1(a) and Section IV-B",
                statement="SAFARI's lead over the flat baselines is larger with d items than with d - 1 in most runs.",
                inapplicable="" if self.items > 3 else "there is no triplet of fewer than three items",
                bound=0.5,
                direction="at-least",
                measure=self._runs(self._leads_over_items),
                runs=100,
                beside_support=(-1.0, 1.0),
                quantity="share of the runs; beside it the leads",
                scope=f"{self._setting()}; the same users without one item",
                on_data=True,
            ),
            dpaudit.UtilityClaim(
                id="yang2018.figure2",
                reproduces="Figure 2",
                source=f"{PAPER}, Figure 2 and Section IV-B",
                statement="SAFA's distributions S3 are nearer to the truth than Harmony's in most runs.",
                bound=0.5,
                direction="at-least",
                measure=self._runs(self._safa_and_harmony),
                runs=100,
                quantity="share of the runs; beside it the average variation distances, cut at 1",
                scope=f"{self._setting()}; both at ε/2, Harmony with the Hadamard matrix",
                on_data=True,
            ),
            self._wins(
                "learned-chain",
                "Section III-A, Phase 2",
                "The chain learned at ε/2 errs less in most runs than a random one with all of ε for Phase 4.",
                lambda errors: errors["safari"] < errors[RANDOM_CHAIN],
                ("safari", RANDOM_CHAIN, FIXED_CHAIN, "uniform"),
                inapplicable="" if self.chain == "learned" else "the chain is not learned",
            ),
        ]

    def _lead(self, orders: np.ndarray, rng: np.random.Generator) -> float:
        """Error of the best flat baseline less SAFARI's."""
        errors = self.errors(orders, ("safari", *FLAT), rng)
        return min(errors[name] for name in FLAT) - errors["safari"]

    def _errors_over_epsilon(self, orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        half = Safari(**{**self.parameters(), "epsilon": self.epsilon / 2})
        at_full, at_half = (made.errors(orders, ("safari",), rng)["safari"] for made in (self, half))
        return {"value": at_half < at_full + CLOSE, "safari at ε": at_full, "safari at ε/2": at_half}

    def _leads_over_epsilon(self, orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        half = Safari(**{**self.parameters(), "epsilon": self.epsilon / 2})
        at_full, at_half = self._lead(orders, rng), half._lead(orders, rng)
        return {"value": at_half > at_full, "lead at ε": at_full, "lead at ε/2": at_half}

    def _leads_over_items(self, orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        less = Safari(**{**self.parameters(), "items": self.items - 1, "profile": None})
        others = orders[orders != self.items - 1].reshape(len(orders), self.items - 1)
        here, there = self._lead(orders, rng), less._lead(others, rng)
        return {"value": here > there, "lead at d": here, "lead at d - 1": there}

    def _safa_and_harmony(self, orders: np.ndarray, rng: np.random.Generator) -> Mapping[str, Any]:
        positions = rankings.positions(orders)
        truth = rankings.triplet_distributions(positions).reshape(-1, 2 * self.items)
        found = {}
        for name, frequencies in (("safa", self.triplet_frequencies), ("harmony", self.harmony_frequencies)):
            estimates = frequencies(positions, rng)
            kept = estimates if self.postprocess == "none" else self.probabilities(estimates)
            found[name] = float(rankings.variation_distances(kept, truth, 1).mean())
        return {"value": found["safa"] < found["harmony"], **{name: min(1.0, value) for name, value in found.items()}}

    def _estimated_disagreement(self, orders: np.ndarray, rng: np.random.Generator) -> float:
        """Between the first two attributes of item 0."""
        frequencies = self.triplet_frequencies(rankings.positions(orders), rng).reshape(-1, self.items, 2)
        first, second = frequencies[:2].sum(axis=-1)
        return min(1.0, float(np.abs(first - second).sum() / 2))


@cache
def _system(name: str) -> Any:
    return dpaudit.load(name)


def _label_order(items: int, thin: int) -> rankings.Chain:
    """The chain that splits the items off in the order of their labels."""
    ends = np.cumsum(rankings.thin_leaf_sizes(items, thin)).tolist()
    return rankings.Chain(tuple(tuple(range(start, end)) for start, end in zip([0, *ends], ends, strict=False)))


@cache
def _chains(items: int, thin: int) -> list[rankings.Chain]:
    """All K-thin chains, each once."""
    ends = np.cumsum(rankings.thin_leaf_sizes(items, thin)).tolist()
    found = {
        tuple(tuple(sorted(order[start:end])) for start, end in zip([0, *ends], ends, strict=False))
        for order in rankings.all_rankings(items).tolist()
    }
    return [rankings.Chain(leaves) for leaves in sorted(found)]


def _all_values(chain: rankings.Chain, place: np.ndarray) -> np.ndarray:
    """Values of all attributes of Rule II for one ranking, given its places (1, d)."""
    attributes = np.arange(len(chain.sizes()))
    return chain.values(np.repeat(place, len(attributes), axis=0), attributes)


def _printed_size(items: int) -> np.ndarray:
    return np.array([items * math.comb(items - 1, 2), 2 * items])


def _rule_one_size(items: int) -> np.ndarray:
    """Number of attributes of Rule I, and the number of values that occur, the smallest and largest over attributes."""
    positions = rankings.positions(rankings.all_rankings(items))
    seen = {len(np.unique(rule_one(positions, np.full(len(positions), asked)))) for asked in range(items)}
    attributes = len(rankings.triplets(items))
    return np.array([attributes, seen.pop() if len(seen) == 1 else -1])


def _disagreement(profile: np.ndarray) -> float:
    """Largest difference between what two triplets say of the place of x, or of the order of y and z."""
    joint = rankings.triplet_distributions(rankings.positions(profile))
    triplets = rankings.triplets(profile.shape[1])
    worst = 0.0
    for columns, axis in ((triplets[:, :1], -1), (triplets[:, 1:], -2)):
        shares = joint.sum(axis=axis)
        for key in np.unique(columns, axis=0):
            alike = shares[(columns == key).all(axis=1)]
            worst = max(worst, float(np.ptp(alike, axis=0).max()))
    return worst


@cache
def _rank_gap(items: int) -> int:
    """Rank of S3 less that of S3 with ranks within all items but the first besides; 0 where S3 determines these."""
    positions = rankings.positions(rankings.all_rankings(items))
    rows = _triplet_indicators(positions)
    within = _triplet_indicators(rankings.relative_positions(positions, range(1, items)))
    return int(np.linalg.matrix_rank(rows) - np.linalg.matrix_rank(np.concatenate([rows, within])))


def _triplet_indicators(positions: np.ndarray) -> np.ndarray:
    """For every value of every attribute of Rule I, which rankings have it."""
    items = positions.shape[1]
    rows = []
    for asked in range(len(rankings.triplets(items))):
        values = rule_one(positions, np.full(len(positions), asked))
        rows.append(values == np.arange(2 * items)[:, None])
    return np.concatenate(rows).astype(float)
