"""`assert_private` on what is no Python function: samples in arrays and files, commands, objects of libraries."""

import sys

import numpy as np
import pytest

import dpaudit
from dpaudit.testing import assert_private, history

PROGRAM = """\
#!{python} -SE
import json, random, sys
print(json.dumps({{"protocol": "dpaudit.sampler/1", "format": "jsonl"}}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    rng = random.Random(asked["seed"])
    print(*[asked["input"] ^ (rng.random() < 0.25) for _ in range(asked["size"])], sep="\\n", flush=True)
"""


class Released:
    """What an OpenDP Measurement has, with noise for epsilon 1 at distance 1."""

    input_domain = "AtomDomain(T=i32)"
    input_metric = "AbsoluteDistance(i32)"
    output_measure = "MaxDivergence"
    input_distance_type = "i32"

    def __init__(self, claimed=1.0):
        self.claimed, self.rng = claimed, np.random.default_rng(5)

    def __call__(self, data):
        return int(data) // 2 % 2 + int(self.rng.geometric(1 - np.exp(-1)) - self.rng.geometric(1 - np.exp(-1)))

    def map(self, d_in):
        return self.claimed * d_in


Released.__module__ = "opendp.fake"


@pytest.fixture(scope="module")
def outputs():
    rng = np.random.default_rng(8)
    return rng.laplace(size=20_000), 1 + rng.laplace(size=20_000)  # epsilon is 1


@pytest.mark.slow
def test_arrays(outputs):
    before = len(history)
    evidence = assert_private(outputs, epsilon=1.0)
    assert evidence.verdict == "consistent"
    assert evidence.measured["epsilon"].lower == dpaudit.bound_from_samples(*outputs, claimed=1.0).value
    with pytest.raises(AssertionError) as caught:
        assert_private(outputs, epsilon=0.5, seed=3, confidence=0.99)
    text = str(caught.value)
    assert text.startswith("the outputs A (20000 rows) and B (20000 rows) are not (0.5, 0)-DP: refuted (black-box)")
    assert "false-alarm rate: at most 0.01" in text
    assert "to see it again: seed=3, confidence=0.99" in text
    assert [audit.by_sampling for audit in history[before:]] == [True, True]
    assert_private(outputs, guarantee=dpaudit.ZeroConcentratedDP(0.5))
    with pytest.raises(AssertionError, match="zCDP: refuted"):
        assert_private(outputs, guarantee=dpaudit.ZeroConcentratedDP(0.05))


@pytest.mark.slow
def test_files(outputs, tmp_path):
    for name, part in zip("ab", outputs, strict=True):
        np.save(tmp_path / f"{name}.npy", part)
    assert assert_private((tmp_path / "a.npy", tmp_path / "b.npy"), epsilon=1.0).verdict == "consistent"
    with pytest.raises(AssertionError, match=r"a\.npy \(20000 rows\) and .*b\.npy .* are not \(0.5, 0\)-DP"):
        assert_private((str(tmp_path / "a.npy"), tmp_path / "b.npy"), epsilon=0.5)
    with pytest.raises(dpaudit.DataError, match="cannot be read"):
        assert_private((tmp_path / "a.npy", tmp_path / "c.npy"), epsilon=0.5)


def test_too_few_outputs_are_no_pass(outputs):
    with pytest.raises(AssertionError, match=r"are not shown to be .* inconclusive"):
        assert_private((outputs[0][:30], outputs[1][:30]), epsilon=3.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 2000}, "samples says nothing of outputs that were drawn already"),
        ({"pairs": [(0, 1)]}, "pairs says nothing"),
        ({"method": "exact"}, "method says nothing"),
        ({"stop_early": True}, "stop_early says nothing"),
        ({"view": "report"}, "view says nothing"),
    ],
)
def test_what_says_nothing_of_samples_is_refused(outputs, options, words):
    with pytest.raises(dpaudit.ParameterError, match=words):
        assert_private(outputs, epsilon=1.0, **options)
    with pytest.raises(dpaudit.ParameterError, match="two arrays or files, got 3"):
        assert_private((*outputs, outputs[0]), epsilon=1.0)
    with pytest.raises(dpaudit.ParameterError, match="give epsilon"):
        assert_private(outputs)


@pytest.mark.slow
def test_objects_of_libraries_claim_something_themselves():
    assert assert_private(Released(), samples=4000).verdict == "consistent"
    with pytest.raises(AssertionError, match=r"is not 0.5-DP: refuted"):
        assert_private(Released(0.5), samples=4000)
    with pytest.raises(AssertionError, match=r"is not \(0.25, 0\)-DP: refuted"):
        assert_private(Released(), epsilon=0.25, samples=4000)
    # Pairs of one's own: these two inputs are not told apart.
    assert assert_private(Released(0.5), samples=4000, pairs=[(0, 1)]).verdict == "consistent"
    with pytest.raises(dpaudit.CheckError, match="0 and 2, are 2 apart"):
        assert_private(Released(0.5), samples=4000, pairs=[(0, 2)])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="commands need pipes that can be waited for")
def test_commands(tmp_path):
    file = tmp_path / "flip"
    file.write_text(PROGRAM.format(python=sys.executable))
    file.chmod(0o755)
    mechanism = dpaudit.CommandMechanism(command=[str(file)], parameters={"epsilon": 1.2}, pairs=[(0, 1)])
    assert assert_private(mechanism, samples=4000).verdict == "consistent"
    with pytest.raises(AssertionError, match=r"is not \(0.5, 0\)-DP: refuted"):
        assert_private(mechanism, epsilon=0.5, samples=4000)


@pytest.mark.slow
def test_the_fixture_takes_them_all(pytester_run):
    outcome = pytester_run(
        """
        import numpy as np
        import pytest

        rng = np.random.default_rng(8)
        OUTPUTS = rng.laplace(size=20_000), 1 + rng.laplace(size=20_000)

        def test_arrays(assert_private):
            assert_private(OUTPUTS, epsilon=1.0)

        @pytest.mark.privacy(epsilon=1.0, confidence=0.99)
        def test_marked(assert_private):
            assert_private(OUTPUTS)

        def test_says_nothing(assert_private):
            with pytest.raises(TypeError, match="give epsilon, or a guarantee"):
                assert_private(OUTPUTS)
            with pytest.raises(TypeError, match=r"no parameter 'epsilom' \\(did you mean 'epsilon'\\?\\)"):
                assert_private(OUTPUTS, epsilom=1.0)
        """
    )
    assert "3 passed" in outcome
    assert "2 privacy audits (2 by sampling)" in outcome
    assert "at most 0.011" in outcome


@pytest.fixture
def pytester_run(tmp_path):
    """Run pytest on a file with an ini option about samples, which says nothing of arrays."""
    import subprocess
    import textwrap

    def run(text):
        (tmp_path / "test_mine.py").write_text(textwrap.dedent(text))
        (tmp_path / "pytest.ini").write_text("[pytest]\ndpaudit_samples = 5000\n")
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    return run
