"""Data files: read once for a run, line by line, in memory in proportion to the profile, with counts that it holds."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from dpaudit.errors import DataError
from dpaudit.rankings import read_preflib, read_profile
from dpaudit.runner import Request, build_cells
from dpaudit.runner.outcome import Settings, run_cell


def write(path, orders, counts):
    m = len(orders[0])
    lines = [
        f"# NUMBER ALTERNATIVES: {m}",
        f"# NUMBER VOTERS: {sum(counts)}",
        f"# NUMBER UNIQUE ORDERS: {len(orders)}",
        *(f"# ALTERNATIVE NAME {k}: item {k}" for k in range(1, m + 1)),
        *(f"{count}: {','.join(map(str, order))}" for order, count in zip(orders, counts, strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("settings", [1, 4])
def test_a_file_is_opened_as_often_for_one_setting_as_for_many(tmp_path, monkeypatch, settings):
    path = write(tmp_path / f"votes{settings}.soc", [[2, 1, 3], [3, 2, 1]], [50, 10])
    opened = []
    real = Path.open

    def noticed(self, *args, **options):
        opened.append(str(self))
        return real(self, *args, **options)

    monkeypatch.setattr(Path, "open", noticed)
    # In this process: each process of a run reads for itself.
    cells = build_cells(
        Request(
            targets=["ldp-kwiksort-rr"], data=str(path), samples=2, set={"epsilon": [1.0 + i for i in range(settings)]}
        )
    )
    for cell in cells:
        run_cell(cell, Settings(seed=0))
    assert len(cells) >= settings
    # Once for its content and once for its digest.
    assert opened.count(str(path)) == 2


@pytest.mark.slow
def test_memory_is_in_proportion_to_the_profile(tmp_path):
    rng = np.random.default_rng(0)
    voters, alternatives = 2_000, 100
    orders = rng.permuted(np.tile(np.arange(1, alternatives + 1), (voters, 1)), axis=1).tolist()
    path = write(tmp_path / "large.soc", orders, [1] * voters)
    del orders
    tracemalloc.start()
    try:
        profile = read_profile(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert profile.agents == voters
    assert peak < 3.5 * profile.orders.nbytes


@pytest.mark.parametrize("alternatives", [256, 257])
def test_orders_of_many_alternatives(tmp_path, alternatives):
    order = list(range(alternatives, 0, -1))
    path = write(tmp_path / "long.soc", [order, order[::-1]], [2, 1])
    profile = read_profile(path)
    assert profile == read_preflib(path).profile()
    assert profile.orders.tolist() == [[place - 1 for place in order], [place - 1 for place in order[::-1]]]


@pytest.mark.parametrize("read", [read_profile, read_preflib])
def test_more_voters_than_can_be_held_are_refused_with_their_line(tmp_path, read):
    path = write(tmp_path / "huge.soc", [[1, 2, 3], [3, 2, 1]], [5, 10**17])
    with pytest.raises(DataError, match=r"huge\.soc, line 8: the counts come to 100000000000000005 voters up to here"):
        read(path)


def test_a_file_is_given_up_at_its_first_bad_line(tmp_path):
    path = write(tmp_path / "endless.soc", [[1, 2, 3], [3, 2]], [1, 1])
    with path.open("ab") as file:
        file.write(b"\xff not text\n" * 1000)
    with pytest.raises(DataError, match=r"endless\.soc, line 8: alternative 1 is missing"):
        read_profile(path)
