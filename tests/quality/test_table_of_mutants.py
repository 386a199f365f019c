"""The table of mutants in tests/README.md is that of the list, which fits the code, and none survives."""

import re
import runpy
from collections import Counter

import pytest

from dpaudit.catalog import ROOT

TESTS = ROOT / "tests"


@pytest.fixture(scope="module")
def runner():
    return runpy.run_path(str(TESTS / "mutants" / "run.py"))


@pytest.fixture(scope="module")
def listed(runner):
    return runner["mutants"]()


@pytest.fixture(scope="module")
def rows(runner):
    text = (TESTS / "README.md").read_text(encoding="utf-8")
    table = text[text.index(runner["BEGIN"]) : text.index(runner["END"])]
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]


def test_every_bug_can_be_planted(listed):
    """Its text stands once in its file, so that a change of the code cannot make the list say less than it seems to."""
    places = {each.name: (ROOT / each.file).read_text(encoding="utf-8").count(each.old) for each in listed}
    assert {name: count for name, count in places.items() if count != 1} == {}
    assert all(each.old != each.new for each in listed)
    assert max(Counter(each.name for each in listed).values()) == 1


def test_every_test_that_is_named_exists(listed):
    named = {name.partition("::")[0] for each in listed for name in (*each.tests, *each.slow)}
    assert {name for name in named if not (TESTS / name).exists()} == set()
    assert all(each.check or each.tests for each in listed)


def test_the_table_is_that_of_the_list(listed, rows):
    assert [row[:3] for row in rows] == [[each.name, each.kind, f"`{each.file}`"] for each in listed]


def test_none_survives_and_nine_of_ten_are_found_early(rows):
    by = Counter(re.split(r":", row[3])[0] for row in rows)
    assert set(by) <= {"verdict", "fast test", "slow test"}
    assert by["verdict"] + by["fast test"] >= 0.9 * len(rows)


def test_every_kind_of_thing_has_mutants(listed):
    kinds = {"randomizer", "budget", "cap", "debiasing", "shuffler", "fallback", "formula", "analyzer", "auditor"}
    assert {each.kind for each in listed} == kinds
    papers = {each.file.split("/")[1].removesuffix(".py") for each in listed if each.file.startswith("protocols/")}
    assert papers >= {"alabi2022", "balle2019", "hay2017", "shang2014", "song2022", "yan2020", "yang2018"}
