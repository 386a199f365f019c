"""Noise of libraries that are loaded: diffprivlib's mechanisms, OpenDP's measurements, torch's functions."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.sources.noise.recorder import active

if TYPE_CHECKING:
    from dpaudit.sources.noise.patches import Patches

_ADDED: Final[dict[str, tuple[str, Callable[[Any], float]]]] = {
    "Laplace": ("laplace", lambda own: own.sensitivity / (own.epsilon - math.log(1 - own.delta))),
    "Gaussian": ("gaussian", lambda own: own._scale),
    "GaussianAnalytic": ("gaussian", lambda own: own._scale),
    "GaussianDiscrete": ("discrete-gaussian", lambda own: own._scale),
    "Geometric": ("discrete-laplace", lambda own: own.sensitivity / own.epsilon),
}
"""Mechanisms of diffprivlib that add noise: its law and its scale. Others do not add it, or not without bounds."""

_OPENDP: Final = {"make_laplace": "laplace", "make_geometric": "laplace", "make_gaussian": "gaussian"}

_TORCH_OTHER: Final = (
    "rand", "rand_like", "randint", "randint_like", "randperm", "bernoulli", "multinomial", "poisson",
)  # fmt: skip


def patch(patches: Patches) -> None:
    """Replace what the loaded ones among the libraries draw noise with."""
    if "diffprivlib" in sys.modules:
        _patch_diffprivlib(patches)
    opendp = sys.modules.get("opendp.mod")
    if opendp is not None:
        for name in ("__call__", "invoke"):
            _patch_measurement(patches, opendp.Measurement, name)
    torch = sys.modules.get("torch")
    if torch is not None:
        _patch_torch(patches, torch)


# diffprivlib


def _patch_diffprivlib(patches: Patches) -> None:
    base: Any = getattr(sys.modules.get("diffprivlib.mechanisms.base"), "DPMechanism", None)
    todo = [] if base is None else [base]
    seen = set()
    while todo:
        cls = todo.pop()
        if cls in seen:
            continue
        seen.add(cls)
        todo.extend(cls.__subclasses__())
        if "randomise" in vars(cls):
            patches.attribute(cls, "randomise", _randomise(vars(cls)["randomise"]))


def _randomise(before: Callable[..., Any]) -> Callable[..., Any]:
    def randomise(self: Any, *arguments: Any, **options: Any) -> Any:
        recorder = active()
        if recorder is None:
            return before(self, *arguments, **options)
        # A mechanism that chooses among candidates takes no value: what changes with the data are their utilities.
        value = next(iter((*arguments, *options.values())), None)
        kind = type(self)
        utility = getattr(self, "utility", None)
        seen, measured = (value, "absolute") if utility is None else (np.array(utility, dtype=float), "linf")
        numeric = isinstance(seen, int | float | np.integer | np.floating | np.ndarray)
        sensitivity = getattr(self, "sensitivity", None) if numeric else None
        own = kind.__module__.startswith("diffprivlib.") and utility is None
        family, scale = _ADDED.get(kind.__name__, (None, None)) if own else (None, None)
        if family is not None:
            self._check_all(value)
        epsilon = getattr(self, "epsilon", None)
        return recorder.noise(
            f"diffprivlib.{kind.__name__}.randomise",
            family=family,
            value=seen,
            scale=None if scale is None else scale(self),
            original=lambda: before(self, *arguments, **options),
            sensitivity=None if sensitivity is None else float(sensitivity),
            metric=measured,
            budget=None if epsilon is None else (float(epsilon), float(getattr(self, "delta", 0.0))),
        )

    return randomise


# OpenDP


def _patch_measurement(patches: Patches, cls: Any, name: str) -> None:
    before = vars(cls)[name]

    def invoke(self: Any, arg: Any) -> Any:
        recorder = active()
        if recorder is None:
            return before(self, arg)
        made, value = _taken_apart(self, arg)
        family = _OPENDP.get(made.get("__function__", ""))
        scale = made.get("__kwargs__", {}).get("scale")
        if family is not None:
            bounded = made["__kwargs__"].get("bounds") is not None
            whole = np.asarray(value).dtype.kind in "iub" if not bounded else None
            numeric = np.asarray(value).dtype.kind in "iuf"
            family = None if bounded or not numeric else f"discrete-{family}" if whole else family
        return recorder.noise(
            f"opendp.{made.get('__function__', 'Measurement')}",
            family=family,
            value=value,
            scale=scale,
            original=lambda: before(self, arg),
            convert=lambda result: result.tolist(),
        )

    patches.attribute(cls, name, invoke)


def _taken_apart(measurement: Any, arg: Any) -> tuple[dict[str, Any], Any]:
    """How a measurement was made, and what it adds noise to: the data as the transformations before it leave them."""
    made = getattr(measurement, "__opendp_dict__", None) or {}
    while made.get("__function__") == "make_chain_mt":
        parts = made["__kwargs__"]
        arg = parts["transformation0"](arg)
        made = getattr(parts["measurement1"], "__opendp_dict__", None) or {}
    return made, arg


# torch


def _patch_torch(patches: Patches, torch: Any) -> None:
    def tensor(result: np.ndarray, like: Any = None) -> Any:
        made = torch.as_tensor(np.asarray(result))
        return made.to(dtype=like.dtype) if like is not None else made.to(dtype=torch.get_default_dtype())

    before: Any
    normal: Any = getattr(torch, "normal", None)
    randn: Any = getattr(torch, "randn", None)
    randn_like: Any = getattr(torch, "randn_like", None)

    def recorded_normal(mean: Any, std: Any = 1.0, size: Any = None, **options: Any) -> Any:
        recorder = active()
        more = options if size is None else {"size": size, **options}
        if recorder is None:
            return normal(mean, std, **more)
        return recorder.noise(
            "torch.normal",
            family=None if options.get("out") is not None else "gaussian",
            value=_array(mean),
            scale=_array(std),
            size=None if size is None else tuple(size),
            original=lambda: normal(mean, std, **more),
            convert=tensor,
        )

    def recorded_randn(*size: Any, **options: Any) -> Any:
        recorder = active()
        if recorder is None:
            return randn(*size, **options)
        shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size or options.get("size", ())
        return recorder.noise(
            "torch.randn",
            family="gaussian",
            value=0.0,
            scale=1.0,
            size=tuple(shape),
            original=lambda: randn(*size, **options),
            convert=tensor,
        )

    def recorded_randn_like(given: Any, **options: Any) -> Any:
        recorder = active()
        if recorder is None:
            return randn_like(given, **options)
        return recorder.noise(
            "torch.randn_like",
            family="gaussian",
            value=0.0,
            scale=1.0,
            size=tuple(given.shape),
            original=lambda: randn_like(given, **options),
            convert=lambda result: tensor(result, given),
        )

    for before, after in ((normal, recorded_normal), (randn, recorded_randn), (randn_like, recorded_randn_like)):
        if before is not None:
            patches.everywhere(before, after)
    seed = getattr(torch, "manual_seed", None)
    if seed is not None:
        patches.everywhere(seed, _seeded(seed))
    for name in _TORCH_OTHER:
        if hasattr(torch, name):
            patches.everywhere(getattr(torch, name), _noted(getattr(torch, name), f"torch.{name}"))
    tensor_class = getattr(torch, "Tensor", None)
    if tensor_class is not None and hasattr(tensor_class, "normal_"):
        patches.attribute(tensor_class, "normal_", _normal_in_place(tensor_class.normal_, tensor))
    distributions = sys.modules.get("torch.distributions")
    for name, family in (("Laplace", "laplace"), ("Normal", "gaussian")):
        cls = getattr(distributions, name, None)
        for method in ("sample", "rsample"):
            if cls is not None and method in vars(cls):
                before = vars(cls)[method]
                patches.attribute(cls, method, _drawn(before, f"torch.distributions.{name}.{method}", family, tensor))


def _noted(before: Callable[..., Any], function: str) -> Callable[..., Any]:
    def draw(*arguments: Any, **options: Any) -> Any:
        drawn = before(*arguments, **options)
        recorder = active()
        if recorder is not None:
            recorder.other(function, _array(drawn))
        return drawn

    return draw


def _seeded(before: Callable[..., Any]) -> Callable[..., Any]:
    def manual_seed(*arguments: Any, **options: Any) -> Any:
        recorder = active()
        if recorder is not None:
            recorder.seeded_by("torch.manual_seed")
        return before(*arguments, **options)

    return manual_seed


def _normal_in_place(before: Callable[..., Any], tensor: Callable[..., Any]) -> Callable[..., Any]:
    def normal_(self: Any, mean: float = 0.0, std: float = 1.0, **options: Any) -> Any:
        recorder = active()
        if recorder is None:
            return before(self, mean, std, **options)
        drawn = recorder.noise(
            "torch.Tensor.normal_",
            family="gaussian",
            value=mean,
            scale=std,
            size=tuple(self.shape),
            original=lambda: before(self, mean, std, **options),
            convert=lambda result: tensor(result, self),
        )
        return self if drawn is self else self.copy_(drawn)

    return normal_


def _drawn(before: Callable[..., Any], function: str, family: str, tensor: Callable[..., Any]) -> Callable[..., Any]:
    def sample(self: Any, sample_shape: Any = ()) -> Any:
        recorder = active()
        if recorder is None:
            return before(self, sample_shape)
        location = _array(self.loc)
        return recorder.noise(
            function,
            family=family,
            value=location,
            scale=_array(self.scale),
            size=(*tuple(sample_shape), *np.shape(location)),
            original=lambda: before(self, sample_shape),
            convert=lambda result: tensor(result, self.loc),
        )

    return sample


def _array(value: Any) -> Any:
    """A tensor as an array; numbers as they are."""
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value
