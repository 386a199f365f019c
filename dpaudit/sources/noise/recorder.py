"""What is recorded of a run, and how a run is repeated with equal noise."""

from __future__ import annotations

import copy
import hashlib
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from dpaudit.claims.noise import NoiseFunction
from dpaudit.errors import ParameterError

_AUDITORS: Final = str(Path(__file__).parents[2] / "auditors")
_Plain: Final = np.random.Generator
_Bits: Final = np.random.PCG64
_Sequence: Final = np.random.SeedSequence
_ACTIVE: Final[list[Recorder]] = []
_HERE: Final = str(Path(__file__).parent)
_NOISE_KEY: Final = 0x6E6F697365
_RANDOM_KEY: Final = 0x72616E646F6D
_MOST_OTHERS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseCall:
    """One call that drew noise.

    Attributes
    ----------
    function, place
        What was called, and from where: ``models/linear_regression.py:147``.
    family
        Law of the noise; None where it is not simply added, so that it cannot be drawn again.
    value
        What the noise was added to, as far as the call shows it: a location that was left at 0 may mean that the caller
        adds the value itself.
    scale
        Declared scale of the noise, broadcast to its shape (of Gaussian noise the standard deviation); None with
        `family`.
    noise
        The noise that was added; None with `family`.
    returned
        What the call returned.
    sensitivity, metric
        Declared sensitivity of the value and the distance that it is about; None where the call declares none.
    budget
        Epsilon and delta that the call declares to spend; None where it declares none.
    before
        Digest of all other random numbers that were drawn before.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> call = dpaudit.NoiseCall(
    ...     function="Generator.laplace", place="survey.py:12", family="laplace", value=3.0,
    ...     scale=np.array(2.0), noise=np.array(0.5), returned=3.5,
    ... )
    >>> call.flat_noise.tolist()
    [0.5]
    """

    function: str
    place: str
    family: str | None
    value: Any
    scale: np.ndarray | None
    noise: np.ndarray | None
    returned: Any
    sensitivity: float | None = None
    metric: str | Callable[[Any, Any], float] = "absolute"
    budget: tuple[float, float] | None = None
    before: str = ""

    @property
    def flat_noise(self) -> np.ndarray:
        """The noise as a vector; empty where it is not known."""
        return np.zeros(0) if self.noise is None else np.ravel(self.noise)

    @property
    def flat_scale(self) -> np.ndarray:
        """The scale of each number of `flat_noise`."""
        return np.zeros(0) if self.scale is None else np.ravel(self.scale)

    def matches(self, other: NoiseCall) -> bool:
        """Whether another run made the same call at this point."""
        if (self.function, self.place, self.family) != (other.function, other.place, other.family):
            return False
        return self.noise is None or (other.noise is not None and self.noise.shape == other.noise.shape)

    def __repr__(self) -> str:
        scale = "" if self.scale is None else f", scale {_short(self.scale)}"
        sensitivity = "" if self.sensitivity is None else f", sensitivity {self.sensitivity:g}"
        return f"<{self.function} at {self.place}: value {_short(self.value)}{scale}{sensitivity}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """How a run draws: the same for equal seeds, whatever the input.

    Attributes
    ----------
    seed
        Seed of the noise and of all other randomness that can be reached.
    factor
        What noise is multiplied by: 0 for a run without noise; beyond 1 and below -1 it is at least so many scales.
    returns
        Calls of another run whose results the first calls of this one return, as long as they match.
    most
        Calls after which the run is ended: it may draw until it likes the noise, which a replay need not offer.
    """

    seed: int
    factor: float = 1.0
    returns: Sequence[NoiseCall] = ()
    most: int = 100_000


class TooManyCallsError(BaseException):
    """A run that is repeated makes more calls than allowed. Mechanisms that catch all exceptions do not catch it."""


def current() -> Recorder | None:
    """The recorder of this thread; None where there is none."""
    recorder = _ACTIVE[-1] if _ACTIVE else None
    return recorder if recorder is not None and recorder.thread == threading.get_ident() else None


def active() -> Recorder | None:
    """The recorder of a call that is made now; None where it is none, or a part of a call that is recorded."""
    recorder = current()
    return recorder if recorder is not None and not recorder.nested else None


class Recorder:
    """Records noise while it is active, where the functions that draw noise are patched (`patches.patched`).

    Attributes
    ----------
    calls
        The calls that drew noise, in order.
    others
        Where other random numbers were drawn: ``numpy.random.permutation at shuffle.py:12``.
    diverged
        Number of the first call that differs from the run whose results are repeated; None where all are equal.
    seeded
        Where a generator was given a seed or a state: ``numpy.random.default_rng at sums.py:8``.
    """

    def __init__(self, replay: Replay | None = None) -> None:
        self.replay = replay
        self.calls: list[NoiseCall] = []
        self.others: list[str] = []
        self.seeded: list[str] = []
        self.diverged: int | None = None
        self.thread = threading.get_ident()
        self.nested = 0
        self._streams = 0
        self._digest = hashlib.sha256()

    def __enter__(self) -> Self:
        from dpaudit.sources.noise.numpy_noise import seed_shared, shared_state

        if self.replay is not None:
            self._states = random.getstate(), shared_state()
            random.setstate(random.Random(self.replay.seed).getstate())  # noqa: S311
            seed_shared(self.replay.seed)
        _ACTIVE.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        from dpaudit.sources.noise.numpy_noise import seed_shared

        _ACTIVE.remove(self)
        if self.replay is not None:
            random.setstate(self._states[0])
            seed_shared(None, self._states[1])

    @cached_property
    def system_random(self) -> random.Random:
        """What stands for the operating system's generator in runs that are repeated."""
        return random.Random(self.seed())  # noqa: S311

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Run a recorded function; what it draws is a part of its own call."""
        self.nested += 1
        try:
            yield
        finally:
            self.nested -= 1

    def seed(self) -> int | None:
        """Seed of the next generator that is made without one; None where runs are not repeated."""
        if self.replay is None:
            return None
        self._streams += 1
        return int(_Sequence((_RANDOM_KEY, self.replay.seed, self._streams)).generate_state(1)[0])

    def other(self, function: str, drawn: Any = None) -> None:
        """Note that random numbers were drawn that are no noise, and which."""
        shown = (drawn.dtype.str, drawn.shape, drawn.tolist()) if isinstance(drawn, np.ndarray) else drawn
        self._digest.update(repr((function, shown)).encode())
        if len(self.others) < _MOST_OTHERS:
            self.others.append(f"{function} at {_place()}")

    def seeded_by(self, function: str) -> None:
        """Note that a generator was given a seed or a state, which decides what it draws from then on."""
        if len(self.seeded) < _MOST_OTHERS:
            self.seeded.append(f"{function} at {_place()}")

    def noise(
        self,
        function: str,
        *,
        family: str | None,
        value: Any,
        scale: Any = None,
        size: Any = None,
        original: Callable[[], Any],
        convert: Callable[[np.ndarray], Any] | None = None,
        **declared: Any,
    ) -> Any:
        """Record a call, and return what it returns: the original's result, or noise that a replay prescribes."""
        place = _place()
        noise: np.ndarray | None
        width: np.ndarray | None
        if self.replay is not None and len(self.calls) >= self.replay.most:
            raise TooManyCallsError
        if family is not None:
            try:
                location, spread = (np.asarray(each, dtype=float) for each in (value, scale))
                shape = np.broadcast_shapes(location.shape, spread.shape) if size is None else _shape(size)
                location, spread = np.broadcast_to(location, shape), np.broadcast_to(spread, shape)
            except (TypeError, ValueError):
                family = None  # the original says what is wrong with it, or does with it what it does
        if family is not None and not np.all(spread >= 0):
            family = None
        index = len(self.calls)
        if family is None:
            expected = self._expected(index, function, place, None, None)
            if expected is not None:
                returned = copy.deepcopy(expected.returned)
            else:
                with self.inside():
                    returned = original()
            noise, seen, width = None, copy.deepcopy(value), None
        else:
            expected = self._expected(index, function, place, family, shape)
            if expected is not None:
                returned = copy.deepcopy(expected.returned)
                noise = expected.noise
            elif self.replay is not None:
                noise = self._draw(index, family, spread)
                whole = family.startswith("discrete") and np.all(location == np.rint(location))
                result = location + noise
                result = result.astype(np.int64) if whole and np.all(np.abs(result) < 2**62) else result
                returned = convert(result) if convert else _plain(result)
            else:
                with self.inside():
                    returned = original()
                noise = np.asarray(_numbers(returned), dtype=float) - location
            seen, width = np.array(location), np.array(spread)
        self.calls.append(
            NoiseCall(
                function=function,
                place=place,
                family=family,
                value=seen,
                scale=width,
                noise=noise,
                returned=copy.deepcopy(returned),
                before=self._digest.hexdigest(),
                **declared,
            )
        )
        return returned

    def _expected(
        self, index: int, function: str, place: str, family: str | None, shape: tuple[int, ...] | None
    ) -> NoiseCall | None:
        """The call whose result is to be returned; None where there is none."""
        if self.replay is None or not self.replay.returns or self.diverged is not None:
            return None
        if index < len(self.replay.returns):
            call = self.replay.returns[index]
            same = (call.function, call.place, call.family) == (function, place, family)
            if same and (shape is None or (call.noise is not None and call.noise.shape == shape)):
                return call
        self.diverged = index
        return None

    def _draw(self, index: int, family: str, scale: np.ndarray) -> np.ndarray:
        assert self.replay is not None
        rng = _Plain(_Bits(_Sequence((_NOISE_KEY, self.replay.seed, index))))
        drawn = rng.laplace(size=scale.shape) if family.endswith("laplace") else rng.standard_normal(scale.shape)
        if abs(self.replay.factor) > 1:
            drawn = np.copysign(1 + np.abs(drawn), drawn)
        drawn = np.asarray(drawn * scale * self.replay.factor)
        return np.rint(drawn) if family.startswith("discrete") else drawn


@contextmanager
def record_noise(*functions: NoiseFunction) -> Iterator[list[NoiseCall]]:
    """Record the calls that draw noise; the noise itself is drawn as usual.

    Recorded are numpy's ``laplace`` and ``normal``, of generators, ``RandomState`` and ``numpy.random``; ``gauss`` and
    ``normalvariate`` of the standard library; and, where they are loaded, the mechanisms of diffprivlib, measurements
    of OpenDP, and ``normal``, ``randn`` and the Laplace and normal distributions of torch.

    Parameters
    ----------
    functions
        Further functions that add noise.

    Yields
    ------
    list of NoiseCall
        The calls so far, each with the value, the declared scale or sensitivity, and the file and line.

    Raises
    ------
    ParameterError
        One of ``functions`` cannot be found.
    CheckError
        Noise is being recorded already.

    Examples
    --------
    >>> import numpy as np
    >>> with record_noise() as calls:
    ...     _ = np.random.default_rng(0).laplace(3.0, scale=2.0)
    >>> calls[0].function, float(calls[0].scale)
    ('numpy.random.Generator.laplace', 2.0)
    """
    for each in functions:
        if not isinstance(each, NoiseFunction):
            raise ParameterError(f"record_noise takes dpaudit.NoiseFunction objects, got {each!r}")
    from dpaudit.sources.noise.patches import patched

    with patched(functions), Recorder() as recorder:
        yield recorder.calls


def _place() -> str:
    """File and line that called what is recorded."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    if frame.f_code.co_filename.startswith(_AUDITORS):
        return "the mechanism itself"
    return f"{_file(frame.f_code.co_filename)}:{frame.f_lineno}"


def _file(name: str) -> str:
    """Path of a file below the folder that it was imported from, or below the current one; its last parts otherwise."""
    path = Path(name)
    below = [text for folder in (*sys.path, str(Path.cwd())) if (text := _below(path, folder))]
    return min(below, key=len, default="/".join(path.parts[-3:]).lstrip("/"))


def _below(path: Path, folder: str) -> str:
    return path.relative_to(folder).as_posix() if folder and path.is_relative_to(folder) else ""


def _shape(size: Any) -> tuple[int, ...]:
    return tuple(int(each) for each in size) if isinstance(size, Sequence) else (int(size),)


def _plain(result: np.ndarray) -> Any:
    return result.item() if result.shape == () else result


def _numbers(value: Any) -> Any:
    """What a library's object holds, as numpy takes it."""
    for name in ("detach", "cpu", "numpy"):
        value = getattr(value, name)() if hasattr(value, name) else value
    return value


def _short(value: Any) -> str:
    try:
        text = np.array2string(np.asarray(value), threshold=5, edgeitems=2, precision=6)
    except Exception:
        text = type(value).__name__
    return " ".join(text.split())
