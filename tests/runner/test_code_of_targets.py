"""Ways in which a user's code may decide a number without naming it where it is used: each changes the fingerprint."""

import importlib
import sys

import pytest

from dpaudit.runner.code import Codebase

USE = "class Target:\n    def sample(self):\n        return {use}\n"


def files(head, use, **others):
    """A target's module and its helpers; ``@@`` stands for the number that is changed."""
    return {
        "t.py": head + USE.format(use=use),
        **{name.replace("__", "/") + ".py": text for name, text in others.items()},
    }


CASES = {
    "item": files("T = {}\nT['a'] = @@\n", "T['a']"),
    "append": files("T = []\nT.append(@@)\n", "T[0]"),
    "update": files("T = {'a': 0}\nT.update(a=@@)\n", "T['a']"),
    "loop": files("T = []\nfor x in (@@,):\n    T.append(x)\n", "T[0]"),
    "registered": files(
        "T = {}\ndef register(f):\n    T['a'] = f\n    return f\n@register\ndef a():\n    return @@\n", "T['a']()"
    ),
    "dispatched": files(
        "import functools\n@functools.singledispatch\ndef f(x):\n    return 0\n"
        "@f.register\ndef _(x: int):\n    return @@\n",
        "f(1)",
    ),
    "attribute of a module": files("import h\nh.S = @@\n", "h.S", h="S = 0\n"),
    "attribute set by the package": {
        **files("from pk import h\n", "h.S", pk__h="S = 0\n"),
        "pk/__init__.py": "from . import h\nh.S = @@\n",
    },
    "global": files("S = 0\ndef init():\n    global S\n    S = @@\ninit()\n", "S"),
    "globals": files("globals()['S'] = @@\n", "S"),
    "match": files("match (1, @@):\n    case (_, S):\n        pass\n", "S"),
    "call with a number": files("T = []\ndef make(x):\n    T.append(x)\nmake(@@)\n", "T[0]"),
    "the other import": files(
        "FAST = False\nif FAST:\n    from h import f\nelse:\n    from g import f\n", "f", h="f = 0\n", g="f = @@\n"
    ),
    "which import": files(
        "FAST = @@\nif FAST:\n    from h import f\nelse:\n    from g import f\n", "f", h="f = 0\n", g="f = 0\n"
    ),
    "import that is missing": files(
        "try:\n    from absent import f\nexcept ImportError:\n    from g import f\n", "f", g="f = @@\n"
    ),
    "binding and import": files("S = None\nfrom h import S\n", "S", h="S = @@\n"),
    "folder without __init__": files("from pk import h\n", "h.S", pk__h="S = @@\n"),
    "dotted folder without __init__": files("import pk.h\n", "pk.h.S", pk__h="S = @@\n"),
    "imported class": {"t.py": "from mech import Target\n", "mech.py": "S = @@\n" + USE.format(use="S")},
    "star of a star": files("from h import *\n", "S", h="from g import *\n", g="S = @@\n"),
    "module named in a text": files("import importlib\n", "importlib.import_module('h').S", h="S = @@\n"),
    "__getattr__ of a module": files("import h\n", "h.S", h="def __getattr__(name):\n    return @@\n"),
    "module called as one of Python's": files("import this\n", "this.S", this="S = @@\n"),
    "attribute called places": files("class R:\n    places = @@\n", "R.places"),
    "argument called statement": files("def control(statement):\n    return statement\n", "control(statement=@@)"),
    "decorator called claim": files("def claim(x):\n    return lambda f: x\n@claim(@@)\ndef f():\n    pass\n", "f"),
    "caught": files("try:\n    raise ValueError(@@)\nexcept ValueError as S:\n    E = S\n", "E"),
}


@pytest.fixture
def fingerprint(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def of(texts, number):
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text.replace("@@", number))
        for name in ("this", *set(sys.modules) - before):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return Codebase().fingerprint([("t", "Target")])

    yield of
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("case", CASES)
def test_what_decides_a_number_changes_the_fingerprint(fingerprint, case):
    one, other = (fingerprint(CASES[case], number) for number in ("1", "2"))
    assert one.digest != other.digest
    assert one.complete
    assert fingerprint(CASES[case], "1") == one


@pytest.mark.parametrize("use", ["importlib.import_module(NAME).S", "__import__(NAME).S", "eval(NAME)", "exec(NAME)"])
def test_what_is_made_at_run_time_has_no_complete_fingerprint(fingerprint, use):
    assert not fingerprint(files("import importlib\nNAME = 'h'\n", use, h="S = 1\n"), "1").complete
