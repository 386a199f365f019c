"""The command that a result prints selects that result alone."""

import shlex

import pytest

from dpaudit.cli.check import settings as read_settings
from dpaudit.plan import plans
from dpaudit.runner import Request, build_cells
from dpaudit.runner.execute import Settings, _command

pytestmark = pytest.mark.slow

PLANS = {path.stem: path for path in plans() if path.parent.name != "controls"}


def requested(command):
    """What a printed command asks for."""
    _, _, target, *options = shlex.split(command)
    given = {"--set": []}
    flags = [word for word in options if word == "--stop-early"]
    rest = iter(word for word in options if word != "--stop-early")
    for name, value in zip(rest, rest, strict=True):
        given[name] = [*given["--set"], value] if name == "--set" else value
    return Request(
        targets=[target],
        claims=[given["--claim"]],
        set=read_settings(given["--set"]),
        method=given.get("--method"),
        samples=int(given["--samples"]) if "--samples" in given else None,
        stop_early=bool(flags),
        features=given.get("--features", "none"),
    )


@pytest.mark.parametrize("stem", sorted(PLANS))
def test_a_printed_command_selects_one_result(stem):
    cells = build_cells(Request(targets=[str(PLANS[stem])]))
    assert cells
    for cell in cells[:: max(1, len(cells) // 40)]:
        command = _command(cell, Settings(seed=0, confidence=0.999))
        (found,) = build_cells(requested(command))
        assert found.instance() == cell.instance(), command
        assert (found.claim, found.expected, found.method) == (cell.claim, cell.expected, cell.method), command
