"""Random volume in cases that can be rerun alone, whatever the detector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

from racetrap.sim.cosim.fast.build import FastModel, P

__all__ = ["Case", "Compared", "run_cases"]


@dataclass(frozen=True)
class Case(Generic[P]):
    """Name of a case.

    Parameters
    ----------
    model : FastModel
        System, built once for all cases.
    seed, number : int
        Seed of the campaign and number of the case in it.
    """

    model: FastModel[P]
    seed: int
    number: int


class Compared(Protocol):
    """What a case gives."""

    @property
    def volume(self) -> int:
        """Accesses or events that were compared."""

    @property
    def difference(self) -> str:
        """First difference in one sentence; empty if there is none."""


R = TypeVar("R", bound=Compared)


def run_cases(
    run_case: Callable[[Case[P], Any], R],
    model: FastModel[P],
    *,
    seed: int,
    volume: int,
    pool: Executor,
    width: int,
    make_observer: Callable[[P], Any] | None = None,
) -> Iterator[R]:
    """Run cases 0, 1, ... of a system until enough has been compared, or one differs.

    Parameters
    ----------
    run_case : callable
        Runs one case; the second argument is ``make_observer``.
    model, seed
        As of ``Case``.
    volume : int
        Accesses or events to compare.
    pool : Executor
        Where cases run.
    width : int
        Cases that run at the same time.
    make_observer : callable or None
        Makes the receiver of functional coverage from the parameters; what it makes must
        pickle, and so must itself.
    """
    numbers = count()
    running: set[Future[R]] = set()
    enough = False
    while running or not enough:
        while len(running) < width and not enough:
            case = Case(model, seed, next(numbers))
            running.add(pool.submit(run_case, case, make_observer))
        finished, running = wait(running, return_when=FIRST_COMPLETED)
        for result in (future.result() for future in finished):
            volume -= result.volume
            enough = enough or volume <= 0 or bool(result.difference)
            yield result
