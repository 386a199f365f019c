"""Rows of the catalogue, for a process that has yet to load it: the command itself needs nothing of it."""

from __future__ import annotations

from typing import Any


def catalogue_rows(paper: str | None, words: list[str], claims: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the claims, or else the targets, of a paper that have all the words, and what had to be left out.

    Raises
    ------
    DpauditError
        There is no such paper.
    """
    from dpaudit.registry import listing

    return (listing.listed_claims if claims else listing.listed_targets)(paper, words)
