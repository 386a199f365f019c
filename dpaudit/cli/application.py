"""``dpaudit``: parses, calls, prints."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import getdoc
from pathlib import Path

import typer

from dpaudit.claims.verdicts import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_UNUSABLE, status_of_error, worst_status
from dpaudit.cli.bound import bound
from dpaudit.cli.check import check
from dpaudit.cli.compare import compare
from dpaudit.cli.examples import EXAMPLES, epilog_of
from dpaudit.cli.init import init
from dpaudit.cli.interrupts import Interrupted, made_by_signal
from dpaudit.cli.list import list_
from dpaudit.cli.merge import merge
from dpaudit.cli.output import lasting_streams, say, show_traceback, write_out
from dpaudit.cli.report import report
from dpaudit.cli.reproduce import reproduce
from dpaudit.cli.schema import schema
from dpaudit.cli.show import show
from dpaudit.cli.sweep import sweep
from dpaudit.cli.verify import verify
from dpaudit.errors import DpauditError, ParameterError

app = typer.Typer(
    name="dpaudit",
    help="Is what its authors claim of a differentially private algorithm true?",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        f"Begin with `{EXAMPLES['check'][0]}`, which shows in seconds that a published protocol is not private, or "
        "with `dpaudit init NAME`, for a mechanism of your own.\n\n"
        "Exit status: 0 every verdict is as expected; 1 one is not; 2 the call, plan, data or target cannot be used; "
        "3 something was inconclusive; 4 a target or its check raised; 130 interrupted."
    ),
)
_COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_,
    "show": show,
    "check": check,
    "verify": verify,
    "sweep": sweep,
    "bound": bound,
    "reproduce": reproduce,
    "report": report,
    "merge": merge,
    "compare": compare,
    "init": init,
    "schema": schema,
}
for _name, _function in _COMMANDS.items():
    # A terminal breaks lines where it has to, and not where the source does.
    _paragraphs = (getdoc(_function) or "").split("\n\n")
    _help = "\n\n".join(" ".join(each.split()) for each in _paragraphs)
    app.command(_name, epilog=epilog_of(_name), help=_help)(_function)


def version(value: bool) -> None:
    """Print the version and stop."""
    if value:
        from dpaudit.runner.version import dpaudit_version

        write_out(f"dpaudit {dpaudit_version()}\n")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version_: bool = typer.Option(
        False, "--version", callback=version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Options of the command itself."""
    try:
        Path.cwd()
    except OSError:
        raise ParameterError("the current folder is gone; change to one that exists") from None
    if context.invoked_subcommand == "check":
        from dpaudit.cli.project import FILE, options_of, project_settings

        words = {word.partition("=")[0] for word in sys.argv}
        found = project_settings(Path())
        # Each of the two says how many samples are drawn, so that one on the command line stands for the other too.
        for given, other in (("--samples", "quick"), ("--quick", "samples")):
            if given in words:
                found.pop(other, None)
        context.default_map = {"check": options_of(found)}
        if found and not {"--quiet", "--help", "-h"} & words:
            say(f"{FILE} sets {', '.join(name.replace('_', '-') for name in found)} where the command line does not")
    if context.invoked_subcommand is None:
        write_out(f"{context.get_help()}\n", styled=True)
        raise typer.Exit(EXIT_UNUSABLE)


def main() -> int:
    """Run the command line; usage errors, and errors that dpaudit raises on purpose, become one line and status 2."""
    # As with `python -m`, a target may be a module in the current folder; last, so that it shadows nothing.
    sys.path.append("")
    with lasting_streams() as lost:
        status = _status()
    return worst_status([status, EXIT_UNUSABLE]) if lost() and status != EXIT_INTERRUPTED else status


def _status() -> int:
    """Run the command line; return its exit status."""
    try:
        return int(app(standalone_mode=False) or 0)
    except Interrupted:
        say("interrupted before it had finished")
        return EXIT_INTERRUPTED
    except Exception as error:
        if made_by_signal(error):
            say("interrupted before it had finished")
            return EXIT_INTERRUPTED
        return _status_of(error)


def _status_of(error: Exception) -> int:
    """Say what an error is, and return the exit status that it means."""
    if isinstance(error, DpauditError):
        if "--debug" in sys.argv and error.__cause__ is not None:
            show_traceback(error.__cause__)
        say(str(error))
        return status_of_error(error)
    if isinstance(error, OSError):
        if "--debug" in sys.argv:
            show_traceback(error)
        where = "" if error.filename is None else f"{error.filename}: "
        say(f"{where}{error.strerror or error}; mend it, and run again")
        return EXIT_UNUSABLE
    # A usage error of typer, whose class has no public name; or a bug, which is no verdict.
    usage = getattr(error, "format_message", None)
    if usage is None:
        show_traceback(error)
        return EXIT_ERROR
    # The words of the library that reads choices, which say nothing to a user.
    said = usage().replace("Value error, ", "")
    say(f"{said} (`{_command_of(error)} --help` shows the usage)")
    return EXIT_UNUSABLE


def _command_of(error: Exception) -> str:
    """Return the command that a usage error is about, by whatever name the program was started."""
    words: list[str] = []
    context = getattr(error, "ctx", None)
    while context is not None and context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    return " ".join(["dpaudit", *words])
