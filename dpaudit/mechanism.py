"""The base class of everything that can be audited."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Self,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from dpaudit.claims.claims import Claim
from dpaudit.claims.datasets import DatasetLoader
from dpaudit.claims.declarations import Declaration, cited, declarations_of
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.papers import Erratum, Place
from dpaudit.errors import ParameterError, TargetError
from dpaudit.messages import Message, Transcript

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from dpaudit.laws import Law


Role = Literal["", "epsilon", "delta", "agents", "alternatives", "dataset"]

_RANGES: dict[str, dict[str, float]] = {"epsilon": {"above": 0.0}, "delta": {"minimum": 0.0, "maximum": 1.0}}
"""Range of a parameter that declares none, by its role."""

_MOST: dict[str, float] = dict.fromkeys(("agents", "alternatives"), 2**63 - 1)
"""Numbers that arrays can be indexed by, whatever range is declared."""


def parameter(
    default: Any = dataclasses.MISSING,
    *,
    doc: str = "",
    above: float | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    role: Role = "",
    loader: DatasetLoader | None = None,
) -> Any:
    """Declare a parameter of a mechanism with its range.

    Parameters
    ----------
    default
        Value when none is given.
    doc
        What it is, in a few words (shown by ``dpaudit show``).
    above
        The value must be larger than this.
    minimum, maximum
        Smallest and largest value allowed.
    role
        What the parameter stands for, whatever its name. ``epsilon`` (above 0 unless a range is given) and ``delta``
        (in [0, 1]) are the privacy budget; parameters of these names have these roles by themselves. ``agents`` and
        ``alternatives`` are decided by a dataset; ``dataset`` takes the content of a data file (``--data``).
    loader
        What reads the data file, for the role ``dataset``, such as `dpaudit.rankings.PREFLIB`.

    Raises
    ------
    ParameterError
        A dataset has no loader, or something else has one.

    Examples
    --------
    >>> import dpaudit
    >>> class Coin(dpaudit.Mechanism):
    ...     bias: float = dpaudit.parameter(0.5, minimum=0, maximum=1, doc="probability of heads")
    ...     def sample(self, data, size, rng):
    ...         return rng.random(size) < self.bias
    >>> Coin(bias=2.0)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: coin: parameter 'bias' must be at most 1, got 2.0
    """
    if (role == "dataset") != (loader is not None):
        raise ParameterError("parameter: the role 'dataset' and a `loader` go together; give both or neither")
    limits = {"above": above, "minimum": minimum, "maximum": maximum}
    return dataclasses.field(default=default, metadata={"doc": doc, "role": role, "loader": loader, **limits})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(parameter, dataclasses.field))
class Mechanism:
    """A randomized algorithm under audit, with its parameters as annotated class attributes.

    A subclass becomes a frozen, keyword-only dataclass. It must define ``sample``; ``law``, ``log_likelihood``,
    ``neighbours`` and ``claims`` as far as they are known. Only a mechanism with claims is a target of
    ``dpaudit check``.

    Parameters are checked when an instance is made: the annotated type, finiteness, the range given to
    :func:`parameter`; ``epsilon`` must be above 0 and ``delta`` in [0, 1] without saying so. Override ``validate`` for
    conditions that involve several parameters.

    Examples
    --------
    >>> class Coin(Mechanism):
    ...     '''A biased coin that ignores its input.'''
    ...     bias: float = parameter(0.5, minimum=0, maximum=1)
    ...     def sample(self, data, size, rng):
    ...         return rng.random(size) < self.bias
    >>> Coin(bias=0.25)
    Coin(bias=0.25)
    """

    name: ClassVar[str] = ""
    """Name in the catalogue; the class name in lower case with hyphens if empty."""
    source: ClassVar[str] = ""
    """Where the mechanism is published, in words."""
    places: ClassVar[Sequence[Place]] = ()
    """The same as places in papers; `source` need not be given then."""
    declared: ClassVar[list[Declaration]]
    """Claims declared about the class itself; `declarations_of` adds those of the classes that it derives from."""
    trust: ClassVar[str] = ""
    """Trust model in words: who sees what."""
    model: ClassVar[Literal["", "none", "central", "local", "shuffle"]] = ""
    """Trust model as reports draw it; ``none`` where nothing is private."""
    errata: ClassVar[Sequence[Erratum]] = ()
    """What is misprinted in the source and what is implemented instead."""
    synthetic: ClassVar[Sequence[str]] = ()
    """Parameters that only describe made-up inputs, and mean nothing beside a dataset (``--data``)."""
    notation: ClassVar[str] = ""
    """How inputs and outputs are written, in a sentence: what a reader who recomputes a witness has to know."""
    own_randomness: ClassVar[bool] = False
    """Whether ``sample`` draws from a source that ``rng`` does not seed, as some libraries do: runs then differ."""
    may_fail: ClassVar[bool] = False
    """Whether ``sample`` may fail in mid-audit, as a program may that it asks. A twentieth of the error probability is
    then for a bound that holds whenever sampling ends, so that outputs drawn before may still refute a claim."""
    _checked_fields: ClassVar[tuple[Any, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__).lower()

    def __post_init__(self) -> None:
        for field, adapter in _fields(type(self)):
            value = _validated(self.name, field, adapter, getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        self.validate()

    def validate(self) -> None:
        """Check conditions that involve several parameters; raise ParameterError where one fails."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw ``size`` independent outputs for the input ``data``, along axis 0 of the array returned."""
        raise TargetError(f"{self.name}: `sample(data, size, rng)` is not defined; define it to audit by sampling")

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """Return what a black-box audit should look at, one row per output; by default the outputs themselves.

        Every row must depend on its own output alone. Then, whatever it leaves out or adds, no bound becomes invalid;
        a good map makes differences easy to see.
        """
        return outputs

    def supports(self, outputs: np.ndarray, data: Any) -> np.ndarray | None:
        """Whether each output speaks for the input ``data``, or None where that is not known.

        For outputs that say by a rule of their own which inputs they speak for, such as a report of local hashing: a
        hash function and a value, which is that of the inputs whose hash it is. A black-box audit of two inputs looks
        at what their outputs support besides the outputs themselves. No bound becomes invalid by it, as long as what
        is said of an output depends on that output and on ``data`` alone.

        Parameters
        ----------
        outputs
            Outputs along axis 0, as ``sample`` returns them (a list of structured ones as an object array).
        data
            One of the inputs.

        Returns
        -------
        ndarray of bool, shape (size,), or None
        """
        return None

    def law(self, data: Any) -> Law | None:
        """Exact law of the output for the input ``data``, or None where it is not known."""
        return None

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray | None:
        """Log-probability or log-density of outputs for the input ``data``, or None where it is not known.

        Parameters
        ----------
        outputs
            Outputs along axis 0, as ``sample`` returns them (a list of structured ones as an object array).
        data
            The input.

        Returns
        -------
        ndarray of float, shape (size,), or None
            ``-inf`` for an impossible output; never NaN or ``inf``. Densities must be with respect to one measure for
            all inputs; a factor that depends on the output alone, or a constant common to all inputs, may be left out.
        """
        return None

    def neighbours(self) -> Neighbouring | None:
        """Neighbouring inputs to audit: listed, or those within a declared domain (``Neighbouring.within``)."""
        return None

    def claims(self) -> Sequence[Claim]:
        """Claims at these parameters; by default those that are declared about the class (`dpaudit.claim`)."""
        return [declaration.bind(self) for declaration in declarations_of(type(self))]

    def views(self) -> Mapping[str, Mechanism]:
        """What an adversary may see, each a mechanism; ``output`` is the mechanism itself."""
        return {"output": self}

    def sends(self) -> Sequence[Message] | None:
        """Messages that one user sends where this is what the adversary sees, or None where they are not declared.

        Those of all users, where this shows several; in the central model, what is computed from the data. Every
        privacy audit records what ``sample`` sends and holds it against them.
        """
        return None

    def transcript(self) -> Transcript | None:
        """View whose messages a run sends, and inputs on which one is recorded; None where no view shows them all.

        Every privacy audit records runs of ``sample`` and holds what one user sent against the messages of that view.
        """
        return None

    def but(self, **changes: Any) -> Self:
        """Return the mechanism with other values of some parameters.

        Raises
        ------
        ParameterError
            A value that the parameter cannot take, or a parameter that there is not.
        """
        unknown = sorted(set(changes) - set(self.parameter_names()))
        if unknown:
            raise ParameterError(
                f"{self.name} has no parameter {unknown[0]!r}; it has {', '.join(self.parameter_names())}"
            )
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    def parameters(self) -> dict[str, Any]:
        """Parameters and their values, in order of declaration."""
        return {field.name: getattr(self, field.name) for field in _declared(type(self))}

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Names of the parameters, in order of declaration."""
        return [field.name for field in _declared(cls)]

    @classmethod
    def parameter_hints(cls) -> dict[str, Any]:
        """Types of the parameters by name."""
        hints = _hints(cls)
        return {field.name: hints[field.name] for field in _declared(cls)}

    @classmethod
    def redeclared(cls, name: str, default: Any) -> Any:
        """Return the declaration of a parameter with another default, for a subclass."""
        field = next(field for field in _declared(cls) if field.name == name)
        return dataclasses.field(default=default, metadata=field.metadata)

    @classmethod
    def roles(cls) -> dict[str, str]:
        """Role of every parameter that has one, by the parameter's name."""
        found = {field.name: _role(field) for field in _declared(cls)}
        return {name: role for name, role in found.items() if role}

    @classmethod
    def converted(cls, name: str, value: Any) -> Any:
        """Return a parameter's value as an instance that is given it gets it.

        Raises
        ------
        ParameterError
            The parameter cannot take it.
        """
        field, adapter = next(each for each in _fields(cls) if each[0].name == name)
        return _validated(cls.name, field, adapter, value)

    @classmethod
    def prepare_parameters(cls) -> None:
        """Make what checks the values of parameters, which otherwise the first instance makes.

        Raises
        ------
        TargetError
            The type of a parameter cannot be read.
        """
        _fields(cls)

    @classmethod
    def dataset_parameter(cls) -> tuple[str, DatasetLoader] | None:
        """Name of the parameter that takes a dataset, and what loads it; None where there is none."""
        for field in _declared(cls):
            if _role(field) == "dataset":
                return field.name, field.metadata["loader"]
        return None

    @classmethod
    def parameter_table(cls) -> list[tuple[str, str, str, str]]:
        """(name, type, default, meaning) of every parameter."""
        hints = _hints(cls)
        rows = []
        for field in _declared(cls):
            default = "required" if field.default is dataclasses.MISSING else str(field.default)
            rows.append((field.name, _type_text(hints[field.name]), default, field.metadata.get("doc", "")))
        return rows

    @classmethod
    def cited(cls) -> str:
        """Where the mechanism is published, in words."""
        return cls.source or cited(cls.places)

    @classmethod
    def summary(cls) -> str:
        """First line of the docstring."""
        own = cls.__doc__ or ""
        return "" if own.startswith(f"{cls.__name__}(") else inspect.cleandoc(own).partition("\n")[0]


def _declared(cls: type[Mechanism]) -> tuple[dataclasses.Field[Any], ...]:
    """Parameters as they are declared; nothing is imported or read for that."""
    return dataclasses.fields(cls)  # type: ignore[arg-type]


def _hints(cls: type[Mechanism]) -> dict[str, Any]:
    """Types of what a class annotates."""
    try:
        return get_type_hints(cls)
    except Exception as error:
        raise TargetError(f"{cls.__name__}: the type of a parameter cannot be read: {error}") from error


def _fields(cls: type[Mechanism]) -> tuple[tuple[dataclasses.Field[Any], TypeAdapter[Any]], ...]:
    # Made at first use, because annotations may name what is defined after the class; kept on the class itself.
    if "_checked_fields" not in cls.__dict__:
        from pydantic import ConfigDict, TypeAdapter

        config = ConfigDict(allow_inf_nan=False, arbitrary_types_allowed=True)
        hints = _hints(cls)
        found = []
        for field in _declared(cls):
            hint = hints[field.name]
            own_config = dataclasses.is_dataclass(hint) or hasattr(hint, "__pydantic_validator__")
            found.append((field, TypeAdapter(hint) if own_config else TypeAdapter(hint, config=config)))
        cls._checked_fields = tuple(found)
    return cls._checked_fields


def _role(field: dataclasses.Field[Any]) -> str:
    """Role of a parameter; of one that declares none, its name where that is epsilon or delta."""
    return field.metadata.get("role") or (field.name if field.name in _RANGES else "")


def _validated(target: str, field: dataclasses.Field[Any], adapter: TypeAdapter[Any], value: Any) -> Any:
    from pydantic import ValidationError

    where = f"{target}: parameter '{field.name}'"
    try:
        value = adapter.validate_python(value)
    except ValidationError as error:
        messages = "; ".join(dict.fromkeys(item["msg"][0].lower() + item["msg"][1:] for item in error.errors()))
        raise ParameterError(f"{where}: {messages}; got {value!r}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    above, minimum, maximum = (field.metadata.get(key) for key in ("above", "minimum", "maximum"))
    usual = _RANGES.get(_role(field), {})
    if above is None and minimum is None:
        above = usual.get("above")
    if minimum is None and maximum is None:
        minimum, maximum = usual.get("minimum"), usual.get("maximum")
    tests: list[tuple[float | None, Callable[[float, float], bool], str]] = [
        (above, lambda number, limit: number > limit, "must be above"),
        (minimum, lambda number, limit: number >= limit, "must be at least"),
        (maximum, lambda number, limit: number <= limit, "must be at most"),
        (_MOST.get(_role(field)), lambda number, limit: number <= limit, "must be at most"),
    ]
    for limit, holds, words in tests:
        if limit is not None and not holds(value, limit):
            raise ParameterError(f"{where} {words} {limit:g}, got {value!r}")
    return value


def _type_text(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " | ".join(str(choice) for choice in get_args(hint))
    if get_args(hint):
        return " | ".join(_type_text(part) for part in get_args(hint))
    return getattr(hint, "__name__", str(hint))
