"""Workers of pytest share the processors already: numerical libraries keep to one thread each."""

import gc
import os
import shutil
import signal

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Where the shell started pytest in the background; what the tests start would ignore interrupts too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# For the inner sessions of test_pytest_plugin.py; allowed here because `testpaths` makes this an initial conftest.
pytest_plugins = ["pytester"]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """Leave out of garbage collection what stays to the end.

    These are some million objects: the modules and the tests themselves. A test that makes many objects would have
    them looked through every time, for most of a second.
    """
    gc.collect()
    gc.freeze()


HANDLERS = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}


@pytest.fixture(autouse=True)
def _signals_stay():
    """A command ignores signals at its end; here the process goes on.

    A fixture of a module may have run one before its first test, and what tests start would ignore them too.
    """
    _restore_handlers()
    yield
    _restore_handlers()


def _restore_handlers():
    for each, handler in HANDLERS.items():
        if signal.getsignal(each) is not handler:
            signal.signal(each, handler)


@pytest.fixture
def copies_alone(monkeypatch):
    """What commands in this process ask of a new interpreter, a copy of one that has the libraries loaded does."""
    from dpaudit.cli.apart import call

    for module in ("apart", "list", "show"):
        monkeypatch.setattr(f"dpaudit.cli.{module}.call_alone", call)


@pytest.fixture
def copied_project(tmp_path):
    """A copy of the checkout's code, compiled as far as it is there, protocols, plans and records."""
    from dpaudit.catalog import ROOT

    for name in ("dpaudit", "protocols", "audits", "reports"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*-pytest-*"))
    return tmp_path
