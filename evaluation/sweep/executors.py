"""A Dask cluster to measure points on, with the interface of local processes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from racetrap.sim.failure import Failure
from racetrap.sim.tools import not_found

_CONNECT_SECONDS = 10


class ClusterError(Failure):
    """There is no cluster to work with."""


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Workers of a Dask scheduler; unfinished work is cancelled at the end.

    Parameters
    ----------
    address : str
        Address of the scheduler, for example ``tcp://127.0.0.1:8786``.

    Raises
    ------
    ClusterError
        If Dask is not installed, no scheduler or worker answers, or a worker fails.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(not_found("distributed")) from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise ClusterError(f"Scheduler {address} cannot be reached: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except TimeoutError:
            raise ClusterError(
                f"Scheduler {address} has no worker: start one (`dask worker {address}`)"
            ) from None
        executor = client.get_executor(pure=False)
        try:
            yield executor
        except Failure:
            raise
        except Exception as error:  # whatever a worker, or the way to it, has met
            raise ClusterError(f"Workers of {address} failed: {error}") from error
        finally:
            executor.shutdown(wait=False)
