"""``dpaudit``: parses, calls, prints."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from dpaudit.claims.verdicts import EXIT_UNUSABLE
from dpaudit.cli.check import check
from dpaudit.cli.init import init
from dpaudit.cli.report import report
from dpaudit.cli.show import list_, show
from dpaudit.errors import DpauditError

app = typer.Typer(
    name="dpaudit",
    help="Is what its authors claim of a differentially private algorithm true?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit status: 0 every verdict is as expected; 1 one is not; 2 the call, plan, data or target cannot be used; "
        "3 something was inconclusive; 4 a target or its check raised."
    ),
)
app.command("list")(list_)
app.command("show")(show)
app.command("check")(check)
app.command("report")(report)
app.command("init")(init)


def version(value: bool) -> None:
    """Print the version and stop."""
    if value:
        from dpaudit.runner.check import dpaudit_version

        typer.echo(f"dpaudit {dpaudit_version()}")
        raise typer.Exit


@app.callback()
def options(
    version_: bool = typer.Option(
        False, "--version", callback=version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Options of the command itself."""


def main() -> NoReturn:
    """Run the command line; errors that dpaudit raises on purpose become one line and exit status 2."""
    try:
        app()
    except DpauditError as error:
        sys.stderr.write(f"dpaudit: {error}\n")
        sys.exit(EXIT_UNUSABLE)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(0)
