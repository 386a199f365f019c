"""The pytest plugin, in inner sessions of their own process: the fixture, the marker, the options, the summary."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from textwrap import dedent

import pytest

import dpaudit
from dpaudit import pytest_plugin
from dpaudit.auditors.blackbox import tasks

pytestmark = pytest.mark.slow

ROOT = Path(dpaudit.__file__).parents[1]
PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
HANDBOOK = PYPROJECT.with_name("docs") / "handbook.md"

TARGETS = """
    import dpaudit
    import pytest

    PAIRS = [(0.0, 1.0)]

    def noisy(data, size, rng):
        return data + rng.laplace(scale=0.5, size=size)

    class Exact(dpaudit.Mechanism):
        \"\"\"Its law is known.\"\"\"
        def sample(self, data, size, rng):
            return noisy(data, size, rng)
        def law(self, data):
            return dpaudit.LaplaceLaw(data, 0.5)
        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0.0, 1.0], scope="two values")
"""

AGAIN = re.compile(r"to see it again: seed=(\d+), samples=(\d+), confidence=([\d.]+)")
ADDRESS = re.compile(r"at 0x[0-9a-f]+", re.IGNORECASE)


@pytest.fixture
def session(pytester, monkeypatch, tmp_path_factory):
    """Run pytest on a file in another process; return what it printed, and its exit status."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    path = [str(ROOT)]
    if not any(point.value == "dpaudit.pytest_plugin" for point in entry_points(group="pytest11")):
        # An editable installation made before the plugin: what a new one would declare.
        folder = tmp_path_factory.mktemp("site")
        declared = tomllib.loads(PYPROJECT.read_text())["project"]["entry-points"]["pytest11"]
        info = folder / "dpaudit_entry_point-0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dpaudit-entry-point\nVersion: 0\n")
        lines = [f"{name} = {value}\n" for name, value in declared.items()]
        (info / "entry_points.txt").write_text("".join(["[pytest11]\n", *lines]))
        path.append(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("COLUMNS", "200")
    # On a CI server pytest does not shorten the messages of its summary, and every one would be there twice.
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)

    def run(code, *options, ini="", targets=TARGETS):
        pytester.makepyfile(test_inner="\n".join([dedent(targets), dedent(code)]))
        pytester.makeini(f"[pytest]\naddopts = --strict-markers -p no:cacheprovider\nfilterwarnings = error\n{ini}")
        result = pytester.runpytest_subprocess(*options, timeout=300)
        return result.ret, "\n".join([*result.outlines, *result.errlines])

    return run


MIXED_SESSIONS = []
"""What the session of `MIXED` returned that the tests share: it takes long."""


@pytest.fixture
def mixed(session):
    if not MIXED_SESSIONS:
        MIXED_SESSIONS.append(session(MIXED))
    return MIXED_SESSIONS[0]


def _failures(text):
    """What pytest prints about failures, without the address of the generator that a sampler was given."""
    return ADDRESS.sub("", text[text.index(" FAILURES ") : text.index(" short test summary ")]).strip("= ")


MIXED = """
    from dpaudit.testing import assert_private as direct

    def test_holds(assert_private):
        evidence = assert_private(noisy, epsilon=2.0, pairs=PAIRS, samples=50_000)
        assert evidence.verdict == "consistent"

    def test_violated(assert_private):
        assert_private(noisy, epsilon=1.0, pairs=PAIRS, samples=5000)

    def test_called_directly():
        direct(noisy, epsilon=1.0, pairs=PAIRS, samples=5000, seed=3)

    def test_exact(assert_private):
        assert assert_private(Exact(), epsilon=2.0).verdict == "proved"

    def test_raises(assert_private):
        assert_private(lambda data, size, rng: 1 / data, epsilon=1.0, pairs=PAIRS)
"""


def test_a_failure_shows_its_witness_and_the_summary_all_audits(mixed):
    status, text = mixed
    assert status == 1
    assert "2 passed" in text
    assert "3 failed" in text
    failure = text[text.index("_ test_violated _") : text.index("_ test_called_directly _")]
    assert re.search(r"^E +AssertionError: noisy is not \(1, 0\)-DP: refuted \(black-box\)$", failure, re.MULTILINE)
    for line in ("input ", "neighbour ", "event ", "p, q ", "so epsilon >= ", "false-alarm rate: at most 0.001"):
        assert re.search(rf"^E +{line}", failure, re.MULTILINE), line
    assert AGAIN.search(failure).groups() == ("0", "5000", "0.999")
    assert (
        "dpaudit: 4 privacy audits (3 by sampling); the probability of a false alarm in the whole session "
        "was at most 0.003001\n"
    ) in text
    # The way through dpaudit is no part of it, whoever makes the call and whatever comes out.
    assert "testing.py" not in text
    assert "pytest_plugin.py" not in text
    assert "blackbox.py" not in text
    assert "TargetRaisedError: <lambda>: `sample` raised ZeroDivisionError" in text


@pytest.mark.slow
def test_outputs_that_depend_on_each_other_fail_by_an_error_and_no_witness(session):
    status, text = session("""
        def shared(data, size, rng):
            return 3 * rng.laplace() + rng.normal(size=size)

        def test_shared(assert_private):
            assert_private(shared, epsilon=0.1, pairs=PAIRS, samples=20_000)
    """)
    assert status == 1
    assert "CheckError: shared: outputs of `sample` on the input 0.0 depend on the call that they come from" in text
    assert "refuted" not in text


def test_a_rerun_shows_the_same_to_the_letter(session, mixed):
    first, again = (_failures(text) for _, text in (mixed, session(MIXED)))
    assert first.count("false-alarm rate") == 2
    assert first == again


@pytest.mark.slow
def test_the_example_of_the_handbook(session):
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", HANDBOOK.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (example,) = (block for language, block in blocks if language == "python" and "def test_" in block)
    (shown,) = (block for _, block in blocks if block.startswith("AssertionError: "))
    assert session(example, targets="")[0] == 0
    status, text = session(example.replace("scale=1.0", "scale=0.5"), targets="")
    assert status == 1
    for line in shown.splitlines():
        # The part that does not depend on the samples drawn.
        start = re.split("  +|…", line.strip())[0]
        assert re.search(rf"^E +{re.escape(start)}", text, re.MULTILINE), start
    assert "dpaudit: 1 privacy audit (1 by sampling); " in text


DEFAULTS = """
    pytestmark = pytest.mark.privacy(epsilon=1.0, confidence=0.99)

    def test_module(assert_private):
        assert_private(noisy, pairs=PAIRS)

    @pytest.mark.privacy(seed=5)
    class TestClass:
        @pytest.mark.privacy(samples=4000, confidence=0.95)
        def test_nearest(self, assert_private):
            assert_private(noisy, pairs=PAIRS)

        @pytest.mark.privacy(samples=4000)
        def test_call(self, assert_private):
            assert_private(noisy, pairs=PAIRS, samples=6000, confidence=0.9, seed=None)

    @pytest.mark.privacy(epsilon=0.5)
    @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.privacy(epsilon=0.25, delta=0.001, seed=0))])
    def test_parameter(assert_private, n):
        assert_private(noisy, pairs=PAIRS)
"""
INI = "dpaudit_samples = 5_000\ndpaudit_seed = 7\ndpaudit_confidence = 0.9\n"


def test_fewest_samples_are_those_of_the_auditor():
    assert pytest_plugin.LEAST_SAMPLES == tasks.LEAST_SAMPLES


@pytest.mark.slow
def test_what_a_call_leaves_out_comes_from_the_marker_and_then_from_the_ini_options(session):
    status, text = session(DEFAULTS, ini=INI)
    assert status == 1
    assert AGAIN.findall(text) == [
        ("7", "5000", "0.99"),
        ("5", "4000", "0.95"),
        ("5", "6000", "0.9"),
        ("0", "5000", "0.99"),
    ]
    assert re.findall(
        r"^E +AssertionError: noisy is not \((\S+), (\S+)\)-DP: refuted \(black-box\)$", text, re.MULTILINE
    ) == [
        ("1", "0"),
        ("1", "0"),
        ("1", "0"),
        ("0.25", "0.001"),
    ]
    assert "was at most 0.17\n" in text, "the sum, as exact as decimals are: 0.01 + 0.05 + 0.1 + 0.01"


@pytest.mark.slow
def test_the_command_line_goes_before_marker_and_ini_options(session):
    words = ("--dpaudit-samples", "7000", "--dpaudit-confidence=0.5", "--dpaudit-seed=1")
    status, text = session(DEFAULTS, *words, ini=INI)
    assert status == 1
    assert AGAIN.findall(text) == [
        ("1", "7000", "0.5"),
        ("1", "7000", "0.5"),
        ("1", "6000", "0.9"),
        ("1", "7000", "0.5"),
    ]
    assert "was at most 1\n" in text, "a probability, although the sum is 1.6"


SLOW = """
    import time

    import numpy as np

    def slow(data, size, rng):
        time.sleep(0.01 * size)
        return noisy(data, size, rng)

    def test_slow(assert_private):
        assert_private(slow, epsilon=2.0, pairs=PAIRS)

    def test_drawn_already(assert_private):
        assert_private((np.zeros(1000), np.zeros(1000)), epsilon=20.0)
"""


def test_a_time_limit_for_the_session(session):
    status, text = session(SLOW, "--dpaudit-seconds=2")
    assert status == 1
    assert "slow is not shown to be (2, 0)-DP: inconclusive" in text
    assert "to see it again: seed=0, confidence=0.999, seconds=2.0" in text
    assert "seconds says nothing" not in text, "of outputs that were drawn already"


GUARANTEES = """
    pytestmark = pytest.mark.privacy(guarantee=dpaudit.ApproximateDP(1.0, 0.01), samples=2000)

    def test_module(assert_private):
        assert_private(noisy, pairs=PAIRS)

    @pytest.mark.privacy(epsilon=0.5)
    def test_nearer(assert_private):
        assert_private(noisy, pairs=PAIRS)

    def test_call(assert_private):
        assert_private(noisy, pairs=PAIRS, epsilon=0.25)

    @pytest.mark.privacy(epsilon=0.5, delta=0.1)
    def test_call_again(assert_private):
        assert_private(noisy, pairs=PAIRS, guarantee=dpaudit.ApproximateDP(0.125))

    @pytest.mark.privacy(guarantee=1.0)
    def test_wrong(assert_private): pass
"""


def test_a_guarantee_takes_the_place_of_epsilon_and_delta_and_the_nearest_goes_first(session):
    status, text = session(GUARANTEES)
    assert status == 1
    assert re.findall(r"^E +AssertionError: noisy is not (.+): refuted", text, re.MULTILINE) == [
        "(1, 0.01)-DP",
        "(0.5, 0)-DP",
        "(0.25, 0)-DP",
        "0.125-DP",
    ]
    assert "the marker privacy needs as guarantee a dpaudit.Guarantee, such as ApproximateDP(1.0), got 1.0" in text


WRONG = """
    import pytest

    @pytest.mark.privacy(eps=1.0)
    def test_unknown(): pass

    @pytest.mark.privacy(1.0)
    def test_positional(): pass

    @pytest.mark.privacy(samples=1e6)
    def test_value(assert_private): pass

    @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.privacy(confidence=1))])
    def test_parameter(n): pass

    def test_sound(assert_private):
        assert repr(assert_private) == "assert_private()"

    def test_without_epsilon(assert_private):
        assert_private(None)
"""


def test_a_marker_that_cannot_be_used_names_its_test(session):
    status, text = session(WRONG, targets="")
    assert status == 1
    assert "1 failed, 1 passed, 4 errors" in text
    at = "test_inner.py::test_"
    for line in (
        f"{at}unknown: the marker privacy has no 'eps'; it takes epsilon, delta, samples, seconds, "
        "confidence, seed, guarantee",
        f"{at}positional: the marker privacy takes keywords only, such as privacy(epsilon=1.0), got (1.0,)",
        f"{at}value: the marker privacy needs as samples a whole number >= 1000, such as 100000, got 1000000.0",
        f"{at}parameter[1]: the marker privacy needs as confidence a number above 0 and below 1, such as 0.999, got 1",
        f"E       TypeError: {at}without_epsilon: give epsilon, or a guarantee, in the call of "
        "assert_private or in a marker privacy",
    ):
        assert f"\n{line}\n" in text
    assert "dpaudit:" not in text


def test_a_marker_of_a_test_that_audits_nothing_is_warned_of(session):
    status, out = session(
        """
        @pytest.fixture
        def audited(assert_private):
            return assert_private(noisy, pairs=PAIRS)

        @pytest.mark.privacy(epsilon=0.1)
        def test_forgotten(): pass

        @pytest.mark.privacy(epsilon=2, samples=2000)
        def test_in_a_fixture(audited): pass

        @pytest.mark.privacy(epsilon=0.1)
        def test_failed(): assert 0

        @pytest.mark.privacy(epsilon=2)
        class TestDefaults:
            def test_of_something_else(self): pass
        """,
        "-W",
        "default",
        "-q",
    )
    assert status == 1
    assert "2 failed" not in out
    assert out.count("and audits nothing; call the fixture assert_private in it") == 1
    assert "test_inner.py::test_forgotten has the marker privacy" in out


@pytest.mark.parametrize(
    ("ini", "option", "words"),
    [
        (
            "dpaudit_samples = 1e6",
            (),
            "tox.ini: dpaudit_samples must be a whole number >= 1000, such as 100000, got '1e6'",
        ),
        ("", ("--dpaudit-samples=5",), "--dpaudit-samples: must be a whole number >= 1000, such as 100000, got '5'"),
        (
            "dpaudit_confidence = 1",
            (),
            "dpaudit_confidence must be a number above 0 and below 1, such as 0.999, got '1'",
        ),
        ("dpaudit_seed = -1", (), "dpaudit_seed must be a whole number >= 0, such as 1, got '-1'"),
        (
            "",
            ("--dpaudit-confidence=nan",),
            "--dpaudit-confidence: must be a number above 0 and below 1, such as 0.999",
        ),
        ("dpaudit_seconds = 0", (), "dpaudit_seconds must be a finite number above 0, such as 60, got '0'"),
        ("", ("--dpaudit-seconds=inf",), "--dpaudit-seconds: must be a finite number above 0, such as 60, got 'inf'"),
    ],
)
def test_options_that_cannot_be_used(session, ini, option, words):
    status, text = session("def test(): pass", *option, ini=ini, targets="")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert words in text
    assert "Traceback" not in text


def test_a_session_without_audits_pays_nothing_and_says_nothing(session):
    code = """
        import sys

        import pytest

        pytestmark = pytest.mark.privacy(epsilon=1.0)

        def test_marked(assert_private):
            heavy = {"numpy", "scipy", "pydantic", "sklearn", "dpaudit.testing"}
            assert "dpaudit.pytest_plugin" in sys.modules
            assert not heavy & set(sys.modules)
    """
    status, text = session(code, targets="")
    assert status == 0
    assert "1 passed" in text
    assert "dpaudit:" not in text


def test_importing_the_plugin_imports_pytest_and_the_standard_library_only():
    code = (
        "import sys, pytest; before = set(sys.modules); import dpaudit.pytest_plugin; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["dpaudit"], done.stderr


@pytest.mark.slow
def test_the_marker_the_fixture_and_the_options_are_listed(session):
    assert "@pytest.mark.privacy(epsilon=..., delta=..., samples=..." in session("", "--markers", targets="")[1]
    assert re.search(r"^assert_private -- .*pytest_plugin", session("", "--fixtures", targets="")[1], re.MULTILINE)
    text = session("", "--help", targets="")[1]
    assert "--dpaudit-samples=N" in text
    assert "--dpaudit-seconds=S" in text


@pytest.mark.slow
def test_the_plugin_can_be_left_out(session):
    code = """
        def test_direct():
            dpaudit.testing.assert_private(noisy, epsilon=2.5, pairs=PAIRS, samples=20_000)

        def test_fixture(assert_private):
            pass
    """
    status, text = session(code, "-p", "no:dpaudit")
    assert status == 1
    assert "1 passed, 1 error" in text
    assert "fixture 'assert_private' not found" in text
    assert "dpaudit:" not in text


@pytest.mark.slow
def test_the_workers_of_xdist_hand_over_what_they_counted(session, mixed):
    pytest.importorskip("xdist")
    alone, distributed = mixed, session(MIXED, "-n", "2")
    line = re.compile(r"^dpaudit: .*$", re.MULTILINE)
    assert distributed[0] == alone[0] == 1
    assert line.findall(distributed[1]) == line.findall(alone[1]) != []
    assert sorted(AGAIN.findall(distributed[1])) == sorted(AGAIN.findall(alone[1]))
    # A marker that cannot be used is an error of its test there too.
    status, text = session(WRONG, "-n", "1", targets="")
    assert status == 1
    assert "1 failed, 1 passed, 4 errors" in text
    assert "INTERNALERROR" not in text


@pytest.mark.slow
def test_a_worker_that_is_lost_is_not_counted_in_silence(session):
    pytest.importorskip("xdist")
    code = """
        import os

        def test_audit(assert_private):
            assert_private(noisy, epsilon=2.5, pairs=PAIRS, samples=20_000)

        def test_crash(assert_private):
            os._exit(1)

        def test_after(assert_private):
            assert_private(noisy, epsilon=2.5, pairs=PAIRS, samples=20_000)
    """
    status, text = session(code, "-n", "1")
    assert status == 1
    assert re.search(r"^dpaudit: 1 privacy audit \(1 by sampling\), not counting 1 lost worker; ", text, re.MULTILINE)
