"""Plans that cannot be used."""

import pytest

AUDIT = '[[audit]]\ntarget = "count"'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("target =", "target = =", ["not TOML", "line 5"]),
        ('schema = "dpaudit.plan/1"\n', "", ["key 'schema' is missing"]),
        ('protocol = "count.py"\n', "", ["'protocol' (a Python file)", "'paper'"]),
        ('schema = "dpaudit.plan/1"', 'schema = "dpaudit.plan/2"', ["'schema'", "dpaudit.plan/1", "dpaudit.plan/2"]),
        ('protocol = "count.py"', 'protocol = "count.py"\nprotcol = "x"', ["'protcol'", "did you mean 'protocol'"]),
        ('protocol = "count.py"', 'protocol = "absent.py"', ["'protocol'", "absent.py"]),
        ('protocol = "count.py"', 'protocol = "count"', ["'protocol'", "Python file"]),
        ('protocol = "count.py"', "protocol = 5", ["'protocol'", "5"]),
        ('claim = "count.privacy"\n', "", ["audit 1", "key 'claim' is missing"]),
        ('reason = "the scale is 1/epsilon"', "", ["audit 1", "key 'reason' is missing"]),
        ('claim = "count.privacy"', "claim = 5", ["audit 1", "'claim'", "5"]),
        ('reason = "the', 'expct = "x"\nreason = "the', ["audit 1", "'expct'", "did you mean 'expect'"]),
        ('claim = "count.privacy"', 'claim = "count.privcy"', ["'count.privcy'", "did you mean 'count.privacy'"]),
        ('target = "count"', 'target = "cuont"', ["audit 1", "'cuont'", "did you mean 'count'"]),
        ('expect = "proved"', 'expect = "provd"', ["audit 1", "'expect'", "did you mean 'proved'"]),
        ('expect = "proved"', 'expect = "error"', ["audit 1", "'expect'", "not a verdict"]),
        ("epsilon = [0.5, 1.0]", "epsilon = []", ["audit 1", "'set'", "empty list"]),
        ("epsilon = [0.5, 1.0]", "epsilo = 1.0", ["audit 1", "'epsilo'", "did you mean 'epsilon'"]),
        ("epsilon = [0.5, 1.0]", "epsilon = [0.5, -1.0]", ["parameter 'epsilon' must be above 0", "-1.0"]),
        ("epsilon = [0.5, 1.0]", "epsilon = inf", ["audit 1", "'set.epsilon'", "inf"]),
        ("epsilon = [0.5, 1.0]", "epsilon = { a = 1 }", ["audit 1", "'set.epsilon'", "{'a': 1}"]),
        ("set = { epsilon = [0.5, 1.0] }", "set = 5", ["audit 1", "'set'"]),
        ("", "samples = 0\n", ["audit 1", "'samples'", "at least 1"]),
        ("", 'samples = "many"\n', ["audit 1", "'samples'", "many"]),
        ("", 'method = "magic"\n', ["audit 1", "'method'", "black-box"]),
        ("", 'features = "bits"\n', ["audit 1", "'features'", "float-bits"]),
        ("", 'features = "float-bits"\nmethod = "exact"\n', ["audit 1", "'features'", "'exact'", "leave"]),
        ("", 'stop_early = "soon"\n', ["audit 1", "'stop_early'", "soon"]),
        ("[[audit]]", "[audit]", ["'audit'"]),
    ],
)
def test_a_plan_that_cannot_be_used(refused, plan, old, new, words):
    message = refused("check", plan(old, new))
    assert "plan.toml" in message
    for word in words:
        assert word in message


@pytest.mark.slow
def test_the_plan_itself_can(dpaudit, plan):
    assert dpaudit("check", plan()).status == 0


def test_an_empty_plan(refused, plan):
    assert "key 'schema' is missing" in refused("check", plan(text=""))


def test_a_plan_that_is_no_text(refused, count, folder):
    (folder / "plan.toml").write_bytes(b"\xff\xfe")
    assert "plan.toml: the plan is not UTF-8 text" in refused("check", "plan.toml")


def test_a_folder_is_no_plan(refused, folder):
    (folder / "plan.toml").mkdir()
    assert "Is a directory" in refused("check", "plan.toml")


def test_the_second_audit_is_named(refused, plan):
    second = '\n[[audit]]\ntarget = "count"\nclaim = "count.utility"\nset = {}\nexpect = "proved"\n'
    assert "audit 2: key 'reason' is missing" in refused("check", plan("", second))


def test_a_plan_of_a_protocol_that_does_not_import(refused, plan, folder):
    (folder / "count.py").write_text("x = 1\ny = = 2\n", encoding="utf-8")
    assert "count.py, line 2" in refused("check", plan())


@pytest.mark.slow
def test_show_takes_a_plan_too(dpaudit, refused, plan):
    assert "count.privacy" in dpaudit("show", plan()).out
    assert "absent.toml" in refused("show", "absent.toml")
