"""What programs say on standard output: who they are, in one line, and then answers in the format that it names."""

from __future__ import annotations

import csv
import io
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import numpy as np

from dpaudit.errors import ParameterError
from dpaudit.reading import MEBIBYTE, RepeatedKeyError, digits_told, object_of, parse_json, shortened
from dpaudit.sources.programs import Program
from dpaudit.sources.text import columns

PROTOCOL: Final = "dpaudit.sampler/1"
_KEYS = ("protocol", "format", "dtype", "shape", "seeded", "name", "version")
_LONGEST_GREETING = MEBIBYTE // 16
_LARGEST_HEADER = 10_000
_LARGEST_ANSWER = 4096 * MEBIBYTE
_TYPES = ("int64", "float64", "text")
_OUTPUT: Final = json.JSONDecoder(object_pairs_hook=object_of)
"""Of outputs, which may be infinite or NaN."""
_TEXT_TYPES = {"int64": np.int64, "float64": np.float64}


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """The first line of a program.

    Attributes
    ----------
    format
        Of its answers: ``jsonl``, ``csv``, ``npy``, ``raw`` or ``arrow``.
    dtype
        Type of the outputs: of ``raw``, any of numpy's numbers; of ``jsonl`` and ``csv``, ``int64``, ``float64`` or
        ``text``, or empty where the outputs say it.
    shape
        Shape of one output, for ``raw``.
    seeded
        Whether equal seeds give equal outputs.
    """

    format: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    seeded: bool = True


def greeting_of(program: Program) -> Greeting:
    """Read the first line of a program.

    Raises
    ------
    CheckError
        It is no line of this protocol.
    """
    line = program.line(_LONGEST_GREETING)
    asked = f'write {{"protocol": "{PROTOCOL}", "format": "jsonl"}} first, and anything else to standard error'
    try:
        said = parse_json(line.decode("utf-8"))
    except ValueError:
        said = None
    shown = shortened(line.decode("utf-8", "backslashreplace"), most=80)
    if not isinstance(said, dict) or "protocol" not in said:
        program.fail(f"says {shown} in line 1, which does not tell what it is; {asked}")
    if said["protocol"] != PROTOCOL:
        program.fail(f"speaks {shortened(said['protocol'], 80)} (line 1), and this version reads {PROTOCOL!r}; {asked}")
    problem = _problem(said)
    if problem:
        program.fail(f"says {shown} in line 1: {problem}")
    return Greeting(
        format=said["format"],
        dtype=said.get("dtype", ""),
        shape=tuple(said.get("shape", ())),
        seeded=said.get("seeded", True),
    )


def _problem(said: dict[str, Any]) -> str:
    """What is wrong with a first line; empty where nothing is."""
    for key in said:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1)
            return f"unknown key {key!r}{f' (did you mean {near[0]!r}?)' if near else ''}; known: {', '.join(_KEYS)}"
    form, dtype, shape = said.get("format"), said.get("dtype", ""), said.get("shape", [])
    if not isinstance(form, str) or form not in FORMATS:
        return f"key 'format' must be one of {', '.join(FORMATS)}"
    if not isinstance(said.get("seeded", True), bool):
        return "key 'seeded' must be true or false"
    if not isinstance(shape, list) or any(type(each) is not int or each < 1 for each in shape) or len(shape) > 8:
        return "key 'shape' must be the shape of one output, a list of at most 8 numbers above 0"
    if "dtype" in said and form in ("npy", "arrow"):
        return f"leave 'dtype' out: {form} says it itself"
    if "shape" in said and form != "raw":
        return f"leave 'shape' out: {form} says it itself"
    if form == "raw":
        try:
            known = np.dtype(dtype if isinstance(dtype, str) and dtype else "O")
        except (TypeError, ValueError):
            known = np.dtype("O")
        if known.kind not in "biuf":
            return "key 'dtype' must be a type of number, such as '<i8' or '<f8'"
    elif dtype not in ("", "text", *_TEXT_TYPES):
        return "key 'dtype' must be 'int64', 'float64' or 'text'"
    return ""


class Answers(ABC):
    """Reads the answers of one program, all in the format that it named."""

    def __init__(self, program: Program, greeting: Greeting) -> None:
        self._program, self._greeting = program, greeting

    @abstractmethod
    def read(self, size: int) -> Any:
        """Read the answer to a request of that many outputs; return them along axis 0."""

    def _bad_line(self, number: int, line: str, problem: str) -> None:
        self._program.fail(f"wrote {shortened(line, 80)} in line {number} {_of(self._program)}: {problem}")


def _of(program: Program) -> str:
    return f"of {program.doing.removeprefix('in ')}"


class _JsonLines(Answers):
    def read(self, size: int) -> Any:
        block = self._program.lines(size)
        lines = _decoded(self._program, block)
        values = self._values(lines)
        dtype = self._greeting.dtype
        if dtype in _TEXT_TYPES:
            return self._numbers(lines, values, dtype)
        if dtype == "text":
            for number, value in enumerate(values, 1):
                if type(value) is not str:
                    self._bad_line(number, lines[number - 1], "it is not text, which the first line promises")
            return values
        # Whether a number is whole must not depend on the others of the answer.
        return values

    def _values(self, lines: Sequence[str]) -> list[Any]:
        with suppress(ValueError, RecursionError):
            # One call for all lines, where no line can pass for two or for a part of one.
            values: list[Any] = json.loads(f"[{','.join(lines)}]")
            if len(values) == len(lines) and set(map(type, values)) <= {int, float, bool, type(None)}:
                return values
        return [self._value(number, line) for number, line in enumerate(lines, 1)]

    def _value(self, number: int, line: str) -> Any:
        try:
            return _OUTPUT.decode(line)
        except RepeatedKeyError as error:
            self._bad_line(number, line, f"{error}, and one of its values would be lost; write every key once")
        except ValueError as error:
            why = digits_told(error) if "digits" in str(error) else "it is not JSON"
            self._bad_line(number, line, f"{why}; write one JSON value a line")
        except RecursionError:
            self._bad_line(number, line, "it is nested too deeply")

    def _numbers(self, lines: Sequence[str], values: list[Any], dtype: str) -> np.ndarray:
        wanted: tuple[type, ...] = (int,) if dtype == "int64" else (int, float)

        def fits(value: Any) -> bool:
            return all(map(fits, value)) if type(value) is list else type(value) in wanted

        for number, value in enumerate(values, 1):
            if not fits(value):
                self._bad_line(number, lines[number - 1], f"it is no {dtype}, which the first line promises")
        try:
            return np.array(values, dtype=_TEXT_TYPES[dtype])
        except (ValueError, OverflowError) as error:
            self._program.fail(f"wrote outputs {self._program.doing} that are not an array of {dtype} ({error})")


class _Csv(Answers):
    def __init__(self, program: Program, greeting: Greeting) -> None:
        super().__init__(program, greeting)
        self._types: list[str] | None = None

    def read(self, size: int) -> Any:
        lines = _decoded(self._program, self._program.lines(size))
        types = self._types
        if types is not None and "text" not in types:
            kind = "float64" if "float64" in types else "int64"
            found = _table(lines, kind, len(types))
            if found is not None:
                return found
        rows = self._rows(lines)
        if types is None:
            types = self._types = self._typed(rows)
        columns = []
        for place, kind in enumerate(types):
            columns.append(self._column(lines, [row[place] for row in rows], kind))
        if "text" in types:
            return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        wanted = np.float64 if "float64" in types else np.int64
        arrays = [np.array(column, dtype=wanted) for column in columns]
        return arrays[0] if len(arrays) == 1 else np.column_stack(arrays)

    def _rows(self, lines: Sequence[str]) -> list[list[str]]:
        rows: list[list[str]] = []
        width = None if self._types is None else len(self._types)
        for number, line in enumerate(lines, 1):
            try:
                row = next(csv.reader([line], strict=True), [])
            except csv.Error as error:
                self._bad_line(number, line, f"it is no CSV ({error}); an output must stand in one line")
            if not row:
                self._bad_line(number, line, "it is empty")
            width = len(row) if width is None else width
            if len(row) != width:
                self._bad_line(number, line, f"it has {columns(len(row))}, and others have {width}")
            rows.append(row)
        return rows

    def _typed(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """Types of the columns: as the first line says, or else the narrowest that holds the first answer."""
        if self._greeting.dtype:
            return [self._greeting.dtype] * len(rows[0])
        return [
            next(kind for kind in _TYPES if all(_value(text, kind) is not None for text in column))
            for column in zip(*rows, strict=True)
        ]

    def _column(self, lines: Sequence[str], texts: Sequence[str], kind: str) -> list[Any]:
        values = [_value(text, kind) for text in texts]
        for number, value in enumerate(values, 1):
            if value is None:
                said = "the first line promises" if self._greeting.dtype else "its first answer had in this column"
                mend = "" if self._greeting.dtype else '; say "dtype": "float64" or "text" in the first line'
                self._bad_line(number, lines[number - 1], f"it is no {kind}, which {said}{mend}")
        return values


def _value(text: str, kind: str) -> Any:
    """Value of a cell of CSV; None where it is not of that kind."""
    if kind == "text":
        return text
    try:
        number = int(text) if kind == "int64" else float(text)
    except ValueError:
        return None
    return None if "_" in text or (kind == "int64" and not -(2**63) <= number < 2**63) else number


def _table(lines: Sequence[str], kind: str, width: int) -> np.ndarray | None:
    """Lines of numbers as an array, quickly; None where it takes a closer look."""
    text = "\n".join(lines)
    if kind == "int64" and any(mark in text for mark in ".eE_naN"):
        return None
    try:
        found = np.loadtxt(io.StringIO(text), dtype=_TEXT_TYPES[kind], delimiter=",", comments=None, ndmin=2)
    except (ValueError, OverflowError):
        return None
    if found.shape != (len(lines), width):
        return None
    return found[:, 0] if width == 1 else found


def _decoded(program: Program, block: bytes) -> list[str]:
    """Lines as text, whatever ends them."""
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        number = block.count(b"\n", 0, error.start) + 1
        program.fail(f"wrote bytes {_of(program)}, in line {number}, that are not UTF-8 text")
    return [line.removesuffix("\r") for line in text.split("\n")[:-1]]


class _Raw(Answers):
    def read(self, size: int) -> np.ndarray:
        return _array(self._program, np.dtype(self._greeting.dtype), (size, *self._greeting.shape))


class _Npy(Answers):
    def read(self, size: int) -> np.ndarray:
        program = self._program
        start = program.exactly(10)
        if start[:6] != b"\x93NUMPY" or start[6] not in (1, 2, 3):
            program.fail(f"wrote {start!r} where a npy file should begin, {program.doing}; write each answer as one")
        length = int.from_bytes(start[8:10] + (program.exactly(2) if start[6] > 1 else b""), "little")
        if length > _LARGEST_HEADER:
            program.fail(f"wrote a npy header of {length} bytes {program.doing}")
        header = program.exactly(length)
        shape, by_columns, dtype = self._header(header)
        if not shape or shape[0] != size:
            less = "too few" if not shape or shape[0] < size else "too many"
            program.fail(
                f"wrote an array of shape {shape} {program.doing}, which is {less} for the {size} outputs that were "
                "asked for; answer with `size` outputs along axis 0"
            )
        found = _array(program, dtype, tuple(reversed(shape)) if by_columns else shape)
        return found.T if by_columns else found

    def _header(self, header: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        # As numpy writes it: a Python literal, of which nothing is run.
        import ast

        try:
            found = ast.literal_eval(header.decode("utf-8").strip())
            dtype, shape = np.dtype(found["descr"]), found["shape"]
            by_columns = bool(found["fortran_order"])
            if not all(type(each) is int and each >= 0 for each in shape) or not isinstance(shape, tuple):
                raise ValueError(shape)
        except (ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError):
            self._program.fail(f"wrote the npy header {shortened(header, 80)} {self._program.doing}, which is none")
        if dtype.kind not in "biufcmMUS":
            self._program.fail(f"wrote an array of {dtype} {self._program.doing}; write numbers or texts")
        return shape, by_columns, dtype


def _array(program: Program, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    size = math.prod(shape) * dtype.itemsize
    if size > _LARGEST_ANSWER:
        program.fail(f"wrote an array of {size} bytes {program.doing}, which is more than one answer may have")
    room = np.empty(size, dtype=np.uint8)
    program.into(room.data)
    found = room.view(dtype).reshape(shape) if size else np.empty(shape, dtype=dtype)
    if not dtype.isnative:
        found = found.astype(dtype.newbyteorder("="))
    return found


class _Arrow(Answers):
    def __init__(self, program: Program, greeting: Greeting) -> None:
        super().__init__(program, greeting)
        try:
            import pyarrow as pa  # noqa: F401
        except ImportError:
            program.end(patience=0.0)
            raise ParameterError(
                "answers in the format 'arrow' need pyarrow; pip install 'dpaudit[arrow]', or answer in npy"
            ) from None

    def read(self, size: int) -> Any:
        import pyarrow as pa

        start = self._program.exactly(4)
        if start != b"\xff\xff\xff\xff":
            self._program.fail(f"wrote {start!r} where an Arrow IPC stream should begin, {self._program.doing}")
        try:
            with pa.ipc.open_stream(pa.PythonFile(_File(self._program, start), mode="r")) as reader:
                table = reader.read_all()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            why = " ".join(str(error).split())
            self._program.fail(f"wrote no Arrow IPC stream {self._program.doing} ({why})")
        if table.num_rows != size:
            self._program.fail(
                f"wrote {table.num_rows} rows {self._program.doing}, where {size} outputs were asked for; answer with "
                "one stream of `size` rows"
            )
        columns = [self._column(column) for column in table.columns]
        if not columns:
            self._program.fail(f"wrote a table without columns {self._program.doing}")
        if len(columns) == 1:
            return columns[0]
        if all(isinstance(each, np.ndarray) for each in columns):
            return np.column_stack(columns)
        return list(zip(*(list(each) for each in columns), strict=True))

    def _column(self, column: Any) -> Any:
        import pyarrow as pa

        kind = column.type
        simple = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        return column.to_numpy() if simple and not column.null_count else column.to_pylist()


class _File:
    """What a program writes, as a file that is read from its beginning to an end that the reader knows."""

    closed = False

    def __init__(self, program: Program, start: bytes) -> None:
        self._program, self._start = program, start

    def read(self, size: int) -> bytes:
        given, self._start = self._start[:size], self._start[size:]
        return given + self._program.exactly(size - len(given))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def flush(self) -> None:
        pass


FORMATS: Final[dict[str, type[Answers]]] = {
    "jsonl": _JsonLines,
    "csv": _Csv,
    "npy": _Npy,
    "raw": _Raw,
    "arrow": _Arrow,
}
"""How answers may be written."""
