"""The command line; see ``dpaudit --help``."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line, which is loaded here so that an interrupt until then is one line too."""
    try:
        from dpaudit.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("dpaudit: interrupted; nothing was computed\n")
        sys.exit(130)
    run()


__all__ = ["main"]
