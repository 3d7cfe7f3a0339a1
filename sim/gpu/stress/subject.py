"""Subject of stress: anything that runs by a memory model, and its failures.

Ref: Bugaroo Sections III-D and IV-B.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.golden_model.ptx_memory_model.operational import (
    Choices,
    Deviation,
    Execution,
    Kind,
    Strength,
)
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS, WeakMemorySettings
from racetrap.sim.gpu.ptx.module import Function

#: Warp instructions of a weak run: this many times those of a sequential one, and some more.
_LONGER, _MORE = 30, 50_000


class Failure(Enum):
    """How a run fails; the value is its name."""

    RESULT = "wrong result"
    FAULT = "fault"
    HANG = "hang"


class Changes(NamedTuple):
    """Changes to how a program synchronises.

    Parameters
    ----------
    fences : mapping of int to (Order, Scope) or None
        Other fences, by program counter; ``None`` leaves one out.
    inserted : mapping of int to (Order, Scope)
        Further ones, by program counter of the access behind each.
    accesses : mapping of int to Strength
        Other strength of strong accesses, by program counter.
    """

    fences: Mapping[int, tuple[Order, Scope] | None] = {}
    inserted: Mapping[int, tuple[Order, Scope]] = {}
    accesses: Mapping[int, Strength] = {}


@dataclass(frozen=True)
class Run:
    """A run by a weak memory.

    Parameters
    ----------
    failure : Failure, optional
        How it failed, if it did.
    sentence : str
        What went wrong.
    deviations : tuple of Deviation
        Where it differs from a run with sequentially consistent memory, warps in order.
    result : tuple of bytes, optional
        Digests of what it left, if that is wrong since no sequentially consistent run that is
        known leaves it.
    """

    failure: Failure | None
    sentence: str
    deviations: tuple[Deviation, ...]
    result: tuple[bytes, ...] | None = None

    @property
    def is_sequential(self) -> bool:
        """Whether warps alone have deviated, not memory."""
        return all(one.kind is Kind.TURN for one in self.deviations)


class Subject(ABC):
    """Subject of stress; it is right with sequentially consistent memory."""

    #: Kernels and device functions, those that never run among them.
    functions: Iterable[Function]
    #: Traces of sequentially consistent runs, that with warps in order first.
    traces: Sequence[Trace]

    @abstractmethod
    def run(self, memory: str, choices: Choices, changes: Changes | None = None) -> Run:
        """Run by a memory model.

        Parameters
        ----------
        memory : str
            One of ``MEMORY_MODELS``.
        choices : Choices
            Takes all choices.
        changes : Changes, optional
            Changes to how the program synchronises.
        """

    def fails(self, run: Run) -> bool:
        """Whether a run still fails, given the results of sequentially consistent memory known by
        now."""
        return run.failure is not None

    @staticmethod
    def demand_right(what: str, wrong: str) -> None:
        """Raise ``ValueError`` if anything is wrong with a sequentially consistent run."""
        if wrong:
            raise ValueError(
                f"{what} is wrong already in sequentially consistent memory, so "
                f"there is nothing to stress: {wrong.splitlines()[0]}"
            )


def settings_of(
    memory: str, choices: Choices, changes: Changes | None = None,
    shared: Sequence[Collection[int]] = (), executions: list[Execution] | None = None,
) -> WeakMemorySettings:  # fmt: skip
    """Settings of a run."""
    model, changes = MEMORY_MODELS[memory], changes or Changes()
    return WeakMemorySettings(model, choices, *changes, shared, executions)


def instruction_limit(sequential: int) -> int:
    """Warp instructions after which a run hangs, from those of a sequentially consistent one."""
    return _LONGER * sequential + _MORE
