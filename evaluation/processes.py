"""Worker processes of this machine, for everything that makes many runs."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from racetrap.sim.descendants import kill_descendants
from racetrap.sim.failure import Failure

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def memory_of_process(name: str) -> int:
    """Bytes that the system states of this process: ``VmHWM`` is its peak.

    That of ``getrusage`` includes the peak of the process from which this one was forked.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise KeyError(name)


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """Processes of this machine; runs that have not begun are dropped at the end.

    Parameters
    ----------
    jobs : int
        Number of processes.

    Raises
    ------
    Failure
        If one of them dies, which no run can be blamed for.
    """
    # Workers are fresh processes: a fork would copy the parent's threads in any state.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker)
    try:
        yield pool
    except BrokenProcessPool:
        raise Failure(
            "Worker process died in the middle of a run; fewer at a time need less memory"
        ) from None
    except KeyboardInterrupt:
        kill_descendants()  # nobody waits for what they are doing
        raise
    finally:
        pool.shutdown(cancel_futures=True)


class InThisProcess(Executor):
    """Runs each call at once, in this process."""

    def submit(
        self, function: Callable[..., _Result], /, *items: Any, **named: Any
    ) -> Future[_Result]:
        future = Future[_Result]()
        future.set_result(function(*items, **named))
        return future


def run_all(
    function: Callable[[_Item], _Result],
    items: Iterable[_Item],
    pool: Executor,
    done: Callable[[_Result], object] = lambda _: None,
) -> list[_Result]:
    """Results of ``function`` on all items, in their order; ``done`` gets each as it comes.

    The first error is raised at once; the runs that have not begun are dropped.
    """
    futures = [pool.submit(function, item) for item in items]
    try:
        for future in as_completed(futures):
            done(future.result())
    finally:
        for future in futures:
            future.cancel()
    return [future.result() for future in futures]


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        kill_descendants()
        os._exit(1)
