"""Where a record goes: standard output, and a folder.

Whoever reads standard output may leave early, and whoever closed it wants nothing printed: neither decides the exit
status, which says what the verdicts are. Where it takes no more, as on a full disk, what was asked for is not there,
and the status says that.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import select
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.errors import OutputError
from dpaudit.escapes import escaped, visible
from dpaudit.writing import joined, write_file

if TYPE_CHECKING:
    from dpaudit.claims.record import Record

PIPE_WIDTH = 120
"""Columns of a pipe, which has no width of its own; rich would take 80, which breaks most lines."""

_ESCAPE = "dpaudit.escape"
_WIDEST = 10_000
_LONGEST = 3000


def write(record: Record, output: Path) -> None:
    """Write the reports on a record, and say where."""
    from dpaudit.reporting import write_report

    write_report(record, output)
    say(f"report written to {output / 'index.html'}")


def write_badge(record: Record, file: Path) -> None:
    """Write the badge of a record."""
    from dpaudit.reporting import render_badge

    write_file(file, render_badge(record))


def emit(record: Record, format_: str, *, quiet: bool = False) -> None:
    """Print a record in a format."""
    from dpaudit.reporting import FORMATS, PARTS, print_console

    if format_ in PARTS:
        for block in joined(PARTS[format_](record)):
            write_out(block)
        return
    if format_ != "text":
        write_out(FORMATS[format_](record))
        return
    from rich.console import Console

    asked = "COLUMNS" in os.environ
    console = Console(file=sys.stdout, highlight=False, width=None if is_terminal() or asked else PIPE_WIDTH)
    with console.capture() as captured:
        print_console(record, console, only_unexpected=quiet)
    write_out(captured.get(), styled=True)


def write_out(text: str, *, styled: bool = False) -> None:
    """Write to standard output, whatever has become of it.

    A reader that has gone (``| head``) is no news. An output that is full or closed is told in one line on standard
    error, and `lasting_streams` knows of one that is full.

    Parameters
    ----------
    text
        What to write. Control characters and the like are escaped.
    styled
        Whether it holds codes for a terminal and is escaped already.
    """
    shown = text if styled else visible(text)
    if _collected is not None:
        _collected.append(shown)
        return
    if sys.stdout is None:
        say("standard output is closed; nothing was printed")
        return
    try:
        sys.stdout.write(shown)
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        # What is still buffered would raise again at the end of the process.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        _say_lost(error)


_collected: list[str] | None = None


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect what is written in place of writing it; what anybody else prints is not in it."""
    global _collected
    found: list[str] = []
    _collected = found
    try:
        yield found
    finally:
        _collected = None


def say(message: str) -> None:
    """Write a message to standard error, on one line; lost where nobody listens."""
    write_error(one_line(message))


def write_error(text: str) -> None:
    """Write a text to standard error, escaped; lost where nobody listens."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(visible(text))
            sys.stderr.flush()


def show_traceback(error: BaseException) -> None:
    """Write the traceback of an exception to standard error."""
    write_error("".join(traceback.format_exception(error)))


def one_line(message: str) -> str:
    """Return a message as the one line that goes to standard error."""
    text = visible(" ".join(message.split()))
    more = len(text) - _LONGEST
    return f"dpaudit: {text if more <= 0 else f'{text[:_LONGEST]}… ({more} more characters)'}\n"


def copy_witnesses(record: Record, folder: Path, output: Path) -> None:
    """Put the witness files beside a record, as far as they are still there, beside its other report too."""
    from dpaudit.reporting.wording import witness_link

    for link in filter(None, map(witness_link, record.results)):
        source, copy = folder / link, output / link
        if source.is_file() and source.resolve() != copy.resolve():
            try:
                content = source.read_bytes()
            except OSError as error:
                raise OutputError(f"{source}: cannot read the witness ({error.strerror or error})") from None
            write_file(copy, content)


_is_lost = False
"""Whether something that was to be printed could not be written."""


def is_lost() -> bool:
    """Whether standard output took less than was written so far, and is neither closed nor without a reader."""
    return _is_lost


@contextmanager
def lasting_streams() -> Iterator[Callable[[], bool]]:
    """Standard streams that no write can fail on, also those of libraries, and widths of terminals that are numbers.

    Yields
    ------
    callable
        Tells, also after the block, whether standard output took less than was written, and is neither closed nor
        without a reader.
    """
    global _is_lost
    _is_lost = False
    _settle_width()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _lasting(sys.stdout, 1), _lasting(sys.stderr, 2)
    try:
        yield is_lost
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        sys.stdout, sys.stderr = before


def _settle_width() -> None:
    """Forget widths that are none: of these libraries take some for numbers (``²``) and some print nothing (0)."""
    for name in ("COLUMNS", "LINES", "TERMINAL_WIDTH"):
        value = os.environ.get(name, "1")
        if not (value.isascii() and value.isdigit() and len(value) <= len(str(_WIDEST)) and 1 <= int(value) <= _WIDEST):
            del os.environ[name]


def is_error_terminal() -> bool:
    """Whether standard error is a terminal."""
    with suppress(OSError, ValueError, AttributeError):
        return sys.stderr.isatty()
    return False


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    with suppress(OSError, ValueError, AttributeError):
        return sys.stdout.isatty()
    return False


def _lasting(stream: Any, descriptor: int) -> Any:
    """Return a stream like the given one on which writing does not fail; itself where it is no plain file."""
    if stream is None:
        return _text(_Lasting(_closed(descriptor), lost=OSError(errno.EBADF, os.strerror(errno.EBADF))))
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors=_ESCAPE)
    raw = getattr(stream.buffer, "raw", stream.buffer)
    # The console of Windows has another kind of file, and tests have none.
    if type(raw) is not io.FileIO or raw.fileno() != descriptor:
        return stream
    with suppress(OSError):
        stream.flush()
    return _text(_Lasting(descriptor), encoding=stream.encoding, line_buffering=stream.line_buffering)


def _closed(descriptor: int) -> int:
    """Take the number of a standard stream that is closed, lest another file get it."""
    with suppress(OSError):
        os.fstat(descriptor)
        return descriptor
    opened = os.open(os.devnull, os.O_WRONLY)
    if opened != descriptor:
        os.dup2(opened, descriptor)
        os.close(opened)
    return descriptor


def _text(raw: _Lasting, *, encoding: str = "utf-8", line_buffering: bool = True) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, errors=_ESCAPE, line_buffering=line_buffering)


class _Lasting(io.FileIO):
    """A descriptor that swallows what it can no longer write, and says once that it does."""

    def __init__(self, descriptor: int, *, lost: OSError | None = None) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._unsaid, self._is_lost = lost, lost is not None

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        if self._unsaid is not None:
            error, self._unsaid = self._unsaid, None
            _say_lost(error, self.fileno())
        while not self._is_lost:
            try:
                done: int | None = super().write(view)
            except OSError as error:
                self._is_lost = True
                _say_lost(error, self.fileno())
                break
            if done is not None:
                return done
            # A pipe that another program made non-blocking, and that is full.
            select.select([], [self.fileno()], [])
        return len(view)


def _say_lost(error: BaseException, descriptor: int = 1) -> None:
    """Say that standard output cannot be written; that its reader has gone, or that nobody hears it, is not said."""
    global _is_lost
    if isinstance(error, BrokenPipeError) or descriptor != 1:
        return
    closed = isinstance(error, ValueError) or getattr(error, "errno", None) == errno.EBADF
    _is_lost = _is_lost or not closed
    say(f"standard output {'is closed' if closed else f'cannot be written ({error})'}; the rest is not printed")


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks by the escapes of JSON, which there mean the same."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return escaped(error.object[error.start : error.end]), error.end


codecs.register_error(_ESCAPE, _escape)
