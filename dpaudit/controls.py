"""Controls: broken variants of a mechanism, made by saying what is broken."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.declarations import claim
from dpaudit.claims.inputs import Pair
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.papers import Paper
from dpaudit.errors import TargetError
from dpaudit.mechanism import Mechanism

if TYPE_CHECKING:
    from dpaudit.laws import Law

PREFIX = "control."


def control(
    id: str,  # noqa: A002 - what it is called in plans, records and on the command line
    right: type[Mechanism],
    *,
    paper: Paper,
    statement: str,
    pairs: Callable[[Any], Iterable[Pair]] | None = None,
    scope: str = "",
    claimed: Callable[[Any], PrivacyClaim] | None = None,
    features: Callable[[Any, np.ndarray], np.ndarray] | None = None,
    exact: bool = False,
    fixed: Mapping[str, Any] | None = None,
    **defaults: Any,
) -> Callable[[Callable[..., Any]], type[Mechanism]]:
    """Make a control of a mechanism: a target that claims what the mechanism claims and does something else.

    It decorates a function whose docstring says the bug in one line. The function takes the right mechanism and
    returns the mechanism whose outputs are shown instead; or it takes the right mechanism, data, size and a generator,
    and returns outputs. The control declares no law, so that samples have to find the bug, unless it is asked to.

    Parameters
    ----------
    id
        ``control.`` and the name of the target.
    right
        The right mechanism: a view of a protocol. Its parameters are the control's.
    paper
        The paper whose mechanism it is.
    statement
        What is claimed, in one sentence.
    pairs, scope
        ``pairs(right)`` lists the neighbouring inputs to compare, ``scope`` says which; by default those of the right
        mechanism.
    claimed
        ``claimed(right)`` returns what is claimed; by default differential privacy with the values of the parameters
        whose roles are epsilon and delta.
    features
        ``features(right, outputs)`` returns what a black-box audit should look at, one row per output; by default what
        it looks at in outputs of the right mechanism.
    exact
        Whether the control has the law of the mechanism that is shown instead.
    fixed
        Parameters of the mechanism that the control does not have, and the values that they have there.
    defaults
        Default values of parameters in place of the mechanism's own.

    Raises
    ------
    TargetError
        The id does not begin with ``control.``, the bug is not said, a default or fixed value is of no parameter, or
        a control that is to have a law returns outputs.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> paper = dpaudit.Paper(key="mine2026", title="A coin", authors=("Mine",), year=2026)
    >>> class Coin(dpaudit.Mechanism):
    ...     epsilon: float = 1.0
    ...     def sample(self, data, size, rng):
    ...         keep = 1 / (1 + np.exp(-self.epsilon))
    ...         return np.where(rng.random(size) < keep, data, 1 - data)
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")
    >>> @dpaudit.control("control.twice-epsilon", Coin, paper=paper, statement="The bit is ϵ-LDP.", epsilon=1.0)
    ... def twice_epsilon(coin):
    ...     '''The bit is kept as if ϵ were twice as large.'''
    ...     return coin.but(epsilon=2 * coin.epsilon)
    >>> issubclass(twice_epsilon, dpaudit.Mechanism)
    True
    """
    line = sys._getframe(1).f_lineno
    if not id.startswith(PREFIX):
        raise TargetError(f"control {id!r}: its id must begin with {PREFIX!r}")
    given = dict(fixed or {})
    unknown = sorted({*defaults, *given} - set(right.parameter_names()))
    if unknown:
        raise TargetError(f"{id}: {right.name} has no parameter {unknown[0]!r}")

    def make(bug: Callable[..., Any]) -> type[Mechanism]:
        words = inspect.cleandoc(bug.__doc__ or "").partition("\n")[0]
        if not words:
            raise TargetError(f"{id}: say the bug in the docstring of {bug.__name__!r}")
        samples = len(inspect.signature(bug).parameters) == 4
        if samples and exact:
            raise TargetError(f"{id}: {bug.__name__!r} returns outputs, which have no law; leave `exact` out")

        def honest(self: Mechanism) -> Mechanism:
            return right(**self.parameters(), **given)

        def sample(self: Mechanism, data: Any, size: int, rng: np.random.Generator) -> Any:
            if samples:
                return bug(honest(self), data, size, rng)
            return bug(honest(self)).sample(data, size, rng)

        def neighbours(self: Mechanism) -> Neighbouring | None:
            if pairs is None:
                return honest(self).neighbours()
            known = honest(self).neighbours()
            relation = "any-two-inputs" if known is None else known.relation
            return Neighbouring(relation=relation, pairs=list(pairs(honest(self))), complete=False, scope=scope)

        def looked_at(self: Mechanism, outputs: np.ndarray) -> np.ndarray:
            assert features is not None
            return features(honest(self), outputs)

        def law(self: Mechanism, data: Any) -> Law | None:
            found: Law | None = bug(honest(self)).law(data) if exact else None
            return found

        def promise(mechanism: Any) -> PrivacyClaim:
            if claimed is not None:
                return claimed(honest(mechanism))
            roles = {role: getattr(mechanism, name) for name, role in type(mechanism).roles().items()}
            return PrivacyClaim(epsilon=roles["epsilon"], delta=roles.get("delta", 0.0))

        body: dict[str, Any] = {
            "__doc__": words,
            "__module__": bug.__module__,
            "__qualname__": bug.__qualname__,
            "__annotations__": {
                **{name: right.parameter_hints()[name] for name in defaults},
                **dict.fromkeys(given, ClassVar[Any]),
            },
            "name": id.removeprefix(PREFIX),
            "source": f"a bug planted in {right.name}",
            "errata": (),
            "sample": sample,
            "law": law,
            "log_likelihood": lambda self, outputs, data: None,
            "neighbours": neighbours,
            "views": lambda self: {"output": self},
            # What a control sends is its bug.
            "sends": lambda self: None,
            "transcript": lambda self: None,
            **({} if features is None else {"features": looked_at}),
            **{name: right.redeclared(name, value) for name, value in defaults.items()},
            **given,
        }
        metaclass: Callable[..., type[Mechanism]] = type(right)
        target = metaclass(bug.__name__, (right,), body)
        where = claim(id, target, kind="privacy", statement=statement, place=paper.at(), bug=words, at=(bug, line))
        where(promise)
        return target

    return make


def is_control(declared: Sequence[Any]) -> bool:
    """Whether declared claims are those of a control."""
    return any(declaration.bug for declaration in declared)
