"""Making a target with its parameters, and asking it for its claims; what its code raises becomes a message."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpaudit.registry import line_in, suggestion
from dpaudit.claims.claims import Claim
from dpaudit.claims.record import plain
from dpaudit.errors import DpauditError, ParameterError, TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.rankings import read_profile

DATA_PARAMETER = "profile"
"""Parameter that takes the rankings of a data file."""

DATA_SIZES = {"agents": "agents", "alternatives": "alternatives", "items": "alternatives"}
"""Parameters that the data decide, each with the property of the profile that it is."""


def instantiate(
    target: type[Mechanism], parameters: Mapping[str, Any], data: tuple[str, str] | None = None
) -> Mechanism:
    """Make a target, with the profile of a data file if there is one."""
    known = target.parameter_names()
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"{target.name} has no parameter {name!r}{suggestion(name, known)}; it has {', '.join(known)}"
            )
    given = dict(parameters)
    if data is not None:
        profile = read_profile(data[0])
        given[DATA_PARAMETER] = profile
        given.update({name: getattr(profile, size) for name, size in DATA_SIZES.items() if name in known})
    missing = [name for name, _, default, _ in target.parameter_table() if default == "required" and name not in given]
    if missing:
        raise ParameterError(f"{target.name} needs a value for {', '.join(missing)}; give it with --set {missing[0]}=…")
    with _code_of(target, "`validate`"):
        return target(**given)


def claims_of(mechanism: Mechanism) -> list[Claim]:
    """Claims of a mechanism.

    Raises
    ------
    TargetError
        ``claims`` raised, or returned something else than claims with ids of their own.
    """
    with _code_of(type(mechanism), "`claims`"):
        claims = list(mechanism.claims())
    for claim in claims:
        if not isinstance(claim, Claim):
            raise TargetError(
                f"{mechanism.name}: `claims` returned {type(claim).__name__} among its claims; return dpaudit claims"
            )
    names = [claim.id for claim in claims]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TargetError(f"{mechanism.name}: `claims` returned two claims named {twice[0]!r}; give each its own id")
    return claims


@contextmanager
def _code_of(target: type[Mechanism], what: str) -> Iterator[None]:
    """Say where a target's own code raised."""
    try:
        yield
    except DpauditError:
        raise
    except (Exception, SystemExit) as error:
        line = line_in(inspect.getfile(target), error)
        where = f" on line {line}" if line else ""
        raise TargetError(f"{target.name}: {what} raised {type(error).__name__}{where}: {error}; mend it") from error


def described_parameters(mechanism: Mechanism, data: tuple[str, str] | None) -> dict[str, Any]:
    """Parameters as the record holds them; a profile by its file name and hash, without those it makes meaningless."""
    left_out = (DATA_PARAMETER, *(mechanism.synthetic if data is not None else ()))
    values = {name: value for name, value in mechanism.parameters().items() if name not in left_out}
    described: dict[str, Any] = plain(values)
    if data is not None:
        described["data"] = f"{Path(data[0]).name} (SHA-256 {data[1][:16]})"
    return described
