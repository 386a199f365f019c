"""Keys of a user's target: code that decides a result, and that no name leads to, changes them or leaves none."""

import importlib
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from dpaudit.runner import Request, build_cells
from dpaudit.runner.keys import Keys

TARGET = """
import sys
import numpy as np
import dpaudit
{head}

class T(dpaudit.Mechanism):
    kind: str = "laplace"

    def sample(self, data, size, rng):
        return data + {use}

    def neighbours(self):
        return dpaudit.Neighbouring(relation="own", pairs=[(0, 1)], complete=True, scope="bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="t.privacy", statement="p", epsilon=2.0)]
"""

HELPER = "SCALE = @@\ndef noise_laplace(rng, size):\n    return rng.laplace(size=size, scale=SCALE)\n"
REGISTER = "class Base:\n    known = {}\n    def __init_subclass__(cls):\n        Base.known[cls.__name__] = cls\n"
SUBCLASS = "class Laplace(Base):\n    def draw(self, rng, size):\n        return rng.laplace(size=size, scale=@@)\n"
PATCHER = "import helper\nhelper.SCALE = @@\n"


def case(head, use="helper.noise_laplace(rng, size)", **files):
    """A target and its modules; ``@@`` stands for the number that is changed."""
    files = {"helper": HELPER, **files}
    texts = {name.replace("__in__", "/") + ".py": text for name, text in files.items()}
    return {"t.py": TARGET.format(head=head, use=use), **texts}


FOLLOWED = {
    "a function looked up in a module": case("import helper", "getattr(helper, f'noise_{self.kind}')(rng, size)"),
    "a function that operator looks up": case(
        "import helper, operator", "operator.attrgetter('noise_' + self.kind)(helper)(rng, size)"
    ),
    "an import for its effects": case("import helper, patcher", patcher=PATCHER, helper=HELPER.replace("@@", "1")),
    "an import for effects, by another module": case(
        "import helper, between", between="import patcher\n", patcher=PATCHER, helper=HELPER.replace("@@", "1")
    ),
    "an import in a function": case(
        "import helper\ndef prepare():\n    import patcher\n", patcher=PATCHER, helper=HELPER.replace("@@", "1")
    ),
    "an assignment with effects": case(
        "import helper, lib\n_done = lib.apply()",
        "rng.laplace(size=size, scale=helper.SCALE)",
        helper="SCALE = 1.0\n",
        lib="import helper\ndef apply():\n    helper.SCALE = @@\n",
    ),
    "subclasses that register": case(
        "from helper import Base", "Base.known['Laplace']().draw(rng, size)", helper=REGISTER + SUBCLASS
    ),
    "subclasses of other modules": case(
        "from base import Base\nimport helper",
        "Base.known['Laplace']().draw(rng, size)",
        base=REGISTER,
        helper="from base import Base\n" + SUBCLASS,
    ),
    "a package's __init__": case(
        "from pk.part import SCALE",
        "rng.laplace(size=size, scale=SCALE)",
        pk__in____init__=PATCHER,
        pk__in__part=HELPER,
    ),
    "modules that a star imports": case(
        "from pk import *", "part.SCALE", pk__in____init__="__all__ = ['part']\n", pk__in__part=HELPER
    ),
    "a relative import": case(
        "import pk.one", "pk.one.SCALE", pk__in__one="from .two import SCALE\n", pk__in__two=HELPER
    ),
    "a module named in a text": case("helper = __import__('helper')"),
}

UNSEEN = {
    "globals": case("from helper import *", "globals()[f'noise_{self.kind}'](rng, size)"),
    "sys.modules": case("import helper", "getattr(sys.modules['helper'], f'noise_{self.kind}')(rng, size)"),
    "sys handed on": case("import helper", "getattr(sys, 'mod' 'ules')['helper'].noise_laplace(rng, size)"),
    "modules of sys under another name": case("import helper\nfrom sys import modules as known"),
    "__subclasses__": case(
        "from helper import Base", "next(iter(Base.__subclasses__()))().draw(rng, size)", helper=REGISTER + SUBCLASS
    ),
    "vars": case("import helper", "vars(helper)['noise_' + self.kind](rng, size)"),
    "runpy": case("import runpy\nnames = runpy.run_path('helper.py')", "names['noise_laplace'](rng, size)"),
    "spec_from_file_location": case(
        "import importlib.util\nspec = importlib.util.spec_from_file_location('hh', 'helper.py')\n"
        "helper = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(helper)"
    ),
    "SourceFileLoader": case("import helper\nfrom importlib.machinery import SourceFileLoader as Loader"),
    "import_module under another name": case(
        "from importlib import import_module as load\nhelper = load('hel' + 'per')"
    ),
    "import_module looked up": case("import importlib\nhelper = getattr(importlib, 'import_module')('hel' + 'per')"),
    "import_module looked up in parts": case(
        "import importlib as i\nhelper = getattr(i, 'import' + '_module')('helper')"
    ),
    "import_module of a name": case("import importlib\nNAME = 'helper'\nhelper = importlib.import_module(NAME)"),
    "import_module within a package": case("import importlib\nhelper = importlib.import_module('helper', None)"),
    "__import__ under another name": case("load = __import__\nhelper = load('helper')"),
    "builtins": case("import builtins as b\nhelper = getattr(b, '__imp' + 'ort__')('helper')"),
    "compile": case(
        "import types, pathlib\nnames = {}\ncode = compile(pathlib.Path('helper.py').read_text(), 'h', 'exec')\n"
        "types.FunctionType(code, names)()",
        "names['noise_laplace'](rng, size)",
    ),
    "exec": case(
        "import pathlib\nnames = {}\nexec(pathlib.Path('helper.py').read_text(), names)",
        "names['noise_laplace'](rng, size)",
    ),
    "eval": case("import helper\nlook = eval", "look('helper.noise_' + self.kind)(rng, size)"),
    "another program": case("import subprocess, helper"),
    "a shared library": case("import ctypes, helper"),
    "a pickle": case("import pickle, helper"),
    "a search path that a function changes": case(
        "import helper\ndef later():\n    sys.path.insert(0, 'elsewhere')\n    import other\n"
    ),
    "code in a text": case("import helper, timeit\ntimeit.timeit('__import__(\\'helper\\')', number=1)"),
    "nested deeper than can be read": case("import helper\nDEEP = " + "+".join(["1"] * 1500)),
    "what a helper does": case("import helper", helper=HELPER + "known = globals()\n"),
}


@pytest.fixture
def keys(tmp_path, monkeypatch):
    """A function that writes a case with a number and returns the keys of its results."""
    before = set(sys.modules)

    def forget():
        for name in set(sys.modules) - before:
            if not name.startswith(("dpaudit.", "numpy", "scipy")):
                del sys.modules[name]
        importlib.invalidate_caches()

    def of(texts, number, folder=None, target="t.py"):
        folder = tmp_path / (folder or f"with-{number}")
        for name, text in texts.items():
            (folder / name).parent.mkdir(exist_ok=True, parents=True)
            (folder / name).write_text(text.replace("@@", number), encoding="utf-8")
        forget()
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "path", [str(folder), str(folder / "site-packages"), *sys.path])
            (cell,) = build_cells(Request(targets=[target]))
            return Keys(0).candidates(cell)

    yield of
    forget()


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLLOWED)
def test_code_that_an_import_loads_changes_every_key(keys, name):
    texts = FOLLOWED[name]
    one, again, other = keys(texts, "1"), keys(texts, "1", "again"), keys(texts, "2")
    assert one
    assert one == again
    assert not set(one) & set(other)


@pytest.mark.parametrize("name", UNSEEN)
def test_code_that_cannot_be_followed_leaves_no_key(keys, name):
    assert keys(UNSEEN[name], "1") == []


def test_words_change_no_key_and_harmless_names_leave_one(keys):
    head = "import helper, re, importlib.metadata\nsys.path.append('.')\nPATTERN = re.compile('eval of x')\ntypes = []"
    plain = case(head, "len(vars(self))")
    words = {**plain, "helper.py": f'"""Words."""\n# A comment.\n{HELPER}'}
    one = keys(plain, "1")
    assert one
    assert one == keys(words, "1", "words")


@pytest.mark.slow
def test_a_compiled_module_beside_a_target_counts_by_its_content(keys, tmp_path):
    texts = case("try:\n    import native\nexcept ImportError:\n    native = None\n")
    name = f"native{EXTENSION_SUFFIXES[-1]}"
    absent = keys(texts, "1", "absent")
    found = [keys({**texts, name: content}, "1", folder) for content, folder in (("a", "a"), ("a", "aa"), ("b", "b"))]
    assert all(found)
    assert found[0] == found[1]
    assert len({*map(tuple, found), tuple(absent)}) == 3


@pytest.mark.slow
def test_the_package_that_a_target_is_part_of_counts_by_its_content_where_it_is_installed(keys):
    # Other code may be installed under the same version.
    texts = case("from installed_here import helper", "helper.SCALE")
    texts = {f"site-packages/installed_here/{name}": text for name, text in {**texts, "__init__.py": ""}.items()}
    one, other = (keys(texts, number, target="installed_here.t:T") for number in ("1", "2"))
    assert one
    assert not set(one) & set(other)


@pytest.mark.slow
def test_a_check_takes_no_result_of_a_helper_that_has_changed(tmp_path):
    texts = FOLLOWED["an import for its effects"]

    def check(number):
        for name, text in texts.items():
            (tmp_path / name).write_text(text.replace("@@", number), encoding="utf-8")
        command = [sys.executable, "-B", "-m", "dpaudit", "check", "t.py", "--output", "o", "--samples", "3000"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    right, again, wrong = check("1.0"), check("1.0"), check("0.01")
    assert (right.returncode, again.returncode, wrong.returncode) == (0, 0, 1), right.stderr + wrong.stderr
    assert "by the same code" in again.stdout + again.stderr
    assert "by the same code" not in wrong.stdout + wrong.stderr
    assert Path(tmp_path / "o" / "results.sqlite").is_file()
