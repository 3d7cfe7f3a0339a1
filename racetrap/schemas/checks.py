"""JSON of `racetrap check` and `racetrap run`."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem
from racetrap.schemas.accelerator_races import AcceleratorOracle, AcceleratorRace
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
    """What was run of a kernel."""

    blocks: Annotated[int, "blocks"]
    warp_instructions: Annotated[int, "instructions of warps"]
    thread_instructions: Annotated[int, "instructions of threads"]


class TraceName(TypedDict):
    """What was checked."""

    trace: Annotated[str, "file, as given: a trace or a kernel"]
    events: Annotated[int, "events in the trace"]


class KernelCheck(TraceName, Configuration):
    """What a check of a GPU has in either case."""

    launch: Annotated[NotRequired[str], "of a kernel: the launch file, as given"]
    run: Annotated[NotRequired[RunCounts], "of a kernel: what was run"]
    results: Annotated[
        list[str],
        "buffers that do not hold what the launch file expects, of all schedules, each in a "
        "sentence",
    ]
    faults: Annotated[
        list[str],
        "what ended kernels before their time, of all schedules, each in a sentence",
    ]
    outside: Annotated[
        list[str], "loads from outside all memory, of all schedules, each in a sentence"
    ]


class GpuCheck(KernelCheck, GpuVerdict):
    """`racetrap check` of a kernel or a trace of a GPU."""

    exposed_besides: Annotated[
        list[str],
        "of a kernel with `--memory`: failures by what is no race of these runs, each in a "
        "sentence",
    ]
    reports: Annotated[
        list[DetectorRace],
        "the detector's races in the order found, at most as many as `--limit`",
    ]
    oracle: Annotated[Oracle, "each different race of the exact analysis of the first schedule"]


class DetectorCheck(KernelCheck):
    """`racetrap check --oracle none` of a kernel or a trace of a GPU."""

    unique: Annotated[int, "races of different PC and kind"]
    counters: Annotated[dict[str, int], "by the names of the detector's registers"]
    races: Annotated[list[DetectorRace], "the detector's races in the order found"]


class ThreadCheck(TraceName, Configuration, SigraceFigures):
    """`racetrap check` of a trace of threads."""

    environment: Annotated[
        Environment, "how threads were put on cores; `quantum`: mean instructions until one moves"
    ]
    checkpoint_interval: Annotated[int, "`--set checkpoint_interval`"]
    unbounded: Annotated[bool, "`--set unbounded`"]
    races: Annotated[list[ThreadRaceDocument], "every different dynamic race, by address"]
    oracle: Annotated[NotRequired[ThreadOracle], "with `--compare`"]


class ExactCheck(TraceName):
    """`racetrap check --exact` of a trace of threads."""

    static: Annotated[int, "races of different pairs of instructions"]
    suppressed: Annotated[int, "races and inversions left out by `--suppress`"]
    checked_events: Annotated[int, "fewer than `events` if `--fail-fast` has stopped it"]
    races: Annotated[list[ExactRace], "of each pair of instructions that race the first instance"]
    lock_order_inversions: Annotated[list[list[LockOrder]], "cycles of acquisitions"]


class AcceleratorCheck(TraceName):
    """`racetrap check` of a trace with accelerators."""

    mode: Annotated[str, "`--set mode`"]
    memory: Annotated[MemorySystem, "the hardware"]
    layout: Annotated[Literal["host", "target", "mixed"], "whose addresses they are"]
    races: Annotated[list[AcceleratorRace], "races in the order of their first instances"]
    oracle: Annotated[NotRequired[AcceleratorOracle], "with `--compare`"]


Check: TypeAlias = GpuCheck | DetectorCheck | ThreadCheck | ExactCheck | AcceleratorCheck


class Launch(TypedDict):
    """A launch of a program's kernel."""

    kernel: Annotated[str, "the kernel"]
    grid: Annotated[list[int], "blocks of the grid in each dimension"]
    block: Annotated[list[int], "threads of a block in each dimension"]
    stream: Annotated[int, "its stream"]
    checked: Annotated[bool, "whether it was checked"]


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
    faults: Annotated[list[str], "what ended kernels, each in a sentence"]
    outside: Annotated[list[str], "loads from outside all memory, each in a sentence"]
    problems: Annotated[list[str], "what could not be done for the program, each in a sentence"]
    events: Annotated[list[int], "events in the trace of each run"]
    launches: Annotated[list[Launch], "launches of the first run"]
