"""Recordings of small programs that a test writes, and their events."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from racetrap.golden_model.trace.threads.events import (
    ATOMIC_KINDS,
    MemoryOrder,
    ThreadEvent,
    ThreadEventKind,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.recorder import record

HEAD = """\
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "racetrap.h"
#line 1
"""


def record_text(
    folder: Path, text: str, *arguments: str, suffix: str = ".c", **options
) -> ThreadTrace:
    """Trace of a run of a program of one file, without the usual headers if it is C++."""
    source = folder / f"case{suffix}"
    source.write_text((HEAD if suffix == ".c" else "") + text)
    return record([source], arguments, **options).trace


def counts(trace: ThreadTrace) -> Counter[tuple[str, int]]:
    """How many events there are of each kind, and class or order if they have one."""
    orders = dict.fromkeys(ATOMIC_KINDS, len(MemoryOrder) - 1)
    codes = orders | dict.fromkeys((ThreadEventKind.ACQUIRE, ThreadEventKind.RELEASE), -1)
    return Counter(
        (ThreadEventKind(event.kind).name, event.value & codes.get(event.kind, 0))
        for event in trace
    )


def accesses(trace: ThreadTrace, place: str | None = None) -> list[tuple[str, int]]:
    """Kind and size of the plain accesses, in order; of one line of the source if named."""
    return [
        (ThreadEventKind(event.kind).name, event.size)
        for event in trace
        if event.kind <= ThreadEventKind.STORE
        and (place is None or trace.header.locations.get(event.pc) == place)
    ]


def of_kind(trace: ThreadTrace, *names: str) -> list[ThreadEvent]:
    """Events of the named kinds, in order."""
    kinds = {ThreadEventKind[name] for name in names}
    return [event for event in trace if event.kind in kinds]
