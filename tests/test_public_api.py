"""The public names: they exist, and they say what they are."""

import inspect

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
    with pytest.raises(AttributeError):
        dpaudit.no_such_name  # noqa: B018


def test_errors_are_of_one_family():
    errors = [getattr(dpaudit, name) for name in dpaudit.__all__ if name.endswith("Error")]
    assert len(errors) >= 8
    assert all(issubclass(error, dpaudit.DpauditError) for error in errors)
    assert issubclass(dpaudit.ParameterError, ValueError)
