"""A team of workers as its parent sees it: what is asked of them, and what became of it."""

from __future__ import annotations

import secrets
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
    """A worker ended before it had finished; where it is ``final``, so did others before it."""

    how: str
    final: bool = False


@dataclass(frozen=True, slots=True)
class Overdue:
    """A worker had not finished in time, and was ended."""


Answer = Finished | Raised | Ended | Overdue

Call = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call of a function.

    Attributes
    ----------
    key
        What names it.
    function, arguments
        A function of a module, and what it is called with.
    load
        A call that loads what the function needs, made once for all requests that have the same.
    again
        Whether it is repeated.
    """

    key: Any
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    load: Call | None = None
    again: bool = False


@dataclass(slots=True)
class _Worker:
    number: int
    connection: socket.socket
    inbox: messages.Inbox
    request: Request | None = None
    token: str = ""
    served: int = 0

    def ask(self, request: Request) -> None:
        self.request, self.token = request, secrets.token_hex(8)
        messages.send(self.connection, (self.token, request.function, request.arguments))


@dataclass(slots=True)
class Team:
    """Workers that are started as they are needed, and ended at the end of a ``with`` statement.

    What a worker answers counts only with the token of its request. Where workers can be copied, each serves one
    request, so that none depends on another. Elsewhere a worker that ends under a request which was not its first may
    have been ended by what it did before: the request is repeated on a new one.

    Parameters
    ----------
    stop
        Tells whether the team should stop, which then raises KeyboardInterrupt.
    starter
        What starts the workers.
    """

    stop: Callable[[], bool] = lambda: False
    starter: Starter = field(default_factory=take)
    _workers: dict[int, _Worker] = field(default_factory=dict)
    _statuses: dict[int, int] = field(default_factory=dict)
    _loaded: set[Call] = field(default_factory=set)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in list(self._workers.values()):
            self._dismiss(worker)
        give_back(self.starter)

    def call(
        self, function: Callable[..., Any], *arguments: Any, load: Call | None = None, until: float | None = None
    ) -> Any:
        """Call a function in a worker.

        Parameters
        ----------
        function, arguments, load
            As in a `Request`.
        until
            Time, in seconds since the epoch, at which the worker is ended.

        Raises
        ------
        DpauditError
            The function raised it; `TargetRaisedError` where it raised anything else or its process ended, and
            `TimeLimitError` where it did not return in time.
        """
        request = Request(key=None, function=function, arguments=arguments, load=load)
        ((_, answer),) = self.answers([request], until=until)
        return value_of(answer)

    def answers(
        self, requests: Iterable[Request], *, width: int = 1, until: float | None = None
    ) -> Iterator[tuple[Any, Answer]]:
        """Ask for calls of functions, several at a time, and return what became of them as it does.

        Parameters
        ----------
        requests
            The calls; the next is asked for when a worker is free.
        width
            Calls at a time.
        until
            Time, in seconds since the epoch, at which workers are ended that have not finished.
        """
        waiting = iter(requests)
        again: deque[Request] = deque()
        while True:
            while sum(worker.request is not None for worker in self._workers.values()) < width:
                request = again.popleft() if again else next(waiting, None)
                if request is None:
                    break
                problem = self._load(request, until) or self._ask(request, afresh=request.again)
                if problem is not None:
                    yield request.key, problem
            if not any(worker.request is not None for worker in self._workers.values()):
                return
            self._look(until)
            late = until is not None and time.time() >= until
            for worker, answer in self._arrived(late=late):
                request = worker.request
                assert request is not None
                worker.request = None
                worker.served += 1
                if self.starter.isolates:
                    self._dismiss(worker)
                elif isinstance(answer, Ended) and worker.served > 1:
                    again.append(replace(request, again=True))
                    continue
                yield request.key, answer

    def _load(self, request: Request, until: float | None) -> Answer | None:
        """Load what a request needs, once for all workers; return what became of it where that failed."""
        if request.load is None or request.load in self._loaded or not self.starter.isolates:
            return None
        try:
            self.starter.load(request.load)
            while not self.starter.loaded():
                self._pause(self.starter.connections(), until)
                status = self.starter.host_ended()
                if status is not None:
                    self._loaded.clear()
                    return Ended(_words(status))
                if until is not None and time.time() >= until:
                    self.starter.end_host()
                    self._loaded.clear()
                    return Overdue()
        except OSError as error:
            return self._start_over(error)
        self._loaded.add(request.load)
        return None

    def _start_over(self, error: OSError) -> Answer:
        """Take another starter in place of one that does not work."""
        self._loaded.clear()
        self.starter.close()
        self.starter = take()
        return Ended(f"could not be started ({error.strerror or error})")

    def _ask(self, request: Request, *, afresh: bool) -> Answer | None:
        """Ask a worker, a new one where none is free; return what became of that where it failed."""
        idle = [worker for worker in self._workers.values() if worker.request is None]
        if afresh:
            # At most as many workers as calls at a time.
            for worker in idle[:1]:
                self._dismiss(worker)
            idle = []
        for worker in idle:
            try:
                worker.ask(request)
            except OSError:
                self._dismiss(worker)
            else:
                return None
        try:
            number, connection = self.starter.start()
        except OSError as error:
            return self._start_over(error)
        worker = self._workers[number] = _Worker(number, connection, messages.Inbox(connection))
        with suppress(OSError):
            # One that ended at once is found so.
            worker.ask(request)
        return None

    def _pause(self, connections: Iterable[socket.socket], until: float | None) -> None:
        """Wait until there is something to read, but not long."""
        wait = _LOOK if until is None else max(0.0, min(_LOOK, until - time.time()))
        with selectors.DefaultSelector() as selector:
            for connection in connections:
                selector.register(connection, selectors.EVENT_READ)
            selector.select(wait)
        if self.stop():
            raise KeyboardInterrupt

    def _look(self, until: float | None) -> None:
        alive = [worker.connection for worker in self._workers.values() if not worker.inbox.closed]
        self._pause([*self.starter.connections(), *alive], until)

    def _arrived(self, *, late: bool) -> list[tuple[_Worker, Answer]]:
        self._statuses |= self.starter.ended()
        found: list[tuple[_Worker, Answer]] = []
        for worker in list(self._workers.values()):
            how = _words(self._statuses[worker.number]) if worker.number in self._statuses else None
            try:
                arrived = worker.inbox.messages()
            except messages.NoiseError:
                arrived, how = [], "wrote to the connection with the process that started it"
            answer = next((answer_from(*rest) for token, *rest in arrived if token == worker.token), None)
            if answer is None and how is None and worker.inbox.closed:
                how = self._how_it_ended(worker.number)
            if answer is None and how is not None:
                answer = Ended(how)
            elif answer is None and late:
                answer = Overdue()
            if how is not None or isinstance(answer, Overdue):
                self._dismiss(worker)
            if worker.request is not None and answer is not None:
                found.append((worker, answer))
        return found

    def _how_it_ended(self, number: int) -> str:
        # The exit status of a process that ended comes just after the end of its connection.
        limit = time.monotonic() + _SECONDS_TO_END
        while number not in self._statuses and time.monotonic() < limit:
            time.sleep(0.01)
            self._statuses |= self.starter.ended()
        return _words(self._statuses[number]) if number in self._statuses else "closed its connection"

    def _dismiss(self, worker: _Worker) -> None:
        self._workers.pop(worker.number, None)
        self._statuses.pop(worker.number, None)
        self.starter.end(worker.number)
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


def answer_from(what: str, value: Any) -> Answer:
    """Return the answer that a process has described by a word and what belongs to it."""
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
