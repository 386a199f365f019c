"""Post-processing of estimated frequencies into probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def clipped(estimates: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Negative estimates become 0 and the rest is scaled to add up to 1, along the last axis.

    Where nothing is above 0, all values get the same probability.

    Examples
    --------
    >>> from dpaudit.randomizers import clipped
    >>> clipped([0.9, 0.6, -0.5]).round(4)
    array([0.6, 0.4, 0. ])
    """
    positive = np.maximum(np.asarray(estimates, dtype=float), 0.0)
    total = positive.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(total > 0, positive / total, 1 / positive.shape[-1]))


def norm_sub(estimates: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Subtract one number from all estimates, negative ones becoming 0, so that they add up to 1, along the last axis.

    This is the nearest point of the simplex in Euclidean distance.

    References
    ----------
    Wang, Lopuhaa-Zwakenberg, Li, Skoric, Li, "Locally differentially private frequency estimation with consistency",
    NDSS 2020 (Norm-Sub); the iteration is Michelot's, 1986.

    Examples
    --------
    >>> from dpaudit.randomizers import norm_sub
    >>> norm_sub([0.9, 0.6, -0.5]).round(4)
    array([0.65, 0.35, 0.  ])
    """
    values = np.asarray(estimates, dtype=float)
    if values.ndim == 1:
        return np.maximum(values - _excess(values), 0.0)
    active = np.ones(values.shape, dtype=bool)
    while True:
        size = active.sum(axis=-1, keepdims=True)
        excess = (np.where(active, values, 0.0).sum(axis=-1, keepdims=True) - 1) / size
        kept = active & (values > excess)
        if (kept == active).all():
            return np.asarray(np.where(active, values - excess, 0.0))
        active = kept


def _excess(active: npt.NDArray[np.float64]) -> float:
    """Return what is subtracted from one row; it may have millions of values, of which few stay active."""
    while True:
        excess = float((active.sum() - 1) / len(active))
        kept = active[active > excess]
        if len(kept) == len(active):
            return excess
        active = kept
