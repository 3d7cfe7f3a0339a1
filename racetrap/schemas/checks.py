"""JSON of `racetrap check` and `racetrap run`."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem
from racetrap.schemas.accelerator_races import AcceleratorOracle, AcceleratorRace, WithoutPlace
from racetrap.schemas.gpu_races import DetectorRace, GpuVerdict, Oracle
from racetrap.schemas.thread_races import (
    ExactRace,
    LockOrder,
    SigraceFigures,
    ThreadOracle,
    ThreadRaceDocument,
)
from racetrap.schemas.values import Configuration


class RunCounts(TypedDict):
    """Work of a kernel's run."""

    blocks: Annotated[int, "number of blocks"]
    warp_instructions: Annotated[int, "number of warp instructions"]
    thread_instructions: Annotated[int, "number of thread instructions"]


class TraceName(TypedDict):
    """The input of a check."""

    trace: Annotated[str, "file, as given: a trace or a kernel"]
    events: Annotated[int, "events in the trace"]


class KernelCheck(TraceName, Configuration):
    """Keys that every check of a GPU has."""

    launch: Annotated[NotRequired[str], "for a kernel: the launch file, as given"]
    run: Annotated[NotRequired[RunCounts], "for a kernel: the work of the run"]
    results: Annotated[
        list[str],
        "buffers that do not hold the expected values, in all schedules, each in a sentence",
    ]
    faults: Annotated[
        list[str],
        "faults that ended kernels early, in all schedules, each in a sentence",
    ]
    outside: Annotated[
        list[str], "loads from outside all buffers, in all schedules, each in a sentence"
    ]


class GpuCheck(KernelCheck, GpuVerdict):
    """`racetrap check` of a kernel or a trace of a GPU."""

    exposed_besides: Annotated[
        list[str],
        "for a kernel with `--memory`: failures without a race of these runs, each in a sentence",
    ]
    reports: Annotated[
        list[DetectorRace],
        "the detector's races in the order found, at most as many as `--limit`",
    ]
    oracle: Annotated[
        Oracle | None,
        "distinct races that the exact analysis finds in the first schedule; null if no detector "
        "is named and the launch has clusters of several blocks, which none knows",
    ]


class DetectorCheck(KernelCheck):
    """`racetrap check --oracle none` of a kernel or a trace of a GPU."""

    unique: Annotated[int, "number of races that differ in PC or kind"]
    counters: Annotated[dict[str, int], "counters by the name of the detector's register"]
    races: Annotated[list[DetectorRace], "the detector's races in the order found"]


class ThreadCheck(TraceName, Configuration, SigraceFigures):
    """`racetrap check` of a trace of threads."""

    environment: Annotated[
        Environment,
        "how threads were scheduled on cores; `quantum`: mean instructions until a thread moves",
    ]
    checkpoint_interval: Annotated[int, "`--set checkpoint_interval`"]
    unbounded: Annotated[bool, "`--set unbounded`"]
    rollback_when: Annotated[str, "`--set rollback_when`"]
    ring_depth: Annotated[int, "`--set ring_depth`"]
    races: Annotated[list[ThreadRaceDocument], "distinct dynamic races, by address"]
    oracle: Annotated[NotRequired[ThreadOracle], "with `--compare`"]


class ExactCheck(TraceName):
    """`racetrap check --exact` of a trace of threads."""

    static: Annotated[int, "number of racing pairs of instructions"]
    suppressed: Annotated[int, "races and inversions left out by `--suppress`"]
    checked_events: Annotated[
        int, "events that were checked: fewer than `events` if `--fail-fast` stopped the check"
    ]
    races: Annotated[list[ExactRace], "first instance of each racing pair of instructions"]
    lock_order_inversions: Annotated[list[list[LockOrder]], "cycles of acquisitions"]


class AcceleratorCheck(TraceName):
    """`racetrap check` of a trace with accelerators."""

    mode: Annotated[str, "`--set mode`"]
    memory: Annotated[MemorySystem, "the hardware"]
    layout: Annotated[
        Literal["host", "target", "mixed"], "the machine to which the addresses belong"
    ]
    races: Annotated[list[AcceleratorRace], "races in the order of their first instances"]
    oracle: Annotated[NotRequired[AcceleratorOracle], "with `--compare`"]
    without: Annotated[
        NotRequired[list[WithoutPlace]], "with `--notes`: each place of cache operations and waits"
    ]


Check: TypeAlias = GpuCheck | DetectorCheck | ThreadCheck | ExactCheck | AcceleratorCheck


class Launch(TypedDict):
    """A launch of a program's kernel."""

    kernel: Annotated[str, "the kernel"]
    grid: Annotated[list[int], "blocks of the grid in each dimension"]
    block: Annotated[list[int], "threads of a block in each dimension"]
    stream: Annotated[int, "its stream"]
    checked: Annotated[bool, "whether it was checked"]
    checked_blocks: Annotated[int, "blocks whose ordinary accesses were checked"]


class ProgramVerdict(GpuVerdict):
    """`racetrap run`."""

    program: Annotated[str, "program, as given"]
    arguments: Annotated[list[str], "its arguments, as given"]
    schedules: Annotated[int, "`--schedules`"]
    seed: Annotated[int, "`--seed`"]
    status: Annotated[
        int,
        "exit status of the program's first run that failed, negative for a signal; else 0",
    ]
    faults: Annotated[list[str], "faults that ended kernels, each in a sentence"]
    outside: Annotated[list[str], "loads from outside all buffers, each in a sentence"]
    problems: Annotated[
        list[str], "calls of the program that could not be carried out, each in a sentence"
    ]
    events: Annotated[list[int], "events in the trace of each run"]
    launches: Annotated[list[Launch], "launches of the first run"]
