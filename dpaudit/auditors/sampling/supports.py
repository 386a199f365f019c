"""Which of two inputs an output speaks for, as a mechanism's own ``supports`` says, with its answers checked."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpaudit.auditors.outputs.checked_outputs import COMPARED, FEW, RAISED, objects
from dpaudit.auditors.sampling.pace import clock
from dpaudit.claims.inputs import error_text, short_repr
from dpaudit.errors import CheckError, DpauditError, TargetRaisedError
from dpaudit.floating_point import their_settings

_AGAIN_SHARE = 0.25
"""Part of the time that `supports` takes which asking it about some outputs again may take besides, where there is a
deadline; after that it is not asked again. Chosen by hand: about an eighth of the outputs of a call, or of 64, it is
asked again, so that more time is what a call takes whatever its size."""

_LEAST_SECONDS = 1e-9
"""Seconds that being asked again takes at least, so that it is known to have happened."""

SupportFunction = Callable[[np.ndarray, Any], np.ndarray | None]


class Supported(NamedTuple):
    """An output, and which of two inputs it supports."""

    output: Any
    supports_x: bool
    supports_y: bool


@dataclass(slots=True)
class _Asked:
    """Seconds that ``supports`` took to be asked, and to be asked again about some of the outputs.

    ``once`` are those of the first time that it was asked again, which says nothing of other calls.
    """

    first: float = 0.0
    again: float = 0.0
    once: float = 0.0

    def note(self, first: float, again: float) -> None:
        if not self.again:
            self.once = again
        self.first += first
        self.again += again


class Supports:
    """A mechanism's ``supports(outputs, data)``.

    Parameters
    ----------
    function
        The user's: whether each output speaks for an input, or None where that is not known.
    name
        Name of the mechanism, for messages.

    Attributes
    ----------
    known
        Whether it has answered.
    """

    def __init__(self, function: SupportFunction, name: str) -> None:
        self._function = function
        self._where = f"{name}: `supports`"
        self._asked = _Asked()
        self.known = False

    def copy(self) -> Supports:
        """Copy that does not tell this one whether it has answered."""
        return copy.copy(self)

    def take_once(self) -> float:
        """Return the seconds that other calls will not take, and forget them."""
        once, self._asked.once = self._asked.once, 0.0
        return once

    def beside(self, outputs: np.ndarray, mapped: np.ndarray, pair: tuple[Any, Any], *, timed: bool) -> np.ndarray:
        """Append to what is looked at in every output which of two inputs it supports.

        Parameters
        ----------
        outputs, mapped
            Outputs of a call, and what is looked at in them.
        pair
            The two inputs.
        timed
            Whether there is a deadline, so that fewer answers are checked.

        Raises
        ------
        CheckError
            It answers for some outputs only, or says something else of an output among other outputs.
        """
        of_x, of_y = pair
        x = self._checked_answer(outputs, of_x, _last, timed=timed)
        y = self._checked_answer(outputs, of_y, _few, timed=timed)
        if x is None or y is None:
            return mapped
        if mapped.dtype.kind in "biufc":
            return np.column_stack([mapped.reshape(len(mapped), -1), x, y])
        return objects([Supported(*parts) for parts in zip(mapped.tolist(), x.tolist(), y.tolist(), strict=True)])

    def answer(self, outputs: np.ndarray, data: Any) -> np.ndarray | None:
        """Return what it says of outputs.

        Raises
        ------
        TargetRaisedError
            It raised something.
        CheckError
            It did not return a bool for each output.
        """
        try:
            with their_settings():
                raw = self._function(outputs.copy(), copy.deepcopy(data))
            found = None if raw is None else np.asarray(raw)
        except DpauditError:
            raise
        except RAISED as error:
            raise TargetRaisedError(
                f"{self._where} raised {error_text(error)} (input {short_repr(data)}); it was given "
                f"{len(outputs)} outputs at once, {_in_words(outputs)}, and returns an array with a bool for each"
            ) from error
        if isinstance(raw, np.ma.MaskedArray) and np.ma.getmaskarray(raw).any():
            raise CheckError(f"{self._where} returned masked values; answer for every output, or return None")
        if found is not None and (found.dtype.kind != "b" or found.shape != (len(outputs),)):
            raise CheckError(
                f"{self._where} returned an array of {found.dtype} of shape {found.shape} for {len(outputs)} outputs, "
                f"which it was given at once, {_in_words(outputs)}; return whether each output supports the input, an "
                f"array of bool of shape ({len(outputs)},)"
            )
        return found

    def _checked_answer(
        self, outputs: np.ndarray, data: Any, again_of: Callable[[np.ndarray], np.ndarray], *, timed: bool
    ) -> np.ndarray | None:
        """What it says of outputs, which it is to say again of those at the places that its answers choose.

        One call suffices, since every call of the sampler is followed by one about either input.
        """
        begun = clock()
        found = self.answer(outputs, data)
        if found is None:
            if self.known:
                raise CheckError(
                    f"{self._where} returned None for some outputs and an answer for others; answer for all or none"
                )
            return None
        self.known = True
        took = max(0.0, clock() - begun)
        some = again_of(found)
        if timed:
            if self._asked.again > _AGAIN_SHARE * self._asked.first:
                return found
            some = some[: len(outputs) // FEW] if self._asked.again else some[:1]
        if not len(some):
            return found
        begun = clock()
        again = self.answer(outputs[some], data)
        self._asked.note(took, max(clock() - begun, _LEAST_SECONDS))
        if again is None or not np.array_equal(again, found[some]):
            raise CheckError(
                f"{self._where} said something else of an output among other outputs; "
                "look at every output on its own, or no bound holds"
            )
        return found


def _last(answers: np.ndarray) -> np.ndarray:
    """Places of the last outputs, in reverse order."""
    return np.arange(len(answers))[-COMPARED:][::-1]


def _few(answers: np.ndarray) -> np.ndarray:
    """Places of a few outputs with the commoner answer: what compares them with each other tells them apart."""
    (places,) = np.nonzero(answers == (2 * np.count_nonzero(answers) >= len(answers)))
    return places[:: max(-(-len(places) // FEW), 1)][::-1]


def _in_words(outputs: np.ndarray) -> str:
    of_objects = "of objects " if outputs.dtype.kind == "O" else ""
    return f"an array {of_objects}of shape {outputs.shape}"
