"""Claims declared apart from mechanisms: what is known of a claim without making anything, and how it is bound."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

from dpaudit.claims.papers import Paper, Place
from dpaudit.errors import ParameterError, TargetError

if TYPE_CHECKING:
    from dpaudit.claims.claims import Claim
    from dpaudit.mechanism import Mechanism

MENDED: Final = "-mended"
"""Ends the id of a claim that says what another one would have to say to be true."""

Kind = Literal["privacy", "utility", "rate", "lemma", "figure", "stability", "noise"]
M = TypeVar("M", bound="Mechanism")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Declaration:
    """A claim apart from its instances.

    Attributes
    ----------
    id
        Identifier, ``paper.statement``; ``-meant`` at its end where print and evident meaning differ and this is the
        latter.
    kind
        ``privacy``, ``utility``, ``rate``, ``lemma``, ``figure``, ``stability`` or ``noise``.
    statement
        The claim in one plain sentence.
    places
        Where it stands, the first place being the one under which it is listed.
    targets
        The mechanisms that it is about.
    ours
        Whether no paper says so: a comparison or a sharpened statement of this project, never counted as a paper's.
    on_data
        Whether the claim is measured on the rankings of ``--data`` when there are any.
    reproduces
        The published figure or table that the claim measures again, such as ``Table 1``; empty for none.
    mends
        Ids of the claims that this one corrects: what they say with the formula or the assumption that makes it true.
    bug
        What is broken, for a control; empty for any other claim.
    only
        Values of parameters that the statement names: one, a collection such as a tuple, a range or `Between`. At
        others the claim is ``inapplicable``. On data, what the data decide or make meaningless does not count.
    function
        Binds the claim to a mechanism: returns the claim at its parameters, without what is declared here.
    module, line
        Where it is declared.

    Examples
    --------
    >>> import dpaudit
    >>> class Coin(dpaudit.Mechanism):
    ...     epsilon: float = 1.0
    ...     def sample(self, data, size, rng):
    ...         return rng.random(size) < 0.5
    >>> @dpaudit.claim("coin.privacy", Coin, kind="privacy", statement="The coin is ε-DP.")
    ... def privacy(coin):
    ...     return dpaudit.PrivacyClaim(epsilon=coin.epsilon)
    >>> privacy.kind, privacy.statement
    ('privacy', 'The coin is ε-DP.')
    >>> privacy.bind(Coin(epsilon=0.5)).epsilon
    0.5
    """

    id: str
    kind: Kind
    statement: str
    places: tuple[Place, ...] = ()
    targets: tuple[type[Mechanism], ...]
    ours: bool = False
    on_data: bool = False
    reproduces: str = ""
    mends: tuple[str, ...] = ()
    bug: str = ""
    only: Mapping[str, Any] = field(default_factory=dict)
    function: Callable[[Any], Claim] = field(repr=False)
    module: str
    line: int

    @property
    def place(self) -> Place | None:
        """The place under which the claim is listed."""
        return self.places[0] if self.places else None

    @property
    def paper(self) -> Paper | None:
        """The paper that the claim stands under."""
        return self.places[0].paper if self.places else None

    @property
    def source(self) -> str:
        """Paper and places in words."""
        return cited(self.places) if not self.bug else self.bug

    @property
    def file(self) -> Path | None:
        """File that declares the claim."""
        path = getattr(sys.modules.get(self.module), "__file__", None)
        return Path(path) if path else None

    def bind(self, mechanism: Mechanism) -> Claim:
        """Return the claim at the parameters of a mechanism.

        Raises
        ------
        ParameterError
            The claim cannot be made at these parameters.
        TargetError
            The function that binds the claim returned something else than a claim of its kind.
        """
        try:
            made = self.function(mechanism)
        except ParameterError as error:
            raise ParameterError(f"claim {self.id}: {error}") from error
        if getattr(made, "kind", None) != self.kind:
            raise TargetError(
                f"claim {self.id} is declared to be of kind {self.kind}, but its function returned "
                f"{type(made).__name__}; return a claim of that kind"
            )
        taken = type(mechanism).dataset_parameter()
        on_data = taken is not None and getattr(mechanism, taken[0]) is not None
        return replace(
            made,
            inapplicable=made.inapplicable or self.outside(type(mechanism), mechanism.parameters(), on_data=on_data),
            id=self.id,
            statement=self.statement,
            source=self.source,
            on_data=self.on_data,
            reproduces=self.reproduces,
        )

    def outside(self, target: type[Mechanism], parameters: Mapping[str, Any], *, on_data: bool = False) -> str:
        """Return what the statement is about where these parameters of a mechanism are not; empty where they are."""
        for name, wanted in self.only.items():
            decided = on_data and (name in target.synthetic or target.roles().get(name) in ("agents", "alternatives"))
            if name in parameters and not decided and not _among(parameters[name], wanted):
                return f"it is about {name} = {_in_words(wanted)}"
        return ""

    def __call__(self, mechanism: Mechanism) -> Claim:
        """Return the claim at the parameters of a mechanism, as `bind` does."""
        return self.bind(mechanism)

    def __reduce__(self) -> tuple[Any, ...]:
        return _declared, (self.module, self.id)


def claim(
    id: str,  # noqa: A002 - what it is called in plans, records and on the command line
    target: type[M] | Sequence[type[M]],
    *,
    kind: Kind,
    statement: str,
    place: Place | Sequence[Place] = (),
    ours: bool = False,
    on_data: bool = False,
    reproduces: str = "",
    mends: str | Sequence[str] = (),
    bug: str = "",
    only: Mapping[str, Any] | None = None,
    at: tuple[Callable[..., Any], int] | None = None,
) -> Callable[[Callable[[M], Claim]], Declaration]:
    """Declare a claim about a mechanism; decorates the function that binds it to the mechanism's parameters.

    Parameters
    ----------
    id
        Identifier, a literal of its own, so that a text search finds it.
    target
        The mechanism's class, or several.
    kind, statement, place, ours, on_data, reproduces, mends, bug, only
        As the attributes of `Declaration`; ``place`` is one place or several. A claim whose id is that of another one
        with ``-mended`` at its end mends that one, unless ``mends`` names others.
    at
        For helpers that declare claims: the function, and the line, that declare it; by default those of the caller.

    Raises
    ------
    TargetError
        The mechanism has a claim of that id already, or the kind is unknown.

    Examples
    --------
    >>> import dpaudit
    >>> paper = dpaudit.Paper(key="mine2026", title="A coin", authors=("Mine",), year=2026)
    >>> class Coin(dpaudit.Mechanism):
    ...     epsilon: float = 1.0
    ...     def sample(self, data, size, rng):
    ...         return rng.random(size) < 0.5
    >>> @dpaudit.claim("mine2026.theorem1", Coin, kind="privacy", statement="It is ϵ-DP.", place=paper.at(theorem=1))
    ... def theorem1(coin: Coin) -> dpaudit.PrivacyClaim:
    ...     return dpaudit.PrivacyClaim(epsilon=coin.epsilon)
    >>> theorem1.source
    'Mine 2026, Theorem 1'
    """
    frame = sys._getframe(1)
    module, line = (frame.f_globals.get("__name__", ""), frame.f_lineno) if at is None else (at[0].__module__, at[1])
    targets = (target,) if isinstance(target, type) else tuple(target)
    places = (place,) if isinstance(place, Place | str) else tuple(place)
    for each in places:
        if not isinstance(each, Place):
            raise TargetError(f"claim {id}: place must be a Place such as PAPER.at(theorem=1), got {each!r}")
    for about in targets:
        if not (isinstance(about, type) and hasattr(about, "parameter_names")):
            raise TargetError(f"claim {id}: target must be a class of mechanisms, got {about!r}")
    for about in targets:
        unknown = [name for name in only or {} if name not in about.parameter_names()]
        if unknown:
            raise TargetError(f"claim {id}: only: {about.name} has no parameter {unknown[0]!r}")
    if kind not in get_args(Kind):
        raise TargetError(f"claim {id}: kind must be one of {', '.join(get_args(Kind))}, got {kind!r}")

    def declare(function: Callable[[M], Claim]) -> Declaration:
        declaration = Declaration(
            id=id,
            kind=kind,
            statement=statement,
            places=places,
            targets=targets,
            ours=ours,
            on_data=on_data,
            reproduces=reproduces,
            mends=_mended(id, mends),
            bug=bug,
            only=only or {},
            function=function,
            module=module,
            line=line,
        )
        for each in targets:
            own = each.__dict__.get("declared")
            if own is None:
                own = []
                each.declared = own
            if any(other.id == id and (other.module, other.line) != (module, line) for other in own):
                raise TargetError(f"{each.name}: two claims are named {id!r}; give each its own id")
            # A module that is loaded again declares its claims again.
            own[:] = [other for other in own if other.id != id] + [declaration]
        _BY_MODULE.setdefault(module, {})[id] = declaration
        return declaration

    return declare


@dataclass(frozen=True, slots=True)
class Between:
    """Numbers from ``low`` to ``high``, for ``only`` of a claim.

    Attributes
    ----------
    low, high
        Both ends of the range; both are included.

    Examples
    --------
    >>> import dpaudit
    >>> among = dpaudit.Between(0.1, 2.0)
    >>> among.low, among.high
    (0.1, 2.0)
    """

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and _is_most(self.low, value) and _is_most(value, self.high)


def _is_most(low: float, high: float) -> bool:
    return low <= high or math.isclose(low, high)


def _among(value: Any, wanted: Any) -> bool:
    """Whether the value of a parameter is one that a statement names."""
    if isinstance(wanted, range | Between):
        return value in wanted
    named = wanted if isinstance(wanted, Collection) and not isinstance(wanted, str) else (wanted,)
    numbers = isinstance(value, int | float)
    return any(
        math.isclose(value, each) if numbers and isinstance(each, int | float) else value == each for each in named
    )


def _in_words(wanted: Any) -> str:
    """The same, as a reader would say it."""
    if isinstance(wanted, Between):
        return f"{wanted.low:g} to {wanted.high:g}"
    if isinstance(wanted, range):
        return f"{wanted[0]} to {wanted[-1]}"
    named = wanted if isinstance(wanted, Collection) and not isinstance(wanted, str) else (wanted,)
    return " or ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in named)


def declarations_of(target: type[Mechanism]) -> list[Declaration]:
    """Claims declared about a mechanism's class and those that it derives from, in the order of declaration."""
    own = target.__dict__.get("declared", [])
    if any(declaration.bug for declaration in own):
        # A control makes its own claim and none of the right mechanism's.
        return list(own)
    found: dict[str, Declaration] = {}
    for each in reversed(inspect.getmro(target)):
        found.update({declaration.id: declaration for declaration in each.__dict__.get("declared", ())})
    return list(found.values())


def declared_in(module: str) -> dict[str, Declaration]:
    """Claims that a module declares, by id."""
    return dict(_BY_MODULE.get(module, {}))


def cited(places: Sequence[Place]) -> str:
    """Places in words, each paper named once in a row."""
    words, last = [], None
    for place in places:
        words.append(place.label if place.paper is last and place.label else str(place))
        last = place.paper
    return "; ".join(words)


def _mended(name: str, mends: str | Sequence[str]) -> tuple[str, ...]:
    named = (mends,) if isinstance(mends, str) else tuple(mends)
    return named or ((name.removesuffix(MENDED),) if name.endswith(MENDED) else ())


def _declared(module: str, id: str) -> Declaration:  # noqa: A002
    from importlib import import_module

    import_module(module)
    return _BY_MODULE[module][id]


_BY_MODULE: dict[str, dict[str, Declaration]] = {}
