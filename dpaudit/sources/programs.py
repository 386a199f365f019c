"""A program that runs beside this process: bytes go in, bytes come out, nothing waits for ever, and it ends with us."""

from __future__ import annotations

import math
import os
import selectors
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import NoReturn

from dpaudit.errors import CheckError, DpauditError, ParameterError, TargetError, TargetRaisedError
from dpaudit.reading import MEBIBYTE, shortened

_BLOCK = MEBIBYTE
_TAIL = 4096
"""Bytes of standard error that are kept, the last ones."""

_SHOWN_LINES, _SHOWN = 5, 1000
_SECONDS_TO_END = 2.0
_SECONDS_TO_FLUSH = 0.5
"""Seconds in which a program shows what was in its buffer, where the time is over. Chosen by hand: an interpreter ends
in a tenth of it."""

_SILENCE = 1.0
"""Seconds without a byte after which a program that has begun an answer when the time is over is taken to hang, and not
to be slower than before. Chosen by hand: what answers in parts writes them more often."""

_LOOK = 0.2
"""Seconds after which it is looked whether a program that writes nothing has ended."""

_BEFORE_FIRST = "before its first line"

_LONGEST_LINE = 16 * MEBIBYTE
_LARGEST_TEXT = 1024 * MEBIBYTE

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)


class LateAnswerError(TargetRaisedError):
    """The time for the audit was over while a program, which had answered before, was still writing an answer."""


@contextmanager
def answering_by(deadline: float | None) -> Iterator[None]:
    """Let nothing be waited for long beyond a deadline, of programs that hang.

    A program that has answered before may only be slow: the answer under way is waited for as long as its answers so
    far make likely.

    Parameters
    ----------
    deadline
        In seconds since the epoch; None for no limit.
    """
    token = _DEADLINE.set(math.inf if deadline is None else deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def located(words: Sequence[str], folder: Path) -> Path:
    """File that the first word of a command means.

    Raises
    ------
    TargetError
        It is not there, or cannot be executed.
    """
    word = words[0]
    if os.sep not in word:
        found = which(word)
        if found is None:
            beside = f"; the file beside it is called ./{word}" if (folder / word).is_file() else ""
            raise TargetError(f"command {word!r}: there is no such program on the PATH{beside}")
        return Path(found)
    path = folder / word
    if not path.exists():
        raise TargetError(f"command {word!r}: there is no such file in {folder}; build it, or mend the path")
    if not path.is_file():
        raise TargetError(f"command {word!r}: it is not a file; name the program")
    if not os.access(path, os.X_OK):
        raise TargetError(f"command {word!r}: the file is not executable; chmod +x it, or name its interpreter first")
    return path


@dataclass(slots=True, kw_only=True)
class _State:
    """What ends a program; apart from the program, so that it can be called when that is gone."""

    process: subprocess.Popen[bytes]
    owner: int
    grouped: bool

    def end(self, patience: float = _SECONDS_TO_END) -> None:
        """Close what it reads, give it a moment to end by itself, and then end it with what it started."""
        if os.getpid() != self.owner:
            return  # a copy of the process that started it
        process = self.process
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        limit = time.monotonic() + patience
        # It is not reaped before its group is ended: until then nothing else can have the number of the group.
        while process.returncode is None and not _has_ended(process.pid) and time.monotonic() < limit:
            time.sleep(0.002)
        if process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                if self.grouped:
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_SECONDS_TO_END)


class Program:
    """A running program, with what it wrote and has not been read.

    Parameters
    ----------
    name
        What messages begin with.
    words, folder
        The command, and the folder that it runs in.
    timeout
        Seconds without a byte after which it is taken to hang.

    Attributes
    ----------
    doing
        What it is doing, for messages: ``in its answer to request 3``.
    patience
        Seconds after a request for which it is waited for although the time for the audit is over; None where it has
        not answered before.

    Raises
    ------
    TargetError
        It cannot be started.

    Notes
    -----
    One loop writes, reads and drains standard error, so that no pipe fills up while another is waited for.
    """

    def __init__(self, name: str, words: Sequence[str], folder: Path, timeout: float) -> None:
        if sys.platform == "win32":
            raise ParameterError(f"{name}: commands need pipes that can be waited for; audit them on Linux or macOS")
        self._name, self._timeout = name, timeout
        self._input, self._ended = bytearray(), False
        self._output = memoryview(b"")
        self._tail = bytearray()
        self.doing = _BEFORE_FIRST
        self.patience: float | None = None
        self._since = self._spoke = time.monotonic()
        self._heard = False
        # What a worker starts ends with the worker, by its group; elsewhere the program leads a group of its own.
        grouped = os.getsid(0) != os.getpid()
        program = located(words, folder)
        try:
            process = subprocess.Popen(  # noqa: S603 - to run it is what the user asks for
                list(words),
                executable=program,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                process_group=0 if grouped else None,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise TargetError(
                f"{name}: the command {words[0]!r} cannot be started ({why}); a script needs a first line such as "
                "#!/usr/bin/env python3"
            ) from None
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process, self._stdin = process, process.stdin
        self._out, self._err = process.stdout.fileno(), process.stderr.fileno()
        self._selector = selectors.DefaultSelector()
        for number in (self._stdin.fileno(), self._out, self._err):
            os.set_blocking(number, False)
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)
        _widen(self._out)
        self._state = _State(process=process, owner=os.getpid(), grouped=grouped)
        self._finalizer = weakref.finalize(self, self._state.end)

    @property
    def owned(self) -> bool:
        """Whether this process started it, and is no copy of the one that did."""
        return self._state.owner == os.getpid()

    def end(self, patience: float = _SECONDS_TO_END) -> None:
        """End it with what it started."""
        if self._finalizer.detach() is not None:
            self._selector.close()
            self._state.end(patience)

    # Asking.

    def send(self, request: bytes, doing: str) -> None:
        """Begin to write a request; reading the answer goes on with it.

        Parameters
        ----------
        request
            The line.
        doing
            What it is doing then.
        """
        self.check_silent()
        if self._ended:
            self.gone()
        if self._output:
            self.fail(f"answered before it had read the whole request {self.doing}; read one line, and then answer it")
        self.doing = doing
        self._since, self._heard = time.monotonic(), False
        self._output = memoryview(request)
        self._selector.register(self._stdin.fileno(), selectors.EVENT_WRITE)

    def check_silent(self) -> None:
        """Raise CheckError where there is something to read that nobody asked for."""
        self._look()
        if self._input:
            line = bytes(self._input[:200]).split(b"\n")[0]
            self.fail(
                f"wrote more than it was asked for {self.doing}, beginning with {_text(line)}; answer with exactly "
                "`size` outputs, and with nothing between two answers"
            )

    def hang_up(self) -> None:
        """Close its standard input, after what is still to be written."""
        while self._output and not self._ended:
            self._pump()
        self._since = time.monotonic()
        with suppress(OSError, KeyError, ValueError):
            self._selector.unregister(self._stdin.fileno())
        with suppress(OSError):
            self._stdin.close()

    def finish(self) -> None:
        """Wait for the end of a program that was hung up.

        Raises
        ------
        DpauditError
            It writes something, does not end, or ends with another exit status than 0.
        """
        self.check_silent()
        while not self._ended:
            self._pump("does not end when its standard input ends; end there")
            self.check_silent()
        self.doing = "after its standard input had ended"
        status = self._status()
        if status != 0:
            self.gone()
        self.end()

    # Reading.

    def line(self, longest: int = _LONGEST_LINE) -> bytes:
        """Return the next line, without its end."""
        return self.lines(1, longest)[:-1]

    def lines(self, count: int, longest: int = _LONGEST_LINE) -> bytes:
        """Return that many lines, each with its end."""
        seen = position = 0
        while True:
            found = self._input.count(b"\n", position)
            if seen + found >= count:
                break
            seen += found
            position = len(self._input)
            last = self._input.rfind(b"\n") + 1
            if position - last > longest or position > _LARGEST_TEXT:
                start = _text(bytes(self._input[last : last + 80]))
                self.fail(f"wrote a line without an end {self.doing} (line {seen + 1}, which begins with {start})")
            self._read_more(f"line {seen + 1} of {count}")
        for _ in range(count - seen):
            position = self._input.index(b"\n", position) + 1
        return self._taken(position)

    def exactly(self, size: int) -> bytes:
        """Return that many bytes."""
        while len(self._input) < size:
            self._read_more(f"byte {len(self._input)} of {size}")
        return self._taken(size)

    def into(self, room: memoryview) -> None:
        """Fill a buffer."""
        have = min(len(self._input), len(room))
        room[:have] = self._taken(have)
        while have < len(room):
            have += self._pump(room=room[have:], where=f"byte {have} of {len(room)}")
            if self._ended and have < len(room):
                self.gone(f"byte {have} of {len(room)}")

    def _taken(self, size: int) -> bytes:
        taken = bytes(self._input[:size])
        del self._input[:size]
        return taken

    def _read_more(self, where: str) -> None:
        if self._ended:
            self.gone(where)
        self._pump(where=where)

    # Waiting.

    def _look(self) -> None:
        """Read what is there already, without waiting."""
        while not self._ended and self._step(0.0):
            if len(self._input) > _BLOCK:
                return

    def _pump(self, late: str = "", *, where: str = "", room: memoryview | None = None) -> int:
        """Wait until there is something to read, or the end of it; return how many bytes went into the room."""
        limit = time.monotonic() + self._timeout
        last = self._last(closing=bool(late))
        before, left = len(self._input), len(self._output)
        while not self._ended:
            got = self._step(max(0.0, min(_LOOK, min(limit, last) - time.monotonic())), room)
            if got is None and _has_ended(self._process.pid):
                got = self._step(0.0, room)
                # What it started may still hold its output open.
                self._ended |= got is None
            if got is not None and (got or len(self._input) > before):
                return got
            if len(self._output) < left:
                left, limit = len(self._output), time.monotonic() + self._timeout
                if not left:
                    return 0
            if not self._ended and time.monotonic() >= min(limit, last):
                self._overdue(late, where, out_of_time=last < limit)
        return 0

    def _last(self, *, closing: bool) -> float:
        """Time until which it is waited for because of the deadline; infinite where its first answer is under way."""
        if self.patience is None and self._heard and self.doing != _BEFORE_FIRST and not closing:
            return math.inf
        # However late it was asked, it has a moment to answer.
        moment = _SECONDS_TO_END if closing else max(_SECONDS_TO_END, self.patience or 0.0)
        return max(time.monotonic() + (_DEADLINE.get() - time.time()), self._since + moment)

    def _step(self, wait: float, room: memoryview | None = None) -> int | None:
        """Do what can be done without waiting longer; return the bytes that went into the room, None for nothing."""
        found: int | None = None
        for key, _ in self._selector.select(wait):
            if key.fd == self._err:
                self._drain()
            elif key.fd == self._out:
                found = self._receive(room)
            else:
                self._write()
        return found

    def _receive(self, room: memoryview | None) -> int:
        with suppress(BlockingIOError):
            if room is not None:
                size = os.readv(self._out, [room])
            else:
                block = os.read(self._out, _BLOCK)
                size = len(block)
                self._input += block
            if size:
                self._heard, self._spoke = True, time.monotonic()
            if not size:
                self._ended = True
                self._selector.unregister(self._out)
            return size if room is not None else 0
        return 0

    def _write(self) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._output[:_BLOCK])
        except BlockingIOError:
            return
        except OSError:
            # Nobody reads: what it says on its output tells more.
            written = len(self._output)
        self._output = self._output[written:]
        if not self._output:
            self._selector.unregister(self._stdin.fileno())

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            block = os.read(self._err, _BLOCK)
            if not block:
                self._selector.unregister(self._err)
            self._tail = (self._tail + block)[-_TAIL:]

    # What becomes of it.

    def _overdue(self, late: str, where: str, *, out_of_time: bool) -> NoReturn:
        waited = time.monotonic() - self._since if out_of_time else self._timeout
        seconds = f"{max(round(waited, 1), 0.1):g} seconds"
        over = ", when the time for the audit was over" if out_of_time else ""
        if late:
            self.fail(f"{late} ({seconds} have passed{over})")
        place = self._place(where)
        if out_of_time and self.patience is not None and self._heard and time.monotonic() - self._spoke < _SILENCE:
            self.fail(f"had written a part of what was asked after {seconds}{place}{over}", LateAnswerError)
        trickles = out_of_time and self._heard
        wrote = "wrote no whole line" if trickles else "wrote nothing"
        # A program that answers as soon as its input ends has its answer in a buffer.
        flushes = ""
        with suppress(DpauditError, OSError, ValueError):
            before = len(self._input)
            self._selector.unregister(self._stdin.fileno()) if self._output else None
            self._stdin.close()
            limit = time.monotonic() + (_SECONDS_TO_FLUSH if out_of_time else _SECONDS_TO_END)
            while not self._ended and time.monotonic() < limit:
                self._step(max(0.0, limit - time.monotonic()))
            if len(self._input) > before and not trickles and self.patience is None:
                flushes = "; it answered when its input was closed: flush standard output after the first line and "
                flushes += "after every answer"
        first = 'begin with the line {"protocol": "dpaudit.sampler/1", "format": "jsonl"}'
        write = first if self.doing == _BEFORE_FIRST else "write exactly `size` outputs"
        mend = f"; {write} and flush, or allow it more time ({'seconds' if out_of_time else 'timeout'})"
        if out_of_time and self.patience is not None:
            mend = f", and its answers before were much quicker, so that it is taken to hang; {write} and flush"
        mend = flushes or mend
        self.fail(f"{wrote} for {seconds}{place}{over}{mend}", TargetRaisedError)

    def _place(self, where: str) -> str:
        """Where it is in what it was doing, and the last line that it wrote there."""
        lines = bytes(self._input[-400:]).strip().splitlines() if where.startswith("line") else []
        after = f", after {_text(lines[-1])}" if lines else ""
        return f" {self.doing}{f', at {where}' if where else ''}{after}"

    def gone(self, where: str = "") -> NoReturn:
        """Say how it ended, which it should not have."""
        status = self._status()
        place = self._place(where)
        if status is None:
            self.fail(f"closed its standard output{place}, and goes on running; keep it open until input ends")
        if status < 0:
            self.fail(f"was ended by signal {_signal(-status)}{place}", TargetRaisedError)
        if status > 0:
            self.fail(f"ended with exit status {status}{place}", TargetRaisedError)
        self.fail(f"ended{place}; answer one request after another until standard input ends")

    def fail(self, problem: str, kind: type[DpauditError] = CheckError) -> NoReturn:
        """End it, and say what is wrong, with the end of its standard error."""
        self.end(patience=0.0)
        raise kind(f"{self._name}: the program {problem}{self._errors()}")

    def _status(self) -> int | None:
        """Exit status of a program that closed its output, with all of its standard error read."""
        limit = time.monotonic() + _SECONDS_TO_END
        while self._err in self._selector.get_map() and time.monotonic() < limit:
            self._step(0.05)
            if _has_ended(self._process.pid):
                self._step(0.0)
                break
        while not _has_ended(self._process.pid) and time.monotonic() < limit:
            time.sleep(0.005)
        if not _has_ended(self._process.pid):
            return None
        status = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        assert status is not None
        return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status

    def _errors(self) -> str:
        lines = self._tail.decode("utf-8", "replace").strip().splitlines()
        shown = " | ".join(line.strip() for line in lines[-_SHOWN_LINES:] if line.strip())[-_SHOWN:]
        return f"; the end of its standard error: {shown}" if shown else ""


def _has_ended(pid: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return True


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _text(line: bytes) -> str:
    return shortened(line.decode("utf-8", "backslashreplace"), most=80)


def _widen(descriptor: int) -> None:
    """Make a pipe as large as Linux allows everybody, so that both sides wait less."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, MEBIBYTE)
