"""What workers find: threads of numerical libraries, and libraries that cells before them have loaded.

The targets tell it as what they raise.
"""

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

TELLER = """
import sys
import dpaudit
from threadpoolctl import threadpool_info

calls = []

class Teller(dpaudit.Mechanism):
    '''Tells what it finds.'''

    number: int = dpaudit.parameter(1, doc="k")

    def sample(self, data, size, rng):
        calls.append(1)
        found = "scipy.integrate" in sys.modules
        import scipy.integrate
        threads = max(each["num_threads"] for each in threadpool_info())
        raise ValueError(f"threads: {threads}; loaded: {found}; calls: {len(calls)}")

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="all")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="teller.c", statement="", epsilon=1.0)]
"""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def told(folder, *options, **more):
    (folder / "teller.py").write_text(TELLER)
    environment = {name: value for name, value in os.environ.items() if name not in THREADS} | more
    command = [sys.executable, "-m", "dpaudit", "check", "teller.py:Teller", "--samples", "1000", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return re.findall(r"threads: (\d+); loaded: (True|False); calls: (\d)", " ".join(done.stdout.split()))


@pytest.mark.parametrize("asked", [{}, dict.fromkeys(THREADS, "2")])
def test_a_worker_has_one_thread_unless_the_user_asks_for_more(asked, tmp_path):
    found = told(tmp_path, "--set", "number=1", **asked)
    assert {threads for threads, _, _ in found} == {"2" if asked else "1"}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are no copies")
def test_a_library_that_a_cell_loads_is_there_for_later_ones_and_nothing_of_the_target(tmp_path):
    found = told(tmp_path, "--workers", "1", "--set", "number=1,2,3,4,5,6,7,8")
    assert {calls for _, _, calls in found} == {"1"}
    assert found[0][1] == "False"
    assert found[-1][1] == "True"
