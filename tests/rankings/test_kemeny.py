import numpy as np
import pytest
import scipy.optimize

from dpaudit.errors import DataError, DpauditError, ParameterError
from dpaudit.rankings import Mallows, Profile, all_rankings, kemeny, kendall_cost, kendall_tau, pairwise_counts


def random_counts(m, n, seed):
    upper = np.triu(np.random.default_rng(seed).integers(0, n + 1, (m, m)), 1)
    return upper + np.triu(n - upper, 1).T


@pytest.mark.parametrize("method", ["dp", "milp", "auto"])
def test_tennessee_capitals(method):
    # the worked example of the Kemeny-Young method: Memphis, Nashville, Chattanooga, Knoxville; 393 of 600 agree
    profile = Profile([[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 1, 0], [3, 2, 1, 0]], [42, 26, 15, 17])
    result = kemeny(pairwise_counts(profile), method=method)
    assert result.ranking == (1, 2, 3, 0)
    assert (result.cost, result.lower_bound) == (600 - 393, 600 - 393)
    assert result.optimal


@pytest.mark.parametrize("method", ["dp", "milp"])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 6])
def test_against_all_rankings(method, m):
    for seed in range(5):
        counts = random_counts(m, 7, seed)
        result = kemeny(counts, method=method)
        assert result.cost == kendall_cost(all_rankings(m), counts).min()
        assert result.cost == kendall_cost(result.ranking, counts)
        assert result.lower_bound == result.cost


def test_cost_is_the_sum_of_distances_to_agents():
    rankings = Mallows(np.array([2, 0, 3, 1]), 0.8).sample(31, np.random.default_rng(0))
    result = kemeny(pairwise_counts(rankings))
    assert result.cost == kendall_tau(result.ranking, rankings).sum()


@pytest.mark.parametrize("m", [10, 13])
def test_dynamic_and_integer_programme_agree(m):
    counts = random_counts(m, 20, m)
    dp, milp = kemeny(counts, method="dp"), kemeny(counts, method="milp")
    assert dp.cost == milp.cost == milp.lower_bound
    assert kendall_cost(milp.ranking, counts) == milp.cost


def test_auto_solves_more_than_the_dynamic_programme_takes():
    centre = np.random.default_rng(1).permutation(20)
    counts = pairwise_counts(Mallows(centre, 0.5).sample(400, np.random.default_rng(2)))
    result = kemeny(counts)
    assert result.optimal
    assert result.ranking == tuple(centre.tolist())
    with pytest.raises(ParameterError, match="m is 20"):
        kemeny(counts, method="dp")


def test_gap_is_certified():
    counts = random_counts(17, 9, 5)
    result = kemeny(counts, method="milp", gap=0.2)
    exact = kemeny(counts, method="dp")
    assert result.lower_bound <= exact.cost <= result.cost
    assert result.cost <= result.lower_bound * 1.25 + 1


def test_gap_reaches_the_solver(monkeypatch):
    asked = []
    solve = scipy.optimize.milp

    def listen(*args, **kwargs):
        asked.append(kwargs["options"]["mip_rel_gap"])
        return solve(*args, **kwargs)

    monkeypatch.setattr(scipy.optimize, "milp", listen)
    kemeny(random_counts(4, 9, 5), method="milp", gap=0.125)
    kemeny(random_counts(4, 9, 5), method="milp")
    assert asked == [0.125, 0.0]


def test_solver_failure_is_reported(monkeypatch):
    class Failed:
        status, x, message = 1, None, "time limit"

    monkeypatch.setattr(scipy.optimize, "milp", lambda *args, **kwargs: Failed())
    with pytest.raises(DpauditError, match="3 alternatives failed: time limit"):
        kemeny(random_counts(3, 5, 0), method="milp")


def test_solver_nonsense_is_reported(monkeypatch):
    class Cyclic:
        status, x, message, fun, mip_dual_bound = 0, np.array([1.0, 0.0, 1.0, 1.0]), "", 0.0, 0.0

    monkeypatch.setattr(scipy.optimize, "milp", lambda *args, **kwargs: Cyclic())
    with pytest.raises(DpauditError, match="no ranking"):
        kemeny(random_counts(3, 5, 0), method="milp")


def test_bound_never_exceeds_the_pairwise_one_wrongly(monkeypatch):
    class Optimal:
        status, x, message, fun, mip_dual_bound = 0, np.array([0.0, 0.0, 0.0, 1.0]), "", 0.0, -5.0

    monkeypatch.setattr(scipy.optimize, "milp", lambda *args, **kwargs: Optimal())
    counts = np.array([[0, 4, 4], [1, 0, 4], [1, 1, 0]])
    result = kemeny(counts, method="milp")
    assert (result.ranking, result.cost, result.lower_bound) == ((2, 1, 0), 12, 3)
    assert not result.optimal


@pytest.mark.parametrize(
    ("kwargs", "message"), [({"method": "x"}, "'x' is unknown"), ({"gap": -0.1}, "gap"), ({"gap": float("nan")}, "gap")]
)
def test_bad_parameters_are_refused(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        kemeny(random_counts(3, 5, 0), **kwargs)


def test_bad_counts_are_refused():
    with pytest.raises(DataError):
        kemeny([[0, 1, 2], [3, 4, 5]])
