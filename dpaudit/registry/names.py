"""Names that a user may have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str]) -> str:
    """``, did you mean '…'?`` for the nearest known name, or nothing.

    A claim with another number is another claim: ``theorem2`` is never suggested for ``theorem1``.
    """
    wanted = _numbers(name)
    alike = [each for each in known if not wanted or _numbers(each) == wanted]
    near = get_close_matches(name, alike, n=1, cutoff=0.5)
    return f", did you mean {near[0]!r}?" if near else ""


def continued(name: str, known: Iterable[str]) -> list[str]:
    """Known names that go on after a name with a hyphen or a dot, in their order.

    ``yan2020.theorem1`` goes on in ``yan2020.theorem1-rr``, and not in ``yan2020.theorem10``.
    """
    return [each for each in known if name and each.startswith((f"{name}-", f"{name}."))]


def _numbers(name: str) -> list[str]:
    """Numbers in a claim's id after the paper's key."""
    return re.findall(r"\d+", name.partition(".")[2])
