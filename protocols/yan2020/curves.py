"""What the figures of Section 5 have in common: metrics of several systems on the same profiles."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

import dpaudit

from .comparison import System, compete
from .evaluation import LDPKwikSortEvaluation

TITLES: Final = {"rr": "LDP-KwikSort:RR", "lap": "LDP-KwikSort:Lap"}
"""The solutions by the names that the paper gives them."""

Values = Mapping[str, np.ndarray]


def curve(
    evaluation: LDPKwikSortEvaluation,
    systems: Callable[[], Mapping[str, System]],
    metric: str,
    value: Callable[[Values], np.ndarray],
    **fields: Any,
) -> dpaudit.FigureClaim:
    """A number made of one metric of several systems on the same profiles, with each system's own beside it."""

    def measure(runs: int, rng: np.random.Generator) -> Values:
        found = compete(evaluation.solution("rr"), systems(), runs, rng)
        values = {system: both[metric] for system, both in found.items()}
        return {"value": value(values), **values}

    common: dict[str, Any] = {
        "published": 0.0,
        "direction": "at-most",
        "runs": 400,
        "support": (-1.0, 1.0),
        "beside_support": (0.0, 1.0),
        "scope": evaluation.setting,
    }
    return dpaudit.FigureClaim(measure=measure, **{**common, **fields})


def less(one: str, other: str) -> Callable[[Values], np.ndarray]:
    """One system's metric less another's."""
    return lambda found: found[one] - found[other]
