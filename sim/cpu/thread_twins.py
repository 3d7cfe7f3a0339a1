"""Events of traces of threads for C++, through ``thread_events.h``."""

from __future__ import annotations

from racetrap.golden_model.trace.threads.events import (
    GRANULE_LOG2,
    ORDER_BITS,
    MemoryOrder,
    SyncClass,
    ThreadEventKind,
)
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.sim.twins import Twin, constants, enumeration, record

#: Declarations of every library that reads events of threads.
THREAD_TWINS: tuple[Twin, ...] = (
    enumeration(ThreadEventKind, name="Kind", bits=8),
    enumeration(SyncClass),
    enumeration(MemoryOrder, prefix="ORDER_"),
    constants(
        {"CLASSES": len(SyncClass), "ORDER_BITS": ORDER_BITS, "GRANULE_LOG2": GRANULE_LOG2},
        ctype="uint32_t",
    ),
    record(THREAD_DTYPE, "Event"),
)
