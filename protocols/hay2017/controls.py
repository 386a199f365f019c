"""Broken variants of DP-KwikSort where it is right: add-remove neighbours and the binary logarithm."""

from typing import Any

import numpy as np

import dpaudit

from .dp_kwiksort import DPKwikSort
from .paper import PAPER

WHERE_RIGHT: dict[str, Any] = {
    "paper": PAPER,
    "statement": "The aggregate ranking is ϵ-differentially private.",
    "exact": True,
    "fixed": {"logarithm": "binary", "relation": "add-remove"},
}


@dpaudit.control("control.central-half-noise", DPKwikSort, **WHERE_RIGHT)
def central_half_noise(right: DPKwikSort) -> DPKwikSort:
    """The Laplace noise has half the scale that it should have."""
    return right.but(epsilon=2 * right.epsilon)


@dpaudit.control("control.central-unsplit-budget", DPKwikSort, **WHERE_RIGHT)
def central_unsplit_budget(right: DPKwikSort) -> DPKwikSort:
    """Every comparison gets the whole budget, as if there were only one."""
    return right.but(epsilon=right.epsilon * (right.alternatives - 1) * float(np.log2(right.alternatives)))
