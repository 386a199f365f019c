"""Keys of results: what outdates them, and that equal keys give equal results."""

import dataclasses
import json
from importlib import import_module
from pathlib import Path

import pytest

import dpaudit
from dpaudit.auditors import revisions as revisions_module
from dpaudit.auditors.revisions import ENTRIES, LIBRARIES, Revision, auditors_of, possible_auditors, revisions
from dpaudit.claims.evidence import Remedy
from dpaudit.runner import Request, build_cells
from dpaudit.runner.keys import Keys
from dpaudit.runner.outcome import Settings, run_cell


@pytest.fixture
def cells(mixed):
    return {cell.claim: cell for cell in build_cells(Request(targets=[mixed], samples=3000))}


@pytest.mark.slow
def test_every_claim_and_auditor_has_a_key_of_its_own(cells):
    every = [key for cell in cells.values() for key in Keys(0).candidates(cell)]
    assert len(set(every)) == len(every)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"described": {"epsilon": 2.0, "broken": False}},
        {"samples": 4000},
        {"method": "black-box"},
        {"features": "float-bits"},
        {"stop_early": True},
        {"error_probability": 1e-6},
        {"quick": True},
        {"timed": True},
        {"published": (1.0, 0.1)},
        {"data": ("file.soc", "0" * 64)},
    ],
)
def test_what_a_result_depends_on_changes_its_keys(cells, change):
    cell = cells["mixed.box"]
    other = dataclasses.replace(cell, **change)
    assert not set(Keys(0).candidates(cell)) & set(Keys(0).candidates(other))


@pytest.mark.slow
def test_the_seed_changes_keys(cells):
    cell = cells["mixed.box"]
    assert not set(Keys(0).candidates(cell)) & set(Keys(1).candidates(cell))


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"reason": "another"}, {"plan": "elsewhere.toml"}, {"expected": "refuted"}])
def test_what_a_result_does_not_depend_on_changes_nothing(cells, change):
    full = dataclasses.replace(cells["mixed.box"], samples=None)
    assert Keys(0).candidates(full) == Keys(0).candidates(dataclasses.replace(full, **change))


@pytest.mark.slow
def test_an_expectation_counts_where_fewer_samples_than_planned_are_spent(cells):
    # Then it decides between `consistent` and `inconclusive`.
    cell = cells["mixed.box"]
    assert cell.samples == 3000
    other = dataclasses.replace(cell, expected=dpaudit.Verdict.REFUTED)
    assert Keys(0).candidates(cell) != Keys(0).candidates(other)


@pytest.mark.slow
def test_a_result_has_one_of_its_cells_keys_and_an_auditors_revision_outdates_only_what_it_made(cells, monkeypatch):
    results = {name: run_cell(cell, Settings(seed=0)).result for name, cell in cells.items()}
    before = {name: Keys(0).key(cell, results[name]) for name, cell in cells.items()}
    raised = {**revisions(), "black-box": Revision(revision=99, code="")}
    for name, cell in cells.items():
        assert before[name] in Keys(0).candidates(cell)
    monkeypatch.setattr("dpaudit.runner.keys.revisions", lambda: raised)
    after = {name: Keys(0).key(cell, results[name]) for name, cell in cells.items()}
    assert {name for name in cells if before[name] != after[name]} == {"mixed.box"}


@pytest.mark.slow
def test_a_comment_in_the_target_changes_no_key_and_its_code_does(mixed):
    (before,) = build_cells(Request(targets=[mixed], claims=["mixed.exact"]))
    keys = Keys(0).candidates(before)
    path = Path("mixed.py")
    text = path.read_text(encoding="utf-8")
    copy = path.with_name("copied.py")
    copy.write_text(text.replace('"""One claim of every kind."""', '"""Other words."""  # and a comment'))
    (other,) = build_cells(Request(targets=["copied.py"], claims=["mixed.exact"]))
    # The name of the file is part of the key: only the content is compared here.
    assert Keys(0).code(other).units == tuple(
        unit.replace("mixed.py", "copied.py") for unit in Keys(0).code(before).units
    )
    changed = path.with_name("changed.py")
    changed.write_text(text.replace("1.3 if self.broken", "1.4 if self.broken"))
    (third,) = build_cells(Request(targets=["changed.py"], claims=["mixed.exact"]))
    assert not set(Keys(0).candidates(third)) & set(keys)


@pytest.mark.slow
def test_neither_errors_nor_what_ran_out_of_time_has_a_key(cells):
    cell = cells["mixed.box"]
    result = run_cell(cell, Settings(seed=0)).result
    assert Keys(0).key(cell, result)
    assert not Keys(0).key(cell, dataclasses.replace(result, verdict=dpaudit.Verdict.ERROR))
    late = dataclasses.replace(result, verdict=dpaudit.Verdict.INCONCLUSIVE, remedy=Remedy.TIME)
    assert not Keys(0).key(cell, late)


def test_the_table_of_auditors_is_complete():
    assert set(ENTRIES) == set(LIBRARIES)
    used = {
        name
        for kind in ("privacy", "utility", "figure", "rate", "lemma", "stability", "noise")
        for each in possible_auditors(kind)
        for name in each
    }
    assert used == set(ENTRIES)
    assert auditors_of("privacy", "exact", sampled=False) == ("exact", "agreement", "messages")
    assert auditors_of("utility", "exact", sampled=False) == ("utility",)


def test_every_auditor_begins_where_the_table_says():
    for entries in ENTRIES.values():
        for module, name in entries:
            assert getattr(import_module(module), name).__module__ == module


def test_the_file_of_revisions_is_read_back_as_written(tmp_path):
    file = tmp_path / "revisions.json"
    known = {"exact": Revision(revision=2, code="ab", equal=12), "rate": Revision(revision=1, code="cd")}
    revisions_module.write_revisions(known, file)
    assert {name: Revision(**each) for name, each in json.loads(file.read_text()).items()} == known
    revisions_module.revisions.cache_clear()
