"""The same interface as a team's, in this process: for measurements and tests that change what runs."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from dpaudit.errors import DpauditError
from dpaudit.runner.processes.team import Answer, Finished, Raised


class Here:
    """Calls functions in this process; a target that ends its process ends this one."""

    def call(self, function: Callable[..., Any], *arguments: Any, until: float | None = None) -> Any:
        """Call a function."""
        return function(*arguments)

    def answers(
        self,
        requests: Iterable[tuple[Hashable, Callable[..., Any], tuple[Any, ...]]],
        *,
        width: int = 1,
        until: float | None = None,
    ) -> Iterator[tuple[Any, Answer]]:
        """Call functions one after another."""
        for key, function, arguments in requests:
            try:
                yield key, Finished(function(*arguments))
            except DpauditError as error:
                yield key, Raised(str(error), "", error)
            except Exception as error:
                yield key, Raised(f"{type(error).__name__}: {error}", traceback.format_exc())
