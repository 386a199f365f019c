import shutil

import pytest

from dpaudit.catalog import ROOT


@pytest.fixture
def copied_project(tmp_path):
    """A copy of the checkout's code, protocols, plans and records."""
    for name in ("dpaudit", "protocols", "audits", "reports"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path
