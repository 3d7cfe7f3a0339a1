"""Environments of a running program, and a machine's commands in them.

Ref: SigRace (ISCA'09) Section 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from racetrap.golden_model.checks import check_integer, unknown_name
from racetrap.golden_model.sigrace.packets import CoreEvent
from racetrap.golden_model.sigrace.params import SigraceParams

#: Mappings of threads to contexts.
ENVIRONMENTS = ("fixed", "migration", "multiplex", "multithreaded")
#: Those in which threads never wait for a context.
_ROOMY = ("fixed", "migration")
#: Number of a command that stands for no event of the trace.
OWN = -1
#: A core and a context of it.
Slot = tuple[int, int]


@dataclass(frozen=True)
class Environment:
    """Mapping of threads to contexts.

    ``fixed``: each thread has its own context, from its begin to its end.  ``migration``: at most
    as many threads as contexts; at the end of a quantum a thread moves to another context and swaps
    with the thread there.  ``multiplex``: any number of threads take turns on the cores, with one
    context each; a thread that must wait for one that is not running yields.  ``multithreaded``:
    the same with all contexts.

    Parameters
    ----------
    name : str
        One of ``ENVIRONMENTS``.
    quantum : int
        Mean number of instructions after which a thread is moved; unused if fixed.
    seed : int
        Seed of lengths of quanta and of targets of moves.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    name: str = "fixed"
    quantum: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in ENVIRONMENTS:
            raise ValueError(unknown_name("environment", self.name, ENVIRONMENTS))
        check_integer("Quantum", self.quantum, 1, (1 << 32) - 1)
        check_integer("Seed of the environment", self.seed, 0, (1 << 64) - 1)

    def slots(self, params: SigraceParams) -> list[Slot]:
        """Contexts in use, in the order in which threads take them: first one of each core."""
        contexts = 1 if self.name == "multiplex" else params.contexts
        return [(core, context) for context in range(contexts) for core in range(params.cores)]

    def check_threads(self, threads: int, params: SigraceParams) -> None:
        """Raise ``ValueError`` if a machine so run cannot have so many threads."""
        slots = self.slots(params)
        if threads > params.threads:
            raise ValueError(
                f"Trace has {threads} threads, but the detector has only {params.threads}: "
                f"add --set threads={threads}"
            )
        if self.name in _ROOMY and threads > len(slots):
            raise ValueError(
                f"Trace has {threads} threads, but environment {self.name} "
                f"has only {len(slots)} contexts: take --set environment=multiplex, "
                "or more cores by --set cores="
            )


class CoreCommand(NamedTuple):
    """An event of a context.

    Parameters
    ----------
    core, context : int
        Context.
    event : CoreEvent
        The event.
    number : int
        Number of the trace's event that it belongs to; -1 for the operating system's own.
    """

    core: int
    context: int
    event: CoreEvent
    number: int


class Remap(NamedTuple):
    """A change of CoreToThread: ``thread``, or none, runs on a context from now on.

    When hardware runs the commands, it waits until the RDM has taken every message of the core's
    earlier commands.  A thread that moves has already left its old context.
    """

    core: int
    context: int
    thread: int | None


Command = CoreCommand | Remap
