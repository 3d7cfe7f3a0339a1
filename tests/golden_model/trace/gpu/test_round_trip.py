"""Any legal trace comes back from both forms exactly as it was."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from racetrap.golden_model.events import (
    ACCESS_SIZES,
    ATOMIC_SIZES,
    AtomicOp,
    DataRegion,
    Event,
    EventKind,
    EventScope,
    Geometry,
    Lane,
    Scope,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace, read_trace

_SCOPES = st.sampled_from(list(EventScope))
_PCS = _MASKS = st.integers(0, (1 << 32) - 1)
_STREAMS = st.integers(0, (1 << 16) - 1)
_PLACES = st.text().filter(str.isprintable)
#: Several lines, as a report of a deadlock has.
_SENTENCES = st.lists(_PLACES, min_size=1, max_size=3).map("\n".join)
_LANE_CHANGES = (
    EventKind.FENCE, EventKind.EXIT, EventKind.WARP_BARRIER, EventKind.CLUSTER_WAIT,
)  # fmt: skip
_ACTS = (
    EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC, EventKind.BARRIER, EventKind.IF,
    *_LANE_CHANGES,
)  # fmt: skip


@st.composite
def _headers(draw):
    size_log2 = draw(st.integers(0, 63))
    base = draw(st.integers(0, (1 << 64 - size_log2) - 1)) << size_log2
    return TraceHeader(
        geometry=Geometry(*draw(st.tuples(*[st.integers(1, 5)] * 2)), draw(st.integers(1, 64))),
        region=DataRegion(base, size_log2),
        source=draw(_PLACES),
        seed=draw(st.none() | st.integers(0, (1 << 64) - 1)),
        locations=draw(st.dictionaries(_PCS, _PLACES, max_size=4)),
        independent_threads=draw(st.integers(0, 1)),
        faults=draw(st.dictionaries(_PCS, _SENTENCES, max_size=2)),
        outside=draw(st.dictionaries(_PCS, _SENTENCES, max_size=1)),
        results=draw(st.dictionaries(_PCS, _SENTENCES, max_size=1)),
    )


@st.composite
def _lanes(draw, size, kind, op):
    numbers = sorted(draw(st.sets(st.integers(0, 31), min_size=1)))
    units = (1 << 64) // size
    first, stride = draw(st.integers(0, units - 1)), draw(st.integers(-3, 3))
    regular = draw(st.booleans())
    values = st.integers(0, (1 << 8 * min(size, 8)) - 1)
    cas = kind == EventKind.ATOMIC and op == AtomicOp.CAS
    exch = kind == EventKind.ATOMIC and op == AtomicOp.EXCH
    store = kind == EventKind.STORE
    lanes = []
    for number in numbers:
        unit = (first + number * stride) % units if regular else draw(st.integers(0, units - 1))
        lanes.append(Lane(
            number,
            unit * size,
            draw(values) if cas or exch or store else 0,
            draw(values) if cas or (store and size == 16) else 0,
            cas and draw(st.booleans()),
        ))  # fmt: skip
    return tuple(lanes)


@st.composite
def _acts(draw, sm, slot, warps):
    """What a placed block does next: one event, or a branch with what lies in it."""
    kind = draw(st.sampled_from(_ACTS))
    pc, warp = draw(_PCS), draw(st.sampled_from(warps))
    if kind == EventKind.BARRIER:
        return [Event(kind, sm, slot, pc=pc)]
    if kind == EventKind.IF:
        return draw(_branches(sm, slot, warp))
    if kind in _LANE_CHANGES:
        scope = draw(_SCOPES) if kind == EventKind.FENCE else Scope.BLOCK
        return [Event(kind, sm, slot, warp, scope, pc=pc, mask=draw(_MASKS))]
    atomic = kind == EventKind.ATOMIC
    size = draw(st.sampled_from(ATOMIC_SIZES if atomic else ACCESS_SIZES))
    op = draw(st.sampled_from(list(AtomicOp))) if atomic else AtomicOp.CAS
    strong = atomic or draw(st.booleans())
    scope = draw(_SCOPES) if strong else Scope.BLOCK
    lanes, space = draw(_lanes(size, kind, op)), draw(st.sampled_from(list(Space)))
    return [Event(kind, sm, slot, warp, scope, strong, op, pc, size, lanes, space=space)]


@st.composite
def _branches(draw, sm, slot, warp):
    """A branch of a warp, with acts of the warp (perhaps more branches) on both sides."""
    lanes = draw(_MASKS.filter(lambda mask: mask.bit_count() > 1))
    first = draw(_MASKS.map(lambda mask: mask & lanes).filter(lambda mask: mask not in (0, lanes)))
    events = []
    masks = (first, lanes & ~first, draw(_MASKS) & lanes)
    for kind, mask in zip((EventKind.IF, EventKind.ELSE, EventKind.FI), masks, strict=True):
        events.append(Event(kind, sm, slot, warp, pc=draw(_PCS), mask=mask))
        if kind != EventKind.FI and draw(st.booleans()):
            events += draw(_acts(sm, slot, [warp]))
    return events


@st.composite
def _copies(draw):
    """A copy after the first operation, as one is before it."""
    sizes = draw(st.lists(st.integers(1, 1 << 40), min_size=1, max_size=32))
    lanes = tuple(Lane(n, draw(st.integers(0, 1 << 40)), size) for n, size in enumerate(sizes))
    kind = draw(st.sampled_from((EventKind.COPY_READ, EventKind.COPY_WRITE)))
    copy = Event(kind, pc=draw(_PCS), lanes=lanes, grid_block=draw(_STREAMS))
    return [Event(EventKind.AFTER, grid_block=0), copy]


@st.composite
def _traces(draw):
    header = draw(_headers())
    geometry = header.geometry
    events = []
    for number in range(draw(st.integers(0, 2))):
        if number and draw(st.booleans()):
            events += draw(_copies())
        events.append(Event(EventKind.KERNEL_BEGIN, pc=draw(_PCS), grid_block=draw(_STREAMS)))
        placed = {}
        for _ in range(draw(st.integers(0, 12))):
            sm = draw(st.integers(0, geometry.sm_count - 1))
            slot = draw(st.integers(0, geometry.blocks_per_sm - 1))
            if (sm, slot) in placed:
                if draw(st.integers(0, 3)):
                    events += draw(_acts(sm, slot, placed[sm, slot]))
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
                grid_block, mask = draw(_PCS), draw(_MASKS)
                events.append(Event(
                    EventKind.BLOCK_PLACED, sm, slot, warp,
                    warp_count=count, grid_block=grid_block, mask=mask,
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
    assert isinstance(event.scope, EventScope)
    assert isinstance(event.op, AtomicOp)
    assert event.strong is True
    assert event.lanes[0].success is True
    assert type(event.lanes[0].address) is int
    wide = list(trace)[10]
    assert isinstance(wide.space, Space)
    assert wide.mask == 0
