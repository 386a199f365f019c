"""Starting workers: as copies of a process that has the libraries loaded, or as new interpreters."""

from __future__ import annotations

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dpaudit.runner.processes import messages

# Copying a process is safe where the system's own libraries allow it; on macOS and Windows they do not.
CAN_COPY: Final = sys.platform == "linux"

PRELOADED: Final = ("dpaudit.runner.prepare", "dpaudit.runner.verify", "dpaudit.registry.catalogue")
"""What every worker needs; no target is among them."""

_SECONDS_TO_END = 10.0


class Starter(ABC):
    """Starts workers, ends them, and knows how they ended."""

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


class Copies(Starter):
    """Workers that are copies of a fork server, which is kept for the life of this process."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._control, theirs = socket.socketpair()
        with theirs:
            from dpaudit.runner.processes.forkserver import arguments_of

            self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
                arguments_of(theirs.fileno(), list(PRELOADED)),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=_standard_error(),
                stderr=_standard_error(),
                cwd=Path(sys.executable).parent,
                start_new_session=True,
            )
        self._inbox = messages.Inbox(self._control)
        self._alive: set[int] = set()
        self._ended: dict[int, int] = {}

    @property
    def usable(self) -> bool:
        """Whether the server still is there, and is this process's own."""
        return self._owner == os.getpid() and not self._inbox.closed and self._process.poll() is None

    def start(self) -> tuple[int, socket.socket]:
        from dpaudit.runner.processes.forkserver import send_with_descriptors

        ours, theirs = socket.socketpair()
        with theirs, Path(os.devnull).open("wb") as nothing:
            errors = _standard_error()
            given = nothing.fileno() if errors == subprocess.DEVNULL else errors
            send_with_descriptors(self._control, [theirs.fileno(), given])
            worker = self._next_forked()
        self._alive.add(worker)
        return worker, ours

    def _next_forked(self) -> int:
        while True:
            for kind, worker, status in self._read():
                if kind == "forked":
                    return worker
                self._ended[worker] = status
            if self._inbox.closed:
                raise OSError("the process that starts workers ended")
            select.select([self._control], [], [])

    def _read(self) -> list[tuple[str, int, int]]:
        try:
            found: list[Any] = self._inbox.messages()
        except messages.NoiseError:
            self._inbox.closed = True
            return []
        return found

    def end(self, worker: int) -> None:
        if worker in self._alive:
            with suppress(OSError):
                self._control.sendall(b"k")
                messages.send(self._control, worker)

    def ended(self) -> dict[int, int]:
        found, self._ended = self._ended, {}
        found.update((worker, status) for _, worker, status in self._read())
        if self._inbox.closed:
            found.update((worker, -signal.SIGKILL) for worker in self._alive if worker not in found)
        self._alive -= set(found)
        return found

    def connections(self) -> list[socket.socket]:
        return [] if self._inbox.closed else [self._control]

    def close(self) -> None:
        if self._owner != os.getpid():
            return
        self._control.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)


class Spawned(Starter):
    """Workers that are new interpreters."""

    def __init__(self) -> None:
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - this very interpreter
                [sys.executable, "-P", "-c", _WORKER, repr(sys.path)],
                stdin=subprocess.PIPE,
                stdout=_standard_error(),
                stderr=_standard_error(),
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
