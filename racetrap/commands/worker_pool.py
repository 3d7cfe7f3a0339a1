"""Worker processes with a progress bar, for commands that make many runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from rich.console import Console

from racetrap.evaluation.processes import processes
from racetrap.presenters.output import ExitStatus, fail

__all__ = ["worker_pool"]


@contextmanager
def worker_pool(
    workers: int, description: str, total: int
) -> Iterator[tuple[Executor, Callable[..., None]]]:
    """A pool of processes, and what to call after each of ``total`` runs, or after several at
    once with their number.

    The progress bar is on standard error, and only on a terminal.  If a worker dies, which no
    run can answer for, the command ends with one sentence and exit status 3.
    """
    from rich.progress import Progress  # slow to import

    console = Console(stderr=True)
    try:
        with (
            processes(workers) as pool,
            Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
        ):
            task = bar.add_task(description, total=total)
            yield pool, lambda count=1: bar.advance(task, count)
    except BrokenProcessPool:
        fail(
            "Worker process died in the middle of a run; fewer at a time need less memory",
            ExitStatus.FAILED,
        )
