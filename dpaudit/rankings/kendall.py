"""Kendall tau distances of rankings to rankings and to profiles."""

import numpy as np
import numpy.typing as npt

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings.orders import FloatArray, IntArray, check_rankings, invert
from dpaudit.rankings.pairwise import check_counts, pairwise_counts
from dpaudit.rankings.profiles import Profile


def kendall_tau(a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
    """Count the pairs of alternatives that two rankings order differently.

    Parameters
    ----------
    a, b : array_like of int, shape (..., m)
        Rankings; the leading axes are broadcast against each other.

    Returns
    -------
    ndarray of int64, shape (...)
        Values 0 to m (m-1) / 2.

    Raises
    ------
    DataError
        When a row is not a permutation or the shapes do not fit.

    Examples
    --------
    >>> from dpaudit.rankings import kendall_tau
    >>> int(kendall_tau([0, 1, 2], [2, 1, 0]))
    3
    """
    left, right = invert(check_rankings(a)), invert(check_rankings(b))
    m = left.shape[-1]
    if right.shape[-1] != m:
        raise DataError(f"rankings of {m} and of {right.shape[-1]} alternatives; compare rankings of the same ones")
    try:
        shape = np.broadcast_shapes(left.shape[:-1], right.shape[:-1])
    except ValueError as error:
        raise DataError(
            f"shapes {left.shape} and {right.shape} do not fit; make the leading axes equal or 1"
        ) from error
    distance = np.zeros(shape, dtype=np.int64)
    for j in range(m - 1):
        in_left = left[..., j, None] < left[..., j + 1 :]
        in_right = right[..., j, None] < right[..., j + 1 :]
        distance += np.count_nonzero(in_left != in_right, axis=-1)
    return distance


def ranking_with_inversions(alternatives: int, inversions: int) -> IntArray:
    """Return a ranking that orders a given number of pairs differently from 0, 1, ..., m-1.

    Parameters
    ----------
    alternatives : int
        m.
    inversions : int
        Number of pairs, 0 to m (m-1) / 2.

    Returns
    -------
    ndarray of int64, shape (m,)

    Raises
    ------
    ParameterError
        When the number of inversions is out of range.

    Examples
    --------
    >>> from dpaudit.rankings import kendall_tau, ranking_with_inversions
    >>> ranking = ranking_with_inversions(4, 5)
    >>> int(kendall_tau(ranking, [0, 1, 2, 3]))
    5
    """
    pairs = alternatives * (alternatives - 1) // 2
    if not 0 <= inversions <= pairs:
        raise ParameterError(f"{alternatives} alternatives have {pairs} pairs; {inversions} cannot be inverted")
    order: list[int] = []
    for item in reversed(range(alternatives)):
        # Items from the last on: putting one behind k of the later items makes k inversions.
        jump = min(inversions, len(order))
        order.insert(jump, item)
        inversions -= jump
    return np.array(order, dtype=np.int64)


def kendall_cost(ranking: npt.ArrayLike, counts: npt.ArrayLike) -> IntArray:
    """Total Kendall tau distance of a ranking to all agents of a profile.

    Parameters
    ----------
    ranking : array_like of int, shape (..., m)
    counts : array_like of int, shape (m, m)
        Pairwise counts of the profile.

    Returns
    -------
    ndarray of int64, shape (...)
        Sum of counts[l, j] over the pairs that the ranking puts j before l.

    Raises
    ------
    DataError
        When a row is not a permutation or the shapes do not fit.

    Examples
    --------
    >>> from dpaudit.rankings import kendall_cost, pairwise_counts
    >>> int(kendall_cost([0, 1, 2], pairwise_counts([[0, 1, 2], [2, 1, 0]])))
    3
    """
    rows, table = check_rankings(ranking), check_counts(counts)
    m = rows.shape[-1]
    if len(table) != m:
        raise DataError(f"rankings of {m} alternatives with pairwise counts of {len(table)}; give the same number")
    cost = np.zeros(rows.shape[:-1], dtype=np.int64)
    for place in range(m - 1):
        cost += table[rows[..., place + 1 :], rows[..., place, None]].sum(axis=-1)
    return cost


def average_kendall_tau(
    ranking: npt.ArrayLike, profile: Profile | npt.ArrayLike, normalized: bool = False
) -> FloatArray:
    """Average Kendall tau distance of a ranking to the agents, in O(m^2) given the pairwise counts.

    Parameters
    ----------
    ranking : array_like of int, shape (..., m)
    profile : Profile or array_like of int, shape (m, m)
        A profile, or its pairwise counts.
    normalized : bool
        Divide by the number of pairs m (m-1) / 2.

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    DataError
        When a row is not a permutation, the shapes do not fit, or the counts of pairs add up to different totals.

    Examples
    --------
    >>> from dpaudit.rankings import average_kendall_tau, pairwise_counts
    >>> average_kendall_tau([0, 1, 2], pairwise_counts([[0, 1, 2], [2, 1, 0]]))
    array(1.5)
    """
    counts = pairwise_counts(profile) if isinstance(profile, Profile) else check_counts(profile)
    cost = kendall_cost(ranking, counts)
    m = len(counts)
    if m == 1:
        return np.zeros(cost.shape)
    totals = (counts + counts.T)[np.triu_indices(m, k=1)]
    if totals[0] < 1 or np.any(totals != totals[0]):
        raise DataError("the pairwise counts of the pairs add up to different totals or to 0; count the same agents")
    return np.asarray(cost / (totals[0] * (m * (m - 1) / 2 if normalized else 1)), dtype=np.float64)


def margin_distance(rankings: npt.ArrayLike, margins: npt.ArrayLike, agents: int) -> FloatArray:
    """Average normalised Kendall tau distance of one ranking to each of many profiles, from the profiles' margins.

    Parameters
    ----------
    rankings : array_like of int, shape (B, m)
        One ranking for each profile.
    margins : array_like of float, shape (B, m, m)
        Entry [b, i, j] is the number of agents of profile b who prefer i to j less the number of the others.
    agents : int
        Agents of each profile.

    Returns
    -------
    ndarray of float64, shape (B,)

    Raises
    ------
    DataError
        When a row is not a permutation or the shapes do not fit.

    Examples
    --------
    >>> from dpaudit.rankings import margin_distance, margins, pairwise_counts
    >>> counts = pairwise_counts([[0, 1, 2], [0, 1, 2], [2, 1, 0]])
    >>> margin_distance([[0, 1, 2]], margins(counts)[None], 3).round(4)
    array([0.3333])
    """
    rows, table = check_rankings(rankings), np.asarray(margins, dtype=np.float64)
    if rows.ndim != 2 or table.shape != (*rows.shape, rows.shape[1]):
        raise DataError(
            f"rankings of shape {rows.shape} with margins of shape {table.shape}; give (B, m) and (B, m, m)"
        )
    places = invert(rows)
    i, j = np.triu_indices(rows.shape[1], k=1)
    sign = np.where(places[:, i] < places[:, j], 1.0, -1.0)
    # (1 - sign * margin / n) / 2 of the agents disagree with the ranking on a pair.
    return np.asarray(((1 - sign * table[:, i, j] / agents) / 2).mean(axis=1))
