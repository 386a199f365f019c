"""Published bounds on what shuffling leaves of a local epsilon, to stand beside exact values.

All are for ``users`` reports, one from each user, by one randomizer that is epsilon0-locally differentially private
(pure, ``local_epsilon``), and bound (epsilon, delta) under substitution of one user's input.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit.errors import ParameterError

_NEGLIGIBLE = 1e-40


def clones_epsilon(local_epsilon: float, users: int, delta: float) -> float:
    """Bound on epsilon for any randomizer, by "hiding among the clones"; infinite where it is not claimed.

    log(1 + (e^epsilon0 - 1) / (e^epsilon0 + 1) (8 sqrt(e^epsilon0 log(4/delta) / n) + 8 e^epsilon0 / n)), claimed for
    epsilon0 <= log(n / (16 log(2/delta))).

    References
    ----------
    Feldman, McMillan, Talwar, "Hiding among the clones", FOCS 2021, Theorem 3.1.
    """
    _check(local_epsilon, users, delta)
    if local_epsilon > math.log(users / (16 * math.log(2 / delta))):
        return math.inf
    odds = math.exp(local_epsilon)
    spread = 8 * math.sqrt(odds * math.log(4 / delta) / users) + 8 * odds / users
    return math.log1p(math.tanh(local_epsilon / 2) * spread)


def stronger_clones_epsilon(local_epsilon: float, users: int, delta: float) -> float:
    """Sharper bound on epsilon for randomized response and some other randomizers; infinite where it is not claimed.

    log(1 + (e^epsilon0 - 1) (4 sqrt(2 log(4/delta) / ((e^epsilon0 + 1) n)) + 4 / n)), claimed for
    epsilon0 <= log(n / (8 log(2/delta)) - 1).

    References
    ----------
    Feldman, McMillan, Talwar, "Stronger privacy amplification by shuffling for Renyi and approximate differential
    privacy", SODA 2023, Section 3; its errata restrict the randomizers, and keep randomized response among them.
    """
    _check(local_epsilon, users, delta)
    room = users / (8 * math.log(2 / delta)) - 1
    if room <= 0 or local_epsilon > math.log(room):
        return math.inf
    odds = math.exp(local_epsilon)
    spread = 4 * math.sqrt(2 * math.log(4 / delta) / ((odds + 1) * users)) + 4 / users
    return math.log1p((odds - 1) * spread)


def blanket_hoeffding_delta(epsilon: float, local_epsilon: float, users: int) -> float:
    """Bound on delta for binary randomized response: the privacy blanket with Hoeffding's inequality.

    b^2 / (4 a gamma n) (1 - gamma (1 - e^(-2 a^2 / b^2)))^n with a = e^epsilon - 1, the share of the blanket
    gamma = 2 / (e^epsilon0 + 1), and b = 2 (1 + e^epsilon) tanh(epsilon0 / 2), the range of the amplification variable.

    References
    ----------
    Balle, Bell, Gascon, Nissim, "The privacy blanket of the shuffle model", CRYPTO 2019, Section 5.
    """
    _check(local_epsilon, users)
    if not epsilon >= 0:
        raise ParameterError(f"epsilon must be at least 0, got {epsilon}")
    if epsilon == 0:
        return 1.0
    a, share = math.expm1(epsilon), _share(local_epsilon)
    b = 2 * (1 + math.exp(epsilon)) * math.tanh(local_epsilon / 2)
    rate = -math.log1p(share * math.expm1(-2 * (a / b) ** 2))
    return min(1.0, b**2 / (4 * a * share * users) * math.exp(-users * rate))


def blanket_delta(epsilon: float, local_epsilon: float, users: int) -> float:
    """Bound on delta for binary randomized response: the privacy blanket, with its expectation computed exactly.

    Every other user sends a fair coin with probability gamma = 2 / (e^epsilon0 + 1), independently, and the receiver
    is told who did not: the mean over M ~ Bin(n - 1, gamma) of the divergence among M fair coins. This is
    E[(L_1 + ... + L_N)_+] / (gamma n) with N ~ Bin(n, gamma) and the amplification variables L_i of the paper.

    References
    ----------
    Balle, Bell, Gascon, Nissim, "The privacy blanket of the shuffle model", CRYPTO 2019, Section 5.
    """
    return _among_coins(epsilon, local_epsilon, users, _share(local_epsilon))


def clones_delta(epsilon: float, local_epsilon: float, users: int) -> float:
    """Bound on delta for any randomizer, by "hiding among the clones", with its divergence computed exactly.

    As `blanket_delta`, with a share e^-epsilon0 of fair coins.

    References
    ----------
    Feldman, McMillan, Talwar, "Hiding among the clones", FOCS 2021, Section 3.
    """
    return _among_coins(epsilon, local_epsilon, users, math.exp(-local_epsilon))


def _share(local_epsilon: float) -> float:
    return 2 * math.exp(-local_epsilon) / (1 + math.exp(-local_epsilon))


def _among_coins(epsilon: float, local_epsilon: float, users: int, share: float) -> float:
    """Mean over M ~ Bin(users - 1, share) of the divergence that one report has among M fair coins."""
    from scipy.stats import binom

    _check(local_epsilon, users)
    gain = (1 - math.exp(epsilon - local_epsilon)) / (1 + math.exp(-local_epsilon))
    if gain <= 0:
        return 0.0
    coins = np.arange(users)
    weights = binom.pmf(coins, users - 1, share)
    coins, weights = coins[weights > _NEGLIGIBLE], weights[weights > _NEGLIGIBLE]
    # The event is: at least so many ones, from where on the law of the coins falls by this factor or more.
    fall = 1 + math.expm1(epsilon) / gain
    least = np.ceil((coins + 1) * (fall / (1 + fall)))
    deltas = gain * binom.pmf(least - 1, coins, 0.5) - math.expm1(epsilon) * binom.sf(least - 1, coins, 0.5)
    return float(weights @ np.maximum(deltas, 0.0))


def _check(local_epsilon: float, users: int, delta: float = 0.5) -> None:
    if not (math.isfinite(local_epsilon) and local_epsilon > 0):
        raise ParameterError(f"local_epsilon must be a finite number above 0, got {local_epsilon}")
    if users < 1:
        raise ParameterError(f"users must be at least 1, got {users}")
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be above 0 and below 1, got {delta}")
