"""The pytest plugin: the fixture `assert_private`, the marker `privacy`, and a line about false alarms.

Every pytest session loads this where dpaudit is installed, so only pytest and the standard library are imported here.
"""

from __future__ import annotations

import inspect
import math
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dpaudit.claims.evidence import Evidence

_WORKER_KEY = "dpaudit"
_DIGITS = 4

LEAST_SAMPLES = 1000
"""As `dpaudit.auditors.blackbox.tasks` has it; here too, because a session without audits imports nothing."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """Something that the marker sets: its type, its range, and both in words."""

    type: type
    holds: Callable[[Any], bool]
    words: str
    help: str = ""

    def allows(self, value: Any) -> bool:
        return isinstance(value, self.type) and not isinstance(value, bool) and self.holds(value)

    def parsed(self, text: str) -> Any:
        """Return the value that a text stands for; raise ValueError where it stands for none."""
        value = int(text) if self.type is Integral else float(text)
        if not self.allows(value):
            raise ValueError
        return value


_SETTINGS = {
    "epsilon": _Setting(Real, lambda value: 0 <= value < math.inf, "a finite number >= 0"),
    "delta": _Setting(Real, lambda value: 0 <= value <= 1, "a number in [0, 1]"),
    "samples": _Setting(
        Integral,
        lambda value: value >= LEAST_SAMPLES,
        f"a whole number >= {LEAST_SAMPLES}, such as 100000",
        "samples per input of a privacy audit by sampling",
    ),
    "seconds": _Setting(
        Real,
        lambda value: 0 < value < math.inf,
        "a finite number above 0, such as 60",
        "seconds after which each privacy audit by sampling ends",
    ),
    "confidence": _Setting(
        Real,
        lambda value: 0 < value < 1,
        "a number above 0 and below 1, such as 0.999",
        "confidence of each privacy audit by sampling",
    ),
    "seed": _Setting(
        Integral, lambda value: value >= 0, "a whole number >= 0, such as 1", "seed of each privacy audit by sampling"
    ),
}
_OF_MARKER = (*_SETTINGS, "guarantee")
"""What the marker sets. A guarantee takes the place of epsilon and delta."""

_IN_SESSION = ("samples", "seconds", "confidence", "seed")
"""What can be set for a whole session too: by an ini option, or on the command line."""


_OF_DRAWING = ("samples", "seconds")
"""What says nothing of outputs that were drawn already."""


@dataclass(slots=True)
class _Session:
    """What a session sets, and what is known of its audits."""

    ini: Mapping[str, Any]
    command_line: Mapping[str, Any]
    before: int
    audits: int = 0
    by_sampling: int = 0
    false_alarm: Decimal = Decimal(0)
    lost_workers: int = 0

    def add(self, audits: int, by_sampling: int, false_alarm: str) -> None:
        self.audits += audits
        self.by_sampling += by_sampling
        self.false_alarm += Decimal(false_alarm)


_SESSION = pytest.StashKey[_Session]()
_AUDITS_BEFORE = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini options and those of the command line."""
    group = parser.getgroup("dpaudit", "privacy audits (dpaudit)")
    for name in _IN_SESSION:
        setting = _SETTINGS[name]
        group.addoption(
            f"--dpaudit-{name}",
            type=_argument(setting),
            metavar=name[0].upper() if setting.type is Real else "N",
            help=f"{setting.help}, where the call does not say; goes before the marker `privacy` and dpaudit_{name}",
        )
        parser.addini(f"dpaudit_{name}", f"{setting.help}, where neither the call nor the marker `privacy` says")


def _argument(setting: _Setting) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return setting.parsed(text)
        except ValueError:
            raise ArgumentTypeError(f"must be {setting.words}, got {text!r}") from None

    return parse


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and read what is set for the session."""
    config.addinivalue_line(
        "markers",
        f"privacy({', '.join(f'{name}=...' for name in _OF_MARKER)}): "
        "defaults for what the test asserts by the fixture `assert_private` of dpaudit",
    )
    options = {name: config.getoption(f"dpaudit_{name}") for name in _IN_SESSION}
    config.stash[_SESSION] = _Session(
        ini={name: value for name in _IN_SESSION if (value := _from_ini(config, name)) is not None},
        command_line={name: value for name, value in options.items() if value is not None},
        before=len(_history()),
    )


def _from_ini(config: pytest.Config, name: str) -> Any:
    text = config.getini(f"dpaudit_{name}")
    if text in (None, ""):
        return None
    try:
        return _SETTINGS[name].parsed(text)
    except (TypeError, ValueError):
        where = config.inipath or "the configuration of pytest"
        raise pytest.UsageError(f"{where}: dpaudit_{name} must be {_SETTINGS[name].words}, got {text!r}") from None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a marker that cannot be used, whether or not the test uses the fixture."""
    # Not while collecting, where the workers of pytest-xdist cannot report a usage error.
    _from_markers(item)
    item.stash[_AUDITS_BEFORE] = len(_history())


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Warn of a test that has passed with a marker of its own and audited nothing."""
    marked = any(mark.name == "privacy" for mark in item.own_markers)
    if marked and len(_history()) == item.stash[_AUDITS_BEFORE]:
        item.warn(
            pytest.PytestWarning(
                f"{item.nodeid} has the marker privacy, and audits nothing; call the fixture assert_private in it"
            )
        )


def _from_markers(item: pytest.Item) -> dict[str, Any]:
    """Merge the markers of a parameter, its test, class and module; the nearest goes first."""
    merged: dict[str, Any] = {}
    # In pytest's own order, those of a parameter come after those of its test.
    of_parameter = [mark for mark in getattr(getattr(item, "callspec", None), "marks", ()) if mark.name == "privacy"]
    for mark in (*of_parameter, *item.iter_markers("privacy")):
        wrong = f"takes keywords only, such as privacy(epsilon=1.0), got {mark.args!r}" if mark.args else ""
        for name, value in mark.kwargs.items():
            if name not in _OF_MARKER:
                wrong = f"has no {name!r}; it takes {', '.join(_OF_MARKER)}"
            elif name == "guarantee":
                # Its class is not imported here, where a session without audits would pay for it.
                if not callable(getattr(value, "forces", None)) or isinstance(value, type):
                    wrong = f"needs as guarantee a dpaudit.Guarantee, such as ApproximateDP(1.0), got {value!r}"
            elif not _SETTINGS[name].allows(value):
                wrong = f"needs as {name} {_SETTINGS[name].words}, got {value!r}"
        if wrong:
            pytest.fail(f"{item.nodeid}: the marker privacy {wrong}", pytrace=False)
        merged = {**_without_claim(mark.kwargs, merged), **merged}
    return merged


def _without_claim(options: Mapping[str, Any], nearer: Mapping[str, Any]) -> dict[str, Any]:
    """Return options without what a nearer statement claims in another way: a guarantee, or epsilon and delta."""
    replaced = {"epsilon", "delta"} if "guarantee" in nearer else {"guarantee"} if "epsilon" in nearer else set()
    return {name: value for name, value in options.items() if name not in replaced}


@dataclass(frozen=True, slots=True)
class _AssertPrivate:
    """`dpaudit.testing.assert_private` with defaults."""

    test: str
    defaults: Mapping[str, Any]

    def __call__(self, target: Any, **options: Any) -> Evidence:
        # The frames of pytest's traceback begin and end in the test.
        __tracebackhide__ = True
        from dpaudit import testing
        from dpaudit.registry.names import suggestion

        given = {name: value for name, value in options.items() if value is not None}
        options = {**_without_claim(self.defaults, given), **given}
        if isinstance(target, tuple):
            # The rows that there are say how many samples there are, and nothing has to be waited for.
            options = {name: value for name, value in options.items() if name in given or name not in _OF_DRAWING}
        known = set(inspect.signature(testing.assert_private).parameters)
        if unknown := [name for name in options if name not in known]:
            near = suggestion(unknown[0], known)
            raise TypeError(f"{self.test}: assert_private has no parameter {unknown[0]!r}{near}")
        if not {"epsilon", "guarantee"} & set(options) and testing.own_guarantee(target) is None:
            raise TypeError(
                f"{self.test}: give epsilon, or a guarantee, in the call of assert_private or in a marker privacy"
            )
        return testing.assert_private(target, **options)

    def __repr__(self) -> str:
        # In pytest's traceback, which a re-run repeats to the letter: no address.
        return f"assert_private({', '.join(f'{name}={value!r}' for name, value in self.defaults.items())})"


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> Callable[..., Evidence]:
    """`dpaudit.testing.assert_private`, with defaults of the session and of the test.

    What a call leaves out comes from the command line (``--dpaudit-samples`` and so on), the marker ``privacy`` of the
    test, its class or its module, or the ini options (``dpaudit_samples`` and so on), in this order.
    """
    session = request.config.stash[_SESSION]
    defaults = {**session.ini, **_from_markers(request.node), **session.command_line}
    return _AssertPrivate(request.node.nodeid, defaults)


def _history() -> list[Any]:
    """Return the audits of this process; none where nothing has imported `dpaudit.testing`."""
    return getattr(sys.modules.get("dpaudit.testing"), "history", [])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Count this process's audits; a worker of pytest-xdist hands them over."""
    state = session.config.stash[_SESSION]
    audits = _history()[state.before :]
    counts = (
        len(audits),
        sum(audit.by_sampling for audit in audits),
        str(sum((audit.false_alarm for audit in audits), Decimal(0))),
    )
    output = getattr(session.config, "workeroutput", None)
    if output is None:
        state.add(*counts)
    else:
        output[_WORKER_KEY] = list(counts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist counted."""
    state = node.config.stash[_SESSION]
    counts = getattr(node, "workeroutput", {}).get(_WORKER_KEY)
    if counts is None:
        state.lost_workers += 1
    else:
        state.add(*counts)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many privacy audits there were, and how likely a false alarm was in all of them together."""
    state = config.stash[_SESSION]
    if not state.false_alarm:
        return
    # Upwards, because it is an upper bound; decimals are exact, so that 3 times 0.001 remains 0.003.
    bound = Context(prec=_DIGITS, rounding=ROUND_CEILING).create_decimal(min(state.false_alarm, Decimal(1)))
    lost = f", not counting {_counted(state.lost_workers, 'lost worker')}" if state.lost_workers else ""
    terminalreporter.write_line(
        f"dpaudit: {_counted(state.audits, 'privacy audit')} ({state.by_sampling} by sampling){lost}; "
        f"the probability of a false alarm in the whole session was at most {float(bound):g}"
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
