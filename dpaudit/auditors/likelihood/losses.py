"""The privacy loss of sampled outputs, from a mechanism's own log-likelihood, with every value checked."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.outputs import OutputsLike, raw_of
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.guarantees import ROUNDING
from dpaudit.claims.inputs import Pair, short_repr
from dpaudit.errors import CheckError, DpauditError, TargetRaisedError
from dpaudit.floating_point import their_settings
from dpaudit.mechanism import Mechanism

_COMPARED, _CLOSE = 64, 1e-6
_DOUBLE = 8
"""Bytes of a number of double precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Outputs sampled on one input, with their log-likelihood there and on another, each of shape (size,)."""

    outputs: np.ndarray
    log_p: np.ndarray
    log_q: np.ndarray

    @property
    def loss(self) -> np.ndarray:
        """Privacy loss log p - log q; ``inf`` where the other input makes the output impossible."""
        with np.errstate(over="ignore"):  # so far apart is as good as impossible
            difference: np.ndarray = self.log_p - self.log_q
        return difference

    def beyond(self, level: float) -> np.ndarray:
        """How far the loss is above a level, less what rounding can make of the log-likelihoods."""
        finite = np.where(np.isfinite(self.log_q), np.abs(self.log_q), 0.0)
        scale = np.maximum(np.maximum(np.abs(self.log_p), finite), max(1.0, level))
        excess: np.ndarray = self.loss - level - ROUNDING * scale
        return excess


def knows_likelihood(mechanism: Mechanism, data: Any, streams: Streams) -> bool:
    """Whether ``log_likelihood`` is overridden and gives anything for an output on this input."""
    if type(mechanism).log_likelihood is Mechanism.log_likelihood:
        return False
    sampler = Sampler(mechanism.sample, mechanism.name, streams, own_randomness=mechanism.own_randomness)
    return _call(mechanism, sampler.draw(data, 1, "probe"), data) is not None


def sampled_losses(
    mechanism: Mechanism, sampler: Sampler, p_input: Any, q_input: Any, size: int, *purpose: str | int
) -> Iterator[Losses]:
    """Yield chunks of outputs on ``p_input`` with their likelihoods.

    Raises
    ------
    CheckError
        ``sample`` or ``log_likelihood`` breaks its contract, or the former gives what the latter calls impossible.
    TargetRaisedError
        Either raised.
    """
    for outputs in sampler.chunks(p_input, size, *purpose):
        log_p = _log_likelihood(mechanism, outputs, p_input)
        if (log_p == -np.inf).any():
            output = outputs[int(np.argmin(log_p))]
            raise CheckError(
                f"{mechanism.name}: `sample` gave {short_repr(output)} for the input {short_repr(p_input)}, which "
                "`log_likelihood` calls impossible there (-inf); mend whichever is wrong"
            )
        yield Losses(outputs=outputs, log_p=log_p, log_q=_log_likelihood(mechanism, outputs, q_input))


def check_rows(mechanism: Mechanism, pair: Pair, streams: Streams) -> None:
    """Raise CheckError where the likelihood of an output depends on the other outputs that it is asked for with."""
    sampler = Sampler(mechanism.sample, mechanism.name, streams, own_randomness=mechanism.own_randomness)
    outputs = sampler.draw(pair[0], _COMPARED, "rows")
    for data in pair:
        whole = _log_likelihood(mechanism, outputs, data)
        parts = [
            _log_likelihood(mechanism, part, data) for part in (outputs[: _COMPARED // 2], outputs[_COMPARED // 2 :])
        ]
        if not np.allclose(whole, np.concatenate(parts), rtol=_CLOSE, atol=_CLOSE):
            raise CheckError(
                f"{mechanism.name}: `log_likelihood` for the input {short_repr(data)} gave an output another number "
                "among other outputs; look at every output on its own"
            )


@dataclass(frozen=True, slots=True)
class LossScore:
    """How far the privacy loss of every output is above a level, beyond rounding; as a score of the outputs."""

    cost: ClassVar[int] = 9
    log_ratio: ClassVar[bool] = False

    mechanism: Mechanism
    p_input: Any
    q_input: Any
    level: float

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        """Excess of every output, shape (size,)."""
        outputs = raw_of(outputs)
        log_p, log_q = (_log_likelihood(self.mechanism, outputs, data) for data in (self.p_input, self.q_input))
        with np.errstate(invalid="ignore"):
            excess = Losses(outputs=outputs, log_p=log_p, log_q=log_q).beyond(self.level)
        return np.where(np.isnan(excess), -np.inf, excess)

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Return the event in words."""
        return {"outputs whose privacy loss exceeds": self.level}

    def to_json(self) -> None:
        """Return nothing: the likelihood is the mechanism's own."""


def _call(mechanism: Mechanism, outputs: np.ndarray, data: Any) -> Any:
    try:
        with their_settings():
            return mechanism.log_likelihood(outputs.copy(), copy.deepcopy(data))
    except DpauditError:
        raise
    except Exception as error:
        raise TargetRaisedError(
            f"{mechanism.name}: `log_likelihood` raised {type(error).__name__}: {error} "
            f"(input {short_repr(data)}, outputs of shape {outputs.shape})"
        ) from error


def _log_likelihood(mechanism: Mechanism, outputs: np.ndarray, data: Any) -> np.ndarray:
    raw = _call(mechanism, outputs, data)
    where = f"{mechanism.name}: `log_likelihood` for the input {short_repr(data)} returned"
    if raw is None:
        raise CheckError(f"{where} None, but an array for another input or output; return one for every input")
    if np.ma.is_masked(raw):
        raise CheckError(f"{where} a masked array; return a number for each output")
    try:
        values = np.asarray(raw)
    except ValueError:
        values = np.empty((), dtype=object)
    if values.dtype.kind not in "biuf":
        raise CheckError(f"{where} values of dtype {values.dtype}; return one real number for each output")
    if values.shape != (len(outputs),):
        raise CheckError(
            f"{where} an array of shape {values.shape} for {len(outputs)} outputs; return shape ({len(outputs)},)"
        )
    if values.dtype.kind == "f" and values.dtype.itemsize < _DOUBLE:
        raise CheckError(
            f"{where} numbers of dtype {values.dtype}, whose rounding may look like a violation; compute them in "
            "double precision, for instance from outputs.astype(float)"
        )
    with np.errstate(over="ignore"):  # what double precision cannot hold becomes infinite
        values = values.astype(float)
    for bad, name in ((np.isnan(values), "NaN"), (values == np.inf, "+inf")):
        if bad.any():
            output = outputs[int(np.argmax(bad))]
            raise CheckError(
                f"{where} {name} for the output {short_repr(output)}; return a finite number, or -inf where the output "
                "is impossible"
            )
    return values
