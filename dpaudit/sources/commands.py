"""A program as a mechanism: it reads requests and answers with outputs, and is audited like any other.

The protocol, ``dpaudit.sampler/1``, is described in ``docs/audit-what-is-not-python.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.claims.guarantees.named import NUMBERS, Named, named_guarantee
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.errors import ParameterError
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
    features, supports
        What to look at in the outputs, and which of them speak for an input: functions as the methods of these names
        of `dpaudit.Mechanism`, without ``self``. A subclass may have the methods in their place.

    Raises
    ------
    ParameterError
        A value that cannot be used, or a subclass that declares parameters: these are given as ``parameters``. What the
        program does wrong is raised when it samples: `TargetRaisedError` where it crashed or hangs, `CheckError` where
        it does not keep to the protocol, `TargetError` where it cannot run.

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
    looks: ClassVar[_Looks]
    """What else its class is made from: the functions that it was given."""
    _base: ClassVar[type[CommandMechanism]]

    def __init_subclass__(cls, **options: Any) -> None:
        written = "__init__" in cls.__dict__
        super().__init_subclass__(**options)
        if "declaration" in cls.__dict__:
            return
        # A subclass of the user's is given a command, as this class is; the class that a command makes has parameters.
        if cls.parameter_names():
            raise ParameterError(
                f"{cls.__name__}: give the parameter {cls.parameter_names()[0]!r} of the command in `parameters`; "
                "a subclass of `CommandMechanism` declares none"
            )
        if not written:
            del cls.__init__

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
        features: Callable[[np.ndarray], np.ndarray] | None = None,
        supports: Callable[[np.ndarray, Any], np.ndarray | None] | None = None,
    ) -> None:
        made = _class_of(
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
            ).whole,
            type(self),
            _Looks.of(features, supports),
        )
        # Parameters are fields of a class, and every command has its own.
        object.__setattr__(self, "__class__", made)
        made.__init__(self)  # type: ignore[call-arg]

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.declaration.whole, self.parameters(), self._base, self.looks)

    def looking_at(
        self,
        *,
        features: Callable[[np.ndarray], np.ndarray] | None = None,
        supports: Callable[[np.ndarray, Any], np.ndarray | None] | None = None,
    ) -> Self:
        """Return the same program, of whose outputs these functions say what to look at; None for those it has."""
        given = _Looks.of(features or self.looks.features, supports or self.looks.supports)
        made: Self = _made(self.declaration.whole, self.parameters(), self._base, given)
        return made

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
            self.__dict__["_checked"] = check_program(self.name, words, self.declaration, encoded)
        talk = self._conversation()
        talk.trust(self.__dict__["_checked"])
        return talk.ask(encoded, size, seed)

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


class _Looks(NamedTuple):
    """Functions of the user's that look at outputs."""

    features: Callable[[np.ndarray], np.ndarray] | None = None
    supports: Callable[[np.ndarray, Any], np.ndarray | None] | None = None

    @classmethod
    def of(cls, features: Any, supports: Any) -> _Looks:
        for name, each in (("features", features), ("supports", supports)):
            if each is not None and not callable(each):
                raise ParameterError(f"{name} must be a function of outputs, got {each!r}")
        return cls(features, supports)

    def methods(self) -> dict[str, Any]:
        """Methods for a class; whether it has them says whether they are looked at."""
        features, supports, found = self.features, self.supports, dict[str, Any]()
        if features is not None:
            found["features"] = lambda _, outputs: features(outputs)
        if supports is not None:
            found["supports"] = lambda _, outputs, data: supports(outputs, data)
        return found


_NO_LOOKS = _Looks()


def _made(
    text: str, values: Mapping[str, Any], base: type[CommandMechanism] = CommandMechanism, looks: _Looks = _NO_LOOKS
) -> Any:
    return _class_of(text, base, looks)(**values)


def command_class(said: CommandDeclaration) -> type[CommandMechanism]:
    """Return the mechanism that a declaration stands for: a class with the command's parameters, one for all equals."""
    return _class_of(said.whole)


def _class_of(
    whole: str, base: type[CommandMechanism] = CommandMechanism, looks: _Looks = _NO_LOOKS
) -> type[CommandMechanism]:
    """Return the class, the same one for equal commands, bases and functions."""
    made: type[CommandMechanism]
    try:
        made = _kept_class(whole, base, looks)
    except TypeError:
        if all(each is None or type(each).__hash__ is not None for each in looks):
            raise
        # Of objects without a hash that are called as functions, none is kept.
        made = _class(whole, base, looks)
    return made


def _class(whole: str, base: type[CommandMechanism], looks: _Looks) -> type[CommandMechanism]:
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
        "looks": looks,
        "_base": base,
        **looks.methods(),
        "notation": "inputs and outputs are those of the program",
        "__repr__": _shown,
    }
    for each in said.parameter_names:
        default = {"default": defaults[each]} if each in defaults else {}
        content[each] = parameter(**default, doc=docs.get(each, "of the command"))
    made: type[CommandMechanism] = type("Command", (base,), content)
    return made


_kept_class: Any = lru_cache(maxsize=256)(_class)


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
