"""JSON of the commands that generate, simulate and load hardware."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from racetrap.fpga.boards.table import Board
from racetrap.generators.state import StatePart
from racetrap.schemas.accelerator_races import MonitorRaceDocument, WithoutPlace
from racetrap.schemas.checks import GpuCheck
from racetrap.schemas.gpu_races import DetectorRace
from racetrap.schemas.thread_races import SigraceFigures, ThreadRaceDocument
from racetrap.schemas.values import (
    Call,
    Configuration,
    LongWorkDocument,
    Parameters,
    Tables,
    Verdict,
)


class Generate(Configuration):
    """`racetrap generate`."""

    name: Annotated[str, "name of the files, and with `_` for `-` of the Verilog module"]
    files: Annotated[
        dict[str, str],
        "path of each file: `verilog`, `description`, `verilator` (lint waivers), `fusesoc`, "
        "`header`, `manual`, `ipxact`, `systemrdl`, `package` (SystemVerilog), and `verilog PART` "
        "of each part (SigRace: `core-unit`, `rdm`)",
    ]
    segments_per_cycle: Annotated[
        float | None,
        "ScoRD: segments that a metadata port takes in a cycle at most with memory of the latency "
        "given; null without `--latency`",
    ]


class FieldPlace(TypedDict):
    """Place of a field in a packed word."""

    offset: Annotated[int, "its lowest bit"]
    width: Annotated[int, "its bits"]


class PackedWord(TypedDict):
    """A packed word."""

    width: Annotated[int, "its bits"]
    fields: Annotated[dict[str, FieldPlace], "by name; nested ones are dotted"]


class PresetDocument(TypedDict):
    """`racetrap presets NAME`."""

    preset: Annotated[str, "name"]
    summary: Annotated[str, "purpose of the preset"]
    parameters: Annotated[Parameters, "every parameter"]
    layouts: Annotated[
        dict[str, PackedWord], "as in the description that `racetrap generate` writes"
    ]
    state_bits: Annotated[
        NotRequired[list[StatePart]], "state by kind; missing without the extra `hardware`"
    ]
    overheads: Annotated[dict[str, float], "cost besides state, by name and unit"]


#: Without a name: the purpose of each preset.
Presets: TypeAlias = PresetDocument | dict[str, str]


class MutantDocument(TypedDict):
    """A mutant of a preset's Verilog."""

    number: Annotated[int, "value of the selector"]
    block: Annotated[str, "its block"]
    change: Annotated[str, "the bit, and what it becomes"]
    outcome: Annotated[Literal["killed", "equivalent", "survived"], "what became of it"]
    case: Annotated[int | None, "case that killed it, unless a bench did, or the digest"]
    reason: Annotated[str, "the first difference, or how equivalence was proved"]


class Mutants(LongWorkDocument):
    """`racetrap mutants`."""

    preset: Annotated[str, "name"]
    count: Annotated[int, "`--count`"]
    cases: Annotated[int, "`--cases`"]
    seed: Annotated[int, "`--seed`"]
    mutants: Annotated[int, "mutants of all blocks"]
    benches: Annotated[int, "benches of blocks that there are; 0 outside of a checkout"]
    racetrap: Annotated[str, "version"]
    verilator: Annotated[str, "version"]
    yosys: Annotated[str, "version"]
    tables: Annotated[
        Tables,
        "`blocks`: mutants of each block by what became of them, with the score; `survivors`: "
        "those that are neither killed nor equivalent, with the reason if one is known",
    ]
    all: Annotated[list[MutantDocument], "every mutant"]
    problems: Annotated[list[str], "sentences"]


class CampaignRow(TypedDict):
    """Sums over all cases of a preset."""

    preset: Annotated[str, "name"]
    cases: Annotated[int, "cases"]
    differences: Annotated[int, "cases in which hardware and golden model differ"]
    accesses: Annotated[NotRequired[int], "ScoRD: accesses compared"]
    accesses_per_cycle: Annotated[NotRequired[float], "ScoRD"]
    accesses_per_second: Annotated[NotRequired[int], "ScoRD"]
    events: Annotated[NotRequired[int], "SigRace: events compared"]
    messages: Annotated[NotRequired[int], "SigRace: messages"]
    conflicts: Annotated[NotRequired[int], "SigRace: conflicts"]
    events_per_cycle: Annotated[NotRequired[float], "SigRace"]
    events_per_second: Annotated[NotRequired[int], "SigRace"]
    operations: Annotated[NotRequired[int], "bus monitor: operations"]
    rows: Annotated[NotRequired[int], "bus monitor: rows of operations compared"]
    compactions: Annotated[NotRequired[int], "bus monitor: merges of entries of full sets"]
    bursts: Annotated[NotRequired[int], "bus monitor: bursts on the observed bus"]
    bursts_lost: Annotated[NotRequired[int], "bus monitor: bursts that found the queue full"]
    operations_per_cycle: Annotated[NotRequired[float], "bus monitor"]
    operations_per_second: Annotated[NotRequired[int], "bus monitor"]
    races: Annotated[NotRequired[int], "ScoRD and bus monitor: races"]
    cycles: Annotated[int, "clock cycles"]
    seed: Annotated[int, "`--seed`"]


class RandomCampaign(LongWorkDocument):
    """Campaign of random tests."""

    presets: Annotated[list[CampaignRow], "of each preset, as the tables show"]
    coverage: Annotated[
        dict[str, dict[str, int]],
        "hits of functional coverage by detector and bin, of the bins that were hit",
    ]


class RecordedRow(TypedDict):
    """SigRace on a recorded program."""

    program: Annotated[str, "name of the program; `all` for all together"]
    events: Annotated[int, "events compared"]
    messages: Annotated[int, "messages"]
    rdm_steps: Annotated[int, "steps of the RDM compared"]
    conflicts: Annotated[int, "conflicts"]
    cycles: Annotated[int, "clock cycles"]
    seconds: Annotated[float, "seconds of CPU time"]
    events_per_second: Annotated[int, "events compared in a second of CPU time"]


class RecordedCampaign(LongWorkDocument):
    """Campaign on recorded programs."""

    programs: Annotated[list[RecordedRow], "of each program"]
    all: Annotated[RecordedRow, "of all programs together"]
    differences: Annotated[dict[str, str], "first difference by program"]
    preset: Annotated[str, "name"]
    seed: Annotated[int, "as given"]


#: `racetrap campaign`.
Campaign: TypeAlias = RandomCampaign | RecordedCampaign


class Coverage(TypedDict):
    """`racetrap coverage`."""

    bins: Annotated[dict[str, int], "hits by bin; a bin that was not hit may be absent"]
    missed: Annotated[list[str], "bins that can be hit and were not"]


class SimulatedTrace(Call):
    """Keys of `racetrap simulate` for a trace, whatever the detector."""

    trace: Annotated[str, "file, as given"]
    events: Annotated[int, "number of events"]


class GpuSimulation(SimulatedTrace):
    """`racetrap simulate` of a trace of a GPU."""

    steps: Annotated[int, "steps compared, of all kernels"]
    cycles: Annotated[int, "clock cycles, of all kernels"]
    left_out: Annotated[
        int | None, "accesses that the access buffers left out; null if their policy leaves none"
    ]
    races: Annotated[list[DetectorRace], "races; the hardware found the same"]


class MachineRunDocument(SigraceFigures):
    """A run on SigRace's hardware."""

    core_events: Annotated[int, "events of core units, all compared"]
    messages: Annotated[int, "messages, all compared"]
    rdm_steps: Annotated[int, "steps of the RDM, all compared"]
    analysed_events: Annotated[int, "events in Analysis mode, all compared"]
    cycles: Annotated[int, "clock cycles"]


class ThreadSimulation(SimulatedTrace, MachineRunDocument):
    """`racetrap simulate` of a trace of threads."""

    environment: Annotated[str, "name of the way in which threads were scheduled on cores"]
    races: Annotated[list[ThreadRaceDocument], "races; the hardware found the same"]


class AcceleratorSimulation(SimulatedTrace):
    """`racetrap simulate` of a trace of a CPU and its accelerators."""

    rows: Annotated[int, "rows of operations compared with the golden model"]
    cycles: Annotated[int, "clock cycles"]
    compactions: Annotated[int, "merges of two entries of a full set"]
    races: Annotated[list[MonitorRaceDocument], "races; the hardware found the same"]


class WrongRead(TypedDict):
    """A read of other data than coherent memory would have held."""

    pc: Annotated[int | None, "program counter; null if the engine has read"]
    location: Annotated[str | None, "line of the source; null if unknown"]
    operation: Annotated[int, "operations that the monitor had taken before"]


class SocCache(TypedDict):
    """Data cache of an example system."""

    lines: Annotated[int, "lines of all ways together"]
    line_bytes: Annotated[int, "bytes of a line"]
    write_through: Annotated[bool, "whether writes go to memory at once"]
    ways: Annotated[int, "lines that an address may be in"]


class SocRun(TypedDict):
    """`racetrap soc run`: firmware on an example system."""

    system: Annotated[str, "name of the system"]
    cache: Annotated[SocCache, "its cache"]
    firmware: Annotated[str, "file, as given"]
    status: Annotated[int, "what the firmware's `main` has returned"]
    console: Annotated[str, "output of the firmware"]
    cycles: Annotated[int, "clock cycles"]
    instructions: Annotated[int, "instructions of the core"]
    operations: Annotated[int, "operations that the monitor has taken, without empty ones"]
    empty_operations: Annotated[int, "operations of no bytes, which are not checked"]
    lost_operations: Annotated[int, "operations that found the queue full: not checked"]
    wrong_reads: Annotated[int, "reads of other data than coherent memory would have held"]
    first_wrong_read: Annotated[WrongRead | None, "the first of them; null if there is none"]
    races: Annotated[list[MonitorRaceDocument], "races that the monitor has reported"]
    without: Annotated[
        NotRequired[list[WithoutPlace]],
        "with `--output FILE.csv`: each place of cache operations and waits",
    ]


class MicroBenchmarkVerdict(TypedDict):
    """Verdict on a micro-benchmark."""

    name: Annotated[str, "its name"]
    expected: Annotated[Verdict, "the right verdict"]
    golden: Annotated[
        str, "verdict of the golden model: as `expected`, or the number of runs in which it is"
    ]
    rtl: Annotated[str, "verdict of the hardware, likewise"]
    kinds: Annotated[list[str], "kinds of the hardware's reports"]
    scope: Annotated[list[str], "their scopes"]
    cycles: Annotated[int, "clock cycles of the longest run"]
    schedules: Annotated[int, "runs"]
    golden_right: Annotated[int, "runs in which the golden model is right"]
    rtl_right: Annotated[int, "runs in which the hardware is right"]
    wrong: Annotated[list[str], "the wrong runs"]
    difference: Annotated[str | None, "first difference of hardware and golden model"]


class MicroBenchmarks(Call):
    """`racetrap simulate PRESET scor-micro`."""

    failure: Annotated[
        str | None,
        "null, or why the simulation ended early, in a sentence: hardware and golden model differ, "
        "or a tool failed",
    ]
    benchmarks: Annotated[list[MicroBenchmarkVerdict], "each micro-benchmark"]


class ApplicationVerdictDocument(TypedDict):
    """Verdict on a build of an application."""

    application: Annotated[str, "its name"]
    switches: Annotated[list[str], "race switches that are on"]
    expected: Annotated[Verdict, "the right verdict"]
    runs: Annotated[int, "runs"]
    oracle: Annotated[int, "runs in which the oracle found a race"]
    golden: Annotated[int, "runs in which the golden model found one"]
    rtl: Annotated[int, "runs in which the hardware found one"]
    kinds: Annotated[list[str], "kinds that the hardware reported"]
    steps: Annotated[int, "steps compared"]
    cycles: Annotated[int, "clock cycles"]
    agrees: Annotated[
        bool, "whether golden model and hardware reported the same unique races in every run"
    ]


class Applications(Call):
    """`racetrap simulate PRESET scor-apps`."""

    size: Annotated[str, "`--size`"]
    builds: Annotated[list[ApplicationVerdictDocument], "each build"]


class ProgramFailure(TypedDict):
    """A program without figures."""

    program: Annotated[str, "its name"]
    events: Annotated[int, "events of its trace"]
    failure: Annotated[str, "why it has no figures, in a sentence"]


class ProgramRun(MachineRunDocument):
    """A program on SigRace's hardware."""

    program: Annotated[str, "its name"]
    events: Annotated[int, "events of its trace"]
    failure: Annotated[None, "it has figures"]
    exact: Annotated[int, "pairs of instructions that race by the oracle"]
    unreal: Annotated[int, "reported pairs that do not race; there must be none"]


class ThreadPrograms(Call):
    """`racetrap simulate PRESET threads`."""

    size: Annotated[str, "`--size`"]
    environment: Annotated[str, "`--set environment`"]
    programs: Annotated[list[ProgramRun | ProgramFailure], "each program"]


Simulate: TypeAlias = (
    GpuSimulation
    | ThreadSimulation
    | AcceleratorSimulation
    | MicroBenchmarks
    | Applications
    | ThreadPrograms
)


#: `racetrap fpga boards`.
Boards: TypeAlias = list[Board]


class BoardBuildDocument(Configuration):
    """`racetrap fpga build`."""

    board: Annotated[str, "name of the board"]
    device: Annotated[str, "its FPGA"]
    bitstream: Annotated[str, "file to load into the board"]
    fmax: Annotated[float, "frequency after place and route, in MHz"]
    constraint: Annotated[float, "required frequency, in MHz"]
    utilization: Annotated[
        dict[str, tuple[int, int]], "cells used and available, by nextpnr's kinds"
    ]
    seed: Annotated[int, "`--seed`"]
    seconds: Annotated[float, "time of the whole build"]


class StreamedTrace(TypedDict):
    """Keys of `racetrap fpga run`, whatever the detector."""

    trace: Annotated[str, "file, as given"]
    configuration: Annotated[
        str, "preset with its settings, or the configuration that the device reports"
    ]
    parameters: Annotated[Parameters, "every parameter of the detector"]
    port: Annotated[str, "`--port`"]
    events: Annotated[int, "number of events"]
    seconds: Annotated[float, "time of the run"]
    counters: Annotated[dict[str, int], "by the names of the device's registers"]
    line: Annotated[
        dict[str, int], "number of `requests` to the device, and of `resends` after a loss"
    ]


class GpuBoardRun(StreamedTrace):
    """`racetrap fpga run` of a trace of a GPU."""

    transactions: Annotated[int, "transactions streamed"]
    reports: Annotated[int, "reports compared with the golden model"]
    races: Annotated[list[DetectorRace], "races; the device found the same"]


class AcceleratorBoardRun(StreamedTrace):
    """`racetrap fpga run` of a trace of a CPU and its accelerators."""

    rows: Annotated[int, "rows of operations streamed"]
    reports: Annotated[int, "reports compared with the golden model"]
    races: Annotated[list[MonitorRaceDocument], "races; the device found the same"]


class ThreadBoardRun(StreamedTrace, SigraceFigures):
    """`racetrap fpga run` of a trace of threads."""

    environment: Annotated[str, "name of the way in which threads were scheduled on cores"]
    core_events: Annotated[int, "events of contexts"]
    messages: Annotated[int, "messages"]
    analysed_events: Annotated[int, "events in Analysis mode"]
    conflict_records: Annotated[int, "records of conflicts compared with the golden model"]
    trap_records: Annotated[int, "records of traps compared with the golden model"]
    races: Annotated[list[ThreadRaceDocument], "races; the device found the same"]


BoardRun: TypeAlias = GpuBoardRun | ThreadBoardRun | AcceleratorBoardRun


class VortexReport(TypedDict):
    """Reports of the hardware of one instruction and kind."""

    line: Annotated[str, "source line; empty if unknown"]
    pc: Annotated[int, "program counter"]
    kind: Annotated[str, "kind of the race, in the detector's words"]
    scope: Annotated[Literal["block", "device"], "scope of the race"]
    address: Annotated[int, "address of the first"]
    count: Annotated[int, "number of reports"]


class VortexRunDocument(Call):
    """`racetrap vortex run`."""

    kernel: Annotated[str, "the C source, as given"]
    macros: Annotated[list[str], "macros, as given"]
    machine: Annotated[dict[str, int | bool], "size, memory and launch of the simulated GPU"]
    cycles: Annotated[int, "cycles with the detector"]
    cycles_without: Annotated[int, "cycles without it"]
    waits: Annotated[
        dict[str, int],
        "cycles in which a core's request has waited for the detector, by what it waited for",
    ]
    console: Annotated[str, "what the kernel has printed"]
    result: Annotated[list[int], "words of its variable `result`; empty without one"]
    result_without: Annotated[list[int], "the same of the run without the detector"]
    instructions: Annotated[int, "instructions of all front ends, compared"]
    transactions: Annotated[int, "transactions of the detector, compared"]
    counters: Annotated[dict[str, int], "counters of the detector"]
    reports: Annotated[list[VortexReport], "what the hardware has reported"]
    exact: Annotated[GpuCheck, "verdict on the trace of the run, as of `racetrap check`"]
