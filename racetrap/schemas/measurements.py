"""JSON of `racetrap bench`."""

from __future__ import annotations

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from racetrap.evaluation.noncoherent.accelerator_rates import AnalysisRun
from racetrap.evaluation.scord.cycles import Bandwidth, Fences, Load, Width
from racetrap.evaluation.sigrace.cycles import Scan, Sustained
from racetrap.evaluation.throughput.rates import Rate
from racetrap.evaluation.throughput.speed import Rates, SameTrace
from racetrap.schemas.values import LongWorkDocument


class Speed(TypedDict):
    """Accesses (ScoRD) or events (SigRace) a second."""

    golden: Annotated[Rate, "of the golden model alone"]
    hardware: Annotated[Rate, "of the hardware's simulation alone"]
    together: Annotated[Rate, "of both together, with everything compared"]
    same_trace: Annotated[SameTrace, "one trace by cocotb and by the fast co-simulation"]


class PaceOfBank(TypedDict):
    """Accesses a cycle of one bank; the metadata answers at once."""

    streaming: Annotated[float, "whole lines"]
    back_to_back: Annotated[float, "one entry only"]


class PaceOfBanks(TypedDict):
    """Accesses a cycle on whole lines from all SMs."""

    one: Annotated[float, "with one bank"]
    four: Annotated[float, "with four banks"]
    ratio: Annotated[float, "`four` divided by `one`"]


class ApplicationRates(TypedDict):
    """Analyses of an application."""

    name: Annotated[str, "its name"]
    events: Annotated[int, "events of its trace"]
    operations: Annotated[int, "operations of threads"]
    executor: Annotated[float, "events a second of the executor"]
    barracuda: Annotated[float, "events a second of Barracuda"]
    scoped: Annotated[float, "events a second of the scoped oracle"]
    causality: Annotated[float, "events a second of the compiled oracle"]


class BenchScord(TypedDict):
    """Figures of ScoRD."""

    latency: Annotated[
        int | None,
        "`--latency`: cycles after which memory answers; null if at once, after 140 in "
        "`slices`, and as each row of `bandwidth` says",
    ]
    speed: Annotated[Speed, "speed of simulation"]
    accesses_per_cycle: Annotated[PaceOfBank, "of one bank"]
    fences: Annotated[list[Fences], "fences a cycle"]
    bandwidth: Annotated[list[Bandwidth], "metadata bandwidth by accesses in flight and latency"]
    banks: Annotated[PaceOfBanks, "of several banks"]
    saturated: Annotated[dict[str, Rates], "of simulation on whole lines of all SMs, by system"]
    widths: Annotated[list[Width], "of one metadata port by words a cycle"]
    slices: Annotated[list[Load], "of a GPU with a metadata port at each L2 slice"]
    executor: Annotated[dict[str, float], "thread instructions a second by number of threads"]
    executor_independent_threads: Annotated[
        dict[str, float], "the same with the lanes of a warp independent"
    ]
    executor_loops: Annotated[
        dict[str, float],
        "seconds of loops with a fused and with separate operations, and of a block's work while "
        "others poll a word",
    ]
    applications: Annotated[list[ApplicationRates], "of each application"]


class MeasuredRecorder(TypedDict):
    """Recorder and detectors on a program."""

    name: Annotated[str, "the program's source"]
    events: Annotated[int, "events of the program"]
    recorded: Annotated[Rate, "events a second while it runs"]
    merged: Annotated[Rate, "events a second when its records become a trace"]
    checked: Annotated[Rate, "events a second of the compiled exact detector"]
    sigrace: Annotated[Rate, "events a second of SigRace, compiled"]
    conflicts: Annotated[int, "conflicts that SigRace analysed"]
    bytes_per_event: Annotated[
        float, "peak memory of recorder and detectors for each event, in bytes"
    ]
    sanitizer_seconds: Annotated[float, "seconds of the program under ThreadSanitizer"]
    slowdown: Annotated[
        float, "time of recording, merging and checking as a multiple of `sanitizer_seconds`"
    ]
    sigrace_ratio: Annotated[float, "time of SigRace as a multiple of the exact check's"]


class ProgramRates(TypedDict):
    """Analyses of a program with threads."""

    name: Annotated[str, "its name"]
    events: Annotated[int, "events of its trace"]
    exact: Annotated[float, "events a second of the exact detector"]
    sigrace: Annotated[float, "events a second of SigRace's golden model"]


class BenchSigrace(TypedDict):
    """Figures of SigRace."""

    speed: Annotated[Speed, "speed of simulation"]
    worst_scan: Annotated[Scan, "the longest search of the RDM"]
    sustained: Annotated[list[Sustained], "all cores at full rate, by length of a block"]
    recorder: Annotated[list[MeasuredRecorder], "of each program"]
    programs: Annotated[list[ProgramRates], "of each program"]


class RecorderPace(TypedDict):
    """Accesses a second of the recorder of accelerators."""

    neighbours: Annotated[Rate, "neighbouring accesses"]
    scattered: Annotated[Rate, "scattered accesses"]


class BenchNoncoherent(TypedDict):
    """Figures of accelerators."""

    analysis: Annotated[list[AnalysisRun], "long traces, from the file to the verdict"]
    recorder: Annotated[RecorderPace, "accesses a second"]


class Bench(LongWorkDocument):
    """`racetrap bench`."""

    scord: Annotated[NotRequired[BenchScord], "ScoRD"]
    sigrace: Annotated[NotRequired[BenchSigrace], "SigRace"]
    noncoherent: Annotated[NotRequired[BenchNoncoherent], "accelerators"]
    tools: Annotated[dict[str, str], "version of Python and of each tool"]
