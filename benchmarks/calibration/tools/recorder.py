"""dp-recorder's distributional test of a single mechanism.

Cebere, Erb, Desfontaines, Bellet and Fitzsimons, "Privacy in theory, bugs in practice: grey-box auditing of
differential privacy libraries", 2026 (arXiv 2602.17454), and its package, which no registry has; written from what
these say. Logistic regression on standardised columns of half of the samples; the threshold with the largest sum of
true positive and true negative rates; on the other half an upper Clopper-Pearson bound on either error rate at half of
the error probability; and log((1 - a) / b) for those bounds, the larger of the two ways around.

It knows no delta, so that it does not apply where delta is above 0.
"""

import math

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibration.interface import Mechanism, Tool
from calibration.tools.scored import sampled
from dpaudit.statistics.proportions import proportion_upper


def bound(mechanism: Mechanism, x, y, samples, confidence, seed) -> float | None:
    if mechanism.delta > 0:
        return None
    sides = sampled(mechanism, x, y, samples, [seed, 32])
    half = samples // 2
    rows = np.concatenate([side[:half] for side in sides])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, np.repeat([0, 1], half))
    threshold = _threshold(*(model.decision_function(side[:half]) for side in sides))
    first, second = (model.decision_function(side[half:]) >= threshold for side in sides)
    alpha = (1 - confidence) / 2
    false_positive = float(proportion_upper(np.count_nonzero(first), len(first), alpha))
    false_negative = float(proportion_upper(np.count_nonzero(~second), len(second), alpha))
    if false_positive + false_negative >= 1:
        return 0.0
    return max(
        math.log1p(-false_positive) - math.log(false_negative), math.log1p(-false_negative) - math.log(false_positive)
    )


def _threshold(first: np.ndarray, second: np.ndarray) -> float:
    """The score at or above which an output is called the second input's, with the largest sum of both true rates."""
    candidates = np.unique(np.concatenate([first, second]))
    positives = [len(side) - np.searchsorted(np.sort(side), candidates) for side in (first, second)]
    return float(candidates[np.argmax(positives[1] / len(second) - positives[0] / len(first))])


TOOL = Tool(
    name="dp-recorder",
    bound=bound,
    how="Its distributional test, written from its paper and package: `benchmarks/calibration/tools/recorder.py`. It "
    "knows no delta.",
)
