"""Playback of a recorded program on the cores of a SigRace machine, in each environment.

Ref: SigRace (ISCA'09) Section 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from racetrap.golden_model.sigrace.environment import (
    OWN,
    Command,
    CoreCommand,
    Environment,
    Remap,
    Slot,
)
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, Mode
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.scheduler import Scheduler
from racetrap.golden_model.sigrace.sync_library import SyncLibrary
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace


def _fixed(trace: ThreadTrace, library: SyncLibrary, slots: list[Slot]) -> Iterator[Command]:
    """Every thread on its own context; events in the order of the trace."""
    for slot in slots:
        yield CoreCommand(*slot, CoreEvent(CoreOp.RESET), OWN)
    for thread, slot in zip(range(trace.header.threads), slots, strict=False):
        yield Remap(*slot, thread)
        yield CoreCommand(*slot, CoreEvent(CoreOp.SWITCH_IN, index=thread), OWN)
        yield CoreCommand(*slot, CoreEvent(CoreOp.MODE, Mode.NORMAL), OWN)
        yield CoreCommand(*slot, CoreEvent(CoreOp.COLLECT_ON), OWN)
    for number, event in enumerate(trace):
        core, context = slots[event.thread]
        for core_event in library.events(event):
            yield CoreCommand(core, context, core_event, number)


def play(trace: ThreadTrace, params: SigraceParams, environment: Environment) -> Iterator[Command]:
    """Commands of the cores that run a program, and changes of CoreToThread.

    The order of the commands is a possible one: it keeps the order of each thread's events, and of
    the synchronisation events of each object.  Otherwise cores may run at any relative speed,
    except as ``Remap`` states.

    Parameters
    ----------
    trace : ThreadTrace
        The program.
    params : SigraceParams
        The machine.
    environment : Environment
        Mapping of threads to its contexts.

    Raises
    ------
    ValueError
        If the trace has more threads than the machine or the environment can have.
    """
    environment.check_threads(trace.header.threads, params)
    slots = environment.slots(params)
    library = SyncLibrary(params)
    if environment.name == "fixed":
        return _fixed(trace, library, slots)
    return Scheduler(trace, library, slots, environment).commands()
