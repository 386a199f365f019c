"""What Song, Lan, Li, Li 2022 say of shuffling beside privacy (Sections 3.2 and 4.2.3), and of their settings."""

import itertools
import math
from collections.abc import Mapping

import numpy as np

import dpaudit
from dpaudit import rankings

from .ddp_helnaksort import DDPHelnaksort
from .ldp_quicksort import LDPQuickSort
from .paper import PAPER
from .shuffling import answer_epsilon, shuffled


@dpaudit.claim(
    "song2022.shuffling-keeps-utility",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="3.2"),
    statement="At equal local ϵ, the answers about a pair make the same margin in whatever order they arrive.",
)
def shuffling_keeps_utility(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    answers = range(4)

    def margin(votes: tuple[int, ...], order: tuple[int, ...]) -> float:
        tallies = [
            rankings.pair_tally(np.zeros((1, 1, len(votes)), dtype=int), np.array([[given]], dtype=float), 1)[0]
            for given in (votes, [votes[place] for place in order])
        ]
        return -float(abs(tallies[0] - tallies[1]))

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[
            {"votes": votes, "order": order}
            for votes in itertools.product((-1, 1), repeat=len(answers))
            for order in itertools.permutations(answers)
        ],
        complete=True,
        scope="all answers of 4 agents about a pair in all orders; the ranking is made of the margins alone",
        inapplicable=_no_shuffler(protocol),
    )


@dpaudit.claim(
    "song2022.source-unguessable",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="3.2", note="with δ for a negligible probability"),
    statement=(
        "Whatever n and m are, the curator guesses the source of a shuffled answer with negligible probability only: "
        "at most δ (a constant chosen here)."
    ),
    ours=True,
)
def source_unguessable(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    # Some agent is the source with at least 1/n, whatever is seen, since these probabilities add up to 1.
    return dpaudit.LemmaClaim(
        margin=lambda: protocol.delta - 1 / protocol.voters,
        instances=[{}],
        complete=True,
        explain=lambda: {"actual": 1 / protocol.voters, "claimed": protocol.delta},
        scope=f"the best guess is right with at least 1/n (actual), n = {protocol.voters}; δ is claimed",
        inapplicable=_no_shuffler(protocol),
    )


@dpaudit.claim(
    "song2022.source-unguessable-meant",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="3.2"),
    statement=(
        "For every n' >= 1 a curator who knows the n' agents on a pair, and nothing of their preferences, guesses who "
        "sent a shuffled answer with probability 1/n' at best, which goes to 0 as n grows; here for n' up to 6."
    ),
)
def source_unguessable_meant(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    def best_guess(agents: int) -> float:
        """Probability that the likeliest source of the first answer received is right, over all that is received."""
        joint: dict[tuple[int, ...], list[float]] = {}
        for sent in itertools.product((0, 1), repeat=agents):
            # Where a preference is a fair coin, so is an answer to it, whatever the noise.
            chance = 0.5**agents
            for order in itertools.permutations(range(agents)):
                received = tuple(sent[agent] for agent in order)
                joint.setdefault(received, [0.0] * agents)[order[0]] += chance / math.factorial(agents)
        return math.fsum(max(sources) for sources in joint.values())

    return dpaudit.LemmaClaim(
        margin=lambda agents: 1 / agents - best_guess(agents),
        instances=[{"agents": agents} for agents in range(1, 7)],
        complete=True,
        explain=lambda agents: {"actual": best_guess(agents), "claimed": 1 / agents},
        tolerance=1e-9,
        scope="all answers of up to 6 agents in all orders",
        inapplicable=_no_shuffler(protocol) or ("the claim is about bits" if protocol.randomizer == "gaussian" else ""),
    )


@dpaudit.claim(
    "song2022.shuffling-amplifies",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section=("3.2", "4.2.3", "5")),
    statement=(
        "At K = 1 and every ϵ, δ and n' >= 2, shuffled answers of n' agents about a pair have a smaller exact ϵ at δ "
        "than one answer alone."
    ),
)
def shuffling_amplifies(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    def numbers() -> Mapping[str, float]:
        return {"actual": exact_epsilon(protocol, protocol.on_a_pair), "claimed": alone(protocol)}

    def margin() -> float:
        actual, claimed = numbers().values()
        return claimed - actual if actual < claimed else -math.inf if actual > claimed else -1.0

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{}],
        complete=True,
        explain=numbers,
        scope=f"local ϵ = {protocol.local_epsilon:.4g}, n' = {protocol.on_a_pair}, δ = {protocol.delta:g}",
        inapplicable=_no_shuffler(protocol)
        or (
            "one answer has nothing to be shuffled with"
            if protocol.on_a_pair < 2
            else "real answers in random order have no exact law here"
            if protocol.randomizer == "gaussian"
            else ""
        ),
    )


def _no_shuffler(protocol: DDPHelnaksort) -> str:
    return "" if protocol.shuffle else "the claim is about shuffled answers, and there is no shuffler"


def _no_exact_law(protocol: DDPHelnaksort) -> str:
    return "no exact law of real answers" if protocol.randomizer == "gaussian" else ""


def exact_epsilon(protocol: DDPHelnaksort, agents: int) -> float:
    """Exact ϵ at δ of so many shuffled answers."""
    return shuffled(protocol.randomizer, protocol.local_epsilon, protocol.delta, agents).epsilon(protocol.delta).epsilon


def alone(protocol: DDPHelnaksort) -> float:
    """Exact ϵ at δ of one answer."""
    return exact_epsilon(protocol, 1)


@dpaudit.claim(
    "song2022.amplification-proportional",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.2.3"),
    statement=(
        "For all n', the amplification bound of Theorem 3.1, ln n', is proportional to the amount of data about a "
        "pair: with twice the data it is twice as large."
    ),
)
def amplification_proportional(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    bound, more = math.log(protocol.share), math.log(2 * protocol.share)
    return dpaudit.LemmaClaim(
        margin=lambda: -abs(more - 2 * bound),
        instances=[{}],
        complete=True,
        explain=lambda: {"actual": more, "claimed": 2 * bound},
        scope=f"n' = {protocol.share:.4g} and twice as many",
        inapplicable=_no_shuffler(protocol),
    )


@dpaudit.claim(
    "song2022.amplification-proportional-meant",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.2.3"),
    statement="At every ϵ, δ and n', twice the data about a pair leave no larger an exact ϵ at δ after shuffling.",
)
def amplification_grows(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    def numbers() -> Mapping[str, float]:
        few, many = (exact_epsilon(protocol, agents) for agents in (protocol.on_a_pair, 2 * protocol.on_a_pair))
        return {"actual": many, "claimed": few}

    return dpaudit.LemmaClaim(
        margin=lambda: numbers()["claimed"] - numbers()["actual"],
        instances=[{}],
        complete=True,
        explain=numbers,
        tolerance=1e-9,
        scope=f"local ϵ = {protocol.local_epsilon:.4g}, δ = {protocol.delta:g}, n' = {protocol.on_a_pair} and twice it",
        inapplicable=_no_shuffler(protocol) or _no_exact_law(protocol),
    )


@dpaudit.claim(
    "song2022.shuffling-as-noise",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.2.3"),
    statement=(
        "At every ϵ, δ and n' > 1 shuffling is equivalent to adding another noise on the data: an answer that was "
        "shuffled is true as often as one with noise for the ϵ - ln n' that is left."
    ),
)
def shuffling_as_noise(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    def numbers() -> Mapping[str, float]:
        shown = protocol.report.but(queries=1, epsilon=max(protocol.amplified, 1e-9)).response
        return {
            "actual": 1 / (1 + math.exp(-answer_epsilon(protocol.randomizer, protocol.local_epsilon, protocol.delta))),
            "claimed": math.exp(shown.law(1).log_probabilities[1]),
        }

    def margin() -> float:
        one, other = numbers().values()
        return -abs(one - other)

    problem = "n' is at most 1" if protocol.share <= 1 else ""
    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{}],
        complete=True,
        explain=numbers,
        scope=(
            f"probability that an answer is true, after shuffling (actual) and with noise for what is left (claimed); "
            f"local ϵ = {protocol.local_epsilon:.4g}, n' = {protocol.share:.4g}"
        ),
        inapplicable=_no_shuffler(protocol)
        or ("the claim is about bits" if protocol.randomizer == "gaussian" else problem),
    )


@dpaudit.claim(
    "song2022.shuffling-as-noise-meant",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.2.3"),
    statement=(
        "At every ϵ, δ and n' the shuffled answers about a pair show one agent's answer plus noise that does not "
        "depend on it, the number of ones among the others' answers."
    ),
)
def shuffling_as_noise_meant(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    others = protocol.on_a_pair - 1

    def margin(ones: int, answer: int) -> float:
        """Minus the total variation distance between what is seen, and one answer plus the others' ones."""
        response = protocol.report.but(queries=1).response
        alone_law = np.exp(response.law(answer).log_probabilities)
        noise = np.ones(1)
        for bit in [1] * ones + [0] * (others - ones):
            noise = np.convolve(noise, np.exp(response.law(bit).log_probabilities))
        total = ones + answer
        data = (protocol.on_a_pair - total, total)
        shuffle = shuffled(protocol.randomizer, protocol.local_epsilon, protocol.delta, protocol.on_a_pair)
        seen = np.exp(shuffle.law(data).log_probabilities)
        return -float(np.abs(seen - np.convolve(alone_law, noise)).sum()) / 2

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{"ones": ones, "answer": answer} for ones in range(others + 1) for answer in (0, 1)],
        complete=True,
        tolerance=1e-9,
        scope=f"all answers of {protocol.on_a_pair} agents on a pair, local ϵ = {protocol.local_epsilon:.4g}",
        inapplicable=_no_shuffler(protocol) or _no_exact_law(protocol),
    )


# The settings of the experiments.


@dpaudit.claim(
    "song2022.dispersion",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.1.1"),
    statement=(
        "For every m up to the given one, and each of 41 dispersions θ from 0 to 4, rankings of the Mallows model are "
        "nearer to the ground truth, in expected Kendall tau distance, where θ is larger."
    ),
)
def dispersion(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    def distance(m: int, theta: float) -> float:
        return rankings.Mallows(np.arange(m), math.exp(-theta)).expected_distance()

    return dpaudit.LemmaClaim(
        margin=lambda m, theta: distance(m, theta) - distance(m, theta + 0.1) - 1e-6,
        instances=[{"m": m, "theta": step / 10} for m in range(2, protocol.alternatives + 1) for step in range(41)],
        complete=True,
        explain=lambda m, theta: {"actual": distance(m, theta + 0.1), "claimed": distance(m, theta)},
        scope=f"m from 2 to {protocol.alternatives}, θ and θ + 0.1",
    )


@dpaudit.claim(
    "song2022.quicksort-comparisons",
    LDPQuickSort,
    kind="rate",
    place=PAPER.at(section="4.2.1"),
    statement=(
        "The largest K of LDP-QuickSort, its number of comparisons, depends on the pivots and is (m - 1) log m in "
        "general: as m grows the mean over the pivots is proportional to that."
    ),
)
def quicksort_comparisons(protocol: LDPQuickSort) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="alternatives",
        points=(4, 8, 16, 32, 64, 128, 256, 512, 1024),
        exponent=0.0,
        shape=lambda m: (m - 1) * math.log(m),
        direction="equal",
        exact=lambda m: rankings.quicksort_expected_comparisons(int(m)),
        quantity="expected number of comparisons",
        scope="all majorities known; the base of the logarithm is not printed",
    )


@dpaudit.claim(
    "song2022.yan-rule",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.2.2"),
    statement=(
        "At every ϵ of the experiment, 0.5 and 1 after shuffling, the rule K = ϵ/2 of Yan et al., who compare g(K) = "
        "ϵ^2 K / (ϵ + 2K)^2 at the whole numbers next to it, gives the best K found, 1."
    ),
    only={"central_epsilon": (0.5, 1.0)},
)
def yan_rule(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    return _by_rule(protocol.amplified)


@dpaudit.claim(
    "song2022.yan-rule-local",
    DDPHelnaksort,
    kind="lemma",
    place=PAPER.at(section="4.2.2", note="with the ϵ of one agent, as Yan et al. have it"),
    statement=(
        "At every ϵ of the experiment the same rule, with the ϵ of one agent, as theirs is, gives the best K found, 1."
    ),
    ours=True,
    only={"central_epsilon": (0.5, 1.0)},
)
def yan_rule_local(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    return _by_rule(protocol.local_epsilon)


def _by_rule(epsilon: float) -> dpaudit.LemmaClaim:
    """The K that Yan, Li, Liu 2020 take, against 1."""
    low = math.floor(max(epsilon, 0.0) / 2)
    nearby = [k for k in (low, low + 1) if k >= 1]
    wanted = max(nearby, key=lambda k: epsilon**2 * k / (epsilon + 2 * k) ** 2)
    return dpaudit.LemmaClaim(
        margin=lambda: 1.0 - wanted,
        instances=[{}],
        complete=True,
        explain=lambda: {"ϵ / 2": epsilon / 2, "actual": wanted, "claimed": 1},
        scope=f"ϵ = {epsilon:.4g}",
        inapplicable="" if epsilon > 0 else f"ϵ is {epsilon:.4g} after shuffling",
    )
