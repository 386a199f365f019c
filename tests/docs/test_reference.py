"""The reference: every public name says what its parameters are and what it raises, and has an example that runs."""

import doctest
import enum
import importlib.util
import inspect
import operator
import re
import sys

import pytest

import dpaudit

SECTION = re.compile(r"^(\w+)\n-{4,}\n(.*?)(?=^\w+\n-{4,}\n|\Z)", flags=re.MULTILINE | re.DOTALL)
LIBRARIES = {"from_diffprivlib": "diffprivlib", "from_opendp": "opendp", "from_pure_ldp": "pure_ldp"}
"""Names whose examples need a library: here they are looked for, and run where it is; `tests/examples` runs them."""

CALLED = [name for name in dpaudit.__all__ if not inspect.ismodule(getattr(dpaudit, name))]


def _sections(thing):
    """What stands in each section of a docstring; a class has the sections of the classes that it is derived from."""
    homes = (
        [each for each in thing.__mro__ if each.__module__.startswith("dpaudit")] if inspect.isclass(thing) else [thing]
    )
    found = {}
    for home in homes:
        for title, text in SECTION.findall(inspect.cleandoc(home.__doc__ or "") + "\n"):
            found[title] = found.get(title, "") + text
    return found


@pytest.mark.parametrize("name", CALLED)
def test_every_parameter_is_documented(name):
    thing = getattr(dpaudit, name)
    if inspect.isclass(thing) and (issubclass(thing, enum.Enum | Exception) or getattr(thing, "_is_protocol", False)):
        return
    sections = _sections(thing)
    text = sections.get("Parameters", "") + sections.get("Attributes", "")
    documented = {word for line in re.findall(r"^\S.*$", text, flags=re.MULTILINE) for word in line.split(", ")}
    wanted = {each.strip("*") for each in inspect.signature(thing).parameters if not each.startswith("_")}
    assert wanted <= {word.strip("* ").split(" : ")[0] for word in documented}


@pytest.mark.parametrize("name", CALLED)
def test_every_error_of_an_argument_is_documented(name):
    thing = getattr(dpaudit, name)
    if getattr(thing, "_is_protocol", False):
        return
    if inspect.isclass(thing):
        checked = [vars(thing).get(each) for each in ("__init__", "__post_init__")]
        written = "".join(inspect.getsource(each) for each in checked if hasattr(each, "__code__") and _in_a_file(each))
        if "raise " not in written:
            return
    assert "Raises" in _sections(thing)


def _in_a_file(function):
    return not function.__code__.co_filename.startswith("<")


NAMES = [
    *dpaudit.__all__,
    *(
        f"{home.__name__.removeprefix('dpaudit.')}.{name}"
        for home in (dpaudit.randomizers, dpaudit.rankings)
        for name in home.__all__
        if inspect.isroutine(thing := inspect.unwrap(getattr(home, name))) or inspect.isclass(thing)
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_every_public_name_runs(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    thing = operator.attrgetter(name)(dpaudit)
    # dataclasses look up the module in which an example defines one.
    home = sys.modules[thing.__module__] if hasattr(thing, "__module__") else thing
    text = thing.__doc__ or ""
    examples = doctest.DocTestParser().get_doctest(text, {**vars(home)}, name, home.__file__, 0)
    assert examples.examples, f"{name} has no example"
    if name in LIBRARIES and importlib.util.find_spec(LIBRARIES[name]) is None:
        return
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    result = runner.run(examples, out=said.append)
    assert not result.failed, "".join(said)
