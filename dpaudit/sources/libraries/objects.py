"""What the adapters share: a mechanism around an object, made when it is needed, and its outputs as arrays."""

from __future__ import annotations

import inspect
import pickle
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.inputs import Pair, distinct, is_pair, short_repr
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.errors import CheckError, ParameterError
from dpaudit.mechanism import Mechanism, parameter

_TRIALS = 3
"""Outputs that are drawn on every input before an audit, to see whether the object takes it."""

RAISED = "raised "
"""What an output begins with that stands for an exception, which an observer sees as well."""


_WARNED: set[tuple[str, str, int]] = set()
"""Warnings of libraries that were shown: what each said, and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Neighbouring inputs: the relation in a word, the pairs, and what they are in words."""

    relation: str
    pairs: Sequence[Pair]
    scope: str


class LibraryMechanism(Mechanism):
    """An object of a library, with the claim that it carries.

    Subclasses say how outputs are drawn (`draws`), what is claimed (`guarantee`) and on which inputs (`inputs`).
    """

    make: ClassVar[Callable[..., Any]]
    """Makes the object; its arguments are the mechanism's parameters but those of the adapter."""
    given: ClassVar[Sequence[Pair] | None] = None
    """Pairs of inputs that the user gives in place of those that are derived."""
    origin: ClassVar[tuple[str, str]] = ("", "")
    """Path and attribute by which it is a target; empty for an object that was handed over."""
    adapter_parameters: ClassVar[frozenset[str]] = frozenset()
    """Parameters that are the adapter's and not the object's."""
    raising_counts: ClassVar[bool] = False
    """Whether an exception is an output like any other, because the object says which inputs it takes."""
    recipe: ClassVar[tuple[Callable[..., Any], Any, Mapping[str, Any]] | None] = None
    """What makes the mechanism again, in another process: a function, the object or what makes it, and options."""

    def __reduce__(self) -> tuple[Any, ...]:
        if self.recipe is None:
            raise pickle.PicklingError(
                f"{self.name}: load it by its TARGET where it is needed; its file is not a module"
            )
        function, given, _ = self.recipe
        try:
            pickle.dumps(given)
        except Exception as error:
            raise pickle.PicklingError(
                f"{self.name}: {type(given).__name__} cannot be pickled ({error}); give {function.__name__} a function "
                "of a module that makes it"
            ) from error
        return _made_again, (self.recipe, self.parameters())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        # Neither its parameters nor its object change.
        return self

    @property
    def held(self) -> Any:
        """The library's object, made once."""
        if "_held" not in self.__dict__:
            values = {name: value for name, value in self.parameters().items() if name not in self.adapter_parameters}
            made = type(self).make(**values)
            self.check_object(made)
            self.__dict__["_held"] = made
        return self.__dict__["_held"]

    def check_object(self, made: Any) -> None:
        """Raise ParameterError where the object is not what the adapter takes."""

    def draws(self, data: Any, rng: np.random.Generator) -> Callable[[], Any]:
        """Return a function that draws one output for an input."""
        raise NotImplementedError

    def check_pair(self, pair: Pair) -> None:
        """Raise CheckError where a pair that the user gives is none about which the object claims anything."""

    def guarantee(self) -> Guarantee:
        """Return what the object claims; raise ParameterError where that is no privacy, as of a transformation."""
        raise ParameterError(f"{self.name} claims no privacy, but stability; audit it with `dpaudit.check`")

    def inputs(self) -> Inputs:
        """Neighbouring inputs on which the claim is audited, some of which the object may refuse."""
        raise NotImplementedError

    def statement(self, guarantee: Guarantee) -> str:
        """Return the claim in one sentence."""
        return f"The outputs of `{self.name}` are {guarantee}."

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw outputs one by one, in one form for all inputs; where exceptions count, they are outputs too."""
        draw = self.draws(data, rng)
        with self.seeded(rng), _warned_once():
            if not self.raising_counts:
                return as_outputs([draw() for _ in range(size)], alike=self.alike)
            return as_outputs([_outcome(draw) for _ in range(size)], alike=self.alike)

    def seeded(self, rng: np.random.Generator) -> AbstractContextManager[None]:
        """Return a context in which the library draws from a seeded generator, where `draws` does not see to that."""
        return nullcontext()

    @property
    def alike(self) -> bool:
        """Whether the outputs on all inputs are numbers, or rows of as many numbers, so that an array holds them."""
        return self._tried()[1]

    def neighbours(self) -> Neighbouring:
        """Pairs that the user gives, or those derived from the object, less those that it refuses.

        Raises
        ------
        CheckError
            The object refuses all inputs that were derived, or both of a pair that was given.
        """
        return self._tried()[0]

    def _tried(self) -> tuple[Neighbouring, bool]:
        if "_trial" not in self.__dict__:
            self.__dict__["_trial"] = self._try()
        found: tuple[Neighbouring, bool] = self.__dict__["_trial"]
        return found

    def _try(self) -> tuple[Neighbouring, bool]:
        """Draw some outputs on every input; keep the pairs that the object takes, and note the form of the outputs."""
        words = "the pairs given"
        given = None if self.given is None else Inputs(relation=words, pairs=self.given, scope=words)
        found = given or self.inputs()
        pairs, forms, refused = [], set(), ""
        for pair in distinct(found.pairs):
            tried = [self._outcomes(data) for data in pair]
            problems = [problem for _, problem in tried]
            refused = refused or next((each for each in problems if each), "")
            if given and all(problems):
                # Equal exceptions on both inputs would pass for outputs that tell nothing.
                raise CheckError(
                    f"{self.name}: it takes neither input of a pair that was given ({problems[0]}); give inputs of its "
                    "domain"
                )
            if given is not None:
                self.check_pair(pair)
            if given or not any(problems) or (self.raising_counts and not all(problems)):
                pairs.append(pair)
                forms |= {_form(each) for outcomes, _ in tried for each in outcomes}
        if not pairs:
            raise CheckError(
                f"{self.name}: it takes none of the inputs that were derived for it ({refused or 'there are none'}); "
                "give pairs of neighbouring inputs yourself, as `pairs` in Python"
            )
        neighbouring = Neighbouring(relation=found.relation, pairs=tuple(pairs), complete=False, scope=found.scope)
        return neighbouring, len(forms) == 1 and "" not in forms

    def _outcomes(self, data: Any) -> tuple[list[Any], str]:
        """Some outputs on an input, and what the object raises there; empty for nothing."""
        outcomes: list[Any] = []
        try:
            rng = np.random.default_rng(0)
            draw = self.draws(data, rng)
            with self.seeded(rng), _warned_once():
                outcomes += [draw() for _ in range(_TRIALS)]
        except Exception as error:
            outcomes.append(f"{RAISED}{type(error).__name__}")
            return outcomes, f"{type(error).__name__} on {short_repr(data)}: {' '.join(str(error).split())[:200]}"
        return outcomes, ""

    def claims(self) -> list[PrivacyClaim]:
        """Return the claim that the object carries."""
        guarantee = self.guarantee()
        statement = self.statement(guarantee)
        return [PrivacyClaim(id=f"{self.name}.privacy", statement=statement, guarantee=guarantee)]


@contextmanager
def _warned_once() -> Iterator[None]:
    """Show a warning of a library, which some repeat for every output, once in a process."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(message: Any, category: Any, filename: str, lineno: int, *more: Any, **others: Any) -> None:
            known = str(message), filename, lineno
            if known not in _WARNED:
                _WARNED.add(known)
                shown(message, category, filename, lineno, *more, **others)

        warnings.showwarning = show
        yield


def _made_again(recipe: tuple[Callable[..., Any], Any, Mapping[str, Any]], values: Mapping[str, Any]) -> Any:
    function, given, options = recipe
    made = function(given, **options)
    return (made if isinstance(made, type) else type(made))(**values)


def maker_of(given: Any) -> Callable[..., Any]:
    """Return what makes an object: a function that was given in its place, or one that returns the object."""
    return given if inspect.isfunction(given) else lambda: given


def made_class(
    base: type[LibraryMechanism],
    make: Callable[..., Any],
    *,
    name: str,
    origin: tuple[str, str] = ("", ""),
    pairs: Iterable[Pair] | None = None,
    more: Mapping[str, Any] | None = None,
) -> type[LibraryMechanism]:
    """Return a mechanism class around what makes an object; the arguments of ``make`` are its parameters.

    Raises
    ------
    ParameterError
        An argument has no name of its own, or the pairs are no pairs.
    """
    content: dict[str, Any] = {
        "__module__": base.__module__,
        "__doc__": f"The object `{name}` of {base.source}.",
        "__annotations__": {},
        "name": target_name(name),
        "origin": origin,
        "make": staticmethod(make),
        "given": None if pairs is None else checked_pairs(pairs),
        **(more or {}),
    }
    for each in inspect.signature(make).parameters.values():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        if each.kind is each.POSITIONAL_ONLY or each.name in base.parameter_names():
            raise ParameterError(f"{name}: the argument {each.name!r} cannot be set by name; give it another")
        default = {} if each.default is each.empty else {"default": each.default}
        kind = type(each.default) if type(each.default) in (int, float, str, bool) else Any
        content["__annotations__"][each.name] = kind if default else float | int | str
        content[each.name] = parameter(**default, doc="of the function that makes the object")
    made: type[LibraryMechanism] = type("LibraryObject", (base,), content)
    return made


def target_name(text: str) -> str:
    """Name of a target, of letters, digits, '-' and '.'."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-.") or "object"


def checked_pairs(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return pairs as a tuple; ParameterError where there is none, or something else."""
    listed = tuple(pairs)
    wrong = next((pair for pair in listed if not is_pair(pair)), None)
    if not listed or wrong is not None:
        raise ParameterError(f"pairs must be a list of tuples (x, y) of two inputs to compare, got {wrong or 'none'}")
    return listed


def as_outputs(outputs: Sequence[Any], *, alike: bool) -> np.ndarray:
    """Return outputs as an array: of numbers where all are alike, and otherwise of what they are.

    Parameters
    ----------
    outputs
        Outputs as the library has them.
    alike
        Whether they are numbers of one kind, or rows of as many. Sequences are otherwise tuples, and maps are tuples of
        keys and values in order.
    """
    plain = [_plain(each) for each in outputs]
    if alike and len({_form(each) for each in plain}) == 1:
        return np.array(plain)
    held = np.empty(len(plain), dtype=object)
    held[:] = plain
    return held


def _form(output: Any) -> str:
    """How an array holds an output; empty where no array of numbers does."""
    output = _plain(output)
    if isinstance(output, tuple):
        kinds = {_form(each) for each in output}
        return f"{len(output)} {kinds.pop()}" if len(kinds) == 1 and "" not in kinds else ""
    if isinstance(output, bool | float):
        return type(output).__name__
    return "int" if isinstance(output, int) and -(2**63) <= output < 2**63 else ""


def _outcome(draw: Callable[[], Any]) -> Any:
    try:
        return draw()
    except Exception as error:
        return f"{RAISED}{type(error).__name__}"


def _plain(value: Any) -> Any:
    """An output of Python's own types."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return tuple(_plain(each) for each in value)
    if isinstance(value, float) and value != value:
        return "NaN"  # auditors refuse what equals nothing
    if isinstance(value, dict):
        return tuple(sorted(((_plain(key), _plain(each)) for key, each in value.items()), key=repr))
    return value
