"""Every dependency has a lower bound, which `make test-lowest` installs and CI runs."""

import tomllib

import pytest
from packaging.requirements import Requirement

from dpaudit.catalog import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *EXTRAS["test"], *EXTRAS["dev"]]


@pytest.mark.parametrize("text", REQUIREMENTS)
def test_a_requirement_has_a_lower_bound(text):
    requirement = Requirement(text)
    bounds = {each.operator for each in requirement.specifier}
    assert requirement.name == PROJECT["name"] or ">=" in bounds


@pytest.mark.skipif(not (ROOT / "Makefile").is_file(), reason="this is no checkout")
def test_the_lowest_versions_are_run():
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--resolution lowest-direct --editable '.[test]'" in make
    assert "make test-lowest" in (ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8")
