"""Noise of the standard library: ``gauss`` and ``normalvariate``; all else that ``random`` draws is noted."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

from dpaudit.sources.noise.recorder import active, current

if TYPE_CHECKING:
    from dpaudit.sources.noise.patches import Patches


def _noise(name: str) -> Callable[..., Any]:
    before = getattr(random.Random, name)

    def gauss(self: Any, mu: float = 0.0, sigma: float = 1.0) -> Any:
        recorder = active()
        if recorder is None:
            return before(self, mu, sigma)
        return recorder.noise(
            f"random.{name}",
            family="gaussian",
            value=mu,
            scale=sigma,
            original=lambda: before(self, mu, sigma),
        )

    return gauss


def _other(owner: type, name: str) -> Callable[..., Any]:
    before = getattr(owner, name)

    def draw(self: Any, *arguments: Any) -> Any:
        recorder = current()
        if recorder is None:
            return before(self, *arguments)
        if owner is random.SystemRandom and recorder.replay is not None:
            with recorder.inside():
                drawn = getattr(recorder.system_random, name)(*arguments)
        else:
            drawn = before(self, *arguments)
        if not recorder.nested:
            recorder.other(f"random.{name}", (arguments, drawn))
        return drawn

    return draw


def patch(patches: Patches) -> None:
    """Replace methods of ``Random`` and ``SystemRandom``, and the module's functions, which are bound to one object."""
    seed = random.Random.seed
    shared = getattr(random, "_inst")  # noqa: B009

    def seeded(self: Any, a: Any = None, version: int = 2) -> None:
        recorder = current()
        if a is not None and recorder is not None and not recorder.nested:
            recorder.seeded_by("random.seed")
        seed(self, recorder.seed() if a is None and recorder is not None else a, version)

    def restored(self: Any, state: Any) -> None:
        recorder = active()
        if recorder is not None:
            recorder.seeded_by("random.setstate")
        setstate(self, state)

    setstate = random.Random.setstate
    for name, replacement in (("seed", seeded), ("setstate", restored)):
        function = getattr(random, name)
        patches.attribute(random.Random, name, replacement)
        patches.everywhere(function, MethodType(replacement, shared))
    for name in ("gauss", "normalvariate"):
        method = _noise(name)
        function = getattr(random, name)
        patches.attribute(random.Random, name, method)
        patches.everywhere(function, MethodType(method, shared))
    for name in ("random", "getrandbits"):
        own = _other(random.SystemRandom, name)
        method = _other(random.Random, name)
        function = getattr(random, name)
        patches.attribute(random.SystemRandom, name, own)
        patches.attribute(random.Random, name, method)
        patches.everywhere(function, MethodType(method, shared))
