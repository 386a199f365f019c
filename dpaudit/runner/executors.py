"""Running requests on an executor of ``concurrent.futures``: a pool of processes, a cluster of Dask, or another one."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Any

from dpaudit.errors import ParameterError
from dpaudit.registry import TargetSource
from dpaudit.runner.processes import Answer, Ended, Overdue, Raised, Request, messages
from dpaudit.runner.processes.team import answer_from
from dpaudit.runner.remote import perform

_LOOK = 0.2
"""Seconds after which is looked whether the run should stop."""

_IN_STOCK = 2
"""Requests per worker that are sent before it is free."""


class OnExecutor:
    """Calls functions on an executor, with the same interface as a team of processes.

    Parameters
    ----------
    executor
        The executor. Its workers need this version of dpaudit.
    stop
        Tells whether the run should stop, which then raises KeyboardInterrupt.
    """

    def __init__(self, executor: Executor, *, stop: Callable[[], bool] = lambda: False) -> None:
        self._executor, self._stop = executor, stop
        self._sources: dict[Any, TargetSource | None] = {}

    def answers(
        self, requests: Iterable[Request], *, width: int = 1, until: float | None = None
    ) -> Iterator[tuple[Any, Answer]]:
        """Call functions, several at a time; return what became of them as it does.

        Raises
        ------
        ParameterError
            The executor takes no more calls.
        """
        waiting = iter(requests)
        running: dict[Future[bytes], Request] = {}
        suspects: deque[Request] = deque()
        alone = False
        try:
            while True:
                if suspects and not running:
                    suspect, alone = suspects.popleft(), True
                    running[self._submit(suspect)] = suspect
                while not suspects and not alone and len(running) < _IN_STOCK * width:
                    request = next(waiting, None)
                    if request is None:
                        break
                    running[self._submit(request)] = request
                if not running:
                    return
                left = _LOOK if until is None else max(0.0, min(_LOOK, until - time.time()))
                done, _ = wait(running, timeout=left, return_when=FIRST_COMPLETED)
                if self._stop():
                    raise KeyboardInterrupt
                for future in done:
                    ended, answer = running.pop(future), _answer(future)
                    if isinstance(answer, Ended) and answer.final and not alone:
                        # Its workers may have been ended by what ran on them beside it: it is tried again alone.
                        suspects.append(ended)
                        continue
                    alone = False
                    yield ended.key, answer
                if until is not None and time.time() >= until:
                    for future, late in list(running.items()):
                        future.cancel()
                        del running[future]
                        yield late.key, Overdue()
        finally:
            for future in running:
                future.cancel()

    def _submit(self, request: Request) -> Future[bytes]:
        reference = None if request.load is None else request.load[1][0]
        if reference not in self._sources:
            self._sources[reference] = None if reference is None else TargetSource.of(reference)
        source = self._sources[reference]
        try:
            return self._executor.submit(perform, request.function, request.arguments, request.load, source)
        except RuntimeError as error:
            raise ParameterError(
                f"the executor takes no more calls ({error}); what has ended is kept where there is a store; run again "
                "with a new executor, or with --workers, whose processes are replaced when they end"
            ) from None


def width_of(executor: Executor) -> int:
    """How many calls an executor runs at a time, as far as it tells."""
    # Neither the pools of the standard library nor Dask's executor have a public name for it.
    most = getattr(executor, "_max_workers", None)
    if isinstance(most, int):
        return most
    client = getattr(executor, "_client", None)
    if client is not None:
        return max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    return os.cpu_count() or 1


def _answer(future: Future[bytes]) -> Answer:
    try:
        _, what, value = messages.unpacked(future.result())
    except BrokenExecutor as error:
        return Ended(f"ended with its pool of processes ({error})")
    except CancelledError:
        return Ended("was cancelled")
    except messages.NoiseError as error:
        return Raised(f"the worker answered something else than was asked for ({error})", "")
    except Exception as error:
        if type(error).__name__ in ("KilledWorker", "WorkerCrashedError"):
            return Ended(f"ended under it, and so did others ({type(error).__name__})", final=True)
        return Raised(f"{type(error).__name__}: {error}", "")
    return answer_from(what, value)
