"""Broken variants of the paper's systems. Each carries one bug, and each must come out ``refuted``."""

from . import central, local

__all__ = ["central", "local"]
