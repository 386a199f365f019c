"""Asking a program for outputs, and finding out at the start whether it keeps to the protocol."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.errors import CheckError, DpauditError, TargetRaisedError
from dpaudit.sources.answers import FORMATS, greeting_of
from dpaudit.sources.changes import TypesInTime
from dpaudit.sources.declarations import CommandDeclaration
from dpaudit.sources.programs import Program

_FEW, _COMPARED, _OTHERS = 2, 32, 4
"""Outputs of the first answer; of answers that are compared; and answers for other seeds.

Outputs that vary come again for another seed with probability 0.012 at most, four times over with 2e-8.
"""

_QUICK = 0.02
"""Seconds of an output up to which answers are compared."""

_SLOWER = 3.0
"""How many times as long as its longest answer so far, or its start, a program may take for the answer under way when
the time for the audit is over. Chosen by hand: the calls of an audit with a deadline take about equally long."""

_SEED = 20_231_117
_LARGEST_SEED = (1 << 53) - 1


@dataclass(frozen=True, slots=True)
class Speed:
    """How quick a program has been: outputs of its largest answer, and the seconds of its longest one or its start."""

    outputs: int
    seconds: float

    def after(self, size: int, seconds: float) -> Speed:
        """Return the speed after one more answer."""
        return Speed(max(self.outputs, size), max(self.seconds, seconds))

    def patience(self, size: int) -> float:
        """Seconds after which an answer of so many outputs is long overdue."""
        return _SLOWER * self.seconds * max(1.0, size / self.outputs)


class Conversation:
    """A program that is asked for outputs.

    Parameters
    ----------
    name
        What messages begin with.
    words, folder, timeout
        The command, its folder, and the seconds without a byte after which it is taken to hang.

    Raises
    ------
    DpauditError
        The program cannot be started, or does not say what it is.
    """

    def __init__(self, name: str, words: Sequence[str], folder: Path, timeout: float) -> None:
        self._program = Program(name, words, folder, timeout)
        self._requests = self._outputs = 0
        self._failed: DpauditError | None = None
        self._types: dict[int, TypesInTime] = {}
        self._speed: Speed | None = None
        began = time.monotonic()
        try:
            greeting = greeting_of(self._program)
            self._answers = FORMATS[greeting.format](self._program, greeting)
        except BaseException:
            self._program.end(patience=0.0)
            raise
        self.seeded = greeting.seeded
        self._start = time.monotonic() - began
        self._program.doing = "after its first line"

    @property
    def owned(self) -> bool:
        """Whether this process began it."""
        return self._program.owned

    @property
    def speed(self) -> Speed | None:
        """How quick the program has been; None before its first answer."""
        return self._speed

    def ask(self, encoded: str, size: int, seed: int) -> Any:
        """Return so many outputs.

        Parameters
        ----------
        encoded
            The input as JSON.
        size
            How many, at least 1.
        seed
            What decides them, in [0, 2^53).

        Raises
        ------
        TargetRaisedError
            The program ended with an error, or hangs; so does everything that is asked of it afterwards.
        CheckError
            It does not keep to the protocol.
        """
        if self._failed is not None:
            raise type(self._failed)(str(self._failed))
        self._requests += 1
        request = f'{{"input": {encoded}, "size": {size}, "seed": {seed}}}\n'
        self._program.patience = None if self._speed is None else self._speed.patience(size)
        began = time.monotonic()
        try:
            self._program.send(request.encode(), f"in its answer to request {self._requests}")
            found = self._answers.read(size)
            self._program.doing = f"after its answer to request {self._requests}"
            self._program.check_silent()
            # By the input, because outputs on another one may be of another type; of long inputs, the hash is enough.
            change = self._types.setdefault(hash(encoded), TypesInTime()).change(found)
            if change is not None:
                self._program.fail(
                    f"changed the type of its outputs on one input: {change}; write the same type in every answer"
                )
        except DpauditError as error:
            drawn = f" (it gave {self._outputs} outputs before)" if self._outputs else ""
            shown = f"{error!s}{drawn}; the request was {_shortened(request)}"
            self._failed = type(error)(shown)
            raise self._failed from error.__cause__
        except BaseException:
            self._program.end(patience=0.0)
            self._failed = TargetRaisedError("the program was ended by an interrupt")
            raise
        self._outputs += size
        before = Speed(size, self._start) if self._speed is None else self._speed
        self._speed = before.after(size, time.monotonic() - began)
        return found

    def trust(self, speed: Speed) -> None:
        """Take the program to answer, because it has done so in another conversation, this quickly."""
        self._speed = self._speed or speed

    def end(self) -> None:
        """End the program at once, if it has not ended."""
        self._program.end(patience=0.0)

    def close(self) -> None:
        """End the input of the program, and hold it to ending there with nothing more to say."""
        self._program.hang_up()
        self._program.finish()


_CHECKED: dict[tuple[tuple[str, ...], str, str], Speed] = {}


def check_program(name: str, words: tuple[str, ...], said: CommandDeclaration, encoded: str) -> Speed:
    """Hold a program to the protocol in a conversation of its own, once in a process.

    It must give as many outputs as it is asked for and nothing else, depend on the seed alone, stay alive between
    requests, and end when its input does: what it writes until then is all that it writes. Return how quick it was.

    Raises
    ------
    DpauditError
        It does not.
    """
    known = (words, str(said.place), said.digest())
    if known in _CHECKED:
        return _CHECKED[known]
    talk = Conversation(name, words, said.place, said.timeout)
    try:
        began = time.monotonic()
        talk.ask(encoded, _FEW, _SEED)
        quick = (time.monotonic() - began) / _FEW < _QUICK
        first = talk.ask(encoded, _COMPARED if quick else _FEW, _SEED + 1)
        if talk.seeded:
            _compare(name, talk, encoded, first, quick=quick)
        talk.close()
    finally:
        talk.end()
    assert talk.speed is not None
    _CHECKED[known] = talk.speed
    return talk.speed


def _compare(name: str, talk: Conversation, encoded: str, first: Any, *, quick: bool) -> None:
    """Raise CheckError where equal seeds give different outputs, or all seeds the same ones."""
    size = len(first)
    if not _same(first, talk.ask(encoded, size, _SEED + 1)):
        raise CheckError(
            f"{name}: the program gave different outputs for the same seed {_SEED + 1} (requests 2 and 3); let `seed` "
            'decide all that is drawn for a request, or say "seeded": false in the first line'
        )
    items = list(first)
    if not quick or all(_same(item, items[0]) for item in items):
        return
    if all(_same(first, talk.ask(encoded, size, _SEED + 2 + i)) for i in range(_OTHERS)):
        raise CheckError(
            f"{name}: the program gave the same {size} outputs for {_OTHERS + 1} different seeds; draw them from `seed`"
        )
    large = talk.ask(encoded, size, _LARGEST_SEED)
    if all(_same(large, talk.ask(encoded, size, _LARGEST_SEED - (i << 40))) for i in range(1, _OTHERS + 1)):
        raise CheckError(
            f"{name}: the program gave the same {size} outputs for {_OTHERS + 1} different seeds near 2^53; its "
            "generator takes smaller seeds only, so seed it with the remainder of `seed` modulo 2^31 - 1"
        )


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype.kind == b.dtype.kind and bool(np.all((a == b) | ((a != a) & (b != b))))
    return json.dumps(a, default=repr) == json.dumps(b, default=repr)


def _shortened(request: str) -> str:
    line = request.rstrip("\n")
    return line if len(line) <= 200 else f"{line[:100]}…{line[-60:]}"
