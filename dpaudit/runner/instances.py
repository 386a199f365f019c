"""Making a target with its parameters, and asking it for its claims; what its code raises becomes a message."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpaudit.claims.claims import Claim
from dpaudit.claims.datasets import Dataset, DatasetLoader
from dpaudit.claims.record import plain
from dpaudit.errors import DataError, DpauditError, ParameterError, TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.plan import PlannedData
from dpaudit.reading import check_regular
from dpaudit.registry import catalogue, in_catalogue, line_in, suggestion
from dpaudit.registry.references import undisturbed

DATA_FOLDER = "DPAUDIT_DATA"
"""Environment variable that names the folder of the data files that plans name."""

DECIDED_BY_DATA = ("agents", "alternatives")
"""Roles of parameters that a dataset decides."""


def load_dataset(loader: DatasetLoader, path: str) -> Dataset:
    """Return the content of a data file; the file is read once as long as it stays the same.

    Raises
    ------
    DataError
        The file cannot be read, or is malformed.
    """
    try:
        check_regular(path)
        status = Path(path).stat()
    except OSError as error:
        raise DataError(f"{path}: cannot read the data ({error.strerror})") from None
    # A file may be replaced between two audits of one process.
    known = (id(loader), path, status.st_mtime_ns, status.st_size)
    if known not in _LOADED:
        _LOADED.clear()
        _LOADED[known] = loader.load(path)
    return _LOADED[known]


_LOADED: dict[tuple[int, str, int, int], Dataset] = {}
"""The dataset read last."""


def digest_of(path: str) -> str:
    """SHA-256 of a file, which is read again where it has changed."""
    status = Path(path).stat()
    return _digest(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _digest(path: str, _changed: int, _size: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def found_data(name: str) -> str:
    """Path of a data file: the name itself, or where there is no such file, that in the folder of `DATA_FOLDER`."""
    folder = os.environ.get(DATA_FOLDER)
    if folder and not os.path.exists(name) and os.path.isfile(os.path.join(folder, name)):
        return str(Path(folder) / name)
    return name


class OtherFileText(str):
    """Why a data file cannot be used where another file lies in its place, which is an error and no lack of data."""

    __slots__ = ()


def located(planned: PlannedData) -> tuple[str, str]:
    """Path of a data file that a plan names, and why it cannot be used; one of the two is empty."""
    folder = os.environ.get(DATA_FOLDER)
    if not folder:
        return "", f"{planned.file}: set {DATA_FOLDER} to the folder of this file"
    path = Path(folder) / planned.file
    if not path.is_file():
        return "", f"{planned.file}: there is no such file in {folder}, the folder that {DATA_FOLDER} names"
    if digest_of(str(path)) != planned.sha256:
        words = f"{path}: not the file that the plan means, which has the SHA-256 {planned.sha256}"
        return "", OtherFileText(words)
    return str(path), ""


def sizes_decided(target: type[Mechanism]) -> dict[str, str]:
    """Parameters that a dataset decides, each with its role."""
    return {name: role for name, role in target.roles().items() if role in DECIDED_BY_DATA}


def without_effect(
    target: type[Mechanism],
    name: str,
    given: Mapping[str, Any],
    described: Mapping[str, Any],
    describe: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> list[str] | None:
    """Return the parameters that decide another one, which was given in vain; None where it has an effect.

    Parameters
    ----------
    target, name, given, described
        The parameter among all that were given, and what became of them.
    describe
        What becomes of other values.
    """
    if name not in described:
        return []
    value = plain(target.converted(name, given[name]))
    if described[name] == value:
        return None

    def changed(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
        try:
            return describe(values)
        except DpauditError:
            return None

    found = [changed({**given, name: other}) for other in _others(target, name, value)]
    if any(other is not None and other != described for other in found):
        return None
    rests = {each: changed({key: item for key, item in given.items() if key != each}) for each in given if each != name}
    others = [each for each, rest in rests.items() if rest is not None and rest.get(name) == value]
    # Alone, a default may be a word for a value that the mechanism works out.
    return others if others or any(other is not None for other in found) else None


def _others(target: type[Mechanism], name: str, value: Any) -> list[Any]:
    """Values that a parameter might have in place of another one."""
    default = next(each.default for each in fields(target) if each.name == name)  # type: ignore[arg-type]
    others = [] if default is MISSING else [plain(default)]
    if isinstance(value, bool):
        others.append(not value)
    elif isinstance(value, int | float):
        others += [2 * value, value + 1, value // 2 if isinstance(value, int) else value / 2]
    return [other for other in others if other != value]


def instantiate(
    target: type[Mechanism], parameters: Mapping[str, Any], data: tuple[str, str] | None = None
) -> Mechanism:
    """Make a target, with the content of a data file if there is one."""
    known = target.parameter_names()
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"{target.name} has no parameter {name!r}{suggestion(name, known)}; it has {', '.join(known)}"
            )
    given = dict(parameters)
    if data is not None:
        given.update(_from_data(target, data[0]))
    missing = [each.name for each in fields(target) if each.default is MISSING and each.name not in given]  # type: ignore[arg-type]
    if missing:
        raise ParameterError(f"{target.name} needs a value for {', '.join(missing)}; give it with --set {missing[0]}=…")
    with code_of(target, "`validate`"):
        return target(**given)


def _from_data(target: type[Mechanism], path: str) -> dict[str, Any]:
    """Parameters that a data file gives: its content, and the sizes that it decides."""
    taken = target.dataset_parameter()
    if taken is None:
        raise DataError(f"{target.name} takes no --data; leave it out, or choose a target that measures on data")
    name, loader = taken
    dataset = load_dataset(loader, path)
    sizes = {
        parameter: dataset.sizes[role] for parameter, role in sizes_decided(target).items() if role in dataset.sizes
    }
    return {name: dataset.value, **sizes}


def claims_of(mechanism: Mechanism) -> list[Claim]:
    """Claims of a mechanism.

    Raises
    ------
    TargetError
        ``claims`` raised, or returned something else than claims with ids of their own.
    """
    if in_catalogue(type(mechanism).__module__):
        # Claims may be declared by another paper than the one that defines the mechanism.
        catalogue()
    with code_of(type(mechanism), "`claims`"):
        claims = list(mechanism.claims())
    for claim in claims:
        if not isinstance(claim, Claim):
            raise TargetError(
                f"{mechanism.name}: `claims` returned {type(claim).__name__} among its claims; return dpaudit claims"
            )
        if not claim.id:
            raise TargetError(f"{mechanism.name}: `claims` returned a {type(claim).__name__} without `id`; give one")
    names = [claim.id for claim in claims]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TargetError(f"{mechanism.name}: `claims` returned two claims named {twice[0]!r}; give each its own id")
    return claims


@contextmanager
def code_of(target: type[Mechanism], what: str) -> Iterator[None]:
    """Say where a target's own code raised."""
    try:
        with undisturbed():
            yield
    except DpauditError:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        line = line_in(inspect.getfile(target), error)
        where = f" on line {line}" if line else ""
        raise TargetError(f"{target.name}: {what} raised {type(error).__name__}{where}: {error}; mend it") from error


def described_parameters(mechanism: Mechanism, data: tuple[str, str] | None) -> dict[str, Any]:
    """Parameters as the record holds them; a dataset by its file name and hash, without those it makes meaningless."""
    taken = type(mechanism).dataset_parameter()
    left_out = {taken[0]} if taken else set()
    if data is not None:
        left_out |= set(mechanism.synthetic)
    values = {name: value for name, value in mechanism.parameters().items() if name not in left_out}
    described: dict[str, Any] = plain(values)
    if data is not None:
        described["data"] = f"{Path(data[0]).name} (SHA-256 {data[1][:16]})"
    return described
