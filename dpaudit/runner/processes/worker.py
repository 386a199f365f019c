"""A worker: a process of its own that does what it is asked, one request after another, until its parent ends."""

from __future__ import annotations

import gc
import importlib
import io
import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from dpaudit.errors import DpauditError
from dpaudit.runner.processes import messages

ENDED_WITH_PARENT = 3
"""Exit status of a worker whose parent has gone."""

_TRIES = 10
"""How often a worker tries to give its session the niceness of the command. Chosen by hand: a second at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a worker shares with its parent, as far as a target may depend on it.

    Attributes
    ----------
    path
        Where modules are found.
    folder
        The current folder; None where it was deleted.
    environment
        Environment variables.
    """

    path: list[str] = field(default_factory=lambda: absolute_path())
    folder: str | None = field(default_factory=lambda: _current_folder())
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def enter(self) -> None:
        """Make them this process's."""
        sys.path[:] = self.path
        forget_places()
        os.environ.clear()
        os.environ.update(self.environment)
        self._return_to_folder()

    def restore(self) -> None:
        """Undo what a target may have changed for the requests after it."""
        self._return_to_folder()
        sys.setrecursionlimit(_RECURSION_LIMIT)

    def _return_to_folder(self) -> None:
        if self.folder is not None:
            os.chdir(self.folder)


_RECURSION_LIMIT = sys.getrecursionlimit()


def forget_places() -> None:
    """Forget what is known of the folders in which modules are found."""
    importlib.invalidate_caches()
    sys.path_importer_cache.clear()


class _Streams:
    """Standard output and standard error, both where standard error goes: output is the record's alone."""

    def __init__(self) -> None:
        self._spare = os.dup(2)
        self.open()

    def open(self) -> None:
        """Open them, whatever a target has done to them."""
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(self._spare, number)
            stream = io.TextIOWrapper(
                io.FileIO(number, "w", closefd=False), encoding="utf-8", errors="backslashreplace", line_buffering=True
            )
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)

    def renew(self) -> None:
        """Flush them, and open them again."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        self.open()


def absolute_path() -> list[str]:
    """Return where modules are found, in a form that means the same from every folder but for the current one."""
    here = _current_folder()
    return [each if not each or here is None else str(Path(here, each)) for each in sys.path]


def _current_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


class Host:
    """What a process does around loading targets for others, which are its copies."""

    def __init__(self, circumstances: Circumstances) -> None:
        self._circumstances, self._streams = circumstances, _begin(circumstances)

    def load(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Call what loads a target; what it raises, a copy meets again."""
        with suppress(BaseException):
            function(*arguments)
        self._streams.renew()
        self._circumstances.restore()
        # Every copy forgets them, and what it frees of its parent's memory is copied first.
        forget_places()
        # Collecting what copies share would copy it.
        gc.collect()
        gc.freeze()


def serve(connection: socket.socket, circumstances: Circumstances, done: Callable[[], None] | None = None) -> NoReturn:
    """Answer requests until the parent ends, and then end, whatever is running; call ``done`` before each answer."""
    # An interrupt is the parent's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _be_as_nice_as_the_parent()
    streams = _begin(circumstances)
    _seed_afresh()
    owner = os.getpid()
    requests: queue.SimpleQueue[tuple[str, Callable[..., Any], tuple[Any, ...]]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, requests), daemon=True).start()
    while True:
        token, function, arguments = requests.get()
        answer = answer_to(function, arguments)
        if os.getpid() != owner:
            # The target made a copy of this process, which has no business here.
            os._exit(0)
        try:
            if done is not None:
                done()
            messages.send_checked(connection, token, answer)
            streams.renew()
            circumstances.restore()
        except BaseException:
            # What was asked for is lost, and the parent says so.
            os._exit(1)


def _be_as_nice_as_the_parent() -> None:
    """Give way to others, in a session of its own, where the parent does.

    Linux shares processors among sessions first, so that `nice` alone would count within this one only (sched(7)).
    """
    niceness = os.nice(0) if hasattr(os, "nice") else 0
    for _ in range(_TRIES if niceness > 0 else 0):
        try:
            with Path("/proc/self/autogroup").open("w", encoding="ascii") as setting:
                setting.write(str(niceness))
        except BlockingIOError:
            # A user may do this once in a tenth of a second, in all processes together.
            time.sleep(0.1)
        except OSError:
            return
        else:
            return


def _begin(circumstances: Circumstances) -> _Streams:
    streams = _Streams()
    global _hooked
    if hasattr(os, "register_at_fork") and not _hooked:
        os.register_at_fork(after_in_child=_end_when_it_returns)
        _hooked = True
    circumstances.enter()
    return streams


_hooked = False
_copies_itself = False


@contextmanager
def own_copy() -> Iterator[None]:
    """Mark a copy of this process as its own doing, and not a target's."""
    global _copies_itself
    _copies_itself = True
    try:
        yield
    finally:
        _copies_itself = False


def _listen(connection: socket.socket, requests: queue.SimpleQueue[Any]) -> None:
    try:
        while True:
            requests.put(messages.receive(connection))
    except BaseException:
        # What this process started ends with it; who would end its group may have gone with the parent.
        if hasattr(os, "getsid") and os.getsid(0) == os.getpid():
            with suppress(OSError):
                os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(ENDED_WITH_PARENT)


def answer_to(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    """Call a function; return what became of that, for `answer_from`."""
    try:
        return "finished", function(*arguments)
    except DpauditError as error:
        cause = error.__cause__
        trace = "" if cause is None else "".join(traceback.format_exception(cause))
        # A target may have a subclass of its own.
        known = next(each for each in type(error).__mro__ if each.__module__ == DpauditError.__module__)
        return "refused", (known, str(error), trace)
    except BaseException as error:
        return "raised", (f"{type(error).__name__}: {error}", traceback.format_exc())


def _end_when_it_returns() -> None:
    """Let a copy of this process that a target makes end before it goes on with the audit and copies itself again."""
    if _copies_itself:
        return
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__") in _ENDS_BY_ITSELF:
            return
        frame = frame.f_back

    def look(frame: FrameType, event: str, _value: Any) -> None:
        caller = frame.f_back
        if event == "return" and caller and str(caller.f_globals.get("__name__")).startswith("dpaudit."):
            os._exit(0)

    sys.setprofile(look)


_ENDS_BY_ITSELF = ("multiprocessing.popen_fork", "multiprocessing.forkserver")


def _seed_afresh() -> None:
    # Copies of one process would draw equal numbers from the generator that code without one of its own shares.
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def main() -> NoReturn:
    """Serve the connection whose description standard input holds: where processes cannot be copied."""
    described = sys.stdin.buffer.read()
    if sys.platform == "win32":
        connection = socket.fromshare(described)
    else:
        connection = socket.socket(fileno=int(described))
    serve(connection, messages.receive(connection)[0])


if __name__ == "__main__":
    main()
