"""Processes that make others by copying themselves, which takes milliseconds.

A *fork server* has the libraries loaded and no target. It is kept, and copies itself for every run into a *host*, which
is a fork server too: it loads the targets of the run, and copies itself for every cell into a worker. So targets and
data are loaded once, and no cell sees what another did. Each ends when its parent does, and what it made ends with it.
"""

from __future__ import annotations

import array
import gc
import os
import selectors
import signal
import socket
import sys
import sysconfig
import threading
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import numpy as np

from dpaudit.runner.processes import messages
from dpaudit.runner.processes.worker import Host, absolute_path, forget_places, own_copy, serve

FORK = b"f"
KILL = b"k"
LOAD = b"l"

_SHARED = ("scipy.integrate", "scipy.optimize", "scipy.sparse", "scipy.stats", "sklearn.ensemble")
"""What some audits load, for up to a second. Once a worker has loaded it, so does what copies itself into the next."""

_INSTALLED = frozenset(
    [*sysconfig.get_paths().values(), sysconfig.get_config_var("DESTSHARED"), str(Path(np.__file__).parent.parent)]
)
"""Where the standard library and libraries are."""

_NOT_TO_BE_COPIED = ("jax", "jaxlib", "tensorflow")
"""Libraries that start threads of their own which a copy lacks and waits for."""


class _Server:
    """Copies itself on request, ends workers on request, and tells how they ended."""

    def __init__(self, control: socket.socket, host: Host | None = None) -> None:
        self._control, self._host = control, host
        self._workers: set[int] = set()
        self._wake, self._signalled = socket.socketpair()
        for each in (self._wake, self._signalled):
            each.setblocking(False)
        # A pipe, which no worker can shut for the others.
        self._wishes, self._wishing = os.pipe()
        for number in (self._wishes, self._wishing):
            os.set_blocking(number, False)
        self._arm()

    def _arm(self) -> None:
        signal.set_wakeup_fd(self._signalled.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # They are the parent's to handle, with whom this process ends.
            signal.signal(number, signal.SIG_IGN)

    def run(self) -> NoReturn:
        """Serve until the parent ends."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            selector.register(self._wishes, selectors.EVENT_READ)
            with suppress(OSError):
                while True:
                    ready = {key.fileobj for key, _ in selector.select()}
                    if self._wake in ready:
                        with suppress(BlockingIOError):
                            self._wake.recv(4096)
                    self._bury()
                    if self._wishes in ready:
                        with suppress(BlockingIOError):
                            _share(os.read(self._wishes, 4096))
                    if self._control in ready and not self._obey():
                        break
        for worker in self._workers:
            _end(worker)
        os._exit(0)

    def _obey(self) -> bool:
        room = socket.CMSG_SPACE(2 * array.array("i").itemsize)
        command, extra, _, _ = self._control.recvmsg(1, room)
        if command == FORK:
            descriptors = array.array("i")
            for _, _, content in extra:
                descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
            self._fork(*descriptors)
        elif command == KILL:
            worker = messages.receive(self._control)
            if worker in self._workers:
                _end(worker)
        elif command == LOAD:
            assert self._host is not None
            before = _threads()
            self._host.load(*messages.receive(self._control))
            self._arm()
            # OpenMP and others keep threads that a copy lacks, once they have computed.
            copied = _threads() <= before and not any(name in sys.modules for name in _NOT_TO_BE_COPIED)
            messages.send(self._control, ("loaded", 0, int(copied)))
        return bool(command)

    def _fork(self, connection: int, errors: int) -> None:
        try:
            with warnings.catch_warnings(), own_copy():
                # The threads of numerical libraries know what to do; there are no others.
                warnings.simplefilter("ignore", DeprecationWarning)
                worker = os.fork()
        except OSError as error:
            worker = -1
            messages.send(self._control, ("failed", error.errno or 0, 0))
        if worker == 0:
            try:
                self._become_worker(connection, errors)
            finally:
                os._exit(1)
        for each in (connection, errors):
            os.close(each)
        if worker > 0:
            self._workers.add(worker)
            messages.send(self._control, ("forked", worker, 0))

    def _become_worker(self, connection: int, errors: int) -> NoReturn:
        # What a worker starts ends with it, by its group.
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        for each in (self._control, self._wake, self._signalled):
            each.close()
        os.close(self._wishes)
        os.dup2(errors, 2)
        os.close(errors)
        own = socket.socket(fileno=connection)
        circumstances, hosts = messages.receive(own)
        if hosts:
            os.close(self._wishing)
            _Server(own, Host(circumstances)).run()
        serve(own, circumstances, _Wishes(self._wishing))

    def _bury(self) -> None:
        """Tell of workers that ended, once what they started has ended too."""
        while self._workers:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return
            _end(ended.si_pid)
            _, status = os.waitpid(ended.si_pid, 0)
            self._workers.discard(ended.si_pid)
            messages.send(self._control, ("ended", ended.si_pid, os.waitstatus_to_exitcode(status)))


class _Wishes:
    """Tells what copied itself into this worker which of the shared libraries it lacked."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._known = self._loaded()

    def __call__(self) -> None:
        """Tell of what was loaded since the last call."""
        lacked = self._loaded() - self._known
        self._known |= lacked
        if lacked:
            with suppress(OSError):
                os.write(self._pipe, bytes(sorted(lacked)))

    def _loaded(self) -> set[int]:
        # A module of the target's own that has such a name is its own affair.
        return {
            number
            for number, name in enumerate(_SHARED)
            if name in sys.modules and _is_installed(name.partition(".")[0])
        }


def _share(numbers: bytes) -> None:
    """Load libraries that a worker lacked; a target may have written the numbers too."""
    lacked = [_SHARED[number] for number in set(numbers) if number < len(_SHARED)]
    lacked = [name for name in lacked if name not in sys.modules and _is_installed(name.partition(".")[0])]
    if not lacked:
        return
    path = sys.path[:]
    # Of a folder that has modules of the same names, nothing is run here, where it would be run for all cells.
    sys.path[:] = [each for each in path if each in _INSTALLED]
    try:
        for name in lacked:
            with suppress(BaseException):
                import_module(name)
    finally:
        sys.path[:] = path
    _settle()


def _settle() -> None:
    """Make ready for copies: what they would change or free of what they share with this process is copied for them."""
    forget_places()
    gc.collect()
    gc.freeze()


def _is_installed(package: str) -> bool:
    """Whether a package stands among the libraries, or has not been loaded from elsewhere."""
    loaded = sys.modules.get(package)
    return loaded is None or str(Path(getattr(loaded, "__file__", None) or "").parent.parent) in _INSTALLED


def _threads() -> int:
    """How many threads this process has, those of libraries among them where the system tells."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def _end(worker: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.kill(worker, signal.SIGKILL)


def main(control: int, preload: list[str]) -> NoReturn:
    """Load modules and serve the parent at the other end of a connection."""
    for name in preload:
        import_module(name)
    _settle()
    _Server(socket.socket(fileno=control)).run()


def arguments_of(control: int, preload: list[str]) -> list[str]:
    """Return the command that starts a server on a descriptor."""
    code = (
        "import sys; sys.path[:] = eval(sys.argv[1]); "
        f"from {__name__} import main; main(int(sys.argv[2]), sys.argv[3:])"
    )
    return [sys.executable, "-P", "-c", code, repr(absolute_path()), str(control), *preload]
