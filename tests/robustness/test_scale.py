"""Nothing quadratic: what is done for many results grows with their number, counted in lines and never timed."""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from dpaudit.claims.record import Record
from dpaudit.reporting import settings


def _benchmark() -> ModuleType:
    """The benchmark whose records are rendered here; it is no part of the package."""
    path = Path(__file__).parents[2] / "benchmarks" / "reporting.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_reporting", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reporting = _benchmark()

STEP = 30
"""Results by which a record grows; small enough to be fast, large enough for a quadratic part to show."""

_CURVATURE = 0.1
"""Growth of the second step over that of the first, less one, that rounding off groups and tables may cause."""


def lines(work: Callable[[], object]) -> int:
    """Return how many lines of Python are run, one more for each turn of a loop on one line."""
    count = 0

    def count_one(_frame: object, event: str, _argument: object) -> Callable[..., object]:
        nonlocal count
        count += event == "line"
        return count_one

    before = sys.gettrace()
    sys.settrace(count_one)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def curvature(counts: list[int]) -> float:
    """Return by how much more the last of three counts has grown than the second, in parts of that."""
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    return second / first - 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", reporting.SHAPES, ids=lambda shape: shape.__name__)
def test_formats_run_lines_in_proportion_to_the_results(
    shape: Callable[[int], Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The search for a description of settings looks at so many at most; below that it takes more than in proportion.
    for limit in ("_MOST_ANY", "_MOST_OF_TWO"):
        monkeypatch.setattr(settings, limit, 0)
    made = [reporting.works(shape(STEP * times)) for times in (1, 2, 3)]
    grown = {}
    for name in made[0]:
        if name.startswith("show"):
            continue
        made[0][name]()
        grown[name] = curvature([lines(works[name]) for works in made])
    assert {name: found for name, found in grown.items() if found > _CURVATURE} == {}


def test_the_part_of_a_record_shares_its_claims() -> None:
    record = reporting.of_as_many_claims(3)
    assert replace(record, results=record.results[:1]).claims is record.claims
