"""Where points are measured: processes of this machine, or a Dask cluster; one interface."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

__all__ = ["ClusterError", "cluster", "processes"]

_CONNECT_SECONDS = 10


class ClusterError(RuntimeError):
    """There is no cluster to work with."""


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """Processes of this machine; what has not begun is dropped at the end.

    Parameters
    ----------
    jobs : int
        Number of processes.
    """
    # Workers are fresh processes: a fork would copy the parent's threads in any state.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Workers of a Dask scheduler; what is not done is cancelled at the end.

    Parameters
    ----------
    address : str
        Address of the scheduler, for example ``tcp://127.0.0.1:8786``.

    Raises
    ------
    ClusterError
        If Dask is not installed, or no scheduler or worker answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            "Package distributed was not found: install the extra `racetrap[cluster]`"
        ) from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise ClusterError(f"Scheduler {address} cannot be reached: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except TimeoutError:
            raise ClusterError(
                f"Scheduler {address} must have at least one worker, not none"
            ) from None
        executor = client.get_executor(pure=False)
        try:
            yield executor
        finally:
            executor.shutdown(wait=False)
