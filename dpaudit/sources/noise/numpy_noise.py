"""Noise of numpy: generators, ``RandomState`` and the functions of ``numpy.random``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.sources.noise.recorder import active, current

if TYPE_CHECKING:
    from dpaudit.sources.noise.patches import Patches

_DRAWS_NOTHING: Final = frozenset({"bit_generator", "spawn", "get_state", "set_state", "seed"})
_BITS: Final = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_IN_PARTS: Final = frozenset({"multivariate_normal"})
"""Functions that draw by calling others of the same object, which are recorded."""


class _Kind(type):
    """Makes every generator an instance of the recording one that stands in its place."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])


def _noise(name: str, owner: type) -> Callable[..., Any]:
    before = getattr(owner, name)
    function = f"numpy.random.{owner.__name__}.{name}"
    family = "laplace" if name == "laplace" else "gaussian"

    def laplace_or_normal(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        recorder = active()
        if recorder is None:
            return before(self, loc, scale, size)
        return recorder.noise(
            function,
            family=family,
            value=loc,
            scale=scale,
            size=size,
            original=lambda: before(self, loc, scale, size),
        )

    return laplace_or_normal


def _standard(owner: type) -> Callable[..., Any]:
    before = getattr(owner, "standard_normal")  # noqa: B009
    function = f"numpy.random.{owner.__name__}.standard_normal"

    def standard_normal(self: Any, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        more = {"dtype": dtype} if dtype is not None else {}
        more |= {"out": out} if out is not None else {}
        recorder = active()
        if recorder is None:
            return before(self, size, **more)
        if out is not None:
            recorder.other(function)
            return before(self, size, **more)
        return recorder.noise(
            function,
            family="gaussian",
            value=0.0,
            scale=1.0,
            size=() if size is None else size,
            original=lambda: before(self, size, **more),
            convert=None if dtype is None else lambda result: result.astype(dtype) if result.shape else result.item(),
        )

    return standard_normal


def _randn(self: Any, *shape: int) -> Any:
    return self.standard_normal(shape or None)


def _other(name: str, owner: type) -> Callable[..., Any]:
    before = getattr(owner, name)

    def draw(self: Any, *arguments: Any, **options: Any) -> Any:
        recorder = active()
        if recorder is None:
            return before(self, *arguments, **options)
        with recorder.inside():
            drawn = before(self, *arguments, **options)
        # What is shuffled in place is not returned; how many there are decides what is drawn.
        recorder.other(f"numpy.random.{owner.__name__}.{name}", np.shape(arguments[0]) if drawn is None else drawn)
        return drawn

    return draw


def _made(original: type) -> Any:
    """Make the subclass that records."""
    methods: dict[str, Any] = {name: _noise(name, original) for name in ("laplace", "normal")}
    methods["standard_normal"] = _standard(original)
    if hasattr(original, "randn"):
        methods["randn"] = _randn
    for name in dir(original):
        known = name.startswith("_") or name in _DRAWS_NOTHING or name in _IN_PARTS or name in methods
        if not known and callable(getattr(original, name)):
            methods[name] = _other(name, original)
    return _Kind(original.__name__, (original,), {**methods, "__module__": "numpy.random"})


def _seeded(given: Any, function: str) -> Any:
    """Seed of what is made without one, so that runs can be repeated; a seed that is given is noted."""
    recorder = current()
    if recorder is None:
        return given
    if given is None:
        return recorder.seed()
    if not recorder.nested and not isinstance(given, np.random.BitGenerator | np.random.Generator | _PlainState):
        recorder.seeded_by(function)
    return given


def _quietly(make: Callable[[], Any]) -> Any:
    """Run what makes a generator of others; what these are seeded with has been noted."""
    recorder = current()
    if recorder is None:
        return make()
    with recorder.inside():
        return make()


def _bits(original: Any) -> Any:
    """Make the subclass of a bit generator that notes its seed."""

    def init(self: Any, seed: Any = None, *arguments: Any, **options: Any) -> None:
        recorder = active()
        if recorder is not None and (seed is not None or arguments or options):
            recorder.seeded_by(f"numpy.random.{original.__name__}")
        original.__init__(self, seed, *arguments, **options)

    def spawn(self: Any, n_children: int) -> Any:
        return _quietly(lambda: original.spawn(self, n_children))

    def reduced(self: Any) -> Any:
        make, _, *state = original.__reduce__(self)
        return (make, (original,), *state)

    methods = {"__init__": init, "spawn": spawn, "__reduce__": reduced, "__module__": "numpy.random"}
    return _Kind(original.__name__, (original,), methods)


_PlainState: Final = np.random.RandomState
_PlainGenerator: Final = np.random.Generator
_PlainBits: Final = np.random.PCG64
_RECORDING_BITS: Final = {original: _bits(original) for original in (getattr(np.random, name) for name in _BITS)}
_Generator: Final = _made(np.random.Generator)
_RandomState: Final = _made(np.random.RandomState)
RECORDING: Final[dict[type, Any]] = {np.random.Generator: _Generator, np.random.RandomState: _RandomState}
"""Recording classes by those that they stand for."""


def _state_init(self: Any, seed: Any = None) -> None:
    given = _seeded(seed, "numpy.random.RandomState")
    _quietly(lambda: _PlainState.__init__(self, given))


def _state_seed(self: Any, seed: Any = None) -> None:
    given = _seeded(seed, "numpy.random.seed")
    _quietly(lambda: _PlainState.seed(self, given))


def _set_state(self: Any, state: Any) -> None:
    recorder = active()
    if recorder is not None:
        recorder.seeded_by("numpy.random.set_state")
    _PlainState.set_state(self, state)


_RandomState.__init__ = _state_init
_RandomState.seed = _state_seed
_RandomState.set_state = _set_state
_Generator.__reduce__ = lambda self: (_Generator, (self.bit_generator,))
_RandomState.__reduce__ = lambda self: (_RandomState, (self._bit_generator,))


def recording(generator: Any) -> Any:
    """Return a generator that records and shares the state of the given one."""
    bits = generator.bit_generator if isinstance(generator, np.random.Generator) else generator._bit_generator
    return RECORDING[type(generator)](bits)


def recording_generator(seed: int) -> Any:
    """Return a generator of its own that records."""
    return recording(_PlainGenerator(_PlainBits(seed)))


def patch(patches: Patches) -> None:
    """Replace the classes, ``default_rng`` and the functions of ``numpy.random``."""
    module: Any = np.random
    shared = module.mtrand._rand
    recorded = recording(shared)
    original = module.default_rng

    def default_rng(seed: Any = None) -> Any:
        given = _seeded(seed, "numpy.random.default_rng")
        made = _quietly(lambda: original(given))
        return made if type(made) is _Generator else recording(made)

    patches.everywhere(original, default_rng)
    for plain, noting in _RECORDING_BITS.items():
        patches.everywhere(plain, noting)
    patches.everywhere(np.random.Generator, _Generator)
    patches.everywhere(np.random.RandomState, _RandomState)
    patches.everywhere(shared, recorded)
    for name in dir(shared):
        function = getattr(module, name, None)
        if not name.startswith("_") and getattr(function, "__self__", None) is shared:
            patches.everywhere(function, getattr(recorded, name))


def shared_state() -> Any:
    """State of the generator behind the functions of ``numpy.random``."""
    return _PlainState.get_state(np.random.mtrand._rand, legacy=False)


def seed_shared(seed: int | None, state: Any = None) -> None:
    """Seed that generator, or give it a state back."""
    shared: Any = np.random.mtrand._rand
    if seed is None:
        _PlainState.set_state(shared, state)
    elif type(shared._bit_generator).__name__ == "MT19937":
        _PlainState.seed(shared, seed)
