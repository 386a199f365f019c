"""Finding targets; what cannot be found is tested through the command line (tests/cli/test_bad_calls.py)."""

import pickle

import pytest

import dpaudit
from dpaudit.catalog import ROOT
from dpaudit.registry import called, catalogue, find_targets, reference_of
from dpaudit.registry.references import import_target

TARGET = """
import dpaudit

class Base(dpaudit.Mechanism):
    '''Makes no claim, so it is no target.'''

class _Hidden(Base):
    '''Private.'''
    def claims(self):
        return []

class First(Base):
    '''A target.'''
    def claims(self):
        return [dpaudit.PrivacyClaim(id="p", statement="s", epsilon=1.0)]

class Second(First):
    '''Inherits its claims.'''
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(TARGET, encoding="utf-8")
    return "mine.py"


def test_targets_are_the_mechanisms_that_make_claims(file):
    assert [reference.attribute for reference in find_targets(file)] == ["First", "Second"]


SHARED = """
import dpaudit

class Shared(dpaudit.Mechanism):
    '''What others have in common.'''
    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")
    def claims(self):
        return [dpaudit.PrivacyClaim(id="p", statement="s", epsilon=1.0)]
"""
SAMPLE = "    def sample(self, data, size, rng):\n        return rng.random(size)\n"
LAW = "    def law(self, data):\n        return None\n"
OWN = "    def claims(self):\n        return []\n"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (f"class A(Shared):\n{SAMPLE}class B(Shared):\n{LAW}", ["A", "B"]),
        (f"class A(Shared):\n    pass\nclass B(A):\n{SAMPLE}", ["B"]),
        (f"{SAMPLE}class A(Shared):\n{LAW}", ["Shared", "A"]),
        # Nothing else puts out what the claims are about, or makes all of them.
        ("", ["Shared"]),
        ("class A(Shared):\n    pass\n", ["Shared", "A"]),
        (f"class A(Shared):\n{SAMPLE}{OWN}", ["Shared", "A"]),
        (f"class A(dpaudit.Mechanism):\n{SAMPLE}{OWN}", ["Shared", "A"]),
    ],
)
def test_a_base_that_others_have_in_common_is_no_target(tmp_path, monkeypatch, more, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(f"{SHARED}{more}")
    assert [reference.attribute for reference in find_targets("mine.py")] == expected
    assert find_targets("mine.py::Shared")[0].load().name == "shared"


def test_one_form_of_a_path_however_it_is_named(file, tmp_path):
    named = [f"{path}::First" for path in (file, f"./{file}", tmp_path / file)]
    assert len({reference for name in named for reference in find_targets(name)}) == 1
    (reference,) = find_targets(named[0])
    assert reference.path == file
    assert called(reference, "first") == "mine.py::First"


def test_a_class_without_claims_can_still_be_named(file):
    assert find_targets("mine.py::Base")[0].load().name == "base"


@pytest.mark.parametrize(
    ("line", "told"),
    [("law = None", "law` is None"), ("features: int = 3", "features` is 3"), ("views = property(len)", "a property")],
)
def test_what_stands_in_place_of_a_method_is_refused(file, tmp_path, line, told):
    (tmp_path / "mine.py").write_text(f"{TARGET}\n\nclass Third(First):\n    {line}\n", encoding="utf-8")
    with pytest.raises(dpaudit.TargetError, match=rf"mine\.py: `Third\..*{told}.*define it with `def`"):
        find_targets("mine.py::Third")
    with pytest.raises(dpaudit.TargetError, match=told):
        reference_of(import_target("mine.py")[0].Third)


def test_a_reference_travels(file):
    (reference, _) = find_targets(file)
    assert pickle.loads(pickle.dumps(reference)) == reference
    assert reference.load() is pickle.loads(pickle.dumps(reference)).load()
    assert reference_of(reference.load()) == reference


def test_the_same_stem_in_two_folders(file, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.py").write_text(TARGET.replace("First", "Third"), encoding="utf-8")
    assert [r.attribute for r in find_targets("other/mine.py")] == ["Third", "Second"]
    assert [r.attribute for r in find_targets("mine.py")] == ["First", "Second"]


def test_the_catalogue_by_name_module_paper_and_file():
    known = catalogue()
    assert {"kwiksort", "dp-kwiksort", "ldp-kwiksort-rr", "ldp-kwiksort-lap"} <= set(known)
    assert find_targets("dp-kwiksort") == [known["dp-kwiksort"]]
    assert find_targets("ldp-kwiksort") == [known["ldp-kwiksort-rr"], known["ldp-kwiksort-lap"]]
    assert known["ldp-kwiksort-rr"] in find_targets("yan2020")
    path = str(ROOT / "protocols" / "hay2017" / "dp_kwiksort.py")
    assert find_targets(path) == [known["dp-kwiksort"]]
    assert called(find_targets(path)[0], "dp-kwiksort") == "dp-kwiksort"
    assert dpaudit.load("dp-kwiksort").name == "dp-kwiksort"
    with pytest.raises(dpaudit.TargetError, match=r"unknown target .*did you mean 'dp-kwiksort'"):
        dpaudit.load("dp-kwiksorte")


def test_classes_of_the_catalogue_travel_by_name():
    target = dpaudit.load("ldp-kwiksort-rr")
    assert target.__module__.startswith("dpaudit.catalog.yan2020")
    instance = target(epsilon=2.0)
    assert pickle.loads(pickle.dumps(instance)) == instance
    declaration = instance.claims()[0]
    assert declaration.id.startswith("yan2020.")


def test_a_module_by_its_dotted_name(tmp_path, monkeypatch):
    (tmp_path / "a_module_of_this_test.py").write_text(TARGET, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    (reference,) = find_targets("a_module_of_this_test:First")
    assert reference.load().__module__ == "a_module_of_this_test"
    assert called(reference, "first") == "a_module_of_this_test:First"
