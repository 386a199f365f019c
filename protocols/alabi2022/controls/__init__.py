"""Broken variants of the paper's systems; all must be refuted."""

from . import central

__all__ = ["central"]
