"""The command line; see ``dpaudit --help``."""

import sys
from typing import NoReturn

from dpaudit.cli.began import beginning
from dpaudit.cli.interrupts import Interrupted, handled


def main() -> NoReturn:
    """Run the command line, which is loaded here so that a signal until then is one line too."""
    with beginning(), handled():
        try:
            from dpaudit.cli.application import main as run

            status = run()
        except Interrupted:
            sys.stderr.write("dpaudit: interrupted; nothing was computed\n")
            status = 130
    sys.exit(status)


__all__ = ["main"]
