"""Nesting of IF, ELSE and FI: the array operations against one stack for each warp."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racetrap.golden_model.events import DataRegion, Event, EventKind, Geometry, TraceHeader
from racetrap.golden_model.trace import Rule, Trace, TraceError

_HEADER = TraceHeader(geometry=Geometry(2, 2, 4), region=DataRegion(0, 12))
_KINDS = (EventKind.IF, EventKind.ELSE, EventKind.FI)
_FULL = (1 << 32) - 1
#: SM, slot and warp of every warp of the two blocks of each SM.
_WARPS = [(sm, warp // 2, warp) for sm in range(2) for warp in range(4)]


def _place(sm, slot):
    return Event(EventKind.BLOCK_PLACED, sm, slot, 2 * slot, warp_count=2)


def _first_breach(events):
    """Number of the first event that breaks the rule, or None."""
    stacks = {}
    for row, event in enumerate(events):
        if event.kind == EventKind.BLOCK_PLACED:
            for warp in (event.warp, event.warp + 1):
                stacks[event.sm, warp] = []
        if event.kind not in _KINDS:
            continue
        stack = stacks[event.sm, event.warp]
        if event.kind == EventKind.IF:
            stack.append([event.mask])
        elif event.kind == EventKind.ELSE:
            if not stack or len(stack[-1]) != 1 or stack[-1][0] & event.mask:
                return row
            stack[-1].append(event.mask)
        elif not stack or len(stack[-1]) != 2 or event.mask & ~(stack[-1][0] | stack[-1][1]):
            return row
        else:
            stack.pop()
    return None


@st.composite
def _branches(draw):
    """Steps that mostly nest as they must: what a warp does next is drawn, seldom at random."""
    places = sorted({warp[:2] for warp in _WARPS})
    events = [Event(EventKind.KERNEL_BEGIN), *[_place(*place) for place in places]]
    stacks = {}
    for _ in range(draw(st.integers(0, 30))):
        sm, slot, warp = draw(st.sampled_from(_WARPS[: draw(st.sampled_from((1, 2, 8)))]))
        if not draw(st.integers(0, 9)):
            events += [Event(EventKind.BLOCK_RETIRED, sm, slot), _place(sm, slot)]
            stacks = {key: stack for key, stack in stacks.items() if key[:2] != (sm, slot)}
            continue
        stack = stacks.setdefault((sm, slot, warp), [])
        legal = EventKind.IF if not stack or draw(st.booleans()) else stack[-1]
        kind = legal if draw(st.integers(0, 19)) else draw(st.sampled_from(_KINDS))
        if kind == EventKind.IF:
            stack.append(EventKind.ELSE)
        elif kind == EventKind.ELSE and stack:
            stack[-1] = EventKind.FI
        elif stack:
            stack.pop()
        lanes = {EventKind.IF: 0xF0, EventKind.ELSE: 0x0F, EventKind.FI: 0xFE}[kind]
        mask = lanes if draw(st.integers(0, 19)) else draw(st.integers(1, _FULL))
        events.append(Event(kind, sm, slot, warp, pc=len(events), mask=mask))
    events += [Event(EventKind.BLOCK_RETIRED, *place) for place in places]
    return [*events, Event(EventKind.KERNEL_END)]


@given(_branches())
def test_first_breach_is_that_of_a_stack(events):
    expected = _first_breach(events)
    if expected is None:
        assert list(Trace.from_events(_HEADER, events)) == events
    else:
        with pytest.raises(TraceError) as caught:
            Trace.from_events(_HEADER, events)
        assert (caught.value.rule, caught.value.place) == (Rule.DIVERGENCE, f"event {expected}")


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ([(EventKind.ELSE, 1)], "ELSE does not follow an IF of its warp and depth"),
        ([(EventKind.FI, 1)], "FI does not follow an ELSE of its warp and depth"),
        (
            [(EventKind.IF, 3), (EventKind.FI, 3)],
            "FI does not follow an ELSE of its warp and depth",
        ),
        (
            [(EventKind.IF, 3), (EventKind.ELSE, 6)],
            "Lanes of ELSE are among those of IF: 0x6",
        ),
        (
            [(EventKind.IF, 1), (EventKind.ELSE, 2), (EventKind.FI, 4)],
            "Lanes of FI must be lanes of IF or ELSE (0x3), not 0x4",
        ),
    ],
)
def test_sentences(steps, sentence):
    events = [
        Event(EventKind.KERNEL_BEGIN),
        _place(0, 0),
        *[Event(kind, mask=mask) for kind, mask in steps],
        Event(EventKind.BLOCK_RETIRED),
        Event(EventKind.KERNEL_END),
    ]
    with pytest.raises(TraceError) as caught:
        Trace.from_events(_HEADER, events)
    assert caught.value.sentence == sentence


def test_no_lanes_may_be_left_at_fi():
    events = [
        Event(EventKind.KERNEL_BEGIN),
        _place(0, 0),
        *[Event(kind, mask=mask) for kind, mask in zip(_KINDS, (1, 2, 0), strict=True)],
        Event(EventKind.BLOCK_RETIRED),
        Event(EventKind.KERNEL_END),
    ]
    assert list(Trace.from_events(_HEADER, events)) == events
