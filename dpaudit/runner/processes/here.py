"""The same interface as a team's, in this process: for measurements and tests that change what runs."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dpaudit.errors import DpauditError
from dpaudit.runner.processes.team import Answer, Finished, Raised, Request


class Here:
    """Calls functions in this process; a target that ends its process ends this one."""

    def call(self, function: Callable[..., Any], *arguments: Any, **_: Any) -> Any:
        """Call a function."""
        return function(*arguments)

    def answers(self, requests: Iterable[Request], **_: Any) -> Iterator[tuple[Any, Answer]]:
        """Call functions one after another."""
        for request in requests:
            try:
                yield request.key, Finished(request.function(*request.arguments))
            except DpauditError as error:
                yield request.key, Raised(str(error), "", error)
            except Exception as error:
                yield request.key, Raised(f"{type(error).__name__}: {error}", traceback.format_exc())
