"""The command line; see ``dpaudit --help``."""

from dpaudit.cli.main import main

__all__ = ["main"]
