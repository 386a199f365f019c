"""Starting workers: as copies of a process that has the libraries loaded, or as new interpreters."""

from __future__ import annotations

import array
import atexit
import errno
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, ClassVar, Final

from dpaudit.runner.processes import messages
from dpaudit.runner.processes.worker import Circumstances, absolute_path

# Copying a process is safe where the system's own libraries allow it; on macOS and Windows they do not.
CAN_COPY: Final = sys.platform == "linux"

PRELOADED: Final = (
    "dpaudit.auditors.audit",
    "dpaudit.runner.prepare",
    "dpaudit.runner.verify",
    "dpaudit.registry.catalogue",
    "pydantic.main",
    "scipy.special",
    "threadpoolctl",
)
"""What every worker needs; no target is among them."""

_SECONDS_TO_END = 10.0

_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""How many threads numerical libraries start. Workers run beside each other, so each has one, unless the user asks for
more by these variables."""

_HASHES: Final = {"PYTHONHASHSEED": "0"}
"""What decides the order in which a target goes through a set of texts: equal seeds are to give equal records."""

_MEMORY: Final = {"MALLOC_MMAP_THRESHOLD_": str(1 << 26), "MALLOC_TRIM_THRESHOLD_": str(1 << 28)}
"""Up to what size glibc keeps the memory of arrays that were freed, and how much of it, in bytes, for arrays to come.

Without it the system clears the same pages for one array after another. A worker serves one request and ends. As of
threads, what the user sets counts, and targets see only that.
"""


class Starter(ABC):
    """Starts workers, ends them, and knows how they ended."""

    isolates: ClassVar[bool] = False
    """Whether a worker is cheap enough to serve one request only."""

    @abstractmethod
    def start(self) -> tuple[int, socket.socket]:
        """Start a worker; return its number and the connection to it.

        Raises
        ------
        OSError
            No process can be started.
        """

    @abstractmethod
    def end(self, worker: int) -> None:
        """End a worker and what it started."""

    @abstractmethod
    def ended(self) -> dict[int, int]:
        """Exit statuses, since the last call, of workers that ended; negative for the number of a signal."""

    @abstractmethod
    def connections(self) -> list[socket.socket]:
        """Connections on which there is something to read when a worker ended."""

    @abstractmethod
    def close(self) -> None:
        """End all workers."""

    def load(self, call: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:  # noqa: B027 - nothing is to be done where workers share nothing
        """Begin to load a target for the workers to come, where they can share that."""

    def loaded(self) -> bool:
        """Whether loading has ended."""
        return True

    def host_ended(self) -> int | None:
        """Exit status of what loads targets, where it has ended since it was started; then forget it."""
        return None

    def end_host(self) -> None:  # noqa: B027 - nothing is to be done where workers share nothing
        """End what loads targets."""

    def reset(self) -> None:  # noqa: B027 - nothing is to be done where workers share nothing
        """Forget what was loaded."""


class _Server:
    """A fork server as its parent sees it.

    Parameters
    ----------
    control
        The connection to it.
    """

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self._inbox = messages.Inbox(control)
        self._forked: list[tuple[int, int]] = []
        self._ended: dict[int, int] = {}
        self._loaded: list[bool] = []
        _CONTROLS.add(self)

    @property
    def gone(self) -> bool:
        """Whether it has ended."""
        return self._inbox.closed

    def fork(self, *, hosts: bool) -> tuple[int, socket.socket]:
        """Make a copy; return its number and the connection to it."""
        ours, theirs = socket.socketpair()
        with ExitStack() as stack:
            stack.callback(ours.close)
            with theirs, Path(os.devnull).open("wb") as nothing:
                errors = _standard_error()
                given = nothing.fileno() if errors == subprocess.DEVNULL else errors
                numbers = array.array("i", [theirs.fileno(), given])
                self.control.sendmsg([b"f"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
                self._wait_until(lambda: bool(self._forked))
            worker, problem = self._forked.pop()
            if problem:
                raise OSError(problem, os.strerror(problem))
            messages.send(ours, (Circumstances(), hosts))
            stack.pop_all()
        return worker, ours

    def end(self, worker: int) -> None:
        """End a copy, with what it started."""
        with suppress(OSError):
            self.control.sendall(b"k")
            messages.send(self.control, worker)

    def load(self, call: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
        """Ask it to call what loads a target; `loaded` tells when it has."""
        self.control.sendall(b"l")
        messages.send(self.control, call)

    def loaded(self) -> bool | None:
        """Whether it may be copied after what it loaded; None where it has not finished."""
        self.read()
        return self._loaded.pop() if self._loaded else None

    def ended(self) -> dict[int, int]:
        """Exit statuses of copies that ended since the last call."""
        self.read()
        found, self._ended = self._ended, {}
        return found

    def read(self) -> None:
        """Take what it told."""
        try:
            told = self._inbox.messages()
        except messages.NoiseError:
            self._inbox.closed = True
            return
        for kind, number, status in told:
            if kind == "ended":
                self._ended[number] = status
            elif kind == "loaded":
                self._loaded.append(bool(status))
            else:
                self._forked.append((number, 0) if kind == "forked" else (0, number))

    def _wait_until(self, holds: Callable[[], bool]) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self.control, selectors.EVENT_READ)
            while True:
                self.read()
                if holds():
                    return
                if self.gone:
                    raise OSError(errno.EPIPE, "the process that starts workers ended")
                selector.select()


class Copies(Starter):
    """Workers that are copies of a host, which has loaded the targets; it is a copy of a server that is kept."""

    isolates = True

    def __init__(self) -> None:
        from dpaudit.runner.processes.forkserver import arguments_of

        self._owner = os.getpid()
        control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
                arguments_of(theirs.fileno(), list(PRELOADED)),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=_standard_error(),
                stderr=_standard_error(),
                cwd=Path(sys.executable).parent,
                env=dict.fromkeys(_THREADS, "1") | _MEMORY | _HASHES | dict(os.environ),
                start_new_session=True,
            )
        self._server = _Server(control)
        self._host: _Server | None = None
        self._host_number = 0
        self._makers: dict[int, _Server] = {}
        self._copied = True

    @property
    def usable(self) -> bool:
        """Whether the server still is there, and is this process's own."""
        return self._owner == os.getpid() and not self._server.gone and self._process.poll() is None

    def start(self) -> tuple[int, socket.socket]:
        maker = self._present_host() if self._copied else self._server
        worker, connection = maker.fork(hosts=False)
        self._makers[worker] = maker
        return worker, connection

    def _present_host(self) -> _Server:
        if self._host is None or self._host.gone:
            self._host_number, control = self._server.fork(hosts=True)
            self._host = _Server(control)
        return self._host

    def load(self, call: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
        if self._copied:
            self._present_host().load(call)

    def loaded(self) -> bool:
        if not self._copied or self._host is None or self._host.gone:
            return True
        copied = self._host.loaded()
        if copied is not None:
            # A worker has to load its target itself where a copy of what loaded it would not work.
            self._copied = copied
        return copied is not None

    def host_ended(self) -> int | None:
        if self._host is None or not self._host.gone:
            return None
        self._host.control.close()
        self._host = None
        limit = time.monotonic() + _SECONDS_TO_END
        while time.monotonic() < limit and not self._server.gone:
            statuses = self._server.ended()
            if self._host_number in statuses:
                return statuses[self._host_number]
            time.sleep(0.01)
        return -signal.SIGKILL

    def end(self, worker: int) -> None:
        maker = self._makers.pop(worker, None)
        if maker is not None:
            maker.end(worker)

    def end_host(self) -> None:
        if self._host is not None:
            self._server.end(self._host_number)
            self._host.control.close()
            self._host = None

    def ended(self) -> dict[int, int]:
        found = {} if self._host is None else self._host.ended()
        return found if self._copied else found | self._server.ended()

    def connections(self) -> list[socket.socket]:
        servers = [self._host] if self._copied else [self._host, self._server]
        return [each.control for each in servers if each is not None and not each.gone]

    def reset(self) -> None:
        self.end_host()
        self._makers.clear()
        self._copied = True

    def close(self) -> None:
        if self._owner != os.getpid():
            return
        self.end_host()
        self._server.control.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)


_CONTROLS: weakref.WeakSet[_Server] = weakref.WeakSet()


def _forget() -> None:
    """Leave the servers of the parent to it: they end when nobody holds the connection any more."""
    for each in list(_CONTROLS):
        each.control.close()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class Spawned(Starter):
    """Workers that are new interpreters."""

    def __init__(self) -> None:
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - this very interpreter
                [sys.executable, "-P", "-c", _WORKER, repr(absolute_path())],
                stdin=subprocess.PIPE,
                stdout=_standard_error(),
                stderr=_standard_error(),
                env=dict.fromkeys(_THREADS, "1") | _HASHES | dict(os.environ),
                start_new_session=True,
                pass_fds=[] if sys.platform == "win32" else [theirs.fileno()],
            )
            assert process.stdin is not None
            with process.stdin:
                if sys.platform == "win32":
                    process.stdin.write(theirs.share(process.pid))
                else:
                    process.stdin.write(str(theirs.fileno()).encode())
        self._processes[process.pid] = process
        messages.send(ours, (Circumstances(), False))
        return process.pid, ours

    def end(self, worker: int) -> None:
        process = self._processes.get(worker)
        if process is not None:
            with suppress(ProcessLookupError, PermissionError, AttributeError):
                os.killpg(worker, signal.SIGKILL)
            process.kill()

    def ended(self) -> dict[int, int]:
        found = {}
        for worker, process in list(self._processes.items()):
            status = process.poll()
            if status is not None:
                found[worker] = status
                del self._processes[worker]
        return found

    def connections(self) -> list[socket.socket]:
        return []

    def close(self) -> None:
        for worker, process in list(self._processes.items()):
            self.end(worker)
            process.wait()
        self._processes.clear()


_WORKER = (
    "import sys; sys.path[:] = eval(sys.argv[1]); sys.argv[1:] = []; "
    "from dpaudit.runner.processes.worker import main; main()"
)

_idle: list[Copies] = []


def take() -> Starter:
    """Return a starter of workers that nobody else uses; a fork server is used again."""
    if not CAN_COPY:
        return Spawned()
    while _idle:
        found = _idle.pop()
        if found.usable:
            return found
        found.close()
    return Copies()


def give_back(starter: Starter) -> None:
    """Take back a starter all of whose workers have been told to end."""
    if isinstance(starter, Copies) and starter.usable:
        starter.reset()
        _idle.append(starter)
    else:
        starter.close()


@atexit.register
def _close_all() -> None:
    while _idle:
        _idle.pop().close()


def _standard_error() -> int:
    """Descriptor of standard error; of nothing where it is closed."""
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2
