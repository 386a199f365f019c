"""Audits on executors of other libraries, where these are installed: the record of one process."""

import re
import sys
from pathlib import Path

import pytest
from test_spread import SAMPLES, request, text

import dpaudit
from dpaudit.catalog import ROOT
from dpaudit.runner.check import run_request

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")]


def test_loky_gives_the_record_of_one_process(slow):
    loky = pytest.importorskip("loky")
    with loky.get_reusable_executor(max_workers=2) as executor:
        there = dpaudit.check(slow, claims=["slow.true"], samples=SAMPLES, executor=executor)
    assert text(there) == text(run_request(request(slow)).record)


def test_the_executor_for_ray_on_the_page_gives_the_record_of_one_process(slow, monkeypatch):
    ray = pytest.importorskip("ray")
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"<!-- file: ray_executor.py -->\n```python\n(.*?)```", page, flags=re.DOTALL)
    Path("ray_executor.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    # Its workers find what the parent has loaded in the way that this one does.
    paths = {"PYTHONPATH": ":".join(sys.path), "DPAUDIT_TEST_LOG": str(Path("log").absolute())}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": paths})
    try:
        from ray_executor import RayExecutor

        executor = RayExecutor()
        there = dpaudit.check(slow, claims=["slow.true"], samples=SAMPLES, executor=executor)
        killed = dpaudit.check(
            slow, claims=["slow.true", "slow.good"], samples=SAMPLES, set={"deadly": "always"}, executor=executor
        )
    finally:
        ray.shutdown()
    assert text(there) == text(run_request(request(slow)).record)
    assert [result.verdict.value for result in killed.results] == ["error", "proved"]
