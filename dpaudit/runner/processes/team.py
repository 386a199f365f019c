"""A team of workers as its parent sees it: what is asked of them, and what became of it."""

from __future__ import annotations

import secrets
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from dpaudit.errors import DpauditError, TargetRaisedError, TimeLimitError
from dpaudit.runner.processes import messages
from dpaudit.runner.processes.starting import Starter, give_back, take

_LOOK = 0.2
"""Seconds after which a team looks whether it should stop, or a worker ended unnoticed."""

_SECONDS_TO_END = 10.0


@dataclass(frozen=True, slots=True)
class Finished:
    """A worker returned a value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """A worker raised: an error of dpaudit's own, or, with ``error`` None, anything else."""

    message: str
    trace: str
    error: DpauditError | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A worker ended before it had finished."""

    how: str


@dataclass(frozen=True, slots=True)
class Overdue:
    """A worker had not finished in time, and was ended."""


Answer = Finished | Raised | Ended | Overdue

Call = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(slots=True)
class _Worker:
    number: int
    connection: socket.socket
    inbox: messages.Inbox
    key: Hashable = None
    call: Call | None = None
    token: str = ""
    served: int = 0

    def ask(self, key: Hashable, call: Call) -> None:
        self.key, self.call, self.token = key, call, secrets.token_hex(8)
        messages.send(self.connection, (self.token, *call))


@dataclass(slots=True)
class Team:
    """Workers that are started as they are needed, and ended at the end of a ``with`` statement.

    What a worker answers counts only with the token of its request. A worker that ends under a request which was not
    its first may have been ended by what it did before: the request is repeated on a new one.

    Parameters
    ----------
    stop
        Tells whether the team should stop, which then raises KeyboardInterrupt.
    """

    stop: Callable[[], bool] = lambda: False
    _starter: Starter = field(default_factory=take)
    _workers: dict[int, _Worker] = field(default_factory=dict)
    _statuses: dict[int, int] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in list(self._workers.values()):
            self._dismiss(worker)
        give_back(self._starter)

    def call(self, function: Callable[..., Any], *arguments: Any, until: float | None = None) -> Any:
        """Call a function in a worker.

        Parameters
        ----------
        function
            A function of a module.
        until
            Time, in seconds since the epoch, at which the worker is ended.

        Raises
        ------
        DpauditError
            The function raised it; `TargetRaisedError` where it raised anything else or its process ended, and
            `TimeLimitError` where it did not return in time.
        """
        ((_, answer),) = self.answers([(0, function, arguments)], until=until)
        return value_of(answer)

    def answers(
        self,
        requests: Iterable[tuple[Hashable, Callable[..., Any], tuple[Any, ...]]],
        *,
        width: int = 1,
        until: float | None = None,
    ) -> Iterator[tuple[Any, Answer]]:
        """Ask for calls of functions, several at a time, and return what became of them as it does.

        Parameters
        ----------
        requests
            Key, function and arguments of each call; the next is asked for when a worker is free.
        width
            Calls at a time.
        until
            Time, in seconds since the epoch, at which workers are ended that have not finished.
        """
        waiting = iter(requests)
        again: deque[tuple[Hashable, Call]] = deque()
        while True:
            while sum(worker.call is not None for worker in self._workers.values()) < width:
                if again:
                    self._ask(*again.popleft(), afresh=True)
                    continue
                request = next(waiting, None)
                if request is None:
                    break
                self._ask(request[0], request[1:])
            busy = [worker for worker in self._workers.values() if worker.call is not None]
            if not busy:
                return
            self._look(until)
            late = until is not None and time.time() >= until
            for worker, answer in self._arrived(late=late):
                key, call = worker.key, worker.call
                if isinstance(answer, Finished | Raised):
                    worker.call = None
                    worker.served += 1
                elif isinstance(answer, Ended) and worker.served and call is not None:
                    again.append((key, call))
                    continue
                yield key, answer

    def _ask(self, key: Hashable, call: Call, *, afresh: bool = False) -> None:
        for worker in list(self._workers.values()):
            if worker.call is None and not afresh:
                try:
                    worker.ask(key, call)
                except OSError:
                    self._dismiss(worker)
                else:
                    return
        if afresh:
            # At most as many workers as calls at a time.
            idle = [worker for worker in self._workers.values() if worker.call is None]
            for worker in idle[:1]:
                self._dismiss(worker)
        number, connection = self._starter.start()
        worker = self._workers[number] = _Worker(number, connection, messages.Inbox(connection))
        from dpaudit.runner.processes.worker import Circumstances

        worker.key, worker.call = key, call
        try:
            messages.send(connection, Circumstances())
            worker.ask(key, call)
        except OSError:
            # It ended at once, and is found so.
            return

    def _look(self, until: float | None) -> None:
        """Wait until something happened, but not long."""
        wait = _LOOK if until is None else max(0.0, min(_LOOK, until - time.time()))
        with selectors.DefaultSelector() as selector:
            for connection in self._starter.connections():
                selector.register(connection, selectors.EVENT_READ)
            for worker in self._workers.values():
                if not worker.inbox.closed:
                    selector.register(worker.connection, selectors.EVENT_READ)
            selector.select(wait)
        if self.stop():
            raise KeyboardInterrupt

    def _arrived(self, *, late: bool) -> list[tuple[_Worker, Answer]]:
        self._statuses |= self._starter.ended()
        found: list[tuple[_Worker, Answer]] = []
        for worker in list(self._workers.values()):
            how = _words(self._statuses[worker.number]) if worker.number in self._statuses else None
            try:
                arrived = worker.inbox.messages()
            except messages.NoiseError:
                arrived, how = [], "wrote to the connection with the process that started it"
            answer = next((_answer(*rest) for token, *rest in arrived if token == worker.token), None)
            if answer is None and how is None and worker.inbox.closed:
                how = self._how_it_ended(worker.number)
            if answer is None and how is not None:
                answer = Ended(how)
            elif answer is None and late:
                answer = Overdue()
            if worker.call is not None and answer is not None:
                found.append((worker, answer))
            if how is not None or isinstance(answer, Overdue):
                self._dismiss(worker)
        return found

    def _how_it_ended(self, number: int) -> str:
        # The exit status of a process that ended comes just after the end of its connection.
        limit = time.monotonic() + _SECONDS_TO_END
        while number not in self._statuses and time.monotonic() < limit:
            time.sleep(0.01)
            self._statuses |= self._starter.ended()
        return _words(self._statuses[number]) if number in self._statuses else "closed its connection"

    def _dismiss(self, worker: _Worker) -> None:
        self._workers.pop(worker.number, None)
        self._statuses.pop(worker.number, None)
        self._starter.end(worker.number)
        worker.connection.close()


def value_of(answer: Answer) -> Any:
    """Return the value of an answer, or raise what it stands for; see `Team.call`."""
    match answer:
        case Finished(value):
            return value
        case Raised(error=DpauditError() as error):
            raise error
        case Raised(message, trace):
            raise TargetRaisedError(f"the code of a target raised {message}") from _RemoteError(trace)
        case Ended(how):
            raise TargetRaisedError(
                f"the process that loads the targets {how} before it had finished; a target must not end its process"
            )
        case Overdue():
            raise TimeLimitError(
                "the time that --seconds allows was over before the targets were loaded and what to audit was chosen; "
                "nothing was audited"
            )


class _RemoteError(Exception):
    """The traceback of what was raised in another process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _answer(what: str, value: Any) -> Answer:
    if what == "finished":
        return Finished(value)
    if what == "raised":
        return Raised(*value)
    kind, message, trace = value
    error = kind(message)
    if trace:
        error.__cause__ = _RemoteError(trace)
    return Raised(message, trace, error)


def _words(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = str(-status)
    return f"was ended by signal {name}"
