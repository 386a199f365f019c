"""A store of results under their keys, filled as they arrive.

The store is one SQLite file. Every result is a transaction of its own, so that whatever ends the process, and at
whatever moment, loses only what had not been finished.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from dpaudit.claims.record import Result, plain
from dpaudit.errors import OutputError
from dpaudit.reading import check_regular
from dpaudit.runner.outcome import Outcome

if TYPE_CHECKING:
    from pydantic import TypeAdapter

NAME: Final = "results.sqlite"
"""Name of the store's file in the folder of a report."""

_FORM = 1
_APPLICATION = 0x64704155
"""Marks the file as ours: ``dpAU``."""

_TABLE = """
create table if not exists results (
    key text primary key,
    result text not null,
    witness text,
    seconds real not null
) without rowid
"""


_PARTS = """
create table if not exists parts (
    cell text not null,
    name text not null,
    content blob not null,
    primary key (cell, name)
) without rowid
"""
"""Outcomes of the parts of audits that have not ended."""


class Store:
    """Results under keys, in a file that is made where there is none.

    Parameters
    ----------
    path
        The file.
    fresh
        Forget what the file holds.

    Raises
    ------
    OutputError
        The file is not a store, is of another form, or cannot be written.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink() or path.exists():
                check_regular(path)
            connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None
        self._connection = connection
        try:
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = normal")
            self._check_form()
            self._connection.execute(_TABLE)
            self._connection.execute(_PARTS)
            self._connection.execute("select key, result, witness, seconds from results limit 0")
            self._connection.execute("select cell, name, content from parts limit 1").fetchall()
            if fresh:
                self._connection.execute("delete from results")
                self._connection.execute("delete from parts")
        except (sqlite3.Error, OutputError) as error:
            connection.close()
            raise error if isinstance(error, OutputError) else self._unusable(error) from None

    def _unusable(self, error: Exception) -> OutputError:
        why = error.strerror if isinstance(error, OSError) else error
        return OutputError(
            f"{self._path}: cannot be used as a store of results ({why}); remove it, or choose another folder"
        )

    def _check_form(self) -> None:
        application = self._pragma("application_id")
        form = self._pragma("user_version")
        tables = self._connection.execute("select count(*) from sqlite_master").fetchone()[0]
        if tables and (application, form) != (_APPLICATION, _FORM):
            raise OutputError(
                f"{self._path}: is not a store of results that this version of dpaudit reads; remove it, or choose "
                "another folder"
            )
        self._connection.execute(f"pragma application_id = {_APPLICATION}")
        self._connection.execute(f"pragma user_version = {_FORM}")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"pragma {name}").fetchone()[0])

    def get(self, keys: Iterable[str]) -> Outcome | None:
        """Outcome under one of several keys; None where there is none."""
        for key in keys:
            try:
                row = self._connection.execute("select result, witness from results where key = ?", (key,)).fetchone()
            except sqlite3.Error as error:
                raise self._damaged(error) from None
            if row is not None:
                if not isinstance(row[0], str) or not isinstance(row[1], str | None):
                    raise self._damaged("a result is not a text")
                return Outcome(result=self._result(row[0]), witness=row[1])
        return None

    def _damaged(self, problem: object) -> OutputError:
        return OutputError(
            f"{self._path}: the store of results is damaged ({problem}); remove it, or choose another folder"
        )

    def _result(self, text: str) -> Result:
        try:
            found: Result = _adapter().validate_python(json.loads(text))
        except ValueError as error:
            raise self._damaged(str(error).splitlines()[0]) from None
        return found

    def put(self, key: str, outcome: Outcome, seconds: float) -> None:
        """Keep an outcome.

        Raises
        ------
        OutputError
            It cannot be written.
        """
        result = json.dumps(plain(outcome.result), ensure_ascii=True, allow_nan=False)
        try:
            self._connection.execute(
                "insert or replace into results values (?, ?, ?, ?)", (key, result, outcome.witness, seconds)
            )
        except sqlite3.Error as error:
            raise self._unkept(error) from None

    def parts(self, cell: str) -> dict[str, bytes]:
        """Outcomes of the parts of a cell's audit, by name.

        Raises
        ------
        OutputError
            The store is damaged.
        """
        try:
            rows = self._connection.execute("select name, content from parts where cell = ?", (cell,)).fetchall()
        except sqlite3.Error as error:
            raise self._damaged(error) from None
        if not all(isinstance(name, str) and isinstance(content, bytes) for name, content in rows):
            raise self._damaged("a part of an audit is not a text with bytes")
        return dict(rows)

    def put_parts(self, cell: str, parts: Mapping[str, bytes], without: Iterable[str] = ()) -> None:
        """Keep outcomes of parts of a cell's audit, and drop others.

        Raises
        ------
        OutputError
            They cannot be written.
        """
        try:
            self._connection.execute("begin")
            self._connection.executemany("delete from parts where cell = ? and name = ?", [(cell, n) for n in without])
            rows = [(cell, *each) for each in parts.items()]
            self._connection.executemany("insert or replace into parts values (?, ?, ?)", rows)
            self._connection.execute("commit")
        except sqlite3.Error as error:
            raise self._unkept(error) from None

    def drop_parts(self, cell: str) -> None:
        """Drop the parts of an audit that has ended.

        Raises
        ------
        OutputError
            The store cannot be written.
        """
        try:
            self._connection.execute("delete from parts where cell = ?", (cell,))
        except sqlite3.Error as error:
            raise self._unkept(error) from None

    def _unkept(self, error: Exception) -> OutputError:
        return OutputError(f"{self._path}: a result cannot be kept ({error}); make room, or remove the store")

    def join(self, path: Path) -> None:
        """Keep what another store holds, too.

        Raises
        ------
        OutputError
            The other file is not a store, or this one cannot be written.
        """
        with Store(path) as other:
            rows = other._connection.execute("select key, result, witness, seconds from results")
            try:
                self._connection.execute("begin")
                self._connection.executemany("insert or replace into results values (?, ?, ?, ?)", rows)
                self._connection.execute("commit")
            except sqlite3.Error as error:
                raise OutputError(f"{self._path}: cannot take the results of {path} ({error})") from None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@cache
def _adapter() -> TypeAdapter[Result]:
    from pydantic import TypeAdapter

    return TypeAdapter(Result)


class Results:
    """Results under keys that were read from somewhere else, such as a record: looked up like a store."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._known = {outcome.result.key: outcome for outcome in outcomes if outcome.result.key}

    def get(self, keys: Iterable[str]) -> Outcome | None:
        """Outcome under one of several keys; None where there is none."""
        return next((self._known[key] for key in keys if key in self._known), None)
