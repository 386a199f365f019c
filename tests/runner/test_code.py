"""Fingerprints of code: what moves them and what does not."""

import importlib
import sys
from textwrap import dedent

import pytest

from dpaudit.runner.code import Codebase, Reader

PACKAGE = {
    "__init__.py": '"""A package."""\nfrom .system import System\n',
    "paper.py": """
        import dpaudit
        PAPER = dpaudit.Paper(key="p", title="A title", authors=("A",), year=2026)
        """,
    "system.py": '''
        """The system."""
        import numpy as np
        import dpaudit
        from dpaudit import randomizers
        from .helpers import used as renamed
        from .paper import PAPER

        SCALE = 2.0
        UNUSED = 3.0

        class System(dpaudit.Mechanism):
            """A system."""

            places = (PAPER.at(theorem=1),)
            epsilon: float = dpaudit.parameter(1.0, doc="the budget")

            def sample(self, data, size, rng):
                """Draw."""
                # A comment.
                return renamed(randomizers.LaplaceNoise(SCALE).randomize(np.zeros(size), rng))
        ''',
    "helpers.py": '''
        from scipy.stats import binom
        LIMIT = 5

        def used(x):
            """Return x."""
            return x + further(LIMIT)

        def further(x):
            import sklearn.linear_model
            return sklearn.linear_model.LinearRegression().fit(x, x).coef_

        def unused(x):
            return binom.pmf(x, 1, 0.5)
        ''',
    "claims.py": """
        import dpaudit
        from .paper import PAPER
        from .system import System

        def rate(system):
            return 2.0

        @dpaudit.claim("p.one", System, kind="utility", statement="One.", place=PAPER.at(theorem=1))
        def one(system):
            return dpaudit.UtilityClaim(bound=1.0, exact=lambda: 0.5)

        @dpaudit.claim("p.two", System, kind="utility", statement="Two.", place=PAPER.at(theorem=2))
        def two(system):
            return dpaudit.UtilityClaim(bound=rate(system), exact=lambda: 0.5)
        """,
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A function that writes the package with some texts replaced, and returns fingerprints of its definitions."""
    monkeypatch.syspath_prepend(str(tmp_path))
    home = tmp_path / "fingerprinted"
    home.mkdir()

    def write(*replacements):
        for name, text in PACKAGE.items():
            text = dedent(text)
            for file, old, new in replacements:
                if file == name:
                    assert old in text
                    text = text.replace(old, new)
            (home / name).write_text(text)
        for name in [name for name in sys.modules if name.partition(".")[0] == "fingerprinted"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        base = Codebase(reader=Reader(papers=["fingerprinted"]))
        return {
            "system": base.fingerprint([("fingerprinted.system", "System")]),
            "one": base.fingerprint([("fingerprinted.system", "System"), ("fingerprinted.claims", "one")]),
            "two": base.fingerprint([("fingerprinted.system", "System"), ("fingerprinted.claims", "two")]),
        }

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "fingerprinted"]:
        del sys.modules[name]


def moved(package, *replacements):
    before, after = package(), package(*replacements)
    return {name for name in before if before[name].digest != after[name].digest}


def test_names_are_followed_through_imports_and_no_further(package):
    found = package()["system"]
    own = [unit for unit in found.units if unit.startswith("fingerprinted")]
    assert own == [
        "fingerprinted.helpers:LIMIT",
        "fingerprinted.helpers:used",
        "fingerprinted.helpers:further",
        "fingerprinted.system:SCALE",
        "fingerprinted.system:System",
    ]
    assert "dpaudit.randomizers.laplace:LaplaceNoise" in found.units
    assert "dpaudit.randomizers.gaussian:GaussianNoise" not in found.units
    assert not any(unit.startswith(("dpaudit.mechanism", "dpaudit.auditors")) for unit in found.units)
    # scipy is imported by a module that is reached, but by no definition that is.
    assert found.packages >= {"numpy", "sklearn"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "replacement",
    [
        ("system.py", '"""Draw."""', '"""Draw outputs, and say more of it."""'),
        ("system.py", '"""A system."""', '"""Another system."""'),
        ("system.py", '"""The system."""', '"""The whole\nmodule, over several lines."""'),
        ("system.py", "# A comment.", "# Another comment.\n        # And one more."),
        ("system.py", 'doc="the budget"', 'doc="the whole budget"'),
        ("system.py", "places = (PAPER.at(theorem=1),)", "places = (PAPER.at(theorem=7),)"),
        ("system.py", "UNUSED = 3.0", "UNUSED = 4.0"),
        ("helpers.py", '"""Return x."""', ""),
        ("helpers.py", "binom.pmf(x, 1, 0.5)", "binom.pmf(x, 2, 0.5)"),
        ("paper.py", "A title", "Another title"),
        ("claims.py", 'statement="One."', 'statement="The first."'),
        ("claims.py", "place=PAPER.at(theorem=2)", "place=PAPER.at(section=3, theorem=2)"),
    ],
)
def test_words_and_what_is_not_reached_move_nothing(package, replacement):
    assert moved(package, replacement) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replacement", "outdated"),
    [
        (("system.py", "SCALE = 2.0", "SCALE = 1.0"), {"system", "one", "two"}),
        (("helpers.py", "LIMIT = 5", "LIMIT = 6"), {"system", "one", "two"}),
        (("helpers.py", "return x + further", "return x - further"), {"system", "one", "two"}),
        (("system.py", "parameter(1.0", "parameter(2.0"), {"system", "one", "two"}),
        (("claims.py", "bound=1.0", "bound=1.1"), {"one"}),
        (("claims.py", "return 2.0", "return 3.0"), {"two"}),
    ],
)
def test_code_moves_what_reaches_it(package, replacement, outdated):
    assert moved(package, replacement) == outdated


def test_a_definition_that_is_not_there_counts_the_whole_module(package):
    package()
    found = Codebase().fingerprint([("fingerprinted.helpers", "nothing_of_that_name")])
    assert "fingerprinted.helpers:*" in found.units


def test_what_is_cut_is_not_followed(package):
    package()
    found = Codebase(cut=[("fingerprinted.helpers", "further")]).fingerprint([("fingerprinted.system", "System")])
    assert "fingerprinted.helpers:further" not in found.units
    assert "fingerprinted.helpers:used" in found.units
