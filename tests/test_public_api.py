"""The public names: they exist, they say what they are, and they cost nothing before they are used."""

import ast
import inspect
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import dpaudit


@pytest.mark.parametrize("name", dpaudit.__all__)
def test_a_public_name(name):
    value = getattr(dpaudit, name)
    if inspect.ismodule(value) or inspect.isclass(value) or inspect.isfunction(value):
        assert (value.__doc__ or "").strip()
        assert not value.__doc__.startswith(f"{name}("), "the docstring is the one that dataclasses make up"


def _functions():
    for name in dpaudit.__all__:
        value = getattr(dpaudit, name)
        if inspect.ismodule(value):
            members = {key: getattr(value, key) for key in getattr(value, "__all__", vars(value))}
            members = {
                key: item for key, item in members.items() if getattr(item, "__module__", "").startswith("dpaudit")
            }
        elif inspect.isclass(value):
            members = {key: item for key, item in vars(value).items() if inspect.isfunction(item)}
        else:
            continue
        for key, item in members.items():
            if not key.startswith("_") and (inspect.isfunction(item) or inspect.isclass(item)):
                yield pytest.param(item, id=f"{name}.{key}")


@pytest.mark.parametrize("item", list(_functions()))
def test_what_a_public_name_holds_is_documented(item):
    assert (inspect.getdoc(item) or "").strip()


def test_names_are_sorted_and_no_other():
    assert list(dpaudit.__all__) == sorted(dpaudit.__all__)
    shown = {name for name in dir(dpaudit) if not (name.startswith("__") and name.endswith("__"))}
    assert shown == set(dpaudit.__all__)
    with pytest.raises(AttributeError, match=r"module 'dpaudit' has no attribute 'no_such_name'$"):
        dpaudit.no_such_name  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'Mechanism'"):
        dpaudit.Mecanism  # noqa: B018
    with pytest.raises(ImportError, match="no_such_name"):
        from dpaudit import no_such_name  # noqa: F401


def test_type_checkers_see_the_names_that_are_loaded():
    tree = ast.parse(Path(dpaudit.__file__).read_text())
    seen = {
        (alias.name, node.module if node.module != "dpaudit" else f"dpaudit.{alias.name}")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("dpaudit")
        for alias in node.names
    }
    assert seen == set(dpaudit._HOMES.items())
    assert {name for name, _ in seen} == set(dpaudit.__all__)


def test_no_module_shadows_a_public_name():
    modules = {info.name for info in pkgutil.iter_modules(dpaudit.__path__)}
    shadows = {name for name in dpaudit.__all__ if name in modules and not inspect.ismodule(getattr(dpaudit, name))}
    assert not shadows


def _fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_importing_loads_nothing_heavy_until_a_name_is_used():
    heavy = ("numpy", "scipy", "pydantic", "hypothesis", "sklearn", "typer", "rich")
    code = f"import sys, dpaudit; print(*(set({heavy!r}) & set(sys.modules))); dpaudit.DpauditError, dpaudit.Verdict"
    assert _fresh(code) == []
    assert _fresh(f"{code}; print('numpy' in sys.modules); dpaudit.Law; print('numpy' in sys.modules)") == [
        "False",
        "True",
    ]


@pytest.mark.slow
def test_names_stay_what_they_are_in_any_order_of_imports():
    code = "import dpaudit.runner.check, dpaudit.cli.check, dpaudit; print(dpaudit.check.__qualname__)"
    assert _fresh(code) == ["check"]
    assert _fresh("from dpaudit import *; print(check.__name__, testing.__name__, load.__name__)") == [
        "check",
        "dpaudit.testing",
        "load",
    ]
    assert _fresh("import dpaudit; print(dpaudit.testing.assert_private.__name__)") == ["assert_private"]
    assert _fresh("import dpaudit.testing as t; import dpaudit; print(t is dpaudit.testing)") == ["True"]


def test_classes_and_values_can_be_pickled():
    for name in dpaudit.__all__:
        value = getattr(dpaudit, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert pickle.loads(pickle.dumps(value)) is value
    interval = dpaudit.Interval.exact(1.0)
    code = f"import pickle; print(pickle.loads({pickle.dumps(interval)!r}).lower)"
    assert _fresh(code) == ["1.0"]


def test_errors_are_of_one_family():
    errors = [getattr(dpaudit, name) for name in dpaudit.__all__ if name.endswith("Error")]
    assert len(errors) >= 8
    assert all(issubclass(error, dpaudit.DpauditError) for error in errors)
    assert issubclass(dpaudit.ParameterError, ValueError)
