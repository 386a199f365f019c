"""Looking step functions up in even cells gives what searching their edges gives, to the last bit."""

import numpy as np
import pytest

from dpaudit.auditors.learning.lookup import Lookup
from dpaudit.auditors.learning.mixtures import MixtureScore
from dpaudit.auditors.learning.row_scores import AdditiveScore
from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import Identity, Ordered
from dpaudit.auditors.outputs.columns import Columns

LARGEST = np.finfo(float).max


def searched(tables, rows):
    total = np.zeros(len(rows))
    for column, table in enumerate(tables):
        total += table.values[np.searchsorted(table.edges, rows[:, column].astype(float), side="right")]
    return total


def tables_with(edges, rng):
    return [Table(np.asarray(each, dtype=float), rng.normal(size=len(each) + 1)) for each in edges]


def on_and_beside(edges):
    """Every edge, and the numbers next to it."""
    edges = np.asarray(edges, dtype=float)
    with np.errstate(over="ignore", under="ignore"):
        return np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])


EDGES = {
    "even": np.arange(-5.0, 6.0),
    "one": [0.3],
    "one at zero": [0.0],
    "pairs of neighbours": np.sort(np.r_[np.arange(40.0), np.nextafter(np.arange(40.0), np.inf)]),
    "far tails": np.r_[-1e12, -1e6, np.linspace(-1, 1, 60), 1e7, 1e13],
    "crowded": np.r_[np.linspace(0, 1e-9, 50), 1.0, 2.0],
    "as large as numbers are": [-LARGEST, -1.0, 0.0, 1.0, LARGEST],
    "as small as numbers are": [-5e-324, 0.0, 5e-324],
    "infinite": [-np.inf, 0.0, 1.0, np.inf],
    "only infinite": [np.inf],
    "whole and large": 2.0**53 + 2 * np.arange(10),
    "as near as single precision tells apart": 1 + np.arange(20) * 2.0**-23,
    "nearer than single precision tells apart": 1e6 + np.arange(40) * 2.0**-9,
    "many": np.linspace(-3, 3, 200),
}


@pytest.mark.parametrize("name", EDGES)
def test_one_column(name):
    rng = np.random.default_rng(1)
    tables = tables_with([EDGES[name]], rng)
    numbers = np.r_[on_and_beside(EDGES[name]), rng.normal(size=50) * 3, 0.0, -0.0, LARGEST, -LARGEST, np.inf, -np.inf]
    rows = numbers[:, None]
    assert np.array_equal(Lookup.of(tables)(rows), searched(tables, rows))


@pytest.mark.parametrize("name", ["even", "many", "nearer than single precision tells apart"])
def test_what_is_no_number_counts_as_the_least(name):
    """Sums of infinite numbers may be no numbers."""
    tables = tables_with([EDGES[name], EDGES[name]], np.random.default_rng(5))
    odd, least = np.array([[np.nan, 0.0], [1.0, np.nan]]), np.array([[-LARGEST, 0.0], [1.0, -LARGEST]])
    assert np.array_equal(Lookup.of(tables)(odd), searched(tables, least))


@pytest.mark.parametrize("dtype", [float, np.float32, np.int8, np.int64, np.uint64, bool])
def test_columns_add_up_in_their_order(dtype):
    """Some columns do not vary; rows are more than are looked up at a time."""
    rng = np.random.default_rng(2)
    edges = [np.sort(rng.normal(size=size) * 20) for size in (30, 0, 1, 300, 9)]
    tables = tables_with(edges, rng)
    tables[1] = Table(np.empty(0), np.zeros(1))
    rows = (rng.normal(size=(9000, 5)) * 30).clip(-120 if np.dtype(dtype).kind in "if" else 0, 120).astype(dtype)
    assert np.array_equal(Lookup.of(tables)(rows), searched(tables, rows))


def test_many_columns_add_up_in_their_order():
    """Numbers beside edges are searched; numpy adds up eight and more that lie side by side in another order."""
    rng = np.random.default_rng(8)
    edges = [np.sort(rng.normal(size=60)) for _ in range(20)]
    tables, rows = tables_with(edges, rng), rng.normal(size=(5000, 20))
    assert np.array_equal(Lookup.of(tables)(rows), searched(tables, rows))


def test_a_constant_column_adds_its_constant():
    table, constant = Table(np.array([0.0]), np.array([1.0, 2.0])), Table(np.empty(0), np.array([0.25]))
    assert Lookup.of([constant, table])(np.array([[9.0, -1.0], [9.0, 0.0]])).tolist() == [1.25, 2.25]
    assert Lookup.of([constant]) is None


@pytest.mark.parametrize("varying", [(0, 3), (1, 2, 3), (2, 5), (0, 6)])
@pytest.mark.parametrize("edges", [3, 30])
def test_scores_of_numbers_in_order_leave_out_gaps_that_say_nothing(varying, edges):
    """With few edges, scores are made of comparisons; columns 4 to 6 are the gaps between the four numbers."""
    rng = np.random.default_rng(6)
    tables = [Table(np.empty(0), np.array([0.5])) for _ in range(7)]
    for column in varying:
        tables[column] = Table(np.sort(rng.normal(size=edges)), rng.normal(size=edges + 1))
    score = AdditiveScore(Ordered(Columns()), tuple(tables))
    rows = rng.normal(size=(500, 4))
    ordered = np.sort(rows, axis=1)
    expected = searched(tables, np.column_stack([ordered, np.diff(ordered, axis=1)]))
    assert score(rows) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_cells_of_each_column():
    edges = [np.array([0.0, 1.0]), np.empty(0), np.array([5.0])]
    tables = [Table(each, np.arange(len(each) + 1.0)) for each in edges]
    rows = np.array([[-1.0, 7.0, 5.0], [0.0, 7.0, 4.0], [1.0, 7.0, 9.0]])
    found = Lookup.of(tables).each(rows, np.int32)
    assert found.dtype == np.int32
    assert found.tolist() == [[0, 1, 2], [1, 0, 1]]


def test_a_mixture_is_the_log_ratio_of_two_sums_of_products():
    rng = np.random.default_rng(3)
    edges = (np.array([0.0]), np.empty(0), np.array([-1.0, 1.0]))
    weights = np.log(rng.dirichlet(np.ones(3), size=2))
    laws = np.log(np.stack([np.r_[rng.dirichlet([1, 1], 3).T, rng.dirichlet([1, 1, 1], 3).T] for _ in range(2)]))
    score = MixtureScore(Identity(Columns()), edges, np.array([0, 2]), weights, laws)
    rows = np.array([[-0.5, 0.0, 1.0], [0.0, 9.0, -2.0], [3.0, 1.0, 0.5]])
    cells = [(0, 2 + 2), (1, 2 + 0), (1, 2 + 1)]
    of_x, of_y = (
        [sum(np.exp(w + law[i, c] + law[j, c]) for c, w in enumerate(weight)) for i, j in cells]
        for weight, law in zip(weights, laws, strict=True)
    )
    assert score(rows) == pytest.approx(np.log(of_x) - np.log(of_y), rel=1e-12)


def test_hidden_classes_that_move_all_columns_are_found():
    """A common noise of 0 or 1 hides a difference of 0.4 in the first column from its mean, not from a mixture."""
    rng = np.random.default_rng(4)

    def draw(shift):
        hidden = 3.0 * rng.integers(0, 2, (20_000, 1))
        return hidden + np.round(rng.normal(size=(20_000, 4)) * 0.3 + [shift, 0, 0, 0], 1)

    x, y = draw(0.4), draw(0.0)
    edges = tuple(np.linspace(-0.6, 3.9, 15) for _ in range(4))
    score = MixtureScore.fit(Identity(Columns()), edges, x, y)
    # Given the hidden number, the first column alone decides: its two laws are normal, 0.4 / 0.3 standard errors apart.
    fresh_x, fresh_y = draw(0.4), draw(0.0)
    right = (np.mean(score(fresh_x) > 0) + np.mean(score(fresh_y) < 0)) / 2
    assert 0.70 < right < 0.77
