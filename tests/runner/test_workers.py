"""What workers find: threads of numerical libraries, and libraries that cells before them have loaded.

The targets tell it as what they raise.
"""

import json
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


SHADOW = """
import json
import os
KEEP = float(os.environ.get("MY_KEEP", "0.9"))
"""
SHADOWED = """
import json
import os
import numpy as np
import dpaudit

class Response(dpaudit.Mechanism):
    '''Randomized response whose module stands beside it, under the name of a library.'''

    number: int = dpaudit.parameter(1, doc="k")

    def sample(self, data, size, rng):
        os.environ["MY_KEEP"] = "0.6"
        from sklearn.ensemble import KEEP
        return np.where(rng.random(size) < KEEP, data, 1 - data)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="all")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="response.c", statement="", epsilon=1.0)]
"""


def test_a_module_of_the_targets_own_under_a_librarys_name_is_not_shared(tmp_path):
    """It would be loaded without what the cell did before, for the cells after it."""
    (tmp_path / "sklearn").mkdir()
    (tmp_path / "sklearn" / "__init__.py").write_text("")
    (tmp_path / "sklearn" / "ensemble.py").write_text(SHADOW)
    (tmp_path / "response.py").write_text(SHADOWED)
    command = [sys.executable, "-m", "dpaudit", "check", "response.py", "--samples", "5000", "--workers", "1"]
    command += ["--set", "number=1,2,3,4", "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert [result["verdict"] for result in json.loads(done.stdout)["results"]] == ["consistent"] * 4


FITTED = """
import numpy as np
import dpaudit
from sklearn.ensemble import HistGradientBoostingClassifier

X = np.random.default_rng(0).normal(size=(5000, 4))
MODEL = HistGradientBoostingClassifier(max_iter=10).fit(X, X[:, 0] > 0)

class Scores(dpaudit.Mechanism):
    '''Noise on a score of a model that is fitted when the file is loaded.'''

    def sample(self, data, size, rng):
        score = MODEL.predict_proba(np.full((size, 4), data))[:, 1]
        return score + rng.laplace(size=size)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0.0, 1.0], scope="all")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="scores.c", statement="", epsilon=1.0)]
"""


def test_a_model_that_is_fitted_when_the_target_is_loaded_has_its_threads_in_every_worker(tmp_path):
    (tmp_path / "scores.py").write_text(FITTED)
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    command = [sys.executable, "-m", "dpaudit", "check", "scores.py", "--samples", "5000", "--format", "json"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert [result["verdict"] for result in json.loads(done.stdout)["results"]] == ["consistent"]


NICE = """
from pathlib import Path
import dpaudit

class Nice(dpaudit.Mechanism):
    '''Tells how nice its session is.'''

    def sample(self, data, size, rng):
        raise ValueError(Path("/proc/self/autogroup").read_text())

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="all")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="nice.c", statement="", epsilon=1.0)]
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/autogroup"), reason="sessions do not share processors here")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_worker_gives_way_to_other_sessions_where_the_command_does(workers, tmp_path):
    (tmp_path / "nice.py").write_text(NICE)
    command = ["nice", "-n", "7", sys.executable, "-m", "dpaudit", "check", "nice.py:Nice", "--workers", workers]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    niceness = min(os.nice(0) + 7, 19)
    assert re.findall(r"autogroup-\d+ nice (\d+)", " ".join(done.stdout.split())) == [str(niceness)]
