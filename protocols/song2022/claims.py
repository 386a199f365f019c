"""What Song, Lan, Li, Li 2022 claim of privacy, in the paper's order.

What they claim of ranking aggregation is in `aggregation`, of shuffling beside privacy in `statements`, and of their
experiments in `evaluation` and `shuffler_figures`.
"""

import math
from collections.abc import Mapping

import dpaudit
from dpaudit.catalog.cheu2019 import PAPER as CHEU

from .below_zero import claimed_after_shuffling
from .ddp_helnaksort import DDPHelnaksort
from .ldp_quicksort import LDPQuickSort
from .paper import PAPER
from .shuffling import shuffled

LOCAL = PAPER.at(section="3.4", theorem="3.1", note="the local part")


@dpaudit.claim(
    "song2022.gaussian-mechanism",
    DDPHelnaksort,
    kind="privacy",
    place=(PAPER.at(section="2.2"), PAPER.at(section="3.4", equation=2)),
    statement=(
        "At every ϵ > 0, δ in (0, 1) and K, Gaussian noise of deviation K sqrt(2 ln(1.25 / δ)) / ϵ on each of K "
        "answers, 0 or 1, is (ϵ, δ)-differentially private."
    ),
)
def gaussian_mechanism(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=protocol.local_epsilon, delta=protocol.delta, view="noise")


@dpaudit.claim(
    "song2022.gaussian-mechanism-mended",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="2.2", note="as the work cited for it has it"),
    statement=(
        "At every ϵ < 1, δ in (0, 1) and K, Gaussian noise of deviation K sqrt(2 ln(1.25 / δ)) / ϵ on each of K "
        "answers, 0 or 1, is (ϵ, δ)-differentially private."
    ),
    ours=True,
)
def gaussian_mechanism_mended(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    beyond = protocol.local_epsilon >= 1
    return dpaudit.PrivacyClaim(
        epsilon=protocol.local_epsilon,
        delta=protocol.delta,
        view="noise",
        inapplicable=f"the calibration is proved for ϵ < 1, got {protocol.local_epsilon:.4g}" if beyond else "",
    )


@dpaudit.claim(
    "song2022.theorem2.1",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="2.3", theorem="2.1"),
    statement=(
        "For all n, ϵ > 0 and δ, and every (ϵ + ln n, δ)-LDP randomizer, shuffled reports of n agents are (ϵ, δ)-DP."
    ),
)
def theorem2_1(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        view="received",
        epsilon=max(0.0, protocol.amplified),
        delta=protocol.delta,
        inapplicable=_no_shuffler(protocol) or _below_zero(protocol) or _no_premise(protocol),
    )


@dpaudit.claim(
    "song2022.theorem2.1-local",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="2.3", theorem="2.1"),
    statement=(
        "For all n, ϵ > 0 and δ, and every (ϵ + ln n, δ)-LDP randomizer, the report of one agent stays "
        "(ϵ + ln n, δ)-LDP."
    ),
)
def theorem2_1_local(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        view="report",
        epsilon=protocol.local_epsilon,
        delta=protocol.delta,
        inapplicable=_several_answers(protocol) or _below_zero(protocol) or _no_premise(protocol),
    )


@dpaudit.claim(
    "song2022.theorem2.1-meant",
    DDPHelnaksort,
    kind="lemma",
    place=(
        PAPER.at(section="2.3", theorem="2.1", note="as the work cited for it has it"),
        CHEU.at(note="on protocols of single messages"),
    ),
    statement=(
        "For all n, ϵ >= 0 and δ, where shuffled reports of n agents are (ϵ, δ)-DP, the randomizer is "
        "(ϵ + ln n, δ)-LDP."
    ),
)
def theorem2_1_meant(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    setting = (
        f"ϵ = {protocol.local_epsilon:.4g} of one agent, {protocol.on_a_pair} agents on a pair, {protocol.randomizer}"
    )

    def margin() -> float:
        numbers = explain()
        return numbers["claimed"] - numbers["actual"]

    def explain() -> Mapping[str, float]:
        shuffle = shuffled(protocol.randomizer, protocol.local_epsilon, protocol.delta, protocol.on_a_pair)
        central = shuffle.epsilon(protocol.delta).epsilon
        local = dpaudit.compare(shuffle.reports[1], shuffle.reports[0]).epsilon(protocol.delta).upper or 0.0
        return {
            "epsilon of the shuffled reports": central,
            "claimed": central + math.log(protocol.on_a_pair),
            "actual": local,
        }

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{}],
        complete=True,
        explain=explain,
        tolerance=1e-9,
        scope=f"this randomizer at this δ; {setting}",
        inapplicable=_no_shuffler(protocol) or _no_exact_law(protocol),
    )


@dpaudit.claim(
    "song2022.theorem3.1-local",
    DDPHelnaksort,
    kind="privacy",
    place=LOCAL,
    statement=(
        "At every ϵ, δ and K the K thresholded answers of one agent, with Gaussian noise for ϵ/K and δ each, are "
        "(ϵ, δ)-LDP."
    ),
)
def theorem3_1_local(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        epsilon=protocol.local_epsilon,
        delta=protocol.delta,
        view="report",
        inapplicable=_another_randomizer(protocol),
    )


@dpaudit.claim(
    "song2022.theorem3.1-local-mended",
    DDPHelnaksort,
    kind="privacy",
    place=LOCAL,
    statement=(
        "At every ϵ, δ and K the K thresholded answers of one agent, with Gaussian noise for ϵ/K and δ each, are "
        "K ln(Φ(x) / Φ(-x))-LDP, with x = ϵ / (2 K sqrt(2 ln(1.25 / δ)))."
    ),
    ours=True,
    mends=("song2022.theorem3.1-local", "song2022.ldp-quicksort", "song2022.theorem3.1-central-by-lot"),
)
def theorem3_1_local_mended(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        epsilon=protocol.queries * thresholded_epsilon(protocol.local_epsilon / protocol.queries, protocol.delta),
        view="report",
        inapplicable=_another_randomizer(protocol),
    )


@dpaudit.claim(
    "song2022.theorem3.1-central-negative",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1", note="the central part where ϵ < ln n'"),
    statement=(
        "At K = 1 and every δ, n, m and ϵ < ln n', n' = n / C(m, 2), the shuffled answers are (ϵ - ln n', δ)-DP, "
        "whether or not the curator knows who was asked about which pair."
    ),
)
def theorem3_1_central_negative(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    above = "" if protocol.amplified < 0 else f"ϵ - ln n' is {protocol.amplified:.4g}, not below 0"
    return dpaudit.PrivacyClaim(
        view="received",
        guarantee=claimed_after_shuffling(protocol.amplified, protocol.delta),
        inapplicable=_no_shuffler(protocol) or _several_answers(protocol) or _another_randomizer(protocol) or above,
    )


@dpaudit.claim(
    "song2022.theorem3.1-central",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1", note="the central part, pairs known"),
    statement=(
        "At K = 1 and every δ, n, m and ϵ >= ln n' the shuffled answers of the n' = n / C(m, 2) agents on a pair are "
        "(ϵ - ln n', δ)-DP, for a curator who knows which agents it asked about the pair."
    ),
)
def theorem3_1_central(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return _amplified(protocol, "received")


@dpaudit.claim(
    "song2022.theorem3.1-central-by-lot",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1", note="the central part, pairs drawn and known"),
    statement=(
        "At K = 1 and every δ, n, m and ϵ >= ln n' the shuffled answers are (ϵ - ln n', δ)-DP with n' = n / C(m, 2), "
        "when every agent draws its pair, for a curator who knows who drew which."
    ),
)
def theorem3_1_central_by_lot(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return _amplified(protocol, "received-by-lot")


@dpaudit.claim(
    "song2022.theorem3.1-central-secret-draw",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1", note="the central part, pairs drawn in secret"),
    statement=(
        "At K = 1 and every δ, n, m and ϵ >= ln n' the shuffled reports (pair, thresholded Gaussian answer) of all n "
        "agents are (ϵ - ln n', δ)-DP with n' = n / C(m, 2), when every agent draws its pair and nobody else knows "
        "which."
    ),
)
def theorem3_1_central_secret_draw(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return _amplified(protocol, "received-of-secret-draws")


@dpaudit.claim(
    "song2022.theorem3.1-central-mended",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1", note="the central part, pairs known"),
    statement=(
        "At K = 1, every δ, n and m, and every binary randomizer that makes an answer true with odds e^ϵ0, the "
        "shuffled answers of the n' = n / C(m, 2) agents on a pair are (ϵ', δ)-DP, with ϵ' the smaller of ϵ0 and, "
        "where ϵ0 <= ln(n' / (8 ln(2/δ)) - 1), of ln(1 + (e^ϵ0 - 1)(4 sqrt(2 ln(4/δ) / ((e^ϵ0 + 1) n')) + 4/n'))."
    ),
    ours=True,
    mends=("song2022.theorem2.1", "song2022.theorem3.1-central", "song2022.theorem3.1-central-negative"),
)
def theorem3_1_central_mended(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return _bounded(protocol, "received", protocol.on_a_pair)


@dpaudit.claim(
    "song2022.theorem3.1-central-secret-draw-mended",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1", note="the central part, pairs drawn in secret"),
    statement=(
        "At K = 1, every δ, n and m, and whatever noise makes an answer true with odds e^ϵ0, the shuffled reports of "
        "all n agents are (ϵ', δ)-DP, when every agent draws its pair and nobody else knows which, with ϵ' the smaller "
        "of ϵ0 and, where ϵ0 <= ln(n / (8 ln(2/δ)) - 1), of "
        "ln(1 + (e^ϵ0 - 1)(4 sqrt(2 ln(4/δ) / ((e^ϵ0 + 1) n)) + 4/n))."
    ),
    ours=True,
)
def theorem3_1_central_secret_draw_mended(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return _bounded(protocol, "received-of-secret-draws-as-proved", protocol.voters)


@dpaudit.claim(
    "song2022.other-mechanisms-secret-draw",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.1", note="with Theorem 3.1 read for other mechanisms"),
    statement=(
        "At K = 1 and every ϵ, δ, n and m the shuffled reports (pair, noisy answer) of all n agents are "
        "(ϵ - ln n', δ)-DP with n' = n / C(m, 2), whatever ϵ-LDP noise an answer has, when every agent draws its pair "
        "and nobody else knows which."
    ),
    ours=True,
)
def other_mechanisms_secret_draw(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        view="received-of-secret-draws",
        guarantee=claimed_after_shuffling(protocol.amplified, protocol.delta),
        inapplicable=_no_shuffler(protocol)
        or _several_answers(protocol)
        or _no_exact_law(protocol)
        or _no_premise(protocol),
    )


def _amplified(protocol: DDPHelnaksort, view: str) -> dpaudit.PrivacyClaim:
    """What Theorem 3.1 claims after shuffling, ϵ - ln n' and δ, where that ϵ is not negative."""
    below = f"ϵ - ln n' is {protocol.amplified:.4g}; the central part where it is below 0 has a claim of its own"
    return dpaudit.PrivacyClaim(
        view=view,
        guarantee=claimed_after_shuffling(protocol.amplified, protocol.delta),
        inapplicable=_no_shuffler(protocol)
        or _several_answers(protocol)
        or _another_randomizer(protocol)
        or (below if protocol.amplified < 0 else ""),
    )


def _bounded(protocol: DDPHelnaksort, view: str, users: int) -> dpaudit.PrivacyClaim:
    """What is proved of so many shuffled answers that are each true with the odds of the protocol's randomizer."""
    return dpaudit.PrivacyClaim(
        view=view,
        epsilon=protocol.proved(users),
        delta=protocol.delta,
        inapplicable=_no_shuffler(protocol) or _several_answers(protocol) or _no_exact_law(protocol),
    )


def thresholded_epsilon(epsilon: float, delta: float) -> float:
    """Exact ϵ, at δ = 0, of an answer with Gaussian noise for (ϵ, δ) and a threshold at 1/2: ln(Φ(x) / Φ(-x))."""
    from scipy.special import log_ndtr

    x = epsilon / (2 * math.sqrt(2 * math.log(1.25 / delta)))
    return float(log_ndtr(x) - log_ndtr(-x))


def _no_shuffler(protocol: DDPHelnaksort) -> str:
    return "" if protocol.shuffle else "the claim is about shuffled answers, and there is no shuffler"


def _several_answers(protocol: DDPHelnaksort) -> str:
    return "" if protocol.queries == 1 else f"the claim is about K = 1, got K = {protocol.queries}"


def _another_randomizer(protocol: DDPHelnaksort) -> str:
    known = protocol.randomizer == "gaussian-threshold"
    return "" if known else f"the theorem is about Gaussian noise and a threshold, got {protocol.randomizer}"


def _below_zero(protocol: DDPHelnaksort) -> str:
    """Why Theorem 2.1, whose ϵ is that of Definition 1, says nothing at these parameters."""
    return _several_answers(protocol) or (
        "" if protocol.amplified >= 0 else f"ϵ = {protocol.amplified:.4g}, where Definition 1 has a budget ϵ >= 0"
    )


def _no_premise(protocol: DDPHelnaksort) -> str:
    """Why the premise of Theorem 2.1 does not hold: the exact δ of one answer, at the ϵ of one agent, is too large."""
    response = protocol.report.but(queries=1).response
    exact = dpaudit.compare(response.law(1), response.law(0)).delta(protocol.local_epsilon).upper or 0.0
    return f"one answer is not (ϵ, δ)-LDP to begin with: its δ is {exact:.4g}" if exact > protocol.delta else ""


def _no_exact_law(protocol: DDPHelnaksort) -> str:
    """Why nothing is computed exactly at these parameters."""
    return "real answers in random order have no exact law here" if protocol.randomizer == "gaussian" else ""


@dpaudit.claim(
    "song2022.ldp-quicksort",
    LDPQuickSort,
    kind="privacy",
    place=PAPER.at(section="4.1.2"),
    statement=(
        "At every ϵ, δ and K the K thresholded answers of one agent to LDP-QuickSort, with Gaussian noise for ϵ/K and "
        "δ each, are (ϵ, δ)-LDP."
    ),
)
def ldp_quicksort(protocol: LDPQuickSort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=protocol.epsilon, delta=protocol.delta, view="report")
