"""`list`, `show`, `init`, and how quickly the command line starts."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dpaudit.catalog import ROOT
from dpaudit.claims.record import read_record
from dpaudit.registry import catalogue_claims, catalogue_papers, suggestion
from dpaudit.registry.names import continued

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


@pytest.mark.slow
def test_list_names_every_target_and_claim(dpaudit):
    rows = json.loads(dpaudit("list", "--format", "json").out)
    targets = {row["target"]: row for row in rows}
    assert {"kwiksort", "dp-kwiksort", "ldp-kwiksort-rr", "ldp-kwiksort-lap"} <= set(targets)
    assert "yan2020.theorem1-rr" in [claim["id"] for claim in targets["ldp-kwiksort-rr"]["claims"]]
    lines = dpaudit("list", "--controls").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [row["target"] for row in rows]
    for row in rows:
        assert row["title"]
        assert row["claims"]
        assert all(claim["statement"] for claim in row["claims"])
    outcome = dpaudit("list")
    shown = [line.split()[0] for line in outcome.out.splitlines()[1:]]
    assert shown == [row["target"] for row in rows if not row["control"]]
    assert f"{len(rows) - len(shown)} controls" in outcome.err
    assert "half-noise" not in shown


@pytest.mark.slow
def test_list_chooses_by_paper_and_by_words(dpaudit, refused):
    claims = json.loads(dpaudit("list", "--claims", "--paper", "yan2020", "--format", "json").out)
    assert {each["id"] for each in claims} >= {"yan2020.theorem1-rr", "yan2020.theorem1-lap"}
    assert {each["paper"] for each in claims if not each["bug"]} == {"yan2020"}
    targets = dpaudit("list", "--paper", "duchi2013").out.splitlines()[1:]
    assert "vector-mechanism" in [line.split()[0] for line in targets]
    found = dpaudit("list", "KWIKSORT", "laplace noise to every comparison").out.splitlines()[1:]
    assert [line.split()[0] for line in found] == ["dp-kwiksort"]
    assert "did you mean 'yan2020'" in refused("list", "--paper", "yan202")
    assert dpaudit("list", "no-such-word").err.startswith("dpaudit: nothing in the catalogue has 'no-such-word'")


@pytest.mark.slow
def test_the_beginning_of_an_id_means_those_that_go_on_after_a_hyphen(dpaudit, refused):
    shown = json.loads(dpaudit("show", "yan2020.theorem1", "--format", "json").out)
    assert [each["id"] for each in shown] == ["yan2020.theorem1-rr", "yan2020.theorem1-lap"]
    assert shown[0]["verdicts"]["proved"] == sum(each["verdict"] == "proved" for each in shown[0]["results"])
    for words in (["yan2020.theorem1"], ["ldp-kwiksort-rr", "ldp-kwiksort-lap", "--claim", "yan2020.theorem1"]):
        settings = ["--set", "epsilon=1", "--set", "queries=1", "--set", "alternatives=3", "--method", "exact"]
        record = json.loads(dpaudit("check", *words, *settings, "--format", "json").out)
        assert {each["claim"] for each in record["results"]} == {"yan2020.theorem1-rr", "yan2020.theorem1-lap"}
    message = refused("show", "yan2020.theorem9")
    assert "yan2020.theorem1" not in message
    assert "yan2020.theorem3" not in message


def test_names_that_are_suggested_and_that_go_on():
    known = ["yan2020.theorem1-rr", "yan2020.theorem10", "yan2020.theorem2", "yan2020.theorem1.part"]
    assert continued("yan2020.theorem1", known) == ["yan2020.theorem1-rr", "yan2020.theorem1.part"]
    assert continued("yan2020.theor", known) == continued("", known) == []
    assert suggestion("yan2020.theorem3", known) == ""
    assert suggestion("yan2020.theorem01", known) == " (did you mean 'yan2020.theorem10'?)"
    assert suggestion("yan202.theorem2", known) == " (did you mean 'yan2020.theorem2'?)"
    assert suggestion("epsilom", ["epsilon", "delta"]) == " (did you mean 'epsilon'?)"


@pytest.mark.slow
def test_show_as_json_says_what_its_text_says(dpaudit, count):
    (target,) = json.loads(dpaudit("show", count, "--format", "json").out)
    assert target["object"] == "target"
    assert [each["id"] for each in target["claims"]] == ["count.privacy", "count.utility"]
    assert target["parameters"][0]["name"] == "epsilon"
    (paper,) = json.loads(dpaudit("show", "hay2017", "--format", "json").out)
    text = dpaudit("show", "hay2017").out
    assert all(each["id"] in text for each in paper["claims"])
    (system,) = json.loads(dpaudit("show", "dp-kwiksort", "--format", "json").out)
    recorded = read_record(ROOT / "reports" / "yan2020.json").results
    claim = next(each for each in system["claims"] if each["id"] == "yan2020.dp-kwiksort")
    assert claim["verdicts"] == Counter(str(each.verdict) for each in recorded if each.claim == claim["id"])


@pytest.mark.slow
def test_the_ledger_has_the_claims_that_are_listed_and_no_others(dpaudit):
    listed = {claim["id"] for claim in json.loads(dpaudit("list", "--claims", "--format", "json").out)}
    records = {path.stem: read_record(path) for path in sorted((ROOT / "reports").glob("*.json"))}
    recorded = {(key, result.claim) for key, record in records.items() for result in record.results}
    assert {claim for _, claim in recorded} == listed, "run `make reports`"
    ledger = (ROOT / "reports" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*?\| \[[^\]]*\]\(([^)]+)\.md#([^)]+)\) \|", ledger, flags=re.MULTILINE)
    shown = {(key, claim.removeprefix(f"{records[key].claims[claim].paper}.")) for key, claim in recorded}
    assert sorted(rows) == sorted(shown), "run `make reports`"


@pytest.mark.slow
def test_show_of_a_paper_counts_what_is_ours_apart_and_lists_what_is_left_alone(dpaudit):
    shown = {}
    for key, entry in catalogue_papers().items():
        # One paper of each make: with or without claims, statements of ours, and assertions that are left alone.
        kinds = {each.ours for each in entry.declarations if not each.bug}
        shown.setdefault((*sorted(kinds), bool(entry.left_alone)), (key, entry))
    assert len(shown) > 1
    for key, entry in shown.values():
        text = dpaudit("show", key).out
        counted = re.findall(r"^(.+) \(\d+ of (\d+) refuted somewhere\)$", text, flags=re.MULTILINE)
        papers = [each for each in entry.declarations if not each.ours and not each.bug]
        assert dict(counted).get("Claims", "0") == str(len(papers))
        ours = [each for each in entry.declarations if each.ours and not each.bug]
        assert dict(counted).get("Statements of ours, for comparison", "0") == str(len(ours))
        assert all(assertion.reason in text for assertion in entry.left_alone)


@pytest.mark.slow
def test_show_of_a_claim_has_the_number_of_each_setting_and_a_witness(dpaudit):
    text = dpaudit("show", "yan2020.dp-kwiksort").out
    settings = "epsilon=1.0, alternatives=3, agents=2, logarithm=natural, relation=substitution, exact"
    assert f"  refuted       {settings}: epsilon 2.175 > claimed 1\n" in text
    assert "  notation: an input lists the agents' rankings, best first" in text
    (claim,) = json.loads(dpaudit("show", "yan2020.dp-kwiksort", "--format", "json").out)
    p, q = (float(text) for name, text in claim["witness"].items() if name.startswith(("p (", "q (")))
    told = next(each for each in claim["results"] if each["command"] == claim["command"])
    assert math.log(p / q) == pytest.approx(told["measured"]["epsilon"]["lower"])
    assert math.log(p / q) > told["claimed"]["epsilon"]
    text = dpaudit("show", "yan2020.theorem1-lap").out
    assert text.count("dispersion=0.5") == 1, "what all settings share stands once"
    assert "Witness" not in text


@pytest.mark.slow
def test_show_of_a_claim_leads_to_what_would_mend_it(dpaudit):
    pairs = [(each, name) for each in catalogue_claims().values() for name in each.mends][:1]
    for mending, mended in pairs:
        assert f"Mends: {', '.join(mending.mends)}" in dpaudit("show", mending.id).out
        assert mending.id in dpaudit("show", mended).out


@pytest.mark.slow
def test_show_has_parameters_claims_views_and_errata(dpaudit):
    text = dpaudit("show", "ldp-kwiksort-rr").out
    for word in ("queries = auto", "yan2020.theorem1-rr", "report: ", "Algorithm 1", "because: ", "Trust model"):
        assert word in text


@pytest.mark.slow
def test_show_of_a_users_file(dpaudit, count):
    assert "count.privacy" in dpaudit("show", count).out
    assert dpaudit("show", "count.py::Count").status == 0


@pytest.mark.slow
def test_show_of_an_unknown_target(refused):
    assert "did you mean 'dp-kwiksort'" in refused("show", "dp-kwiksrt")


@pytest.mark.slow
def test_a_file_without_its_ending_is_suggested(refused, count):
    assert "unknown target 'conut' (did you mean 'count.py'?); `dpaudit list` shows" in refused("show", "conut")


@pytest.mark.slow
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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_init_says_what_it_wrote_where_that_cannot_be_printed(dpaudit, folder, monkeypatch):
    before = os.dup(1)
    try:
        with open("/dev/full", "wb") as full, open(1, "w", encoding="utf-8", closefd=False) as stream:
            os.dup2(full.fileno(), 1)
            monkeypatch.setattr(sys, "stdout", stream)
            outcome = dpaudit("init", "noisy-count")
    finally:
        os.dup2(before, 1)
        os.close(before)
    assert outcome.status == 2
    assert sorted(path.name for path in folder.iterdir()) == ["noisy_count.py", "noisy_count.toml"]
    failed, written = outcome.err.splitlines()
    assert "standard output cannot be written" in failed
    assert "noisy_count.py and noisy_count.toml are written all the same" in written
    assert "dpaudit check noisy_count.toml" in written


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


@pytest.mark.slow
def test_a_users_own_mechanism_outside_the_repository(command, folder):
    (folder / "voting.py").write_text(OWN, encoding="utf-8")
    outcome = command("check", "voting.py", "--samples", "50000", "--format", "json")
    assert outcome.status == 0
    (result,) = json.loads(outcome.out)["results"]
    assert result["verdict"] == "consistent"
    assert result["measured"]["epsilon"]["lower"] <= 1


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("call", ["import dpaudit", "--help", "check --help", "--version", "list"])
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
    assert "numpy" not in loaded, "the command itself needs none: another process has the catalogue"
