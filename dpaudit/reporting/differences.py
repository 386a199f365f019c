"""Where two long inputs differ, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dpaudit.claims.record import plain

_LONG = 200
"""Characters of an input from which on a reader is told where it differs. Chosen by hand."""

_MOST = 3
"""Places, at most, that are told. Chosen by hand."""


def difference(data: Any, neighbour: Any) -> str:
    """Return where an input and its neighbour differ; empty for short ones, and where they differ in many places.

    Parameters
    ----------
    data, neighbour
        Inputs of any kind, as they stand in a witness.

    Examples
    --------
    >>> from dpaudit.reporting.differences import difference
    >>> difference([0] * 100, [0] * 42 + [1] + [0] * 57)
    '[42]: 0 on the input, 1 on the neighbour'
    >>> difference([7] * 99 + [8], [7] * 99)
    '[99]: 8 on the input alone'
    """
    one, other = plain(data), plain(neighbour)
    if max(len(_text(one)), len(_text(other))) < _LONG:
        return ""
    told = list(islice(_places(one, other, ""), _MOST + 1))
    if len(told) > _MOST or any(len(each) >= _LONG for each in told):
        return ""
    return "; ".join(told)


def _places(one: Any, other: Any, at: str) -> Iterator[str]:
    if one == other:
        return
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            yield from _places(mine, theirs, f"{at}[{place}]")
    elif isinstance(one, list) and isinstance(other, list) and abs(len(one) - len(other)) == 1:
        longer, shorter, where = (one, other, "input") if len(one) > len(other) else (other, one, "neighbour")
        place = next((i for i, item in enumerate(shorter) if item != longer[i]), len(shorter))
        if longer[place + 1 :] == shorter[place:]:
            yield f"{at}[{place}]: {_text(longer[place])} on the {where} alone"
        else:
            yield f"{at}: {_text(one)} on the input, {_text(other)} on the neighbour"
    elif isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            within = f"{at}[{_text(key)}]"
            if key not in one or key not in other:
                where = "input" if key in one else "neighbour"
                yield f"{within}: {_text((one if key in one else other)[key])} on the {where} alone"
            else:
                yield from _places(one[key], other[key], within)
    else:
        yield f"{at}: {_text(one)} on the input, {_text(other)} on the neighbour"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
