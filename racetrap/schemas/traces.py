"""JSON of the commands that make or inspect trace files."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from racetrap.golden_model.events import TraceHeader
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem, NoncoherentTraceHeader
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader
from racetrap.schemas.checks import RunCounts
from racetrap.schemas.thread_races import ThreadWaiting


class TraceInfo(TypedDict):
    """`racetrap trace info`."""

    trace: Annotated[str, "file, as given"]
    form: Annotated[Literal["binary", "text"], "its form"]
    header: Annotated[
        TraceHeader | ThreadTraceHeader | NoncoherentTraceHeader,
        "header of the trace; keys that are numbers, as of `locations`, are decimal strings",
    ]
    events: Annotated[int, "number of events"]
    lanes: Annotated[NotRequired[int], "GPU: number of active lanes in all accesses"]
    instructions: Annotated[NotRequired[int], "threads: number of instructions committed"]
    accesses: Annotated[NotRequired[int], "threads: number of accesses, plain and atomic"]
    ranges: Annotated[
        NotRequired[int], "accelerators: number of operations that have a range of bytes"
    ]
    kinds: Annotated[dict[str, int], "number of events by kind, every kind listed"]
    lowest_address: Annotated[int | None, "of all accesses; null if there is none"]
    highest_address: Annotated[int | None, "of all accesses; null if there is none"]


class Capture(TraceInfo, RunCounts):
    """`racetrap trace capture`."""

    kernel: Annotated[str, "kernel, as given"]
    launch: Annotated[str, "launch file, as given"]
    seconds: Annotated[float, "time of compiling and running"]
    fault: Annotated[str | None, "fault that ended a kernel early; null if there was none"]


class Slice(TypedDict):
    """`racetrap trace slice`."""

    trace: Annotated[str, "file written"]
    events: Annotated[int, "events in it"]
    left_out: Annotated[int, "accesses left out"]


class Recorded(TypedDict):
    """Keys that every recording has."""

    trace: Annotated[str, "file written"]
    source: Annotated[str, "name of the sources in the trace's header"]
    events: Annotated[int, "number of events"]
    kinds: Annotated[dict[str, int], "number of events by kind, every kind listed"]
    run_seconds: Annotated[float, "time of the program's run"]


class ThreadRecord(Recorded):
    """`racetrap trace record`."""

    seed: Annotated[int | None, "`--seed`, null if none"]
    ending: Annotated[str, "how the program ended; empty if it returned 0"]
    waiting: Annotated[list[ThreadWaiting], "in a deadlock, what each thread waits for"]
    threads: Annotated[int, "number of threads"]
    instructions: Annotated[int, "number of instructions committed"]
    raw_bytes: Annotated[int, "size of the threads' records before merging, in bytes"]
    events_per_second: Annotated[float, "rate of recording"]
    merge_seconds: Annotated[float, "time of merging"]
    merged_per_second: Annotated[float, "rate of merging"]
    losses: Annotated[
        dict[str, int], "what the program did and the trace lacks: how much of each kind"
    ]
    optimisation: Annotated[
        str | None, "how sources were optimised since the options did not say; else null"
    ]
    unseen_functions: Annotated[
        list[str], "functions of the C library that the program uses, whose writes the trace lacks"
    ]


class AcceleratorRecord(Recorded):
    """`racetrap trace record --accelerator`."""

    memory: Annotated[MemorySystem, "the hardware"]
    layout: Annotated[
        Literal["host", "target", "mixed"], "the machine to which the addresses belong"
    ]


Record: TypeAlias = ThreadRecord | AcceleratorRecord
