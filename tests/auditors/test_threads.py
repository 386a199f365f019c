"""Threads of numerical libraries: one where dpaudit computes, as many as before where a target does."""

import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dpaudit.auditors.threads import one_thread


def numbers():
    return {library["num_threads"] for library in threadpool_info()}


def test_libraries_have_one_thread_within_and_as_many_as_before_after_it():
    with threadpool_limits(limits=2):
        before = numbers()
        with one_thread():
            assert numbers() == {1}
        assert numbers() == before


@pytest.mark.slow
@pytest.mark.parametrize("asked", [None, "2"])
def test_a_worker_has_one_thread_unless_the_user_asks_for_more(asked, tmp_path):
    """The target tells how many threads it found, as what it raises."""
    (tmp_path / "teller.py").write_text(
        "import dpaudit\nfrom threadpoolctl import threadpool_info\n"
        "class Teller(dpaudit.Mechanism):\n"
        "    '''Tells how many threads there are.'''\n"
        "    def sample(self, data, size, rng):\n"
        "        raise ValueError(f'threads: {max(each[\"num_threads\"] for each in threadpool_info())}')\n"
        "    def neighbours(self):\n        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope='all')\n"
        "    def claims(self):\n        return [dpaudit.PrivacyClaim(id='teller.c', statement='', epsilon=1.0)]\n"
    )
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    if asked is not None:
        environment |= dict.fromkeys(names, asked)
    command = [sys.executable, "-m", "dpaudit", "check", "teller.py:Teller", "--samples", "1000", "--output", "out"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert f"threads: {asked or 1}" in " ".join(done.stdout.split())
