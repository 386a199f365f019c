"""A program as a mechanism: it reads requests and answers with outputs, and is audited like any other.

The protocol, ``dpaudit.sampler/1``, is described in ``docs/audit-what-is-not-python.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.claims.guarantees.named import NUMBERS, Named, named_guarantee
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.mechanism import Mechanism, parameter
from dpaudit.sources.conversation import Conversation, check_program
from dpaudit.sources.declarations import DEFAULT_TIMEOUT, CommandDeclaration, Scalar, declaration_of

_SEEDS = 1 << 53
"""Seeds that every language has as a number."""


class CommandMechanism(Mechanism):
    """A program that samples, in any language, with the claim that its outputs are (epsilon, delta)-private.

    The program writes one line that says what it is, reads one JSON request a line, and answers each with outputs, as
    ``docs/audit-what-is-not-python.md`` specifies. It is started when the first output is needed, checked once for
    keeping to the protocol, and ended, with what it started, when the mechanism is gone.

    Parameters
    ----------
    command
        Its words, or one text that is split as a shell does. ``{name}`` stands for the parameter of that name.
    parameters
        Values of the parameters. ``epsilon`` (above 0) and ``delta`` (0 if not given) are what is claimed, or else the
        numbers of another guarantee; every ``{name}`` of the command is another one.
    pairs
        Neighbouring inputs, a list of tuples ``(x, y)`` of what JSON can hold.
    inputs
        In place of ``pairs``, inputs of which any two are neighbours.
    name
        Name of the target; by default that of the program.
    relation
        The neighbouring relation, in words.
    timeout
        Seconds without a byte of an answer after which the program is taken to hang.
    folder
        Folder that it runs in; by default the current one.
    guarantee
        What is claimed: ``approximate``; ``zero-concentrated`` (parameters ``rho`` and ``delta``), ``gaussian``
        (``mu``) or ``renyi`` (``order`` and ``epsilon``).

    Raises
    ------
    ParameterError
        A value that cannot be used. What the program does wrong is raised when it samples: `TargetRaisedError` where
        it crashed or hangs, `CheckError` where it does not keep to the protocol, `TargetError` where it cannot run.

    Examples
    --------
    >>> noisy = CommandMechanism(
    ...     command=["./noisy_count", "{epsilon}"], parameters={"epsilon": 1.0}, pairs=[([0, 1], [1, 1])]
    ... )
    >>> noisy.name, noisy.parameters()
    ('noisy_count', {'epsilon': 1.0, 'delta': 0.0})
    """

    may_fail = True
    declaration: ClassVar[CommandDeclaration]
    """What its class is made from."""

    def __init__(
        self,
        *,
        command: str | Sequence[str],
        parameters: Mapping[str, Scalar] | None = None,
        pairs: Iterable[tuple[Any, Any]] = (),
        inputs: Iterable[Any] = (),
        name: str = "",
        relation: str = "",
        timeout: float = DEFAULT_TIMEOUT,
        folder: str = "",
        guarantee: Named = "approximate",
    ) -> None:
        made = command_class(
            CommandDeclaration(
                command=command,  # type: ignore[arg-type]  # split there
                parameters={} if parameters is None else parameters,
                pairs=pairs,  # type: ignore[arg-type]  # listed there
                inputs=inputs,  # type: ignore[arg-type]
                name=name,
                relation=relation,
                timeout=timeout,
                folder=folder,
                guarantee=guarantee,
            )
        )
        # Parameters are fields of a class, and every command has its own.
        object.__setattr__(self, "__class__", made)
        made.__init__(self)  # type: ignore[call-arg]

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.declaration.whole, self.parameters())

    @classmethod
    def converted(cls, name: str, value: Any) -> Any:
        """Return a parameter's value as an instance that is given it gets it."""
        return super().converted(name, _number(value))

    def __post_init__(self) -> None:
        for name in self.parameter_names():
            object.__setattr__(self, name, _number(getattr(self, name)))
        super().__post_init__()

    def validate(self) -> None:
        """Check that the command can be written with these parameters, and the claim made."""
        named_guarantee(self.declaration.guarantee, self.parameters())
        self.declaration.words(self.parameters())

    @property
    def own_randomness(self) -> bool:  # type: ignore[override]
        """Whether the program says that no seed fixes what it draws."""
        return not self._conversation().seeded

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Ask the program for outputs; their seed is drawn from ``rng``."""
        encoded = self.declaration.encoded(data)
        seed = int(rng.integers(_SEEDS))
        if "_checked" not in self.__dict__:
            words = tuple(self.declaration.words(self.parameters()))
            check_program(self.name, words, self.declaration, encoded)
            self.__dict__["_checked"] = True
        return self._conversation().ask(encoded, size, seed)

    def neighbours(self) -> Neighbouring:
        """Neighbouring inputs as they are declared."""
        said = self.declaration
        pairs = said.pairs
        if said.inputs:
            pairs = tuple((x, y) for place, x in enumerate(said.inputs) for y in said.inputs[place + 1 :])
        scope = "any two of the inputs given" if said.inputs else "the pairs given"
        return Neighbouring(relation=said.relation or scope, pairs=pairs, complete=False, scope=scope)

    def claims(self) -> list[PrivacyClaim]:
        """Return the claim, that its outputs keep what the declaration says: mostly (epsilon, delta)-DP."""
        values = self.parameters()
        guarantee = named_guarantee(self.declaration.guarantee, values)
        said = str(guarantee)
        if isinstance(guarantee, ApproximateDP):
            said = f"({guarantee.epsilon:.12g}, {guarantee.delta:.12g})-DP"
        statement = f"The outputs of `{self.declaration.shown}` are {said}."
        return [PrivacyClaim(id=f"{self.name}.privacy", statement=statement, guarantee=guarantee)]

    def _conversation(self) -> Conversation:
        held: Conversation | None = self.__dict__.get("_held")
        if held is None or not held.owned:
            words = self.declaration.words(self.parameters())
            held = Conversation(self.name, words, self.declaration.place, self.declaration.timeout)
            self.__dict__["_held"] = held
        return held


def _made(text: str, values: Mapping[str, Any]) -> CommandMechanism:
    return command_class(declaration_of(text))(**values)


def command_class(said: CommandDeclaration) -> type[CommandMechanism]:
    """Return the mechanism that a declaration stands for: a class with the command's parameters, one for all equals."""
    return _class(said.whole)


@lru_cache(maxsize=256)
def _class(whole: str) -> type[CommandMechanism]:
    said = declaration_of(whole)
    numbers = NUMBERS[said.guarantee]
    marks: dict[str, Any] = dict.fromkeys(numbers, float)
    docs = dict.fromkeys(numbers, "claimed")
    defaults: dict[str, Any] = {**({"delta": 0.0} if "delta" in numbers else {}), **said.parameters}
    content: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": f"The program `{said.shown}`.",
        "__annotations__": {name: marks.get(name, int | float | str) for name in said.parameter_names},
        "name": said.name,
        "declaration": said,
        "notation": "inputs and outputs are those of the program",
        "__repr__": _shown,
    }
    for each in said.parameter_names:
        default = {"default": defaults[each]} if each in defaults else {}
        content[each] = parameter(**default, doc=docs.get(each, "of the command"))
    made: type[CommandMechanism] = type("Command", (CommandMechanism,), content)
    return made


def _shown(self: CommandMechanism) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
    return f"CommandMechanism({self.declaration.shown!r}, {values})"


def _number(value: Any) -> Any:
    """Return the number that a text stands for, as `--set` gives it; anything else as it is."""
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            found = kind(value)
        except ValueError:
            continue
        return found if np.isfinite(found) and "_" not in value else value
    return value
