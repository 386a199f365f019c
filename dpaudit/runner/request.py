"""What a user asks to be checked, and the command that asks for it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from dpaudit.auditors.sampling.budget import Features, Method
from dpaudit.errors import ParameterError, RecordError
from dpaudit.plan import Scalar
from dpaudit.sources.declarations import PREFIX, command_target, declaration_of

NULL: Final = "null"
"""What ``--set`` calls the value None."""

DEFAULT_ERROR_PROBABILITY: Final = 0.001
"""Error probability of every result where neither the request nor the plan says another."""

_DIGITS = 6

MOST_CELLS: Final = 20_000
"""Cells that a request may come to where it does not allow more."""


def setting(value: Scalar) -> str:
    """Return a value as ``--set`` takes it."""
    return NULL if value is None else str(value)


def from_setting(text: str) -> Scalar:
    """Return the value that a text of ``--set`` stands for; parameters turn texts into numbers themselves."""
    return None if text == NULL else text


def spelled(target: str) -> list[str]:
    """Return the words of a command line that mean a target."""
    return declaration_of(target).options if target.startswith(PREFIX) else [target]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a user asks to be checked; the options of ``dpaudit check``.

    Attributes
    ----------
    targets
        TARGET arguments; none means every plan found.
    claims
        Claim ids to keep; none means all.
    set
        Parameter values that replace the plan's, each a list.
    data
        A data file.
    samples, method, stop_early, features
        As in the budget. Of ``method``, ``stop_early`` and ``features`` a plan says what the request leaves open.
    confidence
        Confidence of every result, 1 less its error probability; None for that of the plan, or else 0.999.
    seed
        Seed of the run, >= 0.
    quick
        Spend a tenth of the samples.
    figures
        Published figures and tables to measure again: ids of claims, how they begin, or what they reproduce; empty for
        all of them. None: all claims but those of kind ``figure``, which are audited only where they are named.
    with_figures
        Audit the claims of kind ``figure`` too, beside all others.
    max_cells
        How many cells it may come to, >= 1.
    shard
        Which part of the cells to audit, from 1, and of how many; None for all of them.
    """

    targets: Sequence[str] = ()
    claims: Sequence[str] = ()
    set: Mapping[str, list[Scalar]] = field(default_factory=dict)
    data: str | None = None
    samples: int | None = None
    confidence: float | None = None
    method: Method | None = None
    stop_early: bool = False
    features: Features = "none"
    seed: int = 0
    quick: bool = False
    figures: Sequence[str] | None = None
    with_figures: bool = False
    max_cells: int = MOST_CELLS
    shard: tuple[int, int] | None = None

    @property
    def command(self) -> str:
        """The command that asks for the same."""
        targets = [word for target in self.targets for word in spelled(target)]
        words = ["dpaudit", *(["check", *targets] if self.figures is None else ["reproduce", *self.figures])]
        for claim in self.claims:
            words += ["--claim", claim]
        for name, values in self.set.items():
            words += ["--set", f"{name}={','.join(map(setting, values))}"]
        options = {
            "--data": self.data,
            "--samples": self.samples,
            "--method": self.method,
            "--confidence": None if self.confidence is None else repr(self.confidence),
        }
        for option, value in options.items():
            words += [] if value is None else [option, str(value)]
        words += ["--stop-early"] if self.stop_early else []
        words += [] if self.features == "none" else ["--features", self.features]
        words += ["--quick"] if self.quick else []
        words += ["--with-figures"] if self.with_figures else []
        words += [] if self.max_cells == MOST_CELLS else ["--max-cells", str(self.max_cells)]
        words += [] if self.shard is None else ["--shard", "{}/{}".format(*self.shard)]
        return shlex.join([*words, "--seed", str(self.seed)])

    @classmethod
    def from_command(cls, command: str) -> Request:
        """Return the request that a command of a record stands for.

        Raises
        ------
        RecordError
            It is no command of ``dpaudit check`` or ``dpaudit reproduce``.
        """
        parser = _Parser(add_help=False)
        commands = parser.add_subparsers(dest="command", required=True)
        check, reproduce = (
            commands.add_parser("check", add_help=False),
            commands.add_parser("reproduce", add_help=False),
        )
        check.add_argument("targets", nargs="*")
        reproduce.add_argument("figures", nargs="*")
        for option in ("--command", "--pairs", "--inputs", "--relation", "--guarantee"):
            check.add_argument(option, dest=f"command_{option[2:]}")
        check.add_argument("--timeout", dest="command_timeout", type=float)
        for option in _CLAIMED:
            check.add_argument(option, dest=option, type=float)
        for each in (check, reproduce):
            each.add_argument("--claim", dest="claims", action="append", default=[])
            each.add_argument("--set", action="append", default=[])
            each.add_argument("--data")
            each.add_argument("--samples", type=int)
            each.add_argument("--confidence", type=float)
            each.add_argument("--method", choices=get_args(Method))
            each.add_argument("--features", choices=get_args(Features), default="none")
            each.add_argument("--seed", type=int, default=0)
            each.add_argument("--max-cells", type=int, default=MOST_CELLS)
            each.add_argument("--seconds", type=float)
            each.add_argument("--shard", type=shard_of)
            for flag in ("--stop-early", "--quick", "--with-figures"):
                each.add_argument(flag, action="store_true")
        try:
            words = shlex.split(command)
            found: dict[str, Any] = vars(parser.parse_args(words[1:]))
        except (ValueError, ParameterError) as error:
            raise RecordError(f"{command!r} is not a command of dpaudit ({error})") from None
        found.pop("command")
        found.pop("seconds")
        said = {key.removeprefix("command_"): found.pop(key) for key in list(found) if key.startswith("command_")}
        claimed = {option: found.pop(option, None) for option in _CLAIMED}
        if said.get("command") is not None:
            found["targets"] = [command_target(said.pop("command"), **said, claimed=claimed)]
        pairs = [text.partition("=") for text in found.pop("set")]
        found["set"] = {name: [from_setting(value) for value in values.split(",")] for name, _, values in pairs}
        return cls(**found)


_CLAIMED = ("--claim-epsilon", "--claim-delta", "--claim-rho", "--claim-mu", "--order")
"""Options by which a command claims something."""


def shard_of(text: str) -> tuple[int, int]:
    """Read which part of the cells to audit: ``2/5`` is the second of five.

    Raises
    ------
    ParameterError
        It is not such a text.
    """
    number, slash, of = text.partition("/")
    if slash and all(part.isascii() and part.isdigit() and len(part) <= _DIGITS for part in (number, of)):
        found = int(number), int(of)
        if 1 <= found[0] <= found[1]:
            return found
    raise ParameterError(f"--shard {text}: write NUMBER/OF, such as 2/5 for the second of five parts")


class _Parser(argparse.ArgumentParser):
    """Raises instead of ending the process."""

    def error(self, message: str) -> Any:
        raise ValueError(message)
