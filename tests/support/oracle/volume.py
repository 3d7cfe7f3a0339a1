"""A large trace for the race oracles, and what it costs to analyse it.

``python -m tests.support.oracle.volume [EVENTS] [THREADS]`` prints rates and memory, also of a
program that synchronises lane by lane.  ``python -m tests.support.oracle.volume flat [THREADS]``
prints what the compiled oracle keeps of 10^6, 10^7 and 10^8 events, and for a location.
"""

import ctypes
import math
import sys
import time
import tracemalloc
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda import Barracuda, ScopedOracle
from racetrap.golden_model.events import (
    WARP_SIZE,
    AtomicOp,
    DataRegion,
    EventKind,
    Geometry,
    Scope,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule
from tests.support.oracle.lane_locks import lane_locks_trace

WARPS_PER_BLOCK = 32
#: Runs of which the fastest counts: others have the caches, too.
_RUNS = 3
_ALL = (1 << WARP_SIZE) - 1
_INPUT, _OUTPUT, _TOTAL, _LOCK, _DATA = (0x1000_0000 + (i << 24) for i in range(5))


def _round(locked: bool) -> list[dict[str, int]]:
    """Instructions of one round of a warp; ``at`` says where the lanes access.

    Load the input and a word that all read, exchange through shared memory around a barrier,
    store the output; every few rounds take a lock of the block, and count at device scope.
    """
    shared = int(Space.SHARED)
    rows = [
        {"kind": EventKind.LOAD, "at": _INPUT, "stride": 4},
        {"kind": EventKind.LOAD, "at": _INPUT, "stride": 4},
        {"kind": EventKind.STORE, "at": 0, "stride": 4, "space": shared},
        {"kind": EventKind.BARRIER},
        {"kind": EventKind.LOAD, "at": 4 * WARP_SIZE, "stride": 4, "space": shared},
        {"kind": EventKind.BARRIER},
        {"kind": EventKind.STORE, "at": _OUTPUT, "stride": 4},
        {"kind": EventKind.LOAD, "at": _OUTPUT, "stride": 4},
    ]
    if locked:
        device, block = int(Scope.DEVICE), int(Scope.BLOCK)
        atomic = {"kind": EventKind.ATOMIC, "stride": 0, "lanes": 1, "strong": 1}
        access = {"at": _DATA, "stride": 0, "lanes": 1, "strong": 1, "scope": device}
        rows += [
            {**atomic, "at": _LOCK, "op": int(AtomicOp.CAS), "scope": block, "value": 1},
            {"kind": EventKind.FENCE, "scope": block},
            {"kind": EventKind.LOAD, **access},
            {"kind": EventKind.STORE, **access},
            {"kind": EventKind.FENCE, "scope": block},
            {**atomic, "at": _LOCK, "op": int(AtomicOp.EXCH), "scope": block},
            {**atomic, "at": _TOTAL, "op": int(AtomicOp.OTHER), "scope": device},
        ]
    return [{**row, "pc": 0x1000 + 8 * number} for number, row in enumerate(rows)]


def _column(rows: list[dict[str, int]], name: str, default: int = 0) -> np.ndarray:
    return np.array([row.get(name, default) for row in rows], dtype=np.int64)


def volume_trace(events: int, threads: int, lock_rounds: int = 8) -> Trace:
    """A race-free trace of about so many events, warps in lockstep, and a lock now and then.

    Parameters
    ----------
    events, threads : int
        Size; threads a multiple of a block's.
    lock_rounds : int
        Rounds from one with a lock to the next.
    """
    blocks = threads // (WARPS_PER_BLOCK * WARP_SIZE)
    begin = np.zeros(1 + blocks, dtype=EVENT_DTYPE)
    begin["kind"][0], begin["kind"][1:] = EventKind.KERNEL_BEGIN, EventKind.BLOCK_PLACED
    end = np.zeros(blocks + 1, dtype=EVENT_DTYPE)
    end["kind"][:-1], end["kind"][-1] = EventKind.BLOCK_RETIRED, EventKind.KERNEL_END
    begin["sm"][1:] = end["sm"][:-1] = begin["grid_block"][1:] = np.arange(blocks)
    begin["warp_count"][1:] = WARPS_PER_BLOCK

    parts, addresses, values = [begin], [], []
    total = number = 0
    while total < events:
        rows = _round(number % lock_rounds == lock_rounds - 1)
        part, address, value = _play(rows, blocks, number)
        parts.append(part)
        addresses.append(address)
        values.append(value)
        total, number = total + len(part), number + 1
    records = np.concatenate([*parts, end])
    counts = np.where(records["kind"] <= EventKind.ATOMIC, records["mask"], 0)
    counts = np.unpackbits(counts.astype("<u4").view(np.uint8).reshape(-1, 4), axis=1).sum(axis=1)
    records["first_lane"] = np.cumsum(counts, dtype=np.int64) - counts
    lanes = np.zeros(int(counts.sum()), dtype=LANE_DTYPE)
    lanes["address"], lanes["value"] = np.concatenate(addresses), np.concatenate(values)
    header = TraceHeader(
        geometry=Geometry(max(blocks, 1), 1, WARPS_PER_BLOCK),
        region=DataRegion(0x1000_0000, 28),
    )
    return Trace(header, records, lanes)


def _play(
    rows: list[dict[str, int]], blocks: int, number: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All warps run the instructions in turn, but each lock section in one go."""
    kinds = _column(rows, "kind")
    warps = blocks * WARPS_PER_BLOCK
    locked = np.arange(len(rows)) >= 8
    order = np.concatenate([
        *(np.full(warps if kinds[i] != EventKind.BARRIER else blocks, i) for i in range(8)),
        np.tile(np.flatnonzero(locked), warps if locked.any() else 0),
    ])  # fmt: skip
    warp = np.concatenate([
        *(
            np.arange(warps) if kinds[i] != EventKind.BARRIER
            else np.arange(blocks) * WARPS_PER_BLOCK
            for i in range(8)
        ),
        np.repeat(np.arange(warps if locked.any() else 0), locked.sum()),
    ])  # fmt: skip
    part = np.zeros(len(order), dtype=EVENT_DTYPE)
    for name in ("kind", "scope", "strong", "op", "space", "pc"):
        part[name] = _column(rows, name)[order]
    barrier = part["kind"] == EventKind.BARRIER
    access = part["kind"] <= EventKind.ATOMIC
    part["sm"] = warp // WARPS_PER_BLOCK
    part["warp"] = np.where(barrier, 0, warp % WARPS_PER_BLOCK)
    part["size"] = np.where(access, 4, 0)
    cas = access & (part["kind"] == EventKind.ATOMIC) & (part["op"] == AtomicOp.CAS)
    part["success_mask"] = np.where(cas, 1, 0)
    full = _column(rows, "lanes", WARP_SIZE)[order] == WARP_SIZE
    part["mask"] = np.where(barrier, 0, np.where(full, _ALL, 1))
    counts = np.where(access, np.where(full, WARP_SIZE, 1), 0)
    lane = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return part, _addresses(rows, order, warp, counts, lane, number), np.repeat(
        _column(rows, "value")[order], counts
    )  # fmt: skip


def _addresses(
    rows: list[dict[str, int]],
    order: np.ndarray,
    warp: np.ndarray,
    counts: np.ndarray,
    lane: np.ndarray,
    number: int,
) -> np.ndarray:
    base = _column(rows, "at")[order]
    block = warp // WARPS_PER_BLOCK
    thread = warp * WARP_SIZE + 0x10000 * (number % 4)
    by_block = np.isin(base, (_LOCK, _DATA))
    in_shared = (base == 0) | (base == 4 * WARP_SIZE)
    own = np.where(by_block, 256 * block, np.where(base == _TOTAL, 0, 4 * thread))
    base = np.where(in_shared, (base + 128 * (warp % WARPS_PER_BLOCK)) % 4096, base + own)
    stride = _column(rows, "stride")[order]
    return np.repeat(base, counts) + np.repeat(stride, counts) * lane


def _peak(oracle: Barracuda | ScopedOracle | CompiledOracle, trace: Trace) -> float:
    """Most memory of Python that an analysis takes besides the trace, in MB."""
    tracemalloc.start()
    oracle.run(trace)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def _print_rates(trace: Trace) -> None:
    print(f"{len(trace)} events, {len(trace.lanes)} lanes")
    for oracle in (Barracuda(), ScopedOracle(), CompiledOracle(OracleRule.CAUSALITY)):
        oracle.run(lane_locks_trace(1))  # compiled by the first run
        took = math.inf
        for _ in range(_RUNS):
            start = time.process_time()
            result = oracle.run(trace)
            took = min(took, time.process_time() - start)
        print(
            f"{type(oracle).__name__}: {took:.2f} s, {len(trace) / took:,.0f} events/s, "
            f"{len(trace.lanes) / took:,.0f} lanes/s, {len(result)} races, "
            f"{result.counts.pairs} pairs, {result.counts.formats}, "
            f"{_peak(oracle, trace):.0f} MB"
        )


class Fed(NamedTuple):
    """Cost of a run for the compiled oracle.

    Parameters
    ----------
    events : int
        Events of the run.
    seconds : float
        Time of one core.
    megabytes : float
        Memory that it keeps at most, between two rounds.
    accesses : int
        Accesses of single lanes.
    """

    events: int
    seconds: float
    megabytes: float
    accesses: int


def _allocated() -> float:
    """Bytes that the C library has given away."""

    class Counts(ctypes.Structure):
        _fields_ = tuple((f"field_{number}", ctypes.c_size_t) for number in range(10))

    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Counts
    counts = library.mallinfo2()
    return float(counts.field_4 + counts.field_7)  # mapped apart, and in use


def fed_again(threads: int, events: int, independent: bool = False) -> Fed:
    """Feed the rounds of a large trace to the oracle again and again.

    Parameters
    ----------
    threads : int
        Threads of the run, at most 65,536: more would share words.
    events : int
        Events, about.
    independent : bool
        Whether the lanes of a warp are scheduled independently.
    """
    blocks = threads // (WARPS_PER_BLOCK * WARP_SIZE)
    warps = blocks * WARPS_PER_BLOCK
    trace = volume_trace(8 * (6 * warps + 2 * blocks) + 7 * warps, threads)
    begin, end = 1 + blocks, len(trace) - 1 - blocks
    start, body = trace.events[:begin], np.ascontiguousarray(trace.events[begin:end])
    with CompiledOracle(OracleRule.CAUSALITY, independent).running() as run:
        before, clock = _allocated(), time.process_time()
        run.feed(start, trace.lanes, 0)
        most = accesses = 0.0
        while run.events < events:
            run.feed(body, trace.lanes, 0)
            most, accesses = max(most, _allocated() - before), accesses + len(trace.lanes)
        seconds = time.process_time() - clock
        run.feed(trace.events[end:], trace.lanes[:0], len(trace.lanes))
        assert not run.end().races
        return Fed(run.events, seconds, most / 1e6, int(accesses))


def kept_bytes(words: int, of_two: bool) -> float:
    """Bytes that the oracle keeps for a word that one warp reads and then writes, or two, one of
    which reads, without clocks."""
    blocks = 2
    begin = volume_trace(1, blocks * WARPS_PER_BLOCK * WARP_SIZE).events[: 1 + blocks]
    count = words // WARP_SIZE
    part = np.zeros(2 * count, EVENT_DTYPE)
    part["size"], part["mask"] = 4, _ALL
    part["kind"] = np.tile([EventKind.LOAD, EventKind.LOAD if of_two else EventKind.STORE], count)
    part["pc"], part["sm"] = np.tile([8, 16], count), np.tile([0, int(of_two)], count)
    part["first_lane"] = np.arange(2 * count) * WARP_SIZE
    lanes = np.zeros(2 * words, LANE_DTYPE)
    places = np.arange(words).reshape(-1, WARP_SIZE)
    lanes["address"] = _INPUT + 4 * np.concatenate((places, places), axis=1).ravel()
    with CompiledOracle(OracleRule.CAUSALITY, True).running() as run:
        run.feed(begin, lanes, 0)
        before = _allocated()
        run.feed(part, lanes, 0)
        return (_allocated() - before) / words


def ended_bytes(blocks: int, independent: bool) -> float:
    """Bytes that the oracle keeps for a warp of a block that has ended, and whose threads have
    executed a fence of device scope."""
    kinds = [EventKind.BLOCK_PLACED, *[EventKind.FENCE] * WARPS_PER_BLOCK, EventKind.BLOCK_RETIRED]
    block = np.zeros(len(kinds), EVENT_DTYPE)
    block["kind"], block["scope"], block["pc"] = kinds, Scope.DEVICE, 8
    block["warp"][1:-1], block["warp_count"][0] = np.arange(WARPS_PER_BLOCK), WARPS_PER_BLOCK
    begin, lanes = np.zeros(1, EVENT_DTYPE), np.zeros(0, LANE_DTYPE)
    begin["kind"] = EventKind.KERNEL_BEGIN
    with CompiledOracle(OracleRule.CAUSALITY, independent).running() as run:
        run.feed(np.append(begin, block), lanes, 0)
        before = _allocated()
        run.feed(np.tile(block, blocks), lanes, 0)
        return (_allocated() - before) / blocks / WARPS_PER_BLOCK


def _print_flat(threads: int) -> None:
    for independent in (False, True):
        for exponent in (6, 7, 8):
            fed = fed_again(threads, 10**exponent, independent)
            print(
                f"{'independent' if independent else 'lockstep'}: {fed.events:,} events, "
                f"{fed.seconds:.1f} s, {fed.events / fed.seconds:,.0f} events/s, "
                f"{fed.accesses:,} accesses of lanes, {fed.megabytes:.1f} MB",
                flush=True,
            )
    for of_two in (False, True):
        print(f"{kept_bytes(1 << 20, of_two):.1f} bytes a word of {1 + of_two} warps")
    for independent in (False, True):
        print(f"{ended_bytes(1000, independent):.0f} bytes a warp that has ended behind a fence")


def main() -> None:
    """Print what an analysis of a large trace costs, in time of one core."""
    if sys.argv[1:2] == ["flat"]:
        _print_flat(int(sys.argv[2]) if len(sys.argv) > 2 else 65_536)
        return
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 65_536
    _print_rates(volume_trace(events, threads))
    _print_rates(lane_locks_trace(60))


if __name__ == "__main__":
    main()
