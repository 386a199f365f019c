"""Strict reader of PrefLib files of orders (soc, soi, toc, toi)."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np

from dpaudit.claims.datasets import Dataset, DatasetLoader
from dpaudit.errors import DataError
from dpaudit.rankings.profiles import Profile

Kind = Literal["soc", "soi", "toc", "toi"]
Order = tuple[tuple[int, ...], ...]
Row = bytes
"""A complete strict order: its alternatives as unsigned integers of the smallest size that holds them all."""

_KINDS: dict[str, Kind] = {"soc": "soc", "soi": "soi", "toc": "toc", "toi": "toi"}
_ALTERNATIVES, _VOTERS, _ORDERS = "NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE ORDERS"
_NAME = re.compile(r"ALTERNATIVE NAME (\S+)", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,18}")
_STRICT = re.compile(r"\s*[0-9]{1,18}\s*(?:,\s*[0-9]{1,18}\s*)*", re.ASCII)
_MOST_CELLS = 10**9
"""Voters times alternatives of a file, at most: what samples one report of each voter holds them all at once."""

_TOKENS = re.compile(r"[{},]|[^{},]+")


@dataclass(frozen=True, slots=True)
class PreferenceFile:
    """A PrefLib file: orders of indifference classes (best first, members sorted, 0-based) and their counts.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import read_preflib
    >>> lines = ["# NUMBER ALTERNATIVES: 2", "# NUMBER VOTERS: 3", "# NUMBER UNIQUE ORDERS: 2"]
    >>> lines += ["# ALTERNATIVE NAME 1: tea", "# ALTERNATIVE NAME 2: coffee", "2: 1,2", "1: 2,1"]
    >>> np.savetxt("drinks.soc", lines, fmt="%s")
    >>> file = read_preflib("drinks.soc")
    >>> print(file.names, file.counts, file.profile().orders.tolist())
    ('tea', 'coffee') (2, 1) [[0, 1], [1, 0]]
    """

    kind: Kind
    names: tuple[str, ...]
    orders: tuple[Order, ...]
    counts: tuple[int, ...]
    path: str
    lines: tuple[int, ...] = field(repr=False)

    def profile(self) -> Profile:
        """Return the file as a profile of rankings.

        Returns
        -------
        Profile

        Raises
        ------
        DataError
            When an order leaves out alternatives or holds a tie; the message names its line.
        """
        m = len(self.names)
        for order, line in zip(self.orders, self.lines, strict=True):
            if len(order) < m:
                _refuse(self.path, line, order, m)
        rankings = np.array([[tied[0] for tied in order] for order in self.orders], dtype=np.int64)
        return Profile(rankings, np.array(self.counts, dtype=np.int64), self.names)


class _PrefLib:
    """Loads complete rankings for a parameter of role ``dataset``: the value is a `Profile`."""

    form = "complete rankings (PrefLib .soc)"

    def load(self, path: str) -> Dataset:
        profile = read_profile(path)
        return Dataset(value=profile, sizes={"agents": profile.agents, "alternatives": profile.alternatives})


PREFLIB: DatasetLoader = _PrefLib()
"""Loader of PrefLib files, for ``parameter(role="dataset", loader=PREFLIB)``."""


def read_profile(path: str | PathLike[str]) -> Profile:
    """Read a PrefLib file of complete strict orders as a profile.

    Parameters
    ----------
    path : str or path-like
        File that ends in .soc, or in .soi, .toc or .toi with complete strict orders.

    Returns
    -------
    Profile

    Raises
    ------
    DataError
        When the file is malformed or an order is not complete and strict.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import read_profile
    >>> lines = ["# NUMBER ALTERNATIVES: 2", "# NUMBER VOTERS: 3", "# NUMBER UNIQUE ORDERS: 2"]
    >>> lines += ["# ALTERNATIVE NAME 1: tea", "# ALTERNATIVE NAME 2: coffee", "2: 1,2", "1: 2,1"]
    >>> np.savetxt("drinks.soc", lines, fmt="%s")
    >>> read_profile("drinks.soc").counts
    array([2, 1])
    """
    with _opened(path) as file:
        rows: list[Row] = []
        counts: list[int] = []
        unfit: tuple[int, Order] | None = None
        for number, count, order in _checked(file):
            if isinstance(order, bytes):
                rows.append(order)
            elif unfit is None:
                unfit = number, order
            counts.append(count)
    if unfit is not None:
        _refuse(file.path, *unfit, len(file.names))
    rankings = np.frombuffer(b"".join(rows), dtype=_row_type(len(file.names))).reshape(len(rows), len(file.names))
    del rows
    return Profile(rankings, np.array(counts, dtype=np.int64), file.names)


def read_preflib(path: str | PathLike[str]) -> PreferenceFile:
    """Read a PrefLib file of orders (format of preflib.org since 2022), checking everything it says of itself.

    Parameters
    ----------
    path : str or path-like
        File that ends in .soc, .soi, .toc or .toi.

    Returns
    -------
    PreferenceFile

    Raises
    ------
    DataError
        When the file cannot be read or is malformed; the message names the line.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import read_preflib
    >>> lines = ["# NUMBER ALTERNATIVES: 2", "# NUMBER VOTERS: 3", "# NUMBER UNIQUE ORDERS: 2"]
    >>> lines += ["# ALTERNATIVE NAME 1: tea", "# ALTERNATIVE NAME 2: coffee", "2: 1,2", "1: 2,1"]
    >>> np.savetxt("drinks.soc", lines, fmt="%s")
    >>> read_preflib("drinks.soc").orders
    (((0,), (1,)), ((1,), (0,)))
    """
    with _opened(path) as file:
        found = list(_checked(file))
    singles = [(place,) for place in range(len(file.names))]
    row_type = _row_type(len(file.names))
    orders = tuple(
        tuple(singles[place] for place in np.frombuffer(order, row_type)) if isinstance(order, bytes) else order
        for _, _, order in found
    )
    return PreferenceFile(
        file.kind,
        file.names,
        orders,
        tuple(count for _, count, _ in found),
        file.path,
        tuple(number for number, _, _ in found),
    )


@dataclass(slots=True)
class _File:
    """A file that is read line by line: what its header says, and the lines from the first that is none of it."""

    path: str
    kind: Kind
    names: tuple[str, ...]
    header: dict[str, tuple[int, str]]
    lines: Iterator[tuple[int, str]]


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[_File]:
    text_path = fspath(path)
    kind = _KINDS.get(Path(text_path).suffix.removeprefix(".").lower())
    if kind is None:
        _fail(text_path, None, "the file ending is not a PrefLib order format; use .soc, .soi, .toc or .toi")
    try:
        if Path(text_path).is_dir():
            _fail(text_path, None, "this is a directory; give a file")
        with Path(text_path).open("rb") as stream:
            lines = _lines(text_path, stream)
            header: list[str] = []
            rest: Iterator[tuple[int, str]] = iter(())
            for number, line in lines:
                if not line.startswith("#"):
                    rest = chain([(number, line)], lines)
                    break
                header.append(line)
            entries = _read_header(text_path, header)
            yield _File(text_path, kind, _check_header(text_path, kind, entries), entries, rest)
    except FileNotFoundError:
        _fail(text_path, None, f"there is no such file at {text_path}; check the path")
    except (OSError, ValueError) as error:
        _fail(text_path, None, f"the file cannot be read ({error}); check the path and its permissions")


def _lines(path: str, stream: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; blank lines are wrong but at the end."""
    blank, number = None, 0
    for number, data in enumerate(stream, start=1):
        try:
            text = data.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            _fail(path, number, f"byte {data[error.start]:#04x} is not UTF-8; save the file as UTF-8")
        line = text.removesuffix("\n").removesuffix("\r").strip(" \t")
        if line and blank is not None:
            _fail(path, blank, "the line is blank; remove it")
        if line:
            yield number, line
        elif blank is None:
            blank = number
    if number == 0 or blank == 1:
        _fail(path, None, "the file is empty; give a PrefLib file")


def _checked(file: _File) -> Iterator[tuple[int, int, Row | Order]]:
    """Number, count and order of every line, all that the file says of them checked by the end."""
    m = len(file.names)
    most = _MOST_CELLS // m
    read = _row_reader(m)
    seen: dict[Row | Order, int] = {}
    voters = 0
    for number, line in file.lines:
        count, text = _read_count(file.path, number, line)
        order = read(text) or _compact(_read_order(file.path, number, text, file.kind, m), m)
        if order in seen:
            _fail(
                file.path, number, f"the order repeats that of line {seen[order]}; write it once with the total count"
            )
        seen[order] = number
        voters += count
        if voters > most:
            _fail(
                file.path,
                number,
                f"the counts come to {voters} voters up to here; of {m} alternatives at most {most} can be audited: "
                "divide the counts",
            )
        yield number, count, order
    if not seen:
        _fail(file.path, None, "the file holds no order; add lines of the form 'count: a,b,c' below the header")
    for key, found, what in ((_ORDERS, len(seen), "orders"), (_VOTERS, voters, "voters")):
        line_number, stated = file.header[key]
        if _integer(stated) != found:
            _fail(
                file.path, line_number, f"{key} is {stated} but the file holds {found} {what}; correct one of the two"
            )


def _row_type(m: int) -> np.dtype[np.unsignedinteger]:
    return np.dtype(np.uint8 if m <= 256 else np.uint16 if m <= 65536 else np.uint32)


def _row_reader(m: int) -> Callable[[str], Row | None]:
    """Return what reads a complete strict order as most files write it; of anything else it makes None."""
    every = set(range(1, m + 1))
    row_type = _row_type(m)

    def read(text: str) -> Row | None:
        if not _STRICT.fullmatch(text):
            return None
        row = list(map(int, text.split(",")))
        if len(row) != m or set(row) != every:
            return None
        return bytes([place - 1 for place in row]) if m <= 256 else (np.array(row) - 1).astype(row_type).tobytes()

    return read


def _compact(order: Order, m: int) -> Row | Order:
    """Return a complete strict order as `_row_reader` does, any other as it is."""
    if len(order) < m:
        return order
    return np.array(order).astype(_row_type(m)).tobytes()


def _refuse(path: str, line: int, order: Order, m: int) -> NoReturn:
    """Say why an order is none for a profile."""
    for tied in order:
        if len(tied) > 1:
            members = ", ".join(str(a + 1) for a in tied)
            _fail(path, line, f"alternatives {members} are tied; a profile takes strict orders only")
    _fail(path, line, f"the order ranks {len(order)} of {m} alternatives; a profile takes all of them")


def _fail(path: str, line: int | None, message: str) -> NoReturn:
    name = Path(path).name or path
    raise DataError(f"{name}: {message}" if line is None else f"{name}, line {line}: {message}")


def _integer(text: str) -> int | None:
    return int(text) if _DIGITS.fullmatch(text) else None


def _read_header(path: str, lines: list[str]) -> dict[str, tuple[int, str]]:
    header: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, start=1):
        key, colon, value = line.removeprefix("#").partition(":")
        key = " ".join(key.split())
        if not colon or not key:
            _fail(path, number, "the header line has no 'KEY: value'; write '# KEY: value'")
        if key in header:
            _fail(path, number, f"{key} is given twice, first on line {header[key][0]}; give it once")
        header[key] = number, value.strip()
    return header


def _check_header(path: str, kind: Kind, header: dict[str, tuple[int, str]]) -> tuple[str, ...]:
    if "DATA TYPE" in header and header["DATA TYPE"][1].lower() != kind:
        line, stated = header["DATA TYPE"]
        _fail(path, line, f"DATA TYPE is {stated!r} but the file ending is .{kind}; make them agree")
    for key in (_ALTERNATIVES, _VOTERS, _ORDERS):
        if key not in header:
            _fail(path, None, f"the header has no {key}; add the line '# {key}: ...'")
        line, stated = header[key]
        if not _integer(stated):
            _fail(path, line, f"{key} is {stated!r}; give an integer of at least 1")
    stated_m = int(header[_ALTERNATIVES][1])
    names: dict[int, str] = {}
    for key, (line, value) in header.items():
        match = _NAME.fullmatch(key)
        if match:
            k = _integer(match[1])
            if k is None or not 1 <= k <= stated_m:
                _fail(path, line, f"{key}: there is no alternative {match[1]}; number them 1 to {stated_m}")
            if k in names:
                _fail(path, line, f"the name of alternative {k} is given twice; give it once")
            names[k] = value
    if len(names) < stated_m:
        missing = next(k for k in range(1, stated_m + 1) if k not in names)
        _fail(path, None, f"the header has no ALTERNATIVE NAME {missing}; name all {stated_m} alternatives")
    return tuple(names[k] for k in range(1, stated_m + 1))


def _read_count(path: str, number: int, line: str) -> tuple[int, str]:
    """Count of a line, and the text of its order."""
    if line.startswith("#"):
        _fail(path, number, "a header line stands below an order; move it to the top")
    count_text, colon, order_text = line.partition(":")
    if not colon:
        _fail(path, number, "there is no colon; write 'count: a,b,c'")
    count = _integer(count_text.strip())
    if not count:
        _fail(path, number, f"the count is {count_text.strip()!r}; give an integer of at least 1")
    return count, order_text


def _read_order(path: str, number: int, order_text: str, kind: Kind, m: int) -> Order:
    order = _read_classes(path, number, order_text, kind, m)
    ranked = sum(len(tied) for tied in order)
    if kind in ("soc", "toc") and ranked < m:
        present = {a for tied in order for a in tied}
        missing = next(a for a in range(m) if a not in present)
        _fail(path, number, f"alternative {missing + 1} is missing from the order; list every alternative once")
    return order


def _read_classes(path: str, number: int, text: str, kind: Kind, m: int) -> Order:
    classes: list[tuple[int, ...]] = []
    seen: set[int] = set()
    tied: list[int] | None = None
    after_item = False
    for token in _TOKENS.findall(text):
        symbol = token.strip()
        if not symbol:
            continue
        if symbol in "{}" and kind in ("soc", "soi"):
            _fail(path, number, f"a {kind} file has no ties; remove the braces or use .toc or .toi")
        if symbol == ",":
            if not after_item:
                _fail(path, number, "a comma has no alternative before it; write 'count: a,b,c'")
            after_item = False
        elif symbol == "}":
            if tied is None:
                _fail(path, number, "a closing brace has no opening one; balance the braces")
            if not after_item:
                _fail(path, number, "braces are empty or end in a comma; list the tied alternatives")
            classes.append(tuple(sorted(tied)))
            tied = None
        elif after_item:
            _fail(path, number, f"there is no comma before {symbol!r}; separate alternatives by commas")
        elif symbol == "{":
            if tied is not None:
                _fail(path, number, "an opening brace stands inside braces; do not nest them")
            tied = []
        else:
            alternative = _alternative(path, number, symbol, m, seen)
            if tied is None:
                classes.append((alternative,))
            else:
                tied.append(alternative)
            after_item = True
    if tied is not None:
        _fail(path, number, "an opening brace has no closing one; balance the braces")
    if not after_item:
        what = "the order ends in a comma" if classes else "the order is empty"
        _fail(path, number, f"{what}; write 'count: a,b,c'")
    return tuple(classes)


def _alternative(path: str, number: int, symbol: str, m: int, seen: set[int]) -> int:
    value = _integer(symbol)
    if value is None or not 1 <= value <= m:
        _fail(path, number, f"there is no alternative {symbol!r}; use the numbers 1 to {m}")
    if value in seen:
        _fail(path, number, f"alternative {value} appears twice in the order; list every alternative once")
    seen.add(value)
    return value - 1
