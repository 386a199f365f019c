"""Which dpaudit this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def dpaudit_version() -> str:
    """Version of the installed package."""
    try:
        return version("dpaudit")
    except PackageNotFoundError:
        return "0+unknown"
