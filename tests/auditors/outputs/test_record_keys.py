"""Parts of records that are a key together, against their definition record by record."""

from itertools import combinations

import numpy as np
import pytest

from dpaudit.auditors.outputs.contents import NOTHING
from dpaudit.auditors.outputs.held import Entries
from dpaudit.auditors.outputs.record_keys import Part, key_of_several

REGIONS, YEARS = ["north", "south", "west"], [2024.0, 2025.0]


def entries(outputs):
    """Places of the records of outputs, each a list of records."""
    at = np.array([(row, place) for row, output in enumerate(outputs) for place in range(len(output))])
    nothing = np.zeros(len(at), dtype=int)
    return Entries(at[:, 0], at[:, 1], nothing, nothing.astype(float), nothing)


def part(outputs, name, values):
    have = [record.get(name, -1) for output in outputs for record in output]
    return Part.of(name, values, np.array([values.index(value) if value in values else value for value in have]))


def table(rng, *, total=False):
    """A count for each region and year, in random order, with one of all years where there is a total."""
    cells = [{"region": region, "year": year} for region in REGIONS for year in YEARS]
    cells += [{"region": region} for region in REGIONS] if total else []
    return [cells[i] for i in rng.permutation(len(cells))]


@pytest.mark.parametrize("total", [False, True])
def test_two_parts_are_a_key_where_neither_is_one_alone(total):
    rng = np.random.default_rng(1)
    outputs = [table(rng, total=total) for _ in range(200)]
    parts = [part(outputs, "year", YEARS), part(outputs, "region", REGIONS)]
    key = key_of_several(entries(outputs), parts)
    assert key.paths == ("year", "region")
    years = [*YEARS, NOTHING] if total else YEARS
    assert sorted(map(str, key.values)) == sorted(str((year, region)) for year in years for region in REGIONS)
    records = [record for output in outputs for record in output]
    assert [key.values[which] for which in key.which] == [
        (record.get("year", NOTHING), record["region"]) for record in records
    ]


def test_a_part_that_is_a_key_alone_comes_before_two_that_are_one_together():
    rng = np.random.default_rng(2)
    cells = [{**cell, "cell": i} for i, cell in enumerate(table(rng))]
    outputs = [[cells[i] for i in rng.permutation(len(cells))] for _ in range(200)]
    parts = [part(outputs, "region", REGIONS), part(outputs, "year", YEARS), part(outputs, "cell", list(range(6)))]
    assert key_of_several(entries(outputs), parts).paths == ("cell",)
    assert key_of_several(entries(outputs), parts[:2]).paths == ("region", "year")


def test_parts_that_come_twice_in_outputs_are_no_key():
    rng = np.random.default_rng(3)
    outputs = [[{"region": REGIONS[i], "year": YEARS[j]} for i, j in rng.integers(0, 2, (4, 2))] for _ in range(200)]
    parts = [part(outputs, "region", REGIONS), part(outputs, "year", YEARS)]
    assert key_of_several(entries(outputs), parts) is None


def test_a_table_in_one_order_has_no_key():
    """Its places say already which record it is."""
    outputs = [table(np.random.default_rng(0)) for _ in range(200)]
    assert key_of_several(entries(outputs), [part(outputs, "region", REGIONS), part(outputs, "year", YEARS)]) is None


@pytest.mark.parametrize("seed", range(20))
def test_a_key_is_one_by_its_definition(seed):
    """Of random tables: in hardly any output two records have one value, and no fewer parts would do."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, 3)
    cells = [dict(zip("abc", each, strict=True)) for each in np.ndindex(*sizes.tolist())]
    cells = [cells[i] for i in rng.permutation(len(cells))[: rng.integers(2, len(cells) + 1)]]
    outputs = [[cells[i] for i in rng.permutation(len(cells))] for _ in range(100)]
    parts = {name: part(outputs, name, list(range(size))) for name, size in zip("abc", sizes.tolist(), strict=True)}

    def tell_apart(names):
        return len({tuple(cell[name] for name in names) for cell in cells}) == len(cells)

    told = [name for name in "abc" if parts[name].is_told]
    several = [names for many in (1, 2, 3) for names in combinations(told, many) if tell_apart(names)]
    key = key_of_several(entries(outputs), list(parts.values()))
    if key is None:
        assert not several
    else:
        assert len(key.paths) == len(several[0])
        assert tell_apart(key.paths)
        assert len(key.values) == len(cells)
