"""Worker processes of a command, with a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from racetrap.commands.shared.terminal import progress_bar
from racetrap.evaluation.processes import processes, run_all

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def run_parallel(
    function: Callable[[_Item], _Result], items: Sequence[_Item], jobs: int, description: str
) -> list[_Result]:
    """Results of ``function`` on all items, in order, from worker processes.

    Raises
    ------
    Failure
        If a worker dies; also everything that ``function`` raises.
    """
    with processes(jobs) as pool, progress_bar(description, len(items)) as update:
        return run_all(function, items, pool, lambda _: update(advance=1))
