"""Broken variants of the paper's systems. Each carries one bug, and each must come out ``refuted``."""

from . import local

__all__ = ["local"]
