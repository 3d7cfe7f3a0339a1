"""Any legal trace comes back from both forms exactly as it was."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from racetrap.golden_model.events import (
    ACCESS_SIZES,
    ATOMIC_SIZES,
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    TraceHeader,
)
from racetrap.golden_model.scord.packets import AtomicOp, Scope
from racetrap.golden_model.trace import Trace, read_trace

_SCOPES = st.sampled_from(list(Scope))
_PCS = st.integers(0, (1 << 32) - 1)


@st.composite
def _headers(draw):
    size_log2 = draw(st.integers(0, 63))
    base = draw(st.integers(0, (1 << 64 - size_log2) - 1)) << size_log2
    return TraceHeader(
        geometry=Geometry(*draw(st.tuples(*[st.integers(1, 5)] * 2)), draw(st.integers(1, 64))),
        region=DataRegion(base, size_log2),
        source=draw(st.text().filter(str.isprintable)),
        seed=draw(st.none() | st.integers(0, (1 << 64) - 1)),
    )


@st.composite
def _lanes(draw, size, kind, op):
    numbers = sorted(draw(st.sets(st.integers(0, 31), min_size=1)))
    units = (1 << 64) // size
    first, stride = draw(st.integers(0, units - 1)), draw(st.integers(-3, 3))
    regular = draw(st.booleans())
    values = st.integers(0, (1 << 8 * size) - 1) if kind == EventKind.ATOMIC else st.just(0)
    lanes = []
    for number in numbers:
        unit = (first + number * stride) % units if regular else draw(st.integers(0, units - 1))
        lanes.append(Lane(
            number,
            unit * size,
            0 if op == AtomicOp.OTHER else draw(values),
            draw(values) if op == AtomicOp.CAS else 0,
            op == AtomicOp.CAS and kind == EventKind.ATOMIC and draw(st.booleans()),
        ))  # fmt: skip
    return tuple(lanes)


@st.composite
def _acts(draw, sm, slot, warps):
    """One event of a placed block."""
    kind = EventKind(draw(st.integers(EventKind.LOAD, EventKind.BARRIER)))
    pc, warp = draw(_PCS), draw(st.sampled_from(warps))
    if kind == EventKind.BARRIER:
        return Event(kind, sm, slot, pc=pc)
    if kind == EventKind.FENCE:
        return Event(kind, sm, slot, warp, draw(_SCOPES), pc=pc)
    atomic = kind == EventKind.ATOMIC
    size = draw(st.sampled_from(ATOMIC_SIZES if atomic else ACCESS_SIZES))
    op = draw(st.sampled_from(list(AtomicOp))) if atomic else AtomicOp.CAS
    scope = draw(_SCOPES) if atomic else Scope.BLOCK
    strong = atomic or draw(st.booleans())
    return Event(kind, sm, slot, warp, scope, strong, op, pc, size, draw(_lanes(size, kind, op)))


@st.composite
def _traces(draw):
    header = draw(_headers())
    geometry = header.geometry
    events = []
    for _ in range(draw(st.integers(0, 2))):
        events.append(Event(EventKind.KERNEL_BEGIN))
        placed = {}
        for _ in range(draw(st.integers(0, 12))):
            sm = draw(st.integers(0, geometry.sm_count - 1))
            slot = draw(st.integers(0, geometry.blocks_per_sm - 1))
            if (sm, slot) in placed:
                if draw(st.integers(0, 3)):
                    events.append(draw(_acts(sm, slot, placed[sm, slot])))
                else:
                    del placed[sm, slot]
                    events.append(Event(EventKind.BLOCK_RETIRED, sm, slot))
                continue
            taken = [w for place, warps in placed.items() if place[0] == sm for w in warps]
            warp = draw(st.integers(0, geometry.warps_per_sm - 1))
            count = draw(st.integers(1, geometry.warps_per_sm - warp))
            warps = range(warp, warp + count)
            if not set(warps) & set(taken):
                placed[sm, slot] = warps
                grid_block = draw(_PCS)
                events.append(Event(
                    EventKind.BLOCK_PLACED, sm, slot, warp,
                    warp_count=count, grid_block=grid_block,
                ))  # fmt: skip
        events += [Event(EventKind.BLOCK_RETIRED, *place) for place in placed]
        events.append(Event(EventKind.KERNEL_END))
    return header, events


@pytest.mark.parametrize("form", ["binary", "text"])
@given(made=_traces())
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_round_trip(tmp_path, form, made):
    header, events = made
    trace = Trace.from_events(header, events)
    assert list(trace) == events
    path = tmp_path / "some.trace"
    (trace.write_binary if form == "binary" else trace.write_text)(path)
    again = read_trace(path)
    assert again.header == header
    assert list(again) == events
    assert again == trace


def test_iteration_over_block_borders(header):
    """Events are unpacked some thousands at a time; lanes must stay with their events."""
    lanes = [tuple(Lane(lane, 4 * n) for lane in range(n % 4 + 1)) for n in range(9000)]
    events = [
        Event(EventKind.KERNEL_BEGIN),
        Event(EventKind.BLOCK_PLACED, warp_count=1),
        *[Event(EventKind.LOAD, size=4, pc=n, lanes=own) for n, own in enumerate(lanes)],
        Event(EventKind.BLOCK_RETIRED),
        Event(EventKind.KERNEL_END),
    ]
    assert list(Trace.from_events(header, events)) == events


def test_types_of_what_iteration_gives(trace):
    event = list(trace)[5]
    assert isinstance(event.kind, EventKind)
    assert isinstance(event.scope, Scope)
    assert isinstance(event.op, AtomicOp)
    assert event.strong is True
    assert event.lanes[0].success is True
    assert type(event.lanes[0].address) is int
