"""diffprivlib's mechanisms and tools, each with standard arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import partial

    from diffprivlib.mechanisms.base import DPMechanism

_NUMERIC = {
    "Gaussian": {"epsilon": 0.9, "delta": 0.01, "sensitivity": 1},
    "GaussianAnalytic": {"epsilon": 1.0, "delta": 0.01, "sensitivity": 1},
    "GaussianDiscrete": {"epsilon": 1.0, "delta": 0.01, "sensitivity": 1},
    "Geometric": {"epsilon": 1.0, "sensitivity": 1},
    "GeometricFolded": {"epsilon": 1.0, "sensitivity": 1, "lower": 0, "upper": 4},
    "GeometricTruncated": {"epsilon": 1.0, "sensitivity": 1, "lower": 0, "upper": 4},
    "Laplace": {"epsilon": 1.0, "sensitivity": 1},
    "LaplaceBoundedDomain": {"epsilon": 1.0, "sensitivity": 1, "lower": 0, "upper": 4},
    "LaplaceBoundedNoise": {"epsilon": 1.0, "delta": 0.01, "sensitivity": 1},
    "LaplaceFolded": {"epsilon": 1.0, "sensitivity": 1, "lower": 0, "upper": 4},
    "LaplaceTruncated": {"epsilon": 1.0, "sensitivity": 1, "lower": 0, "upper": 4},
    "Snapping": {"epsilon": 1.0, "sensitivity": 1, "lower": 0, "upper": 4},
    "Staircase": {"epsilon": 1.0, "sensitivity": 1},
    "Uniform": {"delta": 0.1, "sensitivity": 1},
}
_CHOICES = {
    "Binary": {"epsilon": 1.0, "value0": "no", "value1": "yes"},
    "ExponentialCategorical": {"epsilon": 1.0, "utility_list": [["a", "b", 1], ["a", "c", 2], ["b", "c", 2]]},
    "ExponentialHierarchical": {"epsilon": 1.0, "hierarchy": [["a", "b"], ["c", "d"]]},
    "Exponential": {"epsilon": 1.0, "sensitivity": 1, "utility": [0.0, 1.0, 2.0, 2.0]},
    "PermuteAndFlip": {"epsilon": 1.0, "sensitivity": 1, "utility": [0.0, 1.0, 2.0, 2.0]},
}
_TOOLS: dict[str, dict[str, Any]] = {
    "count_nonzero": {},
    "histogram": {"bins": 3, "range": (0, 1)},
    **{name: {"bounds": (0, 1)} for name in ("mean", "nanmean", "sum", "nansum", "var", "nanvar", "std", "nanstd")},
    "median": {"bounds": (0, 1)},
    "quantile": {"quant": 0.25, "bounds": (0, 1)},
    "percentile": {"percent": 75, "bounds": (0, 1)},
}

COVERED = {
    **{f"mechanisms.{name}": (f"mechanism_{name.lower()}",) for name in (*_NUMERIC, *_CHOICES)},
    **{f"tools.{name}": (f"tool_{name}",) for name in _TOOLS},
}

_MODEL = "its inputs are training sets and its outputs fitted models"

LEFT_OUT = {
    "mechanisms.Bingham": "its inputs are covariance matrices, for which no neighbours are derived",
    "mechanisms.Vector": "its inputs and outputs are functions",
    "tools.histogram2d": "its inputs are arrays of pairs, for which no neighbours are derived",
    "tools.histogramdd": "its inputs are arrays of rows, for which no neighbours are derived",
    **{
        f"models.{name}": _MODEL
        for name in (
            "DecisionTreeClassifier",
            "GaussianNB",
            "KMeans",
            "LinearRegression",
            "LogisticRegression",
            "PCA",
            "RandomForestClassifier",
            "StandardScaler",
        )
    },
}


def public() -> list[str]:
    """All public mechanisms, tools and models."""
    import inspect

    from diffprivlib import mechanisms, models, tools
    from diffprivlib.mechanisms.base import DPMechanism

    found = [
        f"mechanisms.{name}"
        for name, value in sorted(vars(mechanisms).items())
        if inspect.isclass(value) and issubclass(value, DPMechanism) and value is not DPMechanism
    ]
    found += [f"tools.{name}" for name, value in sorted(vars(tools).items()) if inspect.isfunction(value)]
    return found + [f"models.{name}" for name, value in sorted(vars(models).items()) if inspect.isclass(value)]


def _mechanism(name: str, arguments: dict[str, Any]) -> Any:
    def make() -> DPMechanism:
        from diffprivlib import mechanisms

        return getattr(mechanisms, name)(**arguments)

    make.__doc__ = f"Make {name} with standard arguments."
    return make


def _tool(name: str, arguments: dict[str, Any]) -> Any:
    def make() -> partial[Any]:
        from functools import partial

        from diffprivlib import tools

        return partial(getattr(tools, name), epsilon=1.0, **arguments)

    make.__doc__ = f"Make tools.{name} with standard arguments."
    return make


globals().update(
    {f"mechanism_{name.lower()}": _mechanism(name, each) for name, each in (_NUMERIC | _CHOICES).items()},
)
globals().update({f"tool_{name}": _tool(name, each) for name, each in _TOOLS.items()})
