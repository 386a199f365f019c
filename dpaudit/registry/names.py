"""Names that a user may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str]) -> str:
    """`` (did you mean '…'?)`` for the nearest known name, or nothing.

    A claim with other digits is another claim: ``theorem2`` is never suggested for ``theorem1``, but ``theorem12`` is
    for ``theorem21``.
    """
    wanted = _digits(name)
    alike = [each for each in known if not wanted or _digits(each) == wanted]
    near = get_close_matches(name, alike, n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def continued(name: str, known: Iterable[str]) -> list[str]:
    """Known names that go on after a name with a hyphen or a dot, in their order.

    ``yan2020.theorem1`` goes on in ``yan2020.theorem1-rr``, and not in ``yan2020.theorem10``.
    """
    return [each for each in known if name and each.startswith((f"{name}-", f"{name}."))]


def _digits(name: str) -> list[str]:
    """Digits in a claim's id after the paper's key, in ascending order."""
    return sorted(filter(str.isdigit, name.partition(".")[2]))
