"""`list`, `show`, `init`, and how quickly the command line starts."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OWN = '''\
import numpy as np
import dpaudit


class Voting(dpaudit.Mechanism):
    """Exponential mechanism over two candidates, by votes."""

    epsilon: float = 1.0

    def probability(self, votes):
        return 1 / (1 + np.exp(-self.epsilon * (2 * votes - 3) / 2))

    def sample(self, data, size, rng):
        return (rng.random(size) < self.probability(data)).astype(int)

    def neighbours(self):
        pairs = [(votes, votes + 1) for votes in range(3)]
        return dpaudit.Neighbouring(relation="substitution", pairs=pairs, complete=True, scope="three voters")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="voting.privacy", statement="epsilon-DP.", epsilon=self.epsilon)]
'''


def test_list_names_every_target_and_claim(dpaudit):
    rows = json.loads(dpaudit("list", "--format", "json").out)
    targets = {row["target"]: row for row in rows}
    assert {"kwiksort", "dp-kwiksort", "ldp-kwiksort-rr", "ldp-kwiksort-lap"} <= set(targets)
    assert "yan2020.theorem1-rr" in [claim["id"] for claim in targets["ldp-kwiksort-rr"]["claims"]]
    text = dpaudit("list").out
    for row in rows:
        assert row["target"] in text
        assert row["title"]
        assert row["claims"]
        assert all(claim["statement"] for claim in row["claims"])


def test_show_has_parameters_claims_views_and_errata(dpaudit):
    text = dpaudit("show", "ldp-kwiksort-rr").out
    for word in ("queries = auto", "yan2020.theorem1-rr", "report: ", "Algorithm 1", "because: ", "Trust model"):
        assert word in text


def test_show_of_a_users_file(dpaudit, count):
    assert "count.privacy" in dpaudit("show", count).out
    assert dpaudit("show", "count.py::Count").status == 0


def test_show_of_an_unknown_target(refused):
    assert "did you mean 'dp-kwiksort'" in refused("show", "dp-kwiksrt")


def test_init_writes_a_file_and_a_plan_that_come_out_as_expected(dpaudit, folder):
    outcome = dpaudit("init", "my-first-count")
    assert outcome.status == 0
    assert "my_first_count.toml" in outcome.out
    assert sorted(path.name for path in folder.iterdir()) == ["my_first_count.py", "my_first_count.toml"]
    assert "@" not in (folder / "my_first_count.py").read_text(encoding="utf-8")
    for target in ("my_first_count.toml", "my_first_count.py"):
        outcome = dpaudit("check", target, "--format", "json")
        assert outcome.status == 0, outcome
        record = json.loads(outcome.out)
        assert record["summary"] == {"proved": 3, "certified": 1, "consistent": 1}
        assert all(result["expected"] == result["verdict"] for result in record["results"])


@pytest.mark.parametrize("name", ["1st", "a.b", "../escape", "", "a b!", "-"])
def test_init_with_a_bad_name(refused, folder, name):
    message = refused("init", "--", name)
    assert "NAME" in message
    assert "letters" in message
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["class", "numpy", "dpaudit"])
def test_init_with_a_name_that_python_knows(refused, folder, name):
    assert "choose another name" in refused("init", name)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("ending", [".py", ".toml"])
def test_init_leaves_a_file_alone(refused, folder, ending):
    (folder / f"taken{ending}").write_text("mine", encoding="utf-8")
    assert f"taken{ending} exists already" in refused("init", "taken")
    assert [path.name for path in folder.iterdir()] == [f"taken{ending}"]
    assert (folder / f"taken{ending}").read_text(encoding="utf-8") == "mine"


def test_a_users_own_mechanism_outside_the_repository(command, folder):
    (folder / "voting.py").write_text(OWN, encoding="utf-8")
    outcome = command("check", "voting.py", "--samples", "50000", "--format", "json")
    assert outcome.status == 0
    (result,) = json.loads(outcome.out)["results"]
    assert result["verdict"] == "consistent"
    assert result["measured"]["epsilon"]["lower"] <= 1


def test_a_module_is_a_target_through_the_script_too(folder):
    (folder / "own").mkdir()
    (folder / "own" / "__init__.py").touch()
    (folder / "own" / "voting.py").write_text(OWN, encoding="utf-8")
    script = shutil.which("dpaudit", path=Path(sys.executable).parent)
    assert script
    done = subprocess.run(
        [script, "check", "own.voting:Voting", "--samples", "20000"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("call", ["import dpaudit", "--help", "check --help", "--version"])
def test_the_start_is_quick(folder, call):
    program = "import sys\n"
    if call.startswith("import"):
        program += f"{call}\n"
    else:
        words = ["dpaudit", *call.split()]
        program += f"sys.argv = {words!r}\nfrom dpaudit.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    program += "print('LOADED', *sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"}
    )
    loaded = set(done.stdout.rpartition("LOADED")[2].split())
    assert not {"scipy.stats", "sklearn", "hypothesis", "statsmodels", "matplotlib", "jinja2"} & loaded
    assert call != "import dpaudit" or not {"pydantic", "typer", "rich"} & loaded
