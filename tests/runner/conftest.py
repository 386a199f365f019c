import shutil
from pathlib import Path
from textwrap import dedent

import pytest

TARGET = '''\
import numpy as np

import dpaudit


class Mixed(dpaudit.Mechanism):
    """One claim of every kind."""

    epsilon: float = 1.0
    broken: bool = False

    def sample(self, data, size, rng):
        return np.where(rng.random(size) < self.truth, data, 1 - data)

    @property
    def truth(self):
        return 1 / (1 + np.exp(-self.epsilon * (1.3 if self.broken else 1)))

    def law(self, data):
        p = [1 - self.truth, self.truth]
        return dpaudit.FiniteLaw([0, 1], np.log(p if data else p[::-1]))

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="one bit")

    def views(self):
        return {"output": self, "sampled": Sampled(epsilon=self.epsilon, broken=self.broken)}

    def claims(self):
        return [
            dpaudit.PrivacyClaim(id="mixed.exact", statement="It is private.", epsilon=self.epsilon),
            dpaudit.PrivacyClaim(id="mixed.box", statement="It is private.", epsilon=self.epsilon, view="sampled"),
            dpaudit.UtilityClaim(
                id="mixed.good",
                statement="It is true more often than not.",
                bound=0.5,
                measure=lambda runs, rng: self.sample(np.zeros(runs, int), runs, rng),
            ),
            dpaudit.LemmaClaim(
                id="mixed.lemma",
                statement="The sine is above -1.5.",
                margin=lambda x: 1.5 + np.sin(1000 * x),
                variables={"x": dpaudit.Reals(0, 1)},
            ),
            dpaudit.LemmaClaim(
                id="mixed.false",
                statement="x stays below 10.",
                margin=lambda x: 10 - x,
                variables={"x": dpaudit.Integers(0, 1000)},
            ),
        ]


class Sampled(dpaudit.Mechanism):
    """What Mixed samples, without its law; no target of its own."""

    epsilon: float
    broken: bool

    def sample(self, data, size, rng):
        return Mixed(epsilon=self.epsilon, broken=self.broken).sample(data, size, rng)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="one bit")
'''


@pytest.fixture
def mixed(tmp_path, monkeypatch) -> str:
    """A target file in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    Path("mixed.py").write_text(TARGET, encoding="utf-8")
    return "mixed.py"


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """A folder with a target of one claim of every kind, audited to ``out`` once; tests get copies."""
    folder = tmp_path_factory.mktemp("audited")
    (folder / "mixed.py").write_text(TARGET, encoding="utf-8")
    from dpaudit.runner import Request
    from dpaudit.runner.check import run_request

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        run = run_request(Request(targets=["mixed.py"], samples=3000), output=Path("out"))
    assert run.taken == 0
    return folder, run.record


@pytest.fixture
def kept(audited, tmp_path, monkeypatch):
    """A copy of that folder, which is the current one; its target, and the record of its audit."""
    folder, record = audited
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return "mixed.py", record


SLOW = '''
    """A sampler that takes its time, and may end its process."""

    import os
    import signal
    import time
    from pathlib import Path

    import numpy as np

    import dpaudit


    class Slow(dpaudit.Mechanism):
        """A bit with Laplace noise."""

        epsilon: float = 1.0
        seconds: float = 1e-5
        deadly: str = "never"

        def sample(self, data, size, rng):
            log = Path(os.environ.get("DPAUDIT_TEST_LOG", os.devnull))
            if size > 20000 and self.deadly != "never":
                lived = log.with_name("died")
                if self.deadly == "always" or not lived.exists():
                    lived.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(self.seconds * size)
            with log.open("a") as file:
                file.write(f"{size}\\n")
            return data + rng.laplace(scale=1 / self.epsilon, size=size)

        def neighbours(self):
            pairs = [(0, 1), (0, 0.5), (0.5, 1)]
            return dpaudit.Neighbouring(relation="substitution", pairs=pairs, complete=True, scope="three inputs")

        def claims(self):
            return [
                dpaudit.PrivacyClaim(id="slow.true", statement="It is private.", epsilon=self.epsilon),
                dpaudit.PrivacyClaim(id="slow.false", statement="It is more private.", epsilon=self.epsilon / 2),
                dpaudit.UtilityClaim(id="slow.good", statement="It is good.", bound=0.6, exact=lambda: 0.5),
            ]
'''


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """File of the target; the current folder is its own."""
    (tmp_path / "slow.py").write_text(dedent(SLOW), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPAUDIT_TEST_LOG", str(tmp_path / "log"))
    return "slow.py"
