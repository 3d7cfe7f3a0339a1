"""A small trace in which every kind of event occurs, and how to spoil its binary form."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racetrap.golden_model.call_stacks import Frame
from racetrap.golden_model.events import (
    LANE_KINDS,
    AtomicOp,
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    MemoryOrder,
    Scope,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace

_CAS_LANES = (Lane(0, 0x100, 1, 0, True), Lane(7, 0x104, 1, 0, False))
_STORE_LANES = tuple(Lane(lane, 0x200 + 8 * lane, lane) for lane in range(4))
_RANGES = (Lane(0, 3, 1), Lane(1, 1 << 63, 1 << 63))
_WIDE_LANES = (Lane(2, 0x40, 5, (1 << 64) - 1), Lane(3, 0x50))


@pytest.fixture
def header() -> TraceHeader:
    return TraceHeader(
        geometry=Geometry(sm_count=2, blocks_per_sm=2, warps_per_sm=4),
        region=DataRegion(data_base=0x10000, size_log2=16),
        source='a "source" # é',
        seed=1 << 63,
        locations={0x40: "a # b.cu:7", (1 << 32) - 1: 'é".cu:9'},
        columns={0x40: 1, (1 << 32) - 1: 12},
        frames={1: Frame(0, "kernel", ""), 2: Frame(1, "scan<4 # 'a'>", "a # b.cu:9")},
        stacks={0x40: 2, (1 << 32) - 1: 1},
    )


@pytest.fixture
def events() -> list[Event]:
    device, cas, exch = Scope.DEVICE, AtomicOp.CAS, AtomicOp.EXCH
    return [
        Event(EventKind.KERNEL_BEGIN),
        Event(EventKind.BLOCK_PLACED, sm=1, slot=0, warp=0, warp_count=2, grid_block=9),
        Event(EventKind.BLOCK_PLACED, 1, 1, 2, warp_count=2, grid_block=10, size=1, mask=0xFF),
        Event(EventKind.LOAD, 1, 0, 1, pc=0x40, size=16, lanes=(Lane(31, (1 << 64) - 16),)),
        Event(EventKind.STORE, 1, 1, 3, device, True, pc=0x44, size=8, lanes=_STORE_LANES),
        Event(EventKind.ATOMIC, 1, 0, 0, device, True, cas, 0x48, 4, _CAS_LANES),
        Event(EventKind.FENCE, 1, 0, 0, device, pc=(1 << 32) - 1, mask=0x81),
        Event(EventKind.ATOMIC, 1, 0, 0, device, True, exch, 0x4C, 4, (Lane(0, 0x100, 5),)),
        Event(EventKind.BARRIER, 1, 1, pc=0x50),
        Event(EventKind.IF, 1, 0, 0, pc=0x54, mask=0x81),
        Event(EventKind.STORE, 1, 0, 0, pc=0x58, size=16, lanes=_WIDE_LANES, space=Space.SHARED),
        Event(EventKind.EXIT, 1, 0, 0, pc=0x60, mask=0x01),
        Event(EventKind.ELSE, 1, 0, 0, pc=0x64, mask=0xFFFFFF7E),
        Event(EventKind.FI, 1, 0, 0, pc=0x68, mask=0xFFFFFFFE),
        Event(EventKind.WARP_BARRIER, 1, 0, 0, pc=0x6C),
        Event(EventKind.BARRIER_ARRIVE, 1, 0, 0, pc=0x70, grid_block=3),
        Event(EventKind.PARTIAL_BARRIER, 1, 0, pc=0x74, grid_block=3, mask=0x2),
        Event(EventKind.CLUSTER_ARRIVE, 1, 0, 0, pc=0x78, order=MemoryOrder.RELEASE, mask=0x1),
        Event(EventKind.CLUSTER_WAIT, 1, 0, 0, pc=0x7C, mask=0x1),
        Event(EventKind.BLOCK_RETIRED, 1, 0),
        Event(EventKind.BLOCK_RETIRED, 1, 1),
        Event(EventKind.KERNEL_END),
        Event(EventKind.COPY_READ, pc=0x80, lanes=_RANGES, grid_block=7),
        Event(EventKind.AFTER, grid_block=0),
        Event(EventKind.COPY_WRITE, lanes=_RANGES[:1], grid_block=(1 << 16) - 1),
    ]


@pytest.fixture
def trace(header: TraceHeader, events: list[Event]) -> Trace:
    return Trace.from_events(header, events)


@pytest.fixture
def spoil(trace: Trace, tmp_path: Path) -> Callable[..., Path]:
    """Writes the binary trace with some fields of its records changed, past every check."""

    def write(changes: dict[tuple[str, int, str], Any]) -> Path:
        for (array, row, name), value in changes.items():
            getattr(trace, array)[name][row] = value
        path = tmp_path / "spoiled.trace"
        trace.write_binary(path)
        return path

    return write


@pytest.fixture
def cut(trace: Trace, tmp_path: Path) -> Callable[..., Path]:
    """Writes the binary trace with some rows of its events taken out, doubled or moved."""

    def write(rows: list[int]) -> Path:
        path = tmp_path / "cut.trace"
        events = trace.events[rows].copy()
        counts = [
            int(mask).bit_count() if kind in LANE_KINDS else 0
            for kind, mask in zip(events["kind"], events["mask"], strict=True)
        ]
        lanes = [
            trace.lanes[int(first) : int(first) + count]
            for first, count in zip(events["first_lane"], counts, strict=True)
        ]
        events["first_lane"] = np.cumsum(counts) - counts
        spoiled = object.__new__(Trace)  # a trace object checks itself; this one must not
        spoiled.header, spoiled.tables = trace.header, (events, np.concatenate(lanes))
        spoiled.write_binary(path)
        return path

    return write
