"""Functions that a user names: what they add noise to, and what they declare."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpaudit.claims.noise import Argument, NoiseFunction
from dpaudit.errors import CheckError, ParameterError
from dpaudit.sources.noise.recorder import active

if TYPE_CHECKING:
    from dpaudit.sources.noise.patches import Patches


def patch(patches: Patches, functions: Sequence[NoiseFunction]) -> None:
    """Replace the functions that a user names.

    Raises
    ------
    ParameterError
        There is no such function, or it has no such argument.
    """
    for each in functions:
        module_name, _, path = each.name.partition(":")
        try:
            owner: Any = sys.modules.get(module_name) or import_module(module_name)
            *classes, name = path.split(".")
            for part in classes:
                owner = getattr(owner, part)
            found = inspect.getattr_static(owner, name)
            wrapped = type(found) if classes and isinstance(found, staticmethod | classmethod) else None
            function = found.__func__ if wrapped is not None else getattr(owner, name)
        except Exception as error:
            raise ParameterError(f"NoiseFunction {each.name}: it cannot be found ({error})") from error
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"NoiseFunction {each.name}: its arguments are not known ({error})") from error
        for told in (each.value, each.sensitivity, each.scale):
            if isinstance(told, str) and told not in signature.parameters:
                raise ParameterError(
                    f"NoiseFunction {each.name} has no argument {told!r}; it has {', '.join(signature.parameters)}"
                )
        replacement = _recorded(each, function, signature)
        if classes:
            patches.attribute(owner, name, replacement if wrapped is None else wrapped(replacement))
        else:
            patches.everywhere(function, replacement)


def _recorded(
    described: NoiseFunction, function: Callable[..., Any], signature: inspect.Signature
) -> Callable[..., Any]:
    @functools.wraps(function)
    def noisy(*arguments: Any, **options: Any) -> Any:
        recorder = active()
        if recorder is None:
            return function(*arguments, **options)
        try:
            bound = signature.bind(*arguments, **options)
        except TypeError:
            return function(*arguments, **options)  # raises what the function raises
        bound.apply_defaults()
        sensitivity = _told(described, described.sensitivity, bound.arguments)
        return recorder.noise(
            described.name,
            family=described.family,
            value=bound.arguments[described.value],
            scale=_told(described, described.scale, bound.arguments),
            original=lambda: function(*arguments, **options),
            sensitivity=None if sensitivity is None else _number(described, sensitivity),
            metric=described.metric,
        )

    return noisy


def _number(described: NoiseFunction, sensitivity: Any) -> float:
    try:
        return float(sensitivity)
    except (TypeError, ValueError) as error:
        told = f" {described.sensitivity!r}" if isinstance(described.sensitivity, str) else ""
        raise CheckError(
            f"NoiseFunction {described.name}: the sensitivity{told} has to be a number, got {sensitivity!r}"
        ) from error


def _told(described: NoiseFunction, told: Argument | None, arguments: Any) -> Any:
    if told is None:
        return None
    try:
        return arguments[told] if isinstance(told, str) else told(arguments)
    except Exception as error:
        raise CheckError(
            f"NoiseFunction {described.name}: what it declares cannot be had ({type(error).__name__}: {error})"
        ) from error
