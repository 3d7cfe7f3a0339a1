"""Traces for the timing model whose cycles or traffic are computed by hand, and its rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from racetrap.golden_model.events import DataRegion, Event, EventKind, Lane, Scope, Space
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.timing.params import TimingParams
from racetrap.sim.gpu.timing.replay import Replay, TimingCounts
from tests.support.oracle.programs import ALL, Program
from tests.support.oracle.random_traces import HEADER, RandomRun

PARAMS = TimingParams(sms=2)
#: Between the port of an SM and that of a slice, with the flit that the latter passes on.
_HOP = 5
_L2 = 120
#: From the issue of an access that hits in the L2 until its warp can go on.
HIT = _HOP + _L2 + _HOP
_LINE, _CHUNK, _SLICES, _ROW, _BANKS = 128, 256, 24, 2048, 16
#: Bytes of data between two lines of a slice, of a bank's next row, and of the channel's next bank.
NEXT_LINE = _SLICES * _CHUNK
NEXT_BANK = NEXT_LINE * _ROW // (2 * _CHUNK)
NEXT_ROW = NEXT_BANK * _BANKS
_WARP = (0, 0)


def dram(cycle: int, clocks: int) -> int:
    """Cycle at which what the DRAM gets at a cycle, and takes so many clocks for, is back."""
    first = -(-cycle * 924 // 700)
    return -(-(first + clocks) * 700 // 924) + 100


#: Clocks of a line with its row open, to be opened, and with another row open.
OPEN = 4 * 2 + 12
CLOSED = 12 + OPEN
OTHER = 12 + CLOSED


def miss(issued: int, clocks: int = CLOSED) -> int:
    """Cycle at which a warp goes on whose access is issued at a cycle and misses everywhere."""
    return dram(issued + _HOP + _L2, clocks) + _HOP


@dataclass(frozen=True)
class Case:
    """A trace and what it takes.

    Parameters
    ----------
    write : callable
        Writes the program.
    expected : mapping of str to int
        Counts computed by hand.
    params : TimingParams
        What it runs under.
    gaps : mapping of int to int
        Instructions before events, by their numbers.
    """

    write: Callable[[Program], object]
    expected: Mapping[str, int]
    params: TimingParams = PARAMS
    gaps: Mapping[int, int] = field(default_factory=dict)

    def run(self) -> TimingCounts:
        """Result of the model."""
        program = Program(1, 5)
        self.write(program)
        return run(program.trace, self.params, self.gaps)


def run(trace: Trace, params: TimingParams, gaps: Mapping[int, int] | None = None) -> TimingCounts:
    """Result of a trace."""
    gaps = gaps or {}
    counted = trace.with_instructions([*gaps], [count + 1 for count in gaps.values()])
    with Replay(counted, params.segment_log2) as replay:
        return replay.run(params)


def _loads(*addresses: int, warps: bool = False) -> Callable[[Program], object]:
    """Volatile loads of a warp, or of one warp each."""

    def write(program: Program) -> None:
        for number, address in enumerate(addresses):
            program.load((0, number) if warps else _WARP, address)

    return write


def _shared(program: Program) -> None:
    program.weak_load(_WARP, 0, space=Space.SHARED)


def _of_warp(warp: int, *addresses: int) -> Callable[[Program], object]:
    """Volatile loads of a warp."""

    def write(program: Program) -> None:
        for address in addresses:
            program.load((0, warp), address)

    return write


def _steps(*steps: Callable[[Program], object]) -> Callable[[Program], object]:
    def write(program: Program) -> None:
        for step in steps:
            step(program)

    return write


def _plain(address: int = 0, warp: int = 0) -> Callable[[Program], object]:
    return lambda program: program.weak_load((0, warp), address)


def _fence(scope: Scope) -> Callable[[Program], object]:
    return lambda program: program.fence(_WARP, scope)


def _store(address: int, **fields: int) -> Callable[[Program], object]:
    return lambda program: program.weak_store(_WARP, address, **fields)


def _atomic(address: int, lanes: int = 1) -> Callable[[Program], object]:
    return lambda program: program.atomic(_WARP, address, lanes=lanes)


_ONE_LINE = replace(PARAMS, l2_sets=1, l2_ways=1)
_BASE = replace(PARAMS, detects=1)
#: 32 stores to one slice each: 45 bytes are two flits.
_SCATTERED = _store(0, lanes=ALL, stride=_CHUNK)
#: The first block of the first schedule: of 256 cycles the golden section.
_GOLDEN_CYCLES = 158
#: Cycle at which packet number n of two flits enters a queue of eight that leave one after another.
_WAITS = sum(1 for number in range(15, 32))

#: Cases by name.
CASES: Mapping[str, Case] = {
    "no access": Case(lambda program: None, {"cycles": 0, "instructions": 0}),
    "one load": Case(_loads(0), {"cycles": miss(0), "dram_activates": 1, "instructions": 1}),
    "instructions before it": Case(
        _loads(0), {"cycles": miss(10), "instructions": 11}, gaps={2: 10}),
    "many instructions before it": Case(
        _loads(0), {"cycles": miss(10_000), "instructions": 10_001}, gaps={2: 10_000}),
    "a block that begins later": Case(
        _loads(0), {"cycles": miss(_GOLDEN_CYCLES)}, replace(PARAMS, schedule=1)),
    "shared memory is an instruction": Case(
        _steps(_shared, _loads(0)), {"packets_injected": 1, "cycles": miss(1)}),
    "hit in the L2": Case(_loads(0, 0), {"cycles": miss(0) + HIT, "l2_hits": 1}),
    "another segment of the line": Case(_loads(0, 96), {"cycles": miss(0) + HIT}),
    "open row": Case(_loads(0, _LINE), {"cycles": miss(miss(0), OPEN)}),
    "another bank": Case(
        _loads(0, NEXT_BANK), {"cycles": miss(miss(0)), "dram_activates": 2}),
    "another row": Case(_loads(0, NEXT_ROW), {"cycles": miss(miss(0), OTHER)}),
    "another channel": Case(
        _loads(0, 2 * _CHUNK), {"cycles": miss(miss(0)), "dram_activates": 2}),
    # The second is at the DRAM two clocks after the first, whose bank must stay open for 28.
    "two rows at once": Case(
        _loads(0, NEXT_ROW, warps=True), {"cycles": miss(0, 40 + CLOSED)}),
    # The columns of the second are behind those of the first.
    "two banks at once": Case(
        _loads(0, NEXT_BANK, warps=True), {"cycles": miss(0, 4 * 2 + CLOSED)}),
    "two rows are opened one after the other": Case(
        _loads(0, NEXT_BANK, warps=True), {"cycles": miss(0, 20 + CLOSED)},
        replace(PARAMS, t_rrd=20)),
    "a row stays open for a time": Case(
        _loads(0, NEXT_ROW, warps=True), {"cycles": miss(0, 200 + OTHER)},
        replace(PARAMS, t_ras=200)),
    # Third in order, but its row is open: it goes before the second.
    "first ready": Case(
        _loads(0, NEXT_ROW, _LINE, warps=True),
        {"cycles": miss(0, 12 + 4 * 3 + 4 * 2 + OTHER)}),
    "columns of a bank": Case(
        _loads(0, _LINE, warps=True), {"cycles": miss(0, CLOSED + 4 * 3)}),
    # The write is at the DRAM at its clock 7.
    "a write keeps its bank": Case(
        _steps(_store(0), _loads(NEXT_ROW)),
        {"data_writes": 1, "data_reads": 1,
         "cycles": dram(0, 7 + 12 + 2 + 4 + 1000 + OTHER) + _HOP},
        replace(PARAMS, t_wr=1000)),
    "a write leaves its row open": Case(
        _steps(_store(0), _loads(_LINE)), {"cycles": miss(1, OPEN)}),
    "the same segment at once": Case(
        _loads(0, 0, warps=True),
        {"l2_misses": 1, "l2_merges": 1, "data_reads": 1, "cycles": miss(0) + 1}),
    "the merges of a line have a limit": Case(
        _loads(0, 32, 64, warps=True), {"l2_merges": 1, "l2_hits": 1,
                                        "cycles": dram(_HOP + _L2, CLOSED) + _L2 + _HOP},
        replace(PARAMS, l2_merges=1)),
    "misses of a slice have a limit": Case(
        _loads(0, NEXT_LINE, warps=True),
        {"cycles": miss(dram(_HOP + _L2, CLOSED) - _HOP, OPEN)}, replace(PARAMS, l2_mshrs=1)),
    "hit in the L1": Case(
        _steps(_plain(), _plain()), {"cycles": miss(0) + 35, "l1_hits": 1, "packets_injected": 1}),
    "volatile loads bypass the L1": Case(
        _steps(_plain(), _loads(0), _plain()),
        {"cycles": miss(0) + HIT + 35, "l1_loads": 2, "l1_hits": 1}),
    "L1 of one segment in flight": Case(
        _steps(_plain(0), _plain(NEXT_ROW, 1)), {"cycles": miss(miss(0), OTHER)},
        replace(PARAMS, l1_mshrs=1)),
    "the same segment in the L1 at once": Case(
        _steps(_plain(), _plain(0, 1)),
        {"cycles": miss(0), "l1_merges": 1, "packets_injected": 1}),
    "the merges of a segment in the L1 have a limit": Case(
        _steps(_plain(), _plain(0, 1)), {"cycles": miss(0) + 35, "l1_merges": 0, "l1_hits": 1},
        replace(PARAMS, l1_merges=0)),
    "a fence of the device empties the L1": Case(
        _steps(_plain(), _fence(Scope.DEVICE), _plain()), {"cycles": miss(0) + 1 + HIT}),
    "a fence of the block leaves it": Case(
        _steps(_plain(), _fence(Scope.BLOCK), _plain()), {"cycles": miss(0) + 1 + 35}),
    "a store evicts from the L1": Case(
        _steps(_plain(), _store(0), _plain()), {"l1_hits": 0, "cycles": miss(0) + 1 + HIT}),
    "an atomic evicts from the L1": Case(
        _steps(_plain(), _atomic(0), _plain()), {"l1_hits": 0, "cycles": miss(0) + 2 * HIT}),
    "a kernel begins with an empty L1": Case(
        _steps(_plain(), Program.next_kernel, _plain()), {"cycles": miss(0) + HIT}),
    "the older line of a set goes": Case(
        _steps(_plain(0), _plain(NEXT_LINE), _plain(0), _plain(2 * NEXT_LINE), _plain(0)),
        {"l1_hits": 2}, replace(PARAMS, l1_sets=1, l1_ways=2)),
    "a store does not wait": Case(_steps(_store(0), _loads(0x400)), {"cycles": miss(1)}),
    "a fence waits for stores": Case(
        _steps(_store(0), _fence(Scope.BLOCK), _loads(0)), {"cycles": miss(HIT + 1, OPEN)}),
    "a whole line": Case(
        lambda program: program.load(_WARP, 0, lanes=ALL, stride=4),
        {"packets_injected": 4, "flits": 4, "l2_misses": 1, "l2_merges": 3,
         "cycles": miss(0) + 3}),
    "a whole line in one packet": Case(
        lambda program: program.load(_WARP, 0, lanes=ALL, stride=4),
        # The packet back has 136 bytes: four flits.
        {"packets_injected": 1, "flits": 1, "cycles": miss(0) + 3},
        replace(PARAMS, segment_log2=7)),
    "lanes that update one word": Case(
        _atomic(0, lanes=0xFF), {"packets_injected": 8, "delivered": 8, "data_reads": 1}),
    "an updated line is written back": Case(
        _steps(_atomic(0), _loads(NEXT_LINE)), {"data_writes": 1, "data_reads": 2}, _ONE_LINE),
    "a loaded line is not": Case(
        _steps(_loads(0), _loads(NEXT_LINE)), {"data_writes": 0, "data_reads": 2}, _ONE_LINE),
    "a store to a line in the L2": Case(
        _steps(_loads(0), _store(0), _loads(NEXT_LINE)),
        {"data_writes": 1, "l2_writes_through": 0}, _ONE_LINE),
    "two packets for a port": Case(
        lambda program: program.weak_store(_WARP, 0, lanes=3, stride=32),
        {"cycles": HIT + 1, "l2_writes_through": 2, "data_writes": 2}),
    "packets of two flits": Case(
        _SCATTERED, {"flits": 64, "injection_waits": _WAITS, "cycles": 62 + 1 + HIT},
        replace(_BASE, md=0)),
    "packets of one flit": Case(
        _SCATTERED, {"flits": 32, "injection_waits": 0, "cycles": 31 + HIT}),
    "wider flits": Case(
        _SCATTERED, {"flits": 32, "cycles": 31 + HIT}, replace(_BASE, md=0, flit_bytes=64)),
    "a shorter injection queue": Case(
        _SCATTERED, {"flits": 64, "injection_waits": 31, "cycles": 62 + 1 + HIT},
        replace(_BASE, md=0, injection_packets=1)),
    "the warp waits at the queue": Case(
        _steps(_SCATTERED, _loads(0x10000)), {"cycles": miss(64)},
        replace(_BASE, md=0, injection_packets=1)),
    "warps of a scheduler": Case(
        _steps(_loads(0), lambda program: program.load((0, 2), 2 * _CHUNK)),
        {"cycles": miss(21)}, gaps={2: 10, 3: 10}),
    "warps of two schedulers": Case(
        _loads(0, 2 * _CHUNK, warps=True), {"cycles": miss(11)}, gaps={2: 10, 3: 10}),
    # Warps 2 and 4 are ready when warp 0 has had its turn.
    "the oldest warp goes first": Case(
        _steps(_store(0x1000), _of_warp(2, 0, 0), _of_warp(4, 2 * _CHUNK)),
        {"cycles": miss(21) + HIT}, gaps={2: 10, 3: 10, 5: 50}),
    # Warp 0 is ready again while warp 2 has its third store before it, and waits for the fourth.
    "greedy": Case(
        _steps(_loads(0, 0, 0), *[lambda program: program.weak_store((0, 2), 0x1000)] * 4),
        {"cycles": 4 * 101 + 1 + 2 * HIT}, gaps=dict.fromkeys(range(5, 9), 100)),
    "a barrier": Case(
        _steps(_loads(0), lambda program: program.barrier(0),
               lambda program: program.load((0, 1), 0)),
        {"cycles": miss(0) + 1 + HIT, "instructions": 7}),
    "detected L1 hits are told": Case(
        _steps(_plain(), _plain()), {"packets_injected": 2, "packets_ejected": 2, "delivered": 1},
        replace(_BASE, md=0)),
    "L1 hits that are told at once": Case(
        _steps(_plain(), _plain()),
        {"packets_injected": 1, "cycles": miss(0) + 35, "checks": 0},
        replace(_BASE, lhd=0, md=0)),
    # The kernel ends when the last entry is written.
    "the entry of an L1 hit": Case(
        _steps(_plain(), _plain()),
        {"checks": 2, "metadata_reads": 1, "cycles": miss(0) + 1 + _L2 + 1},
        replace(_BASE, lhd=0)),
    "an entry a word": Case(
        lambda program: program.load(_WARP, 0, lanes=ALL, stride=4),
        {"checks": 4, "checks_merged": 2, "metadata_reads": 2}, _BASE),
    "entries that neighbours share": Case(
        lambda program: program.load(_WARP, 0, lanes=ALL, stride=4),
        {"checks": 4, "checks_merged": 3, "metadata_reads": 1},
        replace(_BASE, ratio=16, shares_neighbours=1)),
    # 2^14 words have 2^10 entries: words 4096 bytes apart have the same one.
    "entries that distant words share": Case(
        _loads(0, 0x1000), {"checks": 2, "metadata_reads": 1}, replace(_BASE, ratio=16)),
    "nothing is merged": Case(
        lambda program: program.load(_WARP, 0, lanes=ALL, stride=4),
        {"checks": 4, "checks_merged": 0, "metadata_reads": 2, "l2_merges": 3 + 2},
        replace(_BASE, merges_in_flight=0)),
    "entries are written back": Case(
        _loads(0, 0x8000), {"metadata_reads": 2, "metadata_writes": 1},
        replace(_BASE, l2_sets=1, l2_ways=1, channels=1, slices_per_channel=1)),
    "what is not monitored has no entry": Case(
        _loads(0x10000, 0xFFFC), {"checks": 1}, _BASE),
}  # fmt: skip


def block_after_block() -> Trace:
    """Two blocks in one slot, with a load each."""
    place = Event(EventKind.BLOCK_PLACED, warp_count=1, mask=1)
    load = Event(EventKind.LOAD, strong=True, size=4, scope=Scope.DEVICE, lanes=(Lane(0, 0),))
    retire = Event(EventKind.BLOCK_RETIRED)
    events = [
        Event(EventKind.KERNEL_BEGIN), place, load, retire, place._replace(grid_block=1), load,
        retire, Event(EventKind.KERNEL_END),
    ]  # fmt: skip
    return Trace.from_events(HEADER, events)


def random_trace(seed: int) -> Trace:
    """A random trace of small programs."""
    header = replace(HEADER, region=DataRegion(data_base=0, size_log2=12))
    return Trace.from_events(header, list(RandomRun(Random(seed), 60).trace()))


def _packets_of_others(found: TimingCounts) -> int:
    """Packets that are no plain loads', which every run has."""
    return found.delivered - (found.l1_loads - found.l1_hits - found.l1_merges)


def broken_rules(trace: Trace) -> Iterator[str]:
    """Rules that the model breaks on a trace, with and without detection."""
    with Replay(trace) as replay:
        base = replay.run(PARAMS)
        detecting = replay.run(replace(_BASE, ratio=16))
        costless = replay.run(replace(_BASE, lhd=0, noc=0, md=0))
    if costless != base:
        yield "a detector without costs costs something"
    for name, found in (("base", base), ("detecting", detecting)):
        read = found.data_reads + found.metadata_reads
        rules = {
            "packets are lost": found.packets_injected == found.packets_ejected,
            "answers are lost": found.replies == found.delivered,
            "a request is neither": found.l2_requests
            == found.l2_hits + found.l2_merges + found.l2_misses + found.l2_writes_through,
            "a line is read twice": found.l2_fills == found.l2_misses == read,
            "a load is neither": _packets_of_others(found) == _packets_of_others(base),
            "a check is no read": found.checks >= found.checks_merged + found.metadata_reads,
        }
        yield from (f"{name}: {rule}" for rule, holds in rules.items() if not holds)
