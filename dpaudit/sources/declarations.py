"""What is said of a command that is audited: its words, parameters and inputs; as text, and what its files are."""

from __future__ import annotations

import hashlib
import itertools
import json
import keyword
import math
import os
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from dpaudit.claims.guarantees.named import KINDS, NUMBERS, kind_claimed
from dpaudit.claims.inputs import short_repr
from dpaudit.errors import ParameterError, TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.reading import MEBIBYTE, parse_json, read_text, shortened
from dpaudit.sources.programs import located

PREFIX: Final = "command:"
"""What a TARGET begins with that is a command, with all that is said of it as JSON."""

DEFAULT_TIMEOUT: Final = 60.0

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{([A-Za-z_]\w*)\}")
_PLAIN = re.compile(r"[A-Za-z0-9@%+=:,./{}_-]+")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_INTERPRETED = (".py", ".js", ".mjs", ".jar", ".R", ".rb", ".pl", ".jl", ".sh", ".php")
_LARGEST_PLAN = 16 * MEBIBYTE
_MOST_FILES, _MOST_BYTES = 10_000, 1024 * MEBIBYTE

Scalar = int | float | str | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandDeclaration:
    """A command with what an audit has to know of it.

    Attributes
    ----------
    command
        Its words. ``{name}`` in any but the first stands for the parameter of that name, ``{{name}}`` for itself.
    pairs
        Neighbouring inputs, as JSON has them.
    inputs
        In their place, inputs of which any two are neighbours.
    parameters
        Values where no others are set. ``epsilon`` and ``delta`` are what is claimed.
    name
        Name of the target; by default that of the program.
    relation
        The neighbouring relation in words.
    timeout
        Seconds without a byte after which the program is taken to hang.
    folder
        Folder that it runs in; the current one where it is empty.
    origin
        The plan that declares it; empty where it is declared elsewhere.
    guarantee
        Kind of guarantee that it claims: ``approximate`` (parameters ``epsilon`` and ``delta``), ``gaussian`` (``mu``),
        ``zero-concentrated`` (``rho`` and ``delta``) or ``renyi`` (``order`` and ``epsilon``).

    Raises
    ------
    ParameterError
        A value that it cannot have.
    """

    command: tuple[str, ...]
    pairs: tuple[tuple[Any, Any], ...] = ()
    inputs: tuple[Any, ...] = ()
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    name: str = ""
    relation: str = ""
    timeout: float = DEFAULT_TIMEOUT
    folder: str = ""
    origin: str = ""
    guarantee: str = "approximate"

    def __post_init__(self) -> None:
        words = shlex_split(self.command) if isinstance(self.command, str) else self.command
        if not isinstance(words, list | tuple) or not words or not all(isinstance(word, str) for word in words):
            raise ParameterError(f"command: give a list of words, got {shortened(self.command)}")
        if not words[0] or any("\0" in word for word in words):
            raise ParameterError(f"command: the program has no name that a file can have: {shortened(words)}")
        if _PLACEHOLDER.search(words[0]):
            raise ParameterError(f"command: {words[0]!r} names the program, which no parameter may decide")
        self._set("command", tuple(words))
        if self.name and not _NAME.fullmatch(self.name):
            raise ParameterError(f"command: name {self.name!r} must be of letters, digits, '-', '_' and '.'")
        self._set("name", self.name or _name_of(self.command))
        if bool(self.pairs) == bool(self.inputs):
            raise ParameterError(
                f"{self.name}: give `pairs`, a list of pairs of neighbouring inputs, or `inputs`, any two of which are "
                "neighbours"
            )
        self._set("pairs", tuple(self._pairs()))
        self._set("inputs", tuple(self._plain(each) for each in self._listed("inputs", self.inputs)))
        if len(self.inputs) == 1:
            raise ParameterError(f"{self.name}: `inputs` has one input; give at least two to compare")
        number = isinstance(self.timeout, int | float) and not isinstance(self.timeout, bool)
        if not number or not 0 < self.timeout < math.inf:
            raise ParameterError(f"{self.name}: timeout must be a number of seconds above 0, got {self.timeout!r}")
        self._set("timeout", float(self.timeout))
        if not isinstance(self.relation, str):
            raise ParameterError(f"{self.name}: relation must be a text, got {shortened(self.relation)}")
        if self.guarantee not in KINDS:
            raise ParameterError(
                f"{self.name}: guarantee must be one of {', '.join(KINDS)}, got {shortened(self.guarantee)}"
            )
        self._check_parameters()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _listed(self, name: str, value: Any) -> Sequence[Any]:
        if not isinstance(value, list | tuple | np.ndarray):
            raise ParameterError(f"{self.name}: `{name}` must be a list, got {shortened(value)}")
        return list(value)

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        for place, pair in enumerate(self._listed("pairs", self.pairs)):
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise ParameterError(
                    f"{self.name}: `pairs` has {short_repr(pair)} at place {place}; list pairs [x, y] of inputs"
                )
            yield self._plain(pair[0]), self._plain(pair[1])

    def _plain(self, value: Any) -> Any:
        """An input as the program gets it."""
        return json.loads(self.encoded(value))

    def encoded(self, value: Any) -> str:
        """Return an input as JSON.

        Raises
        ------
        ParameterError
            JSON cannot hold it.
        """
        try:
            return json.dumps(value, allow_nan=False, default=_default)
        except (ValueError, TypeError, RecursionError) as error:
            raise ParameterError(
                f"{self.name}: the input {short_repr(value)} cannot be sent as JSON ({error}); give numbers, texts, "
                "true, false, null, and lists and objects of them"
            ) from None

    def _check_parameters(self) -> None:
        if not isinstance(self.parameters, Mapping):
            raise ParameterError(f"{self.name}: `parameters` must map names to values, got {self.parameters!r}")
        for name in self.parameter_names:
            if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
                raise ParameterError(
                    f"{self.name}: {name!r} cannot be the name of a parameter; use letters, digits and '_'"
                )
            if name.startswith("_") or hasattr(Mechanism, name) or name == "declaration":
                raise ParameterError(f"{self.name}: no parameter can be called {name!r}; give it another name")
        for name, value in self.parameters.items():
            if not isinstance(value, int | float | str):
                raise ParameterError(f"{self.name}: parameter {name!r} must be a number or a text, got {value!r}")
        self._set("parameters", dict(self.parameters))

    @property
    def parameter_names(self) -> list[str]:
        """Names of all parameters: what is claimed first, and then as the command has them."""
        used = [match[2] for word in self.command for match in _PLACEHOLDER.finditer(word) if match[2]]
        return list(dict.fromkeys([*NUMBERS[self.guarantee], *used, *self.parameters]))

    @property
    def shown(self) -> str:
        """The command as it is typed."""
        return " ".join(word if _PLAIN.fullmatch(word) else shlex.quote(word) for word in self.command)

    @property
    def place(self) -> Path:
        """Folder that it runs in."""
        return Path(self.folder).absolute() if self.folder else Path.cwd()

    def words(self, values: Mapping[str, Any]) -> list[str]:
        """Return the words with values in place of the parameters.

        Raises
        ------
        ParameterError
            A text that the program would take for an option.
        """

        def value(match: re.Match[str]) -> str:
            if not match[2]:
                return f"{{{match[1]}}}"
            given = values[match[2]]
            if isinstance(given, str) and given.startswith("-") and not match.start():
                raise ParameterError(
                    f"{self.name}: parameter '{match[2]}': {given!r} begins with '-', which a program takes for an "
                    "option; write the option into the command"
                )
            return str(given).lower() if isinstance(given, bool) else str(given)

        return [_PLACEHOLDER.sub(value, word) for word in self.command]

    @property
    def text(self) -> str:
        """The TARGET that means it."""
        if self.origin:
            return self.origin
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        defaults = {each.name: each.default for each in fields(self)}
        kept = {name: value for name, value in said.items() if value and value != defaults[name]}
        kept = {name: value for name, value in kept.items() if name != "name" or value != _name_of(self.command)}
        return PREFIX + json.dumps(kept, sort_keys=True, ensure_ascii=False)

    @property
    def whole(self) -> str:
        """The same in full, whatever becomes of the plan."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        return PREFIX + json.dumps(said, sort_keys=True, ensure_ascii=False)

    @property
    def options(self) -> list[str]:
        """Words of the command line that mean it."""
        if self.origin:
            return [self.origin]
        words = ["--command", self.shown]
        if self.pairs:
            words += ["--pairs", json.dumps(self.pairs)]
        else:
            words += ["--inputs", json.dumps(self.inputs)]
        words += ["--guarantee", self.guarantee] if self.guarantee != "approximate" else []
        for name in NUMBERS[self.guarantee]:
            option = "--order" if name == "order" else f"--claim-{name}"
            words += [option, str(self.parameters[name])] if name in self.parameters else []
        words += ["--relation", self.relation] if self.relation else []
        return words + (["--timeout", f"{self.timeout:g}"] if self.timeout != DEFAULT_TIMEOUT else [])

    def digest(self, values: Mapping[str, Any] | None = None) -> str:
        """SHA-256 of the declaration and of the files that its words name; empty where these are too many to read.

        Parameters
        ----------
        values
            Values of the parameters; None leaves words with parameters as they are.
        """
        words = list(self.command) if values is None else self.words(values)
        said = [words, self.pairs, self.inputs, self.relation, self.name, self.timeout]
        said += [dict(self.parameters)] if values is None else []
        said += [self.guarantee] if self.guarantee != "approximate" else []
        parts = [json.dumps(said, sort_keys=True)]
        total = 0
        for file in _files(words, self.place):
            status = file.stat()
            total += status.st_size
            parts.append(_digest(str(file), status.st_mtime_ns, status.st_size))
            if len(parts) > _MOST_FILES or total > _MOST_BYTES:
                return ""
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def is_command(text: str) -> bool:
    """Whether a TARGET is a command, or a plan, which may declare one."""
    return text.startswith(PREFIX) or text.endswith(".toml")


def command_target(
    command: str,
    *,
    pairs: str | None = None,
    inputs: str | None = None,
    guarantee: str | None = None,
    claimed: Mapping[str, float | None] | None = None,
    relation: str | None = None,
    timeout: float | None = None,
) -> str:
    """Return the TARGET that options of the command line mean; what is claimed, by the options that claim it.

    Raises
    ------
    ParameterError
        One cannot be used.
    """
    if not command.strip():
        raise ParameterError("--command: '' names no program; give it as in a shell, such as './sampler {epsilon}'")
    if pairs is not None and inputs is not None:
        raise ParameterError("--command: --inputs and --pairs both give the inputs; leave one of them out")
    if pairs is None and inputs is None:
        raise ParameterError(
            "--command: give the inputs as well: --inputs '[x, y]', any two of which are neighbours, or --pairs "
            "'[[x, y], ...]'"
        )
    given: dict[str, Any] = {"command": tuple(shlex_split(command))}
    for name, text in (("pairs", pairs), ("inputs", inputs)):
        if text is not None:
            given[name] = from_json(text, f"--{name}")
            if not given[name]:
                raise ParameterError(f"--{name}: {text} has nothing to compare; give at least two inputs")
    options = claimed or {}
    given["guarantee"] = kind_claimed(guarantee, options)
    given["parameters"] = {
        option.removeprefix("--").removeprefix("claim-"): value
        for option, value in options.items()
        if value is not None
    }
    given |= {name: value for name, value in (("relation", relation), ("timeout", timeout)) if value is not None}
    return CommandDeclaration(**given).text


def declaration_of(text: str) -> CommandDeclaration:
    """Return what a TARGET declares that is a command or a plan with one.

    Raises
    ------
    TargetError
        It declares none.
    ParameterError
        What it declares cannot be.
    """
    if not text.startswith(PREFIX):
        return _in_plan(text)
    try:
        said = parse_json(text.removeprefix(PREFIX))
        return CommandDeclaration(**said)
    except (ValueError, TypeError) as error:
        if isinstance(error, ParameterError):
            raise
        raise TargetError(f"{shortened(text)}: no declaration of a command ({error})") from None


KEYS: Final = ("command", "name", "parameters", "pairs", "inputs", "relation", "timeout", "guarantee")
"""Keys of a plan that declare a command."""


def declared(said: Mapping[str, Any], path: str) -> CommandDeclaration:
    """Return the command that the keys of a plan declare; paths are relative to the plan.

    Raises
    ------
    ParameterError
        What they declare cannot be.
    """
    given = {key: said[key] for key in KEYS if said.get(key) is not None}
    for key in ("pairs", "inputs"):
        if isinstance(given.get(key), str):
            given[key] = from_json(given[key], f"key '{key}'")
    made = CommandDeclaration(**given, folder=str(Path(path).resolve().parent), origin=path)
    # A parameter without a value of its own has the first one that the plan sets.
    values = dict(made.parameters)
    for audit in said.get("audit", ()):
        for name, value in audit.get("set", {}).items():
            if name in made.parameter_names:
                values.setdefault(name, value[0] if isinstance(value, list) and value else value)
    return replace(made, parameters=values)


def from_json(text: str, where: str) -> Any:
    """Return what a text of JSON stands for.

    Raises
    ------
    ParameterError
        It is none.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise ParameterError(f"{where}: {shortened(text)} is not JSON ({error}); write it like '[0, 1]'") from None


def shlex_split(text: str) -> list[str]:
    """Return the words of a command as a shell would split them; nothing else of a shell is done.

    Raises
    ------
    ParameterError
        A quotation does not end.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ParameterError(f"command {shortened(text)}: {error}") from None


def _in_plan(path: str) -> CommandDeclaration:
    try:
        said = tomllib.loads(read_text(path, most=_LARGEST_PLAN))
    except (OSError, ValueError) as error:
        raise TargetError(f"{path}: cannot read the plan ({getattr(error, 'strerror', None) or error})") from None
    if "command" not in said:
        raise TargetError(f"{path}: declares no command")
    return declared(said, path)


def _name_of(words: Sequence[str]) -> str:
    """Name of a program: of the script, where the first word is what runs one."""
    scripts = [word for word in words[1:] if word.endswith(_INTERPRETED) and not _PLACEHOLDER.search(word)]
    runs_scripts = not words[0].endswith(_INTERPRETED) and os.sep not in words[0].removeprefix(os.sep + "usr")
    named = scripts[0] if scripts and (runs_scripts or Path(words[0]).is_absolute()) else words[0]
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(named).stem).strip("-_.")
    return stem or "command"


def _default(value: Any) -> Any:
    """Return what numpy has as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def _files(words: Sequence[str], folder: Path) -> Iterator[Path]:
    """Files that words name, and those in folders that they name: the program, scripts, archives, class paths."""
    seen = set()
    for place, word in enumerate(words):
        parts = [word, *word.partition("=")[2].split(os.pathsep), *word.split(os.pathsep)]
        candidates = [located(words, folder)] if not place else [folder / part for part in parts if part]
        for path in candidates:
            try:
                inside = sorted(path.rglob("*")) if path.is_dir() else [path]
                found = [each for each in itertools.islice(inside, _MOST_FILES + 1) if each.is_file()]
            except (OSError, ValueError):
                continue
            yield from (each for each in found if each not in seen)
            seen |= set(found)


@lru_cache(maxsize=4096)
def _digest(path: str, _changed: int, _size: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
