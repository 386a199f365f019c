"""A cluster of Dask as an executor."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager

from dpaudit.errors import ParameterError
from dpaudit.runner.parts import MOST_DEATHS

LOCAL = "local"
"""In place of a scheduler's address: a cluster on this machine."""

_SECONDS = 10.0
"""Seconds that a scheduler has to answer."""

_NEVER = 365 * 24 * 3600
"""Seconds after which a local cluster gives up a worker that is not registered.

By default it looks 15 seconds after the end of a process, and closes for good what is being started again just then;
where targets end several processes one after another, no worker is left and the run waits for ever.
"""


@contextmanager
def cluster(address: str, workers: int | None = None) -> Iterator[Executor]:
    """Executor of a cluster.

    Parameters
    ----------
    address
        Address of its scheduler, or `LOCAL` for a cluster of processes on this machine, which ends with the block.
    workers
        Processes of a local cluster; None for one per processor.

    Raises
    ------
    ParameterError
        The library is not installed, no scheduler answers, or it has no workers.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ParameterError("--scheduler needs Dask: pip install 'dpaudit[dask]'") from None
    # What a worker that ends says of itself is told as a result.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": MOST_DEATHS - 1}))
        if address == LOCAL:
            stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": _NEVER}))
            local = LocalCluster(
                n_workers=workers or os.cpu_count() or 1,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
            client = Client(stack.enter_context(local))
        else:
            if workers is not None:
                raise ParameterError(
                    "--workers is for processes of this machine; a scheduler has its own; leave one out"
                )
            try:
                client = Client(address, timeout=_SECONDS)
            except (OSError, ValueError) as error:
                why = str(error).splitlines()[0] if str(error) else type(error).__name__
                raise ParameterError(
                    f"--scheduler {address}: no scheduler answers there ({why}); start one with `dask scheduler`"
                ) from None
        stack.enter_context(client)
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise ParameterError(f"--scheduler {address}: it has no workers; start some with `dask worker {address}`")
        yield client.get_executor(pure=False)
