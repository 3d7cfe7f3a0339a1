"""Worker processes with a progress bar, for commands that make many runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from rich.console import Console

from racetrap.sim.processes import processes

__all__ = ["worker_pool"]


@contextmanager
def worker_pool(
    workers: int, description: str, total: int
) -> Iterator[tuple[Executor, Callable[..., None]]]:
    """A pool of processes, and what to call after each of ``total`` runs, or after several at
    once with their number.

    The progress bar is on standard error, and only on a terminal.
    """
    from rich.progress import Progress  # slow to import

    console = Console(stderr=True)
    with (
        processes(workers) as pool,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        task = bar.add_task(description, total=total)
        yield pool, lambda count=1: bar.advance(task, count)
