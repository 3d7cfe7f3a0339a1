"""Throughput of the hardware in exact cycles.

Every figure is taken from launches that were compared with the golden model in full.

Ref: ScoRD (ISCA'20) Section IV-B (metadata traffic), Section V (the detector must keep up).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from racetrap.evaluation.scord.programs import Build, Schedule, trace_of
from racetrap.generators.scord import SCORD
from racetrap.golden_model.gpu.params import LINE_BYTES, WORDS_PER_LINE
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.gpu.launch_result import LaunchResult
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.random_events import transactions_of
from racetrap.sim.gpu.executor.device import DEFAULT_REGION_LOG2
from racetrap.sim.gpu.workloads.registry import WORKLOADS
from racetrap.verdict.gpu.fit import region_of

#: Cycles from a metadata request to its answer, and accesses in flight, that are measured.
LATENCIES = (1, 8, 16, 32, 64, 100)
OUTSTANDING = (8, 16, 32, 64, 128, 256)

#: Words a cycle that are measured.
WIDTHS = (1, 2, 4, 8)

#: Fence lanes that are measured.
FENCE_LANES = (1, 4)

_FENCES = 6000
#: The presets' SMs as the bandwidth is measured with: enough to keep one bank busy.
_FEW_SMS = 4
_REGION = Region(size_log2=17, metadata_base=1 << 20)
_ALL_WORDS = (1 << WORDS_PER_LINE) - 1
_Traffic = list[tuple[int, Transaction]]


@dataclass(frozen=True)
class Bandwidth:
    """Metadata bandwidth at one latency.

    Parameters
    ----------
    outstanding, latency : int
        Accesses in flight, and cycles from a request to its answer (of reads and writes).
    busy : float
        Fraction of cycles, from first to last, in which the read data channel has a transfer.
    """

    outstanding: int
    latency: int
    busy: float


@dataclass(frozen=True)
class Fences:
    """Fences of some SMs at one bank that counts some of them in a cycle.

    Parameters
    ----------
    lanes, sms : int
        Fences a cycle at most, and SMs that send them.
    fences_per_cycle : float
        Fences counted in a cycle, from the first to the last.
    """

    lanes: int
    sms: int
    fences_per_cycle: float


@dataclass(frozen=True)
class Load:
    """Traffic of a GPU with a detector port at each of its L2 slices.

    Parameters
    ----------
    traffic : str
        What it is.
    accesses : int
        Words checked.
    accesses_per_cycle : float
        Of them in a cycle, from the first step to the last.
    reads_per_cycle : float
        Segments that a port reads in a cycle of that time, in the mean over all ports.
    """

    traffic: str
    accesses: int
    accesses_per_cycle: float
    reads_per_cycle: float


@dataclass(frozen=True)
class Width:
    """Traffic of one SM, or of all, through one metadata port of some words a cycle.

    Parameters
    ----------
    words : int
        Words a cycle: entries of the port.
    traffic : str
        Name in ``_WIDE_TRAFFIC``.
    accesses_per_cycle : float
        Words checked in a cycle, from the first step to the last.
    reads_per_cycle : float
        Segments read in a cycle of that time: use of the read data channel.
    """

    words: int
    traffic: str
    accesses_per_cycle: float
    reads_per_cycle: float


def _lines(sms: int, count: int) -> _Traffic:
    """Stores to whole lines, one after the other, dealt to the SMs in turn."""
    return [
        (line % sms, Transaction(TransactionKind.STORE, strong=1, line=line, mask=_ALL_WORDS))
        for line in range(count)
    ]


def _launch(
    preset: str, params: ScordParams, traffic: Sequence[tuple[int, Transaction]], latency: int = 1
) -> tuple[LaunchResult, list[int]]:
    """Result of a launch, and the cycles in which bank 0 has read metadata."""
    with FastSim(build_fast(preset, params), timing=MemoryTiming(latency=latency)) as sim:
        result = check_launch(sim, params, _REGION, traffic, capacity_log2=4)
        return result, sim.read_cycles(0)


def streaming(latency: int = 1) -> float:
    """Accesses a cycle of the paper's detector on whole lines."""
    params = SCORD.presets["scord"].params
    result, _ = _launch("scord", params, _lines(params.sm_count, 600), latency)
    return result.accesses / result.cycles


def back_to_back(latency: int = 1, preset: str = "scord") -> float:
    """Accesses a cycle when every access is to one metadata entry."""
    params = SCORD.presets[preset].params
    store = Transaction(TransactionKind.STORE, strong=1, mask=1)
    traffic = [(number % params.sm_count, store) for number in range(20_000)]
    result, _ = _launch(preset, params, traffic, latency)
    return result.accesses / result.cycles


def bandwidth(outstanding: int, latency: int) -> Bandwidth:
    """Read data channel of one bank on whole lines, each access to another entry.

    Every access reads its entry and writes it back, and keeps its place in the window until
    the write is answered, so that about twice the latency is in flight.
    """
    params = replace(SCORD.presets["scord"].params, sm_count=_FEW_SMS, outstanding=outstanding)
    # The region is passed over once: each entry is read and written once.
    lines = _REGION.entries(params) * params.granularity // LINE_BYTES
    _, reads = _launch("scord", params, _lines(_FEW_SMS, lines), latency)
    return Bandwidth(outstanding, latency, len(reads) / (reads[-1] - reads[0] + 1))


def banks(preset: str, latency: int = 1) -> float:
    """Accesses a cycle of a preset on whole lines from all its SMs."""
    params = SCORD.presets[preset].params
    result, _ = _launch(preset, params, _lines(params.sm_count, 960), latency)
    return result.accesses / result.cycles


def fences(lanes: int, sms: int, preset: str = "scord") -> Fences:
    """Fences alone, from some SMs of a preset, in turn from all warps of an SM.

    Every lane gets as many, so that none is idle; an SM of a lane with fewer SMs sends more.
    """
    params = replace(SCORD.presets[preset].params, fence_lanes=lanes)
    fence = Transaction(TransactionKind.FENCE, scope=1)
    traffic = [
        (of_lane[number % len(of_lane)], fence._replace(warp=turn % params.warps_per_sm))
        for number in range(_FENCES // lanes)
        for of_lane in (range(lane, sms, lanes) for lane in range(lanes))
        for turn in [number // len(of_lane)]
    ]
    result, _ = _launch(preset, params, traffic)
    return Fences(lanes, sms, result.steps / result.cycles)


def wide() -> ScordParams:
    """Parameters of the system that :func:`width` measures, at eight words a cycle."""
    return _of_width(WIDTHS[-1])


def _of_width(words: int) -> ScordParams:
    tiny = SCORD.presets["scord-tiny"].params
    return replace(tiny, banks=words, words_per_cycle=words, fence_lanes=2, outstanding=64)


def _strided(count: int) -> _Traffic:
    """One word of each line."""
    return [(0, transaction._replace(mask=1)) for _, transaction in _lines(1, count)]


def _one_line(sms: int, count: int) -> _Traffic:
    """The same whole line again and again, by all SMs in turn."""
    return [(sm, transaction._replace(line=0)) for sm, transaction in _lines(sms, count)]


def _fenced(count: int, warps: int) -> _Traffic:
    """Whole lines of one SM, of its warps in turn, with a fence of the warp behind each."""
    fence = Transaction(TransactionKind.FENCE, scope=1)
    return [
        (0, transaction._replace(warp=number % warps))
        for number, (_, line) in enumerate(_lines(1, count))
        for transaction in (line, fence)
    ]


#: Traffic by name, for two SMs; the first passes over the region's entries once.
_WIDE_TRAFFIC: dict[str, _Traffic] = {
    "one SM, whole lines": _lines(1, 256),
    "two SMs, whole lines": _lines(2, 256),
    "two SMs, one line": _one_line(2, 256),
    "one SM, a word of each line": _strided(256),
    "one SM, lines and fences": _fenced(256, 1),
    "one SM, lines and fences of four warps": _fenced(256, 4),
}


def width(words: int, merged: bool = True, latency: int = 1) -> list[Width]:
    """All traffic through one metadata port of a given width, on preset ``scord-tiny``.

    Parameters
    ----------
    words : int
        Words a cycle.
    merged : bool
        Whether requests to a segment in flight are merged.
    latency : int
        Cycles from a metadata request to its answer.
    """
    params, measured = replace(_of_width(words), merge_in_flight=merged), []
    for name, traffic in _WIDE_TRAFFIC.items():
        result, reads = _launch("scord-tiny", params, traffic, latency)
        rates = result.accesses / result.cycles, len(reads) / result.cycles
        measured.append(Width(words, name if merged else f"{name}, not merged", *rates))
    return measured


#: The paper's GPU with a port of eight words at each of its 24 L2 slices.
_SLICES = replace(
    SCORD.presets["scord-wide"].params, banks=192, outstanding=256, packet_fifo_depth=16
)
#: Cycles from a metadata request to its answer there, for reads and writes.
SLICE_LATENCY = 140
_SLICE_REGION = Region(size_log2=26, metadata_base=1 << 32)


def one_slice(latency: int = SLICE_LATENCY) -> Load:
    """Whole segments of all SMs at the one port of preset ``scord-wide``, with more in flight."""
    params = replace(SCORD.presets["scord-wide"].params, outstanding=512)
    name = "one port, whole lines of all SMs"
    return _load("scord-wide", params, latency, name, _random_lines(2400))


def slices(latency: int = SLICE_LATENCY) -> list[Load]:
    """All traffic on the paper's GPU with 24 ports of eight words.

    Each SM offers its transactions in its program's order as fast as they are taken, so that a
    fence holds up all that its SM has behind it.
    """
    rows = {
        "one SM, whole lines": _lines(1, 1200),
        "15 SMs, random whole lines": _random_lines(9000),
        "15 SMs, random words of random lines": _random_lines(9000, full=False),
        "15 SMs, a word of each line": _random_lines(9000, mask=1),
        "15 SMs, one line": _one_line(_SLICES.sm_count, 3000),
        "15 SMs, random lines and fences": _with_fences(_random_lines(6000)),
    }
    measured = [_load("scord-wide", _SLICES, latency, *row) for row in rows.items()]
    for name in WORKLOADS:
        trace = trace_of(Build(name, name), "small", Schedule(0, 1), 1, DEFAULT_REGION_LOG2)
        traffic = list(transactions_of(trace, _SLICES))
        region = replace(region_of(trace), metadata_base=1 << 32)
        title = f"application {name}"
        measured.append(_load("scord-wide", _SLICES, latency, title, traffic, region))
    return measured


def _load(
    preset: str,
    params: ScordParams,
    latency: int,
    name: str,
    traffic: Sequence[tuple[int, Transaction]],
    region: Region = _SLICE_REGION,
) -> Load:
    timing = MemoryTiming(latency=latency)
    with FastSim(build_fast(preset, params), timing=timing) as sim:
        result = check_launch(sim, params, region, traffic, capacity_log2=4)
        reads = sum(len(sim.read_cycles(port)) for port in range(params.metadata_ports))
    reads_per_cycle = reads / result.cycles / params.metadata_ports
    return Load(name, result.accesses, result.accesses / result.cycles, reads_per_cycle)


def _random_lines(count: int, full: bool = True, mask: int = 0) -> _Traffic:
    """Stores to lines drawn at random, dealt to the SMs in turn."""
    random = Random(f"lines {count} {full} {mask}")
    lines = (1 << _SLICE_REGION.size_log2) // LINE_BYTES
    return [
        (
            sm,
            transaction._replace(
                line=random.randrange(lines),
                mask=mask or (_ALL_WORDS if full else random.getrandbits(WORDS_PER_LINE)),
            ),
        )
        for sm, transaction in _lines(_SLICES.sm_count, count)
    ]


def _with_fences(traffic: _Traffic) -> _Traffic:
    """A fence behind each eighth line of an SM, and lines of its 32 warps in turn."""
    sms, warps = _SLICES.sm_count, _SLICES.warps_per_sm
    fence = Transaction(TransactionKind.FENCE, scope=1)
    fenced: _Traffic = []
    for number, (sm, line) in enumerate(traffic):
        warp = number // sms % warps
        fenced.append((sm, line._replace(warp=warp)))
        if number // sms % 8 == 7:
            fenced.append((sm, fence._replace(warp=warp)))
    return fenced
