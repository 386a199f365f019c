"""``dpaudit``: parses, calls, prints."""

from __future__ import annotations

import codecs
import io
import sys
import traceback
from typing import NoReturn

import typer

from dpaudit.claims.verdicts import EXIT_ERROR, EXIT_UNUSABLE
from dpaudit.cli.check import check
from dpaudit.cli.compare import compare
from dpaudit.cli.init import init
from dpaudit.cli.output import one_line
from dpaudit.cli.report import report
from dpaudit.cli.reproduce import reproduce
from dpaudit.cli.show import list_, show
from dpaudit.cli.verify import verify
from dpaudit.errors import DpauditError

app = typer.Typer(
    name="dpaudit",
    help="Is what its authors claim of a differentially private algorithm true?",
    invoke_without_command=True,
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
app.command("verify")(verify)
app.command("reproduce")(reproduce)
app.command("report")(report)
app.command("compare")(compare)
app.command("init")(init)


def version(value: bool) -> None:
    """Print the version and stop."""
    if value:
        from dpaudit.runner.version import dpaudit_version

        typer.echo(f"dpaudit {dpaudit_version()}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version_: bool = typer.Option(
        False, "--version", callback=version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Options of the command itself."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(EXIT_UNUSABLE)


_ESCAPE = "dpaudit.escape"


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks by the escapes of JSON, which there mean the same."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    codes = (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    return "".join(f"\\u{code:04x}" for code in codes), error.end


codecs.register_error(_ESCAPE, _escaped)


def main() -> NoReturn:
    """Run the command line; usage errors, and errors that dpaudit raises on purpose, become one line and status 2."""
    # As with `python -m`, a target may be a module in the current folder; last, so that it shadows nothing.
    sys.path.append("")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPE)
    try:
        status = app(standalone_mode=False)
    except DpauditError as error:
        if "--debug" in sys.argv and error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        sys.stderr.write(one_line(str(error)))
        status = EXIT_UNUSABLE
    except Exception as error:
        # A usage error of typer, whose class has no public name; or a bug, which is no verdict.
        usage = getattr(error, "format_message", None)
        if usage is None:
            traceback.print_exc()
        else:
            # The words of the library that reads choices, which say nothing to a user.
            said = usage().replace("Value error, ", "")
            sys.stderr.write(one_line(f"{said} (`dpaudit --help` shows the usage)"))
        status = EXIT_ERROR if usage is None else EXIT_UNUSABLE
    sys.exit(status)
