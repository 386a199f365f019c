"""A paper may make claims about a system that another paper has published."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.catalog import ROOT
from dpaudit.registry import catalogue, catalogue_papers, find_targets


def test_a_system_belongs_to_its_paper_and_a_claim_to_the_paper_that_makes_it():
    papers = catalogue_papers()
    assert "dp-kwiksort" in papers["hay2017"].targets
    assert "yan2020.dp-kwiksort" in [declaration.id for declaration in papers["yan2020"].declarations]
    assert "yan2020.dp-kwiksort" in [claim.id for claim in catalogue()["dp-kwiksort"].load()().claims()]


@pytest.mark.slow
def test_a_file_of_the_catalogue_has_targets_though_others_declare_their_claims(tmp_path):
    path = ROOT / "protocols" / "hay2017" / "dp_kwiksort.py"
    code = f"from dpaudit.registry import find_targets; print(find_targets({str(path)!r})[0].attribute)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert found.stdout.strip() == "DPKwikSort", found.stderr
    assert find_targets(str(path)) == [catalogue()["dp-kwiksort"]]
