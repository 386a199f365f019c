"""What an audit may spend and how sure it must be."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, get_args

import numpy as np

from dpaudit.auditors.sampling.pace import Announce, Pace, clock
from dpaudit.auditors.sampling.work import Work
from dpaudit.claims.inputs import short_repr
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError

Method = Literal["auto", "exact", "likelihood", "black-box"]
Features = Literal["none", "float-bits"]

DEFAULT_SAMPLES = 1_000_000
DEFAULT_CONFIDENCE = 0.999


def complement(probability: float) -> float:
    """1 less a probability, as written in decimals: 0.001 for 0.999, where floating point has a little more.

    Confidence and error probability are each the complement of the other, whichever of the two was given.
    """
    return float(1 - Decimal(repr(float(probability))))


def check_confidence(confidence: float) -> None:
    """Raise ParameterError where a confidence is not above 0 and below 1, or too near to either to be told from it."""
    if not in_range(confidence, 0, 1, without=(0.0, 1.0)):
        raise ParameterError(f"confidence must be above 0 and below 1, got {short_repr(confidence)}")
    if complement(confidence) == 1:
        raise ParameterError(f"confidence must be at least 1e-15, got {confidence}, whose complement is 1")


def deadline_in(seconds: float | None) -> float | None:
    """Return the time, in seconds since the epoch, that is so many seconds from now; None for None.

    Raises
    ------
    ParameterError
        That is no number of seconds above 0.
    """
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not in_range(seconds, 0, without=(0.0,)):
        raise ParameterError(f"seconds must be above 0 and finite, got {short_repr(seconds)}")
    return clock() + float(seconds)


def sees_features(method: Method) -> bool:
    """Whether a method can look at features of the outputs."""
    return method in ("auto", "black-box")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Spending and confidence of one audit.

    Attributes
    ----------
    samples
        Samples per input of a privacy audit, runs of a utility measurement, or draws of a lemma's instances; None for
        the default of each.
    confidence
        Probability, at least, with which every confidence statement of this audit is true, in (0, 1).
    method
        ``exact``, ``likelihood`` and ``black-box`` insist; ``auto`` takes the strongest that applies.
    stop_early
        Stop a black-box audit as soon as the claim is refuted.
    features
        What a black-box audit looks at besides what the mechanism says: ``float-bits`` for the bit patterns of
        floating-point outputs. With ``auto`` that is a wish to look at samples: it implies ``black-box``.
    deadline
        Time in seconds since the epoch (``time.time()``) at which an audit by sampling stops with what it has; None
        for never. Calls under way are waited for.
    announce
        Called with words on how long sampling is going to take, where that is long, and on how far it has come.
    work
        What is known of the parts of a black-box audit, which others do where they take long; None where it does all.
    """

    samples: int | None = None
    confidence: float = DEFAULT_CONFIDENCE
    method: Method = "auto"
    stop_early: bool = False
    features: Features = "none"
    deadline: float | None = None
    announce: Announce | None = None
    work: Work | None = None

    def __post_init__(self) -> None:
        if self.samples is not None and (
            isinstance(self.samples, bool) or not isinstance(self.samples, int | np.integer)
        ):
            raise ParameterError(f"samples must be a whole number, such as 20000, got {self.samples!r}")
        if self.samples is not None and self.samples < 1:
            raise ParameterError(f"samples must be at least 1, got {self.samples}")
        check_confidence(self.confidence)
        if self.method not in get_args(Method):
            raise ParameterError(f"method must be one of {', '.join(get_args(Method))}, got {self.method!r}")
        if self.features not in get_args(Features):
            raise ParameterError(f"features must be one of {', '.join(get_args(Features))}, got {self.features!r}")
        if self.features != "none" and not sees_features(self.method):
            raise ParameterError(
                f"features {self.features} are looked at in samples by the method black-box, not by {self.method}; "
                "leave one of the two out"
            )

    @property
    def alpha(self) -> float:
        """Error probability."""
        return complement(self.confidence)

    def pace(self, planned: int) -> Pace:
        """Return the pace of an audit that is going to draw so many outputs."""
        return Pace(planned=planned, deadline=self.deadline, announce=self.announce)
