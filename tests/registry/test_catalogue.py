"""The catalogue as a whole: papers, claims with literal ids, what a broken paper breaks, what is imported for what."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from textwrap import dedent

import pytest

from dpaudit.catalog import ROOT
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.declarations import declarations_of
from dpaudit.cli import main
from dpaudit.mechanism import Mechanism
from dpaudit.plan import plans, read_plan
from dpaudit.registry import catalogue, catalogue_claims, catalogue_papers

LONGEST_MODULE = 450


def protocol_files():
    return sorted((ROOT / "protocols").rglob("*.py"))


def test_every_claim_id_stands_once_as_a_literal_in_the_protocols():
    text = "\n".join(path.read_text(encoding="utf-8") for path in protocol_files())
    # What a claim mends is named a second time.
    text = re.sub(r'mends=("[^"]*"|\([^)]*\)|\[[^\]]*\])', "", text)
    literals = Counter(re.findall(r'"([a-z0-9]+\.[a-z0-9][a-z0-9.\-]*)"', text))
    ids = catalogue_claims()
    assert len(ids) > 200
    assert {name: literals[name] for name in ids if literals[name] != 1} == {}


def test_ids_begin_with_the_key_of_a_paper_or_say_control():
    assert {name.partition(".")[0] for name in catalogue_claims()} <= {*catalogue_papers(), "control"}


def test_no_module_of_a_paper_is_long():
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in protocol_files()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_every_paper_says_what_it_is_and_every_claim_where_it_stands():
    for key, entry in catalogue_papers().items():
        assert not entry.problem
        assert entry.paper is not None, key
        assert entry.paper.title
        assert entry.paper.authors
        for declaration in entry.declarations:
            assert declaration.places, declaration.id
            assert declaration.statement.endswith("."), declaration.id


def test_what_a_claim_mends_is_another_claim_and_what_mends_is_not_refuted_itself():
    known = catalogue_claims()
    mending = {each.id: each for each in known.values() if each.mends}
    assert [(each.id, name) for each in mending.values() for name in each.mends if name not in known] == []
    assert [each.id for each in mending.values() if each.id in each.mends or each.bug] == []
    audits = [audit for path in plans() for audit in read_plan(path).audits]
    assert [audit.claim for audit in audits if audit.claim in mending and audit.expect == "refuted"] == []


def test_what_is_left_alone_says_what_and_why():
    for key, entry in catalogue_papers().items():
        assert list(entry.left_alone) == sorted(entry.left_alone, key=lambda each: each.where), key
        for assertion in entry.left_alone:
            assert assertion.where.paper == entry.paper, assertion
            assert assertion.says, assertion
            assert assertion.reason, assertion


def test_claims_sort_as_a_reader_expects():
    places = [each.place for each in catalogue_papers()["yan2020"].declarations if each.place and not each.bug]
    labels = [place.label for place in sorted(set(places))]
    assert labels.index("Theorem 1") < labels.index("Theorem 2") < labels.index("Theorem 3")


@pytest.mark.slow
def test_every_view_that_a_privacy_claim_is_about_says_how_its_inputs_and_outputs_are_written():
    missing = []
    for reference in catalogue().values():
        instance = reference.load()()
        views = instance.views()
        about = {
            claim.view
            for each in declarations_of(type(instance))
            if isinstance(claim := each.bind(instance), PrivacyClaim)
        }
        missing += [(instance.name, view) for view in about if not views[view].notation]
    assert not missing


def run(*arguments, folder, **environment):
    """Run Python on code or a module, in a folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )


OWN = '''
    """My own mechanism."""

    import dpaudit


    class Mine(dpaudit.Mechanism):
        """A coin."""

        def law(self, data):
            return dpaudit.FiniteLaw([0, 1], [-0.6931471805599453] * 2)

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="one bit")

        def claims(self):
            return [dpaudit.PrivacyClaim(id="mine.privacy", statement="It is private.", epsilon=0.1)]
'''

CHECK_OWN = """
    import sys
    sys.argv = ["dpaudit", "check", "mine.py", "--output", "out", "--workers", "1"]
    from dpaudit.cli import main
    try:
        main()
    except SystemExit as left:
        print(left.code, [name for name in sys.modules if name.startswith("dpaudit.catalog.")])
"""


CHECK_EACH = """
    import sys
    from dpaudit.cli import main
    for asked in sys.argv[1:]:
        sys.argv = ["dpaudit", "check", asked, "--workers", "1"]
        try:
            main()
        except SystemExit as left:
            print("ended", left.code)
"""


@pytest.mark.slow
def test_checking_ones_own_file_imports_no_paper(tmp_path):
    (tmp_path / "mine.py").write_text(dedent(OWN))
    done = run("-c", dedent(CHECK_OWN), folder=tmp_path)
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


@pytest.mark.slow
def test_listing_claims_makes_no_instance(monkeypatch, capsys):
    catalogue_claims()

    def refuse(self):
        raise AssertionError(f"{type(self).__name__} was made")

    monkeypatch.setattr(Mechanism, "__post_init__", refuse)
    for command in (["list", "--claims", "--format", "json"], ["list", "--format", "json"], ["show", "yan2020"]):
        monkeypatch.setattr("sys.argv", ["dpaudit", *command])
        with pytest.raises(SystemExit) as left:
            main()
        assert not left.value.code
        text = capsys.readouterr().out
        if command[-1] == "json":
            assert json.loads(text)


@pytest.mark.slow
def test_a_broken_paper_breaks_only_what_is_asked_of_it(copied_project):
    broken = copied_project / "protocols" / "shang2014" / "__init__.py"
    broken.write_text("def (:\n")

    def call(*arguments):
        return run("-m", "dpaudit", *arguments, folder=copied_project, PYTHONPATH=str(copied_project))

    right = call("check", "yan2020.theorem1-rr", "--set", "epsilon=1", "--set", "queries=1", "--method", "exact")
    assert right.returncode == 0, right.stderr
    listed = call("list", "--claims")
    assert listed.returncode == 0
    assert "shang2014/__init__.py, line 1" in listed.stderr.replace("\n", "")
    wrong = call("check", "gaussian-histogram")
    assert wrong.returncode == 2
    assert "shang2014" in wrong.stderr
    assert "Traceback" not in wrong.stderr + listed.stderr


@pytest.mark.slow
def test_an_installed_package_may_announce_papers_of_its_own(tmp_path):
    (tmp_path / "dpaudit_mine-1.0.dist-info").mkdir()
    (tmp_path / "dpaudit_mine-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n"
    )
    (tmp_path / "dpaudit_mine-1.0.dist-info" / "entry_points.txt").write_text(
        "[dpaudit.catalog]\nmine2026 = my_papers.mine2026\n"
    )
    home = tmp_path / "my_papers" / "mine2026"
    home.mkdir(parents=True)
    (home.parent / "__init__.py").write_text("")
    declared = OWN.replace("def claims(self):", "def unused(self):").replace("class Mine", "class Mine")
    (home / "__init__.py").write_text(
        dedent(declared)
        + dedent("""
            PAPER = dpaudit.Paper(key="mine2026", title="Mine", authors=("Me",), year=2026)

            @dpaudit.claim(
                "mine2026.theorem1", Mine, kind="privacy", statement="It is private.", place=PAPER.at(theorem=1)
            )
            def theorem1(mine):
                return dpaudit.PrivacyClaim(epsilon=0.1)
            """)
    )
    (home / "mine2026.toml").write_text(
        'schema = "dpaudit.plan/1"\npaper = "mine2026"\n[[audit]]\ntarget = "mine"\nclaim = "mine2026.theorem1"\n'
        'set = {}\nexpect = "proved"\nreason = "the coin ignores its input"\n'
    )
    path = f"{ROOT}{os.pathsep}{tmp_path}"
    asked = ("mine2026", "mine", "mine2026.theorem1")
    done = run("-c", dedent(CHECK_EACH), *asked, folder=tmp_path, PYTHONPATH=path)
    assert [line for line in done.stdout.splitlines() if line.startswith("ended")] == ["ended 0"] * len(asked), done
    assert done.stdout.count("1 result") == len(asked)
