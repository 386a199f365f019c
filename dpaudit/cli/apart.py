"""Commands that load targets do it in a process of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import typer

from dpaudit.cli.interrupts import noted
from dpaudit.cli.output import collected, write_out


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own; return its value, or raise what it raised.

    Raises
    ------
    DpauditError
        The function raised it, or its process ended.
    Interrupted
        A signal asked to stop.
    """
    from dpaudit.runner.processes import Team

    with noted() as asked, Team(stop=asked) as team:
        return team.call(function, *arguments)


def call_alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """`call` in a new interpreter, which loads what the function needs and nothing that only audits need."""
    from dpaudit.runner.processes import Spawned, Team

    with noted() as asked, Team(stop=asked, starter=Spawned()) as team:
        return team.call(function, *arguments)


def tell(function: Callable[..., int | None], *arguments: Any) -> NoReturn:
    """Print what a function prints in a process of its own, and leave with the status that it returns."""
    text, status = call_alone(printed, function, *arguments)
    write_out(text, styled=True)
    raise typer.Exit(status)


def printed(function: Callable[..., int | None], *arguments: Any) -> tuple[str, int]:
    """Return what a function prints, and the status that it returns."""
    with collected() as texts:
        status = function(*arguments)
    return "".join(texts), status or 0
